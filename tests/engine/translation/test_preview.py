"""What a translation would send can be seen before anything is sent."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from workbench.engine.language_models import Message
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.engine.schemas import JsonSchema
from workbench.engine.text import TextFile
from workbench.engine.translation import Attempt
from workbench.engine.translation.preview import preview_repair, preview_request
from workbench.engine.translation.settings import Rule, TranslationSettings
from workbench.engine.workflows import WorkflowError, preview_translation

SCHEMA = JsonSchema.from_value(
    {
        "type": "object",
        "properties": {"count": {"type": "integer"}},
        "required": ["count"],
        "additionalProperties": False,
    }
)
SETTINGS = TranslationSettings("Order")


def repair(reply: str, settings: TranslationSettings = SETTINGS) -> Any:
    attempt = Attempt(1, (Message("user", "two please"),), 1, reply=reply)
    return asyncio.run(preview_repair(settings, SCHEMA, attempt, request="two please"))


def test_the_request_prompt_holds_the_request_and_the_schema_behind_the_preamble() -> None:
    preamble = [Message("system", "Be brief.")]
    preview = asyncio.run(preview_request(SETTINGS, SCHEMA, "two please", preamble_messages=preamble))
    assert [message.role for message in preview.messages] == ["system", "user"]
    assert preview.messages[0].text() == "Be brief."
    assert "two please" in preview.prompt
    assert '"count"' in preview.prompt


def test_a_prompt_of_the_project_is_filled() -> None:
    settings = replace(SETTINGS, request_prompt="{type_name}: {request}")
    assert asyncio.run(preview_request(settings, SCHEMA, "two")).prompt == "Order: two"


def test_the_repair_prompt_names_what_is_wrong_with_the_reply() -> None:
    preview = repair('{"count": "two"}')
    assert preview.judged.outcome == "invalid"
    assert "/count" in preview.prompt
    assert [message.role for message in preview.messages] == ["user", "assistant", "user"]


def test_a_reply_that_holds_today_asks_for_no_repair() -> None:
    preview = repair('{"count": 2}')
    assert (preview.prompt, preview.messages) == ("", ())
    assert preview.judged.outcome == "ok"


def test_rules_are_judged_too() -> None:
    settings = replace(
        SETTINGS, rules=(Rule("$.count", ">", 5, "at least six"),), repair_prompt="Mend: {error}"
    )
    assert "at least six" in repair('{"count": 2}', settings).prompt


def test_a_preview_ends_by_itself_however_many_repairs_are_allowed() -> None:
    settings = replace(SETTINGS, max_repairs=20)
    preview = asyncio.run(asyncio.wait_for(preview_request(settings, SCHEMA, "two"), timeout=10))
    assert preview.problem == ""


def test_a_project_without_an_output_schema_has_nothing_to_preview() -> None:
    with pytest.raises(WorkflowError, match=r"output\.schema\.json"):
        asyncio.run(preview_translation(ProjectSnapshot("empty"), "two"))


def test_a_rule_that_is_wrong_in_itself_is_said() -> None:
    snapshot = ProjectSnapshot(
        "rules",
        output_schema=TextFile(SCHEMA.text),
        translation=replace(SETTINGS, rules=(Rule("$.count", "matches", "(", ""),)),
    )
    with pytest.raises(WorkflowError, match="pattern"):
        asyncio.run(preview_translation(snapshot, "two"))
