"""The history pane: every stored run, replayed, branched, run again and compared."""

from workbench.gui.panes.history.pane import HistoryPane

__all__ = ["HistoryPane"]
