"""Colours one line at a time: JSON and code by pygments, placeholders of the three dialects by their own rules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from PySide6.QtGui import QFont, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from workbench.engine.templates.options import TemplateOptions
from workbench.engine.text import LineIndex
from workbench.gui.shell.theme import on_theme_changed, theme

# A longer line is shown plain: colouring it on every key would be felt.
LONGEST_COLOURED_LINE = 5_000

_CONTEXT = re.compile(r"(\\*)\[%((?:(?!\[%|%\]).)*)%\]")
_DOUBLE = re.compile(r"(\\*)\{\{((?:(?!\{\{|\}\}).)*)\}\}")
_BRACES = re.compile(r"(\\*)\{([^\W\d][\w.-]*)\}")


class LineHighlighter(QSyntaxHighlighter):
    """A highlighter that follows the theme; subclasses say which spans of a line have which token."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._formats: dict[tuple[str, str | None, bool], QTextCharFormat] = {}
        on_theme_changed(self, self._theme_changed)

    def _theme_changed(self) -> None:
        self._formats.clear()
        self.rehighlight()

    def format_of(
        self, text_token: str, ground_token: str | None = None, bold: bool = False
    ) -> QTextCharFormat:
        """Return the (cached) format of a text colour on an optional ground."""
        key = (text_token, ground_token, bold)
        if (known := self._formats.get(key)) is None:
            known = QTextCharFormat()
            known.setForeground(theme().color(text_token))
            if ground_token is not None:
                known.setBackground(theme().color(ground_token))
            if bold:
                known.setFontWeight(QFont.Weight.DemiBold)
            self._formats[key] = known
        return known

    def spans(self, line: str) -> Iterable[tuple[int, int, QTextCharFormat]]:
        """Yield (start, end, format) in code points of `line`."""
        raise NotImplementedError

    def highlightBlock(self, line: str) -> None:
        if not line or len(line) > LONGEST_COLOURED_LINE:
            return
        if line.isascii():
            for start, end, style in self.spans(line):
                self.setFormat(start, end - start, style)
            return
        index = LineIndex(line)
        for start, end, style in self.spans(line):
            first = index.to_utf16(start)
            self.setFormat(first, index.to_utf16(end) - first, style)


class TemplateHighlighter(LineHighlighter):
    """Tints placeholders by what fills them: parameters, contexts, fields; literal tokens stay plain.

    `names` are the top-level parameter names, which decide in dialect `braces` what is a placeholder.
    """

    # How many characters of the line one backslash of the template takes.
    _backslash = 1

    def __init__(self, document: QTextDocument, options: TemplateOptions | None = None) -> None:
        super().__init__(document)
        self.options = options if options is not None else TemplateOptions()
        self.names: frozenset[str] = frozenset()

    def configure(self, options: TemplateOptions, names: frozenset[str]) -> None:
        """Take other options or parameter names; colours again only when that matters."""
        matters = options.dialect == "braces" and names != self.names
        if options != self.options or matters:
            self.options, self.names = options, names
            self.rehighlight()
        else:
            self.names = names

    def spans(self, line: str) -> Iterable[tuple[int, int, QTextCharFormat]]:
        dialect = self.options.dialect
        pattern = {"context": _CONTEXT, "double-braces": _DOUBLE}.get(dialect, _BRACES)
        if pattern is _BRACES and "{" not in line:
            return
        for match in pattern.finditer(line):
            slashes, body = len(match[1]), match[2]
            start = match.start() + slashes
            if self.options.literal_escape and slashes // self._backslash % 2:
                yield match.start(), match.end(), self.format_of("second")
            elif (style := self._style(body)) is not None:
                yield start, match.end(), style

    def _style(self, body: str) -> QTextCharFormat | None:
        options = self.options
        if options.dialect == "braces":
            declared = body in options.required or body in options.optional or body in self.names
            return self.format_of("value_text", "value_tint") if declared else None
        if options.dialect == "double-braces":
            return self.format_of("value_text", "value_tint")
        name, dot, _content = body.partition(".")
        if dot and name in options.contexts:
            return self.format_of("context_text", "context_tint")
        if dot and name == options.context_name:
            return self.format_of("value_text", "value_tint")
        if body in options.fields:
            return self.format_of("field_text", "field_tint")
        return self.format_of("second")


class PygmentsHighlighter(LineHighlighter):
    """Colours each line by a pygments lexer that needs no state from the line before."""

    def __init__(self, document: QTextDocument, language: str = "json") -> None:
        super().__init__(document)
        self._lexer = _lexer(language)

    def spans(self, line: str) -> Iterable[tuple[int, int, QTextCharFormat]]:
        for start, end, style in _tokens(self._lexer, line):
            yield start, end, self.format_of(*style)


class GraphHighlighter(TemplateHighlighter):
    """Colours the JSON text of an object graph, and tints the placeholders inside its strings."""

    _backslash = 2

    def spans(self, line: str) -> Iterable[tuple[int, int, QTextCharFormat]]:
        strings = []
        for start, end, style in _tokens(_lexer("json"), line):
            yield start, end, self.format_of(*style)
            if style[0] in ("json_string", "json_key"):
                strings.append((start, end))
        for start, end, ink in super().spans(line):
            if any(first <= start and end <= last for first, last in strings):
                yield start, end, ink


def _tokens(lexer: Any, line: str) -> Iterator[tuple[int, int, tuple[str, str | None, bool]]]:
    """Yield start, end and style of each part of a line that has a style of its own."""
    for start, token, text in lexer.get_tokens_unprocessed(line):
        if (style := _token_style(token)) is not None:
            yield start, start + len(text), style


@lru_cache(maxsize=16)
def _lexer(language: str) -> Any:
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    if language == "json":
        from pygments.lexers.data import JsonLexer

        return JsonLexer(stripnl=False, ensurenl=False)
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return get_lexer_by_name("text", stripnl=False, ensurenl=False)


@lru_cache(maxsize=256)
def _token_style(token: Any) -> tuple[str, str | None, bool] | None:
    from pygments.token import Comment, Error, Keyword, Name, Number, String

    if token in Error:
        return ("rejected", None, False)
    if token in Comment:
        return ("second", None, False)
    if token in Keyword or token in Number:
        return ("json_number", None, False)
    if token in String:
        return ("json_string", None, False)
    if (
        token in Name.Tag
        or token in Name.Attribute
        or token in Name.Class
        or token in Name.Function
        or token in Name.Decorator
    ):
        return ("json_key", None, False)
    return None
