"""Scores a text against the wording of a check, for a check that has no labelled examples yet.

One logistic over three cosine similarities: of the text with what a "yes" is as a whole, with the two
likeliest of the things that the wording lists, and with what a "no" is (see `wording`). The weights were fitted
on a development set of 12 checks and on the samples' labelled cases, every check and side weighing the same;
features and penalty were chosen by log loss with one check left out at a time. `tests/bench/guardrails.py`
fits them anew and prints the figures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.engine.decisions.questions import YesNoQuestion
from workbench.engine.decisions.wording import sides

STRONGEST = 2
"""Listed things that count: one alone is often a chance likeness."""


@dataclass(frozen=True, slots=True)
class ZeroShotWeights:
    """Weights of the similarities with "yes" as a whole, with its likeliest parts and with "no", and the intercept."""

    yes: float
    parts: float
    no: float
    intercept: float

    def logit(self, yes: float, parts: float, no: float) -> float:
        """Return the log-odds of "yes" for three cosine similarities."""
        return self.yes * yes + self.parts * parts + self.no * no + self.intercept


# One fit for each set of descriptions that a check may have: (has yes_means, has no_means).
WEIGHTS: dict[tuple[bool, bool], ZeroShotWeights] = {
    (True, True): ZeroShotWeights(6.27, 7.03, -1.94, -2.12),
    (True, False): ZeroShotWeights(6.27, 6.87, -0.58, -2.21),
    (False, True): ZeroShotWeights(5.23, 5.45, -1.74, -1.30),
    (False, False): ZeroShotWeights(5.21, 5.29, -2.79, -1.37),
}


def descriptions(question: YesNoQuestion) -> list[str]:
    """Return the texts whose vectors `zero_shot_logit` needs, in its order; a missing one is empty."""
    wording = sides(question)
    return [wording.yes, wording.no, *wording.parts]


def zero_shot_features(similarities: Sequence[float]) -> tuple[float, float, float]:
    """Return the similarities with "yes", with its strongest parts and with "no" from those with `descriptions`."""
    yes, no, *parts = similarities
    strongest = sorted(parts)[-STRONGEST:]
    return yes, sum(strongest) / len(strongest) if strongest else 0.0, no


def zero_shot_logit(question: YesNoQuestion, similarities: Sequence[float]) -> float:
    """Return the log-odds of "yes" from the similarities of a text with `descriptions(question)` (empty: 0)."""
    weights = WEIGHTS[bool(question.yes_means), bool(question.no_means)]
    return weights.logit(*zero_shot_features(similarities))


def sigmoid(logit: float) -> float:
    """Return the probability for log-odds, without overflow."""
    if logit >= 0:
        return 1.0 / (1.0 + math.exp(-min(logit, 700.0)))
    e = math.exp(max(logit, -700.0))
    return e / (1.0 + e)
