"""Makes an example of a schema, so that people see what a schema means and tests have something to send."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from workbench.engine.json_text import PointerError, resolve_pointer
from workbench.engine.schemas.messages import FORMAT_SAMPLES
from workbench.engine.schemas.pattern_samples import matching_texts
from workbench.engine.schemas.schema import JsonSchema
from workbench.engine.schemas.structure import local_target

__all__ = ["example"]

_DEEPEST: Final = 12
"""Levels after which optional members are left out, so that recursive schemas end."""

_TOO_DEEP: Final = 60

_MOST: Final = 20_000
"""Schemas that one attempt looks at; behind that come nulls. Nobody reads a larger example, and pairs of
references that lead to pairs of references would never end."""


def example(schema: JsonSchema) -> Any:
    """Return a JSON value that shows `schema`; the same schema always gives the same value.

    Declared examples, defaults and constants are preferred. The value is valid wherever one of the attempts
    is (all members, required members only, other alternatives); a schema whose keywords contradict each
    other, or that only a search could satisfy, gives the first attempt, which `schema.check` then faults.
    """
    first: Any = None
    for number, (optional, branch) in enumerate(
        ((True, 0), (False, 0), (True, 1), (False, 1), (True, 2), (False, 2))
    ):
        value = _Maker(schema.value, optional, branch).make(schema.value, 0)
        if number == 0:
            first = value
        if schema.is_valid(value):
            return value
    return first


class _Maker:
    """One attempt: with or without optional members, and with a preferred alternative where there are some."""

    def __init__(self, root: Any, optional: bool, branch: int) -> None:
        self.root = root
        self.optional = optional
        self.branch = branch
        self.active: list[str] = ["#"]
        self.looked_at = 0

    def make(self, schema: Any, depth: int) -> Any:
        """Return a value for a schema that stands `depth` levels below the root."""
        reference = schema.get("$ref") if isinstance(schema, Mapping) else None
        self.active.append(str(reference))
        try:
            return self.made(self.merged(schema, 0), depth)
        finally:
            self.active.pop()

    def made(self, schema: Any, depth: int) -> Any:
        if not isinstance(schema, Mapping) or depth > _TOO_DEEP or self.looked_at > _MOST:
            return None
        given = _given(schema)
        if given is not None:
            return copy.deepcopy(given[0])
        types = schema.get("type", _guessed_type(schema))
        name = types if isinstance(types, str) else next((item for item in types if item != "null"), "null")
        if name == "object":
            return self.object(schema, depth)
        if name == "array":
            return self.array(schema, depth)
        if name in ("integer", "number"):
            return _number(schema)
        return _string(schema) if name == "string" else True if name == "boolean" else None

    def merged(self, schema: Any, depth: int) -> Any:
        """Return the schema with its references and alternatives taken in, as far as they are objects."""
        self.looked_at += 1
        if not isinstance(schema, Mapping) or depth > 20 or self.looked_at > _MOST:
            return {} if schema is True else schema
        parts: list[Any] = []
        if isinstance(schema.get("$ref"), str):
            parts.append(self.target(schema["$ref"]))
        parts += schema.get("allOf", ())
        for keyword in ("anyOf", "oneOf"):
            branches = schema.get(keyword)
            if isinstance(branches, list) and branches:
                ordered = sorted(branches, key=_is_null)  # null shows nothing
                parts.append(ordered[min(self.branch, len(branches) - 1)])
        if "then" in schema and schema.get("if") is not False:
            parts += [schema.get("if"), schema["then"]]
        result: dict[str, Any] = {}
        for part in [*(self.merged(part, depth + 1) for part in parts), schema]:
            if isinstance(part, Mapping):
                result = _joined(result, part)
        return result

    def target(self, reference: str) -> Any:
        pointer = local_target(reference)
        try:
            return resolve_pointer(self.root, pointer) if pointer is not None else {}
        except PointerError:
            return {}

    def recursive(self, schema: Any) -> bool:
        """Tell whether an optional part would begin again what is being made."""
        if not isinstance(schema, Mapping):
            return False
        if schema.get("$ref") in self.active:
            return True
        branches = [*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())]
        return any(self.recursive(branch) for branch in branches)

    def distinct(self, schema: Any, value: Any, number: int) -> Any:
        """Return a variant of `value` for the element `number` of an array whose elements must differ."""
        merged = self.merged(schema, 0)
        options = merged.get("enum") if isinstance(merged, Mapping) else None
        if isinstance(options, list) and options:
            return options[number % len(options)]
        if isinstance(value, bool):
            return number % 2 == 0
        if isinstance(value, int | float):
            return value + number
        return f"{value}{number + 1}" if isinstance(value, str) and number else value

    def object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        required = list(schema.get("required", ()))
        members = schema.get("properties", {})
        optional = self.optional and depth < _DEEPEST
        wanted = [
            name
            for name, inner in members.items()
            if name in required or (optional and not self.recursive(inner))
        ]
        rest = schema.get("additionalProperties", True)
        value: dict[str, Any] = {}
        for name in [*wanted, *(name for name in required if name not in members)]:
            inner = members.get(name, rest)
            if inner is not False:
                value[name] = self.make(inner, depth + 1) if inner is not True else "text"
        for number in range(1, 1 + schema.get("minProperties", 0) - len(value)):
            value[f"name{number}"] = self.make(rest, depth + 1) if isinstance(rest, Mapping) else "text"
        if not value and optional and isinstance(rest, Mapping) and not self.recursive(rest):
            value["name"] = self.make(rest, depth + 1)
        return value

    def array(self, schema: Mapping[str, Any], depth: int) -> list[Any]:
        items = schema.get("items", True)
        first = schema.get("prefixItems", items if isinstance(items, list) else [])
        value = [self.make(inner, depth + 1) for inner in first]
        rest = schema.get("additionalItems", True) if isinstance(items, list) else items
        value += self.contained(schema, rest, depth)
        inner = rest
        least = schema.get("minItems", 0)
        optional = self.optional and depth < _DEEPEST and not self.recursive(inner)
        if optional and isinstance(inner, Mapping) and not value:
            least = max(least, 1)
        most = schema.get("maxItems", least)
        for number in range(len(value), min(least, most, 1000)):
            made = self.make(inner, depth + 1) if isinstance(inner, Mapping) else "text"
            value.append(self.distinct(inner, made, number) if schema.get("uniqueItems") else made)
        return value

    def contained(self, schema: Mapping[str, Any], rest: Any, depth: int) -> list[Any]:
        """Return as many elements as `contains` asks for, each of which fits the other elements' schema too."""
        if "contains" not in schema:
            return []
        both = [part for part in (rest, schema["contains"]) if isinstance(part, Mapping)]
        count = min(schema.get("minContains", 1), schema.get("maxItems", 1000), 1000)
        made = [self.make({"allOf": both}, depth + 1) for _ in range(count)]
        if not schema.get("uniqueItems"):
            return made
        return [self.distinct({"allOf": both}, item, number) for number, item in enumerate(made)]


def _is_null(schema: Any) -> bool:
    return isinstance(schema, Mapping) and schema.get("type") == "null"


def _given(schema: Mapping[str, Any]) -> tuple[Any] | None:
    """Return the value that the schema itself gives, in a tuple since it may be null."""
    if isinstance(schema.get("examples"), list) and schema["examples"]:
        return (schema["examples"][0],)
    for keyword in ("const", "default"):
        if keyword in schema:
            return (schema[keyword],)
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return (schema["enum"][0],)
    return None


_ABOUT_OBJECTS: Final = (
    "properties", "required", "additionalProperties", "minProperties", "patternProperties", "propertyNames",
    "unevaluatedProperties", "dependentRequired", "dependentSchemas", "dependencies",
)  # fmt: skip
_ABOUT_ARRAYS: Final = (
    "items", "prefixItems", "minItems", "contains", "uniqueItems", "additionalItems", "unevaluatedItems",
)  # fmt: skip


def _guessed_type(schema: Mapping[str, Any]) -> str:
    for names, type_name in (
        (_ABOUT_OBJECTS, "object"),
        (_ABOUT_ARRAYS, "array"),
        (("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), "number"),
    ):
        if any(name in schema for name in names):
            return type_name
    return "string"


def _joined(left: dict[str, Any], right: Mapping[str, Any]) -> dict[str, Any]:
    """Return both schemas in one: members united, required names too, else the right one's keywords."""
    result = {**left, **right}
    if "properties" in left and "properties" in right:
        members = dict(left["properties"])
        for name, inner in right["properties"].items():
            known = members.get(name)
            if isinstance(known, Mapping) and isinstance(inner, Mapping):
                members[name] = {**known, **inner}
            else:
                members[name] = inner
        result["properties"] = members
    if "required" in left and "required" in right:
        result["required"] = list(dict.fromkeys([*left["required"], *right["required"]]))
    return result


def _number(schema: Mapping[str, Any]) -> int | float:
    """Return the number in the bounds that is nearest to their lower end, or to zero where there is none."""
    step = Fraction(repr(schema["multipleOf"])) if "multipleOf" in schema else Fraction(1)
    low, high = (
        _bound(schema, "minimum", "exclusiveMinimum", 1),
        _bound(schema, "maximum", "exclusiveMaximum", -1),
    )
    if low is None and high is None:
        value = step
    elif low is not None:
        multiple = -(-low[0] // step) * step
        value = multiple + step if low[1] and multiple == low[0] else multiple
        if high is not None and value > high[0]:
            value = (low[0] + high[0]) / 2
    else:
        assert high is not None  # one of the two is there
        multiple = high[0] // step * step
        value = multiple - step if high[1] and multiple == high[0] else multiple
    return int(value) if value.denominator == 1 else float(value)


def _bound(schema: Mapping[str, Any], name: str, exclusive: str, sign: int) -> tuple[Fraction, bool] | None:
    """Return the tighter bound on one side and whether it is itself excluded (draft 4 says so by a boolean)."""
    found: list[tuple[Fraction, bool]] = []
    if name in schema:
        found.append((Fraction(repr(schema[name])), schema.get(exclusive) is True))
    if exclusive in schema and not isinstance(schema[exclusive], bool):
        found.append((Fraction(repr(schema[exclusive])), True))
    return max(found, key=lambda bound: (bound[0] * sign, bound[1])) if found else None


def _string(schema: Mapping[str, Any]) -> str:
    sample = FORMAT_SAMPLES.get(str(schema.get("format")))
    if sample is not None:
        return sample
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    if isinstance(schema.get("pattern"), str):
        for text in matching_texts(schema["pattern"], least):
            if len(text) >= least and (most is None or len(text) <= most):
                return text
    text = "text"
    if len(text) < least:
        text = (text + " ") * (min(least, 100_000) // 5 + 1)
        text = text[:least].rstrip().ljust(least, "x")
    return text if most is None else text[:most]
