"""Shows a value that a JSON Schema accepts, and the schema as a prompt shows it, so that a reader sees what it asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication, QComboBox, QToolButton, QVBoxLayout, QWidget

from workbench.engine.json_text import dumps
from workbench.gui.shell.scale import fit
from workbench.gui.shell.theme import set_icon
from workbench.gui.shell.timers import one_shot
from workbench.gui.widgets.code_view import CodeView
from workbench.gui.widgets.labels import Strip, TokenLabel
from workbench.gui.widgets.schema_hints import STYLE_NAMES

if TYPE_CHECKING:
    from workbench.engine.schemas import JsonSchema, SchemaFiles
    from workbench.engine.translation.settings import SchemaStyle

PAUSE_MS = 250


class SchemaExample(QWidget):
    """A strip that unfolds into an example, or what a model sees; it follows the schema while it is unfolded."""

    def __init__(self, file: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._schema = ""
        self._file = file
        self._files: SchemaFiles | None = None
        self._type_name = "Response"
        strip = Strip(30, "window")
        self.toggle = QToolButton()
        self.toggle.setText("Example value")
        self.toggle.setToolTip("Show a value that this schema accepts, or the schema as a prompt shows it")
        self.toggle.setCheckable(True)
        self.words = TokenLabel("", "second", size="second", elide=True)
        self.copy_button = QToolButton()
        set_icon(self.copy_button, "copy")
        self.copy_button.setToolTip("Copy the example")
        self.copy_button.setAccessibleName("Copy the example")
        strip.row.addWidget(self.toggle)
        self.form = QComboBox()
        self.form.setAccessibleName("Example, or the schema as a prompt shows it")
        for form, name in (
            ("example", "Example"),
            *((key, f"As {name}") for key, name in STYLE_NAMES.items()),
        ):
            self.form.addItem(name, form)
        self.form.currentIndexChanged.connect(lambda _index: self.refresh())
        strip.row.addWidget(self.form)
        strip.row.addWidget(self.words, 1)
        strip.row.addWidget(self.copy_button)
        self.code = CodeView()
        self.code.setAccessibleName("Example value")
        fit(self.code, height=150)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(strip)
        layout.addWidget(self.code)
        self._pause = one_shot(self, self.refresh, PAUSE_MS)
        self.toggle.toggled.connect(self._unfold)
        self.copy_button.clicked.connect(lambda: QApplication.clipboard().setText(self.code.code()))
        self._unfold(False)

    def show_for(
        self, schema_text: str, files: SchemaFiles | None, type_name: str, *, anew: bool = False
    ) -> None:
        """Show an example of another schema, on a pause of typing; `anew` looks at the same one again.

        `files` are those that the schema may refer to, `type_name` is how prompts name its type.
        """
        anew = anew or type_name != self._type_name
        self._files, self._type_name = files, type_name
        if anew or schema_text != self._schema:
            self._schema = schema_text
            if self.toggle.isChecked():
                self._pause.start()

    def _unfold(self, shown: bool) -> None:
        self.code.setVisible(shown)
        self.copy_button.setVisible(shown)
        self.form.setVisible(shown)
        if shown:
            self.refresh()
        else:
            self._pause.stop()
            self.words.set_text("")

    def refresh(self) -> None:
        """Make the example, or the schema's text, anew."""
        from workbench.engine.schemas import JsonSchema, SchemaError

        try:
            schema = JsonSchema.parse(self._schema, file=self._file, files=self._files)
            if self.form.currentData() == "example":
                self._show_example(schema)
            else:
                self._show_style(schema, self.form.currentData())
        except (SchemaError, ValueError) as error:
            self.words.set_text(str(error).split("\n")[0] or "No example can be made.")
            self.code.set_code("")

    def _show_style(self, schema: JsonSchema, style: SchemaStyle) -> None:
        from workbench.engine.templates.counts import count_text
        from workbench.engine.translation.validator import schema_text

        text = schema_text(schema, self._type_name, style)
        self.code.set_code(text, "text" if style == "outline" else style)
        self.words.set_text(f"How a prompt shows it in this style: about {count_text(text).tokens} tokens")

    def _show_example(self, schema: JsonSchema) -> None:
        from workbench.engine.schemas import example

        value = example(schema)
        self.code.set_code(dumps(value, indent=2), "json")
        problems = schema.check(value, limit=1)
        self.words.set_text(
            f"Not quite valid: {problems[0].message}" if problems else "Accepted by the schema."
        )
