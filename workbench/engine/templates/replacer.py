"""The object-graph placeholder replacer of the reference system (formcycle), and its builder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar, get_args

from workbench.engine.diagnostics import Diagnostic, Severity
from workbench.engine.templates.escapers import ESCAPERS, Escaper
from workbench.engine.templates.filled import Filled
from workbench.engine.templates.filling import Filler, declared_as
from workbench.engine.templates.graph import replace_strings
from workbench.engine.templates.options import Many, Unresolved
from workbench.engine.templates.records import PlaceholderUse, UnresolvedPlaceholderError, type_surprises
from workbench.engine.templates.settings import BodyReplacer, ContextResolver, FillSettings
from workbench.engine.templates.spans import DELIMITERS, can_be_context
from workbench.engine.templates.values import snapshot
from workbench.engine.text import nearest


class Replacement:
    """A filled object graph, and what became of every placeholder in it.

    `value` is the graph. `placeholders` are made when they are first asked for.
    """

    def __init__(self, value: Any, filled: Iterable[Filled], filler: Filler) -> None:
        self.value = value
        self._filled = tuple(filled)
        self._filler = filler

    def __repr__(self) -> str:
        return f"Replacement(value={self.value!r})"

    @cached_property
    def placeholders(self) -> tuple[PlaceholderUse, ...]:
        """One record per placeholder, in the order of the graph."""
        return tuple(use for filled in self._filled for use in filled.uses)

    @cached_property
    def used_pointers(self) -> frozenset[str]:
        """The parameters that the graph reads, as JSON Pointers."""
        return used_pointers(self._filled, self._filler)

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Everything worth knowing of the templates in the graph and of what was put in, with `node` and offsets."""
        return (
            *filled_diagnostics(self._filled),
            *type_surprises(self.placeholders),
            *absent_required(self._filler.settings, self._filled),
            *expansion_diagnostics(self._filler, self.used_pointers),
        )


class ObjectGraphPlaceholderReplacer:
    """Replaces placeholders in object graphs with one fixed configuration; safe to use from several threads.

    Made by `ObjectGraphPlaceholderReplacerBuilder.build`.
    """

    def __init__(self, settings: FillSettings, parameters: Any) -> None:
        self._settings = settings
        self._filler = Filler(settings, parameters)

    def replace(self, graph: Any) -> Replacement:
        """Return `graph` with its placeholders replaced. The input is never changed.

        A graph is a string, or anything made of maps, lists, tuples, dataclasses, Pydantic models and plain
        objects; see `graph.replace_strings`. Parts without a placeholder are shared with the input.

        Raises:
            UnresolvedPlaceholderError: in `error` mode, when a placeholder is unresolved; with `many("error")`,
                when a path matches more than one value.
            KeyCollisionError: when keys are replaced and two of one map become the same.
        """
        replacement = fill_graph(graph, self._filler)
        raise_unresolved(replacement, self._settings)
        return replacement


def fill_graph(graph: Any, filler: Filler) -> Replacement:
    """Fill every string of `graph`; nothing is raised for what is unresolved."""
    filled: list[Filled] = []
    filler.begin()

    def change(text: str, node: Callable[[], str], is_key: bool) -> str:
        result = filler.fill(text, node, is_key)
        if result is None:
            return text
        filled.append(result)
        return text if result.text == text else result.text

    value = replace_strings(
        graph, change, replace_keys=filler.settings.replace_keys, mark=DELIMITERS[filler.settings.dialect][0]
    )
    return Replacement(value, filled, filler)


def raise_unresolved(replacement: Replacement, settings: FillSettings) -> None:
    """Raise `UnresolvedPlaceholderError` where the settings ask for an error."""
    filled = replacement._filled
    strict = settings.unresolved == "error"
    stuck = [f for f in filled if f.has_ambiguous or (strict and f.has_unresolved)]
    uses = list(_unresolved(stuck, strict))
    if strict and settings.expand_parameters:
        inner = used_expansions(replacement._filler, replacement.used_pointers)
        uses += _unresolved([f for _, f in inner if f.has_unresolved], True)
    if uses:
        raise UnresolvedPlaceholderError(replacement.placeholders, uses)


def _unresolved(filled: Iterable[Filled], strict: bool) -> Iterator[PlaceholderUse]:
    for one in filled:
        for use, stuck in zip(one.uses, one.unresolved_flags(), strict=True):
            ambiguous = use.diagnostic is not None and use.diagnostic.code == "too_many_matches"
            if ambiguous or (strict and stuck):
                yield use


def used_expansions(filler: Filler, pointers: Iterable[str]) -> list[tuple[str, Filled]]:
    """Return the expanded parameter strings at or below `pointers`, in the order of the parameters."""
    if not filler.expansion:
        return []
    wanted = set(pointers)
    return [
        (pointer, filled)
        for pointer, filled in filler.expansion.items()
        if "" in wanted or any(beginning in wanted for beginning in _beginnings(pointer))
    ]


def _beginnings(pointer: str) -> Iterator[str]:
    end = len(pointer)
    while end > 0:
        yield pointer[:end]
        end = pointer.rfind("/", 0, end)


def used_pointers(filled: Iterable[Filled], filler: Filler) -> frozenset[str]:
    """Return the JSON Pointers that filled strings read, those behind expanded parameters included."""
    pointers = {pointer for one in filled for pointer in one.used_pointers}
    for _, expansion in used_expansions(filler, pointers):
        pointers |= expansion.used_pointers
    return frozenset(pointers)


def filled_diagnostics(filled: Iterable[Filled]) -> Iterator[Diagnostic]:
    """Yield what is worth knowing of filled strings: of their grammar, then of their placeholders."""
    for one in filled:
        node = one.node
        for diagnostic in one.program.parsed.diagnostics:
            yield replace(diagnostic, node=node) if node else diagnostic
        for use in one.uses:
            if use.diagnostic is not None:
                yield use.diagnostic


def expansion_diagnostics(filler: Filler, pointers: Iterable[str]) -> Iterator[Diagnostic]:
    """Yield what is wrong with placeholders inside those parameter strings that are put in."""
    severity: Severity | None = "error" if filler.settings.unresolved == "error" else None
    for pointer, filled in used_expansions(filler, pointers):
        for use in filled.uses:
            if use.diagnostic is not None:
                yield replace(
                    use.diagnostic,
                    severity=severity or use.diagnostic.severity,
                    message=f"in the parameter {pointer or 'root'}: {use.diagnostic.message}",
                    pointer=pointer,
                    node=None,
                    start=None,
                    end=None,
                    line=None,
                    column=None,
                    fixes=(),
                )


def absent_required(settings: FillSettings, filled: Iterable[Filled]) -> Iterator[Diagnostic]:
    """Yield an error for every required placeholder that no text holds."""
    if not settings.required:
        return
    present = {
        name for one in filled for token in one.program.tokens for name in declared_as(token, settings)
    }
    opener, closer = DELIMITERS[settings.dialect]
    for name in settings.required:
        if name in present:
            continue
        bare = settings.dialect == "context" and "." not in name and name not in settings.fields
        shown = f"{opener}{settings.context_name}.{name}{closer}" if bare else f"{opener}{name}{closer}"
        near = nearest(name, present - set(settings.required))
        hint = f"write {shown} where it belongs"
        if near is not None:
            hint = f"did you mean {shown} where {opener}{near}{closer} stands?"
        yield Diagnostic(
            "error", "required_absent", f"the template lacks the required placeholder {shown}", hint=hint
        )


class ObjectGraphPlaceholderReplacerBuilder:
    """Builds replacers. Every setter returns the builder; `build` takes the configuration of that moment.

    Context placeholders are `[%context.content%]`. The content of one whose context is the text-parameter
    context is a JSON path into the text parameters. Setters that are no part of the reference system:
    `unresolved`, `null_text`, `many`, `replace_keys` and `literal_escape`.
    """

    def __init__(self) -> None:
        self._settings = FillSettings(touches_bodies=False)
        self._parameters: Any = None

    def _set(self, **changes: Any) -> ObjectGraphPlaceholderReplacerBuilder:
        self._settings = replace(self._settings, **changes)
        return self

    def build(self) -> ObjectGraphPlaceholderReplacer:
        """Return a replacer with the current configuration; the text parameters are copied now.

        Raises:
            TextParametersError: when the text parameters are not JSON-like, NaN and infinities included.
        """
        settings = replace(self._settings, touches_bodies=self._settings.replacer is not None)
        return ObjectGraphPlaceholderReplacer(settings, snapshot(self._parameters))

    def context_placeholder_resolver(
        self, resolver: ContextResolver | None
    ) -> ObjectGraphPlaceholderReplacerBuilder:
        """Set a resolver `(context_name, content) -> object | None`, asked before the text parameters.

        `None` from it means that it has no answer; any other value is put in. `None` instead of a resolver
        (the default) asks nobody.
        """
        return self._set(resolver=_callable("context_placeholder_resolver", resolver))

    def escaper(self, escaper: Escaper | None) -> ObjectGraphPlaceholderReplacerBuilder:
        """Set what every inserted value passes through once; `None` (the default) escapes nothing."""
        _callable("escaper", escaper)
        name = next((name for name, known in ESCAPERS.items() if known is escaper), "custom")
        return self._set(escaper=escaper, escaper_name="none" if escaper is None else name)

    def replace_placeholders_in_text_parameters(self, enabled: bool) -> ObjectGraphPlaceholderReplacerBuilder:
        """Set whether strings in the text parameters are filled first, once, from the original parameters.

        Default `False`.
        """
        return self._set(expand_parameters=enabled)

    def replacer(self, replacer: BodyReplacer | None) -> ObjectGraphPlaceholderReplacerBuilder:
        """Set a replacer `(body) -> object | None` for bodies that are no context placeholders.

        Without one (the default) only context placeholders are touched, and other tokens stay.
        """
        return self._set(replacer=_callable("replacer", replacer))

    def text_parameter_context_name(self, name: str) -> ObjectGraphPlaceholderReplacerBuilder:
        """Set the context name of the text parameters, by default `param`.

        Raises:
            ValueError: for a name that is empty, begins with a blank or holds a dot or a mark of a placeholder,
                since no placeholder could carry it.
        """
        if not isinstance(name, str) or not can_be_context(name):
            raise ValueError(
                f"the context name {name!r} cannot occur in a placeholder: give a name without a dot"
            )
        return self._set(context_name=name)

    def text_parameters(self, parameters: Any) -> ObjectGraphPlaceholderReplacerBuilder:
        """Set the text parameters: null, a boolean, number or string, or a list or map of these; default null."""
        self._parameters = parameters
        return self

    def unresolved(self, mode: Unresolved) -> ObjectGraphPlaceholderReplacerBuilder:
        """Set what happens to a placeholder without a value: `keep` (the default), `empty` or `error`."""
        return self._set(unresolved=_one_of("unresolved", mode, get_args(Unresolved)))

    def null_text(self, text: str) -> ObjectGraphPlaceholderReplacerBuilder:
        """Set the text that stands for null, by default empty."""
        if not isinstance(text, str):
            raise TypeError(f"null_text must be a text, not {type(text).__name__}")
        return self._set(null_text=text)

    def many(self, mode: Many) -> ObjectGraphPlaceholderReplacerBuilder:
        """Set how several matches of a path become one text: `join` (the default), `json`, `first` or `error`."""
        return self._set(many=_one_of("many", mode, get_args(Many)))

    def replace_keys(self, enabled: bool) -> ObjectGraphPlaceholderReplacerBuilder:
        """Set whether keys of maps are templates too; default `False`."""
        return self._set(replace_keys=enabled)

    def literal_escape(self, enabled: bool) -> ObjectGraphPlaceholderReplacerBuilder:
        """Set whether a backslash makes a token literal text; default `True`, off is the reference's behaviour."""
        return self._set(literal_escape=enabled)


_Callable = TypeVar("_Callable")


def _callable(setting: str, value: _Callable) -> _Callable:
    """Return `value`; say at the setter, and not in the middle of a prompt, that it cannot be called."""
    if value is not None and not callable(value):
        raise TypeError(f"{setting} must be a function or None, not {type(value).__name__}")
    return value


def _one_of(setting: str, value: str, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise ValueError(f"{setting} must be one of {', '.join(allowed)}, not {value!r}")
    return value
