"""Writes the request prompt and the repair prompt, so that nothing in a request can pass for part of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.engine.diagnostics import Diagnostic

if TYPE_CHECKING:
    from workbench.engine.language_models import Message

REQUEST_TOKENS = ("type_name", "schema", "request")
REPAIR_TOKENS = ("error", "type_name", "schema")


@dataclass(frozen=True, slots=True)
class PromptContext:
    """What a prompt builder may look at.

    `attempt` is the number of the attempt that the prompt is for, from 1. `noun` names the root (`JSON object`,
    `JSON array`, `JSON value`). For a repair, `error` is the text of the diagnostics, `outcome` the code of
    what went wrong, `reply` the model's full reply and `json_text` the JSON that was found in it.
    """

    request: str
    type_name: str
    schema_text: str
    noun: str = "JSON object"
    schema_language: str = "json"
    attempt: int = 1
    error: str = ""
    outcome: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    reply: str | None = None
    json_text: str | None = None


def request_prompt(context: PromptContext) -> str:
    """Return the request prompt in its five parts: task, schema, label, request, how to answer.

    The delimiters around schema and request are lengthened until they occur in neither, and the request
    stands there unchanged.
    """
    return schema_part(context) + request_part(context)


_FORMS: Mapping[str, tuple[str, str]] = {
    "json": ("JSON Schema", "json"),
    "typescript": ("TypeScript", "typescript"),
    "outline": ("outline", ""),
}
"""How a prompt calls the language of the schema, and the tag of the fence around it."""


def schema_part(context: PromptContext) -> str:
    """Return the first two parts, which do not change from request to request: task and schema."""
    fence = delimiter("`", context.schema_text, context.request)
    form, tag = _FORMS.get(context.schema_language, ("text", ""))
    return (
        f"Turn the request of a user into one {context.noun} of the type {context.type_name}. "
        f"This {form} describes the type:\n"
        f"{fence}{tag}\n{context.schema_text}\n{fence}\n"
    )


def request_part(context: PromptContext) -> str:
    """Return the last three parts: label, request, how to answer."""
    quotes = delimiter('"', context.request)
    return (
        f"This is the request, between the lines of quotation marks:\n"
        f"{quotes}\n{context.request}\n{quotes}\n"
        f"Answer with the {context.noun} for this request alone, not with its description, indented with 2 spaces. "
        "Leave out optional properties for which there is no value.\n"
    )


_OPENINGS: Mapping[str, str] = {
    "syntax": "The reply is not correct JSON:",
    "no_json": "No JSON was found in the reply:",
    "empty": "No JSON was found in the reply:",
    "schema_echo": "The reply is the schema and not a value of the type {type_name}:",
    "ambiguous": "The reply holds more than one {noun}:",
    "instance_rejected": "The {noun} fits the schema and breaks a further rule:",
}


def repair_prompt(context: PromptContext) -> str:
    """Return the repair prompt: what is wrong, place by place, and what to answer.

    The rejected JSON is not repeated; it stands in the reply that precedes this prompt.
    """
    opening = _OPENINGS.get(context.outcome, "The {noun} is not a valid {type_name}:")
    quotes = delimiter('"', context.error)
    return (
        f"{opening.format(noun=context.noun, type_name=context.type_name)}\n"
        f"{quotes}\n{context.error}\n{quotes}\n"
        f"Answer with the whole corrected {context.noun} alone, without an explanation.\n"
    )


def fill_prompt(template: str, values: Mapping[str, str]) -> str:
    """Fill the tokens `{name}` of a project's own prompt in one pass.

    Only the names in `values` are tokens, any other braces are text, and inserted text is never read again.
    """
    names = "|".join(re.escape(name) for name in values)
    return re.sub(rf"\{{({names})\}}", lambda match: values[match[1]], template)


def request_from_template(template: str, context: PromptContext) -> str:
    """Fill `{type_name}`, `{schema}` and `{request}`."""
    return fill_prompt(
        template,
        {"type_name": context.type_name, "schema": context.schema_text, "request": context.request},
    )


def repair_from_template(template: str, context: PromptContext) -> str:
    """Fill `{error}`, `{type_name}` and `{schema}`."""
    return fill_prompt(
        template,
        {"error": context.error, "type_name": context.type_name, "schema": context.schema_text},
    )


def delimiter(character: str, *texts: str) -> str:
    """Return at least three of `character`, more than stand in a row anywhere in `texts`."""
    longest = max(
        (len(run) for text in texts for run in re.findall(f"{re.escape(character)}+", text)), default=0
    )
    return character * max(3, longest + 1)


def preamble_messages(preamble: Any, *, keep_empty: bool = False) -> list[Message]:
    """Return the messages of a preamble: a text is one user message, sections are copied in their order.

    Sections are messages, `{"role", "content"}` mappings or (role, content) pairs. An empty text gives no
    message; with `keep_empty` it gives an empty user message, as TypeChat has it.

    Raises:
        TypeError: a section of another kind.
    """
    from workbench.engine.language_models import Message

    if preamble is None:
        return []
    if isinstance(preamble, str):
        return [Message("user", preamble)] if preamble or keep_empty else []
    if not isinstance(preamble, Sequence):
        raise TypeError("The preamble must be a text or a list of sections.")
    return [_section(section) for section in preamble]


def _section(section: Any) -> Message:
    from workbench.engine.language_models import Message

    if isinstance(section, Message):
        return section
    if isinstance(section, Mapping):
        return Message(str(section["role"]), as_content(section["content"]))
    role, content = getattr(section, "role", None), getattr(section, "content", None)
    if role is None and isinstance(section, Sequence) and len(section) == 2:
        role, content = section
    if not isinstance(role, str) or content is None:
        raise TypeError("A section of the preamble needs a role and a content.")
    return Message(role, as_content(content))


def as_content(content: Any) -> Any:
    """Return a prompt's content as messages hold it: a text, or a tuple of parts.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(content, str):
        return content
    if not isinstance(content, (list, tuple)):
        raise TypeError(f"it returned {type(content).__name__}, not a text or a list of parts")
    return tuple(content)
