"""Walks an object graph without recursion and rebuilds only what leads to a changed string."""

from __future__ import annotations

import copy
import dataclasses
import sys
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any

from workbench.engine.json_text import join_pointer

Change = Callable[[str, Callable[[], str], bool], str]
"""`change(text, node, is_key)` returns the text to put in place of a string."""


class KeyCollisionError(ValueError):
    """Two keys of one map became the same after replacement. `node` names the map, `key` the key."""

    def __init__(self, node: str, key: str) -> None:
        super().__init__(f"two keys of {node or 'the root'} become {key!r}; rename one of them")
        self.node = node
        self.key = key


_HEAP_TYPE = 1 << 9
"""The flag of classes that a class statement made (CPython's `Py_TPFLAGS_HEAPTYPE`)."""

_LEAVES = frozenset({int, float, bool, type(None), bytes, complex})


def replace_strings(graph: Any, change: Change, *, replace_keys: bool = False, mark: str = "") -> Any:
    """Return `graph` with every string that contains `mark` replaced by what `change` returns for it.

    Strings are found in maps (values, and keys with `replace_keys`), lists, tuples and named tuples (their
    class is kept), dataclasses, Pydantic models and plain objects. Anything else is returned as it is. The
    input is never changed: what holds a changed string is copied, what does not is shared with the input.
    Parts that were shared stay shared, cycles stay cycles, and depth costs no recursion.

    Raises:
        KeyCollisionError: when two keys of one map become the same.
    """
    if isinstance(graph, str) and not isinstance(graph, Enum):
        return change(graph, lambda: "", False) if mark in graph else graph
    walk = _Walk(change, replace_keys, mark)
    walk.discover(graph)
    return walk.rebuild(graph)


class _Walk:
    """One walk: nodes by number, their strings that changed, and the edges between nodes."""

    def __init__(self, change: Change, replace_keys: bool, mark: str) -> None:
        self.change = change
        self.mark = mark
        self.replace_keys = replace_keys
        self.nodes: list[Any] = []
        self.number: dict[int, int] = {}
        self.origin: list[tuple[int, Any]] = []  # how each node was first reached: (parent, key)
        self.further: list[tuple[int, Any, int]] = []  # (parent, key, node) where it was met again
        self.texts: dict[int, dict[Any, str]] = {}  # changed strings by node and key
        self.renamed: dict[int, dict[str, str]] = {}  # changed keys by node

    def path(self, node: int, key: Any) -> str:
        """Return the JSON-Pointer-like path of the member `key` of a node."""
        tokens = [key]
        while node >= 0:
            node, key = self.origin[node]
            tokens.append(key)
        tokens.pop()  # the root was reached by no key
        return join_pointer(*(token if isinstance(token, int) else str(token) for token in reversed(tokens)))

    def _add(self, value: Any, parent: int, key: Any) -> int:
        node = len(self.nodes)
        self.number[id(value)] = node
        self.nodes.append(value)
        self.origin.append((parent, key))
        return node

    def discover(self, graph: Any) -> None:
        """Visit everything once, in document order, and change the strings on the way."""
        items = _items(graph)
        if items is None:
            return
        renames = self.replace_keys
        stack = [(self._add(graph, -1, None), items)]
        number, change, mark = self.number, self.change, self.mark
        while stack:
            node, items = stack[-1]
            for key, value in items:
                kind = value.__class__
                if renames and isinstance(key, str) and isinstance(self.nodes[node], Mapping):
                    self._rename(node, key)
                if kind is str or (isinstance(value, str) and not isinstance(value, Enum)):
                    if mark not in value:
                        continue
                    text = change(value, _Place(self, node, key), False)
                    if text is not value:
                        self.texts.setdefault(node, {})[key] = text
                elif kind not in _LEAVES:
                    child = number.get(id(value))
                    if child is not None:
                        self.further.append((node, key, child))
                        continue
                    inner = _items(value)
                    if inner is None:
                        continue
                    stack.append((self._add(value, node, key), inner))
                    break
            else:
                stack.pop()

    def _rename(self, node: int, key: str) -> None:
        text = self.change(key, _Place(self, node, key), True) if self.mark in key else key
        if text != key:
            self.renamed.setdefault(node, {})[key] = text

    def rebuild(self, graph: Any) -> Any:
        """Return the changed graph; `graph` itself where nothing changed."""
        changed = self._changed()
        if not changed:
            return graph
        # Shells first, so that what cannot be changed once it is made (a tuple) can hold them, cycles included.
        made: dict[int, Any] = {}
        fixed: list[int] = []
        for node in changed:
            value = self.nodes[node]
            if value.__class__ is dict:
                made[node] = value.copy()
            elif _is_fixed(value):
                fixed.append(node)
            else:
                made[node] = copy.copy(value)
        edges = [(*self.origin[node], node) for node in changed]
        edges += [edge for edge in self.further if edge[2] in changed]
        self._make_fixed(fixed, edges, made)
        done = set(fixed)
        done.add(-1)
        for parent, key, node in edges:
            if parent not in done:
                _assign(made[parent], key, made[node])
        for node, texts in self.texts.items():
            if node not in done:
                for key, text in texts.items():
                    _assign(made[node], key, text)
        for node, names in self.renamed.items():
            made[node] = self._with_renamed(node, made[node], names)
        return made[self.number[id(graph)]]

    def _changed(self) -> set[int]:
        """Return every node that holds a changed string, itself or further down."""
        changed = {*self.texts, *self.renamed}
        again: dict[int, list[int]] = {}
        for parent, _, node in self.further:
            again.setdefault(node, []).append(parent)
        spread = list(changed)
        while spread:
            node = spread.pop()
            for parent in (self.origin[node][0], *again.get(node, ())):
                if parent >= 0 and parent not in changed:
                    changed.add(parent)
                    spread.append(parent)
        return changed

    def _make_fixed(self, fixed: list[int], edges: list[tuple[int, Any, int]], made: dict[int, Any]) -> None:
        """Make the changed tuples, inner ones first; a tuple can hold itself only by way of a shell."""
        links: dict[int, list[tuple[Any, int]]] = {node: [] for node in fixed}
        for parent, key, node in edges:
            if parent in links:
                links[parent].append((key, node))
        for start in fixed:
            stack = [start]
            while stack:
                node = stack[-1]
                waiting = [child for _, child in links[node] if child not in made] if node not in made else []
                if waiting:
                    stack.extend(waiting)
                    continue
                if node not in made:
                    members = {key: made[child] for key, child in links[node]}
                    made[node] = _fixed_copy(self.nodes[node], members | self.texts.get(node, {}))
                stack.pop()

    def _with_renamed(self, node: int, shell: Any, names: dict[str, str]) -> Any:
        entries: dict[Any, Any] = {}
        for key, value in shell.items():
            new = names.get(key, key) if isinstance(key, str) else key
            if new in entries:
                parent, origin = self.origin[node]
                raise KeyCollisionError(self.path(parent, origin) if parent >= 0 else "", new)
            entries[new] = value
        if isinstance(shell, MappingProxyType):
            return MappingProxyType(entries)
        shell.clear()
        shell.update(entries)
        return shell


class _Place:
    """The path of a string, spelled out only when somebody asks."""

    __slots__ = ("_key", "_node", "_walk")

    def __init__(self, walk: _Walk, node: int, key: Any) -> None:
        self._walk = walk
        self._node = node
        self._key = key

    def __call__(self) -> str:
        return self._walk.path(self._node, self._key)


def _items(value: Any) -> Iterator[tuple[Any, Any]] | None:
    """Return the members of a container that is walked, `None` for a leaf."""
    if isinstance(value, dict | MappingProxyType):
        return iter(value.items())
    if isinstance(value, list | tuple):
        return iter(enumerate(value))
    fields = _fields(value)
    return None if fields is None else iter(fields)


def _fields(value: Any) -> list[tuple[str, Any]] | None:
    """Return the fields of a dataclass, a Pydantic model or a plain object; `None` for anything else."""
    kind = type(value)
    if isinstance(value, type | Enum | BaseException) or kind.__module__ == "builtins":
        return None
    if dataclasses.is_dataclass(value):
        return [(f.name, getattr(value, f.name)) for f in dataclasses.fields(value) if hasattr(value, f.name)]
    if _is_pydantic(value):
        extra = getattr(value, "__pydantic_extra__", None) or {}
        return [*value.__dict__.items(), *extra.items()]
    if not _is_plain(kind):
        return None
    members = list(vars(value).items()) if hasattr(value, "__dict__") else []
    for base in kind.__mro__:
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                members.append((name, getattr(value, name)))
    return members or None


def _is_pydantic(value: Any) -> bool:
    pydantic = sys.modules.get("pydantic")  # a model can only exist where its package was imported
    return pydantic is not None and isinstance(value, pydantic.BaseModel)


def _is_plain(kind: type) -> bool:
    """Tell whether copying instances of a class is nothing but copying their fields.

    Classes that are written in C, or that say themselves how they are copied, are left alone.
    """
    if not kind.__flags__ & _HEAP_TYPE:
        return False
    inherited = ("__new__", "__reduce__", "__reduce_ex__", "__getstate__")
    return all(getattr(kind, name, None) is getattr(object, name, None) for name in inherited) and not (
        hasattr(kind, "__copy__") or hasattr(kind, "__setstate__")
    )


def _is_fixed(value: Any) -> bool:
    return isinstance(value, tuple | MappingProxyType)


def _assign(shell: Any, key: Any, value: Any) -> None:
    if isinstance(shell, dict | list):
        shell[key] = value
    else:
        _set_field(shell, key, value)


def _fixed_copy(value: Any, members: dict[Any, Any]) -> Any:
    if isinstance(value, MappingProxyType):
        return MappingProxyType({key: members.get(key, item) for key, item in value.items()})
    items = [members.get(index, item) for index, item in enumerate(value)]
    return tuple.__new__(type(value), items)


def _set_field(shell: Any, name: str, value: Any) -> None:
    if _is_pydantic(shell):
        extra = getattr(shell, "__pydantic_extra__", None) or {}
        if name in shell.__dict__:
            shell.__dict__[name] = value  # past validation, as the model may be frozen
        elif name in extra:
            extra[name] = value
        return
    object.__setattr__(shell, name, value)  # past a frozen dataclass's guard
