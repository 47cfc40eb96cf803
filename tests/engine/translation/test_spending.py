"""What a run cost is known per attempt and in all, and a budget that cannot be kept stops before the next call."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.engine.translation.scripted import BAD, GOOD, used
from tests.engine.translation.test_translator import run, translator
from workbench.engine.events import RunEvent
from workbench.engine.language_models import Completion, Cost
from workbench.engine.translation import replay


def paid(text: str, amount: float | None, currency: str = "USD") -> Completion:
    """Return a completion that cost something; `None` where nobody knows."""
    return replace(used(text, 10, 5), cost=None if amount is None else Cost(amount, currency))


def test_the_cost_is_kept_per_attempt_and_summed() -> None:
    result = run(translator(paid(BAD, 0.01), paid(GOOD, 0.02)))
    assert [attempt.cost for attempt in result.attempts] == [Cost(0.01), Cost(0.02)]
    assert result.record.cost == Cost(0.03)
    assert result.attempts[0].to_json()["cost"] == {"amount": 0.01, "currency": "USD"}


@pytest.mark.parametrize(
    "script",
    [(paid(BAD, None), paid(GOOD, 0.02)), (paid(BAD, 0.01, "EUR"), paid(GOOD, 0.02)), (paid(GOOD, None),)],
    ids=["one unknown", "two currencies", "no prices"],
)
def test_an_unknown_part_makes_the_sum_unknown(script: tuple[Completion, ...]) -> None:
    result = run(translator(*script))
    assert result.success
    assert result.record.cost is None
    assert result.attempts[0].to_json()["cost"] != 0


def test_the_cost_is_there_in_a_replay() -> None:
    events: list[RunEvent] = []
    t = translator(paid(BAD, 0.01), paid(GOOD, 0.02))
    t.on_event = events.append
    result = run(t)
    stored = [RunEvent(event.kind, event.at, dict(event.data)) for event in events]
    assert replay(stored).cost == result.record.cost == Cost(0.03)


@pytest.mark.parametrize(
    ("budget", "script", "calls", "words"),
    [
        pytest.param({"cost": 0.025}, [paid(BAD, 0.01)] * 9, 3, "is used up (0.030 USD)", id="cost"),
        pytest.param({"cost": 0}, [paid(BAD, 0.01)] * 9, 0, "nothing is spent yet", id="no cost at all"),
        pytest.param({"cost": 1}, [paid(BAD, None)] * 9, 1, "`input_price`", id="cost unknown"),
        pytest.param(
            {"cost": 1}, [paid(BAD, 0.1), paid(BAD, 0.1, "EUR")] * 9, 2, "one currency", id="two currencies"
        ),
        pytest.param({"tokens": 99}, [BAD] * 9, 1, "does not tell how many", id="tokens unknown"),
    ],
)
def test_a_budget_that_is_used_up_or_cannot_be_kept_ends_the_run(
    budget: dict[str, float], script: list[Any], calls: int, words: str
) -> None:
    t = translator(*script, max_repairs=8, budget=budget)
    result = run(t)
    assert (t.model.calls, result.code) == (calls, "budget")
    assert words in result.message


def test_what_is_valid_is_a_success_whatever_it_cost() -> None:
    assert run(translator(paid(GOOD, 5.0), budget={"cost": 0.01})).success


def test_a_recorded_answer_costs_nothing_again() -> None:
    played = [replace(used(BAD, 10, 5), recorded=True), replace(used(GOOD, 10, 5), recorded=True)]
    assert run(translator(*played, budget={"cost": 0.01})).success
