"""What a project's `[translation]` table says reaches the run: limits of a reply and of a run, and every switch."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from tests.engine.translation.scripted import BAD, GOOD, S1, S4, ScriptedModel, used
from workbench.engine.language_models import Completion
from workbench.engine.projects.settings_reader import read_settings
from workbench.engine.projects.toml_document import read_toml
from workbench.engine.schemas import JsonSchema
from workbench.engine.translation import Failure, Success, translator_from_settings


def run(
    toml: str, *script: Any, schema: Mapping[str, Any] = S1
) -> tuple[Success[Any] | Failure, ScriptedModel]:
    """Translate with the `[translation]` table of a project file."""
    settings, problems = read_settings(read_toml(toml))
    assert problems == []
    model = ScriptedModel(*script)
    translator = translator_from_settings(settings.translation, model, JsonSchema.from_value(dict(schema)))
    return asyncio.run(translator.translate("one")), model


def test_t87_a_cut_reply_is_asked_for_again_with_more_room() -> None:
    cut = Completion('{"a": ', "length")
    result, model = run("[translation.budget]\nmax_tokens = 100\ntoken_ramp = 1.5\n", cut, GOOD)
    assert result.success
    assert [options["max_tokens"] for options in model.options] == [100, 150]
    assert model.sent[0] == model.sent[1]


def test_a_cut_reply_is_the_end_where_no_ramp_is_set() -> None:
    result, model = run("[translation.budget]\nmax_tokens = 100\n", Completion('{"a": ', "length"), GOOD)
    assert isinstance(result, Failure)
    assert (result.code, model.calls) == ("truncated", 1)


def test_a_run_without_progress_ends() -> None:
    text = "[translation]\nmax_repairs = 5\nstop_without_progress = true\n"
    result, model = run(text, *[BAD] * 6)
    assert isinstance(result, Failure)
    assert (result.code, model.calls) == ("no_progress", 2)


def test_almost_json_is_mended_only_where_the_project_says_so() -> None:
    almost = '{"a": 1,}'
    result, model = run("[translation]\nlenient = true\n", almost)
    assert result.success
    assert result.attempts[0].edits
    result, model = run("[translation]\n", almost, GOOD)
    assert result.success
    assert model.calls == 2


def test_the_schema_goes_into_a_system_message() -> None:
    result, model = run("[translation]\nschema_in_system = true\n", GOOD)
    assert result.success
    assert [message.role for message in model.sent[0]] == ["system", "user"]
    assert '"integer"' in model.sent[0][0].text()
    assert '"integer"' not in model.sent[0][1].text()


def test_nulls_stay_where_the_value_is_valid_with_them() -> None:
    reply = '{"name": "x", "status": null}'
    table = '[translation]\nattempt_repair = false\nstrip_nulls = "all"\n'
    result, _ = run(table, reply, schema=S4)
    assert not result.success
    result, _ = run(table + "try_unstripped_first = true\n", reply, schema=S4)
    assert result.success
    assert result.data == {"name": "x", "status": None}


def test_a_budget_of_tokens_ends_a_run() -> None:
    result, model = run(
        "[translation]\nmax_repairs = 9\n[translation.budget]\ntokens = 20\n", *[used(BAD, 10, 5)] * 9
    )
    assert isinstance(result, Failure)
    assert (result.code, model.calls) == ("budget", 2)
