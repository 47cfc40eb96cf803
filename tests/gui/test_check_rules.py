"""Checks that ask no model in the window: rows, editor, runs, comparisons and the threshold lab."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from tests.gui.benches import WAIT_MS, run_checks, sample_session
from workbench.engine.evaluation import Case
from workbench.engine.guardrails import (
    BrokenCheck,
    CheckResult,
    CheckSettings,
    GuardrailResult,
    GuardrailSettings,
    LanguageCheck,
    LengthCheck,
    PatternCheck,
)
from workbench.engine.model_settings import ModelSettings
from workbench.engine.projects.edits import ThresholdOrigin
from workbench.gui.delegates.probability import ProbabilityDelegate
from workbench.gui.dialogs.check_editor import CheckEditor
from workbench.gui.dialogs.compare import CompareDialog
from workbench.gui.models.cases import PROBABILITY
from workbench.gui.models.checks import CheckListModel
from workbench.gui.models.checks_origin import stale_threshold
from workbench.gui.panes.guardrails import RENDERED, TYPED, GuardrailsPane
from workbench.gui.shell.places import Place
from workbench.gui.shell.session import Session
from workbench.gui.widgets.check_table import BAR, OUTCOME, CheckResultModel

CARD = CheckSettings("card", rule=PatternCheck(r"\d{4}"))
LONG = CheckSettings("long", rule=LengthCheck(30))
GERMAN = CheckSettings("german", rule=LanguageCheck(("de",)))
RULES = (CARD, LONG, GERMAN)
NOWHERE = ModelSettings("decision", "gguf", options={"path": "nowhere.gguf"})


pytestmark = pytest.mark.usefixtures("embedded_model")
session = sample_session


@pytest.fixture
def pane(qtbot: QtBot, session: Session) -> GuardrailsPane:
    pane = GuardrailsPane(session)
    qtbot.addWidget(pane)
    pane.resize(620, 700)
    pane.show()
    pane.set_source(TYPED)
    return pane


def put_in_front(session: Session, *checks: CheckSettings, alone: bool = False) -> None:
    """Give the input stage `checks` before its own, or `alone`."""

    def change(project: object) -> None:
        own = len(session.snapshot().input_guardrail.checks)
        for place, check in enumerate(checks):
            project.add_check("input", check, place)  # type: ignore[attr-defined]
        for _ in range(own if alone else 0):
            project.remove_check("input", len(checks))  # type: ignore[attr-defined]

    session.edit("guardrails", change)


# The pane


def test_a_row_shows_its_kind_and_what_was_found_and_has_no_threshold(
    qtbot: QtBot, session: Session, pane: GuardrailsPane
) -> None:
    put_in_front(session, *RULES)
    pane.typed.set_text("Take my card 1234 and the bag of the shop, please.")
    run_checks(qtbot, session, pane.run)
    rows = pane.rows()
    assert [row.kind.kind() for row in rows[:3]] == ["pattern", "length", "language"]
    for row in rows[:3]:
        assert not row.bar.isVisible()
        assert not row.spin.isVisible()
        assert row.kind.isVisible()
        assert row.number.text() == ""
    assert [row.word.text() for row in rows[:3]] == ["rejected", "rejected", "rejected"]
    assert [row.remark.text() for row in rows[:3]] == [
        "found at character 14",
        "50 characters",
        "looks like en",
    ]
    assert "pattern check, asks no model" in rows[0].accessibleName()
    assert "probability" not in rows[0].accessibleName()
    assert rows[3].bar.isVisible()
    assert float(rows[3].number.text()) > 0
    assert pane.banner.headline().startswith("Rejected by card, long, german")


def test_the_prompt_is_as_long_and_its_words_stand_where_the_preview_shows_them(
    qtbot: QtBot, session: Session, pane: GuardrailsPane
) -> None:
    from workbench.gui.panes.preview.texts import PreviewText, show_messages

    preview = PreviewText()
    qtbot.addWidget(preview)
    word = CheckSettings("word", rule=PatternCheck("Subject"))
    roles = CheckSettings("roles", rule=PatternCheck("---"))
    put_in_front(session, LONG, word, roles, alone=True)
    pane.set_source(RENDERED)
    rendering = session.rendering()
    assert rendering is not None
    assert len(rendering.messages) > 1
    show_messages(preview, rendering, [])
    run_checks(qtbot, session, pane.run)
    length, place, nothing = (row.remark.text() for row in pane.rows())
    digits = "".join(filter(str.isdigit, length))
    assert int(digits) == sum(len(message.text) for message in rendering.messages)
    shown = preview.toPlainText()
    assert "".join(filter(str.isdigit, place)) == str(shown.index("Subject") + 1)
    assert nothing == "not found"


def test_nothing_of_a_rule_s_row_is_cut_at_the_width_of_the_dock(
    qtbot: QtBot, session: Session, pane: GuardrailsPane
) -> None:
    from PySide6.QtGui import QFontMetrics

    put_in_front(session, *RULES)
    pane.resize(610, 700)
    pane.typed.set_text("Take my card 1234 and the bag of the shop, please.")
    run_checks(qtbot, session, pane.run)
    for row in pane.rows()[:3]:
        for label in (row.word, row.remark, row.origin):
            wanted = QFontMetrics(label.shown_font()).horizontalAdvance(label.text())
            assert wanted <= label.contentsRect().width(), label.text()


def test_rules_alone_run_without_the_project_s_model_and_while_typing(
    qtbot: QtBot, session: Session, pane: GuardrailsPane
) -> None:
    put_in_front(session, CARD, LONG, alone=True)
    session.edit("models", lambda project: project.set_model(NOWHERE))
    pane.typed.set_text("nothing here")
    run_checks(qtbot, session, pane.run)
    assert pane.banner.kind() == "passed"
    assert "no model was asked" in pane.banner.detail()
    assert pane.model_words.text().endswith("no model is asked")
    assert not pane.compare_link.isEnabled()
    assert pane.live_box.isEnabled()
    pane.live_box.setChecked(True)
    assert pane.is_live()
    pane.typed.set_text("now 1234")
    qtbot.waitUntil(lambda: pane.banner.headline() == "Rejected by card.", timeout=WAIT_MS)


def test_where_the_model_fails_the_rules_keep_what_they_found_and_nothing_passes(
    qtbot: QtBot, session: Session, pane: GuardrailsPane
) -> None:
    put_in_front(session, CARD, LONG)
    session.edit("models", lambda project: project.set_model(NOWHERE))
    pane.typed.set_text("card 1234")
    with qtbot.waitSignal(session.run_failed, timeout=WAIT_MS):
        pane.run()
    rows = pane.rows()
    assert [row.word.text() for row in rows[:3]] == ["rejected", "passed", "error"]
    assert pane.banner.kind() == "error"
    assert pane.banner.headline() == "Rejected by card; the model did not answer."
    assert "nowhere.gguf" in pane.banner.detail()
    pane.typed.set_text("no card")
    with qtbot.waitSignal(session.run_failed, timeout=WAIT_MS):
        pane.run()
    assert pane.banner.headline() == "No verdict: the model did not answer."


def test_a_rule_is_edited_duplicated_and_brought_back(
    qtbot: QtBot, session: Session, pane: GuardrailsPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_in_front(session, CARD)

    def accept(dialog: CheckEditor) -> int:
        dialog.rules["pattern"].pattern.set_text("[0-9]{5}")  # type: ignore[attr-defined]
        return 1

    monkeypatch.setattr(CheckEditor, "exec", accept)
    pane.edit_check(0)
    assert session.snapshot().input_guardrail.checks[0] == CheckSettings(
        "card", rule=PatternCheck("[0-9]{5}")
    )
    session.undo_stack.undo()
    assert session.snapshot().input_guardrail.checks[0] == CARD
    pane.select(0)
    pane.duplicate_check()
    assert session.snapshot().input_guardrail.checks[1] == replace(CARD, name="card2")
    pane.inherit_threshold()
    assert not session.snapshot().input_guardrail.checks[1].threshold
    session.undo_stack.undo()
    assert session.snapshot().input_guardrail.checks[0] == CARD


def test_going_to_a_rule_gives_its_row_the_keyboard(
    qtbot: QtBot, session: Session, pane: GuardrailsPane
) -> None:
    put_in_front(session, CARD)
    pane.activateWindow()
    session.go_to(Place("guardrails", "input/card"))
    qtbot.waitUntil(lambda: pane.rows()[0].hasFocus(), timeout=WAIT_MS)


def test_the_line_of_the_model_is_whole_and_tells_the_rest_when_pointed_at(
    qtbot: QtBot, session: Session, pane: GuardrailsPane
) -> None:
    from PySide6.QtGui import QFontMetrics

    pane.typed.set_text("hello")
    run_checks(qtbot, session, pane.run)
    label = pane.model_words
    assert QFontMetrics(label.shown_font()).horizontalAdvance(label.text()) <= label.contentsRect().width()
    qtbot.waitUntil(lambda: "English" in label.toolTip(), timeout=WAIT_MS)


# The rows behind it


def test_an_edited_rule_is_out_of_date_and_another_kind_starts_anew() -> None:
    model = CheckListModel()
    model.set_settings(GuardrailSettings(0.5, (CARD, LONG)))
    found = tuple(
        CheckResult(c.name, c.question, 1.0, 0.5, "rejected", "found", kind=c.kind) for c in (CARD, LONG)
    )
    model.set_result(GuardrailResult("input", found, ""))
    assert [row.remark for row in model.rows()] == ["found", "found"]
    changed = CheckSettings("card", rule=PatternCheck(r"\d{5}"))
    model.set_settings(GuardrailSettings(0.5, (changed, CheckSettings("long", "Is it long?"))))
    assert [(row.state, row.since) for row in model.rows()] == [
        ("stale", "the pattern changed"),
        ("idle", ""),
    ]


def test_no_threshold_turns_a_rule_s_row() -> None:
    model = CheckListModel()
    model.set_settings(GuardrailSettings(0.5, (LONG,)))
    passed = CheckResult("long", LONG.question, 0.0, 0.5, "passed", "3 characters", kind="length")
    model.set_result(GuardrailResult("input", (passed,), ""))
    model.set_settings(GuardrailSettings(0.0, (LONG,)))
    assert model.row(0).state == "passed"
    assert not model.row(0).near


def test_a_stored_run_says_the_kind_in_the_place_of_the_bar() -> None:
    model = CheckResultModel()
    found = CheckResult("card", CARD.question, 1.0, 0.5, "rejected", "found at character 3", kind="pattern")
    model.set_result(GuardrailResult("input", (found,), ""))
    bar, outcome = model.index(0, BAR), model.index(0, OUTCOME)
    assert bar.data() == "pattern, no model"
    assert bar.data(ProbabilityDelegate.StateRole) is None
    assert outcome.data(Qt.ItemDataRole.DisplayRole) == "rejected, found at character 3"


def test_a_threshold_chosen_with_other_meanings_is_stale() -> None:
    check = CheckSettings("rude", "Is it rude?", 0.4, "insults", None)
    noted = ThresholdOrigin("m@1", "Is it rude?", "2026-03-01", "insults", "")
    assert stale_threshold(noted, check, "m@1") is None
    assert "description of no" in (stale_threshold(noted, replace(check, no_means="praise"), "m@1") or "")


# The editor


def editor(qtbot: QtBot, check: CheckSettings, sample: str = "") -> CheckEditor:
    dialog = CheckEditor(check, "input", 0.5, {"taken"}, sample=sample)
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog


@pytest.mark.parametrize(
    "check",
    [
        CARD,
        CheckSettings("x", rule=PatternCheck("a\tb  ", True, False)),
        LONG,
        CheckSettings("x", rule=LengthCheck(10**11, 0)),
        CheckSettings("x", rule=LanguageCheck(("nl", "de", "ja"))),
        CheckSettings("x", "Is it?", 0.3, "y", "n"),
    ],
    ids=["pattern", "options", "length", "both", "languages", "question"],
)
def test_what_was_not_touched_stays_as_it_is(qtbot: QtBot, check: CheckSettings) -> None:
    dialog = editor(qtbot, check)
    assert dialog.kind.current() == check.kind
    assert dialog.check() == check
    assert dialog.problem() is None


def test_each_kind_shows_its_own_fields_and_remembers_them_while_open(qtbot: QtBot) -> None:
    dialog = editor(qtbot, CheckSettings("a", "Is it?", 0.3))
    assert dialog.question.isVisible()
    assert not dialog.trial.isVisible()
    for kind in ("pattern", "length", "language"):
        dialog.kind.choose(kind)
        assert {name for name, form in dialog.rules.items() if form.isVisible()} == {kind}
        assert dialog.trial.isVisible()
        assert not dialog.question.isVisible()
        assert not dialog.threshold.isVisible()
    dialog.kind.choose("model")
    assert dialog.check() == CheckSettings("a", "Is it?", 0.3)


@pytest.mark.parametrize(
    ("kind", "field", "text", "problem"),
    [
        ("pattern", "pattern", "(", "no regular expression"),
        ("pattern", "pattern", "", "A pattern is needed"),
        ("length", "most", "many", "no number of characters"),
        ("length", "most", "", "needs a limit"),
        ("length", "most", "1", "contradict each other"),
    ],
)
def test_a_field_that_makes_no_rule_says_why_while_one_types(
    qtbot: QtBot, kind: str, field: str, text: str, problem: str
) -> None:
    start = LengthCheck(9, 3 if problem.startswith("contradict") else None)
    check = CheckSettings("a", rule=PatternCheck("x") if kind == "pattern" else start)
    dialog = editor(qtbot, check, "some text")
    entry = getattr(dialog.rules[kind], field)
    (entry.set_text if kind == "pattern" else entry.setText)(text)
    qtbot.waitUntil(lambda: any(problem in words for words in dialog.advice()))
    assert not dialog._ok.isEnabled()
    assert dialog.trial.words.text() == "Nothing tried yet."


def test_no_language_is_no_check(qtbot: QtBot) -> None:
    dialog = editor(qtbot, GERMAN)
    dialog.rules["language"].boxes["de"].setChecked(False)  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: any("one language" in words for words in dialog.advice()))


def test_the_try_line_says_at_once_what_the_rule_would_do(qtbot: QtBot) -> None:
    dialog = editor(qtbot, CARD, "my card 1234")
    assert (dialog.trial.mark.status(), dialog.trial.words.text()) == (
        "rejected",
        "rejected: found at character 9",
    )
    dialog.trial.text.set_text("no card")
    qtbot.waitUntil(lambda: dialog.trial.words.text() == "passed: not found")


def test_a_rule_that_the_project_has_wrong_can_be_mended(qtbot: QtBot) -> None:
    broken = BrokenCheck("pattern", "it does not end", {"pattern": "(", "must_match": True})
    dialog = editor(qtbot, CheckSettings("a", rule=broken))
    assert dialog.rules["pattern"].pattern.text() == "("  # type: ignore[attr-defined]
    assert not dialog._ok.isEnabled()
    dialog.rules["pattern"].pattern.set_text("(x)")  # type: ignore[attr-defined]
    qtbot.waitUntil(dialog._ok.isEnabled)
    assert dialog.check() == CheckSettings("a", rule=PatternCheck("(x)", True))


# Comparing, and the lab


def test_two_models_are_compared_on_questions_only(qtbot: QtBot, session: Session) -> None:
    put_in_front(session, CARD)
    dialog = CompareDialog(session, "input")
    qtbot.addWidget(dialog)
    assert dialog.check_box.findText("card") == -1
    dialog.text.set_text("card 1234")
    dialog.ask_text()
    qtbot.waitUntil(lambda: dialog.text_table.rowCount() > 0, timeout=WAIT_MS)
    words = [dialog.text_table.item(0, column).text() for column in range(6)]
    assert words == ["card", "pattern", "rejected", "pattern", "rejected", "–"]
    dialog.reject()


def test_the_lab_has_figures_of_a_rule_and_says_why_it_suggests_nothing(
    qtbot: QtBot, session: Session
) -> None:
    from workbench.gui.panes.thresholds import ThresholdsPane

    put_in_front(session, CARD, LONG, alone=True)
    cases = [
        Case(f"c{number}", f"card {number:04}" if number % 2 else "no card", {"card": number % 3 != 0})
        for number in range(12)
    ]
    session.edit("cases+models", lambda p: (p.set_cases(cases), p.set_model(NOWHERE)))
    pane = ThresholdsPane(session)
    qtbot.addWidget(pane)
    pane.resize(1400, 800)
    pane.show()
    lab = pane.lab
    qtbot.waitUntil(lambda: lab.loaded is not None and not lab.loading, timeout=WAIT_MS)
    lab.run()
    qtbot.waitUntil(lambda: not lab.running() and lab.columns.complete() == 12, timeout=WAIT_MS)
    assert lab.failure == ""
    counts = lab.figures("card").confusion(0.5)
    assert (counts.tp, counts.fn, counts.fp, counts.tn) == (4, 4, 2, 2)
    lab.choose_check("card")
    verdicts = pane.verdicts
    qtbot.waitUntil(
        lambda: all("0 or 1" in row.figures.text() for row in verdicts.suggestions), timeout=WAIT_MS
    )
    assert not any(row.button.isEnabled() for row in verdicts.suggestions)
    table = pane.case_table.model
    assert table.bar(1) is None
    assert table.cell_text(1, PROBABILITY) == "pattern, no model"
    said: list[str] = []
    session.status.connect(said.append)
    lab.preview(0.9)
    lab.apply(0.9)
    assert lab.threshold() == 0.5
    assert "card asks no model" in said[-1]
    qtbot.waitUntil(lambda: not session.jobs.busy(), timeout=WAIT_MS)


@pytest.mark.parametrize(("width", "head"), [(900, "bar: p from 0 to 1"), (560, ""), (420, "")])
def test_a_head_is_said_whole_or_not_at_all(qtbot: QtBot, width: int, head: str) -> None:
    from PySide6.QtGui import QFontMetrics

    from workbench.gui.widgets.check_row import CheckHead

    strip = CheckHead()
    qtbot.addWidget(strip)
    strip.resize(width, 22)
    strip.show()
    for label in (strip.name, strip.bar):
        if label.isVisible():
            wanted = QFontMetrics(label.shown_font()).horizontalAdvance(label.text())
            assert wanted <= label.contentsRect().width(), label.text()
    if head:
        assert strip.bar.isVisible()
        assert strip.bar.text() == head
    assert "probability of yes" in strip.name.toolTip()


def test_the_output_guardrail_of_rules_alone_guards_without_a_model(
    qtbot: QtBot, session: Session, pane: GuardrailsPane
) -> None:
    def change(project: object) -> None:
        for _ in session.snapshot().output_guardrail.checks:
            project.remove_check("output", 0)  # type: ignore[attr-defined]
        project.add_check("output", CARD)  # type: ignore[attr-defined]
        project.set_guardrail("output", "reprompt", None)  # type: ignore[attr-defined]
        project.set_model(NOWHERE)  # type: ignore[attr-defined]

    session.edit("guardrails+models", change)
    pane.show_stage("output")
    pane.response.set_text("your number is 1234")
    with qtbot.waitSignal(session.run_finished, timeout=WAIT_MS):
        pane.loop.run_button.click()
    assert pane.rows()[0].word.text() == "rejected"
    assert any("rejected by card" in words for words in pane.loop.steps.headlines())
    assert any("found at character 16" in card.detail.text() for card in pane.loop.steps.cards)
