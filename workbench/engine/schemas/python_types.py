"""Derives a JSON Schema from a Python type, for those who describe their data in code."""

from __future__ import annotations

import collections.abc
import dataclasses
import enum
import types
import typing
from typing import Any, Final, Literal, NewType, Union

from workbench.engine.json_text import escape_pointer
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
}
_SETS: Final = (set, frozenset, collections.abc.Set, collections.abc.MutableSet)
_LISTS: Final = (
    list,
    collections.abc.Sequence,
    collections.abc.MutableSequence,
    collections.abc.Collection,
    collections.abc.Iterable,
)
_MAPS: Final = (dict, collections.abc.Mapping, collections.abc.MutableMapping)


def schema_from_type(python_type: Any) -> JsonSchema:
    """Return the JSON Schema of a Python type.

    Understood are the JSON types, lists, sets, tuples, mappings with text keys, unions, `Literal`, enums,
    `Annotated` (its first text is the description), dataclasses, typed dictionaries and, by their own
    `model_json_schema`, pydantic models. Members with a default are optional; others are refused.

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


def _is_record(python_type: Any) -> bool:
    return isinstance(python_type, type) and (
        dataclasses.is_dataclass(python_type) or typing.is_typeddict(python_type)
    )


class _Converter:
    """Converts one type; records become definitions, so that they may hold themselves."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self.definitions: dict[str, Any] = {}
        self._names: dict[Any, str] = {}

    def convert(self, python_type: Any, where: str, *, root: bool = False) -> dict[str, Any]:
        try:
            return dict(_SIMPLE[python_type])
        except (KeyError, TypeError):
            pass
        if isinstance(python_type, NewType):
            return self.convert(python_type.__supertype__, where)
        if _is_record(python_type):
            return self.record(python_type, where) if root else self.reference(python_type, where)
        if isinstance(python_type, type) and issubclass(python_type, enum.Enum):
            return {"enum": [member.value for member in python_type]}
        if _is_model(python_type):
            raise TypeError(
                f"{where}: a pydantic model inside another type has no form here; convert the model itself"
            )
        origin, arguments = typing.get_origin(python_type), typing.get_args(python_type)
        if origin is typing.Annotated:
            described = next((item for item in arguments[1:] if isinstance(item, str)), None)
            schema = self.convert(arguments[0], where)
            return schema if described is None else {**schema, "description": described}
        if origin is Literal:
            return {"const": arguments[0]} if len(arguments) == 1 else {"enum": list(arguments)}
        if origin in (Union, types.UnionType):
            return self.union(arguments, where)
        return self.container(python_type if origin is None else origin, arguments, python_type, where)

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
        if kind in _MAPS:
            key, value = arguments or (str, Any)
            if key is not str:
                raise TypeError(f"{where}: names of members are texts in JSON, not {_name(key)}")
            return {"type": "object", "additionalProperties": self.convert(value, f"{where}, values")}
        if kind in _LISTS or kind in _SETS:
            items = self.convert(arguments[0], f"{where}, elements") if arguments else {}
            unique = {"uniqueItems": True} if kind in _SETS else {}
            return {"type": "array", "items": items, **unique}
        raise TypeError(f"{where}: {_name(python_type)} has no form in JSON")

    def tuple(self, arguments: tuple[Any, ...], where: str) -> dict[str, Any]:
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return {"type": "array", "items": self.convert(arguments[0], f"{where}, elements")}
        if Ellipsis in arguments:
            raise TypeError(f"{where}: an ellipsis stands only at the end of a tuple of one type")
        if not arguments:
            return {"type": "array", "maxItems": 0}
        first = [self.convert(item, f"{where}, element {index}") for index, item in enumerate(arguments)]
        return {"type": "array", "prefixItems": first, "items": False, "minItems": len(first)}

    def reference(self, record: Any, where: str) -> dict[str, Any]:
        if record is self.root:
            return {"$ref": "#"}
        if record not in self._names:
            name = record.__name__
            if name in self.definitions:
                raise TypeError(f"{where}: two different types are called {name}")
            self._names[record] = name
            self.definitions[name] = {}  # known before it is finished, for records that hold themselves
            self.definitions[name] = self.record(record, where)
        return {"$ref": f"#/$defs/{escape_pointer(self._names[record])}"}

    def record(self, record: Any, where: str) -> dict[str, Any]:
        hints = typing.get_type_hints(record, include_extras=True)
        typed_dict = typing.is_typeddict(record)
        required = _required_keys(record) if typed_dict else _fields_without_default(record)
        names = list(hints) if typed_dict else [field.name for field in dataclasses.fields(record)]
        properties: dict[str, Any] = {}
        for name in names:
            hint = hints[name]
            while typing.get_origin(hint) in (typing.Required, typing.NotRequired):
                hint = typing.get_args(hint)[0]
            properties[name] = self.convert(hint, f"{record.__name__}.{name}")
        schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
        if required:
            schema["required"] = [name for name in names if name in required]
        text = _documentation(record)
        return schema if text is None else {"description": text, **schema}


def _required_keys(record: Any) -> frozenset[str]:
    """Return the required members of a typed dictionary, also where its annotations are texts."""
    found: set[str] = set(record.__required_keys__)
    for name, hint in typing.get_type_hints(record, include_extras=True).items():
        origin = typing.get_origin(hint)
        if origin is typing.NotRequired:
            found.discard(name)
        elif origin is typing.Required:
            found.add(name)
    return frozenset(found)


def _fields_without_default(record: Any) -> frozenset[str]:
    return frozenset(
        field.name
        for field in dataclasses.fields(record)
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    )


def _documentation(record: Any) -> str | None:
    """Return the docstring, but not the one that dataclasses make of the signature."""
    text, made = record.__doc__, f"{record.__name__}("
    if not text or (dataclasses.is_dataclass(record) and text.startswith(made)):
        return None
    return " ".join(text.split())


def _name(python_type: Any) -> str:
    return getattr(python_type, "__name__", None) or str(python_type)
