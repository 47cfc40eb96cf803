"""Removes nulls that a model wrote where it should have left something out, and says which."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from workbench.engine.json_text import join_pointer
from workbench.engine.schemas.patterns import search
from workbench.engine.translation.schema_roots import ALL_TYPES, allowed_types, resolve_local

_MAX_DEPTH: Final = 100

_Find = Callable[[dict[str, Any]], list[Any]]
"""Gives the schemas that an object schema itself has for one member or element."""


def strip_nulls(
    value: Any, *, mode: str | bool = "all", schema: Any = None, arrays: bool = True
) -> tuple[Any, tuple[str, ...]]:
    """Return (a new value without its nulls, the JSON Pointers of what was removed); the input stays as it is.

    Modes: `off` (or False) removes nothing; `all` (or True) removes every null member and every null item, as
    TypeChat does, and leaves empty objects and arrays; `schema` removes a null member only where the property is
    optional and its schema does not allow null, and a null item only where the items' schema forbids it.
    Without `arrays`, items stay. Pointers are those of the value as it came. A root that is null stays.

    Raises:
        ValueError: an unknown mode, or `schema` mode without a schema.
    """
    chosen = {True: "all", False: "off"}.get(mode, mode) if isinstance(mode, bool) else mode
    if chosen not in ("off", "all", "schema"):
        raise ValueError(f"strip_nulls must be 'off', 'all' or 'schema', not {mode!r}.")
    if chosen == "off":
        return value, ()
    if chosen == "schema" and schema is None:
        raise ValueError("The mode 'schema' needs a schema.")
    root = getattr(schema, "value", schema)
    return _Stripper(None if chosen == "all" else root, arrays).run(value)


class _Stripper:
    def __init__(self, root: Any, arrays: bool) -> None:
        self.root = root
        self.arrays = arrays
        self.removed: list[tuple[tuple[str | int, ...], str]] = []

    def run(self, value: Any) -> tuple[Any, tuple[str, ...]]:
        box: list[Any] = [value]
        pending: list[tuple[list[Any] | dict[str, Any], Any, tuple[str | int, ...], list[Any]]] = [
            (box, 0, (), [self.root])
        ]
        while pending:
            target, key, path, schemas = pending.pop()
            item = target[key]
            if isinstance(item, dict):
                made: dict[str, Any] = {}
                target[key] = made
                for name, member in item.items():
                    if member is None and self.may_drop_member(name, schemas):
                        self.drop((*path, name))
                        continue
                    made[name] = member
                    if isinstance(member, (dict, list)):
                        pending.append((made, name, (*path, name), self.member_schemas(name, schemas)))
            elif isinstance(item, list):
                items: list[Any] = []
                target[key] = items
                for index, member in enumerate(item):
                    if member is None and self.arrays and self.may_drop_item(index, schemas):
                        self.drop((*path, index))
                        continue
                    items.append(member)
                    if isinstance(member, (dict, list)):
                        pending.append(
                            (items, len(items) - 1, (*path, index), self.item_schemas(index, schemas))
                        )
        return box[0], tuple(pointer for _, pointer in sorted(self.removed, key=lambda r: _order(r[0])))

    def drop(self, path: tuple[str | int, ...]) -> None:
        self.removed.append((path, join_pointer(*path)))

    # --- what the schema says; without one every null goes -------------------------------------------------

    def may_drop_member(self, name: str, schemas: list[Any]) -> bool:
        if self.root is None:
            return True
        views = self.views(schemas)
        if any(name in view.get("required", ()) for view in views if isinstance(view.get("required"), list)):
            return False
        return self.forbids_null(schemas, lambda view: _own_member(name, view))

    def may_drop_item(self, index: int, schemas: list[Any]) -> bool:
        return self.root is None or self.forbids_null(schemas, lambda view: _own_item(index, view))

    def forbids_null(self, schemas: list[Any], find: _Find) -> bool:
        """Tell whether the schemas of a value say that null is wrong at the place inside it that `find` gives."""
        known: dict[int, bool | None] = {}
        return _one_of([self.says(schema, find, 0, known) for schema in schemas]) is True

    def says(self, schema: Any, find: _Find, depth: int, known: dict[int, bool | None]) -> bool | None:
        """Return what a schema says, each but once: those that refer to each other in pairs have many ways."""
        if not isinstance(schema, dict) or depth > _MAX_DEPTH:
            return None
        if id(schema) not in known:
            known[id(schema)] = self.said(schema, find, depth, known)
        return known[id(schema)]

    def said(
        self, schema: dict[str, Any], find: _Find, depth: int, known: dict[int, bool | None]
    ) -> bool | None:
        """Return True where a schema forbids null at the place, False where it allows it, `None` for silence.

        Of alternatives, one that allows it is enough: the value may be meant for that one.
        """
        said: list[bool | None] = []
        for inner in find(schema):
            allowed = allowed_types(inner, self.root)
            said.append(None if allowed == ALL_TYPES else "null" not in allowed)
        said.append(self.says(resolve_local(schema, self.root), find, depth + 1, known))
        every = schema.get("allOf")
        for branch in every if isinstance(every, list) else ():
            said.append(self.says(branch, find, depth + 1, known))
        for keyword in ("anyOf", "oneOf"):
            branches = schema.get(keyword)
            if isinstance(branches, list):
                said.append(_one_of([self.says(branch, find, depth + 1, known) for branch in branches]))
        return True if True in said else False if False in said else None

    def views(self, schemas: list[Any]) -> list[dict[str, Any]]:
        """Return every object schema that applies: references and `allOf` followed, branches all looked at."""
        found: list[dict[str, Any]] = []
        pending, seen = list(schemas), set()
        while pending:
            schema = pending.pop()
            if not isinstance(schema, dict) or id(schema) in seen:
                continue
            seen.add(id(schema))
            found.append(schema)
            pending.append(resolve_local(schema, self.root))
            for keyword in ("allOf", "anyOf", "oneOf"):
                branches = schema.get(keyword)
                pending += branches if isinstance(branches, list) else []
        return found

    def member_schemas(self, name: str, schemas: list[Any]) -> list[Any]:
        if self.root is None:
            return schemas
        found = []
        for view in self.views(schemas):
            found += _own_member(name, view)
        return found

    def item_schemas(self, index: int, schemas: list[Any]) -> list[Any]:
        if self.root is None:
            return schemas
        found = []
        for view in self.views(schemas):
            found += _own_item(index, view)
        return found


def _own_member(name: str, view: dict[str, Any]) -> list[Any]:
    """Return the schema that an object schema has for a member, apart from those that it refers to."""
    properties = view.get("properties")
    patterns = view.get("patternProperties")
    found = [properties[name]] if isinstance(properties, dict) and name in properties else []
    if isinstance(patterns, dict):
        found += [inner for pattern, inner in patterns.items() if _matches(pattern, name)]
    if found:
        return found
    rest = view.get("additionalProperties")
    return [rest] if isinstance(rest, dict) else []


def _matches(pattern: str, name: str) -> bool:
    try:
        return search(pattern, name)
    except (ValueError, TimeoutError):
        return False  # a null that nobody can judge stays where it is


def _own_item(index: int, view: dict[str, Any]) -> list[Any]:
    """Return the schema that an array schema has for an element, apart from those that it refers to."""
    for keyword in ("prefixItems", "items"):
        items = view.get(keyword)
        if isinstance(items, list) and index < len(items):
            return [items[index]]
        if isinstance(items, dict):
            return [items]
    rest = view.get("additionalItems")  # of the drafts before 2020-12, behind a list of `items`
    return [rest] if isinstance(rest, dict) and isinstance(view.get("items"), list) else []


def _one_of(said: list[bool | None]) -> bool | None:
    """Return what alternatives say together: one that allows null is enough, and silence counts for nothing."""
    return False if False in said else True if True in said else None


def _order(path: tuple[str | int, ...]) -> tuple[tuple[int, int, str], ...]:
    return tuple((0, part, "") if isinstance(part, int) else (1, 0, part) for part in path)
