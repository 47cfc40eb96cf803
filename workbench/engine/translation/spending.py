"""Adds up what the calls of one run used, and tells when a budget of tokens or money allows no further call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.engine.language_models import Completion, Cost, total_cost


@dataclass(slots=True)
class Spending:
    """The sums so far. A call that told nothing makes its sum unknown, and an unknown sum keeps no budget."""

    tokens: int | None = 0
    costs: list[Cost | None] = field(default_factory=list)

    def add(self, completion: Completion) -> None:
        """Take one call."""
        used = completion.usage.total_tokens
        self.tokens = None if used is None or self.tokens is None else self.tokens + used
        if not completion.recorded:  # what a recording plays is not paid for again
            self.costs.append(completion.cost)

    def over(self, budget: Mapping[str, float]) -> str | None:
        """Return why `budget` (`tokens`, `cost`) allows no further call, `None` when it does."""
        if "tokens" in budget:
            if self.tokens is None:
                return (
                    f"The budget of {budget['tokens']:g} tokens cannot be kept: the model does not tell how many "
                    "it used."
                )
            if self.tokens >= budget["tokens"]:
                return f"The budget of {budget['tokens']:g} tokens is used up ({self.tokens})."
        return self._over_cost(budget["cost"]) if "cost" in budget else None

    def _over_cost(self, most: float) -> str | None:
        total = total_cost(self.costs) if self.costs else Cost(0.0)
        if total is None:
            return (
                f"The budget of {Cost(most, '').words().strip()} for the cost cannot be kept: what the calls so far "
                "cost is unknown. State `input_price` and `output_price` of the models in one currency."
            )
        if total.amount < most:
            return None
        spent = total.words() if self.costs else "nothing is spent yet"
        return f"The budget of {Cost(most, total.currency).words()} for the cost is used up ({spent})."
