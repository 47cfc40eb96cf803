"""The two texts of the preview: the messages as a person reads them, and the JSON as it is sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from workbench.gui.editor import CodeEditor, PygmentsHighlighter, Tint
from workbench.gui.panes.preview.words import LazyTip
from workbench.gui.shell.places import Place
from workbench.gui.shell.theme import mono_font, small_font, theme

if TYPE_CHECKING:
    from workbench.engine.templates import PlaceholderUse
    from workbench.engine.workflows import ProjectRendering

# Beyond this many placeholders only the first are tinted; a person reads none of the rest.
MOST_TINTS = 5_000
MOST_LOOKED_AT = 50


@dataclass(frozen=True)
class Section:
    """A message in the preview: where its text begins, and the uses in it."""

    index: int
    role: str
    start: int
    end: int
    uses: tuple[PlaceholderUse, ...]


class PreviewText(CodeEditor):
    """The filled text with the roles at its left."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, line_numbers=False, name="Preview of the filled prompt")
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.sections: tuple[Section, ...] = ()
        self._missing: list[Tint] = []
        self._roles = _Roles(self)

    def set_sections(self, sections: tuple[Section, ...]) -> None:
        """Say where each message begins."""
        if sections != self.sections:
            self.sections = sections
            width = 0
            if len(sections) > 0:
                metrics = QFontMetrics(mono_font())
                width = 24 + max(metrics.horizontalAdvance(section.role[:14]) for section in sections)
            self.setViewportMargins(width, 0, 0, 0)
            area = self.contentsRect()
            self._roles.setGeometry(QRect(area.left(), area.top(), width, area.height()))
            self._roles.update()

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        area = self.contentsRect()
        self._roles.setGeometry(QRect(area.left(), area.top(), self.viewportMargins().left(), area.height()))

    def _scrolled(self, rect: QRect, dy: int) -> None:
        super()._scrolled(rect, dy)
        self._roles.update()

    def set_text_difference(self, text: str) -> None:
        """Make the text `text` by changing only what differs; scroll position and selection stay."""
        if self.raw_text() == text:
            return
        bar = self.verticalScrollBar()
        at = bar.value()
        if self.document().isEmpty():
            self.set_text(text)
            self.document().setUndoRedoEnabled(False)
        else:
            self.replace_text(text)
            # Nobody else reads this text before its marks are painted, and without it there are none.
            self.text_now()
        bar.setValue(min(at, bar.maximum()))

    def set_tints(self, tints: Iterable[Tint]) -> None:
        super().set_tints(tints)
        self._missing = [tint for tint in self._tints if tint.ground == "missing"]

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._missing:
            return
        painter = QPainter(self.viewport())
        painter.setFont(small_font())
        painter.setPen(theme().color("rejected"))
        for tint in self._missing:
            boxes = self.span_boxes(tint.start, tint.end)
            text = self.raw_text()
            if boxes and (tint.end >= len(text) or text[tint.end] == "\n"):
                box = boxes[-1]
                painter.drawText(QPoint(int(box.right() + 8), int(box.bottom() - 4)), "no value")

    def use_at(self, offset: int) -> tuple[Section, PlaceholderUse] | None:
        """Return the inserted value that holds `offset`."""
        for section in self.sections:
            if section.start <= offset <= section.end:
                inner = offset - section.start
                for use in section.uses:
                    if use.output_start <= inner < use.output_end:
                        return section, use
        return None


class _Roles(QWidget):
    """The strip with the role of each message and the rule beside its text."""

    def __init__(self, text: PreviewText) -> None:
        super().__init__(text)
        self._text = text

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        colors, text = theme(), self._text
        painter.fillRect(event.rect(), colors.color("base"))
        painter.setFont(mono_font())
        offset = text.contentOffset()
        now = text.text_now()
        for section in text.sections:
            first = text.document().findBlock(now.to_position(section.start))
            last = text.document().findBlock(now.to_position(section.end))
            top = text.blockBoundingGeometry(first).translated(offset).top()
            bottom = text.blockBoundingGeometry(last).translated(offset).bottom()
            if bottom < 0 or top > self.height():
                continue
            painter.setPen(colors.color("second"))
            box = QRect(10, int(top), self.width() - 22, text.fontMetrics().height())
            role = text.fontMetrics().elidedText(section.role, Qt.TextElideMode.ElideRight, box.width())
            painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, role)
            painter.setPen(QPen(colors.color("line"), 2))
            painter.drawLine(self.width() - 6, int(top) + 1, self.width() - 6, int(bottom) - 2)


class JsonPreview(CodeEditor):
    """The filled prompt as JSON, with the same tints and ways back as the messages."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, name="Prompt as JSON")
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        PygmentsHighlighter(self.document(), "json")

    def show_rendering(self, rendering: ProjectRendering, differing: frozenset[object] = frozenset()) -> None:
        """Show a rendering; of its values those in `differing` (see `key_of`) are bold."""
        from workbench.engine.json_text import dumps, parse_json
        from workbench.engine.templates import GraphText

        if rendering.graph is not None:
            value: Any = rendering.graph.value
            moved = _moved_nodes(rendering)
        else:
            value = [{"role": message.role, "content": message.text} for message in rendering.messages]
            moved = {}
        # Nothing is sent of a graph that cannot be read, and the banner says why.
        text = dumps(value, indent=2) if can_be_read(rendering) else ""
        bar = self.verticalScrollBar()
        at = bar.value()
        self.replace_text(text) if not self.document().isEmpty() else self.set_text(text)
        self.text_now()
        bar.setValue(min(at, bar.maximum()))
        places = GraphText(parse_json(text))
        tints = []
        for use, place in placed_uses(rendering):
            node = moved.get(use.node, use.node)
            span = places.span(node, use.output_start, use.output_end, use.is_key)
            if span is not None and span[1] > span[0]:
                tints.append(tint_of(use, place, *span, bold=key_of(use, place) in differing))
            if len(tints) >= MOST_TINTS:
                break
        self.set_tints(sorted(tints, key=lambda tint: tint.start))

    def use_at(self, offset: int) -> tuple[Place, PlaceholderUse] | None:
        """Return the inserted value at an offset of the JSON, with the place of its placeholder."""
        tint = self.tint_at(offset)
        return tint.data if tint is not None else None  # type: ignore[return-value]


def can_be_read(rendering: ProjectRendering) -> bool:
    """Tell whether the prompt is no object graph with an error in its JSON."""
    return rendering.graph_document is None or rendering.graph_document.ok


def placed_uses(
    rendering: ProjectRendering, *, status: str | None = None
) -> Iterator[tuple[PlaceholderUse, Place]]:
    """Yield every placeholder (of one status) with its place in its message or in the text of the graph."""
    if rendering.graph is None:
        for index, message in enumerate(rendering.messages):
            for use in message.placeholders:
                if status is None or use.status == status:
                    yield use, Place("message", str(index), use.start, use.end, use.pointer)
        return
    from workbench.engine.templates import GraphText

    if rendering.graph_document is not None:
        text = GraphText(rendering.graph_document)
        for use in rendering.graph.placeholders:
            if status is None or use.status == status:
                yield use, Place("graph", "", *(text.span_of(use) or (None, None)), use.pointer)


def key_of(use: PlaceholderUse, place: Place) -> object:
    """Return what tells a placeholder apart from all others of a project."""
    return place.area, place.name, use.node, use.is_key, use.start


def differing_uses(first: ProjectRendering, second: ProjectRendering) -> frozenset[object]:
    """Return the keys of the placeholders that two parameter sets fill with different texts."""
    texts = {key_of(use, place): use.text for use, place in placed_uses(first)}
    other = {key_of(use, place): use.text for use, place in placed_uses(second)}
    return frozenset(key for key in texts.keys() | other.keys() if texts.get(key) != other.get(key))


def _moved_nodes(rendering: ProjectRendering) -> dict[str, str]:
    """Return where strings of the graph are in the filled graph, for those below a name that was filled."""
    from workbench.engine.json_text import escape_pointer

    moved: dict[str, str] = {}
    if rendering.graph_document is None or rendering.graph is None:
        return moved
    waiting = [("", "", rendering.graph_document.value, rendering.graph.value)]
    while waiting:
        old, new, before, after = waiting.pop()
        if old != new:
            moved[old] = new
        if isinstance(before, dict) and isinstance(after, dict):
            pairs: Iterable[tuple[Any, Any]] = zip(before.items(), after.items(), strict=False)
            for (a, x), (b, y) in pairs:
                waiting.append((f"{old}/{escape_pointer(a)}", f"{new}/{escape_pointer(b)}", x, y))
        elif isinstance(before, list) and isinstance(after, list):
            for index, (x, y) in enumerate(zip(before, after, strict=False)):
                waiting.append((f"{old}/{index}", f"{new}/{index}", x, y))
    return moved


def show_messages(
    target: PreviewText,
    rendering: ProjectRendering,
    titles: Sequence[str],
    differing: frozenset[object] = frozenset(),
) -> None:
    """Put the messages of a rendering into a preview text; values in `differing` are bold."""
    parts: list[str] = []
    sections: list[Section] = []
    at = 0
    for index, message in enumerate(rendering.messages):
        # One line end between messages belongs to the preview; a message's own last one is not doubled.
        body = message.text
        title = titles[index] if index < len(titles) else message.role
        shown_end = at + len(body.removesuffix("\n"))
        sections.append(Section(index, title, at, shown_end, message.placeholders))
        glue = "" if body.endswith("\n") or index + 1 == len(rendering.messages) else "\n"
        parts += [body, glue]
        at += len(body) + len(glue)
    text = "".join(parts)
    if text.endswith("\n"):
        text = text[:-1]
    target.set_text_difference(text)
    target.set_sections(tuple(sections))
    target.set_tints(_tints(sections, differing))


def scroll_to_one(text: CodeEditor, spans: Sequence[tuple[int, int]]) -> None:
    """Scroll to the first of `spans`, unless one of them is in view; caret and selection stay where they are."""
    view = QRectF(text.viewport().rect())
    near = spans[:MOST_LOOKED_AT]
    if any(view.contains(box.center()) for span in near for box in text.span_boxes(*_visible(span))[:1]):
        return
    position = text.text_now().to_position(spans[0][0])
    block = text.document().findBlock(position)
    bar = text.verticalScrollBar()
    # The lines above are broken only when they are looked at, which moves what is below: once more is enough.
    for _ in range(2):
        text.blockBoundingRect(block)
        line = block.layout().lineForTextPosition(position - block.position())
        above = line.lineNumber() if line.isValid() else 0
        bar.setValue(block.firstLineNumber() + above - bar.pageStep() // 3)


def _visible(span: tuple[int, int]) -> tuple[int, int]:
    """Return a span that has a box even where an empty value was put in."""
    return span[0], max(span[1], span[0] + 1)


def _tints(sections: Iterable[Section], differing: frozenset[object]) -> Iterator[Tint]:
    count = 0
    for section in sections:
        for use in section.uses:
            if use.output_end <= use.output_start:
                continue
            count += 1
            if count > MOST_TINTS:
                return
            place = (
                Place("message", str(section.index), use.start, use.end, use.pointer) if differing else None
            )
            bold = place is not None and key_of(use, place) in differing
            first = section.start + use.output_start
            yield tint_of(use, None, first, section.start + use.output_end, bold=bold)


def tint_of(use: PlaceholderUse, place: Place | None, start: int, end: int, *, bold: bool) -> Tint:
    """Return how an inserted value looks: by its source, and loud where it has none."""
    ground, text = "value_tint", "value_text"
    if use.status == "kept":
        ground, text, bold = "missing", "missing_text", True
    elif use.source == "context":
        ground, text = "context_tint", "context_text"
    elif use.source == "field":
        ground, text = "field_tint", "field_text"
    return Tint(start, end, ground, text, bold, LazyTip(use), use if place is None else (place, use))
