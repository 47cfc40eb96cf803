"""What a project says of its guardrails: the checks of a stage and their thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Stage = Literal["input", "output"]

DEFAULT_THRESHOLD = 0.5


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """One yes/no check; "yes" means that the text must be rejected.

    `threshold` is the probability of "yes", from 0 to 1, from which the check fails; `None` takes the
    guardrail's. `yes_means` and `no_means` describe the two answers in words.
    """

    name: str
    question: str
    threshold: float | None = None
    yes_means: str | None = None
    no_means: str | None = None


@dataclass(frozen=True, slots=True)
class GuardrailSettings:
    """The `[guardrails.input]` or `[guardrails.output]` table of a project.

    `reprompt` and `max_retries` count only at the output stage; `max_retries` counts validations.
    """

    threshold: float = DEFAULT_THRESHOLD
    checks: tuple[CheckSettings, ...] = ()
    reprompt: str | None = None
    max_retries: int = 2

    def threshold_of(self, check: CheckSettings) -> float:
        """Return the threshold that counts for `check`: its own, else the guardrail's."""
        return self.threshold if check.threshold is None else check.threshold
