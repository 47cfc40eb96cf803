"""The status line says in words what was run last, when, how it ended, how long it took and on what."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from tests.gui.benches import ScriptedModel, use_model
from workbench.engine.guardrails import CheckResult, GuardrailResult
from workbench.gui.main_window import MainWindow
from workbench.gui.models.checks_loop import LoopOutcome
from workbench.gui.shell.last_run import LastRun, failed_run, finished_run


def _result(*pairs: tuple[str, float | None], elapsed: float = 41) -> GuardrailResult:
    checks = tuple(
        CheckResult(
            name, f"Is it {name}?", probability, 0.5, "rejected" if (probability or 0) >= 0.5 else "passed"
        )
        for name, probability in pairs
    )
    return GuardrailResult("input", checks, "", elapsed_ms=elapsed)


RUNS = [
    ("passed", "check", _result(("rude", 0.1)), "passed", "passed, 41 ms, embedded"),
    ("rejected", "check", _result(("rude", 0.9)), "rejected", "rejected by rude, 41 ms, embedded"),
    (
        "many",
        "check",
        _result(("a", 0.9), ("b", 0.9), ("c", 0.9), ("d", 0.9)),
        "rejected",
        "rejected by a, b and 2 more, 41 ms, embedded",
    ),
    ("cases", "evaluate", {"c1": 1, "c2": 2}, "passed", "2 cases, 1.80 s, embedded"),
    ("requests", "batch", [1], "passed", "1 request, 1.80 s, embedded"),
    ("loop", "guard", LoopOutcome(True, "x", "", (object(), object())), "passed", "passed after 1 reprompt, 1.80 s, embedded"),  # type: ignore[arg-type]
    (
        "program",
        "program",
        SimpleNamespace(record=SimpleNamespace(attempts=(object(),), outcome="truncated")),
        "rejected",
        "no program, cut off, 1.80 s, embedded",
    ),
    ("tools", "tools", SimpleNamespace(outcome="ok"), "passed", "answered, 1.80 s, embedded"),
    ("tool limit", "tools", SimpleNamespace(outcome="limit"), "second", "too many round trips, 1.80 s, embedded"),
    ("tool failed", "tools", SimpleNamespace(outcome="tool_error"), "second", "tool error, 1.80 s, embedded"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "result", "status", "words"), [row[1:] for row in RUNS], ids=[row[0] for row in RUNS]
)
def test_a_run_is_said_in_words(kind: str, result: object, status: str, words: str) -> None:
    run = finished_run(kind, result, "embedded", 1800, 0)
    assert run.status == status
    assert run.words().split(": ", 1)[1] == words


def test_the_time_of_day_is_said() -> None:
    assert re.fullmatch(r"checked at \d\d:\d\d: passed", LastRun("check", "passed", at=1_000_000.0).words())


def test_a_failure_says_its_first_line_and_a_stop_is_no_failure() -> None:
    assert (
        failed_run("check", "no server\ndetails", "embedded", 0).words()
        == "checked: failed, no server, embedded"
    )
    assert failed_run("translate", "stopped by you", "local", 0).words() == "translated: stopped by you"


def test_the_status_line_shows_the_last_run_until_the_next_begins(
    open_window: MainWindow, qtbot, settled, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_model(monkeypatch, ScriptedModel(['{"greeting": "Hello"}']))
    session, run = open_window.session, open_window.status_line.run
    with qtbot.waitSignal(session.run_finished, timeout=30_000):
        session.translate("Greet Ann")
    assert re.match(r"translated at \d\d:\d\d: valid at the first reply, [\d.]+ m?s", run.text())
    session.begin_run("evaluate")
    assert run.text() == "evaluating…"
    session.end_run("evaluate", {"one": 1})
    assert re.match(r"evaluated at \d\d:\d\d: 1 case, \d+ ms, ", run.text())
    session.begin_run("check")
    session.end_run("check", failure="no such server")
    assert "failed, no such server" in run.text()
    assert run.toolTip() == "no such server"
