"""Evaluation: labelled cases, batch runs, figures and the search for thresholds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine.lazy import lazy_names

if TYPE_CHECKING:
    from workbench.engine.evaluation.case_stream import CaseStream, CaseSurvey, read_table
    from workbench.engine.evaluation.cases import Case
    from workbench.engine.evaluation.cluster import ClusterRun, ModelOpener
    from workbench.engine.evaluation.csv_cases import ColumnMapping, csv_header, guess_mapping, read_csv_cases
    from workbench.engine.evaluation.fitting import fit_on_cases, stale_checks
    from workbench.engine.evaluation.held_out import CrossValidatedModel, open_for_evaluation
    from workbench.engine.evaluation.html_report import html_report
    from workbench.engine.evaluation.report import (
        CheckReport,
        CheckRows,
        Evaluation,
        EvaluationReport,
        evaluate_rows,
        joined,
        report_check,
    )
    from workbench.engine.evaluation.rows import ResultRow, ResultsFile, asked_hash
    from workbench.engine.evaluation.run_lock import ResultsBusy
    from workbench.engine.evaluation.run_record import evaluated_data, figure_rows
    from workbench.engine.evaluation.runner import EvaluationRun, Progress, StaleRow
    from workbench.engine.evaluation.suggestions import OutOfBag, Suggestion, suggest
    from workbench.engine.evaluation.version_drift import (
        CheckDrift,
        DriftAgainst,
        FlippedCase,
        earlier_path,
    )

__all__ = [
    "Case",
    "CaseStream",
    "CaseSurvey",
    "CheckDrift",
    "CheckReport",
    "CheckRows",
    "ClusterRun",
    "ColumnMapping",
    "CrossValidatedModel",
    "DriftAgainst",
    "Evaluation",
    "EvaluationReport",
    "EvaluationRun",
    "FlippedCase",
    "ModelOpener",
    "OutOfBag",
    "Progress",
    "ResultRow",
    "ResultsBusy",
    "ResultsFile",
    "StaleRow",
    "Suggestion",
    "asked_hash",
    "csv_header",
    "earlier_path",
    "evaluate_rows",
    "evaluated_data",
    "figure_rows",
    "fit_on_cases",
    "guess_mapping",
    "html_report",
    "joined",
    "open_for_evaluation",
    "read_csv_cases",
    "read_table",
    "report_check",
    "stale_checks",
    "suggest",
]

_MODULES = (
    "cases",
    "case_stream",
    "cluster",
    "csv_cases",
    "fitting",
    "held_out",
    "html_report",
    "report",
    "rows",
    "run_lock",
    "run_record",
    "runner",
    "suggestions",
    "version_drift",
)

__getattr__, __dir__ = lazy_names(__name__, _MODULES, __all__)
