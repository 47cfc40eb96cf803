"""Input and output guardrails over a decision model, with the rules and texts of the reference system."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from workbench.engine.decisions import (
    DecisionError,
    DecisionRequest,
    DecisionResponse,
    Exchange,
    Usage,
    YesNoQuestion,
    ask,
)
from workbench.engine.decisions.questions import real_number, shown_number
from workbench.engine.guardrails.results import (
    CheckResult,
    GuardrailResult,
    failure_message,
    judge,
    rejection_message,
    verdict_of,
)
from workbench.engine.guardrails.settings import (
    DEFAULT_THRESHOLD,
    RULE_THRESHOLD,
    CheckSettings,
    GuardrailSettings,
    Stage,
)
from workbench.engine.guardrails.text_checks import TextCheck
from workbench.engine.guardrails.texts import is_blank, message_text

_log = logging.getLogger(__name__)

BLANK_NOTE = "The text is blank: it passes, and the decision model was not asked."


@dataclass(frozen=True, slots=True)
class _Check:
    name: str
    question: str
    threshold: float | None = None
    yes_means: str | None = None
    no_means: str | None = None
    text_check: TextCheck | None = None


class _Guardrail:
    """What both stages share: the checks, one call for all of them, and the verdict."""

    stage: Stage = "input"

    def __init__(self, model: Any, checks: Sequence[_Check], threshold: float) -> None:
        self._checks = tuple(checks)
        self._threshold = threshold
        self._questions = {
            check.name: YesNoQuestion(check.question, check.yes_means, check.no_means)
            for check in self._checks
            if check.text_check is None
        }
        self._model = model if self._questions else None

    @property
    def check_names(self) -> tuple[str, ...]:
        """The names of all checks, in the order in which they were defined."""
        return tuple(check.name for check in self._checks)

    def threshold_of(self, name: str) -> float:
        """Return the threshold that counts for the check `name`; raises `KeyError` where there is none."""
        for check in self._checks:
            if check.name == name:
                return self._threshold if check.threshold is None else check.threshold
        raise KeyError(name)

    def failure_message(self, failed_checks: list[str]) -> str:
        """Return the message for the names of the checks that rejected; a subclass may say it otherwise."""
        return rejection_message(self.stage, failed_checks)

    async def _run(self, text: str, sent: str | Mapping[str, Any]) -> GuardrailResult:
        started = time.perf_counter()
        found = {
            check.name: _text_result(check.name, check.text_check, self.threshold_of(check.name), text)
            for check in self._checks
            if check.text_check is not None
        }
        response: DecisionResponse | None = None
        if self._questions:
            try:
                response = await ask(self._model, DecisionRequest(sent, self._questions))
            except DecisionError as error:
                raise with_findings(error, tuple(found.values())) from error.__cause__
        checks = tuple(found.get(check.name) or self._judged(check, response) for check in self._checks)
        elapsed = (time.perf_counter() - started) * 1000
        for check in checks:
            _log.debug("check %s: %s, probability %s", check.name, check.status, check.probability)
        return GuardrailResult(
            self.stage,
            checks,
            self._message(checks),
            getattr(self._model, "name", None),
            response.model_name if response is not None else None,
            response.usage if response is not None else Usage(0, 0),
            elapsed,
            tuple(e for e in response.exchanges if isinstance(e, Exchange)) if response is not None else (),
            response.recorded if response is not None else False,
            response.notes if response is not None else (),
        )

    def _judged(self, check: _Check, response: DecisionResponse | None) -> CheckResult:
        assert response is not None
        return judge(check.name, check.question, self.threshold_of(check.name), response.answers[check.name])

    def _message(self, checks: Sequence[CheckResult]) -> str:
        if verdict_of(checks) == "rejected":
            return self.failure_message(
                [check.name for check in checks if check.status in ("rejected", "refused")]
            )
        return failure_message(self.stage, checks)

    def _blank(self) -> GuardrailResult:
        return GuardrailResult(self.stage, (), "", getattr(self._model, "name", None), notes=(BLANK_NOTE,))


class DecisionModelInputGuardrail(_Guardrail):
    """Checks a user message before a chat model sees it.

    Follows LangChain4j 1.21 and later: one call for all checks, a check fails from its threshold on,
    whatever is not a sound "no" keeps the message out, and an error of the decision model propagates; it then
    carries what the checks found that ask no model. With such checks alone there is no call.
    """

    stage: Stage = "input"

    @classmethod
    def builder(cls) -> InputGuardrailBuilder:
        """Return a builder for a guardrail of this class."""
        return InputGuardrailBuilder(cls)

    async def validate(
        self, message: str | Sequence[Any], *, rule_text: str | None = None
    ) -> GuardrailResult:
        """Check `message`, a text or a list of parts (see `message_text`).

        `rule_text` is what the checks look at that ask no model, where that is not what the model gets.

        Raises:
            DecisionError: where the model cannot be reached or its whole answer is unusable.
        """
        text = message_text(message)
        if is_blank(text):
            return self._blank()
        return await self._run(text if rule_text is None else rule_text, text)


class DecisionModelOutputGuardrail(_Guardrail):
    """Checks a chat model's response, with the user message that it answers.

    `reprompt` is what the chat model is told when a response is rejected; without it a rejection is final.
    """

    stage: Stage = "output"

    def __init__(
        self, model: Any, checks: Sequence[_Check], threshold: float, reprompt: str | None = None
    ) -> None:
        super().__init__(model, checks, threshold)
        self.reprompt = reprompt

    @classmethod
    def builder(cls) -> OutputGuardrailBuilder:
        """Return a builder for a guardrail of this class."""
        return OutputGuardrailBuilder(cls)

    async def validate(
        self, response: str | None, user_message: str | Sequence[Any] | None = None
    ) -> GuardrailResult:
        """Check `response`. A blank or missing one (only tool calls) passes without a call.

        The model sees a mapping of `userMessage`, left out when blank, and `response`, in this order. The user
        message may be a list of parts, as for the input guardrail.

        Raises:
            DecisionError: as for the input guardrail.
        """
        if response is None or is_blank(response):
            return self._blank()
        sent: dict[str, Any] = {}
        asked = "" if user_message is None else message_text(user_message)
        if not is_blank(asked):
            sent["userMessage"] = asked
        sent["response"] = response
        return await self._run(response, sent)


B = TypeVar("B", bound="_Builder[Any]")
G = TypeVar("G", bound=_Guardrail)


class _Builder(Generic[G]):
    """Collects the parts of a guardrail; every method but `build` returns the builder."""

    def __init__(self, guardrail: type[G]) -> None:
        self._class = guardrail
        self._model: Any = None
        self._checks: list[_Check] = []
        self._threshold: Any = None

    def decision_model(self: B, model: Any) -> B:
        """Set the decision model that answers the checks; required unless every check is a `text_check`."""
        self._model = model
        return self

    def check(
        self: B,
        name: str,
        question: str,
        threshold: float | None = None,
        *,
        yes_means: str | None = None,
        no_means: str | None = None,
    ) -> B:
        """Add a yes/no check where "yes" means that the text must be rejected.

        `threshold` is the probability of "yes" from which this check fails; `None` takes the guardrail's.

        Raises:
            ValueError: at once, where there is a check of that name already.
        """
        return self._add(_Check(name, question, threshold, yes_means, no_means))

    def text_check(self: B, name: str, check: TextCheck, threshold: float | None = None) -> B:
        """Add a check that asks no model, such as a `PatternCheck`; its probability is 0 or 1."""
        return self._add(_Check(name, check.description, threshold, text_check=check))

    def checks(self: B, checks: Mapping[str, str] | None) -> B:
        """Replace all checks, and with them their thresholds, by questions keyed by name; `None` is no checks."""
        self._checks = [_Check(name, question) for name, question in (checks or {}).items()]
        return self

    def threshold(self: B, threshold: float | None) -> B:
        """Set the threshold of the checks that have none of their own; 0.5 when unset."""
        self._threshold = threshold
        return self

    def _add(self: B, check: _Check) -> B:
        if any(other.name == check.name for other in self._checks):
            raise ValueError(f"There is more than one check named '{check.name}'")
        self._checks.append(check)
        return self

    def _parts(self) -> tuple[Any, tuple[_Check, ...], float]:
        """Return what the guardrail is made of, in the order in which the reference system complains."""
        if self._model is None and (
            not self._checks or any(check.text_check is None for check in self._checks)
        ):
            raise ValueError("decision_model cannot be null")
        if not self._checks:
            raise ValueError("checks cannot be null or empty")
        checks = []
        for check in self._checks:
            _require_text(check.name, "check name")
            _require_text(check.question, f"question of check '{check.name}'")
            for part in ("yes_means", "no_means"):
                if getattr(check, part) is not None:
                    _require_text(getattr(check, part), f"{part} of check '{check.name}'")
            if check.threshold is not None:
                own = _require_threshold(check.threshold, f"threshold of check '{check.name}'")
                check = replace(check, threshold=own)
            checks.append(check)
        threshold = DEFAULT_THRESHOLD
        if self._threshold is not None:
            threshold = _require_threshold(self._threshold, "threshold")
        return self._model, tuple(checks), threshold


class InputGuardrailBuilder(_Builder[DecisionModelInputGuardrail]):
    """Builds a `DecisionModelInputGuardrail`."""

    def build(self) -> DecisionModelInputGuardrail:
        """Return the guardrail.

        Raises:
            ValueError: where the model or all checks are missing, a text is blank or a threshold out of range.
        """
        return self._class(*self._parts())


class OutputGuardrailBuilder(_Builder[DecisionModelOutputGuardrail]):
    """Builds a `DecisionModelOutputGuardrail`."""

    def __init__(self, guardrail: type[DecisionModelOutputGuardrail]) -> None:
        super().__init__(guardrail)
        self._reprompt: str | None = None

    def reprompt(self, text: str | None) -> OutputGuardrailBuilder:
        """Set what the chat model is told when its response is rejected; `None` makes a rejection final."""
        self._reprompt = text
        return self

    def build(self) -> DecisionModelOutputGuardrail:
        """Return the guardrail; raises `ValueError` as for the input, or for a blank reprompt."""
        parts = self._parts()
        if self._reprompt is not None:
            _require_text(self._reprompt, "reprompt")
        return self._class(*parts, self._reprompt)


def _require_text(value: object, name: str) -> None:
    if not isinstance(value, str) or is_blank(value):
        raise ValueError(f"{name} cannot be null or blank")


def _require_threshold(value: object, name: str) -> float:
    """Return a threshold as a `float`; numbers of other libraries are as good as Python's own."""
    # Stricter than the reference system, whose range test lets NaN through.
    number = real_number(value)
    if number is None or not 0 <= number <= 1:
        raise ValueError(f"{name} must be between 0.0 and 1.0, but is: {shown_number(value)}")
    return number


def guardrail_from_settings(
    settings: GuardrailSettings, model: Any, stage: Stage
) -> DecisionModelInputGuardrail | DecisionModelOutputGuardrail:
    """Return the guardrail that a project describes for `stage`; `model` may be `None` where no check asks one.

    Raises:
        ValueError: as the builders do, with the name of the check concerned.
    """
    if stage == "input":
        return _filled(DecisionModelInputGuardrail.builder(), settings, model).build()
    output = _filled(DecisionModelOutputGuardrail.builder(), settings, model)
    return output.reprompt(settings.reprompt).build()


def _filled(builder: B, settings: GuardrailSettings, model: Any) -> B:
    builder.decision_model(model).threshold(settings.threshold)
    for check in settings.checks:
        if check.rule is not None:
            builder.text_check(check.name, check.rule, RULE_THRESHOLD)
            continue
        builder.check(
            check.name,
            check.question,
            check.threshold,
            yes_means=_unless_blank(check.yes_means),
            no_means=_unless_blank(check.no_means),
        )
    return builder


def _unless_blank(text: str | None) -> str | None:
    return None if text is None or is_blank(text) else text


def rule_result(check: CheckSettings, text: str) -> CheckResult:
    """Return what a check with a rule says of `text`; no model is asked.

    Raises:
        ValueError: where the check has no rule.
    """
    if check.rule is None:
        raise ValueError(f"the check {check.name!r} asks a model")
    return _text_result(check.name, check.rule, RULE_THRESHOLD, text)


def _text_result(name: str, rule: TextCheck, threshold: float, text: str) -> CheckResult:
    return replace(judge(name, rule.description, threshold, rule.answer(text)), kind=rule.kind)


def with_findings(error: DecisionError, found: Sequence[CheckResult]) -> DecisionError:
    """Return `error` with what the checks found that ask no model: nothing passes, but that much is known."""
    if found:
        words = [
            f"{each.name}: {each.status.replace('_', ' ')}" + (f" ({each.detail})" if each.detail else "")
            for each in found
        ]
        error.findings = f"The checks that ask no model found: {', '.join(words)}"
        error.found = tuple(found)
    return error
