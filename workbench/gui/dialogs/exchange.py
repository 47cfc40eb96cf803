"""Shows exactly what a run sent and what came back, secrets removed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPushButton, QTabWidget, QVBoxLayout, QWidget

from workbench.engine.json_text import dumps, parse_json
from workbench.gui.models.figures import format_duration
from workbench.gui.shell.scale import resize_window
from workbench.gui.shell.theme import set_icon
from workbench.gui.widgets.code_view import CodeView
from workbench.gui.widgets.labels import TokenLabel

if TYPE_CHECKING:
    from workbench.engine.decisions import Exchange
    from workbench.engine.guardrails import GuardrailResult


class ExchangeDialog(QDialog):
    """Requests and replies of one guardrail run, one pair of tabs per call."""

    def __init__(self, result: GuardrailResult, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Request and reply")
        resize_window(self, 760, 560)
        self.tabs = QTabWidget()
        many = len(result.exchanges) > 1
        for number, exchange in enumerate(result.exchanges, 1):
            suffix = f" {number}" if many else ""
            self.tabs.addTab(_code(exchange.request), f"Request{suffix}")
            self.tabs.addTab(_code(exchange.reply), f"Reply{suffix}")
        self.tabs.addTab(_code(json.dumps(result.to_json(), ensure_ascii=False, indent=2)), "Result")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 12)
        layout.setSpacing(12)
        layout.addWidget(TokenLabel(_words(result), "second", wrap=True))
        for note in result.notes:
            layout.addWidget(TokenLabel(note, "warning", wrap=True))
        layout.addWidget(self.tabs, 1)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        copy = QPushButton("Copy")
        set_icon(copy, "copy")
        self.buttons.addButton(copy, QDialogButtonBox.ButtonRole.ActionRole)
        copy.clicked.connect(self._copy)
        self.buttons.rejected.connect(self.reject)
        layout.addWidget(self.buttons)

    def _copy(self) -> None:
        from PySide6.QtWidgets import QApplication

        view = self.tabs.currentWidget()
        if isinstance(view, CodeView):
            QApplication.clipboard().setText(view.code())


def _words(result: GuardrailResult) -> str:
    parts = []
    if result.model_name or result.model_version:
        named = f" ({result.model_name})" if result.model_name and result.model_version else ""
        parts.append(f"answered by {result.model_version or result.model_name}{named}")
    parts.append(format_duration(result.elapsed_ms))
    if result.recorded:
        parts.append("recorded, nothing was sent")
    for exchange in result.exchanges[:1]:
        parts.append(_address(exchange))
    if not result.model_name:
        parts.append("no model was asked")
    elif not result.recorded and not any(each.status for each in result.exchanges):
        parts.append("the model runs on this computer, so nothing went over a wire")
    return ", ".join(part for part in parts if part)


def _address(exchange: Exchange) -> str:
    if not exchange.status:  # no server: the model runs in this program, or its answer was recorded
        return ""
    tries = f", {exchange.attempts} attempts" if exchange.attempts > 1 else ""
    return f"{exchange.url} answered {exchange.status}{tries}" if exchange.url else ""


def _code(text: str) -> CodeView:
    view = CodeView()
    document = parse_json(text)
    # Pretty only where it is JSON; a page of HTML from a proxy is shown as it came.
    view.set_code(dumps(document.value, indent=2) if document.ok else text, "json" if document.ok else "")
    return view
