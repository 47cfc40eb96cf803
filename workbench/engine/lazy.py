"""Lets a package offer names whose modules are imported only when somebody asks for them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any


def lazy_names(
    package: str, modules: Sequence[str], names: Sequence[str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the `__getattr__` and `__dir__` (PEP 562) of a `package` that offers `names` from its `modules`.

    `modules` are names within the package, in the order in which they are searched; a name is taken from the
    first that has it and is kept in the package. Reading settings of a project so costs no more than the
    module of these settings.
    """
    offered = frozenset(names)
    if not offered.isdisjoint(modules):
        sys.modules[package].__class__ = _Package

    def get(name: str) -> Any:
        if name in offered:
            for module in modules:
                found = getattr(import_module(f"{package}.{module}"), name, get)
                if found is not get:
                    setattr(sys.modules[package], name, found)
                    return found
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[package]), *offered})

    return get, listed


class _Package(ModuleType):
    """A package that offers a name which one of its modules has too: importing the module must not hide it."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (isinstance(value, ModuleType) and name in self.__all__):
            super().__setattr__(name, value)
