"""The words in which every room speaks of language models: messages, completions, and what can go wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from workbench.engine.prices import Cost
from workbench.engine.tools.definitions import ToolDefinition

if TYPE_CHECKING:
    from workbench.engine.http import Exchange

Content = str | tuple[Mapping[str, Any], ...]
"""A text, or parts `{"type": "text", "text"}` and `{"type": "image_url", "image_url": {"url": "data:…"}}`."""

OnDelta = Callable[[str], None]
"""Gets each piece of the answer's text as it arrives, on the event loop that asked."""

FinishReason = Literal["stop", "length", "tool_calls", "content_filter", "refusal"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the model asks for. `arguments` is JSON text exactly as the model wrote it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation.

    `role` is `system`, `user`, `assistant` or `tool`. An assistant message may carry `tool_calls`; a tool
    message answers the call `tool_call_id`; `is_error` tells whether the tool failed, `None` that nobody said.
    """

    role: str
    content: Content
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    is_error: bool | None = None

    def text(self) -> str:
        """Return the text of the message; images are left out."""
        if isinstance(self.content, str):
            return self.content
        return "".join(str(part.get("text", "")) for part in self.content if part.get("type") == "text")

    def shown_text(self) -> str:
        """Return the message for people: its text, and each image in words on a line of its own."""
        if isinstance(self.content, str):
            return self.content
        parts = (
            str(part.get("text", "")) if part.get("type") == "text" else image_words(part)
            for part in self.content
        )
        return "\n".join(part for part in parts if part)


def image_words(part: Mapping[str, Any]) -> str:
    """Return what a part of a message is where it cannot be drawn: the address, or kind, size and a mark of the data.

    The mark (the beginning of a SHA-256) tells two images of one size apart.
    """
    image = part.get("image_url")
    url = image.get("url") if isinstance(image, Mapping) else image
    if not isinstance(url, str):
        return f"[{part.get('type', 'part')}]"
    if not url.startswith("data:"):
        return f"[image: {url}]"
    head, _, data = url.partition(",")
    kind = head.removeprefix("data:").partition(";")[0] or "unknown kind"
    mark = sha256(data.encode("utf-8", "replace")).hexdigest()[:8]
    return f"[image: {kind}, {len(data):,} characters of data, {mark}]"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call. `None` means that the model did not say, which is not the same as 0."""

    input_tokens: int | None = None
    output_tokens: int | None = None

    @property
    def total_tokens(self) -> int | None:
        """Input plus output tokens, `None` when one of them is unknown."""
        if self.input_tokens is None or self.output_tokens is None:
            return None
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        """Add two calls; what is unknown in one of them is unknown in the sum."""
        return Usage(
            _sum(self.input_tokens, other.input_tokens), _sum(self.output_tokens, other.output_tokens)
        )


def count(value: Any) -> int | None:
    """Return a count of tokens, `None` for anything that is none, such as a number that no model can reach."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**15 else None


def _sum(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model answered.

    `text` is the whole answer, empty when there is none (a refusal, or only tool calls). `finish_reason` is
    `None` when the model did not say; `"length"` means that the answer was cut off. `refusal` is the
    model's or the provider's reason when it refused. `model` is the name of the model that answered, which
    may be more exact than the name asked for. `recorded` tells that the answer was played from a recording
    and no model ran. `exchange` is the request and reply on the wire, without secrets. `cost` is `None` where the
    project states no prices, or the model did not count its tokens: unknown is not 0.
    """

    text: str
    finish_reason: FinishReason | None = None
    refusal: str | None = None
    usage: Usage = Usage()
    model: str = ""
    elapsed_ms: float = 0.0
    tool_calls: tuple[ToolCall, ...] = ()
    recorded: bool = False
    exchange: Exchange | None = None
    cost: Cost | None = None

    @property
    def truncated(self) -> bool:
        """Whether the answer was cut off at the token limit."""
        return self.finish_reason == "length"


ErrorKind = Literal[
    "settings",
    "unavailable",
    "secret",
    "connect",
    "timeout",
    "status",
    "bad_shape",
    "too_large",
    "broken_off",
    "context",
    "worker",
    "no_recording",
]


class LanguageModelError(Exception):
    """A language model gave no answer.

    `kind` is one of `ErrorKind`: `settings` (the project says something impossible), `unavailable` (a part
    is not installed), `secret`, `connect`, `timeout`, `status` (an HTTP status), `bad_shape` (an answer that
    is no completion), `too_large`, `broken_off` (a stream that ended early), `context` (the prompt is longer
    than the model can read), `worker` (the local model's process failed), `no_recording`.
    """

    def __init__(
        self,
        kind: ErrorKind,
        message: str,
        *,
        status: int | None = None,
        server_message: str | None = None,
        hint: str | None = None,
        exchange: Exchange | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.status = status
        self.server_message = server_message
        self.hint = hint
        self.exchange = exchange


@dataclass(frozen=True, slots=True)
class ModelDescription:
    """Which model answers, and what to expect of it, in words for the window and the command line.

    `place` is the address, or says that the model runs on this computer; `local` is true when no request
    leaves it.
    """

    name: str
    provider: str
    place: str
    expectation: str
    local: bool = False
    recorded: bool = False

    def one_line(self) -> str:
        """Return name, place and expectation as one line."""
        return f"{self.name} ({self.place}). {self.expectation}"


@dataclass(frozen=True, slots=True)
class Probe:
    """What a model was seen to do. `None` means that it was not, or could not be, tried.

    `json_schema` tells whether an answer asked for by a schema obeyed it, `streaming` whether text came in
    pieces, `models` which names the server offers, `message` what to tell the user.
    """

    ok: bool
    message: str
    model: str = ""
    models: tuple[str, ...] | None = None
    json_schema: bool | None = None
    streaming: bool | None = None
    usage: bool | None = None


ResponseFormat = Mapping[str, Any]
"""`{"type": "json_object"}` or what `json_schema_format` returns: the form of OpenAI's chat completions."""

Tool = ToolDefinition | Mapping[str, Any]
"""A tool of the project, or a mapping in OpenAI's form `{"type": "function", "function": {…}}`."""


@runtime_checkable
class LanguageModel(Protocol):
    """Anything that completes a conversation."""

    @property
    def name(self) -> str:
        """The name by which the user knows the model."""
        ...

    @property
    def provider(self) -> str:
        """One of the chat providers of `model_settings`."""
        ...

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        response_format: ResponseFormat | None = None,
        max_tokens: int | None = None,
        tools: Sequence[Tool] | None = None,
        on_delta: OnDelta | None = None,
    ) -> Completion:
        """Complete `messages`.

        With `on_delta` the answer is streamed where the model can stream; without it, it comes at once.
        Cancelling the task stops the request.

        Raises:
            LanguageModelError: there is no answer; a refusal or a cut answer is an answer.
        """
        ...

    async def probe(self) -> Probe:
        """Ask something small and tell what the model can do; never raises `LanguageModelError`."""
        ...

    async def describe(self) -> ModelDescription:
        """Return which model this is and what to expect of it."""
        ...

    async def aclose(self) -> None:
        """Close connections; a worker process that others share goes on."""
        ...


def json_schema_format(name: str, schema: Any, *, strict: bool = True) -> dict[str, Any]:
    """Return the `response_format` that asks for JSON by `schema` (a JSON-like value)."""
    return {"type": "json_schema", "json_schema": {"name": name, "schema": schema, "strict": strict}}


def schema_of(response_format: ResponseFormat | None) -> tuple[str, Any, bool] | None:
    """Return (name, schema, strict) of a JSON Schema format, `None` for any other format."""
    if response_format is None or response_format.get("type") != "json_schema":
        return None
    inner = response_format.get("json_schema")
    if not isinstance(inner, Mapping):
        return None
    return str(inner.get("name") or "response"), inner.get("schema"), bool(inner.get("strict", False))


@dataclass(frozen=True, slots=True)
class FunctionTool:
    """A tool as every wire dialect needs it: `parameters` is the JSON Schema as a value."""

    name: str
    description: str
    parameters: Any


def function_tools(tools: Sequence[Tool] | None) -> tuple[FunctionTool, ...]:
    """Return `tools` in one form.

    Raises:
        LanguageModelError: `settings`, when a tool has no name or its parameters are no JSON.
    """
    return tuple(_function_tool(tool) for tool in tools or ())


def _function_tool(tool: Tool) -> FunctionTool:
    if isinstance(tool, ToolDefinition):
        try:
            parameters = json.loads(tool.parameters)
        except ValueError as error:
            raise LanguageModelError(
                "settings", f"The parameters of the tool {tool.name!r} are no JSON: {error}."
            ) from error
        return FunctionTool(tool.name, tool.description, parameters)
    function = tool.get("function", tool)
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        raise LanguageModelError("settings", "A tool has no name.")
    parameters = function.get("parameters") or {"type": "object", "properties": {}}
    return FunctionTool(function["name"], str(function.get("description") or ""), parameters)
