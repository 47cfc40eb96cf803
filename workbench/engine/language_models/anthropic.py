"""Anthropic's messages API."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from workbench.engine.json_text import dumps
from workbench.engine.language_models.base import (
    FinishReason,
    LanguageModelError,
    Message,
    ResponseFormat,
    Tool,
    ToolCall,
    Usage,
    count,
    function_tools,
    schema_of,
)
from workbench.engine.language_models.http_model import (
    HttpLanguageModel,
    Parts,
    ServerError,
    ShapeError,
    StreamDecoder,
    error_text,
    usage_of,
)
from workbench.engine.language_models.options import endpoint

VERSION = "2023-06-01"
DEFAULT_MAX_TOKENS = 4096
"""The API wants a limit in every request; this one is sent when nobody set another."""

REFUSED = "The model refused to answer."

_FINISH: dict[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "refusal",
}


class AnthropicModel(HttpLanguageModel):
    """A model behind `POST …/v1/messages`.

    JSON by a schema is asked for as a tool that the model must call, which every version of the API takes;
    the arguments of that call are the text of the answer.
    """

    default_secret_header = "x-api-key"

    def _url(self) -> str:
        return self._endpoint("messages")

    def _models_url(self) -> str:
        return self._endpoint("models")

    def _endpoint(self, path: str) -> str:
        """Return the address of `path`. As in the vendor's clients, `/v1` follows the base, unless it is a full address."""
        full = urlsplit(self._target.base_url.strip()).path.rstrip("/").endswith("/messages")
        return endpoint(self._target.base_url, path if full else f"v1/{path}", version="")

    def _headers(self) -> dict[str, str]:
        return {"anthropic-version": VERSION, **super()._headers()}

    def _body(
        self,
        messages: Sequence[Message],
        response_format: ResponseFormat | None,
        max_tokens: int | None,
        tools: Sequence[Tool] | None,
        stream: bool,
    ) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._target.model,
            "max_tokens": max_tokens or DEFAULT_MAX_TOKENS,
            "messages": _conversation(messages),
        }
        system = [{"type": "text", "text": m.text()} for m in messages if m.role == "system" and m.text()]
        if system:
            body["system"] = system
        if self._options.temperature is not None and self._sends_temperature:
            body["temperature"] = min(self._options.temperature, 1.0)
        declared = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
            for tool in function_tools(tools)
        ]
        by_schema = schema_of(response_format)
        if by_schema is not None and not declared:
            name, schema, _ = by_schema
            declared.append({"name": name, "description": "Gives the answer.", "input_schema": schema})
            body["tool_choice"] = {"type": "tool", "name": name}
        if declared:
            body["tools"] = declared
        if stream:
            body["stream"] = True
        return body

    def _adapt(self, error: LanguageModelError) -> bool:
        return self._learns_of_temperature(error)

    def _decode(self, value: Any, body: Mapping[str, Any]) -> Parts:
        return _unwrap(decode_message(value), _answer_tool(body))

    def _decoder(self, body: Mapping[str, Any]) -> StreamDecoder:
        return AnthropicStreamDecoder(_answer_tool(body))


def _answer_tool(body: Mapping[str, Any]) -> str | None:
    """Return the name of the tool that stands for the answer itself, if `body` has one."""
    choice = body.get("tool_choice")
    return choice.get("name") if isinstance(choice, Mapping) else None


def _unwrap(parts: Parts, answer_tool: str | None) -> Parts:
    """Turn the call that stands for the answer into the text that it is."""
    for call in parts.tool_calls:
        if call.name == answer_tool:
            parts.text, parts.tool_calls = call.arguments, ()
            if parts.finish_reason == "tool_calls":
                parts.finish_reason = "stop"
            break
    return parts


def _conversation(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return all but the system messages; tool results are parts of user messages here, merged into one."""
    turns: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "system":
            continue
        role = "assistant" if message.role == "assistant" else "user"
        content = _blocks(message)
        if not content:
            continue
        if message.role == "tool" and turns and turns[-1]["role"] == "user":
            turns[-1]["content"] = [*_as_blocks(turns[-1]["content"]), *_as_blocks(content)]
        else:
            turns.append({"role": role, "content": content})
    return turns


def _as_blocks(content: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _blocks(message: Message) -> Any:
    if message.role == "tool":
        content = message.content if isinstance(message.content, str) else _parts(message.content)
        block = {"type": "tool_result", "tool_use_id": message.tool_call_id or "", "content": content}
        return [{**block, "is_error": True} if message.is_error else block]
    if isinstance(message.content, str) and not message.tool_calls:
        return message.content
    blocks = (
        [{"type": "text", "text": message.content}]
        if isinstance(message.content, str) and message.content
        else []
    )
    if not isinstance(message.content, str):
        blocks = _parts(message.content)
    for call in message.tool_calls:
        blocks.append(
            {"type": "tool_use", "id": call.id, "name": call.name, "input": _arguments(call.arguments)}
        )
    return blocks


def _arguments(text: str) -> Any:
    try:
        value = json.loads(text or "{}")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _parts(content: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return the blocks of a content; the API refuses a text block without text."""
    return [
        _part(part)
        for part in content
        if part.get("type") == "image_url" or str(part.get("text", "")).strip()
    ]


def _part(part: Mapping[str, Any]) -> Any:
    if part.get("type") != "image_url":
        return {"type": "text", "text": str(part.get("text", ""))}
    image = part.get("image_url")
    url = str(image.get("url") if isinstance(image, Mapping) else image)
    head, _, data = url.partition(";base64,")
    if head.startswith("data:") and data:
        return {"type": "image", "source": {"type": "base64", "media_type": head[5:], "data": data}}
    return {"type": "image", "source": {"type": "url", "url": url}}


def decode_message(value: Any) -> Parts:
    """Return the parts of a whole message.

    Raises:
        ShapeError: it is none.
        ServerError: it is an error.
    """
    if (said := error_text(value)) is not None:
        raise ServerError(said)
    content = value.get("content") if isinstance(value, dict) else None
    if not isinstance(content, list):
        raise ShapeError("it has no content")
    texts: list[str] = []
    calls: list[ToolCall] = []
    for block in content:
        if not isinstance(block, dict):
            raise ShapeError("a block of its content is no object")
        if block.get("type") == "text" and isinstance(block.get("text"), str):
            texts.append(block["text"])
        elif block.get("type") == "tool_use":
            calls.append(
                ToolCall(str(block.get("id") or ""), str(block.get("name") or ""), dumps(block.get("input")))
            )
    reason = value.get("stop_reason")
    return settle_parts(
        Parts(
            text="".join(texts),
            finish_reason=_FINISH.get(reason) if isinstance(reason, str) else None,
            usage=usage_of(value.get("usage"), "input_tokens", "output_tokens"),
            model=value["model"] if isinstance(value.get("model"), str) else None,
            tool_calls=tuple(calls),
        )
    )


def settle_parts(parts: Parts) -> Parts:
    """Name a refusal, and refuse an answer that holds nothing for no reason."""
    if parts.finish_reason == "refusal":
        parts.refusal = parts.text.strip() or REFUSED
    elif not (parts.text or parts.tool_calls or parts.finish_reason in ("stop", "length")):
        raise ShapeError("its content has no text")
    return parts


class AnthropicStreamDecoder(StreamDecoder):
    """Puts together the events of a streamed message."""

    def __init__(self, answer_tool: str | None = None) -> None:
        super().__init__()
        self._answer_tool = answer_tool
        self._text: list[str] = []
        self._calls: dict[Any, list[str]] = {}
        self._given: dict[Any, Any] = {}

    def feed(self, event: Mapping[str, Any]) -> str:
        """Take one event; return the text that it adds."""
        kind = event.get("type")
        if isinstance(event.get("index"), list | dict):
            raise ShapeError("the index of a block is no number")
        if kind == "error":
            raise ServerError(error_text(event) or "the stream failed")
        if kind == "message_start":
            self._start(event.get("message"))
        elif kind == "content_block_start":
            block = event.get("content_block")
            if isinstance(block, Mapping) and block.get("type") == "tool_use":
                self._calls[event.get("index")] = [
                    str(block.get("id") or ""),
                    str(block.get("name") or ""),
                    "",
                ]
                # Servers that imitate the API give some calls, and texts, whole.
                self._given[event.get("index")] = block.get("input")
            elif isinstance(block, Mapping) and isinstance(block.get("text"), str):
                self._text.append(block["text"])
                return str(block["text"])
        elif kind == "content_block_delta":
            return self._delta(event)
        elif kind == "message_delta":
            self._end(event)
        elif kind == "message_stop":
            self.complete = True
        return ""

    def _start(self, message: Any) -> None:
        if isinstance(message, Mapping):
            # What it says of the output is no count yet.
            self.parts.usage = Usage(
                usage_of(message.get("usage"), "input_tokens", "output_tokens").input_tokens
            )
            self.parts.model = message["model"] if isinstance(message.get("model"), str) else None

    def _delta(self, event: Mapping[str, Any]) -> str:
        delta = event.get("delta")
        if not isinstance(delta, Mapping):
            raise ShapeError("a delta is no object")
        if delta.get("type") == "text_delta" and isinstance(delta.get("text"), str):
            self._text.append(delta["text"])
            return str(delta["text"])
        if delta.get("type") == "input_json_delta" and event.get("index") in self._calls:
            call, piece = self._calls[event.get("index")], str(delta.get("partial_json") or "")
            call[2] += piece
            return piece if call[1] == self._answer_tool else ""
        return ""

    def _end(self, event: Mapping[str, Any]) -> None:
        delta = event.get("delta")
        reason = delta.get("stop_reason") if isinstance(delta, Mapping) else None
        if isinstance(reason, str):
            self.parts.finish_reason = _FINISH.get(reason)
        usage = event.get("usage")
        if isinstance(usage, Mapping):
            # Later counts replace earlier ones: gateways do not know the input when the message starts, and say 0.
            late = count(usage.get("input_tokens"))
            known = self.parts.usage.input_tokens if late is None else late
            self.parts.usage = Usage(known, count(usage.get("output_tokens")))

    def finish(self) -> Parts:
        """Return the whole answer."""
        self.parts.text = "".join(self._text)
        self.parts.tool_calls = tuple(
            ToolCall(i, name, text or dumps(self._given[index] or {}))
            for index, (i, name, text) in self._calls.items()
        )
        return _unwrap(settle_parts(self.parts), self._answer_tool)
