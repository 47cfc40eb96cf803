"""jsonschema's validators with the keywords that it gets wrong put right, and no way to the network."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from workbench.engine.schemas.limits import count_reference
from workbench.engine.schemas.patterns import PatternError, check_pattern, search

if TYPE_CHECKING:
    from jsonschema import FormatChecker

__all__ = [
    "DRAFTS",
    "draft_of",
    "format_names",
    "lookup_in",
    "make_validator",
    "metaschema_validator",
    "resolver_of",
    "specification_of",
]

DRAFTS: Final[dict[str, str]] = {
    "json-schema.org/draft-04/schema": "Draft4Validator",
    "json-schema.org/draft-06/schema": "Draft6Validator",
    "json-schema.org/draft-07/schema": "Draft7Validator",
    "json-schema.org/draft/2019-09/schema": "Draft201909Validator",
    "json-schema.org/draft/2020-12/schema": "Draft202012Validator",
}
"""Class in jsonschema by the address of `$schema`, without scheme and trailing `#`."""

_DEFAULT: Final = "Draft202012Validator"


def draft_of(schema: Any) -> str | None:
    """Return the name of the validator class that `$schema` asks for, or `None` for a draft unknown to us."""
    address = schema.get("$schema") if isinstance(schema, Mapping) else None
    if not isinstance(address, str):
        return _DEFAULT
    return DRAFTS.get(address.removeprefix("https://").removeprefix("http://").rstrip("#"))


def make_validator(schema: Any, draft: str, *, assert_formats: bool) -> Any:
    """Return a validator of `schema` that resolves references in the document and in the drafts only."""
    # The registry of the published drafts has no way to retrieve anything else.
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]  # ships no types

    checker = _format_checker(draft) if assert_formats else None
    return _extended(draft)(schema, registry=REGISTRY, format_checker=checker)


def specification_of(draft: str) -> Any:
    """Return what the `referencing` package knows of a draft."""
    from referencing import jsonschema

    names = {
        "Draft4Validator": "DRAFT4",
        "Draft6Validator": "DRAFT6",
        "Draft7Validator": "DRAFT7",
        "Draft201909Validator": "DRAFT201909",
        "Draft202012Validator": "DRAFT202012",
    }
    return getattr(jsonschema, names[draft])


def resolver_of(schema: Any, draft: str) -> Any:
    """Return what follows references in `schema` and to the published drafts."""
    from jsonschema_specifications import REGISTRY

    resource = specification_of(draft).create_resource(schema)
    base = resource.id() or ""
    return REGISTRY.with_resource(base, resource).crawl().resolver(base)


def lookup_in(resolver: Any, schema: Any, path: Sequence[str | int], reference: str, draft: str) -> Any:
    """Return the schema that a reference at `path` of `schema` leads to.

    Raises:
        LookupError: where it leads nowhere in `schema` and is no published draft.
    """
    from referencing.exceptions import Unresolvable

    specification, here = specification_of(draft), schema
    for token in path:  # an `$id` on the way changes what a reference is relative to
        here = here[token]
        if isinstance(here, Mapping) and any(isinstance(here.get(name), str) for name in ("$id", "id")):
            resolver = resolver.in_subresource(specification.create_resource(here))
    try:
        return resolver.lookup(reference).contents
    except (Unresolvable, ValueError, LookupError, TypeError) as error:
        raise LookupError(reference) from error


def metaschema_validator(draft: str) -> Any:
    """Return a validator of schemas of this draft."""
    return make_validator(_extended(draft).META_SCHEMA, draft, assert_formats=True)


def format_names(draft: str) -> frozenset[str]:
    """Return the formats that are checked for this draft."""
    return frozenset(_format_checker(draft).checkers)


_IRI_GRAMMAR = "rfc3987_syntax"


@lru_cache(maxsize=1)
def _jsonschema() -> ModuleType:
    """Import jsonschema, but leave the grammar of IRIs to the first IRI that has to be checked.

    jsonschema would build that grammar while it is imported: a second, and twenty megabytes, for two formats.
    """
    held = sys.modules.get(_IRI_GRAMMAR)
    if held is None and "jsonschema" not in sys.modules:
        sys.modules[_IRI_GRAMMAR] = None  # type: ignore[assignment]  # None makes an import fail, as documented
    try:
        import jsonschema
    finally:
        if held is None and sys.modules.get(_IRI_GRAMMAR, held) is None:
            sys.modules.pop(_IRI_GRAMMAR, None)
    return jsonschema


def _iri_checker(rule: str) -> Callable[[object], bool]:
    def check(value: object) -> bool:
        if not isinstance(value, str):
            return True
        return bool(importlib.import_module(_IRI_GRAMMAR).is_valid_syntax(rule, value))

    return check


_IRI_FORMATS = {"iri": "iri", "iri-reference": "iri_reference"}
_DRAFTS_WITHOUT_IRI = ("Draft3Validator", "Draft4Validator", "Draft6Validator")


@lru_cache(maxsize=8)
def _extended(draft: str) -> Any:
    jsonschema = _jsonschema()
    from jsonschema import validators

    base = getattr(jsonschema, draft)
    overrides: dict[str, Any] = {
        "additionalProperties": _additional_properties,
        "multipleOf": _multiple_of,
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "properties": _properties,
        "required": _required,
        "uniqueItems": _unique_items,
    }
    if draft in ("Draft201909Validator", "Draft202012Validator"):
        overrides["unevaluatedProperties"] = _unevaluated_properties
    for keyword in ("dependencies", "dependentRequired"):
        if keyword in base.VALIDATORS:
            overrides[keyword] = _dependencies
    for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
        if keyword in base.VALIDATORS:
            overrides[keyword] = _counted(base.VALIDATORS[keyword])
    return validators.extend(base, overrides)  # type: ignore[no-untyped-call]  # the stubs leave it open


@lru_cache(maxsize=8)
def _format_checker(draft: str) -> FormatChecker:
    jsonschema = _jsonschema()
    base = getattr(jsonschema, draft).FORMAT_CHECKER
    checker: FormatChecker = jsonschema.FormatChecker(formats=())
    checker.checkers = {**base.checkers, "regex": (_is_pattern, PatternError)}
    if draft not in _DRAFTS_WITHOUT_IRI:
        for name, rule in _IRI_FORMATS.items():
            checker.checkers[name] = (_iri_checker(rule), ValueError)
    return checker


def _is_pattern(value: object) -> bool:
    if isinstance(value, str):
        check_pattern(value)
    return True


def _error(message: str, **fields: Any) -> Any:
    from jsonschema import ValidationError

    return ValidationError(message, **fields)


def _counted(follow: Callable[..., Iterator[Any] | None]) -> Callable[..., Iterator[Any]]:
    """Return a keyword that follows references as `follow` does, as long as there are not too many."""

    def counting(validator: Any, reference: Any, instance: Any, schema: Any) -> Iterator[Any]:
        count_reference()
        yield from follow(validator, reference, instance, schema) or ()

    return counting


# The functions below have the signature that jsonschema calls: validator, keyword's value, instance, schema.


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[Any]:
    if validator.is_type(instance, "string") and not search(pattern, instance):
        yield _error("the pattern does not match")


def _member(validator: Any, value: Any, subschema: Any, name: str, keyword_path: str) -> Iterator[Any]:
    """Check a member; jsonschema's own way loses the place where the subschema is false."""
    if subschema is False:
        yield _error(
            "the member is not allowed",
            path=[name],
            schema_path=[keyword_path],
            validator=None,
            validator_value=False,
            instance=value,
            schema=False,
        )
    else:
        yield from validator.descend(value, subschema, path=name, schema_path=keyword_path)


def _properties(validator: Any, members: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if validator.is_type(instance, "object"):
        for name, subschema in members.items():
            if name in instance:
                yield from _member(validator, instance[name], subschema, name, name)


def _pattern_properties(validator: Any, patterns: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if not validator.is_type(instance, "object"):
        return
    for pattern, subschema in patterns.items():
        for name, value in instance.items():
            if search(pattern, name):
                yield from _member(validator, value, subschema, name, pattern)


def _additional_properties(validator: Any, allowed: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """Check the members that neither `properties` nor `patternProperties` speak of, each at its own place."""
    if not validator.is_type(instance, "object"):
        return
    named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for name, value in instance.items():
        if name in named or any(search(pattern, name) for pattern in patterns):
            continue
        if validator.is_type(allowed, "object"):
            yield from validator.descend(value, allowed, path=name)
        elif allowed is False:
            yield _error("the member is not allowed", path=[name], instance=value)


def _unevaluated_properties(validator: Any, allowed: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if not validator.is_type(instance, "object"):
        return
    evaluated = _evaluated_names(validator, instance, schema)
    for name, value in instance.items():
        if name in evaluated:
            continue
        if allowed is False:
            yield _error("the member is not allowed", path=[name], instance=value)
        else:
            yield from validator.descend(value, allowed, path=name)


def _evaluated_names(validator: Any, instance: Any, schema: Any) -> set[str]:
    """Return the members that the schema's other keywords, and the schemas that hold in place, speak of."""
    if not isinstance(schema, Mapping):
        return set()
    names = set(schema.get("properties", {})) & set(instance)
    names |= {
        name
        for name in instance
        if any(search(pattern, name) for pattern in schema.get("patternProperties", {}))
    }
    if "additionalProperties" in schema or "unevaluatedProperties" in schema:
        rest = schema.get("additionalProperties", schema.get("unevaluatedProperties"))
        names |= {name for name, value in instance.items() if validator.evolve(schema=rest).is_valid(value)}
    for here, inner in _schemas_that_hold(validator, instance, schema):
        names |= _evaluated_names(here, instance, inner)
    return names


def _schemas_that_hold(validator: Any, instance: Any, schema: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    for keyword in ("$ref", "$dynamicRef"):
        if keyword in schema:
            count_reference()
            # jsonschema offers no public way to follow a reference with its dynamic scope.
            resolved = validator._resolver.lookup(schema[keyword])
            yield validator.evolve(schema=resolved.contents, _resolver=resolved.resolver), resolved.contents
    if "$recursiveRef" in schema:
        from referencing.jsonschema import lookup_recursive_ref

        resolved = lookup_recursive_ref(validator._resolver)
        yield validator.evolve(schema=resolved.contents, _resolver=resolved.resolver), resolved.contents
    in_place = [inner for keyword in ("allOf", "anyOf", "oneOf") for inner in schema.get(keyword, ())]
    in_place += [inner for name, inner in schema.get("dependentSchemas", {}).items() if name in instance]
    if "if" in schema:
        holds = validator.evolve(schema=schema["if"]).is_valid(instance)
        in_place += [schema["if"], schema.get("then", True)] if holds else [schema.get("else", True)]
    for inner in in_place:
        here = validator.evolve(schema=inner)
        if here.is_valid(instance):
            yield here, inner


def _multiple_of(validator: Any, divisor: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """Divide the decimal numbers that were written, not their nearest doubles: 19.99 is 1999 times 0.01."""
    if validator.is_type(instance, "number") and (_exact(instance) / _exact(divisor)).denominator != 1:
        yield _error("the number is not a multiple")


def _exact(number: int | float) -> Fraction:
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))


def _required(validator: Any, names: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """Report all missing members in one error, so that none is lost where errors are capped."""
    if validator.is_type(instance, "object") and any(name not in instance for name in names):
        yield _error("members are missing")


def _dependencies(validator: Any, rules: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """Report all that one member lacks in one error, whose message is the member's name."""
    if not validator.is_type(instance, "object"):
        return
    for name, needed in rules.items():
        if name not in instance:
            continue
        if not isinstance(needed, (str, list)):
            yield from validator.descend(instance, needed, schema_path=name)
        elif any(other not in instance for other in ([needed] if isinstance(needed, str) else needed)):
            yield _error(name)


def _unique_items(validator: Any, unique: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if not unique or not validator.is_type(instance, "array"):
        return
    seen: dict[Any, int] = {}
    for index, item in enumerate(instance):
        first = seen.setdefault(_frozen(item), index)
        if first != index:
            yield _error(f"elements {first} and {index} are equal")
            return


def _frozen(value: Any) -> Any:
    """Return a hashable that is equal for equal JSON values: `1` and `1.0`, but not `1` and `true`."""
    if isinstance(value, dict):
        return frozenset((name, _frozen(item)) for name, item in value.items())
    if isinstance(value, list):
        return ("array", *(_frozen(item) for item in value))
    return ("boolean", value) if isinstance(value, bool) else value
