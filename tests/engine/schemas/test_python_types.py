"""A Python type gives a JSON Schema."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Literal, NewType, NotRequired, TypedDict

import pytest

from workbench.engine.schemas import schema_from_type

UserId = NewType("UserId", int)


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Table:
    """A table
    in the garden."""

    seats: int
    colour: Colour = Colour.RED


@dataclass
class Booking:
    name: Annotated[str, "Who comes"]
    table: Table
    again: Booking | None = None
    tags: list[str] = field(default_factory=list)


class Address(TypedDict):
    city: str
    street: NotRequired[str]


TYPES: list[tuple[str, Any, dict[str, Any]]] = [
    ("text", str, {"type": "string"}),
    ("optional", int | None, {"type": ["integer", "null"]}),
    ("union", list[int] | str, {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "string"}]}),
    ("literal", Literal["a", "b"], {"enum": ["a", "b"]}),
    ("constant", Literal[1], {"const": 1}),
    ("enum", Colour, {"enum": ["red", "blue"]}),
    ("map", Mapping[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
    ("sequence", Sequence[bool], {"type": "array", "items": {"type": "boolean"}}),
    ("set", set[str], {"type": "array", "items": {"type": "string"}, "uniqueItems": True}),
    ("tuple", tuple[str, int], {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False, "minItems": 2}),
    ("long-tuple", tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
    ("new-type", UserId, {"type": "integer"}),
    ("anything", Any, {}),
    ("typed-dictionary", Address, {"type": "object", "properties": {"city": {"type": "string"}, "street": {"type": "string"}}, "additionalProperties": False, "required": ["city"]}),
]  # fmt: skip


@pytest.mark.parametrize(("python_type", "schema"), [row[1:] for row in TYPES], ids=[row[0] for row in TYPES])
def test_a_type_has_its_schema(python_type: Any, schema: dict[str, Any]) -> None:
    assert schema_from_type(python_type).value == schema


def test_records_become_definitions_and_may_hold_themselves() -> None:
    schema = schema_from_type(Booking)
    assert schema.value["properties"]["name"] == {"type": "string", "description": "Who comes"}
    assert schema.value["required"] == ["name", "table"]
    assert schema.value["$defs"]["Table"]["description"] == "A table in the garden."
    assert "description" not in schema.value
    assert schema.is_valid(
        {"name": "Ann", "table": {"seats": 2}, "again": {"name": "Bo", "table": {"seats": 1}}}
    )
    assert not schema.is_valid({"name": "Ann", "table": {"seats": 2}, "again": {"name": "Bo"}})


def test_a_pydantic_model_gives_its_own_schema() -> None:
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("Order", amount=(int, pydantic.Field(ge=1)))
    schema = schema_from_type(model)
    assert schema.is_valid({"amount": 1})
    assert not schema.is_valid({"amount": 0})


@pytest.mark.parametrize(
    "python_type", [datetime, complex, dict[int, str], tuple[int, ..., str], list[bytes]]
)
def test_a_type_without_a_json_form_is_refused(python_type: Any) -> None:
    with pytest.raises(TypeError, match="the type"):
        schema_from_type(python_type)


def test_the_refusal_names_the_member() -> None:
    @dataclass
    class Bad:
        when: datetime

    Bad.__annotations__["when"] = datetime
    with pytest.raises(TypeError, match=r"Bad\.when"):
        schema_from_type(Bad)
