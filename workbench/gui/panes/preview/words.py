"""What the preview says in words: hover texts and counts."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from workbench.engine.text import shorten
from workbench.gui.models.figures import counted as number_of
from workbench.gui.shell.theme import theme

if TYPE_CHECKING:
    from workbench.engine.templates import PlaceholderUse, TextCounts

_SOURCES = {"parameter": "from the parameters", "context": "from a context", "field": "from a field"}


def counted(texts: list[str], titles: list[str]) -> tuple[list[str], TextCounts]:
    """Return a line for each message and the sum of all."""
    from workbench.engine.templates import TextCounts, count_text

    lines, total = [], TextCounts()
    for index, text in enumerate(texts):
        counts = count_text(text)
        total = total + counts
        lines.append(f"{titles[index] if index < len(titles) else 'graph'}: {count_words(counts)}")
    return lines, total


def count_words(counts: TextCounts) -> str:
    """Return a count in words; tokens are an estimate."""
    units = (counts.characters, "character"), (counts.words, "word"), (counts.tokens, "token")
    characters, words, tokens = (number_of(*unit) for unit in units)
    return f"{characters} · {words} · about {tokens}"


class LazyTip:
    """The hover text of a value, made only when somebody hovers."""

    def __init__(self, use: PlaceholderUse) -> None:
        self._use = use

    def __str__(self) -> str:
        return describe_use(self._use)


def describe_use(use: PlaceholderUse) -> str:
    """Return the hover text of a placeholder as rich text: path, type, matches, escaper, source."""
    second = theme().hex("second")
    lines = [f"<b>{html.escape(shorten(use.body, 120))}</b>"]
    if use.status == "kept":
        lines.append("no value" if use.diagnostic is None else html.escape(use.diagnostic.message))
        if use.diagnostic is not None and use.diagnostic.hint:
            lines.append(html.escape(use.diagnostic.hint))
    else:
        lines.append(html.escape(shorten(use.text, 200)))
    facts = []
    if use.source:
        facts.append(_SOURCES[use.source])
    if use.pointer:
        facts.append(html.escape(use.pointer))
    if use.value_type:
        facts.append(use.value_type)
    if use.source == "parameter":
        facts.append("1 match" if use.match_count == 1 else f"{use.match_count} matches")
    if use.status != "kept":
        facts.append("not escaped" if use.escaper == "none" else f"escaped as {use.escaper}")
    if facts:
        lines.append(f"<span style='color:{second}'>{' · '.join(facts)}</span>")
    return "<br>".join(lines)
