"""What placeholders there are and what they mean, texts for them, prompt classes to start from, and credentials."""

from workbench.gui.panes.placeholders.pane import PlaceholdersPane

__all__ = ["PlaceholdersPane"]
