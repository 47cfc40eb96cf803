"""Plays back decisions that were recorded in a project, for a project that must work with no model at all.

A recording is a file `recordings/NAME.jsonl` of the project: JSON Lines, in UTF-8, one row per text. Rows of
another `kind` belong to others and are passed over. A decision row is an object with

- `kind`: `"decision"`;
- `text`: the text that was judged, exactly; at the output stage the response;
- `user_message` (optional): at the output stage, the message that the response answers; a row that has one
  counts only together with it;
- `answers`: an object of check names; each value is an object with `probability` (a number from 0 to 1) or
  `refused: true`, and optionally with `question`, the wording that was asked. A check whose wording changed
  since gets no answer from the row;
- `model`: the version that answered.

The first row that fits counts. Answers are marked as recorded wherever they are shown.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from workbench.engine.decisions.errors import DecisionError
from workbench.engine.decisions.model import DecisionModel, ModelInfo
from workbench.engine.decisions.questions import (
    Answer,
    BadAnswer,
    DecisionRequest,
    DecisionResponse,
    Exchange,
    NoAnswer,
    Refusal,
)
from workbench.engine.decisions.wire import named_twice, probability, refused_answer, shown, type_name
from workbench.engine.json_text import parse_json
from workbench.engine.model_settings import ModelSettings
from workbench.engine.text import bad_byte

FOLDER = "recordings"


def decision_row(
    request: DecisionRequest, response: DecisionResponse, *, with_questions: bool = True
) -> dict[str, Any]:
    """Return the row that records `response`; answers that are missing or broken are left out."""
    from workbench.engine.decisions.questions import YesNoAnswer

    answers: dict[str, Any] = {}
    for name, answer in response.answers.items():
        if isinstance(answer, YesNoAnswer):
            answers[name] = {"probability": answer.probability}
        elif isinstance(answer, Refusal):
            answers[name] = {"refused": True}
        else:
            continue
        if with_questions:
            answers[name]["question"] = request.questions[name].text
    text, user_message = _input_parts(request.input)
    row: dict[str, Any] = {"kind": "decision", "text": text}
    if user_message is not None:
        row["user_message"] = user_message
    return {**row, "answers": answers, "model": response.model_name}


class RecordedDecisionModel(DecisionModel):
    """Answers from the rows of recordings; a text that was not recorded is an error."""

    provider = "recorded"

    def __init__(
        self, rows: list[Mapping[str, Any]], *, name: str = "recorded", source: str = FOLDER
    ) -> None:
        self.name = name
        self.source = source
        self._rows: dict[str, list[Mapping[str, Any]]] = {}
        for row in rows:
            self._rows.setdefault(str(row["text"]), []).append(row)

    @classmethod
    def open(cls, settings: ModelSettings, root: Path | None) -> RecordedDecisionModel:
        """Read the recording that the option `recording` names, else all of the project.

        Raises:
            DecisionError: where there is none, or a row is broken (with file and line).
        """
        if root is None:
            raise DecisionError(
                "recorded answers need a project on disk", kind="unavailable", hint="save the project first"
            )
        wanted = settings.options.get("recording")
        files = _files(root, str(wanted) if wanted else None)
        rows = [row for path in files for row in _rows(path)]
        if not rows:
            raise DecisionError(
                f"the project has no recorded decisions in {FOLDER}/",
                kind="unavailable",
                hint="choose another model",
            )
        source = str(wanted) if wanted else FOLDER
        return cls(rows, name=settings.name, source=source)

    async def describe(self) -> ModelInfo:
        """Say that nothing is asked."""
        return ModelInfo(
            self.provider, self.name, None, "Plays back recorded answers; it judges nothing.", local=True
        )

    async def decide(self, request: DecisionRequest) -> DecisionResponse:
        """Return the recorded answers to the text of `request`."""
        started = time.perf_counter()
        text, user_message = _input_parts(request.input)
        row = self._find(text, user_message)
        if row is None:
            raise DecisionError(
                "there is no recorded answer for this text",
                kind="unavailable",
                hint="recordings answer only the texts they were made with; choose another decision model",
            )
        answers = {
            name: _answer(name, question.text, row["answers"]) for name, question in request.questions.items()
        }
        model = row.get("model")
        exchange = Exchange(
            f"recorded:{self.source}",
            json.dumps({"text": text, "questions": list(request.questions)}, ensure_ascii=False, indent=2),
            json.dumps(dict(row), ensure_ascii=False, indent=2),
            0,
            (time.perf_counter() - started) * 1000,
        )
        return DecisionResponse(
            answers, model if isinstance(model, str) else None, None, (exchange,), recorded=True
        )

    def _find(self, text: str, user_message: str | None) -> Mapping[str, Any] | None:
        for row in self._rows.get(text, ()):
            if row.get("user_message") is None or row["user_message"] == user_message:
                return row
        return None


def _answer(name: str, question: str, answers: Mapping[str, Any]) -> Answer:
    entry = answers.get(name)
    if entry is None:
        return NoAnswer(f"The recording contains no answer to question '{name}'")
    if not isinstance(entry, dict):
        return BadAnswer(f"The recorded answer to question '{name}' is {type_name(entry)}")
    if entry.get("question") not in (None, question):
        return NoAnswer(f"The recording answered another wording of '{name}'")
    refused = entry.get("refused")
    if refused is not None and not isinstance(refused, bool):
        return BadAnswer(f"The recorded answer to question '{name}' has an invalid refused: {shown(refused)}")
    if refused is True:
        return refused_answer(name)
    return probability(name, entry.get("probability"), "probability")


def _input_parts(value: str | Mapping[str, Any]) -> tuple[str, str | None]:
    if isinstance(value, str):
        return value, None
    text = value.get("response", "")
    user_message = value.get("userMessage")
    return str(text), user_message if isinstance(user_message, str) else None


def _files(root: Path, wanted: str | None) -> list[Path]:
    folder = root / FOLDER
    if wanted is None:
        return sorted(path for path in folder.glob("*.jsonl") if _inside(path, root))
    for candidate in (folder / wanted, folder / f"{wanted}.jsonl", root / wanted):
        if _is_file(candidate):
            if not _inside(candidate, root):
                raise DecisionError(f"the recording {wanted} lies outside the project", kind="configuration")
            return [candidate]
    raise DecisionError(f"the project has no recording {wanted} in {FOLDER}/", kind="unavailable")


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that no file can have
        return False


def _inside(path: Path, root: Path) -> bool:
    return path.resolve().is_relative_to(root.resolve())


def _rows(path: Path) -> Iterator[Mapping[str, Any]]:
    if path.exists() and not path.is_file():  # a named pipe would be waited for without an end
        raise DecisionError(f"{FOLDER}/{path.name} is no regular file", kind="configuration")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DecisionError(f"{FOLDER}/{path.name} cannot be read: {error}", kind="configuration") from error
    except UnicodeDecodeError as error:
        at, words = bad_byte(error)
        raise DecisionError(f"{FOLDER}/{path.name}:{at}: {words}", kind="configuration") from error
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        document = parse_json(line)
        place = f"{FOLDER}/{path.name}:{number}"
        if not document.ok:
            raise DecisionError(f"{place}: {document.diagnostics[0].message}", kind="configuration")
        row = document.value
        if not isinstance(row, dict) or row.get("kind") != "decision":
            continue
        if (twice := named_twice(document)) is not None:
            raise DecisionError(f"{place}: {twice}", kind="configuration")
        if not isinstance(row.get("text"), str) or not isinstance(row.get("answers"), dict):
            raise DecisionError(
                f"{place}: a decision row needs a text 'text' and an object 'answers'", kind="configuration"
            )
        yield row
