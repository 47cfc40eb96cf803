"""Guardrails: the checks of a prompt's input and output, answered by a decision model in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine.lazy import lazy_names

if TYPE_CHECKING:
    from workbench.engine.guardrails.executor import (
        GuardedResponse,
        OutputGuardrailError,
        Validation,
        guard_response,
    )
    from workbench.engine.guardrails.guardrail import (
        DecisionModelInputGuardrail,
        DecisionModelOutputGuardrail,
        InputGuardrailBuilder,
        OutputGuardrailBuilder,
        guardrail_from_settings,
        rule_result,
        with_findings,
    )
    from workbench.engine.guardrails.lint import LintFinding, lint_check
    from workbench.engine.guardrails.results import (
        CheckResult,
        GuardrailResult,
        Status,
        Verdict,
        failure_message,
        verdict_of,
    )
    from workbench.engine.guardrails.settings import (
        DEFAULT_THRESHOLD,
        RULE_THRESHOLD,
        CheckSettings,
        GuardrailSettings,
        Stage,
    )
    from workbench.engine.guardrails.text_checks import (
        LANGUAGES,
        BrokenCheck,
        LanguageCheck,
        LengthCheck,
        PatternCheck,
        TextCheck,
        guess_language,
    )
    from workbench.engine.guardrails.texts import is_blank, message_text

__all__ = [
    "DEFAULT_THRESHOLD",
    "LANGUAGES",
    "RULE_THRESHOLD",
    "BrokenCheck",
    "CheckResult",
    "CheckSettings",
    "DecisionModelInputGuardrail",
    "DecisionModelOutputGuardrail",
    "GuardedResponse",
    "GuardrailResult",
    "GuardrailSettings",
    "InputGuardrailBuilder",
    "LanguageCheck",
    "LengthCheck",
    "LintFinding",
    "OutputGuardrailBuilder",
    "OutputGuardrailError",
    "PatternCheck",
    "Stage",
    "Status",
    "TextCheck",
    "Validation",
    "Verdict",
    "failure_message",
    "guard_response",
    "guardrail_from_settings",
    "guess_language",
    "is_blank",
    "lint_check",
    "message_text",
    "rule_result",
    "verdict_of",
    "with_findings",
]

_MODULES = (
    "settings",
    "executor",
    "guardrail",
    "lint",
    "results",
    "text_checks",
    "texts",
)

__getattr__, __dir__ = lazy_names(__name__, _MODULES, __all__)
