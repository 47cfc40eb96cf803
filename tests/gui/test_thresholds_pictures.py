"""The pictures of the lab: what odd cases are said to be, scales, the review band, and drawing spread over turns."""

from __future__ import annotations

import random

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem
from pytestqt.qtbot import QtBot

from tests.gui.benches import WAIT_MS, sample_session
from workbench.engine.evaluation import Case
from workbench.engine.evaluation.rows import ResultRow, ResultsFile, asked_hash
from workbench.engine.projects import Project
from workbench.engine.projects import project as project_module
from workbench.gui.models.cases import PROBABILITY, TEXT
from workbench.gui.models.cases_filter import CaseFilter
from workbench.gui.models.figures_check import CheckFigures
from workbench.gui.panes.thresholds import ThresholdsPane
from workbench.gui.panes.thresholds.batch import results_path
from workbench.gui.panes.thresholds.slices import Slices
from workbench.gui.shell.session import Session
from workbench.gui.widgets.plot_histogram import HistogramPlot, bar_tops

session = sample_session


def open_lab(qtbot: QtBot, session: Session, p: list[float], labels: list[bool | None]) -> ThresholdsPane:
    """Open the lab on cases whose stored answers to the first check are `p`; no model is asked."""
    check = session.snapshot().input_guardrail.checks[0]
    cases = [
        Case(f"c{k}", f"text {k}", {} if label is None else {check.name: label})
        for k, label in enumerate(labels)
    ]
    session.edit("cases", lambda project: project.set_cases(cases))
    pane = ThresholdsPane(session)
    qtbot.addWidget(pane)
    pane.resize(1400, 800)
    pane.show()
    rest(qtbot, pane)
    path = results_path(session.snapshot().root, "input")
    assert path is not None
    file = ResultsFile(path)
    file.append(
        ResultRow(c.id, check.name, q, "passed", None, 0.5, pane.lab.version(), 3.0, asked_hash(c, check))
        for c, q in zip(cases, p, strict=True)
    )
    file.close()
    pane.lab.reload()
    rest(qtbot, pane)
    return pane


def rest(qtbot: QtBot, pane: ThresholdsPane) -> None:
    """Wait until no job is under way and all is drawn."""
    qtbot.waitUntil(lambda: not pane.lab.session.jobs.busy(), timeout=WAIT_MS)
    pane.lab.slices.finish()


def mixed(n: int = 80) -> tuple[list[float], list[bool | None]]:
    """Return probabilities that agree with their labels more often than not."""
    chance = random.Random(3)
    p = [round(chance.random(), 3) for _ in range(n)]
    return p, [chance.random() < each for each in p]


@pytest.mark.parametrize(
    ("p", "y", "words"),
    [
        ([], [], ""),
        ([0.4], [True], "The only case is labelled yes"),
        ([0.4, 0.6], [False, False], "All 2 cases are labelled no"),
        ([0.4, 0.4, 0.4], [True] * 3, "All 3 cases are labelled yes; all probabilities are 0.40"),
        ([0.25] * 4, [True, False] * 2, "Only 2 yes and 2 no cases: rough; all probabilities are 0.25"),
        ([0.2, 0.9] * 40, [False, True] * 40, ""),
    ],
    ids=["none", "one", "one label", "one label and equal", "all equal", "enough"],
)
def test_odd_cases_are_called_what_they_are(p: list[float], y: list[bool], words: str) -> None:
    assert CheckFigures(p, y).oddity == words


def test_every_picture_says_what_is_odd_about_the_cases(qtbot: QtBot, session: Session) -> None:
    pane = open_lab(qtbot, session, [0.3, 0.3, 0.3], [False, False, False])
    pictures, words = pane.pictures, "All 3 cases are labelled no; all probabilities are 0.30"
    assert words in pictures.histogram.scale_words()
    assert pictures.reliability.note() == words
    for place, plot in ((0, pictures.curves), (3, pictures.cost), (4, pictures.band_curve)):
        pictures.tabs.setCurrentIndex(place)
        assert plot.note() == words
    for place, plot in ((1, pictures.roc), (2, pictures.precision_recall)):
        pictures.tabs.setCurrentIndex(place)
        assert plot.message() == "All labels are the same: there is no such curve."
        assert not plot.legend.isVisible()
    pictures.tabs.setCurrentIndex(5)
    assert words in pictures.overview.item(0, 0).toolTip()


def test_without_labels_every_picture_says_so(qtbot: QtBot, session: Session) -> None:
    pane = open_lab(qtbot, session, [0.3, 0.6], [None, None])
    pictures, words = pane.pictures, "No case is labelled for this check."
    assert pictures.histogram.message() == pictures.reliability.message() == words
    plots = (pictures.curves, pictures.roc, pictures.precision_recall, pictures.cost, pictures.band_curve)
    for place, plot in enumerate(plots):
        pictures.tabs.setCurrentIndex(place)
        assert plot.message() == words
        assert plot.curves() == []
        assert plot.points() == []


@pytest.mark.parametrize(
    ("yes", "no", "tops"),
    [
        (10, 12, (12, 12)),
        (3, 12, (12, 12)),
        (2, 12, (2, 12)),
        (12, 2, (12, 2)),
        (0, 5, (5, 5)),
        (0, 0, (1, 1)),
    ],
)
def test_both_halves_have_one_scale_where_both_can_be_read_on_it(
    yes: int, no: int, tops: tuple[int, int]
) -> None:
    assert bar_tops(yes, no) == tops


def test_two_scales_are_said(qtbot: QtBot) -> None:
    plot = HistogramPlot()
    qtbot.addWidget(plot)
    few = CheckFigures([0.9, 0.1] + [0.12] * 40, [True, False] + [False] * 40)
    plot.set_histogram(few.histogram)
    assert plot.scale_words() == "two scales: up to 1 above, 40 below"
    even = CheckFigures([0.9, 0.1], [True, False])
    plot.set_histogram(even.histogram)
    assert plot.scale_words() == ""
    plot.set_histogram(None, "nothing")
    assert plot.message() == "nothing"


def test_the_review_band_belongs_to_its_check_is_kept_and_can_be_undone(
    qtbot: QtBot, session: Session
) -> None:
    p, labels = mixed()
    pane = open_lab(qtbot, session, p, labels)
    lab, pictures = pane.lab, pane.pictures
    first, second = (check.name for check in lab.guardrail.checks[:2])
    before = session.project.toml_text  # type: ignore[union-attr]
    pictures.band_box.setChecked(True)
    pictures.histogram.band_line.setValue(0.12)
    assert lab.band == 0.12
    assert session.project.review_from("input", first) != 0.12  # type: ignore[union-attr]
    pictures.histogram.band_line.sigPositionChangeFinished.emit(pictures.histogram.band_line)
    rest(qtbot, pane)
    assert session.project.review_from("input", first) == 0.12  # type: ignore[union-attr]
    assert lab.figures().coverage(0.12, lab.threshold()).words()[1:] in pane.verdicts.band_words.text()
    lab.choose_check(second)
    rest(qtbot, pane)
    assert lab.band is None
    assert not pictures.band_box.isChecked()
    assert pane.verdicts.band_words.isHidden()
    lab.choose_check(first)
    rest(qtbot, pane)
    assert pictures.band_box.isChecked()
    assert pictures.band_spin.value() == 0.12
    session.undo_stack.undo()
    rest(qtbot, pane)
    assert session.project.toml_text == before  # type: ignore[union-attr]
    assert not pictures.band_box.isChecked()
    session.undo_stack.redo()
    session.save()
    root = session.snapshot().root
    assert root is not None
    assert Project.load(root).review_from("input", first) == 0.12


def test_curves_are_filled_anew_and_not_made_anew(qtbot: QtBot, session: Session) -> None:
    p, labels = mixed()
    pane = open_lab(qtbot, session, p, labels)
    plot = pane.pictures.curves
    items, in_scene = list(plot._items), len(plot.scene().items())
    pane.lab.label([0, 1, 2], False)
    rest(qtbot, pane)
    pane.lab.choose_check(pane.lab.guardrail.checks[1].name)
    rest(qtbot, pane)
    pane.lab.choose_check(pane.lab.guardrail.checks[0].name)
    rest(qtbot, pane)
    assert plot._items == items
    assert len(plot.scene().items()) == in_scene
    x, y = items[1].getData()
    found = pane.lab.figures().curve
    assert found is not None
    assert x[1::2].tolist() == found.thresholds.tolist()
    assert y[1::2].tolist() == found.recall.tolist()
    assert [label.text for _sample, label in plot.legend.items] == ["precision", "recall", "FPR", "F1"]


def test_slices_do_one_piece_a_turn_in_order_and_each_name_once(qtbot: QtBot) -> None:
    slices, done = Slices(), []
    for name in ("a", "b", "a", "c"):
        slices.later(name, lambda name=name: done.append(name))
    assert slices.waiting("c")
    assert done == []
    qtbot.waitUntil(lambda: not slices.waiting(), timeout=WAIT_MS)
    assert done == ["a", "b", "c"]
    slices.later("d", lambda: slices.later("e", lambda: done.append("e")))
    slices.finish()
    assert done[-1] == "e"


def test_a_cell_paints_alike_whether_quick_or_selected(qtbot: QtBot, session: Session) -> None:
    pane = open_lab(qtbot, session, [0.05, 0.95, 0.5], [False, True, True])
    view, model = pane.case_table.view, pane.case_table.model

    def ink(row: int, column: int, state: QStyle.StateFlag) -> set[int]:
        index = model.index(row, column)
        option = QStyleOptionViewItem()
        view.initViewItemOption(option)
        option.state, option.widget = state, view
        option.rect = view.visualRect(index).translated(-view.visualRect(index).topLeft())
        image = QImage(option.rect.size(), QImage.Format.Format_RGB32)
        image.fill(Qt.GlobalColor.white)
        painter = QPainter(image)
        view.itemDelegateForIndex(index).paint(painter, option, index)
        painter.end()
        rows = range(image.height())
        return {x for x in range(image.width()) if len({image.pixel(x, y) for y in rows}) > 1}

    plain, focused = (
        QStyle.StateFlag.State_Enabled,
        QStyle.StateFlag.State_Enabled | QStyle.StateFlag.State_HasFocus,
    )
    for row in range(3):
        quick, slow = ink(row, PROBABILITY, plain), ink(row, PROBABILITY, focused)
        assert quick
        assert abs(min(quick) - min(slow)) <= 3
        assert abs(max(quick) - max(slow)) <= 3
    words = ink(0, TEXT, plain)
    assert words
    assert max(words) < 80


def test_the_selection_stays_on_its_cases_when_a_filter_or_an_order_moves_the_rows(
    qtbot: QtBot, session: Session
) -> None:
    p, labels = mixed(30)
    pane = open_lab(qtbot, session, p, labels)
    table = pane.case_table
    kept = next(k for k in range(10, 30) if labels[k])
    table.view.selectRow(kept)
    table.view.sortByColumn(PROBABILITY, Qt.SortOrder.DescendingOrder)
    assert table.selected_positions() == [kept]
    pane.lab.set_filter(CaseFilter("", 0.0, 1.0, True, "labelled yes"))
    assert table.selected_positions() == [kept]
    assert table.model.rowCount() == sum(bool(label) for label in labels)
    pane.lab.set_filter(CaseFilter("", 0.0, 1.0, False, "labelled no"))
    assert table.selected_positions() == []


def test_a_search_finds_a_text_that_was_edited_since(qtbot: QtBot, session: Session) -> None:
    p, labels = mixed(12)
    pane = open_lab(qtbot, session, p, labels)
    table = pane.case_table
    table.search.setText("fernhill")
    assert table.model.rowCount() == 0
    pane.lab.edit_cell(4, TEXT, "From Fernhill, with love")
    assert [table.model.position(row) for row in range(table.model.rowCount())] == [4]
    session.undo_stack.undo()
    assert table.model.rowCount() == 0


def test_a_file_with_too_many_cases_is_shown_in_part_said_and_not_edited(
    qtbot: QtBot, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = session.snapshot().root
    assert root is not None
    monkeypatch.setattr(project_module, "LARGE_BYTES", 2_000)
    monkeypatch.setattr(project_module, "HEAD_BYTES", 1_500)
    before = (root / "cases.jsonl").read_bytes()
    session.open(root)
    pane = ThresholdsPane(session)
    qtbot.addWidget(pane)
    pane.show()
    rest(qtbot, pane)
    shown = len(pane.lab.columns)
    assert 0 < shown < before.count(b"\n")
    assert f"its first {shown} cases are shown" in pane.strip.counts.text()
    said: list[str] = []
    session.status.connect(said.append)
    pane.lab.label([0], True)
    assert "cannot be edited here" in said[-1]
    assert session.undo_stack.count() == 0
    assert not session.dirty
    assert (root / "cases.jsonl").read_bytes() == before


def test_no_word_lies_over_the_bars(qtbot: QtBot, session: Session) -> None:
    pane = open_lab(qtbot, session, [0.12] * 6 + [0.82] * 6, [False] * 6 + [True] * 6)
    plot = pane.pictures.histogram
    box = plot.getViewBox()
    highest, lowest = (box.mapViewToScene(QPointF(0, end)).y() for end in (1, -1))
    for words in (plot._tag, plot._left_words, plot._right_words, plot._yes_words):
        assert words.sceneBoundingRect().bottom() <= highest + 1
    for words in (plot._no_words, plot._scale_words):
        assert words.sceneBoundingRect().top() >= lowest - 1
        assert words.sceneBoundingRect().bottom() <= box.sceneBoundingRect().bottom() + 4


@pytest.mark.parametrize("width", [1400, 1000])
def test_no_word_lies_over_the_curves(qtbot: QtBot, session: Session, width: int) -> None:
    pane = open_lab(qtbot, session, [0.2, 0.4, 0.7, 0.9], [False, True, False, True])
    pane.resize(width, 800)
    pictures = pane.pictures
    for tab, plot in ((0, pictures.curves), (1, pictures.roc), (2, pictures.precision_recall)):
        pictures.tabs.setCurrentIndex(tab)
        rest(qtbot, pane)
        top = plot.getViewBox().mapViewToScene(QPointF(0, 1)).y()
        assert plot.note()
        assert plot._note.sceneBoundingRect().bottom() <= top + 1
        legend = plot.legend.sceneBoundingRect()
        assert legend.bottom() <= top + 1
        assert not legend.intersects(plot._note.sceneBoundingRect().adjusted(2, 2, -2, -2))
        assert legend.left() >= plot.getViewBox().sceneBoundingRect().left() - 2


def test_a_tab_is_told_in_words_where_there_is_room(qtbot: QtBot, session: Session) -> None:
    pane = open_lab(qtbot, session, *mixed())
    tabs = pane.pictures.tabs
    tabs.resize(700, 200)
    assert tabs.tabText(2) == "Precision–recall"
    tabs.resize(330, 200)
    assert tabs.tabText(2) == "PR"
