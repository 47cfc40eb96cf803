"""A model tells what its answer cost when the project states prices; every dialect, whole and streamed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.language_models.helpers import Play, complete, opened, sse
from tests.engine.language_models.test_openai_chat import chat
from workbench.engine.language_models import Cost, LanguageModelError

PRICED = {"input_price": 2, "output_price": 8.0, "currency": "EUR"}
COST = Cost((10 * 2 + 5 * 8) / 1_000_000, "EUR")
ANSWERS: dict[str, Any] = {
    "openai": chat(usage={"prompt_tokens": 10, "completion_tokens": 5}),
    "openai-responses": {
        "status": "completed",
        "output": [
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]}
        ],
        "usage": {"input_tokens": 10, "output_tokens": 5},
    },
    "anthropic": {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": "hi"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 10, "output_tokens": 5},
    },
    "ollama": {
        "message": {"role": "assistant", "content": "hi"},
        "done": True,
        "done_reason": "stop",
        "prompt_eval_count": 10,
        "eval_count": 5,
    },
}


@pytest.mark.parametrize("provider", ANSWERS)
def test_an_answer_costs_what_its_tokens_cost(provider: str) -> None:
    assert complete(opened(Play(ANSWERS[provider]), provider, **PRICED)).cost == COST


@pytest.mark.parametrize("provider", ANSWERS)
def test_without_prices_the_cost_is_unknown(provider: str) -> None:
    assert complete(opened(Play(ANSWERS[provider]), provider)).cost is None


def test_without_usage_the_cost_is_unknown() -> None:
    assert complete(opened(Play(chat()), **PRICED)).cost is None


def test_a_streamed_answer_costs_what_its_last_chunk_tells() -> None:
    last = {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5}}
    raw = sse({"choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]}, last, b"[DONE]")
    assert complete(opened(Play(raw), **PRICED), on_delta=lambda _: None).cost == COST


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("input_price", -1, "a number from 0"),
        ("output_price", "0.4", "a number from 0"),
        ("output_price", True, "a number from 0"),
        ("input_price", float("inf"), "a number from 0"),
        ("currency", "dollars", "three capital letters"),
        ("currency", 1, "three capital letters"),
    ],
)
def test_a_wrong_price_is_named(option: str, value: Any, words: str) -> None:
    with pytest.raises(LanguageModelError) as caught:
        opened(Play({}), **{option: value})
    assert caught.value.kind == "settings"
    assert option in caught.value.message
    assert words in caught.value.message
