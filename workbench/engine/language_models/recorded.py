"""Plays recorded answers, so that a project shows its translations where no chat model can run.

A recording is a file `recordings/NAME.jsonl` in the project's folder: JSON Lines, one object per line, blank
lines allowed. Rows with `"kind": "chat"` are read here; rows of other kinds (`decision`) belong to others and
are skipped. A chat row has

- `request`: the user's request, the one that is put into the request prompt; rows without one form the sequence;
- `reply`: the text of the answer, `""` for a refusal;
- `finish_reason` (`stop`, `length`, …; default `stop`), `refusal` (text), `tool_calls` (`[{"id", "name",
  "arguments": JSON text}]`), `usage` (`{"input_tokens", "output_tokens"}`), `elapsed_ms`, and `model`: the
  name of the model that gave the answer, or `"written by hand"`. All are optional.

A row fits when its `request` is the last user message, or stands in it on lines of its own; the longest one
that fits wins. Several rows with the same request are the attempts of one run, in the order of the file: a
conversation that holds no answer to the request begins with the first, and each further call of the run gets
the next. A request that fits no row gets the next row of the sequence; when there is none, that is an error
that tells which requests were recorded, because an answer to something else would be no answer.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, cast, get_args

from workbench.engine.json_text import dumps, parse_json
from workbench.engine.language_models.base import (
    Completion,
    FinishReason,
    LanguageModelError,
    Message,
    ModelDescription,
    OnDelta,
    Probe,
    ResponseFormat,
    Tool,
    ToolCall,
    Usage,
    count,
)
from workbench.engine.model_settings import ModelSettings
from workbench.engine.text import TextFile, bad_byte, shorten

FOLDER = "recordings"
HAND_WRITTEN = "written by hand"

_LONGEST_MS = 1e15
_SHORTEST_INLINE = 12
"""Characters of a request from which it is also found in the middle of a line; shorter ones are too common."""


@dataclass(frozen=True, slots=True)
class RecordedRow:
    """One chat row, and where it stands."""

    request: str | None
    completion: Completion
    file: str
    line: int


def recorded_rows(root: Path, recording: str | None = None) -> tuple[RecordedRow, ...]:
    """Return the chat rows of all recordings of the project in `root`, or of the one file `recording`.

    Raises:
        LanguageModelError: `settings`, with file and line, for a row or a name that is wrong.
    """
    rows: list[RecordedRow] = []
    for path in _files(root, recording):
        rows.extend(_read(path, f"{FOLDER}/{path.name}"))
    return tuple(rows)


def recorded_requests(root: Path | None, recording: str | None = None) -> list[str]:
    """Return the requests that can be replayed, each once, in the order of the files; none when a file is broken."""
    if root is None:
        return []
    try:
        rows = recorded_rows(root, recording)
    except LanguageModelError:
        return []
    return list(dict.fromkeys(row.request for row in rows if row.request is not None))


def recording_row(request: str, completion: Completion) -> str:
    """Return the line (without its end) that records `completion` as the next answer to `request`."""
    row: dict[str, Any] = {
        "kind": "chat",
        "request": request,
        "model": completion.model,
        "reply": completion.text,
        "finish_reason": completion.finish_reason,
        "usage": {
            "input_tokens": completion.usage.input_tokens,
            "output_tokens": completion.usage.output_tokens,
        },
        "elapsed_ms": round(completion.elapsed_ms),
    }
    if completion.refusal is not None:
        row["refusal"] = completion.refusal
    if completion.tool_calls:
        row["tool_calls"] = [
            {"id": c.id, "name": c.name, "arguments": c.arguments} for c in completion.tool_calls
        ]
    return dumps(row)


def _files(root: Path, recording: str | None) -> list[Path]:
    """Return the recordings to read; links that lead out of the project are not followed."""
    folder = root / FOLDER
    if recording is not None:
        name = PurePosixPath(recording)
        odd = name.name in ("", ".", "..") or "\\" in recording or "\0" in recording
        if odd or name.parent.as_posix() not in (".", FOLDER):
            said = shorten(recording)
            raise LanguageModelError("settings", f"A recording must lie in {FOLDER}/, not at {said!r}.")
        found = [folder / name.name]
    else:
        found = sorted(folder.glob("*.jsonl")) if folder.is_dir() else []
    home = root.resolve()
    return [path for path in found if path.resolve().is_relative_to(home)]


def _read(path: Path, shown: str) -> Iterator[RecordedRow]:
    try:
        if path.exists() and not path.is_file():  # a named pipe would be waited for without an end
            raise LanguageModelError("settings", f"{shown} is no regular file.")
        text = TextFile.decode(path.read_bytes()).text
    except OSError as error:
        raise LanguageModelError(
            "unavailable", f"{shown} cannot be read: {error.strerror or error}."
        ) from None
    except UnicodeDecodeError as error:
        at, words = bad_byte(error)
        raise LanguageModelError("settings", f"{shown}:{at}: {words}.") from None
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        if not line.strip():
            continue
        document = parse_json(line)
        if not document.ok or not isinstance(document.value, dict):
            why = document.diagnostics[0].message if document.diagnostics else "a row must be an object"
            raise LanguageModelError("settings", f"{shown}:{number}: {why}")
        if document.value.get("kind") == "chat":
            yield _row(document.value, shown, number)


def _row(data: Mapping[str, Any], file: str, line: int) -> RecordedRow:
    def wrong(key: str, wanted: str) -> LanguageModelError:
        return LanguageModelError("settings", f"{file}:{line}: {key!r} must be {wanted}.")

    request, reply, finish = data.get("request"), data.get("reply"), data.get("finish_reason", "stop")
    refusal, elapsed = data.get("refusal"), data.get("elapsed_ms", 0)
    if request is not None and not isinstance(request, str):
        raise wrong("request", "a text")
    if not isinstance(reply, str):
        raise wrong("reply", "a text")
    if finish is not None and finish not in get_args(FinishReason):
        raise wrong("finish_reason", "one of " + ", ".join(get_args(FinishReason)))
    if refusal is not None and not isinstance(refusal, str):
        raise wrong("refusal", "a text")
    if isinstance(elapsed, bool) or not isinstance(elapsed, (int, float)) or abs(elapsed) > _LONGEST_MS:
        raise wrong("elapsed_ms", "a number")
    usage = data.get("usage") or {}
    if not isinstance(usage, Mapping):
        raise wrong("usage", "an object")
    completion = Completion(
        text=reply,
        finish_reason=cast("FinishReason | None", finish),
        refusal=refusal,
        usage=Usage(count(usage.get("input_tokens")), count(usage.get("output_tokens"))),
        model=str(data.get("model") or HAND_WRITTEN),
        elapsed_ms=float(elapsed),
        tool_calls=_calls(data.get("tool_calls"), wrong("tool_calls", "a list of objects with a name")),
        recorded=True,
    )
    return RecordedRow(request, completion, file, line)


def _calls(value: Any, wrong: LanguageModelError) -> tuple[ToolCall, ...]:
    calls: list[ToolCall] = []
    for index, call in enumerate(value if isinstance(value, list) else [] if value is None else [value]):
        if not isinstance(call, Mapping) or not isinstance(call.get("name"), str):
            raise wrong
        arguments = call.get("arguments", "{}")
        text = arguments if isinstance(arguments, str) else dumps(arguments)
        calls.append(ToolCall(str(call.get("id") or f"call_{index}"), call["name"], text))
    return tuple(calls)


class RecordedModel:
    """A language model that plays the chat rows of a project's recordings. Nothing is sent anywhere."""

    provider = "recorded"

    def __init__(self, rows: Sequence[RecordedRow], name: str = "recorded") -> None:
        self.name = name
        self._by_request: dict[str, list[RecordedRow]] = {}
        self._sequence: list[RecordedRow] = []
        for row in rows:
            where = (
                self._sequence
                if row.request is None
                else self._by_request.setdefault(_lines(row.request), [])
            )
            where.append(row)
        self._played: dict[str | None, int] = {}
        self._lock = threading.Lock()

    @classmethod
    def open(cls, settings: ModelSettings, root: Path | None) -> RecordedModel:
        """Return the model for `settings`; the option `recording` names one file, default are all.

        Raises:
            LanguageModelError: `unavailable` when nothing is recorded, `settings` when a row is wrong.
        """
        if root is None:
            raise LanguageModelError("unavailable", "The project was never saved, so it has no recordings.")
        recording = settings.options.get("recording")
        if recording is not None and not isinstance(recording, str):
            raise LanguageModelError("settings", "The option 'recording' must be the name of a file.")
        rows = recorded_rows(root, recording)
        if not rows:
            raise LanguageModelError("unavailable", f"The project has no recorded chat answers in {FOLDER}/.")
        return cls(rows, settings.model or settings.name)

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        response_format: ResponseFormat | None = None,
        max_tokens: int | None = None,
        tools: Sequence[Tool] | None = None,
        on_delta: OnDelta | None = None,
    ) -> Completion:
        """Return the recorded answer that fits; see the module's text for the rules."""
        completion = self._next(messages)
        if on_delta is not None:
            for start in range(0, len(completion.text), 24):
                on_delta(completion.text[start : start + 24])
        return completion

    def _next(self, messages: Sequence[Message]) -> Completion:
        key, fresh = self._match(messages)
        rows = self._sequence if key is None else self._by_request[key]
        with self._lock:
            if fresh and key is not None:
                self._played[key] = 0
            # A conversation that was begun elsewhere (a branch of a stored run) has had its first answer.
            number = self._played.get(key, 0 if fresh or key is None else 1)
            if number < len(rows):
                self._played[key] = number + 1
                return rows[number].completion
        if key is None:
            raise LanguageModelError(
                "no_recording", self._nothing_fits(), hint="Choose a model that can run."
            )
        raise LanguageModelError(
            "no_recording",
            f"The recording has {len(rows)} answers to “{shorten(key, 60)}”, and no answer {number + 1}.",
            hint="Choose a model that can run.",
        )

    def _match(self, messages: Sequence[Message]) -> tuple[str | None, bool]:
        """Return the request that the conversation is about, and whether nobody answered it yet."""
        for index in range(len(messages) - 1, -1, -1):
            if messages[index].role != "user":
                continue
            text = _lines(messages[index].text())
            fitting = [request for request in self._by_request if _stands_in(request, text)]
            if fitting:
                answered = any(message.role == "assistant" for message in messages[index + 1 :])
                return max(fitting, key=len), not answered
            if index == 0 or messages[index - 1].role != "assistant":
                # Not a repair but a request of its own; what stands before it is preamble.
                break
        return None, False

    def _nothing_fits(self) -> str:
        known = "; ".join(f"“{shorten(request, 60)}”" for request in list(self._by_request)[:5])
        return "There is no recorded answer to this request." + (
            f" Use one of these, or choose another chat model: {known}." if known else ""
        )

    async def probe(self) -> Probe:
        """Tell what is recorded."""
        answers = sum(len(rows) for rows in self._by_request.values()) + len(self._sequence)
        return Probe(True, f"{answers} recorded answers to {len(self._by_request)} requests.", self.name)

    async def describe(self) -> ModelDescription:
        """Say that no model runs."""
        sources = {
            row.completion.model for rows in (*self._by_request.values(), self._sequence) for row in rows
        }
        return ModelDescription(
            self.name,
            self.provider,
            f"{FOLDER}/ of this project",
            f"Recorded answers ({', '.join(sorted(sources))}): no model runs, and only recorded requests are answered.",
            local=True,
            recorded=True,
        )

    async def aclose(self) -> None:
        """Do nothing."""


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")


def _stands_in(request: str, text: str) -> bool:
    """Tell whether `request` is `text`, stands in it on lines of its own, or is long enough to be no accident."""
    if not request:
        return not text
    return (
        request == text
        or f"\n{request}\n" in f"\n{text}\n"
        or (len(request) >= _SHORTEST_INLINE and request in text)
    )
