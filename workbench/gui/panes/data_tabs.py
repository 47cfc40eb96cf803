"""The tabs below the template: the chosen parameter set and the two schemas, with a count of their errors."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QTabBar, QVBoxLayout, QWidget

from workbench.gui.editor import CodeEditor, FindBar
from workbench.gui.panes.parameters import ParametersPane
from workbench.gui.panes.schemas import FILES, SchemaPane
from workbench.gui.shell.places import Place
from workbench.gui.shell.scale import fit
from workbench.gui.shell.session import Session
from workbench.gui.shell.theme import set_role
from workbench.gui.widgets.issue_label import IssueLabel


class DataTabs(QWidget):
    """Parameters, parameters schema, output schema."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._set_name = ""
        # Before the panes hear of a place: an editor that is hidden can neither scroll nor take the keyboard.
        session.reveal.connect(self._on_reveal)
        self.parameters = ParametersPane(session)
        self.parameters_schema = SchemaPane(session, "parameters")
        self.output_schema = SchemaPane(session, "output")
        self.tabs = QTabBar()
        self.tabs.setExpanding(False)
        self.tabs.setUsesScrollButtons(False)
        self.tabs.setElideMode(Qt.TextElideMode.ElideRight)
        self.tabs.setAccessibleName("Parameters and schemas")
        self.issue = IssueLabel()
        head = QWidget()
        fit(head, height=32)
        set_role(head, "head")
        head.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        row = QHBoxLayout(head)
        row.setContentsMargins(4, 0, 4, 0)
        row.addWidget(self.tabs, 0, Qt.AlignmentFlag.AlignBottom)
        row.addStretch(1)
        row.addWidget(self.issue)
        row.addWidget(self.parameters.corner)
        self.stack = QStackedWidget()
        for title, pane in (
            ("Parameters", self.parameters),
            ("Parameters schema", self.parameters_schema),
            ("Output schema", self.output_schema),
        ):
            self.tabs.addTab(title)
            self.stack.addWidget(pane)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(head)
        layout.addWidget(self.stack, 1)
        self.tabs.currentChanged.connect(self._tab_chosen)
        self.parameters.title_changed.connect(self._name_tab)
        session.diagnostics_changed.connect(self._count)
        self._name_tab(session.parameter_set or "")

    def _name_tab(self, name: str) -> None:
        self._set_name = name
        self._fit_tabs()
        self._count()

    def _fit_tabs(self) -> None:
        """Name the tabs in full where there is room, else briefly."""
        first = f"Parameters: {self._set_name}" if self._set_name else "Parameters"
        full, brief = (first, "Parameters schema", "Output schema"), (first, "Schema", "Output")
        metrics = self.tabs.fontMetrics()
        needed = sum(metrics.horizontalAdvance(title) * 1.1 + 26 for title in full)
        room = self.width() - self.parameters.corner.sizeHint().width() - 30
        for index, title in enumerate(full if needed <= room else brief):
            self.tabs.setTabText(index, title)
            self.tabs.setTabToolTip(index, full[index])

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_tabs()

    def _tab_chosen(self, index: int) -> None:
        self.stack.setCurrentIndex(index)
        self.parameters.corner.setVisible(index == 0)
        self._count()

    def _count(self) -> None:
        index = self.tabs.currentIndex()
        chosen = f"parameters/{self._session.parameter_set}.json"
        file = chosen if index == 0 else FILES["parameters" if index == 1 else "output"]
        errors = sum(d.severity == "error" and d.file == file for d in self._session.diagnostics())
        self.issue.set_issue(
            "rejected", "" if not errors else "1 error" if errors == 1 else f"{errors} errors"
        )

    def _on_reveal(self, place: Place) -> None:
        index = {"parameters": 0, "parameters_schema": 1, "output_schema": 2}.get(place.area)
        if index is not None:
            self.tabs.setCurrentIndex(index)

    def current_editor(self) -> CodeEditor | None:
        """Return the editor that is shown."""
        index = self.tabs.currentIndex()
        if index == 0:
            return self.parameters.editor()
        return (self.parameters_schema if index == 1 else self.output_schema).editor

    def find_bar(self) -> tuple[FindBar, CodeEditor] | None:
        """Return the find bar of the editor that is shown."""
        editor = self.current_editor()
        if editor is None:
            return None
        panes = (self.parameters, self.parameters_schema, self.output_schema)
        return panes[self.tabs.currentIndex()].find_bar, editor
