"""A template made ready for filling: literal chunks, and a plan that reads all plain paths in one loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Literal

from workbench.engine.templates.cache import BoundedCache
from workbench.engine.templates.escapers import Escaper
from workbench.engine.templates.paths import Path, pointer_of, read_path
from workbench.engine.templates.settings import FillSettings
from workbench.engine.templates.spans import ParsedTemplate, Span, parse_dialect
from workbench.engine.templates.values import value_text

TokenKind = Literal["path", "context", "bare"]


@dataclass(frozen=True, slots=True)
class Token:
    """A placeholder with its body taken apart.

    `kind` is `path` for a path into the parameters, `context` for `context.content` of another context, and
    `bare` for a body without a context. `content_start` is the offset of `content` in the template.
    `shadowed` says that a context or a field of the options may answer before the parameters do.
    """

    span: Span
    kind: TokenKind
    context: str
    content: str
    content_start: int
    path: Path | None
    optional: bool
    shadowed: bool


@dataclass(frozen=True, slots=True)
class FastPlan:
    """How to read every value of a template without a decision per placeholder.

    `steps` are (index of the container among the values read so far, name or index, type that the container
    must have); the parameters are value 0. `leaves` are the indexes of the distinct values that are put in,
    `pointers` their JSON Pointers, and `slots` gives for each placeholder its position among the leaves.
    """

    steps: tuple[tuple[int, Any, Any], ...]
    leaves: tuple[int, ...]
    pointers: tuple[str, ...]
    slots: tuple[int, ...]
    spread: Callable[[list[str]], Sequence[str]] | None

    def read(
        self, parameters: Any, null_text: str, escaper: Escaper | None, refuse_null: bool
    ) -> tuple[list[Any], list[str]] | None:
        """Return (values, texts) of the distinct placeholders, or `None` where one of them needs a closer look."""
        values: list[Any] = [parameters]
        append = values.append
        try:
            for parent, key, kind in self.steps:
                container = values[parent]
                if container.__class__ is not kind:
                    return None
                append(container[key])
            found = [values[leaf] for leaf in self.leaves]
            texts = [value if value.__class__ is str else value_text(value, null_text) for value in found]
        except (LookupError, TypeError, ValueError):
            return None
        if refuse_null and None in found:
            return None
        if escaper is not None:
            texts = [escaper(text) for text in texts]
            if not all(isinstance(text, str) for text in texts):
                return None  # the slow way says what is wrong
        return found, texts


@dataclass(frozen=True, slots=True)
class Program:
    """One template, ready to be filled any number of times.

    `pieces` alternate literal text and empty places for values, and begin and end with literal text.
    `plan` is `None` when at least one placeholder needs more than plain paths.
    """

    parsed: ParsedTemplate
    tokens: tuple[Token, ...]
    pieces: tuple[str, ...]
    plan: FastPlan | None
    has_optional: bool


class ProgramStore:
    """The programs of one combination of settings, by template text."""

    def __init__(self, settings: FillSettings, names: frozenset[str]) -> None:
        self._settings = settings
        self._names = names
        self._programs: BoundedCache[Program] = BoundedCache(entries=4096, weight=20_000_000)

    def program(self, text: str) -> Program:
        """Return the program of `text`, made now or earlier."""
        program = self._programs.get(text)
        if program is None:
            program = _compile(text, self._settings, self._names)
            self._programs.put(text, program, len(text) + 800 * len(program.tokens))
        return program


_stores: BoundedCache[ProgramStore] = BoundedCache(entries=16, weight=16)


def program_store(settings: FillSettings, names: frozenset[str]) -> ProgramStore:
    """Return the store for `settings`; only what matters for the meaning of a template tells stores apart."""
    key = (
        settings.dialect,
        settings.context_name,
        settings.literal_escape,
        settings.optional,
        names,
        frozenset(settings.contexts),
        frozenset(settings.fields),
        settings.resolver is not None,
    )
    store = _stores.get(key)
    if store is None:
        store = ProgramStore(settings, names)
        _stores.put(key, store, 1)
    return store


def _compile(text: str, settings: FillSettings, names: frozenset[str]) -> Program:
    parsed = parse_dialect(text, settings.dialect, settings.literal_escape, names)
    tokens = [read_token(span, settings) for span in parsed.placeholders]
    pieces = parsed.contents()
    pieces[1::2] = [""] * len(tokens)  # what is filled in stands where the bodies stood
    plan = _plan(tokens)
    return Program(parsed, tuple(tokens), tuple(pieces), plan, any(token.optional for token in tokens))


def read_token(span: Span, settings: FillSettings) -> Token:
    """Take the body of a placeholder apart by the rules of the dialect."""
    body = span.body
    name = body.strip()
    pad = len(body) - len(body.lstrip())
    if settings.dialect == "braces":
        path = Path((body,), None, None, True, (body,))
        return Token(
            span, "path", "", body, span.start + 1, path, body in settings.optional, body in settings.fields
        )
    start = span.start + 2 + pad
    context, dot, content = name.partition(".")
    if settings.dialect == "double-braces":
        shadowed = name in settings.fields or (bool(dot) and context in settings.contexts)
        optional = name in settings.optional
        return Token(span, "path", context, name, start, read_path(name), optional, shadowed)
    optional = name in settings.optional
    if not dot:
        return Token(span, "bare", "", name, start, None, optional, True)
    start += len(context) + 1
    inside = content.strip()
    start += len(content) - len(content.lstrip())
    shadowed = settings.resolver is not None or context in settings.contexts
    if context != settings.context_name:
        return Token(span, "context", context, inside, start, None, optional, True)
    optional = optional or inside in settings.optional
    return Token(span, "path", context, inside, start, read_path(inside), optional, shadowed)


def _plan(tokens: Sequence[Token]) -> FastPlan | None:
    """Return the plan for `tokens`, or `None` when one of them is more than a plain path."""
    steps: list[tuple[int, str | int, type]] = []
    known: dict[tuple[int, str | int], int] = {}
    slot_of: dict[int, int] = {}
    leaves: list[int] = []
    pointers: list[str] = []
    slots: list[int] = []
    for token in tokens:
        segments = token.path.segments if token.path is not None and not token.shadowed else None
        if not segments:
            return None
        at = 0
        for segment in segments:
            if isinstance(segment, int) and segment < 0:
                return None
            step = known.get((at, segment))
            if step is None:
                steps.append((at, segment, list if isinstance(segment, int) else dict))
                step = known[at, segment] = len(steps)
            at = step
        slot = slot_of.get(at)
        if slot is None:
            slot = slot_of[at] = len(leaves)
            leaves.append(at)
            pointers.append(pointer_of(segments))
        slots.append(slot)
    if slots == list(range(len(leaves))):
        spread: Callable[[list[str]], Sequence[str]] | None = None
    elif len(slots) == 1:
        spread = None
    else:
        spread = itemgetter(*slots)
    return FastPlan(tuple(steps), tuple(leaves), tuple(pointers), tuple(slots), spread)
