"""Translates a request in natural language into a value of a type, repairing replies that do not fit it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from workbench.engine.events import RunEvent
from workbench.engine.json_text import JsonDocument
from workbench.engine.translation.extraction import Judgement
from workbench.engine.translation.judging import ReplyJudge
from workbench.engine.translation.prompts import (
    PromptContext,
    repair_from_template,
    repair_prompt,
    request_from_template,
    request_prompt,
)
from workbench.engine.translation.record import Attempt
from workbench.engine.translation.results import Failure, Success
from workbench.engine.translation.rules import rules_check
from workbench.engine.translation.run import TranslationRun
from workbench.engine.translation.run_settings import RunSettings
from workbench.engine.translation.settings import Mode, Profile, TranslationSettings
from workbench.engine.translation.validator import JsonSchemaValidator, Validator

if TYPE_CHECKING:
    from workbench.engine.language_models import LanguageModel
    from workbench.engine.schemas import JsonSchema

__all__ = ["JsonTranslator", "translator_from_settings"]

_PROFILES = ("smart", "compat", "strict")
_LIMITS = ("calls", "tokens", "seconds", "cost")
_MODES = ("prompt", "json", "schema", "tool")


class JsonTranslator:
    """TypeChat's JSON translator over any language model and validator.

    All attributes can be assigned at any time; a running `translate` keeps the values it began with.

    - `model`: anything with an asynchronous `complete(messages, ...)` that gives a `Completion`, a text, or a
      `Success` or `Failure` of a text. `repair_model` answers the repairs when it is set.
    - `validator`: a `JsonSchemaValidator`, or anything with `type_name`, `schema_text()` and `validate(value)`.
    - `attempt_repair` (True) and `max_repairs` (1, from 0): how many further calls may follow a bad reply.
    - `strip_nulls`: False or `"off"`, True or `"all"`, `"schema"`. With `try_unstripped_first` nulls stay where
      the value is valid with them.
    - `create_request_prompt(request)` and `create_repair_prompt(error)` return a text or a list of parts;
      `validate_instance(value)` returns `Success` with the final value or `Failure`. Each may be plain or
      asynchronous and may take a second argument, a `PromptContext`.
    - `profile`: `smart`; `strict` (ambiguous replies and repeated names are repaired); `compat` (what TypeChat
      does: first to last brace, no repair of what is not JSON, at most one repair, whole history).
    - `mode`: `prompt`, `json` (JSON object mode), `schema` (structured output), `tool` (a tool call).
    - `history`: `last` sends only the latest reply and its repair prompt again, `all` every pair.
    - `budget`: `calls`, `tokens`, `seconds` and `cost` (in the currency of the model's prices) of a whole run; tokens
      or a cost that a call does not tell end the run before the next call. `max_tokens` limits each reply;
      `token_ramp` (a factor, for example 2) lets a cut reply be asked for again with more room.
    - `lenient` mends almost-JSON, each edit listed. `stop_without_progress` ends a run whose repair brought
      the same value with the same errors. `schema_in_system` puts the schema into a system message.
    - `on_event(event)` gets each `RunEvent`; what it raises never ends a run.
    """

    def __init__(
        self,
        model: Any,
        validator: Any,
        *,
        attempt_repair: bool = True,
        max_repairs: int = 1,
        strip_nulls: bool | Literal["off", "all", "schema"] = False,
        profile: Profile = "smart",
        mode: Mode = "prompt",
        repair_model: Any = None,
        history: Literal["last", "all"] | None = None,
        budget: Mapping[str, float] | None = None,
        on_event: Callable[[RunEvent], Any] | None = None,
    ) -> None:
        self.model = model
        self.validator = validator
        self.attempt_repair = attempt_repair
        self.max_repairs = max_repairs
        self.strip_nulls = strip_nulls
        self.try_unstripped_first = False
        self.create_request_prompt: Callable[..., Any] = self.default_request_prompt
        self.create_repair_prompt: Callable[..., Any] = self.default_repair_prompt
        self.validate_instance: Callable[..., Any] = accept_instance
        self.profile: Profile = profile
        self.mode: Mode = mode
        self.lenient = False
        self.repair_model = repair_model
        self.history: Literal["last", "all"] | None = history
        self.budget = _as_budget(budget)
        self.max_tokens: int | None = None
        self.token_ramp: float | None = None
        self.stop_without_progress = False
        self.schema_in_system = False
        self.on_event = on_event

    async def translate(
        self, request: str, prompt_preamble: Any = None, *, cancel: Any = None
    ) -> Success[Any] | Failure:
        """Translate one request.

        `prompt_preamble` is a text (one user message) or sections (messages, or `{"role", "content"}`), which go
        in front; the caller's list is not changed. `cancel` is anything with `is_set()`, such as an
        `asyncio.Event`: once set, the run ends with the outcome `cancelled` and keeps its attempts.

        Raises:
            ValueError: an attribute has a value that it cannot have.
            asyncio.CancelledError: the surrounding task was cancelled; the events say so first.
        """
        return await TranslationRun(self._snapshot(), request, cancel).run(prompt_preamble)

    async def continue_from(
        self,
        attempt: Attempt,
        *,
        request: str = "",
        reply: str | None = None,
        repair_prompt: str | None = None,
        cancel: Any = None,
    ) -> Success[Any] | Failure:
        """Go on from an attempt of an earlier run: a new run that begins with that attempt's conversation.

        The reply, or `reply` in its place, is judged again by today's schema and hooks; if it does not hold,
        a repair follows, with `repair_prompt` in place of the built one where it is given.
        """
        base = attempt.messages[: attempt.base_count] or attempt.messages
        text = attempt.reply if reply is None else reply
        run = TranslationRun(self._snapshot(), request, cancel)
        return await run.continue_from(
            list(base), list(attempt.messages), text, reply is not None, repair_prompt
        )

    def default_request_prompt(self, request: str, context: PromptContext | None = None) -> Any:
        """Return the request prompt that is used while none is assigned."""
        own = getattr(self.validator, "request_prompt", None)
        if callable(own):
            return own(request)
        return request_prompt(context or TranslationRun(self._snapshot(), request).context(1))

    def default_repair_prompt(self, error: str, context: PromptContext | None = None) -> str:
        """Return the repair prompt that is used while none is assigned; `error` is the validator's message."""
        if context is None:
            context = TranslationRun(self._snapshot(), "").context(2, error=error, outcome="invalid")
        return repair_prompt(context)

    def judge(self, value: Any, document: JsonDocument | None = None) -> Judgement:
        """Judge a value as a run would: undo what structured output added, strip nulls, validate."""
        return ReplyJudge(self._snapshot()).judge(value, document)

    def _snapshot(self) -> RunSettings:
        compat = self.profile == "compat"
        if not isinstance(self.attempt_repair, bool):
            raise ValueError(
                f"attempt_repair is True or False, not {self.attempt_repair!r}; see max_repairs."
            )
        if not isinstance(self.max_repairs, int):
            raise ValueError(f"max_repairs is a whole number, not {self.max_repairs!r}.")
        repairs = max(0, int(self.max_repairs)) if self.attempt_repair else 0
        strip = self.strip_nulls
        if isinstance(strip, bool):
            strip = "all" if strip else "off"
        settings = RunSettings(
            model=self.model,
            validator=self.validator,
            repairs=min(repairs, 1) if compat else repairs,
            strip_nulls=strip,
            try_unstripped_first=self.try_unstripped_first,
            create_request_prompt=self.create_request_prompt,
            create_repair_prompt=self.create_repair_prompt,
            validate_instance=self.validate_instance,
            default_request=self.create_request_prompt == self.default_request_prompt,
            profile=self.profile,
            mode=self.mode,
            lenient=self.lenient,
            repair_model=self.repair_model,
            history=self.history or ("all" if compat else "last"),
            budget=_as_budget(self.budget),
            max_tokens=self.max_tokens,
            token_ramp=self.token_ramp,
            stop_without_progress=self.stop_without_progress,
            schema_in_system=self.schema_in_system,
            on_event=self.on_event,
        )
        _check(settings)
        _check_budget(settings.budget)
        return settings


def accept_instance(instance: Any) -> Success[Any]:
    """Accept any value: the `validate_instance` that is used while none is assigned."""
    return Success(instance)


def _as_budget(budget: Any) -> dict[str, float]:
    if budget is not None and not isinstance(budget, Mapping):
        raise ValueError(f"budget is a mapping of limits, not {budget!r}.")
    return dict(budget or {})


def _check_budget(budget: Mapping[str, Any]) -> None:
    """A limit that is misspelt, or that no sum reaches, would let a run spend without end."""
    for name, most in budget.items():
        if name not in _LIMITS:
            raise ValueError(f"budget has no limit {name!r}; it may hold {', '.join(_LIMITS)}.")
        if isinstance(most, bool) or not isinstance(most, (int, float)) or not most >= 0:
            raise ValueError(f"The {name} of the budget must be a number of at least 0, not {most!r}.")


def _check(settings: RunSettings) -> None:
    for name, value, allowed in (
        ("profile", settings.profile, _PROFILES),
        ("mode", settings.mode, _MODES),
        ("history", settings.history, ("last", "all")),
        ("strip_nulls", settings.strip_nulls, ("off", "all", "schema")),
    ):
        if value not in allowed:
            raise ValueError(f"{name} must be one of {', '.join(allowed)}, not {value!r}.")
    needs = settings.mode in ("schema", "tool") or settings.strip_nulls == "schema"
    if needs and settings.schema_value is None:
        what = (
            f"The mode {settings.mode!r}" if settings.mode in ("schema", "tool") else "strip_nulls 'schema'"
        )
        raise ValueError(f"{what} needs a validator with a JSON Schema.")


def translator_from_settings(
    settings: TranslationSettings,
    model: LanguageModel,
    schema: JsonSchema | Validator,
    *,
    repair_model: LanguageModel | None = None,
    preamble_messages: Sequence[Any] = (),
    on_event: Callable[[RunEvent], Any] | None = None,
) -> JsonTranslator:
    """Return the translator that a project's `[translation]` table describes.

    `schema` is what the values have to be, or a validator of its own, such as that of programs.
    `preamble_messages` go in front of every request of this translator, before what `translate` is given.
    The budget may also hold `max_tokens` and `token_ramp`.

    Raises:
        ValueError: a rule is wrong in itself, or the type's name does not suit the style of the schema.
    """
    budget = dict(settings.budget)
    max_tokens, ramp = budget.pop("max_tokens", None), budget.pop("token_ramp", None)
    translator = _ProjectTranslator(
        model,
        schema
        if isinstance(schema, Validator)
        else JsonSchemaValidator(schema, settings.type_name, show=settings.schema_style),
        attempt_repair=settings.attempt_repair,
        max_repairs=settings.max_repairs,
        strip_nulls=settings.strip_nulls,
        profile=settings.profile,
        mode=settings.mode,
        repair_model=repair_model,
        history=settings.history,
        budget=budget,
        on_event=on_event,
    )
    translator.preamble = tuple(preamble_messages)
    translator.max_tokens = None if max_tokens is None else int(max_tokens)
    translator.token_ramp = ramp
    translator.stop_without_progress = settings.stop_without_progress
    translator.lenient = settings.lenient
    translator.schema_in_system = settings.schema_in_system
    translator.try_unstripped_first = settings.try_unstripped_first
    request_template, repair_template = settings.request_prompt, settings.repair_prompt
    if request_template is not None:
        translator.create_request_prompt = lambda request, context: request_from_template(
            request_template, context
        )
    if repair_template is not None:
        translator.create_repair_prompt = lambda error, context: repair_from_template(
            repair_template, context
        )
    if settings.rules:
        translator.validate_instance = rules_check(settings.rules)
    return translator


class _ProjectTranslator(JsonTranslator):
    """A translator with the preamble of a project."""

    preamble: tuple[Any, ...] = ()

    async def translate(
        self, request: str, prompt_preamble: Any = None, *, cancel: Any = None
    ) -> Success[Any] | Failure:
        from workbench.engine.translation.prompts import preamble_messages

        sections = [*self.preamble, *preamble_messages(prompt_preamble)]
        return await super().translate(request, sections, cancel=cancel)
