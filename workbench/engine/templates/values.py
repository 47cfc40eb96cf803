"""Turns JSON-like values into the text that a template inserts, and takes snapshots of parameters."""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from workbench.engine.json_text import dumps, join_pointer

_TYPE_NAMES: dict[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    type(None): "null",
    dict: "object",
    list: "array",
    tuple: "array",
}


class TextParametersError(ValueError):
    """The text parameters are not JSON-like. `pointer` names the value that is not."""

    def __init__(self, message: str, pointer: str) -> None:
        super().__init__(f"{message} (at {pointer or 'the root'} of the text parameters)")
        self.pointer = pointer


def type_name(value: Any) -> str:
    """Return the JSON name of the type of `value`; for what is not JSON, the name of its class."""
    name = _TYPE_NAMES.get(value.__class__)
    if name is not None:
        return name
    for kind, known in ((bool, "boolean"), (str, "string"), (int, "integer"), (float, "number")):
        if isinstance(value, kind):
            return known
    if isinstance(value, Mapping):
        return "object"
    if isinstance(value, list | tuple):
        return "array"
    return type(value).__name__


def integer_text(value: int) -> str:
    """Return all digits of `value`, however many."""
    try:
        return int.__repr__(value)
    except ValueError:  # Python refuses more than some thousand digits; decimals do not
        return format(decimal.Decimal(value), "f")


def value_text(value: Any, null_text: str = "") -> str:
    """Return the text of a JSON-like `value`: strings as they are, everything else as JSON text.

    Integers are exact, floats keep their decimal point, lists and maps become JSON with non-ASCII as it is.

    Raises:
        ValueError: for NaN, an infinity, or a value that contains itself.
        TypeError: for what JSON cannot hold.
    """
    kind = value.__class__
    if kind is str:
        return value  # type: ignore[no-any-return]
    if value is None:
        return null_text
    if kind is bool:
        return "true" if value else "false"
    if kind is int:
        return integer_text(value)
    if kind is float:
        if math.isfinite(value):
            return repr(value)
        raise ValueError(f"{value!r} is not a JSON number")
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return integer_text(int(value))
    if isinstance(value, float):
        return value_text(float(value))
    if isinstance(value, Mapping | list | tuple):
        return dumps(snapshot(value) if kind is not dict and kind is not list else value)
    raise TypeError(f"a value of type {type(value).__name__} is not JSON")


def foreign_text(value: Any, null_text: str = "") -> str:
    """Return the text of what a resolver or replacer of the caller returned: JSON-like, or any object by `str`."""
    try:
        return value_text(value, null_text)
    except TypeError:
        return str(value)


def snapshot(parameters: Any) -> Any:
    """Return a deep copy of JSON-like `parameters`, made of plain dicts, lists and scalars.

    Shared parts stay shared. Any depth is copied without recursion.

    Raises:
        TextParametersError: for a value that JSON cannot hold, NaN and infinities, a key that is no string,
            or a container that contains itself.
    """
    return copy_json(parameters, lambda text, place: text)


Place = Callable[[], str]
"""Gives the JSON Pointer of the string at hand; only asked where it is needed."""


def copy_json(parameters: Any, change: Callable[[str, Place], str]) -> Any:
    """Return a copy of `parameters` as `snapshot` does, with each string replaced by `change(text, place)`."""
    return _Copier(change).copy(parameters)


class _Copier:
    """One copy at work: a stack of half-read containers, and the finished copies by identity."""

    def __init__(self, change: Callable[[str, Place], str]) -> None:
        self.change = change
        self.done: dict[int, Any] = {}
        self.open: set[int] = set()
        self.path: list[str | int] = []
        self.stack: list[tuple[int, Any, Iterator[tuple[str | int, Any]]]] = []

    def copy(self, value: Any) -> Any:
        result = self._value(value)
        while self.stack:
            identity, target, entries = self.stack[-1]
            for key, item in entries:
                self.path.append(key)
                depth = len(self.stack)
                copied = self._value(item)
                if target.__class__ is dict:
                    target[key] = copied
                else:
                    target.append(copied)
                if len(self.stack) > depth:
                    break
                self.path.pop()
            else:
                self.stack.pop()
                self.open.discard(identity)
                if self.path:
                    self.path.pop()
        return result

    def _value(self, value: Any) -> Any:
        if value is None or value is True or value is False:
            return value
        if isinstance(value, str):
            text = value if value.__class__ is str else str.__str__(value)
            return self.change(text, self._place)
        if isinstance(value, int):
            return value if value.__class__ is int else int(value)
        if isinstance(value, float):
            if not math.isfinite(value):
                raise TextParametersError(f"{float(value)!r} is not a JSON number", self._place())
            return value if value.__class__ is float else float(value)
        if isinstance(value, Mapping):
            return self._container(value, {}, self._members(value))
        if isinstance(value, list | tuple):
            return self._container(value, [], iter(enumerate(value)))
        raise TextParametersError(
            f"a value of type {type(value).__name__} is not JSON; give null, booleans, numbers, "
            "strings, lists or maps",
            self._place(),
        )

    def _container(self, value: Any, target: Any, entries: Iterator[tuple[str | int, Any]]) -> Any:
        identity = id(value)
        if identity in self.open:
            raise TextParametersError("the value contains itself", self._place())
        if identity in self.done:
            return self.done[identity]
        self.done[identity] = target
        self.open.add(identity)
        self.stack.append((identity, target, entries))
        return target

    def _members(self, value: Mapping[Any, Any]) -> Iterator[tuple[str | int, Any]]:
        for key, item in value.items():
            if not isinstance(key, str):
                raise TextParametersError(f"the key {key!r} is not a string", self._place())
            yield (key if key.__class__ is str else str.__str__(key)), item

    def _place(self) -> str:
        return join_pointer(*self.path)


def resolve_segments(value: Any, segments: Sequence[str | int]) -> tuple[bool, Any, tuple[str | int, ...]]:
    """Walk from `value` along member names and indexes, without ever touching an attribute.

    Returns (found, value, steps): the value and the normalised steps that lead to it, or, where nothing is
    found, the deepest value that was reached and the steps that lead there. A negative index counts from the
    end of its list.
    """
    steps: list[str | int] = []
    for segment in segments:
        if segment.__class__ is str:
            if not isinstance(value, Mapping) or segment not in value:
                return False, value, tuple(steps)
            value = value[segment]
        else:
            if not isinstance(value, list | tuple):
                return False, value, tuple(steps)
            index = int(segment)
            if index < 0:
                index += len(value)
            if not 0 <= index < len(value):
                return False, value, tuple(steps)
            segment = index
            value = value[index]
        steps.append(segment)
    return True, value, tuple(steps)
