"""The tools pane: the project's tools are written, tried one by one, and used by the chat model."""

from workbench.gui.panes.tools.pane import ToolsPane

__all__ = ["ToolsPane"]
