"""What a project says of its translation: the type, the repairs and the prompts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from workbench.engine.templates.options import MessageTemplate

Mode = Literal["prompt", "json", "schema", "tool"]
Profile = Literal["smart", "compat", "strict"]
StripNulls = Literal["off", "all", "schema"]
SchemaStyle = Literal["json", "typescript", "outline"]
SCHEMA_STYLES: tuple[SchemaStyle, ...] = ("json", "typescript", "outline")
"""How a prompt can show a schema: as it is, as TypeScript declarations, as an indented outline."""
Target = Literal["value", "program"]


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

    `schema_style` is how the prompts show the schema. `preamble` is `"template"` (the rendered messages go in front of the request prompt) or messages.
    `budget` may hold `calls`, `tokens`, `seconds` and `cost` of a run (the last in the currency of the model's prices),
    the `max_tokens` of a reply, and the factor `token_ramp` by which they grow for a reply that was cut off. With
    `stop_without_progress` a run ends whose repair changed nothing; `lenient` mends almost-JSON and lists each edit;
    `schema_in_system` puts the schema into a system message; `try_unstripped_first` keeps nulls where the value is
    valid with them. The `target` of a request is a value of the output schema,
    or a program over the project's tools.
    """

    type_name: str = "Response"
    attempt_repair: bool = True
    max_repairs: int = 1
    strip_nulls: StripNulls = "off"
    schema_style: SchemaStyle = "json"
    mode: Mode = "prompt"
    profile: Profile = "smart"
    history: Literal["last", "all"] = "last"
    repair_model: str | None = None
    request_prompt: str | None = None
    repair_prompt: str | None = None
    preamble: Literal["template"] | tuple[MessageTemplate, ...] = ()
    rules: tuple[Rule, ...] = ()
    budget: Mapping[str, float] = field(default_factory=dict)
    target: Target = "value"
    stop_without_progress: bool = False
    lenient: bool = False
    schema_in_system: bool = False
    try_unstripped_first: bool = False
