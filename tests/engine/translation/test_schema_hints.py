"""What would make a schema easier for a model is said at its place, and what strict mode refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.engine.translation.scripted import S1, S3, S6
from workbench.engine.schemas import FolderFiles, JsonSchema
from workbench.engine.translation import (
    STRICT_LIMITS,
    StrictLimits,
    schema_advice,
    schema_hints,
    strict_schema,
)


def described(properties: dict[str, Any]) -> dict[str, Any]:
    members = {name: {"description": name, **member} for name, member in properties.items()}
    return {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = described({"x": schema})
    return schema


TAGGED = [described({"kind": {"const": kind}}) for kind in ("add", "remove")]
CASES = [
    pytest.param(described({"a": {"type": "string"}}), [], id="nothing to say"),
    pytest.param(nested(3), [], id="three levels are flat"),
    pytest.param(nested(4), [("deep_schema", "/properties/x" * 4)], id="four levels"),
    pytest.param(described({"properties": {"type": "string"}, "items": {"type": "string"}}), [], id="members called as keywords"),
    pytest.param({"type": "object", "properties": {"a": True}}, [("open_value", "/properties/a"), ("strict_mode", "/properties/a")], id="a value without a type"),
    pytest.param(described({"a": {"type": "object", "additionalProperties": {"type": "string"}}}), [("free_names", "/properties/a/additionalProperties"), ("strict_mode", "/properties/a/additionalProperties")], id="free names"),
    pytest.param(described({"a": {"type": "object", "patternProperties": {"^x": {"type": "string"}}}}), [("free_names", "/properties/a/patternProperties"), ("strict_mode", "/properties/a/patternProperties")], id="names by pattern"),
    pytest.param(S1, [("no_description", "/properties/a")], id="no description"),
    pytest.param({"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"type": "string", "title": "A"}}}, [], id="described where it is defined"),
    pytest.param(described({"a": {"enum": [str(i) for i in range(12)]}}), [], id="a short enum"),
    pytest.param(described({"a": {"enum": [str(i) for i in range(13)]}}), [("long_enum", "/properties/a/enum")], id="a long enum"),
    pytest.param(described({"a": {"anyOf": TAGGED}}), [("no_unknown_branch", "/properties/a/anyOf")], id="no way out"),
    pytest.param(described({"a": {"anyOf": [*TAGGED, described({"kind": {"const": "Unknown"}})]}}), [], id="an unknown branch"),
    pytest.param(described({"a": {"anyOf": [*TAGGED, {"type": "null"}]}}), [], id="null is a way out"),
    pytest.param(described({"a": {"anyOf": [TAGGED[0], {"type": "string"}]}}), [], id="one object is no choice"),
    pytest.param(described({"a": {"type": "string", "not": {"const": "x"}}}), [("strict_mode", "/properties/a/not")], id="a keyword that strict mode refuses"),
    pytest.param(S3, [("no_description", "/items/properties/a")], id="a root list is wrapped"),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "expected"), CASES)
def test_a_hint_names_its_place(schema: Any, expected: list[tuple[str, str]]) -> None:
    checked = JsonSchema.from_value(schema)
    hints = schema_hints(checked)
    assert [(hint.code, hint.pointer) for hint in hints] == expected
    for hint in hints:
        assert hint.severity == "info"
        assert (hint.start, hint.end) == checked.document.span(hint.pointer or "")
        assert hint.hint


def test_an_unknown_branch_is_what_the_case_of_actions_has() -> None:
    assert "no_unknown_branch" not in {hint.code for hint in schema_hints(JsonSchema.from_value(S6))}


def test_a_hint_about_a_part_names_its_file(tmp_path: Path) -> None:
    (tmp_path / "part.json").write_text('{\n"type": "object", "properties": {"x": {"type": "string"}}}')
    schema = JsonSchema.parse('{"$ref": "part.json"}', file="output.schema.json", files=FolderFiles(tmp_path))
    (hint,) = [each for each in schema_hints(schema) if each.code == "no_description"]
    assert (hint.file, hint.line, hint.pointer) == ("part.json", 2, "/properties/x")


def many(count: int, **member: Any) -> dict[str, Any]:
    return described({f"p{i}": member or {"type": "string"} for i in range(count)})


LIMITS = [
    pytest.param("first", nested(5), nested(6), "levels of objects", id="levels"),
    pytest.param("first", many(100), many(101), "properties", id="properties"),
    pytest.param("first", many(50, enum=["a"] * 10), many(51, enum=["a"] * 10), "enum values", id="enum values"),
    pytest.param("first", described({"a": {"const": "x" * 14_000}}), described({"a": {"const": "x" * 15_000}}), "characters of names and values", id="characters"),
    pytest.param("first", described({"a": {"enum": [f"{i:029}" for i in range(250)]}}), described({"a": {"enum": [f"{i:030}" for i in range(251)]}}), "in an enum of over 250 values", id="a long enum"),
    pytest.param("current", nested(10), nested(11), "levels of objects", id="current levels"),
    pytest.param("current", many(5000), many(5001), "properties", id="current properties"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "fits", "too_much", "word"), LIMITS)
def test_the_limits_of_strict_mode_are_a_table(name: str, fits: Any, too_much: Any, word: str) -> None:
    assert strict_schema(fits, STRICT_LIMITS[name]).usable
    refused = strict_schema(too_much, STRICT_LIMITS[name])
    assert [word in each.message for each in refused.diagnostics] == [True]
    assert "strict_mode" in {
        hint.code for hint in schema_hints(JsonSchema.from_value(too_much), STRICT_LIMITS[name])
    }


def test_D24_the_wrapper_of_a_root_list_counts_as_a_level() -> None:  # noqa: N802
    limits = StrictLimits(depth=3)
    assert strict_schema(nested(3), limits).usable
    assert not strict_schema({"type": "array", "items": nested(3)}, limits).usable
    assert strict_schema({"type": "array", "items": nested(2)}, limits).usable


@pytest.mark.parametrize(
    "keyword",
    ["allOf", "oneOf", "not", "if", "dependentRequired", "dependentSchemas", "patternProperties", "propertyNames",
     "contains", "minProperties", "maxProperties", "unevaluatedProperties", "unevaluatedItems", "uniqueItems", "prefixItems"],
)  # fmt: skip
def test_every_keyword_that_strict_mode_refuses_is_named(keyword: str) -> None:
    refused = strict_schema({"type": "object", "properties": {"a": {"type": "string", keyword: {}}}})
    assert not refused.usable
    assert refused.diagnostics[0].pointer == f"/properties/a/{keyword}"


def test_the_sizes_of_all_styles_are_told_and_a_style_that_cannot_be_is_left_out() -> None:
    schema = JsonSchema.from_value(S6)
    sizes = schema_advice(schema, "Plan").sizes
    assert list(sizes) == ["json", "typescript", "outline"]
    assert sizes["typescript"] * 3 < sizes["json"]
    assert list(schema_advice(schema, "my plan").sizes) == ["json", "outline"]
