"""Every pane of the window, one record each; a new pane is a module and a line here."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from workbench.gui.shell.docks import PaneSpec
from workbench.gui.shell.session import Session

_LEFT, _RIGHT, _BOTTOM = (
    Qt.DockWidgetArea.LeftDockWidgetArea,
    Qt.DockWidgetArea.RightDockWidgetArea,
    Qt.DockWidgetArea.BottomDockWidgetArea,
)


# Each factory imports its pane when the dock is first seen, so that the window opens quickly.
def _project(session: Session) -> QWidget:
    from workbench.gui.panes.project_tree import ProjectTreePane

    return ProjectTreePane(session)


def _placeholders(session: Session) -> QWidget:
    from workbench.gui.panes.placeholders import PlaceholdersPane

    return PlaceholdersPane(session)


def _options(session: Session) -> QWidget:
    from workbench.gui.panes.template_options import TemplateOptionsPane

    return TemplateOptionsPane(session)


def _preview(session: Session) -> QWidget:
    from workbench.gui.panes.preview import PreviewPane

    return PreviewPane(session)


def _guardrails(session: Session) -> QWidget:
    from workbench.gui.panes.guardrails import GuardrailsPane

    return GuardrailsPane(session)


def _translation(session: Session) -> QWidget:
    from workbench.gui.panes.translation import TranslationPane

    return TranslationPane(session)


def _problems(session: Session) -> QWidget:
    from workbench.gui.panes.problems import ProblemsPane

    return ProblemsPane(session)


def _history(session: Session) -> QWidget:
    from workbench.gui.panes.history import HistoryPane

    return HistoryPane(session)


def _tools(session: Session) -> QWidget:
    from workbench.gui.panes.tools import ToolsPane

    return ToolsPane(session)


def _thresholds(session: Session) -> QWidget:
    from workbench.gui.panes.thresholds import ThresholdsPane

    return ThresholdsPane(session)


PANES: tuple[PaneSpec, ...] = (
    PaneSpec("project", "Project", _project, _LEFT, ("Compose",)),
    PaneSpec("placeholders", "Placeholders", _placeholders, _LEFT),
    PaneSpec("options", "Template options", _options, _LEFT, (), ("template_options",), "Options"),
    PaneSpec("preview", "Preview", _preview, _RIGHT, ("Compose",)),
    PaneSpec("guardrails", "Guardrails", _guardrails, _RIGHT, ("Compose",), ("guardrails",)),
    PaneSpec("translation", "Translation", _translation, _RIGHT, ("Compose",), ("translation",)),
    PaneSpec("problems", "Problems", _problems, _RIGHT, ("Compose",)),
    PaneSpec("history", "History", _history, _BOTTOM, ("Compose", "History"), ("history",)),
    PaneSpec("tools", "Tools", _tools, _BOTTOM, (), ("tools",), height=380),
    PaneSpec("thresholds", "Thresholds", _thresholds, _RIGHT, ("Thresholds",), ("cases",), height=420),
)
