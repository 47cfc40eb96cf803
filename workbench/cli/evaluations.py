"""Writes an evaluation for people: the table of checks, suggestions, fits, and the line of progress."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Mapping, Sequence

from workbench.cli.output import complain, table
from workbench.engine.decisions.embedded import FitFigures
from workbench.engine.evaluation import CheckDrift, EvaluationReport, Progress, Suggestion

_HEADS = (
    "check", "n", "yes", "refused", "errors", "stale", "threshold", "precision", "recall", "FPR", "F1", "AUC", "AP",
    "Brier", "skill", "log loss", "ECE", "MCE",
)  # fmt: skip
_DRIFT_HEADS = ("check", "cases", "flipped", "mean shift", "PSI", "KS", "lost", "gained", "reworded")
FLIPS_SHOWN = 10
"""Cases of a check that are named as flipped in the text; the JSON document names more."""
_TARGETS = {
    "recall": "recall at least {:.0%}",
    "fpr": "false alarms at most {:.0%}",
    "cost": "least cost, a miss costing {:g} false alarms",
    "conformal_recall": "misses at most {:.0%} of new yes cases",
    "conformal_fpr": "flags at most {:.0%} of new no cases",
}


def figures_table(report: EvaluationReport) -> str:
    """Return one line per check with its counts and figures; what is not defined is a dash.

    Where a check asks no model, its kind stands in the place of a threshold.
    """
    rows = [list(_HEADS)]
    for name, c in report.checks.items():
        counts = [c.n, c.positives, c.refused, c.errors, c.stale]
        k = c.confusion
        figures = [k.precision, k.recall, k.fpr, k.f1]
        skill = c.brier_parts.skill if c.brier_parts is not None else None
        figures += [c.auc, c.average_precision, c.brier, skill, c.log_loss, c.ece, c.mce]
        threshold = f"{c.threshold:g}" if c.kind == "model" else c.kind
        rows.append([name, *map(str, counts), threshold, *map(_figure, figures)])
    return table(rows, right=frozenset(range(1, len(rows[0]))))


def drift_text(drifts: Mapping[str, CheckDrift], name: str) -> str:
    """Return how each check moved since the answers in the file `name`, and the cases that moved farthest."""
    models = dict.fromkeys(model for drift in drifts.values() for model in drift.models)
    rows = [list(_DRIFT_HEADS)]
    lines = []
    for check, d in drifts.items():
        moved = "-" if d.mean_shift is None else f"{d.mean_shift:+.3f}"
        counts = [d.lost, d.gained, d.reworded]
        figures = [str(d.cases), str(d.flipped), moved, _figure(d.psi), _figure(d.ks)]
        rows.append([check, *figures, *map(str, counts)])
        for flip in d.flips[:FLIPS_SHOWN]:
            label = {True: "yes", False: "no", None: "not labelled"}[flip.label]
            lines.append(
                f"  {flip.case}, {check}: {flip.before:.3f} -> {flip.after:.3f} at {d.threshold:g}, {label}"
            )
        if d.flipped > FLIPS_SHOWN:
            lines.append(f"  {check}: {d.flipped - FLIPS_SHOWN} more")
    head = f"since {', '.join(models) or 'nobody'} ({name}):\n"
    if not any(d.cases for d in drifts.values()):
        head += "no case was answered on both sides under the same wording\n"
    found = "outcomes that changed:\n" + "".join(line + "\n" for line in lines) if lines else ""
    return head + table(rows, right=frozenset(range(1, len(rows[0])))) + found


def suggestion_lines(report: EvaluationReport) -> str:
    """Return the suggested thresholds of every check, with their figures on cases left out.

    That a side has few cases is said with the figures of the check, once for all of its suggestions.
    """
    lines = []
    for name, check in report.checks.items():
        if check.kind != "model":
            lines.append(f"no suggestions for {name}: it asks no model, and its answer is 0 or 1")
            continue
        lines.append(f"suggestions for {name} (now {check.threshold:g}):")
        lines += [f"  {_suggestion(suggestion)}" for suggestion in check.suggestions]
    return "".join(line + "\n" for line in lines)


def _suggestion(suggestion: Suggestion) -> str:
    target = _TARGETS[suggestion.kind].format(suggestion.target)
    if suggestion.threshold is None:
        return f"{target}: none, {suggestion.reason}"
    line = f"{target}: {_kept_promise(suggestion.kind, suggestion.threshold):.4f}"
    out = suggestion.out_of_bag
    if out is not None:
        recall, fpr = _ranged(out.recall, out.recall_range), _ranged(out.fpr, out.fpr_range)
        line += f"; on cases left out: recall {recall}, FPR {fpr}"
    return line


def _kept_promise(kind: str, threshold: float) -> float:
    """Return four decimals of a threshold, rounded to the side on which the rule still holds."""
    if kind in ("recall", "conformal_recall"):
        return math.floor(threshold * 10_000) / 10_000
    if kind in ("fpr", "conformal_fpr"):
        return min(1.0, math.ceil(threshold * 10_000) / 10_000)
    return threshold


def _ranged(value: float | None, interval: tuple[float, float] | None) -> str:
    return _figure(value) + (f" ({interval[0]:.2f} to {interval[1]:.2f})" if interval is not None else "")


def fit_table(figures: Sequence[FitFigures]) -> str:
    """Return what fitting did to each check: figures before, and cross-validated figures after."""
    rows = [["fitted check", "yes", "no", "AUC before", "after", "accuracy before", "after"]]
    skipped = []
    for figure in figures:
        if figure.skipped is not None:
            skipped.append(f"{figure.check} is not fitted: it {figure.skipped}\n")
            continue
        both = [
            _figure(side.get(key)) for key in ("auc", "accuracy") for side in (figure.before, figure.after)
        ]
        rows.append([figure.check, str(figure.positives), str(figure.negatives), *both])
    text = table(rows, right=frozenset(range(1, 7))) if len(rows) > 1 else ""
    return text + "".join(skipped)


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


class ProgressLine:
    """Tells on standard error how far a run is: one line that changes on a terminal, else a line now and then."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._live = sys.stderr.isatty()
        self._next = 0.0 if self._live else time.perf_counter() + 5.0
        self._shown = False

    def __call__(self, progress: Progress) -> None:
        """Show `progress`, but not more often than can be read."""
        now = time.perf_counter()
        if now < self._next and progress.done != progress.total:
            return
        self._next = now + (0.2 if self._live else 5.0)
        line = self._label + ": " + progress_words(progress)
        if self._live:
            sys.stderr.write(f"\r{line}\x1b[K")
            sys.stderr.flush()
            self._shown = True
        elif progress.done != progress.total:
            complain(line)

    def end(self, progress: Progress | None) -> None:
        """End the line; where nothing was shown live, say how far the run came."""
        if self._shown:
            sys.stderr.write("\n")
            sys.stderr.flush()
        elif progress is not None:
            complain(self._label + ": " + progress_words(progress))


def progress_words(progress: Progress) -> str:
    """Return how far a run is, in words."""
    total = f" of {progress.total}" if progress.total is not None else ""
    words = [f"{progress.done}{total} cases"]
    if progress.kept:
        words.append(f"{progress.kept} kept")
    if progress.failed:
        words.append(f"{progress.failed} failed")
    if progress.asked and progress.elapsed_s > 0:
        words.append(f"{progress.asked / progress.elapsed_s:.3g} a second")
    if progress.remaining_s is not None and progress.remaining_s >= 1:
        words.append(f"{_duration(progress.remaining_s)} left")
    return ", ".join(words)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
