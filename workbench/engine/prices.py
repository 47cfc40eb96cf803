"""What a call costs, by the prices that the project states; without them, or without counts, nobody knows."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.engine.language_models.base import Usage

PRICE_OPTIONS = ("input_price", "output_price", "currency")
DEFAULT_CURRENCY = "USD"
_MILLION = 1_000_000
_CURRENCY = re.compile(r"[A-Z]{3}")


@dataclass(frozen=True, slots=True)
class Cost:
    """An amount of money. `currency` is a code of three capital letters, as ISO 4217 has them."""

    amount: float
    currency: str = DEFAULT_CURRENCY

    def words(self) -> str:
        """Return `0.00042 USD`: two significant digits below one unit, two decimals from there."""
        if self.amount == 0:
            return f"0 {self.currency}"
        if self.amount >= 1:
            return f"{self.amount:,.2f} {self.currency}".replace(",", "\u202f")
        decimals = min(12, 1 - math.floor(math.log10(self.amount)))
        return f"{self.amount:.{decimals}f} {self.currency}"

    def to_json(self) -> dict[str, Any]:
        """Return `{"amount", "currency"}`."""
        return {"amount": self.amount, "currency": self.currency}


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices of a model in `currency` for a million tokens; `None` is a price that nobody stated.

    They are list prices: what a provider takes off for a cached prompt, or adds for a thinking one that it does
    not count, is not in them.
    """

    input: float | None = None
    output: float | None = None
    currency: str = DEFAULT_CURRENCY

    def cost(self, usage: Usage) -> Cost | None:
        """Return what a call cost, `None` where a count or the price of tokens that were used is unknown."""
        total = 0.0
        for tokens, price in ((usage.input_tokens, self.input), (usage.output_tokens, self.output)):
            if tokens == 0:
                continue
            if tokens is None or price is None:
                return None
            total += tokens * price / _MILLION
        return Cost(round(total, 12), self.currency)


def total_cost(costs: Iterable[Cost | None]) -> Cost | None:
    """Return the sum; `None` where there is nothing, where one is unknown, or where currencies differ."""
    found = list(costs)
    known = [cost for cost in found if cost is not None]
    if not known or len(known) < len(found) or len({cost.currency for cost in known}) > 1:
        return None
    return Cost(round(sum(cost.amount for cost in known), 12), known[0].currency)


def cost_from_json(data: Any) -> Cost | None:
    """Return the cost that `Cost.to_json` wrote, `None` for anything else."""
    if not isinstance(data, Mapping):
        return None
    amount, currency = data.get("amount"), data.get("currency")
    if isinstance(amount, bool) or not isinstance(amount, int | float) or not isinstance(currency, str):
        return None
    return Cost(float(amount), currency)


def price_problem(key: str, value: Any) -> str | None:
    """Return what the option `key` of `PRICE_OPTIONS` must be, `None` when `value` will do."""
    if key == "currency":
        good = isinstance(value, str) and _CURRENCY.fullmatch(value) is not None
        return None if good else "a currency code of three capital letters, such as USD or EUR"
    good = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= sys.float_info.max
    return None if good else "a number from 0: the price of a million tokens"
