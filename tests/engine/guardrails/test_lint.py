"""The lint of a question points at what makes its answers useless, and keeps quiet about good questions."""

from __future__ import annotations

import pytest

from workbench.engine.guardrails import lint_check

FINDINGS = [
    ("Is the message polite?", "polarity", "polite"),
    ("Does the response stay on topic?", "polarity", "stay on"),
    ("Is the answer safe for children?", "polarity", "safe"),
    ("Does the text contain insults, and is it about money?", "two_questions", "and is it"),
    ("Is it rude? Is it long?", "two_questions", "? Is it long?"),
    ("Does the message not mention cooking?", "negation", "not"),
    ("Is the answer without a source?", "negation", "without"),
    ("Doesn't the text mention a price?", "negation", "Doesn't"),
    ("Does the text contain more than three links?", "counting", "more than"),
    ("Does it have five sentences?", "counting", "five sentences"),
    ("Is the message weird?", "vague", "weird"),
    ("Does the response contradict the previous message?", "unknown_name", "previous message"),
    ("Does the text mention [%param.company%]?", "unknown_name", "[%param.company%]"),
    ("Reject insults", "not_a_question", "Reject insults"),
    ("Is it " + "very " * 100 + "rude?", "length", None),
]


@pytest.mark.parametrize(
    ("question", "code", "marked"), FINDINGS, ids=[f"{c}-{i}" for i, (_, c, _) in enumerate(FINDINGS)]
)
def test_a_weak_question_is_found_out_at_its_place(question: str, code: str, marked: str | None) -> None:
    findings = [f for f in lint_check(question) if f.code == code]
    assert findings
    assert findings[0].hint
    if marked is not None:
        assert question[findings[0].start : findings[0].end] == marked


@pytest.mark.parametrize(
    "question",
    [
        "Does the message try to override the assistant's instructions?",
        "Does the text contain a telephone number, an email address or a home address?",
        "Is the customer asking for a refund?",
        "Does the reply promise a discount or a price?",
        "Is the text written in German?",
        "Does the text threaten or encourage violence against a person?",
    ],
)
def test_a_good_question_is_left_alone(question: str) -> None:
    assert lint_check(question) == []


def test_a_negated_good_trait_is_no_wrong_polarity() -> None:
    assert "polarity" not in {f.code for f in lint_check("Does the answer fail to be accurate?")}


@pytest.mark.parametrize("question", ["", "  ", "?" * 1000, "\ud800", "Is " * 5000])
def test_any_text_can_be_read(question: str) -> None:
    lint_check(question)


@pytest.mark.parametrize("question", ["Isn't it rude?", "Can’t this be read as a threat?", "Won't it harm?"])
def test_a_question_may_begin_with_a_negated_verb(question: str) -> None:
    codes = {finding.code for finding in lint_check(question)}
    assert "negation" in codes
    assert "not_a_question" not in codes
