"""The prompt as it will be sent, following the typing: values tinted, missing ones shouted."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetrics, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from workbench.engine.text import shorten
from workbench.gui.editor import CodeEditor, PygmentsHighlighter, Tint
from workbench.gui.shell.places import Place, message_title
from workbench.gui.shell.session import Session
from workbench.gui.shell.theme import icon_pixmap, mono_font, on_theme_changed, set_role, small_font, theme
from workbench.gui.widgets.labels import SegmentedControl

if TYPE_CHECKING:
    from workbench.engine.templates import PlaceholderUse, TextCounts
    from workbench.engine.workflows import ProjectRendering

# Beyond this many placeholders only the first are tinted; a person reads none of the rest.
MOST_TINTS = 5_000
COUNTED_AT_ONCE = 10_000
COUNT_PAUSE_MS = 300


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
        self._roles = _Roles(self)
        self._lines_of: list[tuple[int, int, str]] = []

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
        bar.setValue(min(at, bar.maximum()))

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self.viewport())
        painter.setFont(small_font())
        painter.setPen(theme().color("rejected"))
        for tint in self._tints:
            if tint.ground != "missing":
                continue
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


class PreviewPane(QWidget):
    """The live preview with its banner, its views and its counts."""

    counted = Signal(object)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._first_missing: tuple[int, PlaceholderUse] | None = None
        self._to_count: tuple[list[str], list[str]] = ([], [])
        self._count_pause = QTimer(self)
        self._count_pause.setSingleShot(True)
        self._count_pause.setInterval(COUNT_PAUSE_MS)
        self._count_pause.timeout.connect(self._count_later)
        self._build()
        session.rendered.connect(self.show_rendering)
        session.project_changed.connect(self._project_changed)
        session.edited.connect(lambda area: self._fill_compare() if area == "parameters" else None)
        session.caret_moved.connect(self._on_caret)
        session.settings.changed.connect(self._setting_changed)
        self._project_changed()

    def _build(self) -> None:
        follows = QLabel("follows typing")
        follows.setFont(small_font())
        set_role(follows, "second")
        self.view_switch = SegmentedControl({"messages": "Messages", "json": "JSON"})
        self.view_switch.setAccessibleName("View of the preview")
        self.view_switch.setToolTip("The messages as a person reads them, or the JSON as it is sent")
        self.view_switch.chosen.connect(self._view_chosen)
        self.compare = QComboBox()
        self.compare.setAccessibleName("Compare with parameter set")
        self.compare.setToolTip("Show a second parameter set side by side")
        self.compare.activated.connect(lambda _index: self._show_compared())
        self.compare.hide()
        self.dock_title_widgets: list[QWidget] = [follows, self.compare, self.view_switch]
        self.banner = _Banner()
        self.banner.link.clicked.connect(self._go_to_missing)
        self.text = PreviewText()
        self.second = PreviewText()
        self.second.hide()
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.addWidget(self.text)
        self.splitter.addWidget(self.second)
        self.json = CodeEditor(name="Prompt as JSON")
        self.json.setReadOnly(True)
        PygmentsHighlighter(self.json.document(), "json")
        self.views = QStackedWidget()
        self.views.addWidget(self.splitter)
        self.views.addWidget(self.json)
        self.foot = QLabel()
        self.foot.setFont(small_font())
        self.foot.setContentsMargins(12, 3, 12, 3)
        self.foot.setMinimumWidth(10)
        set_role(self.foot, "foot")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.banner)
        layout.addWidget(self.views, 1)
        layout.addWidget(self.foot)
        self.text.clicked.connect(self._clicked)
        self.text.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.text.customContextMenuRequested.connect(self._context_menu)
        self.text.viewport().installEventFilter(self)
        on_theme_changed(self, self._recolor)

    # -- from the session -------------------------------------------------------------------------------

    def _project_changed(self) -> None:
        if self._session.project is None:
            for text in (self.text, self.second):
                text.set_tints(())
                text.set_sections(())
                text.set_text("")
            self.json.set_text("")
            self.banner.hide()
            self.foot.setText("")
        self._fill_compare()

    def show_rendering(self, rendering: ProjectRendering) -> None:
        """Show a rendering; only the difference to what is on screen is changed."""
        snapshot = self._session.snapshot()
        titles = [message_title(snapshot, index) for index in range(len(snapshot.messages))]
        _show(self.text, rendering, titles)
        if self.views.currentIndex() == 1 or rendering.graph is not None:
            self._show_json(rendering)
        if rendering.graph is not None:
            self.views.setCurrentIndex(1)
        elif self.view_switch.current() == "messages":
            self.views.setCurrentIndex(0)
        self._show_banner(rendering)
        self._count(rendering, titles)
        self._show_compared()

    def _show_banner(self, rendering: ProjectRendering) -> None:
        missing = [
            (index, use)
            for index, message in enumerate(rendering.messages)
            for use in message.placeholders
            if use.status == "kept"
        ]
        if rendering.graph is not None:
            missing = [(0, use) for use in rendering.graph.placeholders if use.status == "kept"]
        self._first_missing = missing[0] if missing else None
        if not rendering.parameters.ok:
            problem = next((d.message for d in rendering.parameters.diagnostics if d.severity == "error"), "")
            self.banner.say("The parameters cannot be read.", shorten(problem, 90), "Go to the error")
        elif missing:
            count = len(missing)
            words = "1 value is missing." if count == 1 else f"{count} values are missing."
            self.banner.say(words, "Sending is stopped.", "Go to placeholder")
        else:
            self.banner.hide()

    def _count(self, rendering: ProjectRendering, titles: Sequence[str]) -> None:
        """Count at once what is short; a long prompt is counted as a job when the typing pauses."""
        texts = [message.text for message in rendering.messages]
        if rendering.graph is not None:
            texts = [rendering.text()]
        self._to_count = (texts, list(titles))
        if sum(map(len, texts)) <= COUNTED_AT_ONCE:
            self._show_counts(_counted(*self._to_count))
        else:
            self._count_pause.start()

    def _count_later(self) -> None:
        self._session.jobs.run_pool(
            _counted, *self._to_count, on_done=self._show_counts, on_error=self._count_failed, key="count"
        )

    def _count_failed(self, error: BaseException) -> None:
        self._session.status.emit(f"The prompt could not be counted: {error}")

    def _show_counts(self, counted: tuple[list[str], TextCounts]) -> None:
        lines, total = counted
        self.foot.setText(_count_words(total))
        self.foot.setToolTip("\n".join([*lines, "Tokens are an estimate; each model counts its own way."]))
        self.counted.emit(total)

    def _show_json(self, rendering: ProjectRendering) -> None:
        from workbench.engine.json_text import dumps

        if rendering.graph is not None:
            value: Any = rendering.graph.value
        else:
            value = [{"role": message.role, "content": message.text} for message in rendering.messages]
        text = dumps(value, indent=2)
        self.json.replace_text(text) if not self.json.document().isEmpty() else self.json.set_text(text)

    def _view_chosen(self, view: str) -> None:
        rendering = self._session.rendering()
        if view == "json" and rendering is not None:
            self._show_json(rendering)
        self.views.setCurrentIndex(1 if view == "json" else 0)

    # -- comparing --------------------------------------------------------------------------------------

    def toggle_compare(self) -> None:
        """Show or hide the second parameter set."""
        self.compare.setVisible(not self.compare.isVisibleTo(self.compare.parentWidget()))
        self._fill_compare()
        self._show_compared()

    def _fill_compare(self) -> None:
        chosen = self.compare.currentText()
        sets = list(self._session.snapshot().parameter_sets)
        if [self.compare.itemText(i) for i in range(self.compare.count())] != sets:
            self.compare.clear()
            self.compare.addItems(sets)
            other = (
                chosen if chosen in sets else next((s for s in sets if s != self._session.parameter_set), "")
            )
            self.compare.setCurrentText(other)

    def _show_compared(self) -> None:
        shown = (
            self.compare.isVisibleTo(self.compare.parentWidget()) if self.compare.parentWidget() else False
        )
        self.second.setVisible(shown)
        name = self.compare.currentText()
        snapshot = self._session.snapshot()
        if not shown or name not in snapshot.parameter_sets:
            return
        from workbench.engine.workflows import render_project

        titles = [message_title(snapshot, index) for index in range(len(snapshot.messages))]
        self._session.jobs.run_pool(
            lambda: render_project(snapshot, name, validate=False),
            on_done=lambda rendering: _show(self.second, rendering, titles),
            on_error=lambda error: self._session.status.emit(str(error)),
            key="render/compare",
        )

    # -- both ways --------------------------------------------------------------------------------------

    def _go_to_missing(self) -> None:
        rendering = self._session.rendering()
        if rendering is not None and not rendering.parameters.ok:
            error = next((d for d in rendering.parameters.diagnostics if d.severity == "error"), None)
            name = self._session.parameter_set or ""
            self._session.go_to(Place("parameters", name, error and error.start, error and error.end))
        elif self._first_missing is not None:
            index, use = self._first_missing
            self._session.go_to(Place("message", str(index), use.start, use.end))

    def _clicked(self, offset: int) -> None:
        found = self.text.use_at(offset)
        if found is not None:
            section, use = found
            self._session.go_to(Place("message", str(section.index), use.start, use.end, use.pointer))

    def _context_menu(self, point: QPoint) -> None:
        menu = QMenu(self)
        offset = self.text.offset_at(point)
        found = self.text.use_at(offset) if offset is not None else None
        if found is not None:
            section, use = found
            here = Place("message", str(section.index), use.start, use.end)
            menu.addAction("Go to placeholder", lambda: self._session.go_to(here))
            if use.pointer is not None:
                there = Place("parameters", self._session.parameter_set or "", pointer=use.pointer)
                menu.addAction("Go to parameter", lambda: self._session.go_to(there))
            menu.addSeparator()
        menu.addAction("Copy", self.text.copy).setEnabled(self.text.textCursor().hasSelection())
        menu.addAction("Copy the whole prompt", self.copy_all)
        menu.exec(self.text.viewport().mapToGlobal(point))

    def copy_all(self) -> None:
        """Put the whole filled prompt on the clipboard."""
        from PySide6.QtGui import QGuiApplication

        rendering = self._session.rendering()
        if rendering is not None:
            QGuiApplication.clipboard().setText(rendering.text())

    def eventFilter(self, watched: Any, event: QEvent) -> bool:
        if isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseMove and not event.buttons():
            offset = self.text.offset_at(event.position().toPoint())
            over = offset is not None and self.text.use_at(offset) is not None
            shape = Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.IBeamCursor
            if self.text.viewport().cursor().shape() != shape:
                self.text.viewport().setCursor(shape)
        return super().eventFilter(watched, event)

    def _on_caret(self, place: Place) -> None:
        """Frame the value of the placeholder, or of the parameter, at the caret."""
        spans: list[tuple[int, int]] = []
        for section in self.text.sections:
            for use in section.uses:
                same_token = (
                    place.area == "message" and place.name == str(section.index) and place.start == use.start
                )
                same_value = place.area == "parameters" and place.pointer and use.pointer == place.pointer
                if same_token or same_value:
                    spans.append((section.start + use.output_start, section.start + use.output_end))
        self.text.set_outline(*[span for span in spans if 0 < span[1] - span[0] < 400])

    def _setting_changed(self, key: str) -> None:
        if key == "editor.wrap":
            for text in (self.text, self.second, self.json):
                text.set_wrap(self._session.settings.get(key))

    def _recolor(self) -> None:
        rendering = self._session.rendering()
        if rendering is not None:
            self.show_rendering(rendering)


class _Banner(QWidget):
    """The strip that says that a prompt cannot be sent, and why."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(28)
        set_role(self, "verdict-rejected")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._icon = QLabel()
        self.words, self.more = QLabel(), QLabel()
        self.words.setStyleSheet("font-weight: 600;")
        set_role(self.more, "plain")
        self.more.setMinimumWidth(10)
        self.link = QPushButton()
        set_role(self.link, "link")
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 0, 8, 0)
        row.setSpacing(8)
        row.addWidget(self._icon)
        row.addWidget(self.words)
        row.addWidget(self.more, 1)
        row.addWidget(self.link)
        on_theme_changed(self, self._recolor)
        self._recolor()
        self.hide()

    def say(self, words: str, more: str, link: str) -> None:
        """Show the strip."""
        self.words.setText(words)
        self.more.setText(more)
        self.link.setText(link)
        self.setAccessibleName(f"{words} {more}")
        self.show()

    def _recolor(self) -> None:
        self._icon.setPixmap(icon_pixmap("warning", "rejected", 14))
        self.more.setStyleSheet(f"color: {theme().hex('text')};")


def _counted(texts: list[str], titles: list[str]) -> tuple[list[str], TextCounts]:
    """Return a line for each message and the sum of all."""
    from workbench.engine.templates import TextCounts, count_text

    lines, total = [], TextCounts()
    for index, text in enumerate(texts):
        counts = count_text(text)
        total = total + counts
        lines.append(f"{titles[index] if index < len(titles) else 'graph'}: {_count_words(counts)}")
    return lines, total


def _count_words(counts: TextCounts) -> str:
    return f"{counts.characters:,} characters · {counts.words:,} words · about {counts.tokens:,} tokens"


def _show(target: PreviewText, rendering: ProjectRendering, titles: Sequence[str]) -> None:
    """Put a rendering into a preview text."""
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
    target.set_tints(_tints(sections))


def _tints(sections: Iterable[Section]) -> Iterable[Tint]:
    count = 0
    for section in sections:
        for use in section.uses:
            if use.output_end <= use.output_start:
                continue
            count += 1
            if count > MOST_TINTS:
                return
            ground, text, bold = "value_tint", "value_text", False
            if use.status == "kept":
                ground, text, bold = "missing", "missing_text", True
            elif use.source == "context":
                ground, text = "context_tint", "context_text"
            elif use.source == "field":
                ground, text = "field_tint", "field_text"
            first = section.start + use.output_start
            yield Tint(first, section.start + use.output_end, ground, text, bold, _LazyTip(use), use)


class _LazyTip:
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
        facts.append(
            {"parameter": "from the parameters", "context": "from a context", "field": "from a field"}[
                use.source
            ]
        )
    if use.pointer:
        facts.append(html.escape(use.pointer))
    if use.value_type:
        facts.append(use.value_type)
    if use.match_count != 1 and use.source == "parameter":
        facts.append(f"{use.match_count} matches")
    if use.escaper != "none":
        facts.append(f"escaped as {use.escaper}")
    if facts:
        lines.append(f"<span style='color:{second}'>{' · '.join(facts)}</span>")
    return "<br>".join(lines)
