"""The pane that explains placeholders, in four sections."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from workbench.gui.panes.placeholders.credentials import CredentialsSection
from workbench.gui.panes.placeholders.prompt_class import PromptClassSection
from workbench.gui.panes.placeholders.texts import TextsSection
from workbench.gui.panes.placeholders.uses import UsesSection
from workbench.gui.shell.session import Session
from workbench.gui.widgets.accordion import Accordion


class PlaceholdersPane(QWidget):
    """Placeholders with need and description; contexts and fields; prompt classes; credentials by name."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.uses = UsesSection(session)
        self.texts = TextsSection(session)
        self.prompt_class = PromptClassSection(session)
        self.credentials = CredentialsSection(session)
        self.sections = Accordion()
        self.sections.add("Placeholders", self.uses)
        self.sections.add("Contexts and fields", self.texts)
        self.sections.add("Prompt class", self.prompt_class)
        self.sections.add("Credentials", self.credentials)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.sections)
        for index, section in enumerate((self.uses, self.texts, self.prompt_class, self.credentials)):
            section.counted.connect(lambda count, index=index: self.sections.set_count(index, count))
        self.sections.opened.connect(self._opened)
        for section in (self.uses, self.texts, self.prompt_class, self.credentials):
            section.refresh()

    def _opened(self, index: int) -> None:
        section = (self.uses, self.texts, self.prompt_class, self.credentials)[index]
        section.refresh()
