"""One person's whole work with the sample *Support triage*, from the first key to the reopened window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLineEdit, QListView, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from tests.e2e.journeys.conftest import WAIT_MS, Opener
from workbench.engine.exports import find_target
from workbench.engine.projects import Project
from workbench.engine.translation import TranslationRecord
from workbench.gui.delegates.probability import mark_x
from workbench.gui.dialogs.export import ExportDialog
from workbench.gui.main_window import MainWindow
from workbench.gui.panes.guardrails import GuardrailsPane
from workbench.gui.panes.history import HistoryPane
from workbench.gui.panes.preview import PreviewPane
from workbench.gui.panes.problems import ProblemsPane
from workbench.gui.panes.translation import TranslationPane
from workbench.gui.shell.theme import theme
from workbench.gui.widgets.check_row import CheckRowWidget
from workbench.gui.widgets.probability_bar import ProbabilityBar

CONTROL = Qt.KeyboardModifier.ControlModifier
LEFT = Qt.MouseButton.LeftButton
Picture = Callable[[str], QImage]
W = TypeVar("W", bound=QWidget)


def test_from_the_first_key_to_the_reopened_window(
    qtbot: QtBot, open_program: Opener, sample: Path, tmp_path: Path, picture: Picture
) -> None:
    window = open_program(sample)
    settle(qtbot, window)
    picture("opened")
    stop_checking_while_typing(qtbot, window)

    type_into_the_template(qtbot, window)
    complete_a_placeholder(qtbot, window)
    picture("typed")
    break_and_mend_the_parameters(qtbot, window, picture)
    run_the_checks(qtbot, window)
    picture("checked")
    threshold = drag_a_threshold(qtbot, window)
    picture("dragged")
    translate_a_recorded_request(qtbot, window)
    picture("translated")
    replay_the_translation(qtbot, window)
    picture("replayed")
    export_to(qtbot, window, tmp_path / "exported here")
    save(qtbot, window, sample)
    picture("saved")
    caret = window.template.cards[1].editor.caret()
    assert window.close()

    again = open_program(None)
    settle(qtbot, again)
    everything_is_there(qtbot, again, sample, threshold, caret)
    picture("reopened")
    assert again.close()


# -- the steps ----------------------------------------------------------------------------------------------


def stop_checking_while_typing(qtbot: QtBot, window: MainWindow) -> None:
    """From here on only the person starts checks, so that each model call can be counted."""
    box = guardrails(window).live_box
    if box.isChecked():
        QTest.mouseClick(box, LEFT, pos=QPoint(8, box.height() // 2))
    assert not window.session.settings.get("checks.live")
    settle(qtbot, window)


def type_into_the_template(qtbot: QtBot, window: MainWindow) -> None:
    """The preview follows what is typed into the second message."""
    editor = window.template.cards[1].editor
    QTest.mouseClick(editor.viewport(), LEFT, pos=editor.viewport().rect().center())
    assert editor.hasFocus()
    QTest.keyClick(editor, Qt.Key.Key_End, CONTROL)
    before = preview(window).text.raw_text()
    assert "Many thanks" not in before
    QTest.keyClicks(editor, "Many thanks for your ")
    qtbot.waitUntil(lambda: "Many thanks for your" in preview(window).text.raw_text(), timeout=WAIT_MS)
    assert "Maren Oswald" in preview(window).text.raw_text()
    assert paints(preview(window).text, "value_tint"), "the values are not tinted in the preview"
    assert window.isWindowModified()


def complete_a_placeholder(qtbot: QtBot, window: MainWindow) -> None:
    """A placeholder begun by hand is completed from the parameters, and its value is in the preview."""
    editor = window.template.cards[1].editor
    QTest.keyClicks(editor, "[%param.customer.pl")
    popup = visible(window, QListView, "Completions")
    offered = [popup.model().index(row, 0).data() for row in range(popup.model().rowCount())]
    assert "param.customer.plan" in " ".join(map(str, offered)), offered
    QTest.keyClick(editor, Qt.Key.Key_Return)
    assert not popup.isVisible()
    assert "Many thanks for your [%param.customer.plan%]" in editor.raw_text()
    qtbot.waitUntil(lambda: "Many thanks for your Trail" in preview(window).text.raw_text(), timeout=WAIT_MS)


def break_and_mend_the_parameters(qtbot: QtBot, window: MainWindow, picture: Picture) -> None:
    """Broken JSON is named with its file in the problem list and in the preview, until it is mended."""
    editor = window.data.parameters.editor()
    assert editor is not None
    file = f"parameters/{window.session.parameter_set}.json"
    problems = window.docks.pane("problems")
    assert isinstance(problems, ProblemsPane)

    def errors() -> list[str]:
        rows = [problems.model.diagnostic(row) for row in range(problems.model.rowCount())]
        return [d.code for d in rows if d.severity == "error" and d.file == file]

    assert errors() == []
    whole = editor.raw_text()
    editor.setFocus()
    QTest.keyClick(editor, Qt.Key.Key_Home, CONTROL)
    QTest.keyClicks(editor, "oops ")
    qtbot.waitUntil(lambda: bool(errors()), timeout=WAIT_MS)
    qtbot.waitUntil(preview(window).banner.isVisible, timeout=WAIT_MS)
    assert problems.errors.isVisible()
    settle(qtbot, window)
    picture("broken")
    assert paints(preview(window).text, "missing"), "what has no value is not shouted in the preview"
    for _ in "oops ":
        QTest.keyClick(editor, Qt.Key.Key_Backspace)
    assert editor.raw_text() == whole
    qtbot.waitUntil(lambda: not errors(), timeout=WAIT_MS)
    qtbot.waitUntil(lambda: not preview(window).banner.isVisible(), timeout=WAIT_MS)
    assert "Many thanks for your Trail" in preview(window).text.raw_text()
    settle(qtbot, window)
    assert paints(preview(window).text, "value_tint"), "the values are not tinted in the preview"
    assert not paints(preview(window).text, "missing")


def run_the_checks(qtbot: QtBot, window: MainWindow) -> None:
    """The embedded model answers every check: numbers, bars in their colours, and one verdict for all."""
    pane = guardrails(window)
    window.session.set_decision_model("decision")
    with qtbot.waitSignal(window.session.run_finished, timeout=WAIT_MS):
        QTest.mouseClick(button_of(window, "Run checks"), LEFT)
    settle(qtbot, window)
    result = window.session.result("input")
    assert result is not None
    assert result.checks
    assert result.model_name
    rows = pane.rows()
    assert len(rows) == len(window.session.snapshot().input_guardrail.checks) == 5
    for row, check in zip(rows, result.checks, strict=True):
        assert row.bar.state().probability == check.probability is not None
        assert row.word.text() == check.status
        assert_bar_is_filled(row.bar)
    assert pane.banner.isVisible()
    assert pane.banner.kind() == result.verdict


def drag_a_threshold(qtbot: QtBot, window: MainWindow) -> tuple[str, float]:
    """The mark of one check is dragged past its probability with the mouse; the verdict turns, no model is asked."""
    pane, session = guardrails(window), window.session
    result, history = session.result("input"), session.history
    assert result is not None
    assert history is not None
    runs, started = len(history.runs()), []
    session.run_started.connect(started.append)
    # The highest of the probabilities that passed can be undercut with the least doubt.
    passed = [row for row in pane.rows() if row.bar.state().status == "passed"]
    row = max(passed, key=lambda each: each.bar.state().probability or 0.0)
    probability = row.bar.state().probability
    assert probability is not None
    target = round(max(0.0, probability - 0.05), 2)
    name = row.name.text()
    assert name not in result.failed_checks

    drag(row, target)
    qtbot.waitUntil(lambda: row.word.text() == "rejected", timeout=WAIT_MS)
    again = session.result("input")
    assert again is not None
    assert again.verdict == "rejected"
    assert name in again.failed_checks
    assert pane.banner.kind() == "rejected"
    assert name in f"{pane.banner.headline()} {pane.banner.detail()}"
    assert row.spin.value() == target
    assert_bar_is_filled(row.bar)
    assert {c.name: c.probability for c in again.checks} == {c.name: c.probability for c in result.checks}
    settle(qtbot, window)
    session.run_started.disconnect(started.append)
    assert started == []
    assert len(history.runs()) == runs
    return name, target


def translate_a_recorded_request(qtbot: QtBot, window: MainWindow) -> None:
    """With the recorded chat model the first reply breaks the schema and the repair holds it."""
    choose(window.toolbar.chat, "recorded")
    qtbot.waitUntil(lambda: window.session.chat_model_name == "recorded", timeout=WAIT_MS)
    pane = window.docks.show_pane("translation")
    assert isinstance(pane, TranslationPane)
    qtbot.waitUntil(lambda: bool(pane.request_text().strip()), timeout=WAIT_MS)
    qtbot.waitUntil(pane.translate_button.isEnabled, timeout=WAIT_MS)
    with qtbot.waitSignal(window.session.run_finished, timeout=WAIT_MS) as finished:
        QTest.mouseClick(pane.translate_button, LEFT)
    assert finished.args is not None
    assert finished.args[0] == "translate"
    settle(qtbot, window)
    outcomes = [str(pane.model.index(row, 1).data()) for row in range(pane.model.rowCount())]
    assert len(outcomes) == 2, outcomes
    assert outcomes[0] != outcomes[1] == "valid"
    assert pane.banner.kind() == "passed"


def replay_the_translation(qtbot: QtBot, window: MainWindow) -> None:
    """The newest run is walked from its first step to its last, and ends with the same value."""
    QTest.keyClick(window, Qt.Key.Key_3, CONTROL)
    assert window.docks.layout == "History"
    pane = window.docks.pane("history")
    assert isinstance(pane, HistoryPane)
    qtbot.waitUntil(pane.list.tree.isVisible, timeout=WAIT_MS)
    history = window.session.history
    assert history is not None
    newest = history.runs(kind="translate")[0]
    qtbot.waitUntil(lambda: pane.list.model.rowCount() >= 2, timeout=WAIT_MS)
    pane.select(newest.id)
    QTest.mouseClick(pane.controls.buttons["first"], LEFT)
    assert pane.replay.step == 0
    seen = {pane.controls.step_words.text()}
    while pane.controls.buttons["forward"].isEnabled():
        QTest.mouseClick(pane.controls.buttons["forward"], LEFT)
        seen.add(pane.controls.step_words.text())
    assert len(seen) == pane.replay.count() > 4
    record = pane.record()
    assert isinstance(record, TranslationRecord)
    assert [attempt.outcome == "ok" for attempt in record.attempts] == [False, True]
    assert record.value["category"] == "defect"
    assert [lane.title for lane in pane.view.timeline.lanes()] == ["Attempt 1", "Attempt 2"]


def export_to(qtbot: QtBot, window: MainWindow, folder: Path) -> None:
    """The export dialog writes the files that it shows into the folder that was typed."""
    QTest.keyClick(window, Qt.Key.Key_1, CONTROL)
    QTest.keyClick(window, Qt.Key.Key_E, CONTROL)
    qtbot.waitUntil(lambda: isinstance(QApplication.activeModalWidget(), ExportDialog), timeout=WAIT_MS)
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, ExportDialog)
    qtbot.waitUntil(lambda: bool(dialog.current_files()), timeout=WAIT_MS)
    search = visible(dialog, QLineEdit, "Search targets")
    search.setFocus()
    QTest.keyClicks(search, "LiteLLM")
    target = dialog.current_target()
    assert target is not None
    assert target.name == "litellm"
    field = visible(dialog, QLineEdit, "Folder to save to")
    field.setFocus()
    QTest.keyClick(field, Qt.Key.Key_A, CONTROL)
    QTest.keyClicks(field, str(folder))
    shown = {file.path: file.text for file in dialog.current_files()}
    QTest.mouseClick(dialog.save_button, LEFT)
    qtbot.waitUntil(lambda: QApplication.activeModalWidget() is None, timeout=WAIT_MS)
    # No window manager is here to give the keyboard back to the window.
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow, timeout=WAIT_MS)
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} == set(shown)
    assert all((folder / path).read_text("utf-8") == text for path, text in shown.items())
    expected = find_target("litellm")
    assert expected is not None
    export = expected.export(window.session.snapshot(), parameter_set=window.session.parameter_set)
    assert {file.path for file in export.files} <= set(shown)


def save(qtbot: QtBot, window: MainWindow, folder: Path) -> None:
    """Ctrl+S writes the text, with nothing of the file's other lines changed."""
    before = (folder / "workbench.toml").read_text("utf-8")
    assert window.isWindowModified()
    QTest.keyClick(window, Qt.Key.Key_S, CONTROL)
    qtbot.waitUntil(lambda: not window.isWindowModified(), timeout=WAIT_MS)
    after = (folder / "workbench.toml").read_text("utf-8")
    assert "Many thanks for your [%param.customer.plan%]" in after
    comments = [line for line in before.splitlines() if line.startswith("#")]
    assert comments == [line for line in after.splitlines() if line.startswith("#")]


def everything_is_there(
    qtbot: QtBot, window: MainWindow, folder: Path, threshold: tuple[str, float], caret: int
) -> None:
    """The window that was closed comes back with its project, its texts, its threshold, its place and its runs."""
    session = window.session
    assert session.project is not None
    assert session.project.root == folder
    assert not session.dirty
    editor = window.template.cards[1].editor
    assert "Many thanks for your [%param.customer.plan%]" in editor.raw_text()
    assert editor.caret() == caret
    assert window.docks.layout == "Compose"
    qtbot.waitUntil(lambda: "Many thanks for your Trail" in preview(window).text.raw_text(), timeout=WAIT_MS)
    name, value = threshold
    row = next(each for each in guardrails(window).rows() if each.name.text() == name)
    assert (row.spin.value(), row.bar.state().threshold) == (value, value)
    saved = {c.name: c.threshold for c in Project.load(folder).snapshot().input_guardrail.checks}
    assert saved[name] == value
    assert session.history is not None
    kinds = [run.kind for run in session.history.runs()]
    assert kinds.count("translate") == 1
    assert "check" in kinds
    assert not guardrails(window).live_box.isChecked()


# -- hands and eyes -------------------------------------------------------------------------------------------


def settle(qtbot: QtBot, window: MainWindow) -> None:
    """Wait until the window has nothing left to do."""
    session = window.session
    qtbot.waitUntil(lambda: not session.jobs.busy() and not session.running(), timeout=WAIT_MS)
    QApplication.processEvents()


def guardrails(window: MainWindow) -> GuardrailsPane:
    pane = window.docks.pane("guardrails")
    assert isinstance(pane, GuardrailsPane)
    return pane


def preview(window: MainWindow) -> PreviewPane:
    pane = window.docks.pane("preview")
    assert isinstance(pane, PreviewPane)
    return pane


def visible(parent: QWidget, kind: type[W], name: str) -> W:
    """Return the one visible widget of a kind that a screen reader would call `name`."""
    found = [each for each in parent.findChildren(kind) if each.accessibleName() == name and each.isVisible()]
    assert len(found) == 1, f"{len(found)} visible widgets are called {name!r}"
    return found[0]


def button_of(window: MainWindow, words: str) -> QWidget:
    """Return the toolbar button that says `words`."""
    buttons = [each for each in window.toolbar.findChildren(QToolButton) if each.text() == words]
    assert len(buttons) == 1
    assert buttons[0].isEnabled()
    return buttons[0]


def paints(widget: QWidget, token: str) -> bool:
    """Tell whether a colour of the theme covers at least a word's worth of a widget."""
    image, rgb = widget.grab().toImage(), theme().color(token).rgb()
    pixels = (image.pixel(x, y) == rgb for y in range(0, image.height(), 2) for x in range(image.width()))
    return sum(pixels) >= 100


def choose(combo: QComboBox, value: str) -> None:
    """Choose the row of a combo box that stands for `value`, with the arrow keys."""
    combo.setFocus()
    while combo.currentIndex() > 0:
        QTest.keyClick(combo, Qt.Key.Key_Up)
    while combo.currentData() != value and combo.currentIndex() + 1 < combo.count():
        QTest.keyClick(combo, Qt.Key.Key_Down)
    assert combo.currentData() == value


def drag(row: CheckRowWidget, threshold: float) -> None:
    """Take the mark of a row's bar with the mouse and let it go at another threshold, in small moves."""
    bar = row.bar
    rect = bar.bar_rect()
    y = rect.center().y()
    start, end = mark_x(rect, bar.state().threshold), mark_x(rect, threshold)
    QTest.mousePress(bar, LEFT, pos=QPointF(start, y).toPoint())
    for step in range(1, 11):
        QTest.mouseMove(bar, QPointF(start + (end - start) * step / 10, y).toPoint())
    # A pixel can be wider than a hundredth; the arrow keys would then set the rest.
    QTest.mouseRelease(bar, LEFT, pos=QPointF(end, y).toPoint())


def assert_bar_is_filled(bar: ProbabilityBar) -> None:
    """Look at the painted bar: the colour of the outcome up to the probability, and not beyond it."""
    state, rect = bar.state(), bar.bar_rect()
    assert state.probability is not None
    token = {"passed": "passed_fill", "rejected": "rejected_fill"}[state.status]
    image = bar.grab().toImage()
    y = int(rect.center().y())
    mark = mark_x(rect, state.threshold)

    def shows(share: float) -> bool:
        return image.pixelColor(int(rect.left() + rect.width() * share), y) == theme().color(token)

    for share in (state.probability * 0.3, state.probability * 0.6):
        x = rect.left() + rect.width() * share
        if x - rect.left() > 3 and abs(x - mark) > 4:
            assert shows(share), f"the bar is not filled at {share:.2f}"
    beyond = state.probability + (1 - state.probability) * 0.5
    if abs(rect.left() + rect.width() * beyond - mark) > 4:
        assert not shows(beyond), f"the bar is filled at {beyond:.2f}, beyond {state.probability:.2f}"
