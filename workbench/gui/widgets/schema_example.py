"""Shows a value that a JSON Schema accepts, so that a reader of the schema sees what it asks for."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QToolButton, QVBoxLayout, QWidget

from workbench.engine.json_text import dumps
from workbench.gui.shell.theme import set_icon
from workbench.gui.widgets.code_view import CodeView
from workbench.gui.widgets.labels import Strip, TokenLabel

PAUSE_MS = 250


class SchemaExample(QWidget):
    """A strip that unfolds into an example; it follows the schema while it is unfolded."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._schema = ""
        strip = Strip(30, "window")
        self.toggle = QToolButton()
        self.toggle.setText("Example value")
        self.toggle.setToolTip("Show a value that this schema accepts")
        self.toggle.setCheckable(True)
        self.words = TokenLabel("", "second", size="second", elide=True)
        self.copy_button = QToolButton()
        set_icon(self.copy_button, "copy")
        self.copy_button.setToolTip("Copy the example")
        self.copy_button.setAccessibleName("Copy the example")
        strip.row.addWidget(self.toggle)
        strip.row.addWidget(self.words, 1)
        strip.row.addWidget(self.copy_button)
        self.code = CodeView()
        self.code.setAccessibleName("Example value")
        self.code.setFixedHeight(150)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(strip)
        layout.addWidget(self.code)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MS)
        self._pause.timeout.connect(self.refresh)
        self.toggle.toggled.connect(self._unfold)
        self.copy_button.clicked.connect(lambda: QApplication.clipboard().setText(self.code.code()))
        self._unfold(False)

    def show_for(self, schema_text: str) -> None:
        """Show an example of another schema, on a pause of typing."""
        if schema_text != self._schema:
            self._schema = schema_text
            if self.toggle.isChecked():
                self._pause.start()

    def _unfold(self, shown: bool) -> None:
        self.code.setVisible(shown)
        self.copy_button.setVisible(shown)
        if shown:
            self.refresh()
        else:
            self._pause.stop()
            self.words.set_text("")

    def refresh(self) -> None:
        """Make the example anew."""
        from workbench.engine.schemas import JsonSchema, SchemaError, example

        try:
            schema = JsonSchema.parse(self._schema)
            value = example(schema)
        except (SchemaError, ValueError) as error:
            self.words.set_text(str(error).split("\n")[0] or "No example can be made.")
            self.code.set_code("")
            return
        self.code.set_code(dumps(value, indent=2), "json")
        problems = schema.check(value, limit=1)
        self.words.set_text(
            f"Not quite valid: {problems[0].message}" if problems else "Accepted by the schema."
        )
