"""Checks and evaluates small programs over an allow-list of functions, as a model writes them for a request.

A program is `{"@steps": [call, …]}`. A call is `{"@func": name}` with `"@args": [argument, …]` when it has any. An
argument is a JSON value, a call, or `{"@ref": n}`, the result of an earlier step counted from 0. The form and
the rules are those of TypeChat's program translator.
"""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.json_text import dumps, join_pointer
from workbench.engine.text import nearest, shorten
from workbench.engine.translation.wording import list_diagnostics

MAX_DEPTH = 100
"""Levels of calls, arrays and objects that an argument may have."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_CALL_KEYS = frozenset({"@func", "@args"})
_Path = tuple[str | int, ...]


class ProgramError(ValueError):
    """A program is wrong; `diagnostics` name each place by JSON Pointer."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__(list_diagnostics(diagnostics))
        self.diagnostics = tuple(diagnostics)


@dataclass(frozen=True, slots=True)
class ProgramParameter:
    """One parameter of a function: its name and the JSON Schema (a value) of what it takes."""

    name: str
    schema: Any = True
    required: bool = True


@dataclass(frozen=True, slots=True)
class ProgramFunction:
    """A function that programs may call: what the prompt says of it and what its arguments must be.

    With `variadic` the last parameter takes any number of arguments.
    """

    name: str
    parameters: tuple[ProgramParameter, ...] = ()
    description: str = ""
    returns: Any = True
    variadic: bool = False

    @classmethod
    def of(cls, name: str, function: Callable[..., Any]) -> ProgramFunction:
        """Describe a Python function by its signature and the first line of its docstring."""
        doc = (inspect.getdoc(function) or "").split("\n", 1)[0]
        try:
            signature = inspect.signature(function, eval_str=True)
        except (TypeError, ValueError, NameError):
            return cls(name, (ProgramParameter("args", True, False),), doc, variadic=True)
        parameters, variadic = [], False
        for parameter in signature.parameters.values():
            if parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_KEYWORD):
                continue
            if parameter.kind is parameter.VAR_POSITIONAL:
                variadic = True
            required = parameter.default is parameter.empty and parameter.kind is not parameter.VAR_POSITIONAL
            parameters.append(ProgramParameter(parameter.name, _schema_of(parameter.annotation), required))
        return cls(name, tuple(parameters), doc, _schema_of(signature.return_annotation), variadic)

    def signature(self) -> str:
        """Return the function as one line of an interface, in TypeScript's notation."""
        shown = []
        for index, parameter in enumerate(self.parameters):
            last = self.variadic and index == len(self.parameters) - 1
            mark = "" if parameter.required or last else "?"
            text = f"{parameter.name}{mark}: {_type_text(parameter.schema)}"
            shown.append(f"...{text}[]" if last else text)
        return f"{self.name}({', '.join(shown)}): {_type_text(self.returns)};"


_PYTHON_TYPES: dict[Any, Any] = {
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    bool: {"type": "boolean"},
    list: {"type": "array"},
    dict: {"type": "object"},
    None: {"type": "null"},
}
_TYPE_WORDS = {"integer": "number", "array": "any[]", "object": "object"}


def _schema_of(annotation: Any) -> Any:
    origin = getattr(annotation, "__origin__", annotation)
    return _PYTHON_TYPES.get(origin, True) if isinstance(origin, type) or origin is None else True


def _type_text(schema: Any) -> str:
    if not isinstance(schema, Mapping):
        return "any"
    if isinstance(schema.get("enum"), list):
        return " | ".join(dumps(item) for item in schema["enum"])
    names = schema.get("type")
    listed = names if isinstance(names, list) else [names]
    if names == "array" and isinstance(schema.get("items"), Mapping):
        return f"{_type_text(schema['items'])}[]"
    return " | ".join(_TYPE_WORDS.get(name, name) for name in listed if isinstance(name, str)) or "any"


Functions = Mapping[str, Any] | Iterable[ProgramFunction]


def describe_functions(functions: Functions) -> dict[str, ProgramFunction]:
    """Return the descriptions of an allow-list: a mapping of names to functions or descriptions, or descriptions.

    Raises:
        ValueError: a name that no program could call.
    """
    found: dict[str, ProgramFunction] = {}
    if isinstance(functions, Mapping):
        for name, entry in functions.items():
            found[name] = entry if isinstance(entry, ProgramFunction) else ProgramFunction.of(name, entry)
    else:
        found = {function.name: function for function in functions}
    for name in found:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ValueError(
                f"{shorten(name)!r} is no name for a function of programs: use ASCII letters, digits and _."
            )
    return found


# --- checking -----------------------------------------------------------------------------------------------


def check_program(program: Any, functions: Functions) -> list[Diagnostic]:
    """Return what is wrong with a program: its form, names, references, numbers of arguments, and literal
    arguments that do not fit the declared schema. Nothing is called."""
    return _Checker(describe_functions(functions)).check(program)


class _Checker:
    def __init__(self, functions: Mapping[str, ProgramFunction]) -> None:
        self.functions = functions
        self.found: list[Diagnostic] = []

    def report(self, path: _Path, code: str, message: str, hint: str | None = None) -> None:
        self.found.append(Diagnostic("error", code, message, pointer=join_pointer(*path), hint=hint))

    def check(self, program: Any) -> list[Diagnostic]:
        if not isinstance(program, dict) or not isinstance(program.get("@steps"), list):
            self.report((), "program", 'A program is an object whose "@steps" is a list of calls.')
            return self.found
        for key in program:
            if key != "@steps":
                self.report((key,), "program", f"A program holds nothing but @steps, not {key!r}.")
        for index, step in enumerate(program["@steps"]):
            path: _Path = ("@steps", index)
            if isinstance(step, dict) and "@func" in step:
                self.walk(step, path, index)
            else:
                self.report(path, "program", 'A step is a call: an object with "@func".')
        return self.found

    def walk(self, node: Any, path: _Path, completed: int) -> None:
        """Check one step with everything nested in it; `completed` steps come before it."""
        pending: list[tuple[Any, _Path, int]] = [(node, path, 0)]
        while pending:
            node, path, depth = pending.pop()
            if depth > MAX_DEPTH:
                self.report(path, "program", f"The arguments are nested more than {MAX_DEPTH} levels deep.")
            elif isinstance(node, list):
                pending += [(item, (*path, i), depth + 1) for i, item in enumerate(node)]
            elif isinstance(node, dict):
                pending += self.object(node, path, completed, depth)

    def object(
        self, node: dict[str, Any], path: _Path, completed: int, depth: int
    ) -> list[tuple[Any, _Path, int]]:
        if "@ref" in node:
            self.reference(node, path, completed)
            return []
        if "@func" in node:
            return self.call(node, path, depth)
        return [(member, (*path, key), depth + 1) for key, member in node.items()]

    def reference(self, node: dict[str, Any], path: _Path, completed: int) -> None:
        if len(node) > 1:
            self.report(path, "reference", "A reference holds @ref and nothing else.")
            return
        if reference_index(node["@ref"], completed) is None:
            allowed = (
                f"a whole number from 0 to {completed - 1}" if completed else "impossible in the first step"
            )
            self.report(
                path,
                "reference",
                f"@ref {_shown(node['@ref'])} does not name an earlier step; here it must be {allowed}.",
            )

    def call(self, node: dict[str, Any], path: _Path, depth: int) -> list[tuple[Any, _Path, int]]:
        for key in node:
            if key not in _CALL_KEYS:
                self.report((*path, key), "call", f"A call holds @func and @args, not {key!r}.")
        arguments = node.get("@args", [])
        if not isinstance(arguments, list):
            self.report((*path, "@args"), "call", f"@args must be a list, not {_shown(arguments)}.")
            arguments = []
        function = self.function(node["@func"], path)
        if function is not None:
            self.arguments(function, arguments, path)
        return [(item, (*path, "@args", i), depth + 1) for i, item in enumerate(arguments)]

    def function(self, name: Any, path: _Path) -> ProgramFunction | None:
        if isinstance(name, str) and _NAME.fullmatch(name) and name in self.functions:
            return self.functions[name]
        close = nearest(name, self.functions) if isinstance(name, str) else None
        hint = f"Did you mean {close}?" if close else f"Functions are {', '.join(self.functions) or 'none'}."
        self.report((*path, "@func"), "function", f"There is no function {_shown(name)}.", hint)
        return None

    def arguments(self, function: ProgramFunction, arguments: list[Any], path: _Path) -> None:
        least = sum(parameter.required for parameter in function.parameters)
        most = None if function.variadic else len(function.parameters)
        if len(arguments) < least or (most is not None and len(arguments) > most):
            wanted = (
                str(least) if most == least else f"at least {least}" if most is None else f"{least} to {most}"
            )
            self.report(
                (*path, "@args"),
                "arguments",
                f"{function.name} takes {wanted} argument{'s' * (wanted != '1')}, not {len(arguments)}.",
            )
            return
        for index, argument in enumerate(arguments):
            parameter = function.parameters[min(index, len(function.parameters) - 1)]
            if isinstance(parameter.schema, Mapping) and not _has_calls(argument):
                self.literal(parameter, argument, (*path, "@args", index))

    def literal(self, parameter: ProgramParameter, argument: Any, path: _Path) -> None:
        from workbench.engine.schemas import JsonSchema

        for diagnostic in JsonSchema.from_value(dict(parameter.schema)).check(argument):
            inner = join_pointer(*path) + (diagnostic.pointer or "")
            self.found.append(diagnostic.at(pointer=inner))


def reference_index(value: Any, completed: int) -> int | None:
    """Return the step that `@ref` names, or `None`: a whole number of a step that was completed before."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < completed:
        return None
    return value


def _has_calls(argument: Any) -> bool:
    pending = [argument]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            if "@ref" in node or "@func" in node:
                return True
            pending += node.values()
        elif isinstance(node, list):
            pending += node
    return False


def _shown(value: Any) -> str:
    try:
        return shorten(dumps(value), 60)
    except (ValueError, TypeError):
        return shorten(repr(value), 60)


# --- evaluation ---------------------------------------------------------------------------------------------


def evaluate_program(program: Any, functions: Mapping[str, Callable[..., Any]]) -> Any:
    """Run a program and return the value of its last step, None for a program without steps.

    Only the functions of the mapping can be called, by exactly those names; the whole program is checked first,
    so a wrong one calls nothing. What a function raises comes out unchanged.

    Raises:
        ProgramError: the program is wrong.
        TypeError: a function is asynchronous (use `evaluate_program_async`).
    """
    steps = _checked_steps(program, functions)
    results: list[Any] = []
    for step in steps:
        results.append(_value(step, results, functions))
    return results[-1] if results else None


def _value(node: Any, results: Sequence[Any], functions: Mapping[str, Callable[..., Any]]) -> Any:
    if isinstance(node, list):
        return [_value(item, results, functions) for item in node]
    if not isinstance(node, dict):
        return node
    if "@ref" in node:
        return results[_index(node, results)]
    if "@func" not in node:
        return {key: _value(member, results, functions) for key, member in node.items()}
    arguments = [_value(item, results, functions) for item in node.get("@args", [])]
    answer = functions[node["@func"]](*arguments)
    if inspect.isawaitable(answer):
        if inspect.iscoroutine(answer):
            answer.close()
        raise TypeError(f"{node['@func']} is asynchronous; use evaluate_program_async.")
    return answer


async def evaluate_program_async(
    program: Any,
    functions: Mapping[str, Callable[..., Any]],
    *,
    on_step: Callable[[int, Any], None] | None = None,
) -> Any:
    """Do what `evaluate_program` does for functions that may be asynchronous.

    Steps run one after another; the arguments of one call are evaluated concurrently. `on_step(index, value)` is
    told the value of each step as it is known.

    Raises:
        ProgramError: the program is wrong.
    """
    steps = _checked_steps(program, functions)
    results: list[Any] = []
    for step in steps:
        results.append(await _value_async(step, results, functions))
        if on_step is not None:
            on_step(len(results) - 1, results[-1])
    return results[-1] if results else None


async def _value_async(node: Any, results: Sequence[Any], functions: Mapping[str, Callable[..., Any]]) -> Any:
    if isinstance(node, list):
        return list(await asyncio.gather(*(_value_async(item, results, functions) for item in node)))
    if not isinstance(node, dict):
        return node
    if "@ref" in node:
        return results[_index(node, results)]
    if "@func" not in node:
        members = await asyncio.gather(*(_value_async(m, results, functions) for m in node.values()))
        return dict(zip(node, members, strict=True))
    arguments = await _value_async(node.get("@args", []), results, functions)
    answer = functions[node["@func"]](*arguments)
    return await answer if inspect.isawaitable(answer) else answer


def _checked_steps(program: Any, functions: Mapping[str, Callable[..., Any]]) -> list[Any]:
    problems = check_program(program, functions)
    if problems:
        raise ProgramError(problems)
    steps: list[Any] = program["@steps"]
    return steps


def _index(node: Mapping[str, Any], results: Sequence[Any]) -> int:
    index = reference_index(node["@ref"], len(results))
    if index is None:  # the check came first; this holds even if the program was changed since
        raise ProgramError(
            [Diagnostic("error", "reference", f"@ref {node['@ref']!r} names no earlier step.")]
        )
    return index
