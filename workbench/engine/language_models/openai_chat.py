"""OpenAI's chat completions, which most servers speak: Ollama, LM Studio, llama.cpp, vLLM, Azure and gateways."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.engine.json_text import parse_json
from workbench.engine.language_models.base import (
    FinishReason,
    LanguageModelError,
    Message,
    ResponseFormat,
    Tool,
    ToolCall,
    function_tools,
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
from workbench.engine.language_models.options import endpoint

FILTERED = "The server's content filter stopped the answer."

_FINISH: dict[str, FinishReason] = {
    "stop": "stop",
    "eos": "stop",
    "end_turn": "stop",
    "length": "length",
    "max_tokens": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
}


# Not merely "support": "supports at most 4096 tokens" is about the value of a parameter.
_NOT_TAKEN = re.compile(r"unsupported|not (?:\w+ )?support|n't support|unrecognized|unknown|extra")


class OpenAIChatModel(HttpLanguageModel):
    """A model behind `POST …/chat/completions`."""

    _sends_stream_options = True
    _limit_name: str | None = None

    def _url(self) -> str:
        return endpoint(self._target.base_url, "chat/completions")

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
        body: dict[str, Any] = {"messages": chat_messages(messages)}
        if self._target.model:
            body = {"model": self._target.model, **body}
        if self._options.temperature is not None and self._sends_temperature:
            body["temperature"] = self._options.temperature
        if self._options.seed is not None:
            body["seed"] = self._options.seed
        if max_tokens is not None:
            body[self._limit_name or self._usual_limit_name()] = max_tokens
        if response_format is not None:
            body["response_format"] = dict(response_format)
        if tools:
            body["tools"] = chat_tools(tools)
        if stream:
            body["stream"] = True
            if self._sends_stream_options:
                body["stream_options"] = {"include_usage": True}
        return body

    def _usual_limit_name(self) -> str:
        """The vendor renamed the limit; everybody else's servers know the old name."""
        return "max_completion_tokens" if "//api.openai.com" in self._target.base_url else "max_tokens"

    def _adapt(self, error: LanguageModelError) -> bool:
        """Leave out what the server says that it does not take; each thing once, for this model's life.

        A request that is refused for a parameter costs nothing, and which models take which is not published.
        """
        said = (error.server_message or "").lower()
        if error.status not in (400, 422) or not _NOT_TAKEN.search(said):
            return False
        if "max_tokens" in said:
            other = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
            self._limit_name = other[self._usual_limit_name()]
            return True
        if "temperature" in said:
            self._sends_temperature = False
            return True
        if "stream_options" in said:
            self._sends_stream_options = False
            return True
        return False

    def _decode(self, value: Any, body: Mapping[str, Any]) -> Parts:
        return decode_chat(value)

    def _decoder(self, body: Mapping[str, Any]) -> StreamDecoder:
        return ChatStreamDecoder()


class AzureOpenAIChatModel(OpenAIChatModel):
    """The same behind Azure, which takes the key in a header of its own and the model in the address."""

    default_secret_header = "api-key"


def chat_messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return a conversation in the form of chat completions.

    There the result of a tool is text, and many servers refuse anything else. Its images follow in one message of the
    user, which names the calls that they belong to; it comes after all results of the reply, which must stand together.
    """
    made: list[dict[str, Any]] = []
    names: dict[str, str] = {}
    pictures: list[dict[str, Any]] = []
    for message in messages:
        if message.role != "tool" and pictures:
            made.append({"role": "user", "content": pictures})
            pictures = []
        names.update((call.id, call.name) for call in message.tool_calls)
        images = [] if message.role != "tool" or isinstance(message.content, str) else _images(message)
        if not images:
            made.append(chat_message(message))
            continue
        call = _call_words(message.tool_call_id, names)
        made.append({**chat_message(message), "content": _result_text(message, len(images))})
        pictures += [{"type": "text", "text": f"{_counted(len(images))} of the result of {call}:"}, *images]
    if pictures:
        made.append({"role": "user", "content": pictures})
    return made


def _images(message: Message) -> list[dict[str, Any]]:
    return [dict(p) for p in message.content if isinstance(p, Mapping) and p.get("type") != "text"]


def _result_text(message: Message, images: int) -> str:
    texts = [str(part.get("text", "")) for part in message.content if isinstance(part, Mapping)]
    return "\n".join([*filter(None, texts), f"[{_counted(images)}: see the next message of the user]"])


def _call_words(call_id: str | None, names: Mapping[str, str]) -> str:
    name = names.get(call_id or "")
    return f"the tool {name} (call {call_id})" if name else f"the tool call {call_id}"


def _counted(images: int) -> str:
    return "1 image" if images == 1 else f"{images} images"


def chat_message(message: Message) -> dict[str, Any]:
    """Return a message in the form of chat completions."""
    content: Any = (
        message.content if isinstance(message.content, str) else [dict(part) for part in message.content]
    )
    data: dict[str, Any] = {"role": message.role, "content": content}
    if message.tool_calls:
        data["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
        data["content"] = content or None
    if message.tool_call_id is not None:
        data["tool_call_id"] = message.tool_call_id
    return data


def chat_tools(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """Return tools in the form of chat completions."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
        }
        for tool in function_tools(tools)
    ]


def finish_of(value: Any) -> FinishReason | None:
    """Return a finish reason in our words, `None` when the server gave none that is known."""
    return _FINISH.get(value) if isinstance(value, str) else None


def decode_chat(value: Any) -> Parts:
    """Return the parts of a whole chat completion.

    Raises:
        ShapeError: it is none. Content must be text, or be missing for a reason that the answer tells.
        ServerError: it is a failure in the dress of a success.
    """
    if (said := error_text(value)) is not None:
        raise ServerError(said)
    choices = value.get("choices") if isinstance(value, dict) else None
    if not isinstance(choices, list) or not choices:
        raise ShapeError("it has no choices")
    choice = choices[0]
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        raise ShapeError("its first choice has no message")
    parts = Parts(
        finish_reason=finish_of(choice.get("finish_reason")),
        usage=usage_of(value.get("usage"), "prompt_tokens", "completion_tokens"),
        model=value["model"] if isinstance(value.get("model"), str) else None,
        tool_calls=_tool_calls(message.get("tool_calls")),
    )
    refusal = message.get("refusal")
    parts.refusal = refusal if isinstance(refusal, str) and refusal else None
    content = message.get("content")
    if content is None and not (
        parts.refusal or parts.tool_calls or parts.finish_reason in ("length", "content_filter")
    ):
        raise ShapeError("its message has no content")
    if content is not None and not isinstance(content, str):
        raise ShapeError("the content of its message is no text")
    parts.text = content or ""
    return settle_filter(parts)


def settle_filter(parts: Parts) -> Parts:
    """Make an answer that a filter stopped a refusal, unless the server gave a reason of its own."""
    if parts.finish_reason == "content_filter" and parts.refusal is None:
        parts.refusal = FILTERED
    return parts


def _tool_calls(value: Any) -> tuple[ToolCall, ...]:
    calls = listed(value, "its tool calls")
    return tuple(_tool_call(call, index) for index, call in enumerate(calls))


def _tool_call(call: Any, index: int) -> ToolCall:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise ShapeError("a tool call has no name")
    return ToolCall(
        str(call.get("id") or f"call_{index}"), function["name"], arguments_text(function.get("arguments"))
    )


def _begins_another(
    known: Mapping[str, str], call_id: Any, name: Any, arguments: str, *, beside: bool
) -> bool:
    """Tell whether a piece of a stream is no part of the call that its index, or its place, says.

    Some servers send whole calls without an index, or all with the index 0, and some of those without an id: there a
    name begins a call `beside` one in the same chunk, or where the arguments of the one before are whole.
    """
    if not name:
        return False
    if call_id and known["id"]:
        return bool(call_id != known["id"])
    # The signs at both ends first, since reading the arguments once more for each piece would take long.
    apart = arguments.lstrip().startswith("{") and known["arguments"].rstrip().endswith("}")
    return beside or (apart and parse_json(known["arguments"]).ok)


class ChatStreamDecoder(StreamDecoder):
    """Puts together the chunks of a streamed chat completion."""

    last_word = False  # the usage comes after the reason to finish

    def __init__(self) -> None:
        super().__init__()
        self._text: list[str] = []
        self._refusal: list[str] = []
        self._calls: list[dict[str, str]] = []
        self._at: dict[int, dict[str, str]] = {}  # by the index that the server gives

    def feed(self, event: Mapping[str, Any]) -> str:
        """Take one chunk; return the text that it adds."""
        if (said := error_text(event)) is not None:
            raise ServerError(said)
        if isinstance(event.get("model"), str):
            self.parts.model = event["model"]
        if isinstance(event.get("usage"), Mapping):
            self.parts.usage = usage_of(event["usage"], "prompt_tokens", "completion_tokens")
        choices = event.get("choices")
        if not isinstance(choices, list):
            raise ShapeError("a chunk has no choices")
        if not all(isinstance(choice, dict) for choice in choices):
            raise ShapeError("a chunk's choice is no object")
        # Of several answers that were asked for, the first counts.
        choice: Mapping[str, Any] = next(
            (choice for choice in choices if choice.get("index") in (0, None)), {}
        )
        if choice.get("finish_reason") is not None:
            self.parts.finish_reason = finish_of(choice["finish_reason"])
            self.complete = True
        delta = choice.get("delta")
        return self._delta(delta) if isinstance(delta, dict) else ""

    def _delta(self, delta: Mapping[str, Any]) -> str:
        if isinstance(delta.get("refusal"), str):
            self._refusal.append(delta["refusal"])
        for position, call in enumerate(listed(delta.get("tool_calls"), "the tool calls of a chunk")):
            self._call(call, beside=position > 0)
        content = delta.get("content")
        if content is None:
            return ""
        if not isinstance(content, str):
            raise ShapeError("the content of a chunk is no text")
        self._text.append(content)
        return content

    def _call(self, call: Any, beside: bool) -> None:
        if not isinstance(call, dict):
            raise ShapeError("a tool call of a chunk is no object")
        function = call.get("function") or {}
        if not isinstance(function, dict):
            raise ShapeError("the function of a chunk's tool call is no object")
        arguments = arguments_text(function.get("arguments"))
        index = call.get("index") if isinstance(call.get("index"), int) else None
        known = self._at.get(index) if index is not None else (self._calls[-1] if self._calls else None)
        if known is None or _begins_another(
            known, call.get("id"), function.get("name"), arguments, beside=beside and index is None
        ):
            known = {"id": "", "name": "", "arguments": ""}
            self._calls.append(known)
            if index is not None:
                self._at[index] = known
        for key, piece in (("id", call.get("id")), ("name", function.get("name"))):
            if isinstance(piece, str) and piece:
                known[key] = piece
        # Only arguments come in pieces; some servers repeat the id and the name in every chunk.
        known["arguments"] += arguments

    def finish(self) -> Parts:
        """Return the whole answer."""
        self.parts.text = "".join(self._text)
        self.parts.refusal = "".join(self._refusal) or None
        self.parts.tool_calls = tuple(
            ToolCall(entry["id"] or f"call_{index}", entry["name"], entry["arguments"])
            for index, entry in enumerate(self._calls)
        )
        return settle_filter(self.parts)
