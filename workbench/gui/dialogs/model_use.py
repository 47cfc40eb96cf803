"""Lets a person say what a model is used for, where its provider has decision models and chat models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from PySide6.QtWidgets import QComboBox, QFormLayout, QWidget

from workbench.engine.model_settings import USES, ModelSettings, serves_both


class ModelUse(QComboBox):
    """The choice between the two uses, in a row of `form` that is hidden where there is no choice."""

    def __init__(self, form: QFormLayout, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._form = form
        self._shown: ModelSettings | None = None
        self._provider = ""
        self.setToolTip("This provider has models of both kinds: say which one this is")
        self.addItem("Checks (decision model)", "decision")
        self.addItem("Text and JSON (chat model)", "chat")

    def show_model(self, settings: ModelSettings | None) -> None:
        """Show what a model is used for; `None` where none is chosen."""
        self._shown = settings
        if settings is not None:
            self.setCurrentIndex(self.findData("decision" if settings.decides else "chat"))
        self.fit_to(settings.provider if settings is not None else "")

    def fit_to(self, provider: str) -> None:
        """Offer the choice where a provider leaves one; what was chosen stays while a provider is looked for."""
        self._provider = provider
        self._form.setRowVisible(self, self._is_open())

    def decides(self) -> bool:
        """Tell whether the model of the form answers checks."""
        if self._shown is None:
            return False
        return replace(self._shown, provider=self._provider, options=self.merged(self._shown.options)).decides

    def merged(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options with `use` where it is needed; what a project states without need stays as it is."""
        merged = dict(options)
        if self._shown is None:
            return merged
        if not self._is_open():
            if self._provider != self._shown.provider:
                merged.pop("use", None)
            return merged
        stated = replace(self._shown, provider=self._provider, options=options)
        wanted = self.currentData() == "decision"
        if stated.decides != wanted:
            merged.pop("use", None)
            if replace(stated, options=merged).decides != wanted:
                merged["use"] = self.currentData()
        return merged

    def _is_open(self) -> bool:
        return self._shown is not None and serves_both(self._provider) and self._shown.name not in USES
