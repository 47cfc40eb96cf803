"""What a tool answered goes to the server as it was: its text, its images, and whether it failed."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

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
