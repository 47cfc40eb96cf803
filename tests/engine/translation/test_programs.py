"""Programs: their form, what may be called and referenced, their evaluation and their translation."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.engine.translation.scripted import ScriptedModel
from workbench.engine.translation import (
    JsonProgramTranslator,
    ProgramError,
    ProgramFunction,
    ProgramParameter,
    check_program,
    evaluate_program,
    evaluate_program_async,
)

CALLS: list[tuple[Any, ...]] = []


def add(x: float, y: float) -> float:
    """Adds two numbers."""
    return x + y


def keep(*values: Any) -> Any:
    """Gives back what it gets."""
    CALLS.append(values)
    return list(values)


FUNCTIONS = {"add": add, "keep": keep}


def steps(*calls: Any) -> dict[str, Any]:
    return {"@steps": list(calls)}


def call(name: str, *arguments: Any) -> dict[str, Any]:
    return {"@func": name, "@args": list(arguments)}


WRONG = [
    *(pytest.param(steps(call("add", 1, 2), call("keep", {"@ref": ref})), id=f"T100 ref {ref!r}") for ref in (-1, 0.5, True, 5, 1, "0", None)),
    pytest.param(steps(call("add", 1, 2), call("keep", {"@ref": 0, "x": 1})), id="T100 further key"),
    pytest.param(steps(call("keep", {"@ref": 0})), id="reference in the first step"),
    pytest.param(steps(call("keep", call("keep", 1), {"@ref": 0})), id="reference to a nested call"),
    pytest.param(steps({"@func": "keep", "@args": {"x": 1}}), id="T102 arguments are no list"),
    pytest.param(steps({"@func": "keep", "@args": [], "more": 1}), id="T102 further key"),
    pytest.param(steps({"@func": "keep", "@args": None}), id="T102 arguments are null"),
    pytest.param({"@steps": "abc"}, id="T104 text"),
    pytest.param({"@steps": [1]}, id="step is no call"),
    pytest.param({"@steps": [{"x": 1}]}, id="step has no function"),
    pytest.param({"@steps": [], "more": 1}, id="program has a further key"),
    pytest.param([], id="no object"),
    pytest.param(steps(call("eval", "1")), id="not allowed"),
    *(pytest.param(steps(call(name)), id=f"T101 D23 {name}") for name in ("__class__", "hasOwnProperty", "toString", "add; drop", "ａdd", "")),
    pytest.param(steps({"@func": ["add"], "@args": []}), id="name is no text"),
    pytest.param(steps(call("add", 1)), id="too few"),
    pytest.param(steps(call("add", 1, 2, 3)), id="too many"),
    pytest.param(steps(call("add", "1", 2)), id="wrong type"),
    pytest.param(steps(call("keep", call("add", 1))), id="wrong in a nested call"),
    pytest.param(steps(call("keep", {"deep": [{"@ref": 3}]})), id="wrong in a nested object"),
]  # fmt: skip


@pytest.mark.parametrize("program", WRONG)
def test_a_wrong_program_is_refused_by_check_and_by_evaluation_and_calls_nothing(program: Any) -> None:
    CALLS.clear()
    assert check_program(program, FUNCTIONS)
    with pytest.raises(ProgramError) as raised:
        evaluate_program(program, FUNCTIONS)
    assert raised.value.diagnostics
    with pytest.raises(ProgramError):
        asyncio.run(evaluate_program_async(program, FUNCTIONS))
    assert CALLS == []


RIGHT = [
    pytest.param(steps(call("add", 1, 2)), 3, id="one step"),
    pytest.param(steps(call("add", 1, 2), call("add", {"@ref": 0}, call("add", 10, 20))), 33, id="nested"),
    pytest.param(
        steps(call("add", 1, 2), call("add", 4, 5), call("keep", [{"x": {"@ref": 0}}, {"@ref": 1}])),
        [[{"x": 3}, 9]],
        id="T103",
    ),
    pytest.param(steps(), None, id="T104"),
    pytest.param(steps({"@func": "keep"}), [], id="no arguments"),
    pytest.param(steps(call("keep", {"hasOwnProperty": 1, "a": [None]})), [{"hasOwnProperty": 1, "a": [None]}], id="plain objects"),
    pytest.param(steps(call("add", 1, 2), call("keep", {"@ref": 0.0})), [3], id="whole number with a point"),
]  # fmt: skip


@pytest.mark.parametrize(("program", "value"), RIGHT)
def test_a_program_gives_the_value_of_its_last_step(program: Any, value: Any) -> None:
    before = json.dumps(program)
    assert check_program(program, FUNCTIONS) == []
    assert evaluate_program(program, FUNCTIONS) == value
    assert asyncio.run(evaluate_program_async(program, FUNCTIONS)) == value
    assert json.dumps(program) == before


def test_diagnostics_name_the_place_and_the_near_name() -> None:
    (problem,) = check_program(steps(call("add", 1, 2), call("ad", 1, 2)), FUNCTIONS)
    assert problem.pointer == "/@steps/1/@func"
    assert problem.hint is not None
    assert "add" in problem.hint


def test_depth_is_limited_and_breaks_nothing() -> None:
    argument: Any = 1
    for _ in range(5000):
        argument = [argument]
    assert "deep" in check_program(steps(call("keep", argument)), FUNCTIONS)[0].message


def test_arguments_of_one_call_run_together_and_steps_one_after_another() -> None:
    running = most = 0

    async def slow(value: Any) -> Any:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        return value

    functions = {"slow": slow, "keep": keep}
    both = steps(call("keep", call("slow", 1), call("slow", 2)))
    assert asyncio.run(evaluate_program_async(both, functions)) == [1, 2]
    assert most == 2
    most = 0
    asyncio.run(evaluate_program_async(steps(call("slow", 1), call("slow", 2)), functions))
    assert most == 1
    with pytest.raises(TypeError, match="evaluate_program_async"):
        evaluate_program(both, functions)


def test_what_a_function_raises_comes_out_unchanged() -> None:
    def fail() -> None:
        raise KeyError("own")

    with pytest.raises(KeyError, match="own"):
        evaluate_program(steps(call("fail")), {"fail": fail})


def test_a_name_that_no_program_can_call_is_refused() -> None:
    with pytest.raises(ValueError, match="name"):
        check_program(steps(), {"not a name": add})


def test_a_request_becomes_a_program_and_a_wrong_one_is_repaired() -> None:
    model = ScriptedModel(json.dumps(steps(call("plus", 1, 2))), json.dumps(steps(call("add", 1, 2))))
    t = JsonProgramTranslator(model, FUNCTIONS)
    result = asyncio.run(t.translate('add 1 and 2 """'))
    assert result.success
    assert evaluate_program(result.data, FUNCTIONS) == 3
    prompt = model.sent[0][0].text()
    assert "add(x: number, y: number): number;" in prompt
    assert "Adds two numbers." in prompt
    assert "@steps" in prompt
    assert '""""' in prompt
    repair = model.sent[1][2].text()
    assert "plus" in repair
    assert "corrected program object" in repair


def test_functions_may_be_described_without_code() -> None:
    functions = [
        ProgramFunction(
            "paint",
            (
                ProgramParameter("color", {"enum": ["red", "blue"]}),
                ProgramParameter("times", {"type": "integer"}, False),
            ),
            "Paints.",
        )
    ]
    t = JsonProgramTranslator(ScriptedModel(), functions)
    assert 'paint(color: "red" | "blue", times?: number): any;' in t.create_request_prompt("x")
    assert check_program(steps(call("paint", "red")), functions) == []
    (problem,) = check_program(steps(call("paint", "green")), functions)
    assert problem.pointer == "/@steps/0/@args/0"
