"""What a project says of its guardrails: the checks of a stage and their thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from workbench.engine.guardrails.text_checks import TextCheck

Stage = Literal["input", "output"]

DEFAULT_THRESHOLD = 0.5

RULE_THRESHOLD = 0.5
"""What the 0 or 1 of a check that asks no model is held against, whatever the guardrail's threshold is."""


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """One yes/no check; "yes" means that the text must be rejected.

    `threshold` is the probability of "yes", from 0 to 1, from which the check fails; `None` takes the
    guardrail's. `yes_means` and `no_means` describe the two answers in words.

    With a `rule` the check asks no model: the rule answers 0 or 1, so that there is no threshold, no meaning
    of yes and no, and `question` says in words what the rule rejects, whatever was given.
    """

    name: str
    question: str = ""
    threshold: float | None = None
    yes_means: str | None = None
    no_means: str | None = None
    rule: TextCheck | None = None

    def __post_init__(self) -> None:
        if self.rule is None:
            return
        object.__setattr__(self, "question", self.rule.description)
        for key in ("threshold", "yes_means", "no_means"):
            object.__setattr__(self, key, None)

    @property
    def kind(self) -> str:
        """`model`, or the kind of the rule: `pattern`, `length` or `language`."""
        return "model" if self.rule is None else self.rule.kind

    @property
    def wording(self) -> tuple[object, ...]:
        """All that the answer depends on besides the text and the model."""
        return (self.question, self.yes_means, self.no_means, self.rule)


@dataclass(frozen=True, slots=True)
class GuardrailSettings:
    """The `[guardrails.input]` or `[guardrails.output]` table of a project.

    `reprompt` and `max_retries` count only at the output stage; `max_retries` counts validations.
    """

    threshold: float = DEFAULT_THRESHOLD
    checks: tuple[CheckSettings, ...] = ()
    reprompt: str | None = None
    max_retries: int = 2

    @property
    def asks_model(self) -> bool:
        """Whether any check asks the decision model; without one no model is needed."""
        return any(check.rule is None for check in self.checks)

    def threshold_of(self, check: CheckSettings) -> float:
        """Return the threshold that counts for `check`: its own, else the guardrail's; a rule's is fixed."""
        if check.rule is not None:
            return RULE_THRESHOLD
        return self.threshold if check.threshold is None else check.threshold
