"""OpenAI's Responses API: the same models behind another body."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.engine.language_models.base import (
    LanguageModelError,
    Message,
    ResponseFormat,
    Tool,
    ToolCall,
    function_tools,
    schema_of,
)
from workbench.engine.language_models.http_model import (
    HttpLanguageModel,
    Parts,
    ServerError,
    ShapeError,
    StreamDecoder,
    arguments_text,
    error_text,
    listed,
    usage_of,
)
from workbench.engine.language_models.openai_chat import settle_filter
from workbench.engine.language_models.options import endpoint


class OpenAIResponsesModel(HttpLanguageModel):
    """A model behind `POST …/responses`. Nothing is stored at the server."""

    def _url(self) -> str:
        return endpoint(self._target.base_url, "responses")

    def _models_url(self) -> str:
        return endpoint(self._target.base_url, "models")

    def _body(
        self,
        messages: Sequence[Message],
        response_format: ResponseFormat | None,
        max_tokens: int | None,
        tools: Sequence[Tool] | None,
        stream: bool,
    ) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self._target.model, "input": [], "store": False}
        for message in messages:
            body["input"].extend(_items(message))
        if self._options.temperature is not None and self._sends_temperature:
            body["temperature"] = self._options.temperature
        if max_tokens is not None:
            body["max_output_tokens"] = max_tokens
        if response_format is not None:
            body["text"] = {"format": _format(response_format)}
        if tools:
            body["tools"] = [
                {
                    "type": "function",
                    "name": t.name,
                    "description": t.description,
                    "parameters": t.parameters,
                    "strict": False,
                }
                for t in function_tools(tools)
            ]
        if stream:
            body["stream"] = True
        return body

    def _adapt(self, error: LanguageModelError) -> bool:
        return self._learns_of_temperature(error)

    def _decode(self, value: Any, body: Mapping[str, Any]) -> Parts:
        return decode_response(value)

    def _decoder(self, body: Mapping[str, Any]) -> StreamDecoder:
        return ResponsesStreamDecoder()


def _items(message: Message) -> list[dict[str, Any]]:
    if message.role == "tool":
        images = not isinstance(message.content, str) and any(
            part.get("type") == "image_url" for part in message.content
        )
        # Servers that imitate the API take text alone: a list goes out only where it carries an image.
        output = _content(message) if images else message.text()
        return [{"type": "function_call_output", "call_id": message.tool_call_id or "", "output": output}]
    items: list[dict[str, Any]] = []
    if message.content:
        items.append({"role": message.role, "content": _content(message)})
    for call in message.tool_calls:
        items.append(
            {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}
        )
    return items


def _content(message: Message) -> Any:
    if isinstance(message.content, str):
        return message.content
    kind = "output_text" if message.role == "assistant" else "input_text"
    parts: list[dict[str, Any]] = []
    for part in message.content:
        if part.get("type") == "image_url":
            image = part.get("image_url")
            parts.append(
                {
                    "type": "input_image",
                    "image_url": image.get("url") if isinstance(image, Mapping) else image,
                }
            )
        else:
            parts.append({"type": kind, "text": str(part.get("text", ""))})
    return parts


def _format(response_format: ResponseFormat) -> dict[str, Any]:
    by_schema = schema_of(response_format)
    if by_schema is None:
        return dict(response_format)
    name, schema, strict = by_schema
    return {"type": "json_schema", "name": name, "schema": schema, "strict": strict}


def decode_response(value: Any) -> Parts:
    """Return the parts of a whole response: every text part of every message, in order.

    Raises:
        ShapeError: it is none.
        ServerError: it failed at the server.
    """
    if (said := error_text(value)) is not None:
        raise ServerError(said)
    output = value.get("output") if isinstance(value, dict) else None
    if not isinstance(output, list):
        raise ShapeError("it has no output")
    parts = Parts(
        usage=usage_of(value.get("usage"), "input_tokens", "output_tokens"),
        model=value["model"] if isinstance(value.get("model"), str) else None,
    )
    texts: list[str] = []
    refusals: list[str] = []
    calls: list[ToolCall] = []
    for item in output:
        _read_item(item, texts, refusals, calls)
    parts.text, parts.refusal, parts.tool_calls = "".join(texts), "".join(refusals) or None, tuple(calls)
    _read_status(value, parts)
    if not (texts or refusals or calls or parts.finish_reason in ("length", "content_filter")):
        raise ShapeError("its output has no text")
    return settle_filter(parts)


def _read_item(item: Any, texts: list[str], refusals: list[str], calls: list[ToolCall]) -> None:
    if not isinstance(item, dict):
        raise ShapeError("an item of its output is no object")
    if item.get("type") == "message":
        for part in listed(item.get("content"), "the parts of its message"):
            if (
                isinstance(part, dict)
                and part.get("type") == "output_text"
                and isinstance(part.get("text"), str)
            ):
                texts.append(part["text"])
            elif (
                isinstance(part, dict)
                and part.get("type") == "refusal"
                and isinstance(part.get("refusal"), str)
            ):
                refusals.append(part["refusal"])
    elif item.get("type") == "function_call":
        calls.append(
            ToolCall(
                str(item.get("call_id") or ""),
                str(item.get("name") or ""),
                arguments_text(item.get("arguments")),
            )
        )


def _read_status(value: Mapping[str, Any], parts: Parts) -> None:
    status = value.get("status")
    if status == "failed":
        raise ServerError("the response failed")
    if status == "incomplete":
        details = value.get("incomplete_details")
        reason = details.get("reason") if isinstance(details, Mapping) else None
        parts.finish_reason = "content_filter" if reason == "content_filter" else "length"
    elif status == "completed":
        parts.finish_reason = "tool_calls" if parts.tool_calls else "refusal" if parts.refusal else "stop"


class ResponsesStreamDecoder(StreamDecoder):
    """Takes the events of a streamed response; the last one carries the whole.

    Some servers leave its output empty, or leave it out: then the items that came before it count, else the pieces.
    """

    def __init__(self) -> None:
        super().__init__()
        self._whole = False
        self._items: list[Any] = []
        self._text: list[str] = []
        self._refusal: list[str] = []

    def feed(self, event: Mapping[str, Any]) -> str:
        """Take one event; return the text that it adds."""
        kind = event.get("type")
        if kind == "error":
            raise ServerError(str(event.get("message") or error_text(event) or "the stream failed"))
        if kind in ("response.completed", "response.incomplete", "response.failed"):
            self.parts = decode_response(self._filled(event.get("response")))
            self.complete = self._whole = True
        elif kind == "response.output_item.done":
            self._items.append(event.get("item"))
        delta = event.get("delta")
        if not isinstance(delta, str):
            return ""
        if kind == "response.refusal.delta":
            self._refusal.append(delta)
        if kind != "response.output_text.delta":
            return ""
        self._text.append(delta)
        return delta

    def _filled(self, response: Any) -> Any:
        """Return a response with the output that came before it, where it has none of its own."""
        if (
            not isinstance(response, Mapping)
            or response.get("output")
            or not isinstance(response.get("output", []), list)
        ):
            return response
        return {**response, "output": self._items or self._heard()}

    def _heard(self) -> list[Any]:
        parts = [{"type": "output_text", "text": "".join(self._text)}] if self._text else []
        if self._refusal:
            parts.append({"type": "refusal", "refusal": "".join(self._refusal)})
        return [{"type": "message", "content": parts}] if parts else []

    def finish(self) -> Parts:
        """Return the whole answer.

        Raises:
            ShapeError: nothing was said.
        """
        return self.parts if self._whole else decode_response(self._filled({}))
