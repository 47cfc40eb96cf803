"""The output schema of a branch: today's or the run's, edited for this branch alone, checked while it is typed."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QSplitter, QVBoxLayout, QWidget

from workbench.engine.diagnostics import Diagnostic
from workbench.gui.editor import CodeEditor, PygmentsHighlighter
from workbench.gui.shell.theme import set_icon
from workbench.gui.widgets.diagnostic_list import DiagnosticList
from workbench.gui.widgets.labels import SectionHead


class SchemaEdit(QWidget):
    """The text of a schema. `today` is the project's (`None` where it has none), `stored` that of the run."""

    edited = Signal()

    def __init__(self, today: str | None, stored: str | None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.today, self.stored = today, stored
        self.editor = CodeEditor(name="Output schema of the branch")
        self.editor.indent_unit = "  "
        PygmentsHighlighter(self.editor.document(), "json")
        self.editor.set_text(today if today is not None else stored or "")
        self.head = SectionHead("Output schema, for this branch alone")
        self.take_today, self.take_stored = QPushButton("Take today's"), QPushButton("Take the run's")
        for button, picture, tip in (
            (self.take_today, "refresh", "The output schema that the project has now"),
            (self.take_stored, "history", "The output schema by which the run was judged"),
        ):
            set_icon(button, picture)
            button.setToolTip(tip)
            self.head.add(button)
        self.problems = DiagnosticList("Problems of the schema")
        self.problems.table.setAccessibleName("Problems of the schema")
        body = QSplitter(Qt.Orientation.Vertical)
        body.setChildrenCollapsible(False)
        body.addWidget(self.editor)
        body.addWidget(self.problems)
        body.setSizes([320, 120])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.head)
        layout.addWidget(body, 1)
        self.take_today.clicked.connect(lambda: self.editor.replace_text(self.today or ""))
        self.take_stored.clicked.connect(lambda: self.editor.replace_text(self.stored or ""))
        self.problems.chosen.connect(self._go_to)
        self.editor.edited.connect(self._on_edited)
        self._show_state()

    def changed(self) -> str | None:
        """Return the text where it is not the project's, else `None`."""
        text = self.editor.raw_text()
        return text if text != self.today else None

    def show_problems(self, diagnostics: Sequence[Diagnostic]) -> None:
        """Mark what is wrong with the schema."""
        self.editor.set_diagnostics(diagnostics)
        self.problems.show_diagnostics(diagnostics)

    def _on_edited(self) -> None:
        self._show_state()
        self.edited.emit()

    def _show_state(self) -> None:
        text = self.editor.raw_text()
        self.take_today.setEnabled(self.today is not None and text != self.today)
        self.take_stored.setEnabled(bool(self.stored) and text != self.stored)
        if text == self.today:
            words = "today's, the same as the run's" if text == self.stored else "today's"
        else:
            words = "the run's" if text == self.stored else "edited here"
        self.head.note.set_text(words)

    def _go_to(self, diagnostic: Diagnostic) -> None:
        if diagnostic.start is not None:
            self.editor.go_to(diagnostic.start, diagnostic.end)
