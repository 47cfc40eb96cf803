"""The facts about tool results and tool errors, one function a row of the reference's table, named by the row."""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.engine.translation.scripted import ScriptedModel
from workbench.engine.language_models import Completion, Message, ToolCall
from workbench.engine.tools import (
    ImageContent,
    RefusedArgumentsError,
    TextContent,
    Tool,
    ToolContext,
    ToolDefinition,
    ToolExecution,
    ToolExecutionResult,
    ToolExecutionResultBuilder,
    ToolPolicies,
    UnknownToolError,
    execute_tool,
    read_arguments,
    run_tools,
)


def builder() -> ToolExecutionResultBuilder:
    return ToolExecutionResult.builder()


def lazy(texts: list[str | None]) -> tuple[ToolExecutionResultBuilder, list[int]]:
    """Return a builder with a supplier that gives `texts` in turn, and a list that grows with each call of it."""
    asked: list[int] = []

    def supply() -> str | None:
        asked.append(1)
        return texts[min(len(asked), len(texts)) - 1]

    return builder().result_text_supplier(supply), asked


def call(tool: Tool, arguments: str = "{}", policies: ToolPolicies | None = None) -> ToolExecution:
    return asyncio.run(execute_tool(ToolCall("1", tool.name, arguments), [tool], policies))


def raising(error: BaseException) -> Tool:
    def fail(arguments: dict[str, Any]) -> Any:
        raise error

    return Tool(ToolDefinition("t"), fail)


def a9_1_defaults_and_what_never_reaches_the_model() -> None:
    plain = builder().result_text("t").build()
    assert (plain.is_error, plain.result, dict(plain.attributes)) == (False, None, {})
    kept = builder().result_text("t").result({"raw": 1}).attributes({"trace": 2}).build()
    execution = ToolExecution(ToolCall("1", "t", "{}"), kept)
    assert execution.message().content == "t"
    assert execution.to_json()["not_sent"] == {"result": {"raw": 1}, "attributes": {"trace": 2}}


def a9_2_exactly_one_of_three_checked_when_built_in_any_order() -> None:
    with pytest.raises(ValueError, match="One of"):
        builder().build()
    two = builder().result_contents([TextContent("c")]).result_text("t")
    with pytest.raises(ValueError, match="exclusive"):
        two.build()
    with pytest.raises(ValueError, match="exclusive"):
        two.result_text_supplier(lambda: "s").build()
    assert two.result_text(None).result_text_supplier(None).build().result_text() == "c"


def a9_3_none_and_no_contents_are_not_set_but_empty_and_blank_texts_are() -> None:
    for unset in (
        builder().result_text(None),
        builder().result_contents([]),
        builder().result_contents(None),
    ):
        with pytest.raises(ValueError, match="One of"):
            unset.build()
    with pytest.raises(ValueError, match="One of"):
        builder().result_text_supplier(None).build()
    assert [builder().result_text(text).build().result_text() for text in ("", " \n")] == ["", " \n"]


def a9_4_contents_are_canonical_and_a_text_is_one_of_them() -> None:
    assert builder().result_text("t").build().result_contents() == [TextContent("t")]
    for contents in ([TextContent("a"), TextContent("b")], [ImageContent(url="https://x.test/a.png")]):
        result = builder().result_contents(contents).build()
        with pytest.raises(ValueError, match="result_contents"):
            result.result_text()


def a9_5_only_contents_and_text_ask_a_supplier_and_only_once() -> None:
    made, asked = lazy(["t"])
    result = made.result(1).attributes({"a": 1}).build()
    _ = (result.is_error, result.result, result.attributes, result.to_builder(), repr(result))
    assert asked == []
    assert (result.result_text(), result.result_contents(), result.result_text()) == (
        "t", [TextContent("t")], "t",
    )  # fmt: skip
    assert len(asked) == 1


def a9_6_contention_asks_once_and_a_supplier_that_raises_is_asked_again() -> None:
    made, asked = lazy(["t"])
    result = made.build()
    threads = [threading.Thread(target=result.result_text) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(asked) == 1
    answers: list[Any] = [OSError("not yet"), "now"]

    def supply() -> str:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return str(answer)

    late = builder().result_text_supplier(supply).build()
    with pytest.raises(OSError, match="not yet"):
        late.result_text()
    assert late.result_text() == "now"


def a9_7_a_supplier_of_nothing_gives_no_contents_which_cannot_be_sent() -> None:
    made, asked = lazy([None])
    result = made.build()
    assert result.result_contents() == []
    with pytest.raises(ValueError, match="result_contents"):
        result.result_text()
    with pytest.raises(ValueError, match="without contents"):
        ToolExecution(ToolCall("1", "t", "{}"), result).message()
    assert len(asked) == 1


def a9_8_equality_by_error_result_contents_and_attributes() -> None:
    def made(**changes: Any) -> ToolExecutionResult:
        values = {"error": False, "result": 1, "text": "t", "attributes": {"a": 1}, **changes}
        return (
            builder()
            .is_error(values["error"])
            .result(values["result"])
            .result_text(values["text"])
            .attributes(values["attributes"])
            .build()
        )

    again = lazy(["t"])[0].result(1).attributes({"a": 1}).build()
    assert (again, hash(again)) == (made(), hash(made()))
    for change in ({"error": True}, {"result": 2}, {"text": "u"}, {"attributes": {"a": 2}}):
        assert made(**change) != made()


def a9_9_contents_and_attributes_are_copies_that_cannot_be_changed() -> None:
    contents, attributes = [TextContent("a")], {"a": 1}
    result = builder().result_contents(contents).attributes(attributes).build()
    contents.append(TextContent("b"))
    attributes["b"] = 2
    result.result_contents().append(TextContent("c"))
    assert (result.result_contents(), dict(result.attributes)) == ([TextContent("a")], {"a": 1})
    with pytest.raises(TypeError):
        result.attributes["c"] = 3  # type: ignore[index]
    assert dict(builder().result_text("t").attributes(None).build().attributes) == {}


def a9_10_a_builder_of_a_result_holds_all_of_it_and_attributes_are_replaced() -> None:
    made, asked = lazy(["t"])
    result = made.result(1).is_error(True).attributes({"a": 1}).build()
    copy = result.to_builder().attributes({"b": 2}).build()
    assert asked == []
    assert (copy.is_error, copy.result, dict(copy.attributes)) == (True, 1, {"b": 2})
    assert (result.result_text(), copy.result_text(), len(asked)) == ("t", "t", 1)
    with pytest.raises(ValueError, match="exclusive"):
        result.to_builder().result_text("other").build()
    assert result.to_builder().result_contents(None).result_text("other").build().result_text() == "other"


def a9_11_the_builder_has_every_member_of_the_published_page_and_of_the_newer_source() -> None:
    members = {name for name, _ in inspect.getmembers(ToolExecutionResultBuilder) if not name.startswith("_")}
    assert members == {
        "attributes", "build", "is_error", "result", "result_contents", "result_text", "result_text_supplier",
    }  # fmt: skip


def a9_12_a_message_has_contents_and_says_whether_it_is_an_error_or_that_nobody_knows() -> None:
    assert call(Tool(ToolDefinition("t"), lambda a: "ok")).message().is_error is False
    assert call(raising(ValueError("x"))).message().is_error is True
    assert Message("tool", "t", tool_call_id="1").is_error is None


def a9_13_an_execution_has_a_duration_only_with_start_and_end_and_equals_without_context() -> None:
    one = call(Tool(ToolDefinition("t"), lambda a: "ok"))
    assert one.context is not None
    assert one.elapsed_ms is not None
    bare = ToolExecution(one.call, one.result)
    assert (bare == one, bare.elapsed_ms, bare.has_failed) == (True, None, False)
    assert ToolExecution(one.call, one.result, started_at=1.0).elapsed_ms is None
    assert ToolExecution(one.call, one.result, started_at=1.0, finished_at=1.5).elapsed_ms == 500


def a9_14_handlers_get_the_cause_and_a_context_and_may_stop_the_flow() -> None:
    seen: list[tuple[str, BaseException, ToolContext]] = []

    def handler(kind: str) -> Callable[[BaseException, ToolContext], str]:
        def handle(error: BaseException, context: ToolContext) -> str:
            seen.append((kind, error, context))
            return f"{kind} told"

        return handle

    policies = ToolPolicies(on_bad_arguments=handler("arguments"), on_execution_error=handler("execution"))
    wrapped = RuntimeError("wrapper")
    wrapped.__cause__ = KeyError("real")
    told = call(raising(wrapped), policies=policies)
    assert (told.has_failed, told.result.result_text()) == (True, "execution told")
    refused = call(raising(RefusedArgumentsError("no such day")), policies=policies)
    assert refused.result.result_text() == "arguments told"
    assert [(kind, type(error), context.call.name) for kind, error, context in seen] == [
        ("execution", KeyError, "t"),
        ("arguments", RefusedArgumentsError, "t"),
    ]
    assert seen[0][2].error is wrapped
    nothing: Any = lambda error, context: None  # noqa: E731
    with pytest.raises(TypeError, match="not a text") as raised:
        call(raising(wrapped), policies=ToolPolicies(on_execution_error=nothing))
    assert raised.value.__cause__ is wrapped


def a9_15_by_default_all_errors_are_told_and_each_can_be_raised() -> None:
    assert call(raising(ValueError(" "))).result.result_text() == "ValueError"
    for error, policies in (
        (OSError("x"), ToolPolicies(execution_error="raise")),
        (RefusedArgumentsError("x"), ToolPolicies(bad_arguments="raise")),
    ):
        with pytest.raises(type(error)):
            call(raising(error), policies=policies)
    with pytest.raises(UnknownToolError, match="nowhere"):
        asyncio.run(execute_tool(ToolCall("1", "nowhere", "{}"), [], ToolPolicies(unknown_tool="raise")))


def a9_16_an_invented_name_is_an_error_that_lists_and_suggests_names() -> None:
    tools = [Tool(ToolDefinition(name), lambda a: "x") for name in ("weather", "clock")]
    execution = asyncio.run(execute_tool(ToolCall("1", "wether", "{}"), tools))
    text = execution.result.result_text()
    assert execution.message().is_error
    assert "Did you mean 'weather'" in text
    assert "clock" in text


def a9_17_before_runs_for_unknown_tools_and_after_has_the_time_of_handled_errors() -> None:
    before: list[str] = []
    after: list[ToolExecution] = []
    hooks: dict[str, Any] = {"before": lambda call: before.append(call.name), "after": after.append}
    asyncio.run(execute_tool(ToolCall("1", "nowhere", "{}"), [], ToolPolicies(**hooks)))
    call(raising(ValueError("x")), policies=ToolPolicies(**hooks))
    with pytest.raises(ValueError, match="x"):
        call(raising(ValueError("x")), policies=ToolPolicies(execution_error="raise", **hooks))
    assert before == ["nowhere", "t", "t"]
    assert [each.elapsed_ms is not None for each in after] == [False, True]


def a9_18_arguments_are_read_as_they_were_meant_and_strings_stay_whole() -> None:
    schema = {
        "type": "object",
        "properties": {
            "s": {"type": "string"},
            "n": {"type": ["integer", "null"]},
            "d": {"type": "string", "default": "en"},
            "deep": {"type": "array", "items": {"properties": {"x": {"type": "number"}}}},
        },
    }

    def read(text: str) -> dict[str, Any]:
        found = read_arguments(text, schema)
        assert found.ok, found.diagnostics
        return {key: value for key, value in found.value.items() if key != "d" or value != "en"}

    assert read("  ") == {}
    assert read('"{\\"s\\": \\"a,}\\",}"') == {"s": "a,}"}
    assert read('"{"s": "a"}"') == {"s": "a"}
    assert read('{"s": {"k": [1, true]}}') == {"s": '{"k": [1, true]}'}
    assert read('{"n": "9007199254740993"}') == {"n": 9007199254740993}
    assert read('{"n": null}') == {"n": None}
    assert read('{"deep": [{"x": "1.5"}, {"x": 2}]}') == {"deep": [{"x": 1.5}, {"x": 2}]}
    assert not read_arguments('{"s": null}', schema).ok
    assert not read_arguments('{"n": "1.5"}', schema).ok
    (note, default) = read_arguments('{"deep": [{"x": "1.5"}]}', schema).notes[::-1]
    assert note.startswith("/deep/0/x ")
    assert default.startswith("/d ")


def a9_19_what_is_returned_becomes_text_and_images_pass() -> None:
    def text(value: Any) -> Any:
        return call(Tool(ToolDefinition("t"), lambda a: value)).message().content

    assert [text(None), text("as is"), text(True), text({"ä": [1]})] == [
        "Done.", "as is", "true", '{"ä": [1]}',
    ]  # fmt: skip
    (part,) = text(ImageContent(data="aGk="))
    assert part["image_url"]["url"] == "data:image/png;base64,aGk="
    assert call(Tool(ToolDefinition("t"), lambda a: {1, 2})).result.result == {1, 2}


def a9_20_equal_calls_keep_their_places_and_round_trips_end_typed() -> None:
    seen: list[tuple[int, int]] = []

    def echo(arguments: dict[str, Any]) -> str:
        return json.dumps(arguments)

    def after(execution: ToolExecution) -> None:
        assert execution.context is not None
        seen.append((execution.context.round_trip, execution.context.position))

    same = Completion(
        "", "tool_calls", tool_calls=(ToolCall("", "e", '{"a":1}'), ToolCall("", "e", '{"a":1}'))
    )
    result = asyncio.run(
        run_tools(
            ScriptedModel(same, same, same),
            [Message("user", "go")],
            [Tool(ToolDefinition("e"), echo)],
            policies=ToolPolicies(max_round_trips=2, after=after),
        )
    )
    assert result.outcome == "limit"
    assert len([m for m in result.messages if m.role == "tool"]) == 4
    assert sorted(seen) == [(1, 0), (1, 1), (2, 0), (2, 1)]
    assert ToolPolicies().max_round_trips == 100


FACTS = [value for name, value in sorted(globals().items()) if name.startswith("a9_")]


@pytest.mark.parametrize(
    "fact",
    [pytest.param(f, id=f"A9.{f.__name__.split('_')[1]} {f.__name__.split('_', 2)[2]}") for f in FACTS],
)
def test_fact(fact: Callable[[], None]) -> None:
    fact()


def test_there_is_a_fact_for_every_row() -> None:
    assert {int(fact.__name__.split("_")[1]) for fact in FACTS} == set(range(1, 21))
