"""Scores a text against the wording of a check, for a check that has no labelled examples yet.

One logistic over the cosine similarities of the text with the check's `yes_means`, `no_means` and question.
The weights were fitted on a development set of 12 checks with 4 texts each (L2 penalty chosen by log loss
with one check left out at a time); `tests/bench/guardrails.py` fits them anew and prints the figures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.engine.decisions.questions import YesNoQuestion


@dataclass(frozen=True, slots=True)
class ZeroShotWeights:
    """Weights of the similarities with `yes_means`, `no_means` and the question, and the intercept."""

    yes: float
    no: float
    question: float
    intercept: float

    def logit(self, yes: float, no: float, question: float) -> float:
        """Return the log-odds of "yes" for three cosine similarities."""
        return self.yes * yes + self.no * no + self.question * question + self.intercept


# One fit for each set of descriptions that a check may have: (has yes_means, has no_means).
WEIGHTS: dict[tuple[bool, bool], ZeroShotWeights] = {
    (True, True): ZeroShotWeights(8.86, -2.26, 1.49, -1.43),
    (True, False): ZeroShotWeights(8.06, 0.0, 1.15, -1.50),
    # Alone, a description of "no" only repeats the subject of the question: it helped in no fit.
    (False, True): ZeroShotWeights(0.0, 0.0, 7.50, -1.01),
    (False, False): ZeroShotWeights(0.0, 0.0, 7.50, -1.01),
}


def descriptions(question: YesNoQuestion) -> list[str]:
    """Return the texts whose vectors `zero_shot_logit` needs, in its order; a missing one is empty."""
    return [question.yes_means or "", question.no_means or "", question.text]


def zero_shot_logit(question: YesNoQuestion, similarities: Sequence[float]) -> float:
    """Return the log-odds of "yes" from the similarities of a text with `descriptions(question)`."""
    weights = WEIGHTS[question.yes_means is not None, question.no_means is not None]
    yes, no, asked = similarities
    return weights.logit(yes, no, asked)


def sigmoid(logit: float) -> float:
    """Return the probability for log-odds, without overflow."""
    if logit >= 0:
        return 1.0 / (1.0 + math.exp(-min(logit, 700.0)))
    e = math.exp(max(logit, -700.0))
    return e / (1.0 + e)
