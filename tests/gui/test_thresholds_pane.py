"""The threshold lab: runs over all cases, pictures linked to the table, and thresholds that ask no model."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from tests.gui.benches import WAIT_MS, make_project, sample_session
from workbench.engine.decisions.embedded import EmbeddedDecisionModel
from workbench.engine.evaluation import earlier_path
from workbench.engine.evaluation.intervals import clopper_pearson
from workbench.engine.evaluation.metrics import confusion
from workbench.engine.evaluation.rows import ResultsFile
from workbench.engine.evaluation.run_lock import RunLock
from workbench.engine.history import HistoryError, HistoryStore
from workbench.engine.projects.edits import ThresholdOrigin
from workbench.gui.models.cases import ID, OUTCOME, PROBABILITY
from workbench.gui.models.cases_filter import CaseFilter
from workbench.gui.models.figures_check import DEFINITIONS
from workbench.gui.panes.thresholds import ThresholdsPane
from workbench.gui.panes.thresholds.batch import results_path
from workbench.gui.panes.thresholds.verdicts import kept_promise
from workbench.gui.shell.last_run import finished_run
from workbench.gui.shell.session import Session

pytestmark = pytest.mark.usefixtures("embedded_model")
session = sample_session


@pytest.fixture
def pane(qtbot: QtBot, session: Session) -> ThresholdsPane:
    # A dozen cases of each label are enough here, and quick.
    few = session.snapshot().cases[:30]
    session.edit("cases", lambda project: project.set_cases(few))
    pane = ThresholdsPane(session)
    qtbot.addWidget(pane)
    pane.resize(1400, 800)
    pane.show()
    rest(qtbot, session, pane)
    return pane


def rest(qtbot: QtBot, session: Session, pane: ThresholdsPane) -> None:
    """Wait until no job is under way and all is drawn."""
    qtbot.waitUntil(lambda: not session.jobs.busy(), timeout=WAIT_MS)
    pane.lab.slices.finish()


def run_all(qtbot: QtBot, session: Session, pane: ThresholdsPane) -> None:
    """Run the checks over all cases of the stage and wait for the answers to be read back."""
    with qtbot.waitSignal(session.run_finished, timeout=WAIT_MS * 2):
        pane.strip.run_button.click()
    rest(qtbot, session, pane)


def counts(pane: ThresholdsPane) -> dict[str, int]:
    """Return the counts of the confusion matrix."""
    return {name: cell.count() for name, cell in pane.verdicts.matrix.cells.items()}


def refuse_to_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every question to the model fail the test."""

    async def refuse(*_args: object) -> None:
        raise AssertionError("the model was asked")

    monkeypatch.setattr(EmbeddedDecisionModel, "decide", refuse)


def test_the_plot_library_is_imported_only_when_the_pane_is_seen() -> None:
    code = (
        "import sys; import workbench.gui.panes.thresholds; assert 'pyqtgraph' not in sys.modules;"
        "import workbench.gui.widgets.plots; assert 'pyqtgraph' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_before_a_run_it_says_not_run_yet_and_lists_the_cases(session: Session, pane: ThresholdsPane) -> None:
    cases = [case for case in session.snapshot().cases if case.stage == "input"]
    assert pane.case_table.model.rowCount() == len(cases)
    assert "not run yet" in pane.strip.words.text()
    assert sum(counts(pane).values()) == 0
    assert {cell.accessibleName().split(", ")[1] for cell in pane.verdicts.matrix.cells.values()} == {
        "not run yet"
    }
    assert "Run the checks" in pane.pictures.histogram.message()


def test_a_run_fills_the_table_and_the_matrix_agrees_with_the_metrics(
    qtbot: QtBot, session: Session, pane: ThresholdsPane
) -> None:
    run_all(qtbot, session, pane)
    stored = ResultsFile(results_path(session.snapshot().root, "input")).read()  # type: ignore[arg-type]
    for check in session.snapshot().input_guardrail.checks:
        pane.lab.choose_check(check.name)
        pane.lab.slices.finish()
        pairs = [
            (stored[case.id, check.name].probability, case.labels[check.name])
            for case in pane.lab.columns.cases
            if check.name in case.labels
        ]
        expected = confusion([p for p, _ in pairs], [y for _, y in pairs], pane.lab.threshold())
        assert counts(pane) == {"tp": expected.tp, "fn": expected.fn, "fp": expected.fp, "tn": expected.tn}
    assert "30 of 30 cases answered" in pane.strip.words.text()
    assert session.history.runs(kind="evaluate")[0].outcome == "done"  # type: ignore[union-attr]
    assert {row.model for row in stored.values()} == {pane.lab.version()}


def test_a_history_that_fails_does_not_take_the_answers_with_it(
    qtbot: QtBot, session: Session, pane: ThresholdsPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise HistoryError("the disk is full")

    monkeypatch.setattr(HistoryStore, "append", full)
    run_all(qtbot, session, pane)
    assert "30 of 30 cases answered" in pane.strip.words.text()
    assert session.history.problem == "the disk is full"  # type: ignore[union-attr]


def test_answers_that_are_heard_after_another_project_was_opened_are_not_taken_for_its_own(
    qtbot: QtBot, session: Session, pane: ThresholdsPane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rest(qtbot, session, pane)
    second, said, post = make_project(tmp_path / "second"), threading.Event(), session.jobs.post

    def noting(function: Callable[..., None], *values: object) -> None:
        post(function, *values)
        if function == pane.lab._arrived:
            said.set()

    monkeypatch.setattr(session.jobs, "post", noting)
    pane.lab.run()
    assert said.wait(WAIT_MS / 1000)  # the window hears nothing of it yet
    session.open(second)
    rest(qtbot, session, pane)
    assert pane.lab.progress is None
    assert pane.lab.columns.answered() == 0


def test_a_second_run_asks_nothing_twice(
    qtbot: QtBot, session: Session, pane: ThresholdsPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_all(qtbot, session, pane)
    before = counts(pane)
    refuse_to_ask(monkeypatch)
    run_all(qtbot, session, pane)
    assert counts(pane) == before


def test_stop_keeps_what_was_answered_and_the_next_run_goes_on_from_there(
    qtbot: QtBot, session: Session, pane: ThresholdsPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    decide = EmbeddedDecisionModel.decide

    async def counted(self: EmbeddedDecisionModel, request: object) -> object:
        asked.append(request.input)  # type: ignore[attr-defined]
        return await decide(self, request)  # type: ignore[arg-type]

    monkeypatch.setattr(EmbeddedDecisionModel, "decide", counted)
    pane.strip.limits.concurrency.setValue(1)
    pane.strip.limits.rate.setValue(40)
    pane.strip.run_button.click()
    qtbot.waitUntil(lambda: pane.lab.columns.answered() >= 3, timeout=WAIT_MS)
    pane.strip.stop_button.click()
    pane.lab.slices.finish()
    assert "Stopped" in pane.strip.words.text()
    rest(qtbot, session, pane)
    first = list(asked)
    assert 3 <= len(first) < 30
    kept = pane.lab.columns.complete()
    assert kept >= len(first) - 1
    pane.strip.limits.rate.setValue(0)
    run_all(qtbot, session, pane)
    assert pane.lab.columns.complete() == 30
    # At most the one call that was cut off is made again.
    assert len(asked) <= 31


def test_a_run_while_the_command_line_writes_the_same_answers_says_who_and_what_to_do(
    qtbot: QtBot, session: Session, pane: ThresholdsPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = results_path(session.snapshot().root, "input")
    assert path is not None
    refuse_to_ask(monkeypatch)
    lock = RunLock(path, "`prompt-workbench evaluate`")
    lock.acquire()
    try:
        with qtbot.waitSignal(session.run_failed, timeout=WAIT_MS):
            pane.strip.run_button.click()
        rest(qtbot, session, pane)
    finally:
        lock.release()
    assert pane.strip.words.text() == "The run failed"
    assert "`prompt-workbench evaluate` (process " in pane.strip.counts.text()
    assert "wait until that run ends" in pane.strip.counts.text()


def test_the_end_of_a_run_tells_how_many_cases_it_was(
    qtbot: QtBot, session: Session, pane: ThresholdsPane
) -> None:
    ended: list[object] = []
    session.run_finished.connect(lambda _kind, outcome: ended.append(outcome))
    run_all(qtbot, session, pane)
    [outcome] = ended
    assert len(outcome) == 30  # type: ignore[arg-type]
    assert "30 cases" in finished_run("evaluate", outcome, "Embedded MiniLM", 1800.0, 0.0).words()


def test_a_rate_limit_spaces_the_calls(qtbot: QtBot, session: Session, pane: ThresholdsPane) -> None:
    import time

    few = session.snapshot().cases[:6]
    session.edit("cases", lambda project: project.set_cases(few))
    pane.strip.limits.rate.setValue(10)
    begun = time.monotonic()
    run_all(qtbot, session, pane)
    assert time.monotonic() - begun >= 0.5


def test_a_last_line_that_a_crash_cut_is_asked_again(
    qtbot: QtBot, session: Session, pane: ThresholdsPane
) -> None:
    run_all(qtbot, session, pane)
    path = results_path(session.snapshot().root, "input")
    assert path is not None
    path.write_bytes(path.read_bytes()[:-25])
    pane.lab.reload()
    rest(qtbot, session, pane)
    assert pane.lab.columns.complete() == 29
    run_all(qtbot, session, pane)
    assert pane.lab.columns.complete() == 30


def test_a_cell_of_the_matrix_filters_the_cases_and_lets_go_again(
    qtbot: QtBot, session: Session, pane: ThresholdsPane
) -> None:
    run_all(qtbot, session, pane)
    model = pane.case_table.model
    total = model.rowCount()
    pane.verdicts.matrix.cells["tn"].click()
    assert model.rowCount() == pane.verdicts.matrix.cells["tn"].count() > 0
    assert {model.index(row, OUTCOME).data() for row in range(model.rowCount())} == {"let through"}
    pane.case_table.filter_link.click()
    assert model.rowCount() == total
    assert pane.verdicts.matrix.current() is None
    pane.case_table.search.setText("zzz-no-such-case")
    assert model.rowCount() == 0


def test_a_bar_of_the_histogram_shows_its_cases(qtbot: QtBot, session: Session, pane: ThresholdsPane) -> None:
    run_all(qtbot, session, pane)
    histogram = pane.lab.figures().histogram
    assert histogram is not None
    k = max(range(20), key=lambda k: histogram.no[k])
    middle = (histogram.edges[k] + histogram.edges[k + 1]) / 2
    plot = pane.pictures.histogram
    place = plot.mapFromScene(plot.getViewBox().mapViewToScene(QPointF(middle, -0.1)))
    QTest.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
    assert pane.case_table.model.rowCount() == histogram.no[k]
    assert all(
        pane.case_table.model.case(row).labels[pane.lab.check_name] is False
        for row in range(pane.case_table.model.rowCount())
    )


def test_a_threshold_dragged_with_the_mouse_moves_everything_and_writes_the_project_when_let_go(
    qtbot: QtBot, session: Session, pane: ThresholdsPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_all(qtbot, session, pane)
    refuse_to_ask(monkeypatch)
    before, plot = pane.lab.stored_threshold(), pane.pictures.histogram

    def at(x: float) -> object:
        return plot.mapFromScene(plot.getViewBox().mapViewToScene(QPointF(x, 0.4)))

    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    with qtbot.assertNotEmitted(session.run_started, wait=50):
        QTest.mousePress(plot.viewport(), left, none, at(before))
        for x in (0.6, 0.75, 0.8):
            QTest.mouseMove(plot.viewport(), at(x))
            qtbot.wait(20)
        assert pane.lab.threshold() == pytest.approx(0.8, abs=0.02)
        assert pane.verdicts.at.text() == f"{pane.lab.threshold():.2f}"
        assert counts(pane)["tp"] == pane.lab.figures().confusion(pane.lab.threshold()).tp
        assert session.snapshot().input_guardrail.checks[0].threshold == before
        QTest.mouseRelease(plot.viewport(), left, none, at(0.8))
    written = session.snapshot().input_guardrail.checks[0].threshold
    assert written == pytest.approx(0.8, abs=0.02)
    assert session.project.threshold_origin("input", pane.lab.check_name) is None  # type: ignore[union-attr]
    session.undo_stack.undo()
    assert pane.lab.threshold() == before
    pane.lab.slices.finish()
    assert pane.pictures.spin.value() == pytest.approx(before)


def test_all_thresholds_from_0_to_1_are_tried_without_a_model_call(
    qtbot: QtBot, session: Session, pane: ThresholdsPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_all(qtbot, session, pane)
    refuse_to_ask(monkeypatch)
    found = pane.lab.figures()
    for step in range(101):
        pane.lab.preview(step / 100)
        expected = confusion(found.p, found.y, step / 100)
        assert counts(pane) == {"tp": expected.tp, "fn": expected.fn, "fp": expected.fp, "tn": expected.tn}


def test_a_project_without_checks_is_offered_no_threshold_of_the_one_before(
    qtbot: QtBot, session: Session, pane: ThresholdsPane, tmp_path: Path
) -> None:
    from workbench.engine.projects import Project

    run_all(qtbot, session, pane)
    recall = pane.verdicts.suggestions[0]
    qtbot.waitUntil(recall.button.isEnabled, timeout=WAIT_MS)
    Project.new(tmp_path / "empty", "Empty")
    session.open(tmp_path / "empty")
    qtbot.waitUntil(lambda: not recall.button.isEnabled(), timeout=WAIT_MS)
    assert recall.result.text() == "–"
    assert pane.verdicts.suggestions_head.note.text() == ""


def test_a_suggestion_that_is_applied_notes_model_question_and_day_and_can_be_undone(
    qtbot: QtBot, session: Session, pane: ThresholdsPane
) -> None:
    session.edit("cases", lambda project: project.set_cases(session.snapshot().cases))
    run_all(qtbot, session, pane)
    before = session.snapshot().input_guardrail.checks[0].threshold
    recall = pane.verdicts.suggestions[0]
    recall.spin.setValue(0.6)
    qtbot.waitUntil(lambda: "recall" in recall.figures.text(), timeout=WAIT_MS)
    rest(qtbot, session, pane)
    recall.button.click()
    check = session.snapshot().input_guardrail.checks[0]
    assert check.threshold == recall.threshold != before
    origin = session.project.threshold_origin("input", check.name)  # type: ignore[union-attr]
    assert origin is not None
    assert origin.model == pane.lab.version()
    assert origin.question == check.question
    assert pane.lab.stale_threshold(check) is None
    session.undo_stack.undo()
    assert session.snapshot().input_guardrail.checks[0].threshold == before
    assert session.project.threshold_origin("input", check.name) is None  # type: ignore[union-attr]


def test_too_few_cases_are_an_answer(qtbot: QtBot, session: Session, pane: ThresholdsPane) -> None:
    run_all(qtbot, session, pane)
    conformal = pane.verdicts.suggestions[3]
    qtbot.waitUntil(lambda: "not enough cases" in conformal.figures.text(), timeout=WAIT_MS)
    assert "19" in conformal.figures.text()
    assert not conformal.button.isEnabled()
    assert "Label more" in pane.check_list.warning.text()


@pytest.mark.parametrize(
    ("kind", "exact", "written"),
    [
        ("recall", 0.32996, 0.3299),
        ("conformal_recall", 0.5, 0.5),
        ("fpr", 0.32991, 0.33),
        ("conformal_fpr", 1.0, 1.0),
    ],
)
def test_a_suggestion_is_rounded_so_that_it_keeps_its_promise(
    kind: str, exact: float, written: float
) -> None:
    assert kept_promise(kind, exact) == written


def test_another_wording_makes_answers_and_the_chosen_threshold_stale_and_both_are_said(
    qtbot: QtBot, session: Session, pane: ThresholdsPane
) -> None:
    run_all(qtbot, session, pane)
    pane.lab.apply(0.4, chosen_here=True)
    check = session.snapshot().input_guardrail.checks[0]
    session.edit("guardrails", lambda p: p.set_check("input", 0, replace(check, question="Something else?")))
    rest(qtbot, session, pane)
    assert sum(counts(pane).values()) == 0
    assert "out of date" in pane.strip.counts.text()
    model = pane.case_table.model
    assert model.index(0, OUTCOME).data() == "out of date"
    assert model.data(model.index(0, OUTCOME), model.StatusRole) == "stale"
    assert model.count("stale") == model.total()
    assert "stale" in pane.check_list.warning.text()
    assert "another question" in pane.check_list.warning.text()
    pane.lab.choose_check(session.snapshot().input_guardrail.checks[1].name)
    pane.lab.slices.finish()
    assert sum(counts(pane).values()) > 0


def test_answers_and_thresholds_of_another_model_version_are_stale(
    qtbot: QtBot, session: Session, pane: ThresholdsPane
) -> None:
    run_all(qtbot, session, pane)
    path = results_path(session.snapshot().root, "input")
    assert path is not None
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    path.write_text("".join(json.dumps(row | {"model": "older@1"}) + "\n" for row in rows), "utf-8")
    name = pane.lab.check_name
    session.edit(
        "guardrails",
        lambda p: p.set_threshold("input", name, 0.4, origin=ThresholdOrigin("older@1", "", "2026-01-02")),
    )
    pane.lab.reload()
    rest(qtbot, session, pane)
    assert sum(counts(pane).values()) == 0
    assert "another version" in pane.strip.counts.text()
    assert "older@1" in pane.check_list.warning.text()
    run_all(qtbot, session, pane)
    assert sum(counts(pane).values()) > 0


def test_the_review_band_says_what_is_left_to_a_person(
    qtbot: QtBot, session: Session, pane: ThresholdsPane
) -> None:
    run_all(qtbot, session, pane)
    pane.pictures.band_box.setChecked(True)
    pane.pictures.band_spin.setValue(0.1)
    pane.lab.slices.finish()
    found = pane.lab.figures()
    now = found.coverage(0.1, pane.lab.threshold())
    assert now.review > 0
    assert f"{now.review} to a person" in pane.verdicts.band_words.text()
    pane.pictures.band_box.setChecked(False)
    pane.lab.slices.finish()
    assert pane.verdicts.band_words.isHidden()


def test_every_number_has_its_definition_and_rates_have_intervals(
    qtbot: QtBot, session: Session, pane: ThresholdsPane
) -> None:
    run_all(qtbot, session, pane)
    tips = pane.verdicts.rates.tips() | pane.verdicts.quality.tips()
    for name in ("precision", "recall", "FPR", "AUC", "AP", "ECE", "MCE", "Brier", "log loss"):
        assert DEFINITIONS[name] in tips[name]
    assert "95 % interval (Wilson)" in tips["recall"]
    low, high = clopper_pearson(counts(pane)["tp"], counts(pane)["tp"] + counts(pane)["fn"]) or (0.0, 1.0)
    assert f"(Clopper–Pearson): {low:.2f} to {high:.2f}" in tips["recall"]
    found = pane.lab.figures()
    assert pane.verdicts.quality.shown()["AUC"] == f"{found.auc:.2f}"
    assert pane.verdicts.quality.shown()["Brier"] == f"{found.brier:.3f}"


def test_the_cost_curve_and_its_best_stretch_follow_the_price_of_a_miss(
    qtbot: QtBot, session: Session, pane: ThresholdsPane
) -> None:
    run_all(qtbot, session, pane)
    pane.pictures.tabs.setCurrentIndex(3)
    pane.pictures.miss_cost.setValue(5.0)
    pane.lab.slices.finish()
    curve = pane.lab.figures().cost(5.0)
    assert curve is not None
    assert f"least {curve.least:g}" in pane.pictures.cost_words.text()
    assert len(pane.pictures.cost.curves()) == 2
    row = next(row for row in pane.verdicts.suggestions if row.kind == "cost")
    assert row.target() == 5.0
    row.spin.setValue(3.0)
    assert pane.pictures.miss_cost.value() == 3.0
    cheaper = pane.lab.figures().cost(3.0)
    assert cheaper is not None
    assert f"least {cheaper.least:g}" in pane.pictures.cost_words.text()


def test_the_overview_has_a_row_per_check_with_its_figures(
    qtbot: QtBot, session: Session, pane: ThresholdsPane
) -> None:
    run_all(qtbot, session, pane)
    table = pane.pictures.overview
    pane.pictures.tabs.setCurrentWidget(table)
    assert table.rowCount() == len(pane.lab.guardrail.checks)
    for row, check in enumerate(pane.lab.guardrail.checks):
        area = pane.lab.figures(check.name).auc
        assert table.item(row, 3).text() == ("–" if area is None else f"{area:.2f}")
    # Names are whole in a narrow place too.
    pane.pictures.tabs.resize(320, 240)
    assert table.columnWidth(0) >= table.sizeHintForColumn(0)


def test_one_class_only_draws_no_curve_and_says_why(
    qtbot: QtBot, session: Session, pane: ThresholdsPane
) -> None:
    run_all(qtbot, session, pane)
    name = pane.lab.check_name
    pane.lab.edit_cases(
        "only no",
        lambda cases: cases.__setitem__(
            slice(None), [replace(case, labels={**case.labels, name: False}) for case in cases]
        ),
    )
    rest(qtbot, session, pane)
    pane.pictures.tabs.setCurrentWidget(pane.pictures.roc)
    assert pane.pictures.roc.message() == "All labels are the same: there is no such curve."
    assert pane.verdicts.quality.shown()["AUC"] == "–"


def test_stored_answers_are_read_off_the_windows_thread(
    qtbot: QtBot, session: Session, pane: ThresholdsPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_all(qtbot, session, pane)
    threads: list[threading.Thread] = []
    read = ResultsFile.rows

    def noted(self: ResultsFile) -> object:
        threads.append(threading.current_thread())
        return read(self)

    monkeypatch.setattr(ResultsFile, "rows", noted)
    pane.lab.reload()
    rest(qtbot, session, pane)
    assert threads
    assert threading.main_thread() not in threads


def test_a_project_without_cases_says_what_to_do(
    qtbot: QtBot, session: Session, pane: ThresholdsPane
) -> None:
    session.edit("cases", lambda project: project.set_cases([]))
    pane.lab.slices.finish()
    assert pane.strip.words.text() == "No input cases"
    assert "import" in pane.strip.counts.text()
    assert not pane.strip.run_button.isEnabled()


def test_the_output_stage_has_its_own_cases_answers_and_user_messages(
    qtbot: QtBot, session: Session, tmp_path: Path
) -> None:
    pane = ThresholdsPane(session)
    qtbot.addWidget(pane)
    pane.show()
    pane.lab.show_stage("output")
    some = [case for case in session.snapshot().cases if case.stage == "output"][:8]
    session.edit("cases", lambda project: project.set_cases(some))
    rest(qtbot, session, pane)
    run_all(qtbot, session, pane)
    assert pane.lab.columns.complete() == 8
    assert results_path(session.snapshot().root, "output").exists()  # type: ignore[union-attr]
    assert not pane.case_table.view.isColumnHidden(2)


def test_a_filter_of_wrong_cases_shows_the_most_confident_mistakes_first(
    qtbot: QtBot, session: Session, pane: ThresholdsPane
) -> None:
    run_all(qtbot, session, pane)
    pane.lab.preview(0.2)
    pane.lab.set_filter(CaseFilter("wrong", words="wrong"))
    model = pane.case_table.model
    p = [pane.lab.case_probability(model.position(row)) for row in range(model.rowCount())]
    distances = [abs(each - 0.2) for each in p if each is not None]
    assert len(distances) == model.rowCount() > 1
    assert distances == sorted(distances, reverse=True)
    header = pane.case_table.view.horizontalHeader()
    assert header.sortIndicatorSection() == OUTCOME
    pane.case_table.clear_filter()
    assert header.sortIndicatorSection() == ID
    # An order that somebody chose stays.
    pane.case_table.view.sortByColumn(PROBABILITY, Qt.SortOrder.DescendingOrder)
    pane.lab.set_filter(CaseFilter("fn", words="missed"))
    assert header.sortIndicatorSection() == PROBABILITY
    pane.case_table.clear_filter()
    assert header.sortIndicatorSection() == PROBABILITY


def test_a_moving_model_name_is_flagged_and_the_version_that_answered_named(
    qtbot: QtBot, session: Session, pane: ThresholdsPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    describe = EmbeddedDecisionModel.describe

    async def moving(self: EmbeddedDecisionModel) -> object:
        return replace(await describe(self), name="latest", moving=True)

    monkeypatch.setattr(EmbeddedDecisionModel, "describe", moving)
    run_all(qtbot, session, pane)
    assert "latest is an alias that may move" in pane.check_list.warning.text()
    assert str(pane.lab.version()) in pane.check_list.warning.text()


def test_a_project_that_was_never_saved_keeps_its_answers_in_the_window(
    qtbot: QtBot, session: Session, pane: ThresholdsPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workbench.engine.projects import Project

    cases = session.snapshot().cases[:4]
    checks = session.snapshot().input_guardrail.checks
    project = Project.new(None, "Unsaved")
    session.adopt(project)
    session.edit("guardrails", lambda p: p.add_check("input", checks[0]))
    session.edit("cases", lambda p: p.set_cases(cases))
    rest(qtbot, session, pane)
    run_all(qtbot, session, pane)
    assert pane.lab.columns.complete() == 4
    session.adopt(None)


def test_answers_of_an_older_version_behind_an_alias_are_asked_again_and_kept_beside(
    qtbot: QtBot, session: Session, pane: ThresholdsPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    describe = EmbeddedDecisionModel.describe

    async def moving(self: EmbeddedDecisionModel) -> object:
        return replace(await describe(self), version=None, moving=True)

    monkeypatch.setattr(EmbeddedDecisionModel, "describe", moving)
    run_all(qtbot, session, pane)
    path = results_path(session.snapshot().root, "input")
    assert path is not None
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    first = rows[0]["case"]
    assert rows[-1]["case"] != first
    path.write_text(
        "".join(
            json.dumps(row | ({"model": "older@1"} if row["case"] == first else {})) + "\n" for row in rows
        ),
        "utf-8",
    )
    pane.lab.reload()
    rest(qtbot, session, pane)
    assert "another version" in pane.strip.counts.text()
    run_all(qtbot, session, pane)
    stored = [json.loads(line)["model"] for line in path.read_text("utf-8").splitlines()]
    assert "older@1" not in stored
    kept = [json.loads(line) for line in earlier_path(path).read_text("utf-8").splitlines()]
    assert {(row["case"], row["model"]) for row in kept} == {(first, "older@1")}
    assert "another version" not in pane.strip.counts.text()


def test_a_project_without_checks_says_where_one_is_added(
    qtbot: QtBot, session: Session, pane: ThresholdsPane
) -> None:
    for place in reversed(range(len(session.snapshot().input_guardrail.checks))):
        session.edit("guardrails", lambda project, place=place: project.remove_check("input", place))
    rest(qtbot, session, pane)
    assert pane.strip.words.text() == "No input checks"
    assert "pane Guardrails" in pane.strip.counts.text()
    assert "pane Guardrails" in pane.pictures._why_empty()
