"""Freezes the settings of a translator for one run, so that later assignments do not reach it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from workbench.engine.events import RunEvent
from workbench.engine.translation.settings import Mode, Profile


@dataclass(frozen=True, slots=True)
class RunSettings:
    """The settings of a translator at the moment a run began; later assignments do not reach the run."""

    model: Any
    validator: Any
    repairs: int
    strip_nulls: str
    try_unstripped_first: bool
    create_request_prompt: Callable[..., Any]
    create_repair_prompt: Callable[..., Any]
    validate_instance: Callable[..., Any]
    default_request: bool
    profile: Profile
    mode: Mode
    lenient: bool
    repair_model: Any
    history: Literal["last", "all"]
    budget: Mapping[str, float]
    max_tokens: int | None
    token_ramp: float | None
    stop_without_progress: bool
    schema_in_system: bool
    on_event: Callable[[RunEvent], Any] | None

    @property
    def type_name(self) -> str:
        """The name of the target type."""
        return str(_told(self.validator, "type_name", "get_type_name") or "Response")

    @property
    def schema_text(self) -> str:
        """The schema as the prompts show it."""
        return str(_told(self.validator, "schema_text", "get_schema_text") or "")

    @property
    def schema_value(self) -> Any:
        """The JSON Schema as a value, `None` where the validator has none."""
        return getattr(getattr(self.validator, "schema", None), "value", None)


def _told(validator: Any, name: str, getter: str) -> Any:
    value = getattr(validator, name, None)
    if value is None:
        value = getattr(validator, getter, None)
    return value() if callable(value) else value


class HookError(Exception):
    """A hook or a validator raised; `hook` names it."""

    def __init__(self, hook: str, error: Exception) -> None:
        super().__init__(f"{hook} raised {type(error).__name__}: {error}")
        self.hook = hook
