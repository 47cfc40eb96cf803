"""What the window and the command line do with a project, from the snapshot to the stored run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from workbench.engine.decisions import (
    DecisionError,
    DecisionModel,
    DecisionRequest,
    DecisionResponse,
    YesNoAnswer,
)
from workbench.engine.events import RunEvent
from workbench.engine.guardrails import LengthCheck, PatternCheck
from workbench.engine.guardrails.settings import CheckSettings, GuardrailSettings
from workbench.engine.history import HistoryError, HistoryStore
from workbench.engine.language_models import Completion, Message
from workbench.engine.model_settings import ModelSettings
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.engine.templates import MessageTemplate, TemplateOptions
from workbench.engine.text import TextFile
from workbench.engine.translation import Failure, Success, TranslationRecord
from workbench.engine.translation.settings import Rule, TranslationSettings
from workbench.engine.workflows import (
    GuardRecord,
    WorkflowError,
    branch_translation,
    chat_settings,
    check_project,
    decision_settings,
    render_project,
    replay_run,
    translate_project,
    validate_project,
)
from workbench.engine.workflows.recording import Recorder

SCHEMA = '{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": false}'


def snapshot(**changes: Any) -> ProjectSnapshot:
    fields: dict[str, Any] = {
        "name": "n",
        "messages": (
            MessageTemplate("system", "S [%param.x%]"),
            MessageTemplate("user", "U [%param.y.z%]\n"),
        ),
        "parameter_sets": {"default": TextFile('{\n "x": 1,\n "y": {"z": "Z"},\n "spare": true\n}')},
        "output_schema": TextFile(SCHEMA),
        "input_guardrail": GuardrailSettings(
            0.5, (CheckSettings("bad", "Is it bad?"), CheckSettings("odd", "Odd?", 0.9))
        ),
    }
    return ProjectSnapshot(**{**fields, **changes})


class Decisions(DecisionModel):
    """Answers the same probability to everything, or fails."""

    name = "fixed"

    def __init__(self, probability: float | Exception) -> None:
        self.probability = probability
        self.asked: list[DecisionRequest] = []

    async def decide(self, request: DecisionRequest) -> DecisionResponse:
        self.asked.append(request)
        if isinstance(self.probability, Exception):
            raise self.probability
        answers = {name: YesNoAnswer(self.probability) for name in request.questions}
        return DecisionResponse(answers=answers, model_name="fixed-1")


class Scripted:
    """A chat model that says what it was told to, one reply a call."""

    name = "scripted"

    def __init__(self, *replies: str) -> None:
        self.replies = list(replies)
        self.asked: list[Sequence[Message]] = []
        self.waiting = asyncio.Event()

    async def complete(self, messages: Sequence[Message], **_: Any) -> Completion:
        self.asked.append(tuple(messages))
        if not self.replies:
            self.waiting.set()
            await asyncio.sleep(30)
        return Completion(text=self.replies.pop(0))

    async def aclose(self) -> None:
        pass


def test_several_messages_stand_under_their_roles_and_one_stands_alone() -> None:
    assert render_project(snapshot()).text() == "--- system ---\nS 1\n--- user ---\nU Z\n"
    assert (
        render_project(snapshot(messages=(MessageTemplate("user", "only [%param.x%]"),))).text() == "only 1"
    )


def test_an_unused_parameter_is_shown_at_its_line_in_its_file() -> None:
    [found] = [d for d in render_project(snapshot()).diagnostics if d.pointer == "/spare"]
    assert (found.file, found.line, found.column) == ("parameters/default.json", 4, 2)


def test_of_a_graph_that_cannot_be_read_no_parameter_is_called_unused() -> None:
    assert render_project(snapshot(graph=TextFile("{}"))).diagnostics
    broken = render_project(snapshot(graph=TextFile('{"a": ')))
    assert {d.severity for d in broken.diagnostics} == {"error"}


def test_parameters_are_held_against_their_schema() -> None:
    schema = TextFile('{"properties": {"x": {"type": "string"}}}')
    found = render_project(snapshot(parameters_schema=schema)).diagnostics
    [error] = [d for d in found if d.severity == "error"]
    assert (error.file, error.line, error.pointer, error.keyword) == (
        "parameters/default.json",
        2,
        "/x",
        "type",
    )
    assert not [
        d for d in render_project(snapshot(parameters_schema=schema), validate=False).diagnostics if d.keyword
    ]


def test_broken_parameters_fill_nothing_and_say_where_they_break() -> None:
    rendering = render_project(snapshot(parameter_sets={"default": TextFile('{"x": }')}))
    assert rendering.parameters.ok is False
    assert rendering.diagnostics[0].file == "parameters/default.json"
    assert len(rendering.unresolved) == 2


def test_an_object_graph_is_filled_instead_of_messages() -> None:
    graph = TextFile('{"messages": [{"content": "[%param.x%]"}], "n": null}')
    rendering = render_project(snapshot(messages=(), graph=graph))
    assert json.loads(rendering.text()) == {"messages": [{"content": "1"}], "n": None}
    assert [use.node for use in rendering.placeholders] == ["/messages/0/content"]


def test_a_problem_in_an_object_graph_has_its_place_in_the_file() -> None:
    text = '{"m": [\n  "tab\\t[%param.no%]"\n]}'
    rendering = render_project(snapshot(messages=(), graph=TextFile(text)))
    problem = next(d for d in rendering.diagnostics if d.node == "/m/0")
    assert (problem.file, problem.line, text[problem.start : problem.end]) == (
        "graph.json",
        2,
        "[%param.no%]",
    )


def test_names_of_a_graph_that_become_one_are_a_problem_and_no_crash() -> None:
    text = '{"a": {"[%param.x%]": "[%param.x%]", "1": 2}}'
    options = TemplateOptions(replace_keys=True)
    rendering = render_project(snapshot(messages=(), graph=TextFile(text)), options=options)
    assert json.loads(rendering.text()) == {"a": {"[%param.x%]": "1", "1": 2}}
    problem = next(d for d in rendering.diagnostics if d.code == "key_collision")
    assert (problem.severity, problem.pointer, problem.start) == ("error", "/a", 6)


def test_a_check_is_stored_and_replayed_from_its_record() -> None:
    model = Decisions(0.7)
    with HistoryStore.in_memory() as history:
        result = asyncio.run(check_project(snapshot(), "input", "text", model=model, history=history))
        [run] = history.runs()
        replayed = replay_run(history, run.id)
    assert len(model.asked) == 1
    assert result.failed_checks == ("bad",)
    assert (run.kind, run.outcome, run.summary) == ("check", "rejected", "rejected by bad")
    assert isinstance(replayed, GuardRecord)
    assert replayed.result == result
    assert replayed.outcome == "rejected"


def test_a_failed_check_run_is_stored_as_an_error_with_what_the_model_said() -> None:
    with HistoryStore.in_memory() as history:
        with pytest.raises(DecisionError, match="no luck"):
            asyncio.run(
                check_project(
                    snapshot(), "input", "t", model=Decisions(DecisionError("no luck")), history=history
                )
            )
        [run] = history.runs()
        assert (run.outcome, run.summary) == ("error", "no luck")
        assert history.run(run.id).events[-1].data["message"] == "no luck"


def test_a_stage_without_checks_is_an_error_that_says_where_to_add_one() -> None:
    with pytest.raises(WorkflowError, match=r"guardrails\.output\.checks"):
        asyncio.run(check_project(snapshot(), "output", "t", model=Decisions(0.1)))


def test_a_translation_is_repaired_stored_with_its_attempts_and_replayed() -> None:
    model = Scripted('{"a": "1"}', '{"a": 1}')
    live: list[RunEvent] = []
    with HistoryStore.in_memory() as history:
        result = asyncio.run(
            translate_project(snapshot(), "one", model=model, history=history, on_event=live.append)  # type: ignore[arg-type]
        )
        [run] = history.runs()
        replayed = replay_run(history, run.id)
    assert isinstance(result, Success)
    assert result.data == {"a": 1}
    assert (run.outcome, run.summary, [a.outcome for a in run.attempts]) == (
        "ok",
        "1 repair",
        ["invalid", "ok"],
    )
    assert isinstance(replayed, TranslationRecord)
    assert replayed.attempts == result.attempts
    assert len(model.asked) == 2


def test_a_translation_that_never_holds_is_stored_under_its_outcome() -> None:
    with HistoryStore.in_memory() as history:
        result = asyncio.run(
            translate_project(snapshot(), "one", model=Scripted("no", "never"), history=history)  # type: ignore[arg-type]
        )
        [run] = history.runs()
    assert isinstance(result, Failure)
    assert run.outcome == result.code == "no_json"


def test_the_filled_template_goes_in_front_and_a_missing_value_stops_the_send() -> None:
    settings = TranslationSettings(preamble="template")
    model = Scripted('{"a": 1}')
    asyncio.run(translate_project(snapshot(translation=settings), "one", model=model))  # type: ignore[arg-type]
    assert [message.text() for message in model.asked[0]][:2] == ["S 1", "U Z\n"]
    unfilled = snapshot(translation=settings, parameter_sets={"default": TextFile('{"x": 1}')})
    model = Scripted('{"a": 1}')
    with pytest.raises(WorkflowError, match=r"param\.y\.z"):
        asyncio.run(translate_project(unfilled, "one", model=model))  # type: ignore[arg-type]
    assert model.asked == []


def test_a_cancelled_translation_keeps_what_happened_and_is_marked() -> None:
    async def cancelled(history: HistoryStore) -> None:
        model = Scripted('{"a": "1"}')
        task = asyncio.create_task(translate_project(snapshot(), "one", model=model, history=history))  # type: ignore[arg-type]
        await model.waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with HistoryStore.in_memory() as history:
        asyncio.run(cancelled(history))
        [run] = history.runs()
        assert run.outcome == "cancelled"
        record = replay_run(history, run.id)
        assert isinstance(record, TranslationRecord)
        assert record.attempts[0].outcome == "invalid"


def test_a_broken_output_schema_is_found_before_any_model_is_asked() -> None:
    model = Scripted('{"a": 1}')
    broken = snapshot(output_schema=TextFile('{"type": "objekt"}'))
    with pytest.raises(WorkflowError, match=r"output\.schema\.json:1:"):
        asyncio.run(translate_project(broken, "one", model=model))  # type: ignore[arg-type]
    assert model.asked == []


def test_models_are_found_by_name_and_a_wrong_name_lists_the_right_ones() -> None:
    models = {"decision": ModelSettings("decision", "openai"), "other": ModelSettings("other", "sglang")}
    project = snapshot(models=models)
    assert decision_settings(project).provider == "openai"
    assert decision_settings(project, "other").provider == "sglang"
    assert decision_settings(project, "embedded").provider == "embedded"
    assert decision_settings(snapshot()).provider == "embedded"
    with pytest.raises(WorkflowError, match="decision, other"):
        decision_settings(project, "nope")


def test_recorded_replies_answer_where_no_chat_model_can(tmp_path: Path) -> None:
    (tmp_path / "recordings").mkdir()
    (tmp_path / "recordings" / "chat.jsonl").write_text('{"kind": "chat", "request": "x", "reply": "{}"}\n')
    models = {
        "chat": ModelSettings("chat", "gguf", options={"path": "gone.gguf"}),
        "taped": ModelSettings("taped", "recorded"),
    }
    chosen = chat_settings(snapshot(root=tmp_path, models=models))
    assert chosen is not None
    assert chosen.name == "taped"


def test_validation_reads_every_set_and_every_schema(tmp_path: Path) -> None:
    (tmp_path / "parameters").mkdir()
    (tmp_path / "parameters" / "a.json").write_text('{"x": 1}')
    (tmp_path / "parameters" / "b.json").write_text('{"x" 1}')
    (tmp_path / "output.schema.json").write_text('{"type": "objekt"}')
    (tmp_path / "workbench.toml").write_text(
        'format = 1\nname = "n"\n\n[[template.messages]]\nrole = "user"\ncontent = "[%param.x%]"\n'
    )
    files = {d.file for d in validate_project(tmp_path) if d.severity == "error"}
    assert files == {"parameters/b.json", "output.schema.json"}


def test_a_branch_goes_on_from_an_attempt_and_is_stored_under_its_parent() -> None:
    with HistoryStore.in_memory() as history:
        first = asyncio.run(
            translate_project(snapshot(), "one", model=Scripted("{}", '{"b": 1}'), history=history)  # type: ignore[arg-type]
        )
        assert isinstance(first, Failure)
        [parent] = history.runs()
        model = Scripted('{"a": 3}')
        branch = asyncio.run(
            branch_translation(
                snapshot(),
                history,
                parent.id,
                1,
                repair_prompt="Please put a number in a.",
                model=model,  # type: ignore[arg-type]
            )
        )
        newest = history.runs()[0]
        replayed = replay_run(history, newest.id)
    assert isinstance(branch, Success)
    assert branch.data == {"a": 3}
    assert (newest.parent_run, newest.parent_attempt) == (parent.id, 1)
    assert [message.text() for message in model.asked[0]][-2:] == ["{}", "Please put a number in a."]
    assert isinstance(replayed, TranslationRecord)
    assert replayed.value == {"a": 3}


def test_a_branch_with_an_edited_reply_may_hold_at_once_and_asks_nobody() -> None:
    with HistoryStore.in_memory() as history:
        asyncio.run(translate_project(snapshot(), "one", model=Scripted("{}", "{}"), history=history))  # type: ignore[arg-type]
        [parent] = history.runs()
        model = Scripted()
        branch = asyncio.run(
            branch_translation(snapshot(), history, parent.id, 2, reply='{"a": 5}', model=model)
        )  # type: ignore[arg-type]
        with pytest.raises(KeyError, match="no attempt 9"):
            asyncio.run(branch_translation(snapshot(), history, parent.id, 9, model=model))  # type: ignore[arg-type]
    assert isinstance(branch, Success)
    assert branch.data == {"a": 5}
    assert model.asked == []


class FullDisk(HistoryStore):
    """A history whose disk is full from the write named `full` on."""

    full = ""

    def start_run(self, *args: Any, **options: Any) -> int:
        return self._write("start_run", *args, **options)

    def append(self, *args: Any, **options: Any) -> None:
        self._write("append", *args, **options)

    def finish_run(self, *args: Any, **options: Any) -> None:
        self._write("finish_run", *args, **options)

    def _write(self, name: str, *args: Any, **options: Any) -> Any:
        if name == self.full:
            raise HistoryError("history.sqlite: database or disk is full")
        return getattr(super(), name)(*args, **options)


@pytest.mark.parametrize("full", ["start_run", "append", "finish_run"])
def test_a_disk_that_fills_up_does_not_cost_the_answer(full: str) -> None:
    history = FullDisk.in_memory()
    history.full = full
    result = asyncio.run(check_project(snapshot(), "input", "text", model=Decisions(0.7), history=history))
    assert result.verdict in ("passed", "rejected")
    assert history.problem == "history.sqlite: database or disk is full"


def test_a_check_that_cannot_be_asked_is_the_projects_mistake() -> None:
    nameless = GuardrailSettings(0.5, (CheckSettings("", "Is it bad?"),))
    with pytest.raises(WorkflowError, match="check name"):
        asyncio.run(check_project(snapshot(input_guardrail=nameless), "input", "text", model=Decisions(0.7)))


def test_a_rule_that_cannot_be_checked_is_the_projects_mistake() -> None:
    settings = TranslationSettings(rules=(Rule("$.a", "matches", "(", ""),))
    with pytest.raises(WorkflowError, match="pattern"):
        asyncio.run(translate_project(snapshot(translation=settings), "r", model=Scripted('{"a": 1}')))


def test_a_broken_preamble_is_not_sent() -> None:
    broken = snapshot(
        parameter_sets={"default": TextFile('{"x": ')}, translation=TranslationSettings(preamble="template")
    )
    with pytest.raises(WorkflowError, match=r"parameters/default\.json:1:"):
        asyncio.run(translate_project(broken, "r", model=Scripted('{"a": 1}')))


RULES = GuardrailSettings(
    checks=(CheckSettings("long", rule=LengthCheck(3)), CheckSettings("card", rule=PatternCheck(r"\d")))
)


def test_checks_that_ask_no_model_run_though_none_can_be_opened_and_are_stored() -> None:
    nowhere = {"decision": ModelSettings("decision", "gguf", options={"path": "nowhere.gguf"})}
    with HistoryStore.in_memory() as history:
        result = asyncio.run(
            check_project(snapshot(input_guardrail=RULES, models=nowhere), "input", "texts", history=history)
        )
        [run] = history.runs()
        inputs = history.run(run.id).inputs
    assert result.failed_checks == ("long",)
    assert run.summary == "rejected by long"
    assert inputs["checks"][0] == {
        "name": "long", "question": "the text has more than 3 characters", "threshold": 0.5,
        "yes_means": None, "no_means": None, "kind": "length", "max_length": 3,
    }  # fmt: skip


def test_where_the_model_cannot_be_opened_the_error_says_what_the_other_checks_found() -> None:
    nowhere = {"decision": ModelSettings("decision", "gguf", options={"path": "nowhere.gguf"})}
    both = GuardrailSettings(checks=(*RULES.checks, CheckSettings("bad", "Is it bad?")))
    with pytest.raises(DecisionError, match=r"nowhere\.gguf.*long: rejected \(5 characters\), card: passed"):
        asyncio.run(check_project(snapshot(input_guardrail=both, models=nowhere), "input", "texts"))


@pytest.mark.parametrize("late", [False, True], ids=["before-an-event", "before-the-end"])
def test_a_run_that_is_deleted_while_it_goes_on_ends_without_an_error(tmp_path: Path, late: bool) -> None:
    with HistoryStore.open(tmp_path / "history.sqlite") as history:
        recorder = Recorder(history)
        recorder.start("check", "t", {}, model="m")
        assert recorder.run_id is not None
        history.delete(recorder.run_id)
        if not late:
            recorder.add("sent", {})
        recorder.finish("passed", "")
        assert history.runs() == []
        assert history.problem is not None
        assert ("there is no run 1" if late else "the run was deleted meanwhile") in history.problem
