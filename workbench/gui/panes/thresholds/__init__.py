"""The threshold lab: labelled cases, batch runs, pictures and suggestions for the thresholds of a stage."""

from workbench.gui.panes.thresholds.pane import ThresholdsPane

__all__ = ["ThresholdsPane"]
