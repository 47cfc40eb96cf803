"""Recorded answers are played for exactly the text, the wording and the stage they were made with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.engine.decisions.support import REQUEST, run
from workbench.engine.decisions import (
    BadAnswer,
    DecisionError,
    DecisionRequest,
    DecisionResponse,
    NoAnswer,
    Refusal,
    YesNoAnswer,
    YesNoQuestion,
    decision_model_available,
    open_decision_model,
)
from workbench.engine.decisions.recorded import decision_row
from workbench.engine.model_settings import ModelSettings

SETTINGS = ModelSettings("replay", "recorded")


def project(tmp_path: Path, *rows: Any, name: str = "demo") -> Path:
    folder = tmp_path / "recordings"
    folder.mkdir(exist_ok=True)
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def ask_recorded(
    root: Path, request: DecisionRequest, settings: ModelSettings = SETTINGS
) -> DecisionResponse:
    return run(open_decision_model(settings, root=root).decide(request))


def test_an_answer_is_played_and_marked_as_recorded(tmp_path: Path) -> None:
    row = {
        "kind": "decision",
        "text": "Where is my parcel?",
        "answers": {"a": {"probability": 0.1}, "b": {"refused": True}},
        "model": "m-1.2",
    }
    response = ask_recorded(project(tmp_path, {"kind": "chat"}, row), REQUEST)
    assert response.recorded
    assert response.model_name == "m-1.2"
    assert response.yes_no("a").probability == 0.1
    assert isinstance(response.answers["b"], Refusal)


def test_what_was_recorded_is_what_is_played(tmp_path: Path) -> None:
    asked = DecisionResponse({"a": YesNoAnswer(0.123456789), "b": NoAnswer("-")}, "m")
    response = ask_recorded(project(tmp_path, decision_row(REQUEST, asked)), REQUEST)
    assert response.yes_no("a").probability == 0.123456789
    assert isinstance(response.answers["b"], NoAnswer)


def test_another_wording_gets_no_answer(tmp_path: Path) -> None:
    asked = DecisionResponse({"a": YesNoAnswer(0.1), "b": YesNoAnswer(0.2)}, "m")
    root = project(tmp_path, decision_row(REQUEST, asked))
    changed = DecisionRequest(REQUEST.input, {**REQUEST.questions, "a": YesNoQuestion("Is it kind?")})
    answers = ask_recorded(root, changed).answers
    assert answers["a"] == NoAnswer("The recording answered another wording of 'a'")
    assert answers["b"] == YesNoAnswer(0.2)


@pytest.mark.parametrize(
    "entry",
    [
        0.5,
        {"probability": 2},
        {"probability": True},
        {},
        {"refused": "yes", "probability": 0.1},
        {"refused": 1, "probability": 0.1},
    ],
    ids=str,
)
def test_a_broken_entry_is_an_error_of_its_check(tmp_path: Path, entry: Any) -> None:
    row = {
        "kind": "decision",
        "text": "Where is my parcel?",
        "answers": {"a": entry, "b": {"probability": 0.2}},
    }
    answers = ask_recorded(project(tmp_path, row), REQUEST).answers
    assert isinstance(answers["a"], BadAnswer)
    assert answers["b"] == YesNoAnswer(0.2)


def test_another_text_is_an_error_and_never_a_pass(tmp_path: Path) -> None:
    root = project(tmp_path, {"kind": "decision", "text": "x", "answers": {}})
    with pytest.raises(DecisionError, match="no recorded answer for this text"):
        ask_recorded(root, REQUEST)


def test_at_the_output_stage_the_user_message_tells_rows_apart(tmp_path: Path) -> None:
    rows = [
        {"kind": "decision", "text": "No.", "user_message": m, "answers": {"a": {"probability": p}}}
        for m, p in (("one", 0.1), ("two", 0.9))
    ]
    request = DecisionRequest({"userMessage": "two", "response": "No."}, {"a": YesNoQuestion("Rude?")})
    assert ask_recorded(project(tmp_path, *rows), request).yes_no("a").probability == 0.9


def test_one_recording_can_be_chosen(tmp_path: Path) -> None:
    for name, p in (("first", 0.1), ("second", 0.9)):
        row = {"kind": "decision", "text": "Where is my parcel?", "answers": {"a": {"probability": p}}}
        project(tmp_path, row, name=name)
    chosen = ModelSettings("replay", "recorded", options={"recording": "second"})
    assert ask_recorded(tmp_path, REQUEST, chosen).yes_no("a").probability == 0.9
    assert ask_recorded(tmp_path, REQUEST).yes_no("a").probability == 0.1


@pytest.mark.parametrize(
    ("line", "place"),
    [("{", "recordings/demo.jsonl:2"), ('{"kind": "decision", "text": 1}', "recordings/demo.jsonl:2")],
)
def test_a_broken_row_is_named_by_file_and_line(tmp_path: Path, line: str, place: str) -> None:
    root = project(tmp_path, {"kind": "decision", "text": "x", "answers": {}}, line)
    with pytest.raises(DecisionError, match=place):
        open_decision_model(SETTINGS, root=root)


def test_a_recording_outside_the_project_is_not_read(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "outside.jsonl").write_text('{"kind": "decision", "text": "x", "answers": {}}\n')
    settings = ModelSettings("replay", "recorded", options={"recording": "../outside.jsonl"})
    with pytest.raises(DecisionError, match="outside the project"):
        open_decision_model(settings, root=root)


def test_a_project_without_recordings_says_so(tmp_path: Path) -> None:
    assert "no recorded decisions" in (decision_model_available(SETTINGS, tmp_path) or "")
    assert "save the project first" in (decision_model_available(SETTINGS, None) or "")


def test_a_row_with_two_answers_to_one_check_is_refused(tmp_path: Path) -> None:
    other = '{"kind": "chat", "text": "x", "text": "y"}'
    answers = '{"a": {"probability": 0.9}, "a": {"probability": 0.1}}'
    root = project(tmp_path, other, f'{{"kind": "decision", "text": "x", "answers": {answers}}}')
    with pytest.raises(DecisionError, match=r'demo\.jsonl:2: The name "a" occurs twice in one object$'):
        open_decision_model(SETTINGS, root=root)
