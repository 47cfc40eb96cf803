"""Prices and numbers of a model and the limits of a run are read from the project, with a problem for each that is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.engine.projects.settings_reader import read_settings
from workbench.engine.projects.toml_document import read_toml


def problems(text: str) -> list[tuple[str, str, str]]:
    """Return severity, code and message of every problem of a file."""
    return [(p.severity, p.code, p.message) for p in read_settings(read_toml(text))[1]]


def model(rows: str, name: str = "chat", provider: str = "openai") -> str:
    return f'[models.{name}]\nprovider = "{provider}"\nmodel = "m"\n{rows}\n'


@pytest.mark.parametrize(
    "rows",
    [
        "input_price = 0.4\noutput_price = 1.6",
        "input_price = 0\noutput_price = 0",
        'input_price = 0.4\noutput_price = 1.6\ncurrency = "EUR"',
    ],
)
def test_sound_prices_are_options_of_the_model(rows: str) -> None:
    settings, found = read_settings(read_toml(model(rows)))
    assert found == []
    assert settings.models["chat"].options["output_price"] in (1.6, 0)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ('input_price = "0.4"\noutput_price = 1', "`input_price` must be a number from 0"),
        ("input_price = 1\noutput_price = -1", "`output_price` must be a number from 0"),
        ("input_price = inf\noutput_price = 1", "`input_price` must be a number from 0"),
        (f"input_price = {'9' * 400}\noutput_price = 1", "`input_price` must be a number from 0"),
        ('input_price = 1\noutput_price = 1\ncurrency = "usd"', "`currency` must be a currency code"),
    ],
)
def test_a_wrong_price_is_an_error(rows: str, words: str) -> None:
    [(severity, code, message)] = problems(model(rows))
    assert (severity, code) == ("error", "bad_value")
    assert words in message


@pytest.mark.parametrize(
    "row",
    [
        "timeout = 0.5",
        "max_retries = 0",
        "temperature = 2",
        "temperature = false",
        "seed = -1",
        "num_ctx = 1",
    ],
)
def test_a_sound_number_is_an_option_of_the_model(row: str) -> None:
    assert problems(model(row)) == []


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ('timeout = "10"', "`timeout` must be a number of seconds above 0"),
        ("timeout = 0", "`timeout` must be a number of seconds above 0"),
        ("timeout = nan", "`timeout` must be a number of seconds above 0"),
        ("timeout = inf", "`timeout` must be a number of seconds above 0"),
        ("max_retries = 1.5", "`max_retries` must be a whole number from 0"),
        ("max_tokens = true", "`max_tokens` must be a whole number of tokens"),
        ("temperature = 2.1", "`temperature` must be a number from 0 to 2, or false"),
        ("n_ctx = 127", "`n_ctx` must be a whole number of tokens from 128"),
    ],
)
def test_a_wrong_number_is_an_error(row: str, words: str) -> None:
    [(severity, code, message)] = problems(model(row))
    assert (severity, code) == ("error", "bad_value")
    assert words in message


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (model("input_price = 1"), "half_a_price"),
        (model("input_price = 1\noutput_price = 1", "replies", "recorded"), "no_effect"),
        (model("input_price = 1\noutput_price = 1", "decision", "openai"), "no_effect"),
    ],
)
def test_a_price_that_tells_nothing_is_a_warning(text: str, code: str) -> None:
    assert [(severity, found) for severity, found, _ in problems(text)] == [("warning", code)]


@pytest.mark.parametrize(
    ("name", "provider", "row", "decides", "found"),
    [
        ("judge", "openai", "", False, []),
        ("decision-2", "openai", "", True, []),
        ("judge", "openai", 'use = "decision"', True, []),
        ("decision-2", "gguf", 'use = "chat"', False, []),
        ("judge", "recorded", 'use = "chat"', False, []),
        ("judge", "embedded", "", True, []),
        ("decision-2", "anthropic", "", False, []),
        ("judge", "system-one", 'use = "chat"', True, [("warning", "no_effect")]),
        ("judge", "ollama", 'use = "decision"', False, [("warning", "no_effect")]),
        ("decision", "openai", 'use = "chat"', True, [("warning", "no_effect")]),
        ("chat", "openai", 'use = "decision"', False, [("warning", "no_effect")]),
        ("judge", "openai", 'use = "checks"', False, [("error", "bad_value")]),
        ("judge", "openai", "use = true", False, [("error", "wrong_type")]),
    ],
)
def test_a_model_answers_checks_or_writes_text(
    name: str, provider: str, row: str, decides: bool, found: list[tuple[str, str]]
) -> None:
    text = f'[models.{name}]\nprovider = "{provider}"\n{row}\n'
    assert [(severity, code) for severity, code, _ in problems(text)] == found
    settings, _ = read_settings(read_toml(text))
    assert settings.models[name].decides == decides


def test_a_price_has_no_effect_on_a_model_that_is_used_for_checks() -> None:
    text = model('use = "decision"\ninput_price = 1\noutput_price = 1', "judge", "openai")
    assert [code for _, code, _ in problems(text)] == ["no_effect"]


def test_every_limit_of_a_run_is_read() -> None:
    limits: dict[str, Any] = {
        "calls": 3,
        "tokens": 4000,
        "seconds": 1.5,
        "cost": 0.05,
        "max_tokens": 256,
        "token_ramp": 2.0,
    }
    rows = "\n".join(f"{key} = {value}" for key, value in limits.items())
    settings, found = read_settings(read_toml(f"[translation.budget]\n{rows}\n"))
    assert found == []
    assert dict(settings.translation.budget) == limits


@pytest.mark.parametrize(
    "row", ["cost = -1", "max_tokens = 0", "token_ramp = 1", 'cost = "much"', "tokens = 1.5"]
)
def test_a_wrong_limit_is_an_error(row: str) -> None:
    assert [severity for severity, _, _ in problems(f"[translation.budget]\n{row}\n")] == ["error"]


@pytest.mark.parametrize(
    ("row", "code", "words"),
    [
        ("tempratur = 1", "unknown_key", "unknown key `tempratur` in [models.chat]"),
        ('base_url = "not an address"', "bad_address", "`base_url` cannot be used: the address"),
        ('base_url = "ftp://x/y"', "bad_address", "must begin with http:// or https://"),
        ('base_url = "http://user:pw@x"', "bad_address", "name a secret instead"),
        ('headers = "x"', "wrong_type", '`headers` must be a table, not a text ("x")'),
        (
            "headers = { A = 1 }",
            "wrong_type",
            "the header `A` must be a text in quotes, not a whole number (1)",
        ),
        ("body = [1]", "wrong_type", "`body` must be a table, not a list"),
        ("extra_body = true", "wrong_type", "`extra_body` must be a table"),
        ('total_budget = "3"', "wrong_type", "`total_budget` must be a number from 0"),
        ("budget = -1", "wrong_type", "`budget` must be a number from 0"),
        ("min_mass = nan", "wrong_type", "`min_mass` must be a number from 0 to 1"),
        ("min_mass = 1.5", "wrong_type", "`min_mass` must be a number from 0 to 1"),
        ("max_questions = 0", "wrong_type", "`max_questions` must be a whole number from 1"),
        ("concurrency = 2.5", "wrong_type", "`concurrency` must be a whole number from 1"),
        ('split = "yes"', "wrong_type", "`split` must be true or false"),
        ("path = 1", "wrong_type", "`path` must be a text in quotes"),
        ("yes_words = [1]", "wrong_type", "`yes_words` must be a text or a list of texts"),
    ],
)
def test_a_model_that_could_not_be_asked_is_a_warning_at_its_place(row: str, code: str, words: str) -> None:
    [found] = read_settings(read_toml(model(row)))[1]
    assert (found.severity, found.code) == ("warning", code)
    assert words in found.message
    assert found.path[:3] == ("models", "chat", row.partition(" ")[0])


def test_a_misspelt_option_is_answered_with_the_nearest_one() -> None:
    [found] = read_settings(read_toml(model("time_out = 3")))[1]
    assert found.hint == "did you mean `timeout`?"


def test_every_option_in_its_own_kind_is_taken_without_a_word() -> None:
    rows = """base_url = " http://127.0.0.1:8000/v1 "
headers = { A = "b" }
body = { top_k = 1 }
extra_body = {}
budget = 0
total_budget = 12.5
min_mass = 0.1
max_questions = 8
concurrency = 2
split = true
yes_words = "ja"
no_words = ["nein"]
organization = "o"
"""
    assert problems(model(rows)) == []
