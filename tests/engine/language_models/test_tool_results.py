"""What a tool answered goes to the server as it was: its text, its images, and whether it failed."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.engine.language_models.helpers import opened
from tests.engine.language_models.test_other_dialects import Play, complete, message, words
from workbench.engine.language_models import Message, ToolCall, open_language_model
from workbench.engine.model_settings import ModelSettings
from workbench.engine.secrets import Secrets

IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}
BLOCK = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}}


@pytest.mark.parametrize(
    ("content", "is_error", "expected"),
    [
        pytest.param("rain", False, {"content": "rain"}, id="text"),
        pytest.param("closed", True, {"content": "closed", "is_error": True}, id="error"),
        pytest.param("rain", None, {"content": "rain"}, id="nobody knows"),
        pytest.param(
            ({"type": "text", "text": "see"}, IMAGE), False, {"content": [words("see"), BLOCK]}, id="image"
        ),
    ],
)
def test_anthropic_gets_contents_and_the_mark_of_an_error(
    content: Any, is_error: bool | None, expected: dict[str, Any]
) -> None:
    play = Play(message(words("ok")))
    model = open_language_model(
        ModelSettings("chat", "anthropic", None, "claude-x"),
        secrets=Secrets({"ANTHROPIC_API_KEY": "sk-ant-1"}),
        transport=httpx.MockTransport(play),
    )
    call = Message("assistant", "", (ToolCall("c0", "weather", "{}"),))
    result = Message("tool", content, tool_call_id="c0", is_error=is_error)
    complete(model, [Message("user", "go"), call, result])
    assert play.bodies[0]["messages"][2]["content"] == [
        {"type": "tool_result", "tool_use_id": "c0", **expected}
    ]


def chat_bodies(*messages: Message) -> list[dict[str, Any]]:
    """Return the messages as they went to a server of chat completions."""
    reply = {"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}]}
    play = Play(reply)
    model = open_language_model(
        ModelSettings("chat", "openai", "http://127.0.0.1:9/v1", "m"),
        transport=httpx.MockTransport(play),
    )
    complete(model, list(messages))
    found: list[dict[str, Any]] = play.bodies[0]["messages"]
    return found


def words_of(number: int) -> str:
    return f"[{number} image{'s' if number > 1 else ''}: see the next message of the user]"


TWO_CALLS = Message("assistant", "", (ToolCall("c0", "chart", "{}"), ToolCall("c1", "weather", "{}")))


def test_chat_completions_get_images_after_all_results_in_a_message_that_names_the_calls() -> None:
    sent = chat_bodies(
        Message("user", "go"),
        TWO_CALLS,
        Message("tool", ({"type": "text", "text": "see"}, IMAGE, IMAGE), tool_call_id="c0"),
        Message("tool", "rain", tool_call_id="c1"),
        Message("assistant", "Which?"),
        Message("user", "both"),
    )
    assert [each["role"] for each in sent] == [
        "user",
        "assistant",
        "tool",
        "tool",
        "user",
        "assistant",
        "user",
    ]
    assert sent[2] == {"role": "tool", "tool_call_id": "c0", "content": f"see\n{words_of(2)}"}
    assert sent[3] == {"role": "tool", "tool_call_id": "c1", "content": "rain"}
    assert sent[4]["content"] == [
        {"type": "text", "text": "2 images of the result of the tool chart (call c0):"},
        IMAGE,
        IMAGE,
    ]


def test_images_of_two_results_at_the_end_share_one_message() -> None:
    sent = chat_bodies(
        Message("user", "go"),
        TWO_CALLS,
        Message("tool", (IMAGE,), tool_call_id="c0"),
        Message("tool", (IMAGE,), tool_call_id="c1"),
    )
    assert [each["role"] for each in sent] == ["user", "assistant", "tool", "tool", "user"]
    assert [each["content"] for each in sent[2:4]] == [words_of(1)] * 2
    texts = [part["text"] for part in sent[4]["content"] if part["type"] == "text"]
    assert texts == [
        "1 image of the result of the tool chart (call c0):",
        "1 image of the result of the tool weather (call c1):",
    ]
    assert [part["type"] for part in sent[4]["content"]] == ["text", "image_url"] * 2


def test_an_image_of_the_user_stays_where_it_is() -> None:
    content = ({"type": "text", "text": "What is it?"}, IMAGE)
    assert chat_bodies(Message("user", content)) == [{"role": "user", "content": list(content)}]


def test_responses_get_the_image_of_a_result_and_plain_text_where_there_is_none() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    talk = [
        Message("user", "go"),
        Message("assistant", "", tool_calls=(ToolCall("1", "f", "{}"), ToolCall("2", "g", "{}"))),
        Message("tool", ({"type": "text", "text": "plain"},), tool_call_id="1"),
        Message("tool", ({"type": "text", "text": "seen"}, image), tool_call_id="2"),
    ]
    said = {"type": "message", "content": [{"type": "output_text", "text": "ok"}]}
    play = Play({"status": "completed", "output": [said]})
    complete(opened(play, "openai-responses"), talk)
    assert [item.get("output") for item in play.bodies[0]["input"][-2:]] == [
        "plain",
        [
            {"type": "input_text", "text": "seen"},
            {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
        ],
    ]


def test_anthropic_gets_no_block_of_blank_text() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    play = Play({"content": [{"type": "text", "text": "ok"}], "stop_reason": "end_turn"})
    complete(opened(play, "anthropic"), [Message("user", ({"type": "text", "text": " "}, image))])
    assert [block["type"] for block in play.bodies[0]["messages"][0]["content"]] == ["image"]
