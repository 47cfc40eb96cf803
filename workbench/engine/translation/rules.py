"""Checks a translated value by the data-only rules of a project, since a project may run no code."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.json_text import dumps
from workbench.engine.patterns import compile_pattern
from workbench.engine.text import nearest, shorten
from workbench.engine.translation.json_values import json_equal, json_type
from workbench.engine.translation.results import Failure, Success
from workbench.engine.translation.settings import Rule
from workbench.engine.translation.wording import list_diagnostics

if TYPE_CHECKING:
    from workbench.engine.json_path import CompiledPath

OPERATORS = ("==", "!=", "<", "<=", ">", ">=", "in", "not in", "matches", "exists", "length")
_ORDERINGS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
PATTERN_SECONDS = 0.5
"""Time after which a pattern that runs wild is given up; the rule then fails with that reason."""


def check_rules(rules: Sequence[Rule]) -> list[Diagnostic]:
    """Return what is wrong with the rules themselves: path, operator, and the type of the other side."""
    found = []
    for index, rule in enumerate(rules):
        problem = rule_problem(rule)
        if problem is not None:
            _, message, hint = problem
            found.append(Diagnostic("error", "rule", f"Rule {index + 1}: {message}", hint=hint))
    return found


def rule_problem(rule: Rule) -> tuple[Literal["path", "op", "value"], str, str | None] | None:
    """Return which part of `rule` is wrong, in what way, and a hint; `None` for a sound rule."""
    from workbench.engine.json_path import JsonPathError, compile_path

    try:
        compile_path(rule.path)
    except JsonPathError as error:
        return "path", f"the path {rule.path!r} is not a JSONPath: {error}", None
    if rule.op not in OPERATORS:
        close = nearest(rule.op, OPERATORS)
        hint = f"Did you mean {close!r}?" if close else f"Operators are {', '.join(OPERATORS)}."
        return "op", f"the operator {rule.op!r} is unknown.", hint
    wrong = _value_problem(rule)
    return None if wrong is None else ("value", wrong, None)


def _value_problem(rule: Rule) -> str | None:
    if rule.op in ("<", "<=", ">", ">=") and json_type(rule.value) not in ("number", "string"):
        return f"{rule.op} compares with a number or a text, not with {_shown(rule.value)}."
    if rule.op in ("in", "not in") and not isinstance(rule.value, (list, tuple)):
        return f"{rule.op!r} needs a list, not {_shown(rule.value)}."
    if rule.op == "exists" and not isinstance(rule.value, bool | None):
        return f"'exists' takes true or false, not {_shown(rule.value)}."
    if rule.op == "length" and _length_bounds(rule.value) is None:
        return "'length' takes a whole number, or a table with min and max."
    return _pattern_problem(rule) if rule.op == "matches" else None


def _pattern_problem(rule: Rule) -> str | None:
    import regex

    if not isinstance(rule.value, str):
        return f"'matches' needs a pattern, not {_shown(rule.value)}."
    try:
        compile_pattern(rule.value)
    except regex.error as error:
        return f"the pattern {shorten(rule.value, 80)!r} is wrong: {error}."
    return None


def rules_check(rules: Sequence[Rule]) -> Callable[[Any], Success[Any] | Failure]:
    """Return a `validate_instance` that checks `rules`.

    A rule holds when its operator holds for every value that its path finds; where the path finds nothing the
    rule says nothing, except `exists`. `exists` with false demands that nothing is found. `length` counts the
    characters of a text, the items of an array or the members of an object. Numbers are compared with
    numbers and texts with texts; any other comparison fails the rule. `matches` searches the pattern anywhere.

    Raises:
        ValueError: a rule is wrong in itself.
    """
    problems = check_rules(rules)
    if problems:
        raise ValueError(problems[0].message)
    from workbench.engine.json_path import compile_path

    compiled = [(rule, compile_path(rule.path)) for rule in rules]

    def validate_instance(instance: Any) -> Success[Any] | Failure:
        diagnostics = tuple(d for rule, path in compiled for d in _broken(rule, path, instance))
        if not diagnostics:
            return Success(instance)
        return Failure(list_diagnostics(diagnostics), "instance_rejected", diagnostics)

    return validate_instance


def _broken(rule: Rule, path: CompiledPath, instance: Any) -> list[Diagnostic]:
    matches = path.find(instance)
    if rule.op == "exists":
        wanted = rule.value is not False
        if bool(matches) == wanted:
            return []
        pointer = matches[0].pointer if matches else ""
        default = f"{rule.path} must {'' if wanted else 'not '}be there"
        return [_diagnostic(rule, pointer, None, default)]
    found = []
    for match in matches:
        if not _holds(rule, match.value):
            default = f"{_shown(match.value)} does not fit {rule.path} {rule.op} {_shown(rule.value)}"
            found.append(_diagnostic(rule, match.pointer, match.value, default))
    return found


def _diagnostic(rule: Rule, pointer: str, value: Any, default: str) -> Diagnostic:
    return Diagnostic(
        "error",
        "rule",
        rule.message or default,
        pointer=pointer,
        keyword=rule.op,
        expected=rule.value,
        excerpt=_shown(value),
    )


def _holds(rule: Rule, value: Any) -> bool:
    other = rule.value
    match rule.op:
        case "==":
            return json_equal(value, other)
        case "!=":
            return not json_equal(value, other)
        case "in":
            return any(json_equal(value, item) for item in other)
        case "not in":
            return not any(json_equal(value, item) for item in other)
        case "matches":
            return isinstance(value, str) and _matches(other, value)
        case "length":
            return _length_holds(other, value)
        case _:
            return _ordered(rule.op, value, other)


def _ordered(op: str, value: Any, other: Any) -> bool:
    if json_type(value) != json_type(other) or json_type(value) not in ("number", "string"):
        return False
    return _ORDERINGS[op](value, other)


def _matches(pattern: str, value: str) -> bool:
    try:
        return compile_pattern(pattern).search(value, timeout=PATTERN_SECONDS) is not None
    except TimeoutError:
        return False


def _length_bounds(value: Any) -> tuple[int, float] | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value, value
    if not isinstance(value, Mapping) or not value or set(value) - {"min", "max"}:
        return None
    bounds = value.get("min", 0), value.get("max", float("inf"))
    return None if any(json_type(bound) != "number" for bound in bounds) else bounds


def _length_holds(wanted: Any, value: Any) -> bool:
    bounds = _length_bounds(wanted)
    if bounds is None or json_type(value) not in ("string", "array", "object"):
        return False
    return bounds[0] <= len(value) <= bounds[1]


def _shown(value: Any) -> str:
    try:
        return shorten(dumps(value), 80)
    except (ValueError, TypeError):
        return shorten(repr(value), 80)
