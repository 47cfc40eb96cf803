"""Whatever a server sends, every check ends in one of its states, and only a number from 0 to 1 passes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.decisions.support import ONE_CALL, REQUEST
from workbench.engine.decisions import DecisionError, YesNoAnswer, validated
from workbench.engine.decisions.chat_logprobs import answer_of
from workbench.engine.decisions.hints import hint_for_reply
from workbench.engine.decisions.logprobs import NO_WORDS, YES_WORDS
from workbench.engine.decisions.questions import DecisionResponse
from workbench.engine.decisions.remote import dialect_named
from workbench.engine.decisions.wire import WireOptions, envelope
from workbench.engine.guardrails.results import judge, verdict_of
from workbench.engine.json_text import parse_json

NUMBERS = st.one_of(
    st.floats(), st.integers(), st.sampled_from([0, 1, 0.5, -1e-7, 1 + 1e-7, 10**400, -(10**400), 1e-320])
)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=8,
)
WORDS = st.sampled_from(
    [
        "type",
        "name",
        "noul",
        "probability",
        "probabilities",
        "yes",
        "no",
        "label_mass",
        "a",
        "b",
        "predicate",
        "yes_no",
    ]
)
KINDS = st.sampled_from(["noul", "predicate", "yes_no", "refusal", "choice", None, 7])
ANSWER = st.one_of(
    JSON,
    st.fixed_dictionaries(
        {},
        optional={
            "type": KINDS,
            "name": st.sampled_from(["a", "b", None, "x"]),
            "noul": JSON,
            "probability": JSON,
            "probabilities": st.one_of(JSON, st.dictionaries(WORDS, JSON, max_size=3)),
            "label_mass": JSON,
        },
    ),
)
ANSWERS = st.one_of(
    JSON, st.lists(ANSWER, max_size=4), st.dictionaries(st.sampled_from(["a", "b", "x"]), ANSWER)
)
REPLY = st.one_of(JSON, st.fixed_dictionaries({"answers": ANSWERS}, optional={"model": JSON, "usage": JSON}))
LOGPROB = st.one_of(
    JSON, st.fixed_dictionaries({"token": st.sampled_from(["Yes", "No", " ", "x"]), "logprob": NUMBERS})
)
POSITION = st.one_of(
    JSON,
    st.fixed_dictionaries(
        {"token": st.sampled_from(["Yes", "No", " ", "x"]), "logprob": NUMBERS},
        optional={"top_logprobs": st.one_of(JSON, st.lists(LOGPROB, max_size=4)), "bytes": JSON, "id": JSON},
    ),
)


def check_states(response: DecisionResponse) -> None:
    results = [judge(name, "q", 0.5, answer) for name, answer in response.answers.items()]
    assert [r.name for r in results] == list(REQUEST.questions)
    for result in results:
        if result.status in ("passed", "rejected"):
            assert isinstance(result.probability, float)
            assert 0 <= result.probability <= 1
        else:
            assert result.probability is None
    if verdict_of(results) == "passed":
        assert all(isinstance(answer, YesNoAnswer) for answer in response.answers.values())


@pytest.mark.parametrize("provider", ONE_CALL)
@settings(max_examples=150, deadline=None)
@given(reply=REPLY)
def test_a_reply_of_any_form(provider: str, reply: Any) -> None:
    options = WireOptions("m")
    dialect = dialect_named(provider)
    try:
        value = envelope(parse_json(json.dumps(reply)), provider)
        decoded = dialect.decode(value, REQUEST, options)
        hint_for_reply(value, provider)
    except DecisionError:
        return
    check_states(validated(REQUEST, DecisionResponse(decoded.answers, decoded.model_name, decoded.usage)))


@settings(max_examples=200, deadline=None)
@given(positions=st.one_of(JSON, st.lists(POSITION, max_size=3)), extra=JSON)
def test_token_probabilities_of_any_form(positions: Any, extra: Any) -> None:
    for logprobs in (positions, {"content": positions}, {"tokens": positions, "token_logprobs": extra}):
        choice = {"logprobs": logprobs, "message": extra}
        answer = answer_of("a", {"choices": [choice]}, yes=YES_WORDS, no=NO_WORDS, min_mass=0.2)
        result = judge("a", "q", 0.5, answer)
        if isinstance(answer, YesNoAnswer):
            assert answer.lower is not None
            assert answer.upper is not None
            assert 0 <= answer.lower <= answer.upper <= 1
            assert answer.lower - 1e-9 <= answer.probability <= answer.upper + 1e-9
        else:
            assert result.probability is None
