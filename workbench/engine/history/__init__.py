"""Every run as a record: what was sent, what came back, kept in one SQLite file per project."""

from workbench.engine.history.files import HistoryError
from workbench.engine.history.records import AttemptSummary, Run, RunSummary
from workbench.engine.history.report import run_to_json, run_to_markdown
from workbench.engine.history.store import HistoryStore

__all__ = [
    "AttemptSummary",
    "HistoryError",
    "HistoryStore",
    "Run",
    "RunSummary",
    "run_to_json",
    "run_to_markdown",
]
