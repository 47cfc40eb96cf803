"""The message editors of the prompt, and the object graph beside them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QInputDialog,
    QLabel,
    QMenu,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QTabBar,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from workbench.engine.diagnostics import Diagnostic, Fix
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.engine.text import LineIndex
from workbench.gui.editor import CodeEditor, FindBar, TemplateHighlighter, Tint
from workbench.gui.models.figures import counted
from workbench.gui.panes.graph import GraphPane
from workbench.gui.shell.places import Place, message_title, place_of
from workbench.gui.shell.scale import fit, px
from workbench.gui.shell.session import Session
from workbench.gui.shell.theme import set_icon, set_role, small_font
from workbench.gui.widgets.issue_label import IssueLabel

if TYPE_CHECKING:
    from workbench.engine.workflows import ProjectRendering

ROLES = ("system", "developer", "user", "assistant", "tool")
LEAST_LINES = 3
HEADER_HEIGHT = 28


class MessageCard(QWidget):
    """One message: its role, what is known of its values, and its editor."""

    moved = Signal(int)
    role_chosen = Signal(str)
    removed = Signal()
    duplicated = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.role = ""
        self.editor = CodeEditor(name="Message")
        set_role(self.editor, "framed")
        self.highlighter = TemplateHighlighter(self.editor.document())
        self.find_bar = FindBar(self.editor)
        self.notice = _LongLineNotice(self.editor)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._build_header())
        layout.addWidget(self.notice)
        layout.addWidget(self.editor, 1)
        layout.addWidget(self.find_bar)

    def _build_header(self) -> QWidget:
        header = QWidget()
        fit(header, height=HEADER_HEIGHT)
        set_role(header, "bar")
        header.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        row = QHBoxLayout(header)
        row.setContentsMargins(6, 0, 6, 0)
        row.setSpacing(4)
        self.role_button = QToolButton()
        self.role_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.role_button.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        self.role_button.setIconSize(QSize(12, 12))
        set_icon(self.role_button, "chevron-down", "second")
        set_role(self.role_button, "title")
        self.role_button.setToolTip("Role of this message")
        self.role_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self.role_button)
        for role in ROLES:
            menu.addAction(role, partial(self.role_chosen.emit, role))
        menu.addSeparator()
        menu.addAction("Other role…", self._ask_role)
        self.role_button.setMenu(menu)
        self.values = QLabel("")
        set_role(self.values, "second")
        self.missing = IssueLabel()
        self.up = _tool("chevron-up", "Move this message up", lambda: self.moved.emit(-1))
        self.down = _tool("chevron-down", "Move this message down", lambda: self.moved.emit(1))
        self.more = _tool("more", "More for this message", None)
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        more_menu = QMenu(self.more)
        more_menu.addAction("Duplicate message", self.duplicated.emit)
        more_menu.addAction("Delete message", self.removed.emit)
        self.more.setMenu(more_menu)
        row.addWidget(self.role_button)
        row.addWidget(self.values)
        row.addWidget(self.missing)
        row.addStretch(1)
        for button in (self.up, self.down, self.more):
            row.addWidget(button)
        return header

    def set_role_name(self, role: str, title: str) -> None:
        """Show the role; `title` also tells messages of the same role apart."""
        self.role = role
        self.role_button.setText(title)
        self.role_button.setAccessibleName(f"Role: {title}")
        self.editor.setAccessibleName(f"Template of message {title}")

    def set_counts(self, values: int, missing: int) -> None:
        """Say how many placeholders there are and how many have no value."""
        self.values.setText(counted(values, "value") if values else "")
        self.missing.set_issue("rejected", f"{missing} missing" if missing else "")

    def wanted_height(self) -> int:
        """Return the height in pixels at which the whole text is visible."""
        return self._extra_height() + self.editor.content_height()

    def least_height(self) -> int:
        """Return the height in pixels below which a card is of no use."""
        return self._extra_height() + self.editor.fontMetrics().lineSpacing() * LEAST_LINES + 14

    def _extra_height(self) -> int:
        bars = (self.find_bar, self.notice)
        return px(HEADER_HEIGHT) + sum(bar.sizeHint().height() for bar in bars if not bar.isHidden())

    def _ask_role(self) -> None:
        role, done = QInputDialog.getText(self, "Role", "Role of this message:", text=self.role)
        if done and role.strip():
            self.role_chosen.emit(role.strip())


class TemplatePane(QWidget):
    """All messages of the prompt under one another, or its object graph."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._syncing = False
        self.cards: list[MessageCard] = []
        self._current = 0
        self._build()
        session.project_changed.connect(self._reload)
        session.edited.connect(self._on_edited)
        session.rendered.connect(self._show_rendering)
        session.diagnostics_changed.connect(self._show_diagnostics)
        session.reveal.connect(self._on_reveal)
        session.caret_moved.connect(self._on_caret_elsewhere)
        session.fix_requested.connect(self._on_fix)
        session.settings.changed.connect(self._setting_changed)
        self._reload()

    # -- building -------------------------------------------------------------------------------------

    def _build(self) -> None:
        self.tabs = QTabBar()
        self.tabs.setAccessibleName("Template views")
        self.tabs.addTab("Template")
        self.tabs.addTab("Object graph")
        self.tabs.setExpanding(False)
        # The chosen tab is bold and a little wider than Qt reckons; two tabs need no arrows.
        self.tabs.setUsesScrollButtons(False)
        self.tabs.setElideMode(Qt.TextElideMode.ElideNone)
        self.add_button = QPushButton("Add message")
        set_icon(self.add_button, "plus", "second")
        set_role(self.add_button, "flat")
        self.add_button.clicked.connect(lambda: self.add_message())
        head = QWidget()
        fit(head, height=32)
        set_role(head, "head")
        head.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        row = QHBoxLayout(head)
        row.setContentsMargins(4, 0, 8, 0)
        row.addWidget(self.tabs, 0, Qt.AlignmentFlag.AlignBottom)
        row.addStretch(1)
        row.addWidget(self.add_button)
        self._column = QWidget()
        set_role(self._column, "base")
        self._cards_layout = QVBoxLayout(self._column)
        self._cards_layout.setContentsMargins(0, 0, 0, 0)
        self._cards_layout.setSpacing(0)
        self._cards_layout.addStretch(1)
        self._scroll = QScrollArea()
        self._scroll.setWidgetResizable(True)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setWidget(self._column)
        self.stack = QStackedWidget()
        self.stack.addWidget(self._build_messages())
        self.graph = GraphPane(self._session)
        self.graph_editor, self.graph_find = self.graph.editor, self.graph.find_bar
        self.stack.addWidget(self.graph)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(head)
        layout.addWidget(self.stack, 1)
        self.tabs.currentChanged.connect(self._tab_chosen)

    def _build_messages(self) -> QWidget:
        self.unused_note = QLabel("These messages are not sent: this project sends its object graph.")
        self.unused_note.setContentsMargins(12, 4, 12, 4)
        self.unused_note.setWordWrap(True)
        set_role(self.unused_note, "foot")
        self.unused_note.hide()
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.unused_note)
        column.addWidget(self._scroll, 1)
        return page

    def _make_card(self) -> MessageCard:
        card = MessageCard()
        card.editor.set_wrap(self._session.settings.get("editor.wrap"))
        card.editor.show_line_numbers(self._session.settings.get("editor.line_numbers"))
        card.editor.completion_source = self._complete
        card.editor.edited.connect(lambda: self._typed(card))
        card.editor.caret_changed.connect(lambda: self._caret_changed(card))
        card.editor.focused.connect(lambda: self._focused(card))
        card.editor.document().documentLayout().documentSizeChanged.connect(lambda _size: self._fit())
        card.find_bar.toggled.connect(self._fit)
        card.editor.long_line.connect(lambda _long: self._fit())
        card.moved.connect(lambda step: self.move_message(self.cards.index(card), step))
        card.role_chosen.connect(lambda role: self.set_message_role(self.cards.index(card), role))
        card.removed.connect(lambda: self.remove_message(self.cards.index(card)))
        card.duplicated.connect(lambda: self._duplicate(self.cards.index(card)))
        return card

    # -- from the project -----------------------------------------------------------------------------

    def _reload(self) -> None:
        for card in self.cards:
            self._drop_card(card)
        self.cards.clear()
        self._sync(fresh=True)
        self.tabs.setCurrentIndex(1 if self._session.snapshot().graph is not None else 0)
        self.setEnabled(self._session.project is not None)

    def _on_edited(self, area: str) -> None:
        if area in ("template", "parameters", "schemas"):
            self._sync()

    def _sync(self, fresh: bool = False) -> None:
        """Make the cards show the project's messages; an editor that already does is left alone."""
        if self._syncing:
            return
        self._syncing = True
        try:
            snapshot = self._session.snapshot()
            while len(self.cards) > len(snapshot.messages):
                self._drop_card(self.cards.pop())
            while len(self.cards) < len(snapshot.messages):
                card = self._make_card()
                self.cards.append(card)
                self._cards_layout.insertWidget(self._cards_layout.count() - 1, card)
                card.editor.set_text(snapshot.messages[len(self.cards) - 1].content)
            for index, (card, message) in enumerate(zip(self.cards, snapshot.messages, strict=True)):
                card.set_role_name(message.role, message_title(snapshot, index))
                card.up.setEnabled(index > 0)
                card.down.setEnabled(index + 1 < len(self.cards))
                if card.editor.raw_text() != message.content:
                    card.editor.set_text(message.content) if fresh else card.editor.follow_text(
                        message.content
                    )
            self.graph.sync(snapshot, fresh)
            self.unused_note.setVisible(snapshot.graph is not None)
            self._configure(snapshot)
        finally:
            self._syncing = False
        self._fit()

    def _configure(self, snapshot: ProjectSnapshot) -> None:
        names = _parameter_names(self._session.rendering())
        for card in self.cards:
            card.highlighter.configure(snapshot.template, names)

    def _drop_card(self, card: MessageCard) -> None:
        self._cards_layout.removeWidget(card)
        card.hide()
        card.deleteLater()

    # -- edits ----------------------------------------------------------------------------------------

    def _typed(self, card: MessageCard) -> None:
        if self._syncing or card not in self.cards:
            return
        self._session.touch("template", ("message", id(card)), partial(self._pull, card))

    def _pull(self, card: MessageCard) -> None:
        if card in self.cards and self._session.project is not None:
            self._session.project.set_message(self.cards.index(card), card.editor.raw_text())

    def add_message(self, role: str | None = None, content: str = "", index: int | None = None) -> None:
        """Add a message at the end (or at `index`); undoable."""
        at = len(self.cards) if index is None else index
        if role is None:
            role = "system" if not self.cards else "user"
        self._session.apply(
            "template",
            "Add message",
            lambda project: project.add_message(role, content, at),
            lambda project: project.remove_message(at),
        )
        if at < len(self.cards):
            self.cards[at].editor.setFocus()

    def use_graph(self) -> None:
        """Show the object graph; where the project has none, one is made of the messages (undoable)."""
        self.tabs.setCurrentIndex(1)
        if self._session.snapshot().graph is None:
            self.graph.create()
        self.graph.editor.setFocus()

    def remove_message(self, index: int) -> None:
        """Remove a message; undoable."""
        message = self._session.snapshot().messages[index]
        card = self.cards[index]

        def do(project: Any) -> None:
            if index < len(self.cards) and self.cards[index] is card:
                self._drop_card(self.cards.pop(index))
            project.remove_message(index)

        self._session.apply(
            "template",
            "Remove message",
            do,
            lambda project: project.add_message(message.role, message.content, index),
        )

    def move_message(self, index: int, step: int) -> None:
        """Move a message up (-1) or down (1) together with its editor; undoable."""
        target = index + step
        if not 0 <= target < len(self.cards):
            return

        def move(old: int, new: int) -> Callable[[Any], None]:
            def change(project: Any) -> None:
                card = self.cards.pop(old)
                self.cards.insert(new, card)
                self._cards_layout.removeWidget(card)
                self._cards_layout.insertWidget(new, card)
                project.move_message(old, new)

            return change

        self._session.apply("template", "Move message", move(index, target), move(target, index))
        self.cards[target].editor.setFocus()

    def set_message_role(self, index: int, role: str) -> None:
        """Give a message another role; undoable."""
        before = self._session.snapshot().messages[index].role
        if role != before:
            self._session.apply(
                "template",
                "Change role",
                lambda project: project.set_message_role(index, role),
                lambda project: project.set_message_role(index, before),
            )

    def _duplicate(self, index: int) -> None:
        message = self._session.snapshot().messages[index]
        self.add_message(message.role, message.content, index + 1)

    # -- from the engine --------------------------------------------------------------------------------

    def _show_rendering(self, rendering: ProjectRendering) -> None:
        names = _parameter_names(rendering)
        options = self._session.snapshot().template
        for card, message in zip(self.cards, rendering.messages, strict=False):
            card.highlighter.configure(options, names)
            unresolved = [use for use in message.placeholders if use.status == "kept"]
            card.set_counts(len(message.placeholders), len(unresolved))
            card.editor.set_tints(
                Tint(use.start, use.end, "missing_tint", "rejected", data=use) for use in unresolved
            )
            self._outline_caret(card)

    def _show_diagnostics(self) -> None:
        snapshot, chosen = self._session.snapshot(), self._session.parameter_set
        by_card: dict[int, list[Diagnostic]] = {index: [] for index in range(len(self.cards))}
        for each in self._session.diagnostics():
            place = place_of(each, snapshot, chosen)
            if place is not None and place.area == "message" and int(place.name) in by_card:
                by_card[int(place.name)].append(_with_line(each, snapshot.messages[int(place.name)].content))
        for index, found in by_card.items():
            self.cards[index].editor.set_diagnostics(found)

    def _complete(self, text: str, offset: int) -> Any:
        if not self._session.settings.get("editor.complete"):
            return None
        from workbench.engine.templates import completion_at

        rendering = self._session.rendering()
        parameters = rendering.parameters.value if rendering is not None and rendering.parameters.ok else None
        return completion_at(text, offset, parameters, self._session.snapshot().template)

    # -- caret ------------------------------------------------------------------------------------------

    def _focused(self, card: MessageCard) -> None:
        if card in self.cards:
            self._current = self.cards.index(card)
            self._caret_changed(card)

    def _caret_changed(self, card: MessageCard) -> None:
        if self._syncing or card not in self.cards or not card.editor.hasFocus():
            return
        cursor = card.editor.textCursor()
        line, column = cursor.blockNumber() + 1, cursor.positionInBlock() + 1
        self._session.caret_words.emit(f"{card.role_button.text()}, line {line}, column {column}")
        self._outline_caret(card)

    def _outline_caret(self, card: MessageCard) -> None:
        """Frame the placeholder at the caret, and let the other panes frame its value and its parameter."""
        if not card.editor.hasFocus() or not card.editor.text_is_read():
            return
        use = self._use_at(self.cards.index(card), card.editor.caret())
        for other in self.cards:
            other.editor.set_outline(*([(use.start, use.end)] if use is not None and other is card else []))
        index = str(self.cards.index(card))
        if use is None:
            self._session.caret_moved.emit(Place("message", index))
        else:
            self._session.caret_moved.emit(Place("message", index, use.start, use.end, use.pointer))

    def _use_at(self, index: int, offset: int) -> Any | None:
        rendering = self._session.rendering()
        if rendering is None or index >= len(rendering.messages):
            return None
        uses = rendering.messages[index].placeholders
        return next((use for use in uses if use.start <= offset <= use.end), None)

    def _on_caret_elsewhere(self, place: Place) -> None:
        if place.area == "message":
            return
        rendering = self._session.rendering()
        for index, card in enumerate(self.cards):
            spans: list[tuple[int, int]] = []
            if place.pointer and rendering is not None and index < len(rendering.messages):
                spans = [
                    (use.start, use.end)
                    for use in rendering.messages[index].placeholders
                    if use.pointer == place.pointer
                ]
            card.editor.set_outline(*spans)

    def _on_reveal(self, place: Place) -> None:
        if place.area == "message" and place.name.isdigit() and int(place.name) < len(self.cards):
            self.tabs.setCurrentIndex(0)
            card = self.cards[int(place.name)]
            card.editor.setFocus(Qt.FocusReason.OtherFocusReason)
            if place.start is not None:
                card.editor.go_to(place.start, place.end)
            self._scroll.ensureWidgetVisible(card, 0, 40)
        elif place.area == "graph":
            self.tabs.setCurrentIndex(1)
            self.graph.reveal(place)

    def _on_fix(self, place: Place, fix: Fix) -> None:
        if place.area == "message" and int(place.name) < len(self.cards):
            self.cards[int(place.name)].editor.edit_span(fix.start, fix.end, fix.replacement)

    # -- for the window ---------------------------------------------------------------------------------

    def current_index(self) -> int:
        """Return the index of the message that had the keyboard last."""
        return min(self._current, max(0, len(self.cards) - 1))

    def current_editor(self) -> CodeEditor | None:
        """Return the editor that find, extract and rename work on."""
        if self.tabs.currentIndex() == 1:
            return self.graph_editor
        return self.cards[self.current_index()].editor if self.cards else None

    def find_bar(self) -> tuple[FindBar, CodeEditor] | None:
        """Return the find bar of the current editor."""
        if self.tabs.currentIndex() == 1:
            return self.graph_find, self.graph_editor
        if not self.cards:
            return None
        card = self.cards[self.current_index()]
        return card.find_bar, card.editor

    def state(self) -> dict[str, Any]:
        """Return carets and scroll positions, to be restored later."""
        return {
            "tab": self.tabs.currentIndex(),
            "carets": [card.editor.caret() for card in self.cards],
            "current": self.current_index(),
            "scroll": self._scroll.verticalScrollBar().value(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Put carets and scroll positions back."""
        carets = state.get("carets")
        for card, caret in zip(self.cards, carets if isinstance(carets, list) else [], strict=False):
            if isinstance(caret, int):
                card.editor.go_to(min(caret, len(card.editor.raw_text())), focus=False)
        current = state.get("current")
        if isinstance(current, int) and 0 <= current < len(self.cards):
            self._current = current
            self.cards[current].editor.setFocus()
        if isinstance(state.get("scroll"), int):
            self._scroll.verticalScrollBar().setValue(state["scroll"])

    # -- sizes --------------------------------------------------------------------------------------------

    def _fit(self) -> None:
        """Give every card the height of its text; one message has the pane to itself."""
        room = self._scroll.viewport().height()
        if not self.cards or room <= 0:
            return
        wanted = [card.wanted_height() for card in self.cards]
        heights = share_height(room, wanted, [card.least_height() for card in self.cards])
        for card, height in zip(self.cards, heights, strict=True):
            if card.height() != height or card.minimumHeight() != height:
                card.setFixedHeight(height)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _tab_chosen(self, index: int) -> None:
        self.stack.setCurrentIndex(index)
        self.add_button.setVisible(index == 0)

    def _setting_changed(self, key: str) -> None:
        for card in self.cards:
            if key == "editor.wrap":
                card.editor.set_wrap(self._session.settings.get(key))
            elif key == "editor.line_numbers":
                card.editor.show_line_numbers(self._session.settings.get(key))


class _LongLineNotice(QWidget):
    """Says that a line is too long to edit quickly, and lets the user edit it anyway."""

    def __init__(self, editor: CodeEditor) -> None:
        super().__init__()
        set_role(self, "verdict-rejected")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 4, 8, 4)
        words = QLabel(
            "A line of this text is so long that every key would be felt. It is shown, not edited."
        )
        words.setWordWrap(True)
        words.setFont(small_font())
        button = QPushButton("Edit anyway")
        button.clicked.connect(lambda: (editor.edit_anyway(), self.hide()))
        row.addWidget(words, 1)
        row.addWidget(button)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.hide()
        editor.long_line.connect(self.setVisible)


def share_height(room: int, wanted: list[int], least: list[int]) -> list[int]:
    """Return a height for each of several texts in a column of `room` pixels.

    What fits is shown whole and the last takes the rest. What does not fit is shortened, the longest first,
    but none below its own `least`; then the column has to scroll.
    """

    def capped(cap: int) -> list[int]:
        return [max(low, min(cap, each)) for low, each in zip(least, wanted, strict=True)]

    low, high = 0, max(max(wanted), max(least))
    while low < high:
        cap = (low + high + 1) // 2
        if sum(capped(cap)) <= room:
            low = cap
        else:
            high = cap - 1
    heights = capped(low)
    heights[-1] += max(0, room - sum(heights))
    return heights


def _tool(icon_name: str, tip: str, slot: Callable[[], None] | None) -> QToolButton:
    button = QToolButton()
    set_icon(button, icon_name, "second")
    button.setToolTip(tip)
    button.setAccessibleName(tip)
    button.setAutoRaise(True)
    if slot is not None:
        button.clicked.connect(lambda _checked=False: slot())
    return button


def _parameter_names(rendering: ProjectRendering | None) -> frozenset[str]:
    if rendering is None or not isinstance(rendering.parameters.value, dict):
        return frozenset()
    return frozenset(rendering.parameters.value)


def _with_line(diagnostic: Diagnostic, text: str) -> Diagnostic:
    """Return the diagnostic with the line that the gutter marks."""
    if diagnostic.line is not None or diagnostic.start is None:
        return diagnostic
    line, column = LineIndex(text).position(diagnostic.start)
    return diagnostic.at(line=line, column=column)
