"""Translation of requests into values of a type: extraction, validation, repair, programs, and their replay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine.lazy import lazy_names

if TYPE_CHECKING:
    from workbench.engine.translation.diff import PointerChange, pointer_diff
    from workbench.engine.translation.extraction import Candidate, Extraction, extract_json
    from workbench.engine.translation.nulls import strip_nulls
    from workbench.engine.translation.partial import partial_json, preview_reply
    from workbench.engine.translation.program_record import (
        ProgramRecord,
        ProgramStep,
        replay_program,
    )
    from workbench.engine.translation.program_translator import JsonProgramTranslator, ProgramValidator
    from workbench.engine.translation.programs import (
        ProgramError,
        ProgramFunction,
        ProgramParameter,
        check_program,
        evaluate_program,
        evaluate_program_async,
    )
    from workbench.engine.translation.prompts import PromptContext, request_prompt
    from workbench.engine.translation.record import OUTCOMES, Attempt, Step, TranslationRecord, replay
    from workbench.engine.translation.requests import read_requests
    from workbench.engine.translation.results import Failure, Result, Success, TranslationError, get_data
    from workbench.engine.translation.rules import check_rules, rules_check
    from workbench.engine.translation.schema_hints import (
        SchemaAdvice,
        schema_advice,
        schema_hints,
        schema_sizes,
    )
    from workbench.engine.translation.structured import (
        STRICT_LIMITS,
        StrictLimits,
        StrictSchema,
        strict_schema,
        undo_strict,
    )
    from workbench.engine.translation.translator import JsonTranslator, translator_from_settings
    from workbench.engine.translation.validator import JsonSchemaValidator, Validator

__all__ = [
    "OUTCOMES",
    "STRICT_LIMITS",
    "Attempt",
    "Candidate",
    "Extraction",
    "Failure",
    "JsonProgramTranslator",
    "JsonSchemaValidator",
    "JsonTranslator",
    "PointerChange",
    "ProgramError",
    "ProgramFunction",
    "ProgramParameter",
    "ProgramRecord",
    "ProgramStep",
    "ProgramValidator",
    "PromptContext",
    "Result",
    "SchemaAdvice",
    "Step",
    "StrictLimits",
    "StrictSchema",
    "Success",
    "TranslationError",
    "TranslationRecord",
    "Validator",
    "check_program",
    "check_rules",
    "evaluate_program",
    "evaluate_program_async",
    "extract_json",
    "get_data",
    "partial_json",
    "pointer_diff",
    "preview_reply",
    "read_requests",
    "replay",
    "replay_program",
    "request_prompt",
    "rules_check",
    "schema_advice",
    "schema_hints",
    "schema_sizes",
    "strict_schema",
    "strip_nulls",
    "translator_from_settings",
    "undo_strict",
]

_MODULES = (
    "diff",
    "extraction",
    "nulls",
    "partial",
    "program_record",
    "program_translator",
    "programs",
    "prompts",
    "record",
    "requests",
    "results",
    "rules",
    "schema_hints",
    "structured",
    "translator",
    "validator",
)

__getattr__, __dir__ = lazy_names(__name__, _MODULES, __all__)
