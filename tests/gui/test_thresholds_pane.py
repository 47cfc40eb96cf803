"""The threshold lab: a run over all cases, pictures linked to the table, and thresholds that ask no model."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.gui.benches import WAIT_MS, open_session, warm_embedded_model
from workbench.engine.evaluation.metrics import confusion
from workbench.gui.models.cases import cell_of
from workbench.gui.panes.thresholds import ThresholdsPane, scores_of
from workbench.gui.shell.session import Session


@pytest.fixture(scope="module", autouse=True)
def embedded_model() -> Iterator[None]:
    yield from warm_embedded_model()


@pytest.fixture
def session(qtbot: QtBot, tmp_path: Path) -> Iterator[Session]:
    yield from open_session(qtbot, tmp_path)


@pytest.fixture
def pane(qtbot: QtBot, session: Session) -> ThresholdsPane:
    # A dozen cases of each label are enough here, and quick.
    few = session.snapshot().cases[:30]
    session.edit("cases", lambda project: project.set_cases(few))
    pane = ThresholdsPane(session)
    qtbot.addWidget(pane)
    pane.resize(1400, 800)
    pane.show()
    return pane


def run_all(qtbot: QtBot, session: Session, pane: ThresholdsPane) -> None:
    """Run the checks over all cases of the stage."""
    with qtbot.waitSignal(session.run_finished, timeout=WAIT_MS * 2):
        pane.run_cases()


def counts(pane: ThresholdsPane) -> dict[str, int]:
    """Return the counts of the confusion matrix."""
    return {name: cell.count() for name, cell in pane.matrix.cells.items()}


def test_the_plot_library_is_imported_only_when_the_pane_is_seen() -> None:
    code = (
        "import sys; import workbench.gui.panes.thresholds; assert 'pyqtgraph' not in sys.modules;"
        "import workbench.gui.widgets.plots; assert 'pyqtgraph' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_cases_are_listed_with_their_labels_before_anything_was_run(
    session: Session, pane: ThresholdsPane
) -> None:
    cases = [case for case in session.snapshot().cases if case.stage == "input"]
    assert pane.table_model.rowCount() == len(cases)
    assert "not run yet" in pane.progress_words.text()
    assert sum(counts(pane).values()) == 0
    label = cases[0].labels.get(pane.check().name)  # type: ignore[union-attr]
    assert pane.table_model.index(0, 2).data() == {True: "+ yes", False: "– no", None: ""}[label]


def test_a_run_fills_the_table_and_the_matrix_agrees_with_the_metrics(
    qtbot: QtBot, session: Session, pane: ThresholdsPane
) -> None:
    run_all(qtbot, session, pane)
    for check in session.snapshot().input_guardrail.checks:
        pane.choose_check(check.name)
        scores = scores_of(pane._cases, pane._answers, check.name)
        assert scores.p
        expected = confusion(scores.p, scores.y, pane.threshold())
        assert counts(pane) == {"tp": expected.tp, "fn": expected.fn, "fp": expected.fp, "tn": expected.tn}
    assert "answered" in pane.progress_words.text()
    assert session.history.runs(kind="evaluate")[0].outcome == "done"  # type: ignore[union-attr]


def test_a_second_run_asks_nothing_twice(
    qtbot: QtBot, session: Session, pane: ThresholdsPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_all(qtbot, session, pane)
    before = dict(pane._answers)
    from workbench.engine.decisions.embedded import EmbeddedDecisionModel

    async def refuse(*_args: object) -> None:
        raise AssertionError("asked again")

    monkeypatch.setattr(EmbeddedDecisionModel, "decide", refuse)
    run_all(qtbot, session, pane)
    assert pane._answers == before


def test_a_cell_of_the_matrix_filters_the_cases_and_lets_go_again(
    qtbot: QtBot, session: Session, pane: ThresholdsPane
) -> None:
    run_all(qtbot, session, pane)
    total = pane.table_model.rowCount()
    pane.matrix.cells["tn"].click()
    assert pane.table_model.rowCount() == pane.matrix.cells["tn"].count() > 0
    outcomes = {pane.table_model.index(row, 4).data() for row in range(pane.table_model.rowCount())}
    assert outcomes == {"let through"}
    pane.filter_link.click()
    assert pane.table_model.rowCount() == total
    pane.search.setText("zzz-no-such-case")
    assert pane.table_model.rowCount() == 0


def test_a_dragged_threshold_moves_everything_at_once_and_writes_the_project_only_when_let_go(
    qtbot: QtBot, session: Session, pane: ThresholdsPane
) -> None:
    run_all(qtbot, session, pane)
    check = pane.check()
    assert check is not None
    before = pane.threshold()
    with qtbot.assertNotEmitted(session.run_started, wait=50):
        pane.histogram.moved.emit(0.0)
        assert counts(pane)["fn"] == counts(pane)["tn"] == 0
        assert pane.matrix_head.title.text() == "At threshold 0.00"
        assert pane.threshold() == before
        pane.histogram.chosen.emit(0.0)
    assert session.snapshot().input_guardrail.checks[0].threshold == 0.0
    session.undo_stack.undo()
    assert pane.threshold() == before
    assert pane.spin.value() == pytest.approx(before)


def test_a_suggestion_is_applied_with_one_action_or_says_what_it_lacks(
    qtbot: QtBot, session: Session, pane: ThresholdsPane
) -> None:
    run_all(qtbot, session, pane)
    recall, _cost, conformal = pane.suggestions
    qtbot.waitUntil(lambda: conformal.figures.text() != "", timeout=WAIT_MS)
    assert "19" in conformal.figures.text()
    assert not conformal.button.isEnabled()
    if recall.button.isEnabled():
        recall.button.click()
        assert session.snapshot().input_guardrail.checks[0].threshold == recall._threshold


def test_stop_keeps_what_was_answered_and_the_next_run_goes_on_from_there(
    qtbot: QtBot, session: Session, pane: ThresholdsPane
) -> None:
    pane.run_cases()
    qtbot.waitUntil(lambda: len(pane._answers) >= 5, timeout=WAIT_MS)
    session.stop("evaluate")
    assert "Stopped" in pane.progress_words.text()
    assert pane.run_button.isEnabled()
    kept = len(pane._answers)
    run_all(qtbot, session, pane)
    assert len(pane._answers) > kept or kept == len(pane._cases) * len(pane._guardrail.checks)


def test_another_wording_makes_stored_answers_stale(
    qtbot: QtBot, session: Session, pane: ThresholdsPane
) -> None:
    from dataclasses import replace

    run_all(qtbot, session, pane)
    check = session.snapshot().input_guardrail.checks[0]
    session.edit(
        "guardrails",
        lambda project: project.set_check("input", 0, replace(check, question="Something else?")),
    )
    assert sum(counts(pane).values()) == 0
    assert "out of date" in pane.progress_counts.text()


@pytest.mark.parametrize(
    ("probability", "label", "cell"),
    [
        (0.5, True, "tp"),
        (0.49, True, "fn"),
        (0.5, False, "fp"),
        (0.49, False, "tn"),
        (None, True, None),
        (0.5, None, None),
    ],
)
def test_cells_take_a_probability_at_the_threshold_as_rejected_and_never_guess(
    probability: float | None, label: bool | None, cell: str | None
) -> None:
    assert cell_of(probability, label, 0.5) == cell
