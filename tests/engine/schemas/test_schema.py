"""JSON Schema: sound schemas only, and diagnostics that say what is wrong, where, and what was meant."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from tests.engine.translation.scripted import S1, S4, S5
from tests.http_server import JsonHandler, serving
from workbench.engine.diagnostics import Diagnostic
from workbench.engine.json_text import parse_json, resolve_pointer
from workbench.engine.schemas import JsonSchema, SchemaError, check_schema_text

# The shared S6 with one of its alternatives behind a reference.
REFERRING = {
    "type": "object",
    "properties": {
        "actions": {
            "type": "array",
            "items": {
                "anyOf": [
                    {
                        "type": "object",
                        "properties": {"kind": {"const": "add"}, "day": {"type": "string"}},
                        "required": ["kind", "day"],
                    },
                    {"$ref": "#/$defs/unknown"},
                ]
            },
        }
    },
    "$defs": {
        "unknown": {
            "type": "object",
            "properties": {"kind": {"const": "unknown"}, "text": {"type": "string"}},
            "required": ["kind", "text"],
        }
    },
}


def check(schema: Any, text: str, **options: Any) -> list[Diagnostic]:
    document = parse_json(text)
    assert document.ok
    return JsonSchema.from_value(schema).check(document.value, document=document, **options)


CASES = [
    # id, schema, text, [(pointer, keyword, schema pointer, text at the place, word of message or hint)]
    ("valid", S1, '{"a": 1}', []),
    ("T52", S4, '{"name": "x", "nick": null, "status": null}', [("/nick", "type", "/properties/nick/type", "null", "a string is expected")]),
    ("T57", S1, '{"a": "1"}', [("/a", "type", "/properties/a/type", '"1"', "without quotes")]),
    ("T58", S1, '{"a": 1.0}', []),
    ("T59", S1, '{"a": true}', [("/a", "type", "/properties/a/type", "true", "an integer")]),
    (
        "T60",
        S1,
        '{"b": 1}',
        [
            ("", "required", "/required", '{"b": 1}', '"a"'),
            ("/b", "additionalProperties", "/additionalProperties", '"b"', "not allowed"),
        ],
    ),
    ("T62", S5, '{"sentiment": "Positive"}', [("/sentiment", "enum", "/properties/sentiment/enum", '"Positive"', 'mean "positive"')]),
    ("T69-price", {"multipleOf": 0.01}, "19.99", []),
    ("T69-small", {"multipleOf": 0.01}, "0.07", []),
    ("T69-off", {"multipleOf": 0.01}, "0.075", [("", "multipleOf", "/multipleOf", "0.075", "a multiple of 0.01")]),
    ("multiple-of-huge", {"multipleOf": 3}, "1e300", [("", "multipleOf", "/multipleOf", "1e300", "multiple")]),
    ("T71", {"format": "date"}, '"nope"', [("", "format", "/format", '"nope"', "date")]),
    ("date-time", {"format": "date-time"}, '"2026-01-01 12:00"', [("", "format", "/format", '"2026-01-01 12:00"', "date-time")]),
    ("arabic-digits", {"pattern": r"^\d+$"}, '"١٢"', [("", "pattern", "/pattern", '"١٢"', "pattern")]),
    ("newline-before-end", {"pattern": "^a$"}, '"a\\n"', [("", "pattern", "/pattern", '"a\\n"', "pattern")]),
    ("pattern-name", {"patternProperties": {r"^\w$": {"type": "string"}}}, '{"é": 1, "e": 1}', [("/e", "type", r"/patternProperties/^\w$/type", "1", "a string")]),
    ("extra-beside-pattern", {"patternProperties": {"^x-": {}}, "additionalProperties": False}, '{"x-a": 1, "y": 2}', [("/y", "additionalProperties", "/additionalProperties", '"y"', "not allowed")]),
    ("extra-near-a-known-name", S1, '{"a": 1, "A": 1}', [("/A", "additionalProperties", "/additionalProperties", '"A"', 'mean "a"')]),
    ("false-schema", {"properties": {"a": False}}, '{"a": 1}', [("/a", "false", "/properties/a", '"a"', "not allowed")]),
    ("unevaluated", {"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False}, '{"a": 1, "b": 2}', [("/b", "unevaluatedProperties", "/unevaluatedProperties", '"b"', "not allowed")]),
    ("unevaluated-by-ref", {"$ref": "#/$defs/a", "unevaluatedProperties": False, "$defs": {"a": {"properties": {"a": {}}}}}, '{"a": 1}', []),
    ("unevaluated-if-then", {"if": {"required": ["a"]}, "then": {"properties": {"a": {}}}, "unevaluatedProperties": {"type": "string"}}, '{"a": 1, "b": 2}', [("/b", "type", "/unevaluatedProperties/type", "2", "a string")]),
    ("one-and-true-are-different", {"uniqueItems": True}, '[1, true, [1], [true], ["boolean", true], {}, []]', []),
    ("equal-elements", {"uniqueItems": True}, '[{"a": 1, "b": 2}, {"b": 2.0, "a": 1}]', [("", "uniqueItems", "/uniqueItems", '[{"a": 1, "b": 2}, {"b": 2.0, "a": 1}]', "0 and 1")]),
    ("behind-a-reference", {"properties": {"x": {"$ref": "#/$defs/s"}}, "$defs": {"s": {"minLength": 2}}}, '{"x": "a"}', [("/x", "minLength", "/$defs/s/minLength", '"a"', "at least 2")]),
    ("T60-tag", REFERRING, '{"actions": [{"kind": "add"}]}', [("/actions/0", "required", "/properties/actions/items/anyOf/0/required", '{"kind": "add"}', '"day"')]),
    ("tag-behind-reference", REFERRING, '{"actions": [{"kind": "unknown", "text": 1}]}', [("/actions/0/text", "type", "/$defs/unknown/properties/text/type", "1", "a string")]),
    ("unknown-tag", REFERRING, '{"actions": [{"kind": "ad"}]}', [("/actions/0/kind", "anyOf", "/properties/actions/items/anyOf", '"ad"', 'mean "add"')]),
    ("missing-tag", REFERRING, '{"actions": [{"text": "x"}]}', [("/actions/0", "anyOf", "/properties/actions/items/anyOf", '{"text": "x"}', '"kind"')]),
    ("nullable", {"anyOf": [{"type": "null"}, {"type": "string", "minLength": 3}]}, '"a"', [("", "minLength", "/anyOf/1/minLength", '"a"', "at least 3")]),
    ("no-branch-is-meant", {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, "{}", [("", "anyOf", "/anyOf", "{}", "Nearest is alternative 1")]),
    ("too-many-branches", {"oneOf": [{"type": "integer"}, {"minimum": 2}]}, "3", [("", "oneOf", "/oneOf", "3", "more than one")]),
    ("a-name", {"propertyNames": {"pattern": "^a"}}, '{"b": 1}', [("", "pattern", "/propertyNames/pattern", '{"b": 1}', "A name")]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "text", "expected"), [row[1:] for row in CASES], ids=[row[0] for row in CASES]
)
def test_each_error_leads_to_its_place_in_value_and_schema(
    schema: Any, text: str, expected: list[tuple[str, str, str, str, str]]
) -> None:
    found = check(schema, text)
    assert [(item.pointer, item.keyword, item.schema_pointer) for item in found] == [
        row[:3] for row in expected
    ]
    for item, (_, _, schema_pointer, at_place, word) in zip(found, expected, strict=True):
        assert text[item.start : item.end] == at_place
        assert word in f"{item.message} {item.hint}"
        assert item.excerpt is not None
        assert item.line == 1
        resolve_pointer(schema, schema_pointer)


def test_all_missing_members_are_named_at_once() -> None:
    names = [f"field{number}" for number in range(8)]
    (item,) = check({"required": names}, "{}", limit=1)
    assert item.expected == names
    assert all(json.dumps(name) in item.message for name in names)


def test_errors_over_the_limit_are_counted() -> None:
    found = check({"items": {"type": "integer"}}, json.dumps(["x"] * 300), limit=20)
    assert len(found) == 21
    assert [item.pointer for item in found[:20]] == [f"/{index}" for index in range(20)]
    assert (found[-1].severity, found[-1].code, found[-1].expected) == ("info", "more_errors", 280)
    assert "280" in found[-1].message
    assert len(check({"items": {"type": "integer"}}, json.dumps(["x"] * 300))) == 300


def test_excerpts_stay_short_whatever_the_value() -> None:
    value = {"text": "x" * 1_000_000, "more": list(range(100_000))}
    found = JsonSchema.from_value({"type": "string"}).check(value)
    assert len(found[0].excerpt or "") <= 80
    assert len(found[0].message) < 300


def test_formats_can_be_off_and_that_is_said() -> None:
    schema = JsonSchema.from_value({"format": "date"}, assert_formats=False)
    (note,) = schema.check("nope")
    assert (note.severity, note.code) == ("info", "formats_off")
    assert schema.is_valid("nope")
    assert not JsonSchema.from_value({"format": "date"}).is_valid("nope")


FORMATS = [
    ("email", "ann", "ann@example.org"),
    ("hostname", "-a-", "example.org"),
    ("ipv4", "1.2.3", "192.0.2.1"),
    ("ipv6", "::z", "::1"),
    ("uri", "a b", "https://example.org/a"),
    ("uuid", "1234", "123e4567-e89b-42d3-a456-426614174000"),
    ("time", "25:00:00Z", "18:30:00Z"),
    ("duration", "3 days", "P3D"),
    ("json-pointer", "a", "/a"),
    ("regex", "(", "^a+$"),
    ("color", "#12", "#ffffff"),
]


@pytest.mark.parametrize(("name", "bad", "good"), [row for row in FORMATS if row[0] != "color"])
def test_formats_are_asserted(name: str, bad: str, good: str) -> None:
    schema = JsonSchema.from_value({"format": name})
    assert not schema.is_valid(bad)
    assert schema.is_valid(good)


# -- drafts

DRAFTS = [
    ("4", "http://json-schema.org/draft-04/schema#", {"minimum": 1, "exclusiveMinimum": True}, 1),
    ("4", "http://json-schema.org/draft-04/schema", {"type": "integer"}, 1.0),
    ("6", "http://json-schema.org/draft-06/schema#", {"const": 2}, 1),
    ("7", "http://json-schema.org/draft-07/schema#", {"if": {"minimum": 1}, "then": {"minimum": 5}}, 2),
    ("2019-09", "https://json-schema.org/draft/2019-09/schema", {"dependentRequired": {"a": ["b"]}}, {"a": 1}),
    ("2019-09", "https://json-schema.org/draft/2019-09/schema", {"properties": {"a": {"$recursiveRef": "#"}}, "unevaluatedProperties": False}, {"a": {"b": 1}}),
    ("2020-12", "https://json-schema.org/draft/2020-12/schema#", {"prefixItems": [{"type": "string"}]}, [1]),
]  # fmt: skip


@pytest.mark.parametrize(("draft", "address", "schema", "bad"), DRAFTS)
def test_the_draft_is_the_one_that_the_schema_names(
    draft: str, address: str, schema: dict[str, Any], bad: Any
) -> None:
    checked = JsonSchema.from_value({"$schema": address, **schema})
    assert checked.draft == draft
    assert not checked.is_valid(bad)


def test_without_a_draft_the_schema_is_2020_12() -> None:
    assert JsonSchema.from_value({}).draft == "2020-12"
    assert JsonSchema.from_value(True).is_valid(1)
    assert not JsonSchema.from_value(False).is_valid(1)


# -- schemas that are refused

BAD = [
    # id, text, code, pointer, word
    ("no-json", '{"type": "object",}', "syntax", "", "comma"),
    ("T68-type", '{"type": "strng"}', "schema", "/type", 'mean "string"'),
    ("T68-ref", '{"$ref": "#/$defs/adress", "$defs": {"address": {}}}', "dangling_ref", "/$ref", "#/$defs/address"),
    ("bad-keyword-value", '{"properties": {"a": {"minLength": "2"}}}', "schema", "/properties/a/minLength", "integer"),
    ("negative-length", '{"minLength": -1}', "schema", "/minLength", "at least 0"),
    ("remote-ref", '{"$ref": "http://127.0.0.1:1/s.json"}', "remote_ref", "/$ref", "never followed"),
    ("file-ref", '{"items": {"$ref": "file:///etc/passwd"}}', "remote_ref", "/items/$ref", "never followed"),
    ("relative-file", '{"$ref": "other.json#/a"}', "remote_ref", "/$ref", "never followed"),
    ("ref-to-no-schema", '{"$ref": "#/$defs", "$defs": 1}', "schema", "/$defs", "object"),
    ("ref-into-a-string", '{"title": "x", "$ref": "#/title"}', "dangling_ref", "/$ref", "no schema"),
    ("missing-anchor", '{"$ref": "#here"}', "dangling_ref", "/$ref", "nowhere"),
    ("ref-beside-odd-defs", '{"$schema": "http://json-schema.org/draft-07/schema#", "$defs": 5, "allOf": [{"$ref": "#/a"}]}', "dangling_ref", "/allOf/0/$ref", "nowhere"),
    ("ref-to-itself", '{"$ref": "#"}', "ref_cycle", "/$ref", "itself"),
    ("ref-circle", '{"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}}}', "ref_cycle", "/$defs/a/$ref", "itself"),
    ("unknown-draft", '{"$schema": "http://json-schema.org/draft-03/schema#"}', "unknown_draft", "/$schema", "draft-04"),
    ("bad-pattern", '{"pattern": "("}', "bad_pattern", "/pattern", "missing )"),
    ("python-only-pattern", '{"pattern": "(?i)a"}', "bad_pattern", "/pattern", "groups"),
    ("bad-pattern-name", '{"patternProperties": {"[": {}}}', "bad_pattern", "/patternProperties/[", "bracket"),
    ("no-schema", "[1]", "not_a_schema", "", "object"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "code", "pointer", "word"), [row[1:] for row in BAD], ids=[row[0] for row in BAD]
)
def test_a_bad_schema_is_refused_when_it_is_typed(text: str, code: str, pointer: str, word: str) -> None:
    found = check_schema_text(text, "s.json")
    error = next(item for item in found if item.severity == "error")
    assert (error.code, error.pointer, error.file) == (code, pointer, "s.json")
    assert error.line == 1
    assert error.start is not None
    assert word in f"{error.message} {error.hint}"
    with pytest.raises(SchemaError) as caught:
        JsonSchema.parse(text)
    assert caught.value.diagnostics[0].code == code
    assert error.message in str(caught.value)


GOOD = [
    ("recursive", '{"properties": {"child": {"$ref": "#"}}}'),
    ("anchor", '{"$ref": "#here", "$defs": {"a": {"$anchor": "here"}}}'),
    ("embedded-resource", '{"$id": "https://example.org/root", "$ref": "part", "$defs": {"a": {"$id": "part"}}}'),
    ("ref-to-a-draft", '{"$ref": "https://json-schema.org/draft/2020-12/schema"}'),
    ("escaped-pointer", '{"$ref": "#/$defs/a~1b%20c", "$defs": {"a/b c": {}}}'),
    ("member-called-ref", '{"properties": {"$ref": {"type": "string"}, "$id": {"type": "string"}, "pattern": {}}}'),
    ("ref-in-data", '{"const": {"$ref": "nowhere"}, "examples": [{"$ref": 1}]}'),
    ("draft-7-definitions", '{"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a", "definitions": {"a": {}}}'),
]  # fmt: skip


@pytest.mark.parametrize("text", [row[1] for row in GOOD], ids=[row[0] for row in GOOD])
def test_a_sound_schema_has_no_errors_and_can_check(text: str) -> None:
    assert check_schema_text(text) == []
    JsonSchema.parse(text).check({"a": [1]})


def test_doubts_are_warnings() -> None:
    found = check_schema_text('{"requird": ["a"], "format": "dat", "x-note": 1, "unit": "m", "title": "t"}')
    assert [(item.severity, item.code, item.pointer) for item in found] == [
        ("warning", "unknown_format", "/format"),
        ("warning", "unknown_keyword", "/requird"),
    ]
    assert "required" in (found[1].hint or "")
    assert JsonSchema.parse('{"a": 1, "a": 2}').warnings[0].code == "duplicate_key"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "1",
        '"x"',
        "[]",
        "{",
        '{"$ref": 1}',
        '{"$schema": 1}',
        '{"properties": []}',
        '{"$id": "::"}',
        '{"allOf": {}}',
        "[" * 600,
    ],
)
def test_any_text_gives_diagnostics_and_never_raises(text: str) -> None:
    assert any(item.severity == "error" for item in check_schema_text(text)) or text == '{"$id": "::"}'


def test_a_value_that_is_no_json_is_no_schema() -> None:
    with pytest.raises(SchemaError):
        JsonSchema.from_value({"const": float("nan")})
    with pytest.raises(SchemaError):
        JsonSchema.from_value({"const": object()})


# -- bounds


def test_no_reference_ever_reaches_the_network() -> None:
    requests: list[str] = []

    class Handler(JsonHandler):
        def do_GET(self) -> None:  # noqa: N802 - the name that the server calls
            requests.append(self.path)
            self.answer(200, {})

    with serving(Handler) as server:
        address = f"{server}/s.json"
        for schema in (
            {"$ref": address},
            {"$dynamicRef": address},
            {"$id": address, "properties": {"a": {"$ref": "other.json"}}},
            {"$schema": address},
            {
                "$schema": "http://json-schema.org/draft-04/schema#",
                "id": address,
                "items": {"$ref": "x.json#/a"},
            },
        ):
            with pytest.raises(SchemaError):
                JsonSchema.from_value(schema)
        JsonSchema.from_value({"$id": address, "properties": {"a": {"$ref": "#"}}}).check({"a": {}})
        # References that are data of another keyword are not looked at, and not followed either.
        JsonSchema.from_value({"const": {"$ref": address}}).check({})
    assert requests == []


def test_a_pattern_that_explodes_is_stopped_and_said() -> None:
    schema = JsonSchema.from_value({"items": {"pattern": "^(a|aa)+$"}})
    started = time.process_time()
    (error,) = schema.check(["a" * 60 + "!"] * 50)
    assert time.process_time() - started < 5
    assert (error.severity, error.code) == ("error", "pattern_timeout")
    assert not schema.is_valid(["a" * 60 + "!"])


def test_a_value_too_deep_to_check_is_an_error_and_no_crash() -> None:
    schema = JsonSchema.from_value({"properties": {"next": {"$ref": "#"}}, "additionalProperties": False})
    value: dict[str, Any] = {}
    for _ in range(5000):
        value = {"next": value}
    (error,) = schema.check(value)
    assert error.code == "too_deep"


def test_the_types_of_the_root_are_known() -> None:
    def types(schema: Any) -> set[str]:
        return set(JsonSchema.from_value(schema).root_types)

    assert types({"type": "object"}) == {"object"}
    assert types({"type": "number"}) == {"number", "integer"}
    assert types({"$ref": "#/$defs/a", "$defs": {"a": {"enum": ["x", None]}}}) == {"string", "null"}
    assert types({"anyOf": [{"type": "array"}, {"const": 1}]}) == {"array", "number", "integer"}
    assert types({"allOf": [{"type": ["array", "null"]}, {"type": ["null", "string"]}]}) == {"null"}
    assert len(types({})) == 7
    assert types(False) == set()
