"""Recorded answers are played by request and by attempt, and nothing is made up."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.engine.language_models.helpers import complete
from workbench.engine.language_models import (
    Completion,
    LanguageModel,
    LanguageModelError,
    Message,
    ToolCall,
    Usage,
    language_model_available,
    open_language_model,
    recorded_requests,
    recording_row,
)
from workbench.engine.model_settings import ModelSettings

RECORDED = ModelSettings("recorded", "recorded")


def project(tmp_path: Path, *rows: Any, name: str = "a.jsonl") -> Path:
    folder = tmp_path / "recordings"
    folder.mkdir(exist_ok=True)
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def chat(reply: str, request: str | None = None, **more: Any) -> dict[str, Any]:
    return {"kind": "chat", "reply": reply, **({} if request is None else {"request": request}), **more}


def opened(root: Path, **options: Any) -> LanguageModel:
    return open_language_model(ModelSettings("recorded", "recorded", options=options), root=root)


def prompt(request: str) -> Message:
    return Message("user", f'Turn this into JSON:\n"""\n{request}\n"""\nAnswer with JSON.')


def repair(request: str, reply: str) -> list[Message]:
    return [prompt(request), Message("assistant", reply), Message("user", "That is wrong. Try again.")]


def test_attempts_are_played_in_order_and_a_new_run_begins_again(tmp_path: Path) -> None:
    root = project(tmp_path, chat("first", "a table"), chat("second", "a table"), chat("other", "a room"))
    model = opened(root)
    for _ in range(2):
        assert complete(model, [prompt("a table")]).text == "first"
        assert complete(model, repair("a table", "first")).text == "second"
    assert complete(model, [prompt("a room")]).text == "other"
    assert complete(model, [Message("user", "a table")]).text == "first"


def test_a_played_answer_says_that_it_is_recorded_and_who_gave_it(tmp_path: Path) -> None:
    row = chat("x", "r", model="SmolLM2", usage={"input_tokens": 3}, finish_reason="length", elapsed_ms=700)
    done = complete(opened(project(tmp_path, row)), [prompt("r")])
    assert done.recorded
    assert (done.model, done.usage, done.finish_reason, done.elapsed_ms) == (
        "SmolLM2",
        Usage(3, None),
        "length",
        700,
    )
    by_hand = complete(opened(project(tmp_path, chat("x", "r"))), [prompt("r")])
    assert by_hand.model == "written by hand"


@pytest.mark.parametrize("count", [-5, 10**30, True])
def test_a_recorded_count_that_no_model_reaches_is_unknown(tmp_path: Path, count: int) -> None:
    row = chat("x", "r", usage={"input_tokens": count, "output_tokens": 4})
    assert complete(opened(project(tmp_path, row)), [prompt("r")]).usage == Usage(None, 4)


def test_more_attempts_than_were_recorded_are_an_error(tmp_path: Path) -> None:
    model = opened(project(tmp_path, chat("only", "a table")))
    complete(model, [prompt("a table")])
    with pytest.raises(LanguageModelError, match="no answer 2") as caught:
        complete(model, repair("a table", "only"))
    assert caught.value.kind == "no_recording"


def test_another_request_is_not_answered_with_something_else(tmp_path: Path) -> None:
    model = opened(project(tmp_path, chat("x", "a table for two")))
    with pytest.raises(LanguageModelError, match="a table for two") as caught:
        complete(model, [prompt("a pizza")])
    assert caught.value.kind == "no_recording"


def test_rows_without_a_request_are_the_sequence_for_everything_else(tmp_path: Path) -> None:
    model = opened(project(tmp_path, chat("one"), chat("known", "a table"), chat("two")))
    texts = [complete(model, [prompt(request)]).text for request in ("x", "a table", "y")]
    assert texts == ["one", "known", "two"]
    with pytest.raises(LanguageModelError):
        complete(model, [prompt("z")])


def test_the_longest_request_that_stands_on_its_own_lines_wins(tmp_path: Path) -> None:
    root = project(
        tmp_path,
        chat("short", "book"),
        chat("long", "book\na table"),
        chat("inline", "a rather long request"),
    )
    assert complete(opened(root), [prompt("book\r\na table")]).text == "long"
    assert complete(opened(root), [prompt("book")]).text == "short"
    assert complete(opened(root), [Message("user", "Do a rather long request now")]).text == "inline"
    with pytest.raises(LanguageModelError):
        complete(opened(root), [Message("user", "please book it")])


def test_a_request_in_a_preamble_does_not_hide_the_request_itself(tmp_path: Path) -> None:
    model = opened(project(tmp_path, chat("A", "alpha"), chat("B", "beta")))
    assert complete(model, [Message("user", "alpha"), Message("assistant", "A"), prompt("beta")]).text == "B"


def test_a_recorded_request_in_the_preamble_does_not_answer_another_one(tmp_path: Path) -> None:
    model = opened(project(tmp_path, chat("first", "a table"), chat("second", "a table")))
    with pytest.raises(LanguageModelError, match="no recorded answer"):
        complete(model, [Message("user", "a table"), prompt("a room")])


def test_concurrent_runs_of_different_requests_do_not_disturb_each_other(tmp_path: Path) -> None:
    rows = [chat(f"{r}{n}", r) for r in ("alpha", "beta") for n in (1, 2)]
    model = opened(project(tmp_path, *rows))

    async def run(request: str) -> list[str]:
        first = await model.complete([prompt(request)])
        await asyncio.sleep(0)
        second = await model.complete(repair(request, first.text))
        return [first.text, second.text]

    async def both() -> list[list[str]]:
        return await asyncio.gather(run("alpha"), run("beta"))

    assert asyncio.run(both()) == [["alpha1", "alpha2"], ["beta1", "beta2"]]


def test_an_answer_can_be_streamed(tmp_path: Path) -> None:
    pieces: list[str] = []
    text = "abcdefghij" * 10
    assert (
        complete(opened(project(tmp_path, chat(text, "r"))), [prompt("r")], on_delta=pieces.append).text
        == text
    )
    assert "".join(pieces) == text
    assert len(pieces) > 1


def test_a_refusal_and_tool_calls_can_be_recorded(tmp_path: Path) -> None:
    root = project(
        tmp_path,
        chat("", "a", refusal="No."),
        chat("", "b", tool_calls=[{"name": "f", "arguments": {"x": 1}}]),
    )
    assert complete(opened(root), [prompt("a")]).refusal == "No."
    assert complete(opened(root), [prompt("b")]).tool_calls == (ToolCall("call_0", "f", '{"x": 1}'),)


def test_what_a_model_answered_can_be_recorded_and_played(tmp_path: Path) -> None:
    live = Completion("é {}", "tool_calls", None, Usage(1, None), "m", 12.0, (ToolCall("c", "f", "{}"),))
    root = project(tmp_path, recording_row("the request", live), "")
    played = complete(opened(root), [prompt("the request")])
    assert played == Completion(
        "é {}", "tool_calls", None, Usage(1, None), "m", 12.0, (ToolCall("c", "f", "{}"),), recorded=True
    )


def test_rows_of_other_kinds_and_blank_lines_are_skipped_and_files_are_read_by_name(tmp_path: Path) -> None:
    project(tmp_path, {"kind": "decision", "text": "x"}, "", chat("b", "second"), name="b.jsonl")
    root = project(tmp_path, chat("a", "first"))
    assert recorded_requests(root) == ["first", "second"]
    assert recorded_requests(root, "b.jsonl") == ["second"]
    model = opened(root, recording="recordings/b.jsonl")
    assert complete(model, [prompt("second")]).text == "b"
    with pytest.raises(LanguageModelError):
        complete(model, [prompt("first")])


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{broken", "recordings/a.jsonl:2"),
        ("[1]", "must be an object"),
        ('{"kind": "chat"}', "'reply' must be a text"),
        ('{"kind": "chat", "reply": 1}', "'reply' must be a text"),
        ('{"kind": "chat", "reply": "x", "request": 1}', "'request'"),
        ('{"kind": "chat", "reply": "x", "finish_reason": "tired"}', "'finish_reason'"),
        ('{"kind": "chat", "reply": "x", "usage": 3}', "'usage'"),
        ('{"kind": "chat", "reply": "x", "tool_calls": [{}]}', "'tool_calls'"),
        ('{"kind": "chat", "reply": "x", "elapsed_ms": true}', "'elapsed_ms'"),
    ],
    ids=lambda value: value[:40],
)
def test_a_broken_row_is_named_by_file_and_line(tmp_path: Path, line: str, words: str) -> None:
    root = project(tmp_path, chat("x", "r"), line)
    reason = language_model_available(RECORDED, root)
    assert reason is not None
    assert words in reason
    assert "recordings/a.jsonl:2" in reason
    assert recorded_requests(root) == []


@pytest.mark.parametrize(
    "name", ["../outside.jsonl", "/etc/passwd", "recordings/../../x.jsonl", "sub/x.jsonl", "..", "a\\b.jsonl"]
)
def test_a_recording_lies_in_the_projects_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(LanguageModelError, match="recordings/") as caught:
        opened(project(tmp_path, chat("x", "r")), recording=name)
    assert caught.value.kind == "settings"


def test_a_link_out_of_the_project_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "outside.jsonl").write_text(json.dumps(chat("secret", "r")), encoding="utf-8")
    (tmp_path / "project").mkdir()
    root = project(tmp_path / "project", chat("x", "q"))
    (root / "recordings" / "b.jsonl").symlink_to(tmp_path / "outside.jsonl")
    assert recorded_requests(root) == ["q"]


def test_a_project_without_recordings_says_so(tmp_path: Path) -> None:
    assert "no recorded chat answers" in (language_model_available(RECORDED, tmp_path) or "")
    assert "never saved" in (language_model_available(RECORDED, None) or "")


def test_the_description_says_that_no_model_runs(tmp_path: Path) -> None:
    described = asyncio.run(opened(project(tmp_path, chat("x", "r", model="SmolLM2"))).describe())
    assert described.recorded
    assert "SmolLM2" in described.expectation
    assert "no model runs" in described.expectation
