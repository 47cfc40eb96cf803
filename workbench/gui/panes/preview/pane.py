"""The preview pane: the filled prompt, a second parameter set beside it, counts, and ways back to the sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QPoint, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QScrollBar,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from workbench.engine.text import shorten
from workbench.gui.editor import CodeEditor
from workbench.gui.panes.preview.banner import Banner
from workbench.gui.panes.preview.texts import (
    JsonPreview,
    PreviewText,
    can_be_read,
    differing_uses,
    placed_uses,
    scroll_to_one,
    show_messages,
)
from workbench.gui.panes.preview.words import count_words, counted
from workbench.gui.shell.places import Place, message_title
from workbench.gui.shell.session import Session
from workbench.gui.shell.theme import on_theme_changed, set_role, small_font
from workbench.gui.shell.timers import one_shot
from workbench.gui.widgets.labels import SegmentedControl, TokenLabel

if TYPE_CHECKING:
    from workbench.engine.templates import PlaceholderUse, TextCounts
    from workbench.engine.workflows import ProjectRendering

COUNTED_AT_ONCE = 10_000
COUNT_PAUSE_MS = 300
LONGEST_OUTLINE = 400


class PreviewPane(QWidget):
    """The live preview with its banner, its views and its counts."""

    counted = Signal(object)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._first_missing: Place | None = None
        self._differing: frozenset[object] = frozenset()
        self._other: ProjectRendering | None = None
        self.comparing = False
        self._scrolling = False
        self._caret_place = Place("")
        self._to_count: tuple[list[str], list[str]] = ([], [])
        self._count_pause = one_shot(self, self._count_later, COUNT_PAUSE_MS)
        self._build()
        session.rendered.connect(self.show_rendering)
        session.project_changed.connect(self._project_changed)
        session.edited.connect(lambda area: self._fill_compare() if area == "parameters" else None)
        session.caret_moved.connect(self._on_caret)
        session.settings.changed.connect(self._setting_changed)
        self._project_changed()

    # -- building ---------------------------------------------------------------------------------------

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
        self.banner = Banner()
        self.banner.link.clicked.connect(self._go_to_missing)
        self.text, self.second = PreviewText(), PreviewText()
        self.json, self.second_json = JsonPreview(), JsonPreview()
        self.views = QStackedWidget()
        self.views.addWidget(self._side_by_side(self.text, self.second))
        self.views.addWidget(self._side_by_side(self.json, self.second_json))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.banner)
        layout.addWidget(self._build_heads())
        layout.addWidget(self.views, 1)
        layout.addWidget(self._build_foot())
        for text in (self.text, self.second, self.json, self.second_json):
            text.set_wrap(self._session.settings.get("editor.wrap"))
            text.clicked.connect(lambda offset, text=text: self._clicked(text, offset))
            text.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
            text.customContextMenuRequested.connect(lambda point, text=text: self._context_menu(text, point))
            text.viewport().installEventFilter(self)
        on_theme_changed(self, self._recolor)

    def _side_by_side(self, first: CodeEditor, second: CodeEditor) -> QSplitter:
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.setChildrenCollapsible(False)
        splitter.addWidget(first)
        splitter.addWidget(second)
        second.hide()
        bars = first.verticalScrollBar(), second.verticalScrollBar()
        bars[0].valueChanged.connect(lambda _value: self._scroll_along(*bars))
        bars[1].valueChanged.connect(lambda _value: self._scroll_along(*reversed(bars)))
        return splitter

    def _build_heads(self) -> QWidget:
        """The names of the two sets, shown while they are compared."""
        self.heads = QWidget()
        set_role(self.heads, "bar")
        self.heads.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        row = QHBoxLayout(self.heads)
        row.setContentsMargins(12, 3, 12, 3)
        self.first_name, self.second_name, self.difference = QLabel(), QLabel(), QLabel()
        for label in (self.first_name, self.second_name):
            set_role(label, "title")
        self.difference.setFont(small_font())
        set_role(self.difference, "second")
        row.addWidget(self.first_name, 1)
        row.addWidget(self.second_name, 1)
        row.addWidget(self.difference)
        self.heads.hide()
        return self.heads

    def _build_foot(self) -> QWidget:
        """The total, and on request a line for each message."""
        foot = QWidget()
        set_role(foot, "foot")
        foot.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.foot = TokenLabel("", size="second", sentences=True)
        self.counts = QLabel()
        self.counts.setFont(small_font())
        self.counts.setMinimumWidth(10)
        set_role(self.counts, "second")
        self.foot.setContentsMargins(0, 3, 0, 3)
        self.counts.setContentsMargins(12, 0, 12, 4)
        self.counts.hide()
        self.each = QPushButton("Each message")
        self.each.setCheckable(True)
        self.each.setToolTip("Count each message")
        set_role(self.each, "link")
        self.each.setFont(small_font())
        self.each.toggled.connect(self.counts.setVisible)
        row = QHBoxLayout()
        row.setContentsMargins(12, 2, 8, 2)
        row.addWidget(self.foot, 1)
        row.addWidget(self.each)
        column = QVBoxLayout(foot)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(row)
        column.addWidget(self.counts)
        return foot

    # -- from the session -------------------------------------------------------------------------------

    def _project_changed(self) -> None:
        if self._session.project is None:
            for text in (self.text, self.second):
                text.set_tints(())
                text.set_sections(())
                text.set_text("")
            for json in (self.json, self.second_json):
                json.set_tints(())
                json.set_text("")
            self.banner.hide()
            self.foot.setText("")
            self.counts.setText("")
        self._other, self._differing, self._caret_place = None, frozenset(), Place("")
        self._fill_compare()

    def _titles(self) -> list[str]:
        snapshot = self._session.snapshot()
        return [message_title(snapshot, index) for index in range(len(snapshot.messages))]

    def show_rendering(self, rendering: ProjectRendering) -> None:
        """Show a rendering; only the difference to what is on screen is changed."""
        titles = self._titles()
        is_graph = rendering.graph is not None
        # A graph has no messages to read, so that there is nothing to switch.
        self.view_switch.setVisible(not is_graph)
        self.views.setCurrentIndex(1 if is_graph or self.view_switch.current() == "json" else 0)
        self._put(rendering, titles)
        self._outline(scroll=True)
        self._show_banner(rendering)
        self._count(rendering, titles)
        self._show_compared()

    def _put(self, rendering: ProjectRendering, titles: Sequence[str]) -> None:
        if rendering.graph is None:
            show_messages(self.text, rendering, titles, self._differing)
        if self.views.currentIndex() == 1:
            self.json.show_rendering(rendering, self._differing)

    def _put_other(self) -> None:
        if self._other is None:
            return
        if self._other.graph is None:
            show_messages(self.second, self._other, self._titles(), self._differing)
        if self.views.currentIndex() == 1:
            self.second_json.show_rendering(self._other, self._differing)

    def _show_banner(self, rendering: ProjectRendering) -> None:
        missing = [place for _use, place in placed_uses(rendering, status="kept")]
        self._first_missing = missing[0] if missing else None
        if not rendering.parameters.ok:
            problem = next((d.message for d in rendering.parameters.diagnostics if d.severity == "error"), "")
            self.banner.say("The parameters cannot be read.", shorten(problem, 90), "Go to the error")
        elif rendering.graph_document is not None and not can_be_read(rendering):
            problem = next(
                (d.message for d in rendering.graph_document.diagnostics if d.severity == "error"), ""
            )
            self.banner.say("The object graph cannot be read.", shorten(problem, 90), "Go to the error")
        elif missing:
            count = len(missing)
            words = "1 value is missing." if count == 1 else f"{count} values are missing."
            self.banner.say(words, "Sending is stopped.", "Go to placeholder")
        else:
            self.banner.hide()

    def _view_chosen(self, view: str) -> None:
        self.views.setCurrentIndex(1 if view == "json" else 0)
        rendering = self._session.rendering()
        if rendering is not None:
            self._put(rendering, self._titles())
            self._put_other()
            self._outline(scroll=True)

    # -- counts -----------------------------------------------------------------------------------------

    def _count(self, rendering: ProjectRendering, titles: Sequence[str]) -> None:
        """Count at once what is short; a long prompt is counted as a job when the typing pauses."""
        texts = [message.text for message in rendering.messages]
        if rendering.graph is not None:
            texts = [rendering.text() if can_be_read(rendering) else ""]
            titles = ["graph"]
        self._to_count = (texts, list(titles))
        if sum(map(len, texts)) <= COUNTED_AT_ONCE:
            self._show_counts(counted(*self._to_count))
        else:
            self._count_pause.start()

    def _count_later(self) -> None:
        self._session.jobs.run_pool(
            counted, *self._to_count, on_done=self._show_counts, on_error=self._count_failed, key="count"
        )

    def _count_failed(self, error: BaseException) -> None:
        self._session.status.emit(f"The prompt could not be counted: {error}")

    def _show_counts(self, found: tuple[list[str], TextCounts]) -> None:
        lines, total = found
        words = count_words(total)
        self.foot.set_text(words)
        self.foot.setToolTip(
            "\n".join([words, *lines, "Tokens are an estimate; each model counts its own way."])
        )
        self.counts.setText("\n".join(lines))
        self.each.setVisible(len(lines) > 1)
        self.counts.setVisible(self.each.isChecked() and len(lines) > 1)
        self.counted.emit(total)

    # -- comparing --------------------------------------------------------------------------------------

    def toggle_compare(self) -> None:
        """Show or hide the second parameter set."""
        self.comparing = not self.comparing
        self.compare.setVisible(self.comparing)
        self._fill_compare()
        self._show_compared()

    def _fill_compare(self) -> None:
        chosen = self.compare.currentText()
        sets = list(self._session.snapshot().parameter_sets)
        if [self.compare.itemText(i) for i in range(self.compare.count())] != sets:
            self.compare.clear()
            self.compare.addItems(sets)
            other = next((s for s in sets if s != self._session.parameter_set), "")
            self.compare.setCurrentText(chosen if chosen in sets else other)

    def _show_compared(self) -> None:
        for second in (self.second, self.second_json):
            second.setVisible(self.comparing)
        self.heads.setVisible(self.comparing)
        name, snapshot = self.compare.currentText(), self._session.snapshot()
        if not self.comparing or name not in snapshot.parameter_sets:
            if self._differing:
                self._set_differing(frozenset())
            self._other = None
            return
        from workbench.engine.workflows import render_project

        self._session.jobs.run_pool(
            lambda: render_project(snapshot, name, validate=False),
            on_done=self._show_other,
            on_error=lambda error: self._session.status.emit(str(error)),
            key="render/compare",
        )

    def _show_other(self, other: ProjectRendering) -> None:
        rendering = self._session.rendering()
        if rendering is None or not self.comparing:
            return
        self._other = other
        differing = differing_uses(rendering, other)
        self._set_differing(differing)
        self._put_other()
        count = len(differing)
        self.first_name.setText(rendering.parameter_set or "")
        self.second_name.setText(other.parameter_set or "")
        words = {0: "no value differs", 1: "1 value differs"}.get(count, f"{count} values differ")
        self.difference.setText(words)

    def _set_differing(self, differing: frozenset[object]) -> None:
        rendering = self._session.rendering()
        if differing != self._differing and rendering is not None:
            self._differing = differing
            self._put(rendering, self._titles())

    def _scroll_along(self, source: QScrollBar, target: QScrollBar) -> None:
        """Keep the two sides at the same share of their length."""
        if not self.comparing or source.maximum() <= 0:
            return
        value = round(source.value() * target.maximum() / source.maximum())
        if not self._scrolling and target.value() != value:
            self._scrolling = True
            target.setValue(value)
            self._scrolling = False

    # -- both ways --------------------------------------------------------------------------------------

    def _go_to_missing(self) -> None:
        rendering = self._session.rendering()
        if rendering is not None and not rendering.parameters.ok:
            error = next((d for d in rendering.parameters.diagnostics if d.severity == "error"), None)
            name = self._session.parameter_set or ""
            self._session.go_to(Place("parameters", name, error and error.start, error and error.end))
        elif (
            rendering is not None and rendering.graph_document is not None and not rendering.graph_document.ok
        ):
            error = next((d for d in rendering.graph_document.diagnostics if d.severity == "error"), None)
            self._session.go_to(Place("graph", "", error and error.start, error and error.end))
        elif self._first_missing is not None:
            self._session.go_to(self._first_missing)

    def _found_at(self, text: CodeEditor, offset: int | None) -> tuple[Place, PlaceholderUse] | None:
        """Return the inserted value at an offset of one of the texts, with the place of its placeholder."""
        if offset is None:
            return None
        if isinstance(text, JsonPreview):
            return text.use_at(offset)
        assert isinstance(text, PreviewText)
        found = text.use_at(offset)
        if found is None:
            return None
        section, use = found
        return Place("message", str(section.index), use.start, use.end, use.pointer), use

    def _clicked(self, text: CodeEditor, offset: int) -> None:
        found = self._found_at(text, offset)
        if found is not None:
            self._session.go_to(found[0])

    def _context_menu(self, text: CodeEditor, point: QPoint) -> None:
        menu = self.menu_at(text, text.offset_at(point))
        menu.exec(text.viewport().mapToGlobal(point))
        menu.deleteLater()

    def menu_at(self, text: CodeEditor, offset: int | None) -> QMenu:
        """Return the menu of one of the texts over an offset."""
        menu = QMenu(self)
        found = self._found_at(text, offset)
        if found is not None:
            place, use = found
            menu.addAction("Go to placeholder", lambda: self._session.go_to(place))
            if use.pointer is not None:
                other = text in (self.second, self.second_json)
                name = self.compare.currentText() if other else self._session.parameter_set or ""
                there = Place("parameters", name, pointer=use.pointer)
                menu.addAction("Go to parameter", lambda: self._session.go_to(there))
            menu.addSeparator()
        menu.addAction("Copy", text.copy).setEnabled(text.textCursor().hasSelection())
        menu.addAction("Copy the whole prompt", self.copy_all)
        return menu

    def copy_all(self) -> None:
        """Put the whole filled prompt on the clipboard."""
        from PySide6.QtGui import QGuiApplication

        rendering = self._session.rendering()
        if rendering is not None:
            QGuiApplication.clipboard().setText(rendering.text())

    def eventFilter(self, watched: Any, event: QEvent) -> bool:
        if isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseMove and not event.buttons():
            text = watched.parent()
            if isinstance(text, PreviewText | JsonPreview):
                offset = text.offset_at(event.position().toPoint())
                over = self._found_at(text, offset) is not None
                shape = Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.IBeamCursor
                if text.viewport().cursor().shape() != shape:
                    text.viewport().setCursor(shape)
        return super().eventFilter(watched, event)

    def _on_caret(self, place: Place) -> None:
        """Frame the value of the placeholder, or of the parameter, at the caret, and scroll to it."""
        moved = place != self._caret_place
        self._caret_place = place
        self._outline(scroll=moved)

    def _outline(self, *, scroll: bool) -> None:
        """Frame the values that the caret means in what is shown now; a new text has them at new places."""
        place = self._caret_place
        pointer = place.pointer if place.area == "parameters" and place.pointer else None
        token = (place.area, place.name, place.start)

        def meant(use: PlaceholderUse, where: Place) -> bool:
            same_value = pointer is not None and use.pointer == pointer
            return same_value or token == (where.area, where.name, where.start)

        spans: list[tuple[int, int]] = []
        for section in self.text.sections:
            # No place is built per placeholder: a prompt has thousands, and this runs with every key.
            here = place.start if (place.area, place.name) == ("message", str(section.index)) else None
            if pointer is None and here is None:
                continue
            for use in section.uses:
                if use.start == here or (pointer is not None and use.pointer == pointer):
                    spans.append((section.start + use.output_start, section.start + use.output_end))
        self.text.set_outline(*_short(spans))
        shown: PreviewText | JsonPreview = self.text
        if self.views.currentIndex() == 1:
            tints = [t for t in self.json._tints if isinstance(t.data, tuple) and meant(t.data[1], t.data[0])]
            spans, shown = [(t.start, t.end) for t in tints], self.json
            self.json.set_outline(*_short(spans))
        if scroll and spans:
            scroll_to_one(shown, spans)

    def _setting_changed(self, key: str) -> None:
        if key == "editor.wrap":
            for text in (self.text, self.second, self.json, self.second_json):
                text.set_wrap(self._session.settings.get(key))

    def _recolor(self) -> None:
        rendering = self._session.rendering()
        if rendering is not None:
            self.show_rendering(rendering)


def _short(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    return [span for span in spans if 0 < span[1] - span[0] < LONGEST_OUTLINE]
