"""Shows what would make a schema easier for a language model, and how long it is in each style."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QToolButton, QVBoxLayout, QWidget

from workbench.engine.diagnostics import Diagnostic
from workbench.gui.models.figures import counted
from workbench.gui.shell.scale import px
from workbench.gui.shell.session import Session
from workbench.gui.shell.timers import one_shot
from workbench.gui.widgets.labels import Strip, TokenLabel

if TYPE_CHECKING:
    from workbench.engine.translation import SchemaAdvice

PAUSE_MS = 250
STYLE_NAMES = {"json": "JSON Schema", "typescript": "TypeScript", "outline": "Outline"}


class SchemaHints(QWidget):
    """A strip with the number of hints, which unfolds into the list of them; choosing one tells `chosen`."""

    chosen = Signal(object)

    def __init__(self, session: Session, file: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session, self._file = session, file
        self._asked: tuple[Any, ...] | None = None
        self._hints: tuple[Diagnostic, ...] = ()
        self._behind = False
        strip = Strip(30, "window")
        self.toggle = QToolButton()
        self.toggle.setText("Hints for models")
        self.toggle.setToolTip("Show what would make this schema easier for a language model")
        self.toggle.setCheckable(True)
        self.words = TokenLabel("", "second", size="second", elide=True)
        strip.row.addWidget(self.toggle)
        strip.row.addWidget(self.words, 1)
        self.list = QListWidget()
        self.list.setAccessibleName("Hints for models")
        self.list.setWordWrap(True)
        self.list.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(strip)
        layout.addWidget(self.list)
        self._pause = one_shot(self, self.refresh, PAUSE_MS)
        self.toggle.toggled.connect(self._unfold)
        self.list.itemClicked.connect(self._tell)
        self.list.itemActivated.connect(self._tell)

    def show_for(self, schema_text: str, *, anew: bool = False) -> None:
        """Look at another schema, on a pause of typing; `anew` looks at the same one again."""
        asked = (schema_text, self._session.snapshot().translation.type_name)
        if anew or asked != self._asked:
            self._asked = asked
            self._behind = True
            if self.isVisible():
                self._pause.start()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._behind:
            self._pause.start()

    def refresh(self) -> None:
        """Look at the schema now."""
        self._pause.stop()
        self._behind = False
        snapshot, asked, file = self._session.snapshot(), self._asked, self._file
        if asked is None or not asked[0].strip():
            self._show(None)
            return

        def work() -> SchemaAdvice | None:
            from workbench.engine.schemas import JsonSchema, SchemaError, schema_files
            from workbench.engine.translation import schema_advice

            try:
                schema = JsonSchema.parse(asked[0], file=file, files=schema_files(snapshot))
            except SchemaError:
                return None
            return schema_advice(schema, asked[1])

        self._session.jobs.run_pool(
            work, on_done=self._show, on_error=lambda _error: self._show(None), key=f"hints/{file}"
        )

    def hints(self) -> tuple[Diagnostic, ...]:
        """Return the hints that are shown."""
        return self._hints

    def _show(self, advice: SchemaAdvice | None) -> None:
        self._hints = () if advice is None else advice.hints
        self.list.clear()
        for hint in self._hints:
            place = f"{hint.file}, " if hint.file not in (None, self._file) else ""
            line = f"{place}line {hint.line}: " if hint.line is not None else ""
            self.list.addItem(QListWidgetItem(f"{line}{hint.message} {hint.hint or ''}".rstrip()))
        if advice is None:
            has_text = self._asked is not None and bool(self._asked[0].strip())
            self.words.set_text("There are hints once the schema has no error." if has_text else "")
        else:
            sizes = ", ".join(f"{STYLE_NAMES[style]} {tokens}" for style, tokens in advice.sizes.items())
            found = counted(len(advice.hints), "hint") if advice.hints else "no hints"
            self.words.set_text(f"{found}. About so many tokens in the prompt: {sizes}")
        self.words.setToolTip(self.words.text())
        self._fit()

    def _unfold(self, shown: bool) -> None:
        self.list.setVisible(shown)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Give the list the height of its lines, up to a limit: the schema above needs the rest."""
        lines = sum(self.list.sizeHintForRow(row) for row in range(self.list.count()))
        self.list.setFixedHeight(min(px(120), lines + 6))

    def _tell(self, item: QListWidgetItem) -> None:
        self.chosen.emit(self._hints[self.list.row(item)])
