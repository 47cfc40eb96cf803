"""A Python type is shown as TypeScript; everything that has no such form is named at once."""

from __future__ import annotations

import collections.abc as abc
import enum
import re
import typing
from collections import deque
from dataclasses import dataclass, field
from datetime import datetime
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    Never,
    NewType,
    NotRequired,
    Optional,
    Required,
    Self,
    TypedDict,
    TypeVar,
    Union,
)

import pytest
import typing_extensions

from workbench.engine.schemas import python_type_to_typescript, schema_from_type

T = TypeVar("T")
N = TypeVar("N", bound=float)
UserId = NewType("UserId", int)
Flavour = typing_extensions.TypeAliasType("Flavour", Annotated[Literal["sweet", "dry"], "How it tastes"])
Pair = typing_extensions.TypeAliasType("Pair", "tuple[T, T]", type_params=(T,))
Tree = typing_extensions.TypeAliasType("Tree", 'int | list["Tree"]')

Lost = typing_extensions.TypeAliasType("Lost", "Nowhere")  # noqa: F821 (the case)

EXPRESSIONS: list[tuple[str, Any, str]] = [
    ("str", str, "string"),
    ("int", int, "number"),
    ("float", float, "number"),
    ("bool", bool, "boolean"),
    ("Any", Any, "any"),
    ("object", object, "any"),
    ("None", None, "null"),
    ("NoneType", type(None), "null"),
    ("Never", Never, "never"),
    ("Self", Self, "this"),
    ("new-type", UserId, "number"),
    ("list", list[int], "number[]"),
    ("List", typing.List[int], "number[]"),  # noqa: UP006 (the old spelling is the case)
    ("set", set[str], "string[]"),
    ("frozenset", frozenset[str], "string[]"),
    ("Sequence", abc.Sequence[str], "string[]"),
    ("Iterable", abc.Iterable[str], "string[]"),
    ("Collection", abc.Collection[bool], "boolean[]"),
    ("deque", deque[int], "number[]"),
    ("list-of-union", list[int | None], "Array<number | null>"),
    ("list-of-lists", list[list[int]], "number[][]"),
    ("dict", dict[str, int], "Record<string, number>"),
    ("Dict", typing.Dict[str, list[int]], "Record<string, number[]>"),  # noqa: UP006 (the old spelling is the case)
    ("Mapping", abc.Mapping[str, bool], "Record<string, boolean>"),
    ("integer-keys", dict[int, str], "Record<number, string>"),
    ("float-keys", dict[float, str], "Record<number, string>"),
    ("tuple", tuple[str, int], "[string, number]"),
    ("Tuple", typing.Tuple[str, int], "[string, number]"),  # noqa: UP006 (the old spelling is the case)
    ("long-tuple", tuple[int, ...], "number[]"),
    ("long-tuple-of-union", tuple[int | str, ...], "Array<number | string>"),
    ("empty-tuple", tuple[()], "[]"),
    ("union", int | str, "number | string"),
    ("Union", Union[str, int, str], "string | number"),  # noqa: UP007 (the old spelling is the case)
    ("union-of-equal-forms", int | float, "number"),
    ("optional", Optional[str], "string | null"),  # noqa: UP045 (the old spelling is the case)
    ("null-last", None | str | int, "string | number | null"),
    ("literal", Literal["a", 1, True, None], '"a" | 1 | true | null'),
    ("literal-with-quotes", Literal['say "x"'], '"say \\"x\\""'),
    ("annotated-inside", list[Annotated[int, "a number"]], "number[]"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("python_type", "expected"), [row[1:] for row in EXPRESSIONS], ids=[row[0] for row in EXPRESSIONS]
)
def test_a_type_has_its_expression(python_type: Any, expected: str) -> None:
    assert python_type_to_typescript(python_type, "T") == f"export type T = {expected};\n"


class Address(TypedDict):
    """Where somebody lives.

    Streets are optional.
    """

    city: Annotated[str, typing_extensions.Doc("The town"), "not this"]
    street: NotRequired[str]


class Options(TypedDict, total=False):
    loud: bool
    name: Required[Annotated[str, "first", "second"]]


Odd = TypedDict("Odd", {"a b": int, "class": str, "1": NotRequired[bool]})


@dataclass
class Booking:
    guest: str
    address: Address
    again: Booking | None = None
    tags: list[str] = field(default_factory=list)


@dataclass
class Box(Generic[T]):
    """Holds one thing."""

    value: T
    more: list[T]


@dataclass
class Scale(Generic[N]):
    steps: list[N]


@dataclass
class Order:
    wine: Flavour
    boxes: Box[Box[int]]
    pair: Pair[str]
    tree: Tree


class Base(typing_extensions.TypedDict):
    a: int
    b: str


class Derived(Base):
    b: str
    c: NotRequired[bool]


class Wrapped(typing_extensions.TypedDict, Generic[T]):
    value: T


class WrappedNumber(Wrapped[int]):
    unit: str


@dataclass
class Animal:
    name: str
    legs: int = 4


@dataclass
class Dog(Animal):
    legs: int = 4
    tail: bool = True


WHOLE: list[tuple[str, Any, str]] = [
    (
        "typed-dictionary",
        Address,
        "// Where somebody lives.\n// Streets are optional.\n"
        "export interface Address {\n    // The town\n    city: string;\n    street?: string;\n}\n",
    ),
    (
        "not-total",
        Options,
        "export interface Options {\n    loud?: boolean;\n    // first\n    name: string;\n}\n",
    ),
    (
        "names-in-quotes",
        Odd,
        'export interface Odd {\n    "a b": number;\n    class: string;\n    "1"?: boolean;\n}\n',
    ),
    (
        "dataclass-that-holds-itself",
        Booking,
        "export interface Booking {\n    guest: string;\n    address: Address;\n    again?: Booking | null;\n    tags?: string[];\n}\n\n"
        "// Where somebody lives.\n// Streets are optional.\n"
        "export interface Address {\n    // The town\n    city: string;\n    street?: string;\n}\n",
    ),
    (
        "aliases-and-generics",
        Order,
        "export interface Order {\n    wine: Flavour;\n    boxes: Box<Box<number>>;\n    pair: Pair<string>;\n    tree: Tree;\n}\n\n"
        '// How it tastes\nexport type Flavour = "sweet" | "dry";\n\n'
        "// Holds one thing.\nexport interface Box<T> {\n    value: T;\n    more: T[];\n}\n\n"
        "export type Pair<T> = [T, T];\n\n"
        "export type Tree = number | Tree[];\n",
    ),
    (
        "generic-root",
        Box[str],
        "export type Response = Box<string>;\n\n// Holds one thing.\nexport interface Box<T> {\n    value: T;\n    more: T[];\n}\n",
    ),
    (
        "bound-variable",
        Scale[int],
        "export type Response = Scale<number>;\n\nexport interface Scale<N extends number> {\n    steps: N[];\n}\n",
    ),
    (
        "inherited-typed-dictionary",
        Derived,
        "export interface Derived extends Base {\n    c?: boolean;\n}\n\nexport interface Base {\n    a: number;\n    b: string;\n}\n",
    ),
    (
        "inherited-generic",
        WrappedNumber,
        "export interface WrappedNumber extends Wrapped<number> {\n    unit: string;\n}\n\nexport interface Wrapped<T> {\n    value: T;\n}\n",
    ),
    (
        "inherited-dataclass",
        Dog,
        "export interface Dog extends Animal {\n    tail?: boolean;\n}\n\nexport interface Animal {\n    name: string;\n    legs?: number;\n}\n",
    ),
    (
        "annotated-root",
        Annotated[list[Address], "All of them\non two lines"],
        "// All of them\n// on two lines\nexport type Response = Address[];\n\n"
        "// Where somebody lives.\n// Streets are optional.\n"
        "export interface Address {\n    // The town\n    city: string;\n    street?: string;\n}\n",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("python_type", "expected"), [row[1:] for row in WHOLE], ids=[row[0] for row in WHOLE]
)
def test_records_and_aliases_are_declared_once(python_type: Any, expected: str) -> None:
    assert python_type_to_typescript(python_type) == expected


class Plain:
    x: int


class Colour(enum.Enum):
    RED = "red"


def record(name: str, **members: Any) -> Any:
    return TypedDict(name, members)  # type: ignore[operator]  # made at run time


pydantic = pytest.importorskip("pydantic")

REFUSED: list[tuple[str, Any, str]] = [
    ("plain-class", Plain, "the type: Plain has no form"),
    ("enumeration", Colour, "Colour has no form"),
    ("date", datetime, "datetime has no form"),
    ("bytes", bytes, "bytes has no form"),
    ("pydantic-model", pydantic.create_model("Model", a=(int, 1)), "Model has no form"),
    ("bare-list", list, "list does not say what it holds"),
    ("bare-List", typing.List, "list does not say what it holds"),  # noqa: UP006 (the old spelling is the case)
    ("bare-dict", dict, "dict does not say what it holds"),
    ("bare-tuple", tuple, "tuple does not say what it holds"),
    ("bare-Tuple", typing.Tuple, "tuple does not say what it holds"),  # noqa: UP006 (the old spelling is the case)
    ("bare-Sequence", abc.Sequence, "Sequence does not say what it holds"),
    ("bare-generic-record", list[Box], "Box is generic"),
    ("ellipsis-in-front", tuple[..., int], "ellipsis"),
    ("ellipsis-inside", tuple[int, ..., str], "ellipsis"),
    ("ellipsis-behind-two", tuple[int, str, ...], "ellipsis"),
    ("ellipses", tuple[..., ...], "ellipsis"),
    ("bytes-literal", Literal[b"x"], "b'x' is no literal"),
    ("enum-literal", Literal[Colour.RED], "is no literal"),
    ("text-keys-only", dict[bool, int], "not bool"),
    ("two-types-with-one-name", record("R", a=Address, b=record("Address", x=int)), "two different types are called Address"),
    ("type-called-as-the-root", list[record("Response", x=int)], "two different types are called Response"),
    ("alias-of-what-is-not-there", list[Lost], "Lost: what it stands for cannot be read"),
    ("name-that-is-not-there", record("R", a="Nowhere"), "Nowhere"),
    ("member", record("R", when=list[datetime]), "R.when, elements: datetime"),
    ("function", len, "len has no form"),
    ("text", "str", "str has no form"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("python_type", "word"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_what_has_no_form_is_refused(python_type: Any, word: str) -> None:
    with pytest.raises(ValueError, match=re.escape(word)):
        python_type_to_typescript(python_type)


def test_all_errors_are_told_at_once() -> None:
    with pytest.raises(ValueError, match="a: datetime") as caught:
        python_type_to_typescript(record("Bad", a=datetime, b=list, c=Literal[b"x"], d=str))
    lines = str(caught.value).splitlines()
    assert [line.split(":")[0] for line in lines] == ["Bad.a", "Bad.b", "Bad.c"]


def test_a_root_name_must_be_one_of_typescript() -> None:
    with pytest.raises(ValueError, match="name of a TypeScript type"):
        python_type_to_typescript(int, "my type")


@pytest.mark.parametrize("python_type", [Booking, Order, Box[str], WrappedNumber, Dog, Options, Pair[int]])
def test_what_has_a_declaration_has_a_schema_too(python_type: Any) -> None:
    assert schema_from_type(python_type).root_types <= {"object", "array"}


def test_generic_types_are_filled_in_a_schema() -> None:
    schema = schema_from_type(Order)
    good = {
        "wine": "dry",
        "boxes": {"value": {"value": 1, "more": []}, "more": []},
        "pair": ["a", "b"],
        "tree": [1, [2]],
    }
    assert schema.check(good) == []
    found = schema.check(
        {**good, "boxes": {"value": {"value": "1", "more": []}, "more": []}, "pair": ["a", 2]}
    )
    assert [item.pointer for item in found] == ["/boxes/value/value", "/pair/1"]
    assert schema.value["$defs"]["Flavour"]["description"] == "How it tastes"
    assert schema_from_type(WrappedNumber).check({"value": "1", "unit": "m"})[0].pointer == "/value"
