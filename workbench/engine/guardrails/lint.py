"""Reads the question of a check the way a decision model would, and says what may make its answers useless."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

LintCode = Literal[
    "polarity", "two_questions", "negation", "counting", "vague", "not_a_question", "unknown_name", "length"
]


@dataclass(frozen=True, slots=True)
class LintFinding:
    """One thing about a question. `start` and `end` are half-open code-point offsets into it."""

    code: LintCode
    message: str
    hint: str
    start: int
    end: int


_RULES: tuple[tuple[LintCode, str, str, str], ...] = (
    (
        "negation",
        r"\b(?:not|never|without|lack(?:s|ing)?|fail(?:s|ing)? to|refrain\w*|absent|no longer|\w+n['’]t)\b",
        "The question contains a negation ({found}), which models often miss.",
        "Ask for what is there: instead of 'is it not polite', ask 'is it rude'.",
    ),
    (
        "counting",
        r"\b(?:how many|how much|at least|at most|more than|fewer than|less than|number of|count|exactly|sum|percent(?:age)?)\b"
        r"|\b(?:\d+|two|three|four|five|ten) (?:or more )?(?:words?|sentences?|times|items|questions|characters|lines|links)\b",
        "The question asks the model to count or calculate ({found}), which it does badly.",
        "Use a length or pattern check, or ask about the meaning instead of the number.",
    ),
    (
        "vague",
        r"\b(?:appropriate|inappropriate|good|bad|nice|proper(?:ly)?|suitable|reasonable|normal|weird|strange|problematic|relevant|quality|okay|ok|fine|too|very|somewhat|maybe|possibly|etc)\b",
        "The word '{found}' means something else to everyone.",
        "Say what exactly must be rejected, and describe both answers in 'yes means' and 'no means'.",
    ),
    (
        "unknown_name",
        r"\b(?:system prompt above|previous (?:message|turn|answer)s?|earlier (?:message|turn|answer)s?|conversation history|(?:the|our) (?:policy|guidelines|handbook|knowledge base|database|document(?:s|ation)? (?:above|below))|attached file)\b",
        "The model sees only the text that is checked, not '{found}'.",
        "Write into the question what the model needs to know.",
    ),
)
_GOOD_TRAIT = re.compile(
    r"^\s*(?:is|are|does|do|was|has|have|can|should)\b[^?]*?\b(safe|polite|on[- ]topic|harmless|acceptable|allowed|correct|valid|legitimate|appropriate|friendly|benign|respectful|accurate|helpful|stay(?:s)? on|compl(?:y|ies) with|follow(?:s)? (?:the|our) rules)\b",
    re.IGNORECASE,
)
_QUESTION_START = re.compile(
    r"^\s*(?:(?:is|are|was|were|does|do|did|has|have|had|can|could|will|would|should|may|might|must)"
    r"|(?:is|are|was|were|does|do|did|has|have|had|ca|could|wo|would|should|might|must)n['’]t)\b",
    re.IGNORECASE,
)
_SECOND_QUESTION = re.compile(
    r"\?\s*\S.*\?|\b(?:and|or)\s+(?:is|are|does|do|has|have|can|should)\s+(?:it|the|this|that|there|they|he|she)\b",
    re.IGNORECASE | re.DOTALL,
)
_NEVER_SEEN = re.compile(r"\[%.*?%\]|\{\{?\s*[\w.]+\s*\}?\}")
_LONG = 400


def lint_check(question: str, yes_means: str | None = None, no_means: str | None = None) -> list[LintFinding]:
    """Return what may be wrong with a question, in the order of its places. English questions only.

    A finding is advice: nothing here stops a check from being asked.
    """
    findings: list[LintFinding] = []
    if not question.strip():
        return findings
    trait = _GOOD_TRAIT.search(question)
    if trait is not None and not _negated_before(question, trait.start(1)):
        findings.append(
            LintFinding(
                "polarity",
                f"Here 'yes' seems to be the good answer ('{trait[1]}'), but a check rejects on 'yes'.",
                "Turn the question round, so that 'yes' means: reject this text.",
                *trait.span(1),
            )
        )
    findings += _by_rules(question)
    second = _SECOND_QUESTION.search(question)
    if second is not None:
        findings.append(
            LintFinding(
                "two_questions",
                "This asks two things at once, and one number answers both.",
                "Make two checks, each with its own threshold.",
                *second.span(),
            )
        )
    if not _QUESTION_START.match(question):
        findings.append(
            LintFinding(
                "not_a_question",
                "This is not a question that can be answered with yes or no.",
                "Begin with Is, Are, Does, Do, Has, Can …",
                0,
                len(question),
            )
        )
    for match in _NEVER_SEEN.finditer(question):
        findings.append(
            LintFinding(
                "unknown_name",
                f"The placeholder {match[0]} is not filled in questions: the model sees it as it is.",
                "Write the value itself.",
                *match.span(),
            )
        )
    if len(question) > _LONG:
        findings.append(
            LintFinding(
                "length",
                f"The question has {len(question)} characters; long questions are answered worse.",
                "Keep the question to one sentence and describe the answers in 'yes means' and 'no means'.",
                _LONG,
                len(question),
            )
        )
    return sorted(findings, key=lambda finding: (finding.start, finding.code))


def _by_rules(question: str) -> list[LintFinding]:
    findings: list[LintFinding] = []
    for code, pattern, message, hint in _RULES:
        match = re.search(pattern, question, re.IGNORECASE)
        if match is not None:
            findings.append(LintFinding(code, message.format(found=match[0]), hint, *match.span()))
    return findings


def _negated_before(question: str, position: int) -> bool:
    return (
        re.search(
            r"\b(?:not|un|never|fail\w* to|\w+n['’]t)\s+(?:\w+\s+){0,3}$", question[:position], re.IGNORECASE
        )
        is not None
    )
