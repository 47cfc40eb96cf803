"""Tells what kind of thing a Python type is, for everything that turns types into schemas or declarations."""

from __future__ import annotations

import collections
import collections.abc
import dataclasses
import sys
import types
import typing
from typing import Any, Final, Union

__all__ = [
    "LISTS",
    "MAPS",
    "SETS",
    "alias_value",
    "documentation_of",
    "first_text",
    "is_alias",
    "is_record",
    "is_union",
    "name_of",
    "optional_members",
    "plain_hint",
    "record_hints",
    "type_parameters",
]

SETS: Final = (set, frozenset, collections.abc.Set, collections.abc.MutableSet)
LISTS: Final = (
    list,
    collections.deque,
    collections.abc.Sequence,
    collections.abc.MutableSequence,
    collections.abc.Collection,
    collections.abc.Container,
    collections.abc.Iterable,
    collections.abc.Iterator,
    collections.abc.Reversible,
)
MAPS: Final = (dict, collections.OrderedDict, collections.abc.Mapping, collections.abc.MutableMapping)

_WRAPPERS: Final = (typing.Required, typing.NotRequired)


def is_record(python_type: Any) -> bool:
    """Tell whether a type is a dataclass or a typed dictionary, of `typing` or of `typing_extensions`."""
    return isinstance(python_type, type) and (
        dataclasses.is_dataclass(python_type) or is_typed_dict(python_type)
    )


def is_typed_dict(python_type: Any) -> bool:
    """Tell whether a type is a typed dictionary."""
    return (
        isinstance(python_type, type) and issubclass(python_type, dict) and hasattr(python_type, "__total__")
    )


def is_alias(python_type: Any) -> bool:
    """Tell whether something is a type alias of the `type` statement, or the one of `typing_extensions`."""
    return type(python_type).__name__ == "TypeAliasType" and hasattr(python_type, "__value__")


def alias_value(alias: Any) -> Any:
    """Return what a type alias stands for; texts in it are looked up in the alias's own module.

    Raises:
        NameError: the alias names something that is not there; its text may raise anything else too.
    """
    names = vars(sys.modules[alias.__module__]) if alias.__module__ in sys.modules else {}
    own = {variable.__name__: variable for variable in alias.__type_params__}
    holder = type("Holder", (), {"__annotations__": {"value": alias.__value__}})
    return typing.get_type_hints(holder, names, own, include_extras=True)["value"]


def type_parameters(declared: Any) -> tuple[Any, ...]:
    """Return the type variables of a generic class or alias, in either spelling."""
    return tuple(getattr(declared, "__parameters__", ()) or getattr(declared, "__type_params__", ()))


def is_union(origin: Any) -> bool:
    """Tell whether the origin of a type is a union, in either spelling."""
    return origin in (Union, types.UnionType)


def plain_hint(hint: Any) -> Any:
    """Return a member's type without `Required`, `NotRequired` and `ReadOnly` around it or in its `Annotated`."""
    while _wrapper(hint) is not None:
        hint = typing.get_args(hint)[0]
    if typing.get_origin(hint) is typing.Annotated:
        inner, *remarks = typing.get_args(hint)
        if _wrapper(inner) is not None:
            return typing.Annotated[(plain_hint(inner), *remarks)]
    return hint


def _wrapper(hint: Any) -> str | None:
    """Return `Required`, `NotRequired` or `ReadOnly` where it stands around a type."""
    origin = typing.get_origin(hint)
    name = getattr(origin, "_name", None)
    return name if origin in _WRAPPERS or name in ("Required", "NotRequired", "ReadOnly") else None


def record_hints(record: Any) -> dict[str, Any]:
    """Return the types of a record's members in their order, those of its bases included.

    Raises:
        NameError: an annotation names something that is not there; annotations may raise anything else too.
    """
    hints = typing.get_type_hints(record, include_extras=True)
    if is_typed_dict(record):
        return hints
    return {field.name: hints[field.name] for field in dataclasses.fields(record)}


def optional_members(record: Any, hints: dict[str, Any]) -> frozenset[str]:
    """Return the members that may be left out: those with a default, and what a typed dictionary says so of."""
    if not is_typed_dict(record):
        return frozenset(
            field.name
            for field in dataclasses.fields(record)
            if field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
        )
    found = set(record.__optional_keys__)
    for name, hint in hints.items():  # where annotations are texts, the class does not know of these wrappers
        while _wrapper(hint) is not None or typing.get_origin(hint) is typing.Annotated:
            wrapper = _wrapper(hint)
            if wrapper == "NotRequired":
                found.add(name)
            elif wrapper == "Required":
                found.discard(name)
            hint = typing.get_args(hint)[0]
    return frozenset(found)


def first_text(hint: Any) -> str | None:
    """Return the first text, or the text of the first `Doc`, of an `Annotated` type."""
    if typing.get_origin(hint) is not typing.Annotated:
        return None
    for item in typing.get_args(hint)[1:]:
        text = item if isinstance(item, str) else getattr(item, "documentation", None)
        if isinstance(text, str):
            return text
    return None


def documentation_of(record: Any) -> str | None:
    """Return a record's docstring, but not the one that dataclasses make of the signature."""
    text, made = record.__doc__, f"{record.__name__}("
    if not text or (dataclasses.is_dataclass(record) and text.startswith(made)):
        return None
    return str(text)


def name_of(python_type: Any) -> str:
    """Return a type's name for messages."""
    return getattr(python_type, "__name__", None) or str(python_type)
