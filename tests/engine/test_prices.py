"""The cost of a call follows from stated prices and told counts; where one of them is missing it is unknown, never 0."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.engine.language_models import Cost, Prices, Usage, cost_from_json, total_cost


@pytest.mark.parametrize(
    ("prices", "usage", "cost"),
    [
        (Prices(0.4, 1.6), Usage(1000, 500), Cost(0.0012)),
        (Prices(0.4, 1.6, "EUR"), Usage(1_000_000, 0), Cost(0.4, "EUR")),
        (Prices(0.0, 0.0), Usage(10, 10), Cost(0.0)),
        (Prices(0.4, 1.6), Usage(None, 500), None),
        (Prices(0.4, 1.6), Usage(1000, None), None),
        (Prices(0.4, None), Usage(1000, 500), None),
        (Prices(0.4, None), Usage(1000, 0), Cost(0.0004)),
        (Prices(), Usage(1000, 500), None),
        (Prices(0.4, 1.6), Usage(), None),
    ],
)
def test_the_cost_of_a_call(prices: Prices, usage: Usage, cost: Cost | None) -> None:
    assert prices.cost(usage) == cost


@pytest.mark.parametrize(
    ("costs", "total"),
    [
        ((Cost(0.1), Cost(0.2)), Cost(0.3)),
        ((Cost(0.1), None), None),
        ((), None),
        ((None,), None),
        ((Cost(0.1), Cost(0.2, "EUR")), None),
    ],
)
def test_a_sum_is_known_when_all_of_it_is_known_and_one_currency(
    costs: tuple[Cost | None, ...], total: Cost | None
) -> None:
    assert total_cost(costs) == total


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        (0.0, "0 USD"),
        (0.0012, "0.0012 USD"),
        (0.00012345, "0.00012 USD"),
        (0.5, "0.50 USD"),
        (1.0, "1.00 USD"),
        (12345.678, "12\u202f345.68 USD"),
        (3e-9, "0.0000000030 USD"),
    ],
)
def test_a_cost_in_words(amount: float, words: str) -> None:
    assert Cost(amount).words() == words


def test_a_cost_survives_its_json_form() -> None:
    assert cost_from_json(Cost(0.25, "EUR").to_json()) == Cost(0.25, "EUR")


@pytest.mark.parametrize(
    "data", [None, 3, {}, {"amount": True, "currency": "USD"}, {"amount": 1}, {"amount": "1"}]
)
def test_what_is_no_cost_is_unknown(data: Any) -> None:
    assert cost_from_json(data) is None
