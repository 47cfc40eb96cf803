"""Stored answers are read beside the window: it says so, it is let pass, and what nobody wants any more is dropped."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from tests.gui.benches import WAIT_MS, make_project, sample_session
from workbench.engine.evaluation.cases import Case
from workbench.engine.evaluation.rows import ResultRow, ResultsFile, asked_hash
from workbench.gui.models.cases_columns import CaseColumns
from workbench.gui.panes.thresholds import ThresholdsPane
from workbench.gui.panes.thresholds.batch import results_path
from workbench.gui.panes.thresholds.slices import Slices
from workbench.gui.panes.thresholds.turns import PATIENCE_SECONDS, TURN_SECONDS, Turns, WithdrawnError
from workbench.gui.shell.session import Session

session = sample_session


@pytest.fixture
def pane(qtbot: QtBot, session: Session) -> ThresholdsPane:
    """Return the lab on thirty cases, with an answer to each of its checks in the file, not yet shown."""
    cases = [case for case in session.snapshot().cases if case.stage == "input"][:30]
    session.edit("cases", lambda project: project.set_cases(cases))
    checks = [each for each in session.snapshot().input_guardrail.checks if each.rule is None]
    path = results_path(session.snapshot().root, "input")
    assert path is not None
    file = ResultsFile(path)
    file.append(
        ResultRow(case.id, check.name, 0.5, "rejected", None, 0.5, "v1", 3.0, asked_hash(case, check))
        for case in cases
        for check in checks
    )
    file.close()
    pane = ThresholdsPane(session)
    qtbot.addWidget(pane)
    pane.resize(1400, 800)
    return pane


class Gate:
    """Holds the reading of stored answers, of which it tells how often it began and how each one ended."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.open = threading.Event()
        self.begun: list[Path] = []
        self.ended: list[str] = []
        read = ResultsFile.rows

        def held(file: ResultsFile) -> Iterator[ResultRow]:
            self.begun.append(file.path)
            how = "dropped"
            try:
                for row in read(file):
                    yield row
                    self.open.wait(WAIT_MS / 1000)
                how = "read"
            finally:
                self.ended.append(how)

        monkeypatch.setattr(ResultsFile, "rows", held)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    made = Gate(monkeypatch)
    yield made
    made.open.set()


def answers(pane: ThresholdsPane) -> int:
    checks = [each for each in pane.lab.guardrail.checks if each.rule is None]
    return 30 * len(checks)


def test_the_lab_says_how_many_answers_it_reads(qtbot: QtBot, pane: ThresholdsPane, gate: Gate) -> None:
    pane.show()
    qtbot.waitUntil(lambda: bool(gate.begun) and pane.lab.reading > 0, timeout=WAIT_MS)
    pane.lab.slices.finish()
    assert pane.lab.reading == answers(pane)
    assert pane.strip.words.text() == f"Reading {answers(pane)} answers…"
    assert pane.pictures.histogram.message() == "The stored answers are being read."
    assert pane.case_table.model.rowCount() == 30
    gate.open.set()
    qtbot.waitUntil(lambda: not pane.lab.loading, timeout=WAIT_MS)
    pane.lab.slices.finish()
    # Another version answered than the one that would now: the answers are there, and marked.
    assert f"{answers(pane)} answers out of date" in pane.strip.counts.text()
    assert pane.pictures.histogram.message() == "The stored answers are out of date. Run the checks again."
    assert pane.lab.reading == 0
    assert gate.ended == ["read"]


def test_a_reading_ends_and_shows_nothing_when_another_project_is_opened(
    qtbot: QtBot, session: Session, pane: ThresholdsPane, gate: Gate, tmp_path: Path
) -> None:
    pane.show()
    qtbot.waitUntil(lambda: bool(gate.begun), timeout=WAIT_MS)
    other = make_project(tmp_path / "other")
    session.open(other)
    gate.open.set()
    qtbot.waitUntil(lambda: bool(gate.ended) and not session.jobs.busy(), timeout=WAIT_MS)
    pane.lab.slices.finish()
    assert gate.ended[0] == "dropped"
    assert pane.lab.columns.answered() == pane.lab.columns.stale() == 0
    assert len(pane.lab.columns) == sum(case.stage == "input" for case in session.snapshot().cases)


def test_a_reading_ends_when_the_project_is_closed(
    qtbot: QtBot, session: Session, pane: ThresholdsPane, gate: Gate
) -> None:
    pane.show()
    qtbot.waitUntil(lambda: bool(gate.begun), timeout=WAIT_MS)
    session.adopt(None)
    gate.open.set()
    qtbot.waitUntil(lambda: bool(gate.ended) and not session.jobs.busy(), timeout=WAIT_MS)
    assert gate.ended == ["dropped"]
    assert not pane.lab.loading
    assert len(pane.lab.columns) == 0


def test_a_reading_ends_when_the_window_is_closed(
    qtbot: QtBot, session: Session, pane: ThresholdsPane, gate: Gate
) -> None:
    pane.show()
    qtbot.waitUntil(lambda: bool(gate.begun), timeout=WAIT_MS)
    threading.Timer(0.1, gate.open.set).start()
    session.jobs.shutdown()
    assert gate.ended == ["dropped"]
    qtbot.wait(700)  # what was put off until a pause, such as the suggestions, asks for nothing more


def test_a_file_that_cannot_be_read_is_said_also_in_the_pictures(
    qtbot: QtBot, pane: ThresholdsPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_file: ResultsFile) -> Iterator[ResultRow]:
        raise PermissionError("not yours")

    monkeypatch.setattr(ResultsFile, "rows", broken)
    pane.show()
    qtbot.waitUntil(lambda: bool(pane.lab.failure), timeout=WAIT_MS)
    pane.lab.slices.finish()
    assert pane.strip.counts.text() == "The stored answers cannot be read: not yours"
    assert pane.pictures.histogram.message() == "Run the checks on the cases to see their probabilities."


def test_a_second_reading_takes_the_place_of_the_first(
    qtbot: QtBot, pane: ThresholdsPane, gate: Gate
) -> None:
    pane.show()
    qtbot.waitUntil(lambda: bool(gate.begun), timeout=WAIT_MS)
    pane.lab.reload()
    gate.open.set()
    qtbot.waitUntil(lambda: not pane.lab.loading and len(gate.ended) == 2, timeout=WAIT_MS)
    assert gate.ended == ["dropped", "read"]


def test_the_work_waits_while_the_window_draws() -> None:
    asked: list[Callable[[], None]] = []
    turns, done = Turns(asked.append), []

    def work() -> None:
        for k in turns.paced(range(3)):
            done.append(k)
            time.sleep(2 * TURN_SECONDS)

    thread = threading.Thread(target=work)
    thread.start()
    for k in range(3):
        wait_for(lambda: bool(asked))
        time.sleep(PATIENCE_SECONDS / 10)
        assert len(done) == k
        asked.pop()()
        wait_for(lambda k=k: len(done) == k + 1)
    thread.join()


def test_a_window_that_does_not_answer_does_not_stop_the_work() -> None:
    turns = Turns(lambda _function: None)
    begun = time.monotonic()
    assert list(turns.paced("ab")) == ["a", "b"]
    assert time.monotonic() - begun < 10 * PATIENCE_SECONDS


def test_work_that_is_not_wanted_ends_also_while_it_waits() -> None:
    asked: list[Callable[[], None]] = []
    turns, ended = Turns(asked.append), []

    def work() -> None:
        with pytest.raises(WithdrawnError):
            turns.give_way()
        ended.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    wait_for(lambda: bool(asked))
    turns.withdraw()
    thread.join()
    assert ended
    with pytest.raises(WithdrawnError):
        turns.give_way()


def wait_for(told: Callable[[], bool]) -> None:
    end = time.monotonic() + WAIT_MS / 1000
    while not told():
        assert time.monotonic() < end
        time.sleep(0.001)


def test_between_two_pieces_of_work_a_turn_is_left_for_drawing(qtbot: QtBot) -> None:
    slices, done, turns = Slices(), [], []
    for name in "abc":
        slices.later(name, lambda name=name: done.append(name))
    while slices.waiting():
        before = len(done)
        QCoreApplication.processEvents()
        turns.append(len(done) - before)
    assert done == ["a", "b", "c"]
    assert all(first + second <= 1 for first, second in itertools.pairwise(turns))


def test_cases_with_one_id_are_all_found() -> None:
    columns = CaseColumns([Case("a", "1"), Case("b", "2"), Case("a", "3"), Case("a", "4")], ())
    assert list(columns.positions("a")) == [0, 2, 3]
    assert list(columns.positions("b")) == [1]
    assert list(columns.positions("c")) == []
