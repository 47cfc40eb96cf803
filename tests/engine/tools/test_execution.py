"""One tool call: what comes of a good one, and what of every way in which it can go wrong."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from workbench.engine.language_models import ToolCall
from workbench.engine.tools import (
    ImageContent,
    Simulation,
    TextContent,
    Tool,
    ToolArgumentsError,
    ToolContext,
    ToolDefinition,
    ToolExecution,
    ToolExecutionResult,
    ToolPolicies,
    UnknownToolError,
    check_tools,
    execute_tool,
    simulated_tool,
)

PARAMETERS = json.dumps(
    {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    }
)
WEATHER = ToolDefinition("weather", "Tells the weather.", PARAMETERS)
FREE = ToolDefinition("free")


def execute(
    tools: list[Tool], name: str, arguments: str = "{}", policies: ToolPolicies | None = None
) -> ToolExecution:
    return asyncio.run(execute_tool(ToolCall("call-1", name, arguments), tools, policies))


def returns(value: Any) -> list[Tool]:
    return [Tool(FREE, lambda arguments: value)]


CONTENTS = [TextContent("see"), ImageContent(data="aGk=")]
RETURNS = [
    pytest.param(None, "Done.", id="nothing"),
    pytest.param("as it is", "as it is", id="text"),
    pytest.param("", "", id="D16 empty text"),
    pytest.param({"ä": [1, 2.0, None]}, '{"ä": [1, 2.0, null]}', id="JSON"),
    pytest.param(12345678901234567890, "12345678901234567890", id="big integer"),
    pytest.param(TextContent("one"), "one", id="content"),
    pytest.param(ToolExecutionResult.builder().result_text("r").build(), "r", id="result"),
]


@pytest.mark.parametrize(("value", "text"), RETURNS)
def test_what_a_tool_returns_becomes_the_text_for_the_model(value: Any, text: str) -> None:
    execution = execute(returns(value), "free")
    assert not execution.has_failed
    assert execution.message().text() == text
    assert execution.message().tool_call_id == "call-1"


def test_contents_pass_as_contents() -> None:
    execution = execute(returns(CONTENTS), "free")
    assert execution.message().content == (
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
    )


def test_raw_result_and_attributes_do_not_reach_the_model_T112() -> None:  # noqa: N802
    result = (
        ToolExecutionResult.builder()
        .result({"secret": 1})
        .attributes({"trace": "t-1"})
        .result_text("ok")
        .build()
    )
    execution = execute(returns(result), "free")
    message = execution.message()
    assert message.content == "ok"
    assert "secret" not in repr(message)
    assert "t-1" not in repr(message)
    told = execution.to_json()
    assert told["not_sent"] == {"result": {"secret": 1}, "attributes": {"trace": "t-1"}}
    assert told["sent"] == {"contents": [{"type": "text", "text": "ok"}]}


def test_plain_and_asynchronous_tools_get_their_arguments() -> None:
    async def later(arguments: dict[str, Any]) -> str:
        await asyncio.sleep(0)
        return f"sun over {arguments['city']}"

    for function in (later, lambda arguments: f"sun over {arguments['city']}"):
        execution = execute([Tool(WEATHER, function)], "weather", '{"city": "Oslo"}')
        assert execution.result.result_text() == "sun over Oslo"


def failing(error: Exception) -> list[Tool]:
    def fail(arguments: dict[str, Any]) -> Any:
        raise error

    return [Tool(FREE, fail)]


@pytest.mark.parametrize(
    ("error", "text"),
    [
        pytest.param(ValueError("no such order"), "no such order", id="message"),
        pytest.param(ValueError(), "ValueError", id="T113 D16"),
        pytest.param(ValueError("  "), "ValueError", id="T113 blank"),
    ],
)
def test_what_a_tool_raises_is_told_to_the_model(error: Exception, text: str) -> None:
    execution = execute(failing(error), "free")
    assert (execution.has_failed, execution.result.result_text()) == (True, text)


def test_the_cause_is_what_the_model_reads() -> None:
    error = RuntimeError("wrapper")
    error.__cause__ = KeyError("the real thing")
    assert "the real thing" in execute(failing(error), "free").result.result_text()


def test_a_tool_error_is_raised_by_policy() -> None:
    with pytest.raises(ValueError, match="no such order"):
        execute(failing(ValueError("no such order")), "free", policies=ToolPolicies(execution_error="raise"))


def test_handlers_give_the_text_and_may_stop_the_flow() -> None:
    policies = ToolPolicies(
        on_execution_error=lambda error, context: f"{context.call.name}: {type(error).__name__}"
    )
    execution = execute(failing(ValueError("secret path")), "free", policies=policies)
    assert (execution.has_failed, execution.result.result_text()) == (True, "free: ValueError")

    def stop(error: BaseException, context: ToolContext) -> str:
        raise LookupError("stopped")

    with pytest.raises(LookupError, match="stopped"):
        execute(failing(ValueError()), "free", policies=ToolPolicies(on_execution_error=stop))


def test_an_unknown_tool_is_answered_with_the_names_there_are_T114() -> None:  # noqa: N802
    execution = execute([Tool(WEATHER, lambda a: "x")], "wether")
    text = execution.result.result_text()
    assert execution.has_failed
    assert "'wether'" in text
    assert "Did you mean 'weather'" in text


def test_an_unknown_tool_is_raised_by_policy_T114() -> None:  # noqa: N802
    with pytest.raises(UnknownToolError, match="wether") as raised:
        execute([Tool(WEATHER, lambda a: "x")], "wether", policies=ToolPolicies(unknown_tool="raise"))
    assert raised.value.call.name == "wether"


@pytest.mark.parametrize("arguments", ["{}", '{"city": 1, "x": 2}', "nonsense", "[]"])
def test_bad_arguments_are_told_raised_or_handled_and_never_executed(arguments: str) -> None:
    called: list[Any] = []
    tools = [Tool(WEATHER, called.append)]
    execution = execute(tools, "weather", arguments)
    assert execution.has_failed
    assert "weather" in execution.result.result_text()
    with pytest.raises(ToolArgumentsError) as raised:
        execute(tools, "weather", arguments, ToolPolicies(bad_arguments="raise"))
    assert raised.value.diagnostics
    handled = execute(
        tools, "weather", arguments, ToolPolicies(on_bad_arguments=lambda error, context: "try again")
    )
    assert (handled.has_failed, handled.result.result_text()) == (True, "try again")
    assert called == []


def test_before_runs_for_every_call_and_after_for_every_result() -> None:
    seen: list[str] = []
    policies = ToolPolicies(
        before=lambda call: seen.append(f"before {call.name}"),
        after=lambda execution: seen.append(f"after {execution.has_failed}"),
    )
    execute([], "nothing", policies=policies)
    execute(failing(ValueError("x")), "free", policies=policies)
    assert seen == ["before nothing", "after True", "before free", "after True"]
    seen.clear()
    strict = ToolPolicies(execution_error="raise", before=policies.before, after=policies.after)
    with pytest.raises(ValueError, match="x"):
        execute(failing(ValueError("x")), "free", policies=strict)
    assert seen == ["before free"]


def test_a_lazy_text_that_fails_is_a_failure_of_the_tool() -> None:
    def broken() -> str:
        raise OSError("disk gone")

    result = ToolExecutionResult.builder().result_text_supplier(broken).build()
    execution = execute(returns(result), "free")
    assert (execution.has_failed, execution.result.result_text()) == (True, "disk gone")


# --- simulated tools ----------------------------------------------------------------------------------------

SIMULATIONS = [
    pytest.param(Simulation(text="sunny"), False, "sunny", "sunny", id="text"),
    pytest.param(Simulation(text=""), False, "", "", id="empty text"),
    pytest.param(Simulation(json='{ "t" : [1, 2.0] }'), False, '{"t": [1, 2.0]}', {"t": [1, 2.0]}, id="JSON"),
    pytest.param(Simulation(error="no weather today"), True, "no weather today", None, id="error"),
    pytest.param(Simulation(contents=({"type": "text", "text": "a"},)), False, "a", None, id="contents"),
]


@pytest.mark.parametrize(("simulation", "failed", "text", "raw"), SIMULATIONS)
def test_a_simulated_tool_answers_what_the_project_says(
    simulation: Simulation, failed: bool, text: str, raw: Any
) -> None:
    tool = simulated_tool(ToolDefinition("weather", "", PARAMETERS, simulation))
    execution = execute([tool], "weather", '{"city": "Oslo"}')
    assert (execution.has_failed, execution.result.result_text(), execution.result.result) == (
        failed,
        text,
        raw,
    )


def test_a_simulated_tool_takes_its_time_and_validates_its_arguments() -> None:
    tool = simulated_tool(ToolDefinition("weather", "", PARAMETERS, Simulation(text="x", delay_ms=60)))
    elapsed = execute([tool], "weather", '{"city": "Oslo"}').elapsed_ms
    assert elapsed is not None
    assert elapsed >= 50
    refused = execute([tool], "weather", "{}")
    assert (refused.has_failed, refused.elapsed_ms) == (True, None)


WRONG = [
    pytest.param(ToolDefinition("t", simulate=Simulation()), "says nothing", id="nothing"),
    pytest.param(ToolDefinition("t", simulate=Simulation(text="a", error="b")), "text and error", id="two"),
    pytest.param(ToolDefinition("t", simulate=Simulation(json="{")), "JSON", id="broken JSON"),
    pytest.param(ToolDefinition("t", simulate=Simulation(contents=())), "empty", id="no contents"),
    pytest.param(
        ToolDefinition("t", simulate=Simulation(contents=({"type": "sound"},))), "Content 1", id="kind"
    ),
    pytest.param(ToolDefinition("t", simulate=Simulation(contents=({"type": "image"},))), "url", id="image"),
    pytest.param(ToolDefinition("t", simulate=Simulation(text="a", delay_ms=-1)), "negative", id="delay"),
    pytest.param(ToolDefinition("bad name"), "name", id="name"),
    pytest.param(ToolDefinition("t", parameters='{"type": "strin"}'), "t", id="schema"),
    pytest.param(ToolDefinition("t", parameters='{"type": "array"}'), "object", id="no object"),
    pytest.param(ToolDefinition("t", parameters="{"), "t", id="schema is no JSON"),
]


@pytest.mark.parametrize(("definition", "word"), WRONG)
def test_a_wrong_definition_is_named(definition: ToolDefinition, word: str) -> None:
    assert any(word in problem.message for problem in check_tools([definition]))
    if definition.simulate is not None:
        with pytest.raises(ValueError):
            simulated_tool(definition)


def test_a_good_definition_has_no_diagnostics_and_a_doubled_name_has() -> None:
    good = ToolDefinition("weather", "", PARAMETERS, Simulation(text="x"))
    assert check_tools([good]) == []
    assert "Two tools" in check_tools([good, good])[0].message


def test_a_tool_without_a_simulation_cannot_be_simulated() -> None:
    with pytest.raises(ValueError, match="no simulation"):
        simulated_tool(WEATHER)
