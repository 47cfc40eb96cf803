"""The arguments that models write for tools: read, mended, converted, checked."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.engine.tools import read_arguments

SCHEMA = {
    "type": "object",
    "properties": {
        "q": {"type": "string"},
        "n": {"type": "integer"},
        "x": {"type": "number"},
        "b": {"type": "boolean"},
        "e": {"enum": ["RED", "BLUE"]},
        "d": {"type": "string", "default": "en"},
    },
}
NO_DEFAULT = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}

READ = [
    pytest.param("", {"d": "en"}, id="blank"),
    pytest.param('{"q":"a"}', {"q": "a", "d": "en"}, id="plain"),
    pytest.param('{"q":"x,}",}', {"q": "x,}", "d": "en"}, id="T116"),
    pytest.param("{'q': 'it is'}", {"q": "it is", "d": "en"}, id="other quotes"),
    pytest.param('"{\\"q\\": \\"a\\"}"', {"q": "a", "d": "en"}, id="object in a string"),
    pytest.param('{"q": 5}', {"q": "5", "d": "en"}, id="text from a number"),
    pytest.param('{"q": true}', {"q": "true", "d": "en"}, id="text from a boolean"),
    pytest.param('{"x": "1.5"}', {"x": 1.5, "d": "en"}, id="number from a text"),
    pytest.param('{"n": "12345678901234567890"}', {"n": 12345678901234567890, "d": "en"}, id="big integer"),
    pytest.param('{"n": 3.0}', {"n": 3, "d": "en"}, id="integer with a point"),
    pytest.param('{"e": "red"}', {"e": "RED", "d": "en"}, id="enumeration in another case"),
    pytest.param('{"d": "de"}', {"d": "de"}, id="default gives way"),
    pytest.param('{"other": 1}', {"other": 1, "d": "en"}, id="unknown property"),
]


@pytest.mark.parametrize(("text", "value"), READ)
def test_arguments_are_read_as_they_were_meant(text: str, value: Any) -> None:
    arguments = read_arguments(text, SCHEMA)
    assert (arguments.ok, arguments.value) == (True, value)
    assert type(arguments.value.get("n", 0)) is int


REFUSED = [
    pytest.param('{"n": 1.5}', id="integer with a fraction"),
    pytest.param('{"n": "1.5"}', id="text with a fraction"),
    pytest.param('{"b": "true"}', id="boolean from a text"),
    pytest.param('{"b": 1}', id="boolean from a number"),
    pytest.param('{"x": "1e999"}', id="number that overflows"),
    pytest.param('{"x": "one"}', id="number from a word"),
    pytest.param('{"e": "green"}', id="not in the enumeration"),
    pytest.param('{"d": null}', id="a default is for absence only"),
    pytest.param("[1]", id="array"),
    pytest.param("null", id="null"),
    pytest.param('{"q": "cut', id="cut"),
    pytest.param('{"q": "a"} and more', id="trailing text"),
]


@pytest.mark.parametrize("text", REFUSED)
def test_doubt_is_an_error(text: str) -> None:
    arguments = read_arguments(text, SCHEMA)
    assert not arguments.ok
    assert arguments.diagnostics[0].message


def test_every_change_is_told() -> None:
    arguments = read_arguments('{"q": 5, "n": "3",}', SCHEMA)
    assert len(arguments.edits) == 1
    assert [note.split()[0] for note in arguments.notes] == ["/q", "/n", "/d"]


def test_nothing_is_mended_or_converted_when_that_is_off() -> None:
    assert not read_arguments('{"q":"x",}', SCHEMA, lenient=False).ok
    assert not read_arguments('{"q": 5}', SCHEMA, coerce=False).ok


def test_a_missing_argument_is_named() -> None:
    (problem,) = read_arguments("", NO_DEFAULT).diagnostics
    assert problem.keyword == "required"
