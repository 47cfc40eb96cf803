"""Lets a person say as what a model is tested, where its provider serves decision models and chat models."""

from __future__ import annotations

from PySide6.QtWidgets import QComboBox, QWidget

from workbench.engine.model_settings import CHAT_PROVIDERS, DECISION_PROVIDERS
from workbench.gui.shell.session import Session


class TestedAs(QComboBox):
    """The choice between the two kinds; hidden where there is only one. `decides` tells which it is."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._shown: tuple[str, str | None] = ("", None)
        self.setAccessibleName("What to test")
        self.setToolTip("This provider serves both kinds: say which one is asked")
        self.addItem("As a decision model", True)
        self.addItem("As a chat model", False)
        self.hide()

    def fit_to(self, provider: str, name: str | None) -> None:
        """Show the choice for the model `name` of a provider; another model begins with what it is used as."""
        if self._shown == (provider, name):
            return
        before, self._shown = self._shown, (provider, name)
        both = name is not None and provider in DECISION_PROVIDERS and provider in CHAT_PROVIDERS
        # A chosen kind stays while the provider is looked for, as long as the model is the same.
        if not both or before[1] != name or self.isHidden():
            decides = provider not in CHAT_PROVIDERS if not both else self._used_for_decisions(name)
            self.setCurrentIndex(self.findData(decides))
        self.setVisible(both)

    def decides(self) -> bool:
        """Tell whether the model is tested as a decision model."""
        return bool(self.currentData())

    def _used_for_decisions(self, name: str | None) -> bool:
        """Tell whether a model answers the guardrails' checks, or is named as one that does."""
        if name is not None and name.startswith("decision"):
            return True
        if not any(self._session.snapshot().guardrail(stage).asks_model for stage in ("input", "output")):
            return False
        try:
            return self._session.decision_settings().name == name
        except Exception:  # a model in use that the project does not have (any more): then it is not this one
            return False
