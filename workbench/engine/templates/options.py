"""How the templates of a project are read and filled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Dialect = Literal["context", "braces", "double-braces"]
Unresolved = Literal["keep", "empty", "error"]
Many = Literal["join", "json", "first", "error"]

DIALECTS: tuple[Dialect, ...] = ("context", "braces", "double-braces")


@dataclass(frozen=True, slots=True)
class MessageTemplate:
    """One message of a prompt before it is filled: a role such as `system` or `user`, and its text."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class TemplateOptions:
    """The `[template]` table of a project.

    `contexts` maps a context name to its texts by key (a data-only context resolver, applied first);
    `fields` maps a placeholder's body to a text (a data-only custom replacer). `required` and `optional`
    name placeholders. `escape` is a name from `templates.escapers`.
    """

    dialect: Dialect = "context"
    context_name: str = "param"
    escape: str = "none"
    unresolved: Unresolved = "keep"
    null_text: str = ""
    many: Many = "join"
    expand_parameters: bool = False
    replace_keys: bool = False
    literal_escape: bool = True
    collapse_blank_lines: bool = False
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    contexts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)
