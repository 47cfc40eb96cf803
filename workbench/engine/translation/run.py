"""One run of a translator: the loop of asking, reading, checking and asking again, told in events."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.language_models import Completion, Message, json_schema_format
from workbench.engine.translation.calls import (
    CallStoppedError,
    ModelFailedError,
    call_model,
    resolved,
    takes_two,
)
from workbench.engine.translation.extraction import canonical
from workbench.engine.translation.json_values import plain_copy
from workbench.engine.translation.judging import ReplyJudge, Verdict, placed_in_reply
from workbench.engine.translation.prompts import (
    PromptContext,
    as_content,
    preamble_messages,
    request_part,
    schema_part,
)
from workbench.engine.translation.record import diagnostic_to_event, messages_to_json
from workbench.engine.translation.results import Failure, Result, Success
from workbench.engine.translation.run_log import RunLog, extraction_event
from workbench.engine.translation.run_settings import HookError, RunSettings
from workbench.engine.translation.schema_roots import ALL_TYPES, allowed_types
from workbench.engine.translation.spending import Spending

_NOT_REPAIRED = frozenset({"truncated", "refused"})
_NOT_REPAIRED_COMPAT = frozenset({"no_json", "syntax", "empty"})
_DEFAULT_MAX_TOKENS = 1024


class _Stop(Exception):  # noqa: N818 (it ends the loop; it is not an error)
    def __init__(self, outcome: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.outcome = outcome
        self.message = message
        self.hint = hint


@dataclass(slots=True)
class TranslationRun:
    """The state of one run. Runs share nothing, so one translator may run many at a time."""

    settings: RunSettings
    request: str
    cancel: Any = None
    calls: int = 0
    spending: Spending = field(default_factory=Spending)
    max_tokens: int | None = None
    seen: set[str] = field(default_factory=set)
    judge: ReplyJudge = field(init=False)
    log: RunLog = field(init=False)

    def __post_init__(self) -> None:
        self.judge = ReplyJudge(self.settings)
        self.log = RunLog(self.settings.on_event)

    # --- the run -----------------------------------------------------------------------------------------

    async def run(self, preamble: Any) -> Result:
        """Translate the request."""
        number = 1
        self.start({})
        try:
            base = await self.base_messages(preamble)
            return await self.rounds(number, base, base)
        except _Stop as stop:
            return self.stopped(stop)
        except asyncio.CancelledError:
            self.finish_cancelled()
            raise
        finally:
            await self.log.settle()

    async def continue_from(
        self, base: Sequence[Message], sent: Sequence[Message], reply: str, edited: bool, repair: str | None
    ) -> Result:
        """Judge a reply that is there already, and go on from it."""
        self.start({"branched": True})
        try:
            self.log.emit("sent", attempt=1, messages=messages_to_json(sent), base_count=len(base))
            completion = Completion(reply)
            self.log.reply(1, completion, elapsed=None, edited=edited)
            verdict = await self.judge_reply(1, completion)
            if verdict.outcome == "ok":
                return self.succeeded(verdict)
            messages = await self.repair_messages(2, base, list(sent), verdict, completion, repair)
            return await self.rounds(2, list(base), messages)
        except _Stop as stop:
            return self.stopped(stop)
        except asyncio.CancelledError:
            self.finish_cancelled()
            raise
        finally:
            await self.log.settle()

    def start(self, more: dict[str, Any]) -> None:
        settings = self.settings
        self.max_tokens = settings.max_tokens
        self.log.emit(
            "started",
            request=self.request,
            type_name=settings.type_name,
            schema=settings.schema_text,
            model=str(getattr(settings.model, "name", "")),
            profile=settings.profile,
            mode=settings.mode,
            strip_nulls=settings.strip_nulls,
            history=settings.history,
            max_repairs=settings.repairs,
            budget=plain_copy(dict(settings.budget)),
            **more,
        )

    async def rounds(self, first: int, base: list[Message], messages: list[Message]) -> Result:
        number = first
        while True:
            completion = await self.ask(number, messages, len(base))
            verdict = await self.judge_reply(number, completion)
            if verdict.outcome == "ok":
                return self.succeeded(verdict)
            if not self.may_repair(number, verdict):
                return self.failed(verdict)
            self.check_progress(verdict, completion)
            self.check_budget()
            number += 1
            if verdict.outcome == "truncated":
                self.max_tokens = int(
                    (self.max_tokens or _DEFAULT_MAX_TOKENS) * (self.settings.token_ramp or 2)
                )
                continue  # the same conversation with more room; a cut reply would only lengthen the prompt
            messages = await self.repair_messages(number, base, messages, verdict, completion, None)

    def may_repair(self, number: int, verdict: Verdict) -> bool:
        if number > self.settings.repairs:
            return False
        if self.settings.profile == "compat" and verdict.outcome in _NOT_REPAIRED_COMPAT:
            return False
        if verdict.outcome == "truncated":
            return self.settings.token_ramp is not None
        return verdict.outcome not in _NOT_REPAIRED

    def check_progress(self, verdict: Verdict, completion: Completion) -> None:
        if not self.settings.stop_without_progress:
            return
        found = (
            canonical(verdict.extraction.value) if verdict.extraction.value is not None else completion.text
        )
        key = f"{verdict.outcome}\n{found}\n{verdict.errors_text}"
        if key in self.seen:
            raise _Stop("no_progress", f"The repair changed nothing:\n{verdict.errors_text}")
        self.seen.add(key)

    # --- prompts -----------------------------------------------------------------------------------------

    def context(self, number: int, **more: Any) -> PromptContext:
        validator = self.settings.validator
        language = str(getattr(validator, "show", "") or "json")
        return PromptContext(
            self.request,
            self.settings.type_name,
            self.settings.schema_text,
            self.noun(),
            language,
            number,
            **more,
        )

    def noun(self) -> str:
        own = getattr(self.settings.validator, "noun", None)
        if isinstance(own, str):
            return own
        schema = self.settings.schema_value
        types = ALL_TYPES if schema is None else allowed_types(schema)
        if schema is None or types == {"object"}:
            return "JSON object"
        return "JSON array" if types == {"array"} else "JSON value"

    async def base_messages(self, preamble: Any) -> list[Message]:
        settings = self.settings
        messages = preamble_messages(preamble, keep_empty=settings.profile == "compat")
        context = self.context(1)
        if settings.schema_in_system and settings.default_request:
            messages.insert(0, Message("system", schema_part(context)))
            message = Message("user", request_part(context))
        else:
            message = await self.prompt_of("create_request_prompt", 1, self.request, context)
        self.log.emit("prompt", attempt=1, text=message.text())
        return [*messages, message]

    async def repair_messages(
        self,
        number: int,
        base: Sequence[Message],
        sent: list[Message],
        verdict: Verdict,
        completion: Completion,
        given: str | None,
    ) -> list[Message]:
        extraction = verdict.extraction
        context = self.context(
            number,
            error=verdict.errors_text,
            outcome=verdict.outcome,
            diagnostics=verdict.diagnostics,
            reply=extraction.reply,
            json_text=extraction.json_text,
        )
        if given is None:
            message = await self.prompt_of("create_repair_prompt", number, context.error, context)
        else:
            message = Message("user", given)
        kept = list(base) if self.settings.history == "last" else list(sent)
        # A model's own empty turn says nothing, and several servers refuse it.
        answer = [Message("assistant", extraction.reply)] if extraction.reply else []
        self.log.emit("repair", attempt=number, text=message.text())
        return [*kept, *answer, message]

    async def hook(self, name: str, number: int, argument: Any, context: PromptContext) -> Any:
        function = getattr(self.settings, name)
        try:
            answer = function(argument, context) if takes_two(function) else function(argument)
            return await resolved(answer, cancel=self.cancel, seconds=self.seconds_left())
        except CallStoppedError as stop:
            cancelled = stop.outcome == "cancelled"
            message = (
                _STOP_MESSAGES["cancelled"] if cancelled else f"The time of the budget was used up in {name}."
            )
            self.log.emit("failed", attempt=number, outcome=stop.outcome, message=message)
            raise _Stop(stop.outcome, message) from stop
        except Exception as error:
            raise self.hook_failed(number, HookError(name, error)) from error

    async def prompt_of(self, name: str, number: int, argument: Any, context: PromptContext) -> Message:
        """Return what a prompt builder gives as a message."""
        prompt = await self.hook(name, number, argument, context)
        try:
            return Message("user", as_content(prompt))
        except TypeError as error:
            raise self.hook_failed(number, HookError(name, error)) from error

    def hook_failed(self, number: int, error: HookError) -> _Stop:
        self.log.emit("failed", attempt=number, outcome="hook_error", message=str(error))
        return _Stop("hook_error", str(error))

    # --- the model ---------------------------------------------------------------------------------------

    async def ask(self, number: int, messages: list[Message], base_count: int) -> Completion:
        try:
            self.check_budget()
        except _Stop as stop:
            self.log.emit("failed", attempt=number, outcome=stop.outcome, message=stop.message)
            raise
        settings = self.settings
        model = settings.repair_model if number > 1 and settings.repair_model is not None else settings.model
        options = self.options()
        self.log.emit(
            "sent",
            attempt=number,
            messages=messages_to_json(messages),
            base_count=base_count,
            model=str(getattr(model, "name", "")),
            max_tokens=self.max_tokens,
            mode=settings.mode,
        )
        began = time.monotonic()
        pieces: list[str] = []

        def on_delta(piece: str) -> None:
            pieces.append(piece)
            self.log.emit("delta", attempt=number, text=piece)

        try:
            self.calls += 1
            completion = await call_model(
                model,
                messages,
                options,
                on_delta=on_delta if settings.on_event is not None else None,
                cancel=self.cancel,
                seconds=self.seconds_left(),
            )
        except ModelFailedError as error:
            self.log.call_failed(
                number, "model_error", error.message, began, pieces, error.hint, error.failure
            )
            raise _Stop("model_error", error.message, error.hint) from error
        except CallStoppedError as stop:
            message = _STOP_MESSAGES[stop.outcome]
            self.log.call_failed(number, stop.outcome, message, began, pieces)
            raise _Stop(stop.outcome, message) from None
        except asyncio.CancelledError:
            self.log.call_failed(number, "cancelled", _STOP_MESSAGES["cancelled"], began, pieces)
            raise
        return self.answered(number, completion)

    def options(self) -> dict[str, Any]:
        settings = self.settings
        options: dict[str, Any] = {"max_tokens": self.max_tokens}
        if settings.mode == "json":
            options["response_format"] = {"type": "json_object"}
        strict = self.judge.strict
        if strict is None:
            return options
        schema = strict.schema if strict.usable else settings.schema_value
        if settings.mode == "schema":
            options["response_format"] = json_schema_format(
                _function_name(settings.type_name), schema, strict=strict.usable
            )
        else:
            function = {
                "name": _function_name(settings.type_name),
                "description": f"Gives the {settings.type_name} that the user asks for.",
                "parameters": schema,
            }
            options["tools"] = [{"type": "function", "function": function}]
        return options

    def answered(self, number: int, completion: Completion) -> Completion:
        notes = []
        if self.settings.mode == "tool" and completion.tool_calls:
            wanted = _function_name(self.settings.type_name)
            calls = [call for call in completion.tool_calls if call.name == wanted]
            if calls:
                notes.append("The answer came as a tool call.")
                completion = replace(completion, text=calls[-1].arguments)
            else:  # arguments for something else are no answer, whatever they look like
                called = ", ".join(dict.fromkeys(call.name for call in completion.tool_calls))
                notes.append(f"The model called {called}, but the only tool that it was given is {wanted}.")
        self.spending.add(completion)
        self.log.reply(number, completion, elapsed=completion.elapsed_ms, notes=notes)
        return completion

    # --- limits ------------------------------------------------------------------------------------------

    def seconds_left(self) -> float | None:
        seconds = self.settings.budget.get("seconds")
        return None if seconds is None else max(0.0, seconds - (time.monotonic() - self.log.began))

    def check_budget(self) -> None:
        if self.cancel is not None and self.cancel.is_set():
            raise _Stop("cancelled", _STOP_MESSAGES["cancelled"])
        budget = self.settings.budget
        left = self.seconds_left()
        if "calls" in budget and self.calls >= budget["calls"]:
            raise _Stop(
                "budget",
                f"The budget of {budget['calls']:g} call{'s' if budget['calls'] != 1 else ''} is used up.",
            )
        if (reason := self.spending.over(budget)) is not None:
            raise _Stop("budget", reason)
        if left is not None and left <= 0:
            raise _Stop("budget", f"The budget of {budget['seconds']:g} s is used up.")

    # --- the reply ---------------------------------------------------------------------------------------

    async def judge_reply(self, number: int, completion: Completion) -> Verdict:
        try:
            extraction = self.judge.extract(completion)
        except HookError as error:
            raise self.hook_failed(number, error) from error
        verdict = self.judge.verdict(completion, extraction)
        self.log.emit("extracted", attempt=number, **extraction_event(extraction))
        if verdict.outcome == "ok":
            context = self.context(number, outcome="ok", reply=extraction.reply)
            answer = await self.hook("validate_instance", number, verdict.data, context)
            self.take_instance(number, verdict, answer)
        has_value = extraction.judgement is not None
        self.log.emit(
            "validated",
            attempt=number,
            outcome=verdict.outcome,
            diagnostics=[diagnostic_to_event(d) for d in verdict.diagnostics],
            removed_nulls=list(extraction.removed),
            message=verdict.message,
            has_value=has_value,
            value=plain_copy(extraction.value) if has_value else None,
        )
        return verdict

    def take_instance(self, number: int, verdict: Verdict, answer: Any) -> None:
        if isinstance(answer, Success):
            verdict.data = answer.data
            return
        if not isinstance(answer, Failure):
            error = TypeError(f"it returned {type(answer).__name__}, not Success or Failure")
            raise self.hook_failed(number, HookError("validate_instance", error))
        own = answer.diagnostics or (Diagnostic("error", "instance_rejected", answer.message, pointer=""),)
        verdict.outcome = "instance_rejected"
        verdict.diagnostics = (*placed_in_reply(own, verdict.extraction), *verdict.diagnostics)
        verdict.message = answer.message
        verdict.data = None

    # --- endings -----------------------------------------------------------------------------------------

    def succeeded(self, verdict: Verdict) -> Result:
        self.log.emit("finished", outcome="ok", value=plain_copy(verdict.data), message="")
        record = self.log.fold.record()
        return Success(verdict.data, record.attempts, verdict.diagnostics, record)

    def failed(self, verdict: Verdict) -> Result:
        """End with the last reply's outcome; its text is label, diagnostics and the JSON as it was."""
        text = verdict.errors_text
        found = verdict.extraction.json_text
        if verdict.outcome in ("refused", "truncated", "no_json", "empty", "schema_echo") or found is None:
            message = text
        else:
            message = f"{_LABELS.get(verdict.outcome, _LABELS['invalid'])}\n{text}\n{found}"
        return self.end(verdict.outcome, message, verdict.diagnostics)

    def stopped(self, stop: _Stop) -> Result:
        diagnostics = (Diagnostic("error", stop.outcome, stop.message, hint=stop.hint),)
        return self.end(stop.outcome, stop.message, diagnostics)

    def end(self, outcome: str, message: str, diagnostics: tuple[Diagnostic, ...]) -> Result:
        self.log.emit("finished", outcome=outcome, value=None, message=message)
        record = self.log.fold.record()
        return Failure(message, outcome, diagnostics, record.attempts, record)

    def finish_cancelled(self) -> None:
        self.log.emit("finished", outcome="cancelled", value=None, message=_STOP_MESSAGES["cancelled"])


_STOP_MESSAGES = {
    "cancelled": "The translation was stopped.",
    "budget": "The time of the budget was used up while the model answered.",
}
_LABELS = {
    "invalid": "The JSON of the last reply is not valid:",
    "syntax": "The last reply is not correct JSON:",
    "instance_rejected": "The JSON of the last reply breaks a rule:",
    "ambiguous": "The last reply holds several values:",
}


def _function_name(type_name: str) -> str:
    """Return the type's name as providers accept it for functions and schemas."""
    name = "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in type_name)
    return name[:64] or "Response"
