"""What a project says of its translation: the type, the repairs and the prompts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from workbench.engine.templates.options import MessageTemplate

Mode = Literal["prompt", "json", "schema", "tool"]
Profile = Literal["smart", "compat", "strict"]
StripNulls = Literal["off", "all", "schema"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One `[[translation.rules]]` row: a data-only check of the translated value.

    `path` is a JSONPath into the value, `op` an operator such as `==`, `<=`, `in` or `matches`, `value`
    the other side, `message` what the repair prompt says when the rule does not hold.
    """

    path: str
    op: str
    value: Any
    message: str


@dataclass(frozen=True, slots=True)
class TranslationSettings:
    """The `[translation]` table of a project.

    `preamble` is `"template"` (the rendered messages go in front of the request prompt) or messages.
    `budget` may hold `calls`, `tokens` and `seconds`.
    """

    type_name: str = "Response"
    attempt_repair: bool = True
    max_repairs: int = 1
    strip_nulls: StripNulls = "off"
    mode: Mode = "prompt"
    profile: Profile = "smart"
    history: Literal["last", "all"] = "last"
    repair_model: str | None = None
    request_prompt: str | None = None
    repair_prompt: str | None = None
    preamble: Literal["template"] | tuple[MessageTemplate, ...] = ()
    rules: tuple[Rule, ...] = ()
    budget: Mapping[str, float] = field(default_factory=dict)
