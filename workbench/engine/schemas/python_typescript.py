"""Shows a Python type as TypeScript declarations, as TypeChat does, for those who describe their data in code."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Iterable
from typing import Any, Final, Literal, NewType, TypeVar

from workbench.engine.json_text import dumps
from workbench.engine.schemas.declarations import IDENTIFIER, check_type_name
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
from workbench.engine.schemas.typescript import array_of, union_of

__all__ = ["python_type_to_typescript"]

_SIMPLE: Final[dict[Any, str]] = {
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
    None: "null",
    type(None): "null",
    Any: "any",
    object: "any",
    typing.Never: "never",
    typing.NoReturn: "never",
    typing.LiteralString: "string",
    typing.Self: "this",
}


def python_type_to_typescript(python_type: Any, type_name: str = "Response") -> str:
    """Return TypeScript declarations for a Python type, by the rules of TypeChat for Python.

    Typed dictionaries and dataclasses become interfaces with their bases and type parameters, type aliases
    `type` declarations; the first text or `Doc` of an `Annotated` becomes a comment above the member, a docstring
    one above the type. The declaration of the root comes first; a root without a name is called `type_name`.

    Raises:
        ValueError: for what has no such form (other classes, enumerations, dates, pydantic models, generic types
            without arguments, ill-formed tuples, literals that are no JSON, two types with one name); the text
            names every one of them, each with its place.
    """
    check_type_name(type_name)
    writer = _Writer()
    text = writer.whole(python_type, type_name)
    if writer.errors:
        raise ValueError("\n".join(dict.fromkeys(writer.errors)))
    return text


class _Writer:
    """Collects the declarations that a type needs, each once, and what has no form."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.names: dict[str, Any] = {}
        self.pending: list[Any] = []

    def whole(self, root: Any, type_name: str) -> str:
        written: list[str] = []
        base = typing.get_origin(root) or root
        if not (is_record(base) or is_alias(base)) or base is not root:
            self.names[type_name] = root
            comment = first_text(root)
            written.append(f"{_comment(comment)}export type {type_name} = {self.type(root, 'the type')};")
        else:
            self.reference(root, "the type")
        while self.pending:
            declared = self.pending.pop(0)
            written.append(self.alias(declared) if is_alias(declared) else self.record(declared))
        return "\n\n".join(written) + "\n"

    # -- declarations

    def record(self, record: Any) -> str:
        name = record.__name__
        hints = self.hints(record)
        optional = optional_members(record, hints)
        inherited = self.inherited(record)
        lines: list[str] = []
        for member, hint in hints.items():
            if inherited.get(member) == (hint, member in optional):
                continue
            hint = plain_hint(hint)
            text = first_text(hint)
            lines += [f"    // {line}" for line in _lines(text)]
            key = member if IDENTIFIER.match(member) else dumps(member)
            mark = "?" if member in optional else ""
            lines.append(f"    {key}{mark}: {self.type(hint, f'{name}.{member}')};")
        bases = [self.base(base, name) for base in _record_bases(record)]
        extends = f" extends {', '.join(bases)}" if bases else ""
        head = f"export interface {name}{self.parameters(record)}{extends}"
        return _comment(documentation_of(record)) + "\n".join([f"{head} {{", *lines, "}"])

    def hints(self, record: Any) -> dict[str, Any]:
        try:
            return record_hints(record)
        except Exception as error:  # annotations are other people's code
            self.errors.append(f"{record.__name__}: its annotations cannot be read: {error}")
            return {}

    def inherited(self, record: Any) -> dict[str, tuple[Any, bool]]:
        """Return the members that bases which are declared themselves have, with whether they are optional."""
        found: dict[str, tuple[Any, bool]] = {}
        for base in _record_bases(record):
            base = typing.get_origin(base) or base
            hints = self.hints(base)
            optional = optional_members(base, hints)
            found |= {name: (hint, name in optional) for name, hint in hints.items()}
        return found

    def base(self, base: Any, name: str) -> str:
        return self.type(base, f"the base of {name}")

    def alias(self, alias: Any) -> str:
        try:
            value = alias_value(alias)
        except Exception as error:  # what an alias says is other people's code
            self.errors.append(f"{alias.__name__}: what it stands for cannot be read: {error}")
            value = Any
        text = first_text(value)
        return (
            f"{_comment(text)}export type {alias.__name__}{self.parameters(alias)} = "
            f"{self.type(value, alias.__name__)};"
        )

    def parameters(self, declared: Any) -> str:
        names = [self.parameter(variable, declared.__name__) for variable in type_parameters(declared)]
        return f"<{', '.join(names)}>" if names else ""

    def parameter(self, variable: Any, name: str) -> str:
        bound = getattr(variable, "__bound__", None)
        where = f"the bound of {variable.__name__} in {name}"
        return (
            variable.__name__ if bound is None else f"{variable.__name__} extends {self.type(bound, where)}"
        )

    # -- type expressions

    def type(self, python_type: Any, where: str) -> str:
        """Return the expression of a type that was met at `where`."""
        try:
            return _SIMPLE[python_type]
        except (KeyError, TypeError):
            pass
        if isinstance(python_type, TypeVar):
            return python_type.__name__
        if isinstance(python_type, NewType):
            return self.type(python_type.__supertype__, where)
        origin, arguments = typing.get_origin(python_type), typing.get_args(python_type)
        if origin is typing.Annotated:
            return self.type(arguments[0], where)
        if origin is Literal:
            return union_of([self.literal(value, where) for value in arguments])
        if is_union(origin):
            return union_of([self.type(argument, where) for argument in arguments])
        kind = python_type if origin is None else origin
        if is_record(kind) or is_alias(kind):
            return self.generic(kind, arguments, where)
        return self.container(kind, arguments, python_type, where)

    def literal(self, value: Any, where: str) -> str:
        if value is None or type(value) in (str, int, bool):
            return dumps(value)
        return self.refuse(f"{where}: {value!r} is no literal of JSON")

    def generic(self, kind: Any, arguments: tuple[Any, ...], where: str) -> str:
        name = self.reference(kind, where)
        if type_parameters(kind) and not arguments:
            return self.refuse(f"{where}: {name} is generic; write what it holds, such as {name}[str]")
        inner = [self.type(argument, f"{where}, {name}") for argument in arguments]
        return f"{name}<{', '.join(inner)}>" if inner else name

    def reference(self, declared: Any, where: str) -> str:
        name = str(declared.__name__)
        if name not in self.names:
            self.names[name] = declared
            self.pending.append(declared)
        elif self.names[name] is not declared:
            self.errors.append(f"{where}: two different types are called {name}")
        return name

    def container(self, kind: Any, arguments: tuple[Any, ...], python_type: Any, where: str) -> str:
        if kind in MAPS or kind in LISTS or kind in SETS or kind is tuple:
            if not arguments and not _is_empty_tuple(python_type):
                shown = name_of(kind)
                sample = f"{shown}[str, int]" if kind in MAPS else f"{shown}[str]"
                return self.refuse(
                    f"{where}: {shown} does not say what it holds; write {sample}, for example"
                )
            if kind is tuple:
                return self.tuple(arguments, where)
            if kind in MAPS:
                return self.map(arguments, where)
            return array_of(self.type(arguments[0], f"{where}, elements"))
        return self.refuse(f"{where}: {name_of(python_type)} has no form in TypeScript")

    def map(self, arguments: tuple[Any, ...], where: str) -> str:
        key, value = arguments
        if key not in (str, int, float):
            return self.refuse(f"{where}: names of members are texts or numbers, not {name_of(key)}")
        return f"Record<{_SIMPLE[key]}, {self.type(value, f'{where}, values')}>"

    def tuple(self, arguments: tuple[Any, ...], where: str) -> str:
        if len(arguments) == 2 and arguments[1] is Ellipsis and arguments[0] is not Ellipsis:
            return array_of(self.type(arguments[0], f"{where}, elements"))
        if Ellipsis in arguments:
            return self.refuse(f"{where}: an ellipsis stands only behind the one type of a tuple")
        parts = [self.type(item, f"{where}, element {number}") for number, item in enumerate(arguments)]
        return f"[{', '.join(parts)}]"

    def refuse(self, message: str) -> str:
        self.errors.append(message)
        return "any"


def _record_bases(record: Any) -> list[Any]:
    """Return the bases that are records, with their type arguments.

    The standard library's typed dictionaries forget plain bases before Python 3.12; all members are listed then.
    """
    bases = record.__dict__.get("__orig_bases__", record.__bases__)
    return [base for base in bases if is_record(typing.get_origin(base) or base)]


def _is_empty_tuple(python_type: Any) -> bool:
    return typing.get_origin(python_type) is tuple and python_type is not typing.Tuple  # noqa: UP006  # the bare name


def _lines(text: str | None) -> Iterable[str]:
    return (line.rstrip() for line in inspect.cleandoc(text).splitlines() if line.strip()) if text else ()


def _comment(text: str | None) -> str:
    return "".join(f"// {line}\n" for line in _lines(text))
