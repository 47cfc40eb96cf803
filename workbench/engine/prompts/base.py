"""The base of all prompt classes (DashAI's `BasePrompt`): placeholders by exact token, filled in one pass."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, ClassVar, NoReturn

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.prompts.components import ConfigObject, SchemaField
from workbench.engine.prompts.tokens import drop_lines, occurrences, substitute
from workbench.engine.templates.spans import declared_name, parse_dialect
from workbench.engine.text import LineIndex

LANGUAGES = ("en", "es", "pt", "de")
"""The languages in which built-in prompts have a variant."""

_TEMPLATE = SchemaField(
    "template",
    {"en": "Template", "es": "Plantilla", "pt": "Modelo", "de": "Vorlage"},
    {
        "en": "The text of the prompt, with its placeholders.",
        "es": "El texto del prompt, con sus marcadores.",
        "pt": "O texto do prompt, com os seus marcadores.",
        "de": "Der Text des Prompts mit seinen Platzhaltern.",
    },
)


class PromptTemplateError(ValueError):
    """A prompt's template cannot be filled. `tokens` are the placeholders concerned, such as `{chunks}`."""

    def __init__(self, message: str, tokens: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.tokens = tokens


class BasePrompt(ConfigObject):
    """A prompt with a template. Subclasses declare their placeholders, their metadata and `format`.

    `required_placeholders` and `optional_placeholders` are lists of whole tokens such as `{input}`;
    `metadata` may hold name, description, type, the placeholders with descriptions, and `templates` by
    language.
    """

    TYPE: ClassVar[str] = "Prompt"
    SCHEMA: ClassVar[tuple[SchemaField, ...]] = (_TEMPLATE,)

    required_placeholders: ClassVar[list[str]]
    optional_placeholders: ClassVar[list[str]]
    metadata: ClassVar[dict[str, Any]]

    def __init__(self, template: str = "") -> None:
        self.template = template

    def __repr__(self) -> str:
        return f"{type(self).__name__}(template={self.template!r})"

    @classmethod
    def get_metadata(cls) -> dict[str, Any]:
        """Return a deep copy of the class's metadata; empty when the class declares none."""
        return copy.deepcopy(getattr(cls, "metadata", {}))

    @classmethod
    def get_required_placeholders(cls) -> list[str]:
        """Return the tokens that every template must hold.

        Raises:
            AttributeError: when the class declares no `required_placeholders`.
        """
        if not hasattr(cls, "required_placeholders"):
            _undeclared(cls, "required_placeholders")
        return list(cls.required_placeholders)

    def get_optional_placeholders(self) -> list[str]:
        """Return the tokens that a template may hold.

        Raises:
            AttributeError: when the class declares no `optional_placeholders`.
        """
        if not hasattr(self, "optional_placeholders"):
            _undeclared(type(self), "optional_placeholders")
        return list(self.optional_placeholders)

    @classmethod
    def get_template(cls, language: str = "en") -> str:
        """Return the built-in template in `language`, in English when there is no such variant, else empty."""
        templates = getattr(cls, "metadata", {}).get("templates", {})
        text: str = templates.get(language, templates.get("en", ""))
        return text

    @classmethod
    def validate_template(cls, template: str) -> bool:
        """Tell whether `template` holds every required token, character by character."""
        return all(token in template for token in cls.get_required_placeholders())

    @classmethod
    def check_template(cls, template: str) -> list[Diagnostic]:
        """Return what is wrong with `template`: missing, unknown, misspelt and doubled tokens, with offsets."""
        required = cls.get_required_placeholders()
        tokens = [*required, *getattr(cls, "optional_placeholders", ())]
        found = [
            Diagnostic(
                "error",
                "missing_placeholder",
                f"the template lacks the required placeholder {token}",
                pointer="/template",
                hint=f"write {token} where its value belongs",
            )
            for token in required
            if token not in template
        ]
        names = frozenset(declared_name(token, "braces") for token in tokens) - {""}
        parsed = parse_dialect(template, "braces", False, names)
        return [*found, *parsed.diagnostics, *_repeated(template, tokens)]

    def format(self, *args: Any, **kwargs: Any) -> str:
        """Return the filled prompt. Every prompt class defines this for its own placeholders.

        Raises:
            NotImplementedError: in the base class.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define format()")

    @staticmethod
    def render_placeholders(template: str, values: Mapping[str, Any]) -> str:
        """Replace whole tokens such as `{input}` in a single pass from left to right.

        Values become text by `str`, `None` included. Tokens without a value stay. What was put in is never
        read again; where two tokens match at one place, the longer wins.

        Raises:
            ValueError: for an empty token.
        """
        return substitute(template, values)

    @classmethod
    def render_optional(cls, template: str, key: str, value: Any) -> str:
        """Put `value` in the place of the token `key`; `None` drops every line that holds the token.

        Lines end at LF, CR LF or CR. Blank lines around a dropped line stay.

        Raises:
            ValueError: for an empty token.
        """
        if value is None:
            return drop_lines(template, [key], [key])
        return substitute(template, {key: value})

    def fill(self, template: str, values: Mapping[str, Any]) -> str:
        """Fill `template`: drop the lines of what is `None` first, then put in everything else in one pass.

        `values` are by token. Optional tokens that are not among them count as `None`.

        Raises:
            PromptTemplateError: when a required token is missing from the template, has no value, or stands
                on a line that would be dropped.
        """
        required = self.get_required_placeholders()
        missing = tuple(token for token in required if token not in template)
        if missing:
            raise PromptTemplateError(
                f"{type(self).__name__}: the template lacks the required {_listed(missing)}", missing
            )
        unset = tuple(token for token in required if values.get(token) is None)
        if unset:
            raise PromptTemplateError(f"{type(self).__name__}: there is no value for {_listed(unset)}", unset)
        known = {**dict.fromkeys(self.get_optional_placeholders()), **values}
        absent = [token for token, value in known.items() if value is None]
        kept = drop_lines(template, absent, known)
        lost = tuple(token for token in required if token not in kept)
        if lost:
            culprits = tuple(token for token in absent if token in template)
            raise PromptTemplateError(
                f"{type(self).__name__}: {_listed(culprits)} has no value, and its line also holds the required "
                f"{_listed(lost)}; put them on lines of their own",
                (*culprits, *lost),
            )
        return substitute(kept, {token: value for token, value in known.items() if value is not None})


def _undeclared(kind: type, attribute: str) -> NoReturn:
    raise AttributeError(f"{kind.__name__} declares no {attribute}", name=attribute, obj=kind)


def _listed(tokens: tuple[str, ...]) -> str:
    return ", ".join(tokens)


def _repeated(template: str, tokens: list[str]) -> list[Diagnostic]:
    lines = LineIndex(template)
    notes = []
    for token in dict.fromkeys(tokens):
        if not token:
            continue
        for start, end in list(occurrences(template, token))[1:]:
            line, column = lines.position(start)
            notes.append(
                Diagnostic(
                    "info",
                    "duplicate_placeholder",
                    f"{token} stands here again and is filled with the same value",
                    start,
                    end,
                    line,
                    column,
                    hint="remove it unless the value is meant to appear twice",
                )
            )
    return sorted(notes, key=lambda note: note.start or 0)
