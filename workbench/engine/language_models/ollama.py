"""Ollama's own chat API, which takes a schema, a context size and a thinking switch that its imitation lacks."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from workbench.engine.language_models.base import (
    FinishReason,
    Message,
    ModelDescription,
    ResponseFormat,
    Tool,
    ToolCall,
    schema_of,
)
from workbench.engine.language_models.http_model import (
    HttpLanguageModel,
    Lines,
    Parts,
    ServerError,
    ShapeError,
    StreamDecoder,
    arguments_text,
    error_text,
    listed,
    usage_of,
)
from workbench.engine.language_models.openai_chat import chat_tools
from workbench.engine.language_models.options import endpoint

_FINISH: dict[str, FinishReason] = {"stop": "stop", "length": "length"}


class OllamaModel(HttpLanguageModel):
    """A model behind `POST /api/chat`.

    Options of the project: `num_ctx` (Ollama cuts longer prompts at the front without a word) and `think`.
    """

    num_ctx: int | None = None
    think: bool | None = None

    def _url(self) -> str:
        return endpoint(self._base(), "api/chat", version="")

    def _models_url(self) -> str:
        return endpoint(self._base(), "api/tags", version="")

    def _base(self) -> str:
        """The address without the folder of the OpenAI-compatible API, which people copy along."""
        base = self._target.base_url.strip().rstrip("/")
        for path in (
            "/chat/completions",
            "/completions",
            "/responses",
            "/messages",
            "/embeddings",
            "/models",
        ):
            base = base.removesuffix(f"/v1{path}")
        return base.removesuffix("/v1")

    def _body(
        self,
        messages: Sequence[Message],
        response_format: ResponseFormat | None,
        max_tokens: int | None,
        tools: Sequence[Tool] | None,
        stream: bool,
    ) -> dict[str, Any]:
        options: dict[str, Any] = {}
        if self._options.temperature is not None:
            options["temperature"] = self._options.temperature
        for name, value in (
            ("seed", self._options.seed),
            ("num_predict", max_tokens),
            ("num_ctx", self.num_ctx),
        ):
            if value is not None:
                options[name] = value
        body: dict[str, Any] = {
            "model": self._target.model,
            "messages": _conversation(messages),
            "stream": stream,
            "options": options,
        }
        by_schema = schema_of(response_format)
        if by_schema is not None:
            body["format"] = by_schema[1]
        elif response_format is not None and response_format.get("type") == "json_object":
            body["format"] = "json"
        if tools:
            body["tools"] = chat_tools(tools)
        if self.think is not None:
            body["think"] = self.think
        return body

    def _decode(self, value: Any, body: Mapping[str, Any]) -> Parts:
        decoder = OllamaStreamDecoder()
        if not isinstance(value, dict):
            raise ShapeError("it is no object")
        decoder.feed(value)
        parts = decoder.finish()
        if not (parts.text or parts.tool_calls or parts.finish_reason):
            raise ShapeError("its message has no content")
        return parts

    def _decoder(self, body: Mapping[str, Any]) -> StreamDecoder:
        return OllamaStreamDecoder()

    def _events(self, stream: Lines) -> AsyncIterator[str]:
        return _lines(stream)

    async def describe(self) -> ModelDescription:
        """Return which model this is and what to expect of it."""
        described = await super().describe()
        if self.num_ctx is not None or not described.local:
            return described
        return ModelDescription(
            described.name,
            described.provider,
            described.place,
            described.expectation
            + " Ollama cuts long prompts without a word: set `num_ctx` when yours are long.",
            described.local,
        )


async def _lines(stream: Lines) -> AsyncIterator[str]:
    async for line in stream:
        if line.strip():
            yield line


def _conversation(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return the messages; a result names its tool, since Ollama's templates tell results apart by that."""
    names: dict[str, str] = {}
    made: list[dict[str, Any]] = []
    for message in messages:
        names.update((call.id, call.name) for call in message.tool_calls)
        data = _message(message)
        if message.role == "tool" and message.tool_call_id in names:
            data["tool_name"] = names[message.tool_call_id]
        made.append(data)
    return made


def _message(message: Message) -> dict[str, Any]:
    data: dict[str, Any] = {"role": message.role, "content": message.text()}
    if not isinstance(message.content, str):
        images = [_image(part) for part in message.content if part.get("type") == "image_url"]
        if images:
            data["images"] = images
    if message.tool_calls:
        data["tool_calls"] = [
            {"function": {"name": call.name, "arguments": _arguments(call.arguments)}}
            for call in message.tool_calls
        ]
    return data


def _image(part: Mapping[str, Any]) -> str:
    image = part.get("image_url")
    url = str(image.get("url") if isinstance(image, Mapping) else image)
    return url.partition(";base64,")[2] or url


def _arguments(text: str) -> Any:
    try:
        value = json.loads(text or "{}")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


class OllamaStreamDecoder(StreamDecoder):
    """Puts together the lines of a streamed answer; a whole answer is a stream of one line."""

    def __init__(self) -> None:
        super().__init__()
        self._text: list[str] = []
        self._calls: list[ToolCall] = []

    def feed(self, event: Mapping[str, Any]) -> str:
        """Take one line; return the text that it adds. What the model thinks aloud is no text."""
        if (said := error_text(event)) is not None:
            raise ServerError(said)
        message = event.get("message")
        if not isinstance(message, Mapping):
            raise ShapeError("it has no message")
        if isinstance(event.get("model"), str):
            self.parts.model = event["model"]
        for call in listed(message.get("tool_calls"), "its tool calls"):
            self._calls.append(self._call(call))
        if event.get("done"):
            self.complete = True
            reason = event.get("done_reason")
            self.parts.finish_reason = _FINISH.get(reason) if isinstance(reason, str) else None
            self.parts.usage = usage_of(event, "prompt_eval_count", "eval_count")
        content = message.get("content")
        if content is None:
            return ""
        if not isinstance(content, str):
            raise ShapeError("the content of its message is no text")
        self._text.append(content)
        return content

    def _call(self, call: Any) -> ToolCall:
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
            raise ShapeError("a tool call has no name")
        arguments = function.get("arguments")
        text = arguments_text({} if arguments is None else arguments)
        return ToolCall(str(call.get("id") or f"call_{len(self._calls)}"), function["name"], text)

    def finish(self) -> Parts:
        """Return the whole answer."""
        self.parts.text = "".join(self._text)
        self.parts.tool_calls = tuple(self._calls)
        if self._calls and self.parts.finish_reason == "stop":
            self.parts.finish_reason = "tool_calls"
        return self.parts
