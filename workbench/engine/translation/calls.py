"""Calls a model of any kind so that the call can be cancelled, has a time limit, and gives one kind of answer."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any

from workbench.engine.language_models import Completion, Message, Usage
from workbench.engine.translation.results import Failure, Success

MAX_BLANKS = 4000
"""White space in a row after which a streamed reply is taken for one that will not end."""

_POLL_SECONDS = 0.02
_GRACE_SECONDS = 0.15


MOST_SERVER_TEXT = 2000
"""Characters of the body of a server's error that an attempt keeps."""


class ModelFailedError(Exception):
    """The model gave no answer; the text is the model's own message, unchanged. `hint` says what to do.

    `failure` holds what is known of the error beside its message: `kind` (a `language_models.ErrorKind`), the HTTP
    `status`, and `server_said`, the body of the server's error without secrets. Each may be None.
    """

    def __init__(self, message: str, hint: str | None = None, failure: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.failure = failure


class CallStoppedError(Exception):
    """The call ended before the answer: `outcome` is `cancelled` or `budget`."""

    def __init__(self, outcome: str) -> None:
        super().__init__(outcome)
        self.outcome = outcome


async def call_model(
    model: Any,
    messages: Sequence[Message],
    options: dict[str, Any],
    *,
    on_delta: Callable[[str], None] | None = None,
    cancel: Any = None,
    seconds: float | None = None,
) -> Completion:
    """Return the model's completion of a copy of `messages`.

    `model.complete` may return a `Completion`, a text, or a `Success` or `Failure` of a text, and gets only the
    options that it accepts. `cancel` is anything with `is_set()`; `seconds` is the time that is left.

    Raises:
        ModelFailedError: the model raised or returned a failure.
        CallStoppedError: cancelled, or out of time.
        asyncio.CancelledError: the surrounding task was cancelled; the call is stopped first.
    """
    runaway = asyncio.Event()
    text: list[str] = []
    watched = _watch(on_delta, text, runaway) if on_delta is not None else None
    began = time.monotonic()
    call = asyncio.ensure_future(_ask(model, list(messages), {**options, "on_delta": watched}))
    finished = await _end(call, runaway.wait(), *_until(cancel), seconds=seconds)
    if finished and call.cancelled():
        raise ModelFailedError("The model gave its own call up.")
    if call.done() and not call.cancelled():
        completion = _normal(_outcome_of(call))
        elapsed = completion.elapsed_ms or round((time.monotonic() - began) * 1000, 3)
        return _timed(completion, elapsed)
    if runaway.is_set():
        return Completion("".join(text), "length", elapsed_ms=round((time.monotonic() - began) * 1000, 3))
    raise CallStoppedError("cancelled" if cancel is not None and cancel.is_set() else "budget")


async def _end(work: asyncio.Future[Any], *others: Coroutine[Any, Any, Any], seconds: float | None) -> bool:
    """Wait for `work`, no longer than for the first of `others` and `seconds`, and then end all of them.

    Return whether `work` came to its end of its own accord.
    """
    rivals = [asyncio.ensure_future(other) for other in others]
    try:
        await asyncio.wait({work, *rivals}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        finished = work.done()
        for task in rivals:
            task.cancel()
        if not finished:
            work.cancel()
            await asyncio.wait({work}, timeout=_GRACE_SECONDS)
    return finished


def _until(cancel: Any) -> list[Coroutine[Any, Any, None]]:
    return [] if cancel is None else [_until_set(cancel)]


async def _ask(model: Any, messages: list[Message], options: dict[str, Any]) -> Any:
    complete = model.complete
    accepted = accepted_options(complete)
    chosen = {
        name: value
        for name, value in options.items()
        if value is not None and (accepted is None or name in accepted)
    }
    answer = complete(messages, **chosen)
    return await answer if inspect.isawaitable(answer) else answer


def accepted_options(function: Callable[..., Any]) -> set[str] | None:
    """Return the names of the options that `function` takes; `None` for any."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters):
        return None
    return {parameter.name for parameter in parameters}


def _watch(on_delta: Callable[[str], None], text: list[str], runaway: asyncio.Event) -> Callable[[str], None]:
    """Pass pieces on, and notice a reply that has become nothing but white space (constrained decoders do that)."""
    blanks = 0

    def take(piece: str) -> None:
        nonlocal blanks
        text.append(piece)
        kept = len(piece.rstrip())
        blanks = blanks + len(piece) if not kept else len(piece) - kept
        on_delta(piece)
        if blanks > MAX_BLANKS:
            runaway.set()

    return take


async def _until_set(cancel: Any) -> None:
    wait = getattr(cancel, "wait", None)
    if wait is not None and inspect.iscoroutinefunction(wait):
        await wait()
        return
    while not cancel.is_set():  # noqa: ASYNC110 (an event of threads has nothing that could be awaited)
        await asyncio.sleep(_POLL_SECONDS)


def _outcome_of(call: asyncio.Future[Any]) -> Any:
    try:
        return call.result()
    except Exception as error:
        message = getattr(error, "message", None) or str(error) or type(error).__name__
        raise ModelFailedError(str(message), getattr(error, "hint", None), _failure(error)) from error


def _failure(error: Exception) -> dict[str, Any] | None:
    kind = getattr(error, "kind", None)
    if not isinstance(kind, str):
        return None
    body = getattr(getattr(error, "exchange", None), "response_text", "")
    said = body or getattr(error, "server_message", None) or None
    return {
        "kind": kind,
        "status": getattr(error, "status", None),
        "server_said": None if said is None else str(said)[:MOST_SERVER_TEXT],
    }


def _normal(answer: Any) -> Completion:
    if isinstance(answer, Completion):
        return answer
    if isinstance(answer, Failure):
        raise ModelFailedError(answer.message)
    if isinstance(answer, Success):
        answer = answer.data
    if isinstance(answer, str):
        return Completion(answer)
    if isinstance(answer, Completion):
        return answer
    if isinstance(getattr(answer, "text", None), str):
        return Completion(
            answer.text,
            getattr(answer, "finish_reason", None),
            getattr(answer, "refusal", None),
            getattr(answer, "usage", None) or Usage(),
            str(getattr(answer, "model", "") or ""),
            float(getattr(answer, "elapsed_ms", 0) or 0),
            tuple(getattr(answer, "tool_calls", ()) or ()),
            bool(getattr(answer, "recorded", False)),
            cost=getattr(answer, "cost", None),
        )
    raise ModelFailedError(f"The model answered with {type(answer).__name__}, not with a text.")


def _timed(completion: Completion, elapsed_ms: float) -> Completion:
    from dataclasses import replace

    return replace(completion, elapsed_ms=elapsed_ms)


async def resolved(value: Any | Awaitable[Any], *, cancel: Any = None, seconds: float | None = None) -> Any:
    """Return `value`, awaited where a hook was asynchronous, but no longer than `cancel` and `seconds` allow.

    Raises:
        CallStoppedError: cancelled, or out of time.
        RuntimeError: the hook cancelled its own work.
    """
    if not inspect.isawaitable(value):
        return value
    work = asyncio.ensure_future(value)
    if await _end(work, *_until(cancel), seconds=seconds):
        if work.cancelled():
            raise RuntimeError("it gave itself up")
        return work.result()
    raise CallStoppedError("cancelled" if cancel is not None and cancel.is_set() else "budget")


def takes_two(function: Callable[..., Any]) -> bool:
    """Tell whether a hook takes a second positional argument, which then gets the context."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return False
    positional = [
        p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.VAR_POSITIONAL)
    ]
    required = [p for p in positional if p.default is p.empty or p.name == "context"]
    return len(required) > 1 or any(p.kind is p.VAR_POSITIONAL for p in positional)
