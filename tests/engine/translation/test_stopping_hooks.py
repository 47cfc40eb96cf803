"""Hooks can hang, return nonsense or something endless, and settings can be misspelt: a run still ends well."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from tests.engine.translation.scripted import BAD, GOOD, S1, ScriptedModel
from workbench.engine.translation import JsonSchemaValidator, JsonTranslator, Success


def translator(*script: Any, **settings: Any) -> JsonTranslator:
    return JsonTranslator(ScriptedModel(*script), JsonSchemaValidator(S1, type_name="T"), **settings)


async def endless(*_: Any) -> Any:
    await asyncio.sleep(30)


HOOKS = pytest.mark.parametrize(
    ("hook", "reply"),
    [("create_request_prompt", GOOD), ("create_repair_prompt", BAD), ("validate_instance", GOOD)],
)


@HOOKS
def test_cancel_ends_a_hook_that_hangs(hook: str, reply: str) -> None:
    async def run() -> None:
        tested = translator(reply, GOOD)
        setattr(tested, hook, endless)
        cancel = asyncio.Event()
        asyncio.get_running_loop().call_later(0.05, cancel.set)
        began = time.monotonic()
        result = await asyncio.wait_for(tested.translate("r", cancel=cancel), 5)
        assert time.monotonic() - began < 2
        assert result.code == "cancelled"
        assert result.attempts[-1].outcome == "cancelled"

    asyncio.run(run())


@HOOKS
def test_the_seconds_of_the_budget_end_a_hook_and_name_it(hook: str, reply: str) -> None:
    async def run() -> None:
        tested = translator(reply, GOOD, budget={"seconds": 0.1})
        setattr(tested, hook, endless)
        result = await asyncio.wait_for(tested.translate("r"), 5)
        assert result.code == "budget"
        assert hook in result.message

    asyncio.run(run())


@pytest.mark.parametrize("hook", ["create_request_prompt", "create_repair_prompt"])
@pytest.mark.parametrize("answer", [None, 3])
def test_a_prompt_builder_that_gives_no_prompt_is_a_hook_error(hook: str, answer: Any) -> None:
    tested = translator(BAD, GOOD)
    setattr(tested, hook, lambda argument: answer)
    result = asyncio.run(tested.translate("r"))
    assert result.code == "hook_error"
    assert hook in result.message
    assert type(answer).__name__ in result.message


def test_an_instance_that_holds_itself_does_not_hang_the_run() -> None:
    loop: list[Any] = []
    loop.append(loop)
    tested = translator(GOOD)
    tested.validate_instance = lambda value: Success({"twice": [value, value], "loop": loop})
    result = asyncio.run(tested.translate("r"))
    assert isinstance(result, Success)
    assert result.record is not None
    assert result.record.value == {"twice": [{"a": 1}, {"a": 1}], "loop": ["<list that holds itself>"]}


def test_a_model_that_gives_its_call_up_is_a_model_error_and_no_budget() -> None:
    result = asyncio.run(translator(asyncio.CancelledError()).translate("r"))
    assert result.code == "model_error"


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"max_repairs": "1"}, "max_repairs"),
        ({"max_repairs": 1.5}, "max_repairs"),
        ({"attempt_repair": "no"}, "attempt_repair"),
        ({"budget": {"call": 1}}, "'call'"),
        ({"budget": {"calls": "a"}}, "calls"),
        ({"budget": {"tokens": -1}}, "tokens"),
        ({"budget": {"seconds": float("nan")}}, "seconds"),
        ({"budget": 3}, "budget"),
    ],
    ids=str,
)
def test_a_setting_of_the_wrong_kind_is_refused_by_its_name(settings: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        asyncio.run(translator(BAD, GOOD, **settings).translate("r"))


@HOOKS
def test_a_hook_that_cancels_its_own_work_is_a_hook_error_and_does_not_end_the_caller(
    hook: str, reply: str
) -> None:
    async def gives_up(*_: Any) -> Any:
        raise asyncio.CancelledError

    tested = translator(reply, GOOD)
    setattr(tested, hook, gives_up)
    result = asyncio.run(tested.translate("r"))
    assert result.code == "hook_error"
    assert hook in result.message
