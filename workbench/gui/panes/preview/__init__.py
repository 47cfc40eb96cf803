"""The prompt as it will be sent, following the typing."""

from workbench.gui.panes.preview.pane import PreviewPane

__all__ = ["PreviewPane"]
