"""Says what became of one reply: finds its JSON, prepares it, validates it, and names the outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from workbench.engine.diagnostics import Diagnostic, has_errors
from workbench.engine.json_text import JsonDocument, parse_json
from workbench.engine.language_models import Completion
from workbench.engine.text import LineIndex
from workbench.engine.translation.extraction import Extraction, Judgement, extract_judged
from workbench.engine.translation.nulls import strip_nulls
from workbench.engine.translation.results import Failure, Success
from workbench.engine.translation.run_settings import HookError, RunSettings
from workbench.engine.translation.structured import StrictSchema, strict_schema, undo_strict
from workbench.engine.translation.wording import list_diagnostics


@dataclass(slots=True)
class Verdict:
    """What became of one reply."""

    outcome: str
    extraction: Extraction
    diagnostics: tuple[Diagnostic, ...]
    message: str
    data: Any = None

    @property
    def errors_text(self) -> str:
        return self.message or list_diagnostics(self.diagnostics)


@dataclass(frozen=True, slots=True)
class ToldJudgement(Judgement):
    """A judgement of a validator that speaks in one message."""

    message: str = ""


class ReplyJudge:
    """Judges replies by the settings of one run. Pure: the same reply gives the same verdict.

    `strict` is the schema as structured output gets it, in the modes that use it.
    """

    def __init__(self, settings: RunSettings) -> None:
        self.settings = settings
        self.strict: StrictSchema | None = None
        if settings.mode in ("schema", "tool"):
            self.strict = strict_schema(settings.schema_value)

    def verdict(self, completion: Completion, extraction: Extraction) -> Verdict:
        outcome, diagnostics = extraction.outcome, extraction.diagnostics
        value = extraction.judgement.value if extraction.judgement is not None else extraction.value
        if self.settings.profile == "compat":
            return Verdict(outcome, extraction, diagnostics, self.told(extraction), value)
        if completion.refusal is not None or completion.finish_reason in ("content_filter", "refusal"):
            reason = completion.refusal or completion.text or "no reason given"
            return self.without_repair("refused", f"The model refused: {reason}", extraction, None)
        whole = outcome == "ok" and isinstance(extraction.value, (dict, list))
        if completion.finish_reason == "length" and not whole:
            hint = "Allow the model more tokens, or make the schema smaller."
            return self.without_repair(
                "truncated", "The reply was cut off at the token limit.", extraction, hint
            )
        return Verdict(outcome, extraction, diagnostics, self.told(extraction), value)

    def without_repair(self, outcome: str, message: str, extraction: Extraction, hint: str | None) -> Verdict:
        problem = Diagnostic("error", outcome, message, hint=hint)
        return Verdict(outcome, extraction, (problem, *extraction.diagnostics), message)

    def told(self, extraction: Extraction) -> str:
        """Return the validator's own message where it gave one without diagnostics."""
        judgement = extraction.judgement
        if judgement is None or not isinstance(judgement, ToldJudgement) or extraction.outcome != "invalid":
            return ""
        return judgement.message

    def extract(self, completion: Completion) -> Extraction:
        root = getattr(self.settings.validator, "root_schema", self.settings.schema_value)
        if self.strict is not None and self.strict.usable:
            root = self.strict.schema
        return extract_judged(
            completion.text, root, self.judge, self.settings.profile, lenient=self.settings.lenient
        )

    def judge(self, value: Any, document: JsonDocument | None) -> Judgement:
        settings = self.settings
        undone: tuple[str, ...] = ()
        if self.strict is not None and self.strict.usable:
            value, undone = undo_strict(value, settings.schema_value, wrapped=self.strict.wrapped)
            document = None if self.strict.wrapped else document
        if settings.strip_nulls != "off":
            if settings.try_unstripped_first:
                judgement = self.validated(value, document, undone)
                if judgement.holds:
                    return judgement
            value, removed = strip_nulls(value, mode=settings.strip_nulls, schema=settings.schema_value)
            undone = (*undone, *removed)
            if any(pointer.rpartition("/")[2].isdigit() for pointer in removed):
                document = None  # indexes have moved, so pointers no longer fit the text
        return self.validated(value, document, undone)

    def validated(self, value: Any, document: JsonDocument | None, removed: tuple[str, ...]) -> Judgement:
        from workbench.engine.translation.validator import JsonSchemaValidator

        validator = self.settings.validator
        try:
            if isinstance(validator, JsonSchemaValidator):
                result: Any = validator.validate(value, document)
            else:
                result = validator.validate(value)
        except Exception as error:
            raise HookError("validator.validate", error) from error
        if isinstance(result, Success):
            return Judgement(result.data, result.diagnostics, removed)
        if not isinstance(result, Failure):
            wrong = TypeError(f"it returned {type(result).__name__}, not Success or Failure")
            raise HookError("validator.validate", wrong)
        if has_errors(result.diagnostics):
            return Judgement(value, with_spans(result.diagnostics, document), removed)
        problem = Diagnostic("error", "invalid", result.message, pointer="")
        return ToldJudgement(value, (problem,), removed, result.message)


def with_spans(diagnostics: Sequence[Diagnostic], document: JsonDocument | None) -> tuple[Diagnostic, ...]:
    """Give diagnostics that have a pointer and no place the place of that pointer in the document."""
    if document is None:
        return tuple(diagnostics)
    placed = []
    for diagnostic in diagnostics:
        span = None
        if diagnostic.start is None and diagnostic.pointer is not None:
            span = document.span(diagnostic.pointer)
        placed.append(diagnostic if span is None else replace(diagnostic, start=span[0], end=span[1]))
    return tuple(placed)


def placed_in_reply(diagnostics: Sequence[Diagnostic], extraction: Extraction) -> tuple[Diagnostic, ...]:
    """Give the diagnostics of a hook their places in the reply, where pointers still fit the text."""
    text = extraction.json_text
    if text is None or extraction.edits or extraction.removed or extraction.source == "string":
        return tuple(diagnostics)
    assert extraction.span is not None
    lines = LineIndex(extraction.reply)
    placed = []
    for diagnostic in with_spans(diagnostics, parse_json(text)):
        if diagnostic.start is not None and diagnostic.line is None:
            start = diagnostic.start + extraction.span[0]
            end = start if diagnostic.end is None else diagnostic.end + extraction.span[0]
            line, column = lines.position(start)
            diagnostic = replace(diagnostic, start=start, end=end, line=line, column=column)
        placed.append(diagnostic)
    return tuple(placed)
