"""Derives a JSON Schema from a Python type, for those who describe their data in code."""

from __future__ import annotations

import enum
import re
import typing
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, Literal, NewType, TypeVar

from workbench.engine.json_text import escape_pointer
from workbench.engine.schemas.python_kinds import (
    LISTS,
    MAPS,
    SETS,
    alias_value,
    documentation_of,
    first_text,
    is_alias,
    is_record,
    is_union,
    name_of,
    optional_members,
    plain_hint,
    record_hints,
    type_parameters,
)
from workbench.engine.schemas.schema import JsonSchema

__all__ = ["schema_from_type"]

_SIMPLE: Final[dict[Any, dict[str, Any]]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    None: {"type": "null"},
    type(None): {"type": "null"},
    Any: {},
    object: {},
    typing.Never: {"not": {}},
    typing.NoReturn: {"not": {}},
    typing.LiteralString: {"type": "string"},
}


def schema_from_type(python_type: Any) -> JsonSchema:
    """Return the JSON Schema of a Python type.

    Understood are the JSON types, lists, sets, tuples, mappings with text keys, unions, `Literal`, enums,
    `Annotated` (its first text or `Doc` is the description), type aliases, dataclasses and typed dictionaries,
    also generic ones with their arguments, and, by their own `model_json_schema`, pydantic models. Members with
    a default are optional; further members are refused.

    Raises:
        TypeError: for a type that has no JSON form; the text names it and where it was met.
        SchemaError: where a model's own schema is not sound.
    """
    if _is_model(python_type):
        return JsonSchema.from_value(python_type.model_json_schema())
    converter = _Converter(python_type)
    schema = converter.convert(python_type, "the type", root=True)
    if converter.definitions:
        schema = {**schema, "$defs": converter.definitions}
    return JsonSchema.from_value(schema)


def _is_model(python_type: Any) -> bool:
    return isinstance(python_type, type) and callable(getattr(python_type, "model_json_schema", None))


class _Converter:
    """Converts one type; records become definitions, so that they may hold themselves."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self.definitions: dict[str, Any] = {}
        self._names: dict[Any, str] = {}
        self._bound: Mapping[Any, Any] = {}

    def convert(self, python_type: Any, where: str, *, root: bool = False) -> dict[str, Any]:
        try:
            return dict(_SIMPLE[python_type])
        except (KeyError, TypeError):
            pass
        if isinstance(python_type, TypeVar):
            return self.variable(python_type, where)
        if isinstance(python_type, NewType):
            return self.convert(python_type.__supertype__, where)
        origin, arguments = typing.get_origin(python_type), typing.get_args(python_type)
        kind = python_type if origin is None else origin
        if is_record(kind):
            return self.record(python_type) if root else self.reference(python_type, where)
        if is_alias(kind):
            return self.reference(python_type, where)
        if isinstance(python_type, type) and issubclass(python_type, enum.Enum):
            return {"enum": [member.value for member in python_type]}
        if _is_model(python_type):
            raise TypeError(
                f"{where}: a pydantic model inside another type has no form here; convert the model itself"
            )
        if origin is typing.Annotated:
            described = first_text(python_type)
            schema = self.convert(arguments[0], where)
            return schema if described is None else {**schema, "description": described}
        if origin is Literal:
            return {"const": arguments[0]} if len(arguments) == 1 else {"enum": list(arguments)}
        if is_union(origin):
            return self.union(arguments, where)
        return self.container(kind, arguments, python_type, where)

    def variable(self, variable: Any, where: str) -> dict[str, Any]:
        if variable in self._bound:
            return self.convert(self._bound[variable], where)
        raise TypeError(f"{where}: {variable.__name__} stands for a type that nobody names")

    def union(self, arguments: tuple[Any, ...], where: str) -> dict[str, Any]:
        branches = [self.convert(argument, where) for argument in arguments]
        names = [branch["type"] for branch in branches if list(branch) == ["type"]]
        if len(names) == len(branches):
            return {"type": names}
        return {"anyOf": branches}

    def container(
        self, kind: Any, arguments: tuple[Any, ...], python_type: Any, where: str
    ) -> dict[str, Any]:
        if kind is tuple:
            return self.tuple(arguments, where)
        if kind in MAPS:
            key, value = arguments or (str, Any)
            if key is not str:
                raise TypeError(f"{where}: names of members are texts in JSON, not {name_of(key)}")
            return {"type": "object", "additionalProperties": self.convert(value, f"{where}, values")}
        if kind in LISTS or kind in SETS:
            items = self.convert(arguments[0], f"{where}, elements") if arguments else {}
            unique = {"uniqueItems": True} if kind in SETS else {}
            return {"type": "array", "items": items, **unique}
        raise TypeError(f"{where}: {name_of(python_type)} has no form in JSON")

    def tuple(self, arguments: tuple[Any, ...], where: str) -> dict[str, Any]:
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return {"type": "array", "items": self.convert(arguments[0], f"{where}, elements")}
        if Ellipsis in arguments:
            raise TypeError(f"{where}: an ellipsis stands only at the end of a tuple of one type")
        if not arguments:
            return {"type": "array", "maxItems": 0}
        first = [self.convert(item, f"{where}, element {index}") for index, item in enumerate(arguments)]
        return {"type": "array", "prefixItems": first, "items": False, "minItems": len(first)}

    def reference(self, named: Any, where: str) -> dict[str, Any]:
        """Return a reference to a record or an alias, which becomes a definition."""
        named = self.filled(named)
        kind = typing.get_origin(named) or named
        if named == self.root and is_record(kind):
            return {"$ref": "#"}
        if named not in self._names:
            name = _definition_name(named)
            if name in self.definitions:
                raise TypeError(f"{where}: two different types are called {name}")
            self._names[named] = name
            self.definitions[name] = {}  # known before it is finished, for types that hold themselves
            self.definitions[name] = self.alias(named) if is_alias(kind) else self.record(named)
        return {"$ref": f"#/$defs/{escape_pointer(self._names[named])}"}

    def filled(self, named: Any) -> Any:
        """Return a generic type with what its variables stand for here, so that equal uses are one."""
        arguments = typing.get_args(named)
        if not any(argument in self._bound for argument in arguments if isinstance(argument, TypeVar)):
            return named
        values = tuple(
            self._bound.get(each, each) if isinstance(each, TypeVar) else each for each in arguments
        )
        return typing.get_origin(named)[values]

    def alias(self, alias: Any) -> dict[str, Any]:
        kind = typing.get_origin(alias) or alias
        with self._binding(kind, alias):
            return self.convert(alias_value(kind), kind.__name__)

    def record(self, record: Any) -> dict[str, Any]:
        kind = typing.get_origin(record) or record
        hints = record_hints(kind)
        optional = optional_members(kind, hints)
        with self._binding(kind, record):
            properties = {
                name: self.convert(plain_hint(hint), f"{kind.__name__}.{name}")
                for name, hint in hints.items()
            }
        schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
        required = [name for name in hints if name not in optional]
        if required:
            schema["required"] = required
        text = documentation_of(kind)
        return schema if text is None else {"description": " ".join(text.split()), **schema}

    @contextmanager
    def _binding(self, kind: Any, used: Any) -> Iterator[None]:
        """Let the variables of a generic type, and of the bases it fills, stand for its arguments."""
        before = self._bound
        self._bound = {**before, **_variables(kind, typing.get_args(used))}
        try:
            yield
        finally:
            self._bound = before


def _variables(kind: Any, arguments: tuple[Any, ...]) -> dict[Any, Any]:
    found = dict(zip(type_parameters(kind), arguments, strict=False))
    for base in getattr(kind, "__orig_bases__", ()):
        origin = typing.get_origin(base)
        if is_record(origin):
            inner = tuple(found.get(each, each) for each in typing.get_args(base))
            found |= _variables(origin, inner)
    return found


def _definition_name(named: Any) -> str:
    """Return the name of a type, with its arguments where it has some."""
    origin = typing.get_origin(named)
    if origin is None:
        return str(named.__name__)
    inner = "_".join(re.sub(r"\W+", "_", name_of(each)) for each in typing.get_args(named))
    return f"{origin.__name__}_{inner}"
