"""Evaluation: labelled cases, batch runs, figures and the search for thresholds."""

from workbench.engine.evaluation.cases import Case
from workbench.engine.evaluation.csv_cases import ColumnMapping, csv_header, guess_mapping, read_csv_cases
from workbench.engine.evaluation.fitting import fit_on_cases, stale_checks
from workbench.engine.evaluation.html_report import html_report
from workbench.engine.evaluation.report import (
    CheckReport,
    CheckRows,
    Evaluation,
    EvaluationReport,
    evaluate_rows,
    report_check,
)
from workbench.engine.evaluation.rows import ResultRow, ResultsFile, asked_hash
from workbench.engine.evaluation.runner import EvaluationRun, Progress
from workbench.engine.evaluation.suggestions import OutOfBag, Suggestion, suggest

__all__ = [
    "Case",
    "CheckReport",
    "CheckRows",
    "ColumnMapping",
    "Evaluation",
    "EvaluationReport",
    "EvaluationRun",
    "OutOfBag",
    "Progress",
    "ResultRow",
    "ResultsFile",
    "Suggestion",
    "asked_hash",
    "csv_header",
    "evaluate_rows",
    "fit_on_cases",
    "guess_mapping",
    "html_report",
    "read_csv_cases",
    "report_check",
    "stale_checks",
    "suggest",
]
