"""The translation pane: a request becomes JSON, attempt by attempt, and the prompts and settings behind it."""

from workbench.gui.panes.translation.pane import TranslationPane

__all__ = ["TranslationPane"]
