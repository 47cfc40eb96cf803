"""The error of a project that cannot do what was asked of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from workbench.engine.diagnostics import Diagnostic

T = TypeVar("T")


class WorkflowError(Exception):
    """The project cannot do what was asked of it; `diagnostics` names the places, when there are any."""

    def __init__(self, message: str, diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.diagnostics = tuple(diagnostics)


class UnfilledPromptError(WorkflowError):
    """The prompt has a placeholder without a value, so it is not sent."""


def settle(build: Callable[[], T]) -> T:
    """Return what `build` makes; settings that it refuses are the project's fault, in its own words."""
    try:
        return build()
    except ValueError as error:
        raise WorkflowError(str(error)) from error
