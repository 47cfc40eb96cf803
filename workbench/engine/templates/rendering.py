"""Fills the messages, the text or the object graph of a project from its parameters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.templates.filled import Filled
from workbench.engine.templates.filling import Filler, placeholder_names
from workbench.engine.templates.options import MessageTemplate, TemplateOptions
from workbench.engine.templates.records import PlaceholderUse, type_surprises
from workbench.engine.templates.replacer import (
    Replacement,
    absent_required,
    expansion_diagnostics,
    fill_graph,
    filled_diagnostics,
    used_pointers,
)
from workbench.engine.templates.settings import FillSettings, settings_from_options

_DEFAULTS = TemplateOptions()


class Rendering:
    """A filled text. `placeholders` and `diagnostics` are made when they are first asked for."""

    def __init__(self, text: str, filled: Filled | None, filler: Filler) -> None:
        self.text = text
        self._filled = filled
        self._filler = filler

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.text!r})"

    @property
    def _all(self) -> tuple[Filled, ...]:
        return () if self._filled is None else (self._filled,)

    @property
    def placeholders(self) -> tuple[PlaceholderUse, ...]:
        """One record per placeholder, from left to right."""
        return () if self._filled is None else self._filled.uses

    @cached_property
    def used_pointers(self) -> frozenset[str]:
        """The parameters that the text reads, as JSON Pointers."""
        return used_pointers(self._all, self._filler)

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What is wrong with the template or worth knowing of what was put in."""
        return (
            *filled_diagnostics(self._all),
            *type_surprises(self.placeholders),
            *absent_required(self._filler.settings, self._all),
            *expansion_diagnostics(self._filler, self.used_pointers),
        )


class RenderedMessage(Rendering):
    """One filled message. `role` is structure and never filled. `template` is its text before."""

    def __init__(self, role: str, template: str, text: str, filled: Filled | None, filler: Filler) -> None:
        super().__init__(text, filled, filler)
        self.role = role
        self.template = template

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What is wrong with this message or worth knowing of what was put in."""
        return (*filled_diagnostics(self._all), *type_surprises(self.placeholders))


class RenderedPrompt:
    """All messages of a prompt, filled in one go."""

    def __init__(self, messages: Iterable[RenderedMessage], filler: Filler) -> None:
        self.messages = tuple(messages)
        self._filler = filler

    def __repr__(self) -> str:
        return f"RenderedPrompt({self.messages!r})"

    @cached_property
    def _filled(self) -> tuple[Filled, ...]:
        return tuple(filled for message in self.messages for filled in message._all)

    @property
    def placeholders(self) -> tuple[PlaceholderUse, ...]:
        """One record per placeholder, message by message."""
        return tuple(use for message in self.messages for use in message.placeholders)

    @cached_property
    def used_pointers(self) -> frozenset[str]:
        """The parameters that the prompt reads, as JSON Pointers; for a path with a wildcard, its beginning."""
        return used_pointers(self._filled, self._filler)

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The diagnostics of all messages, then those of the prompt as a whole."""
        return (
            *(diagnostic for message in self.messages for diagnostic in message.diagnostics),
            *absent_required(self._filler.settings, self._filled),
            *expansion_diagnostics(self._filler, self.used_pointers),
        )


class CompiledTemplate:
    """A text and its options, made ready for being filled with ever new parameters."""

    def __init__(self, text: str, options: TemplateOptions | None = None) -> None:
        self.text = text
        self.options = options or _DEFAULTS
        self._settings = settings_from_options(self.options)

    def render(self, parameters: Any) -> Rendering:
        """Fill the text; see `render_text`."""
        return _render(self.text, parameters, self._settings, "")


def render_text(
    text: str, parameters: Any, options: TemplateOptions | None = None, *, node: str = ""
) -> Rendering:
    """Fill one text from JSON-like `parameters`.

    Nothing is raised for what is unresolved: its record says so, and in `error` mode its diagnostic has the
    severity `error`. `node` is the path that records carry. `parameters` are read now, not copied.

    Raises:
        ValueError: for options that name an unknown escaper or dialect; with `expand_parameters`, for
            parameters that are not JSON-like.
    """
    return _render(text, parameters, settings_from_options(options or _DEFAULTS), node)


def _render(text: str, parameters: Any, settings: FillSettings, node: str) -> Rendering:
    filler = Filler(settings, parameters)
    filled = filler.fill(text, lambda: node)
    return Rendering(text if filled is None else filled.text, filled, filler)


def render_prompt(
    messages: Sequence[MessageTemplate], parameters: Any, options: TemplateOptions | None = None
) -> RenderedPrompt:
    """Fill the messages of a prompt from JSON-like `parameters`; the node of a message is `/INDEX/content`.

    Raises:
        ValueError: as `render_text` does.
    """
    filler = Filler(settings_from_options(options or _DEFAULTS), parameters)
    rendered = []
    for index, message in enumerate(messages):
        filled = filler.fill(message.content, _MessageNode(index))
        text = message.content if filled is None else filled.text
        rendered.append(RenderedMessage(message.role, message.content, text, filled, filler))
    return RenderedPrompt(rendered, filler)


class _MessageNode:
    """The path of a message's text."""

    __slots__ = ("_index",)

    def __init__(self, index: int) -> None:
        self._index = index

    def __call__(self) -> str:
        return f"/{self._index}/content"


def render_graph(graph: Any, parameters: Any, options: TemplateOptions | None = None) -> Replacement:
    """Fill every string of an object graph; nothing is raised for what is unresolved.

    Raises:
        KeyCollisionError: when keys are replaced and two of one map become the same.
        ValueError: as `render_text` does.
    """
    return fill_graph(graph, Filler(settings_from_options(options or _DEFAULTS), parameters))


def template_names(parameters: Any, options: TemplateOptions) -> frozenset[str]:
    """Return what counts as a placeholder wherever the `braces` dialect is read or written.

    These are the declared names and the top-level names of the parameters, whatever dialect the options have.
    """
    settings = settings_from_options(options)
    return placeholder_names(replace(settings, dialect="braces"), parameters)
