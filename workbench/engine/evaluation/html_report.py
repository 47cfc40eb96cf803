"""Writes an evaluation as one HTML file with its pictures inside, to be read anywhere and with no network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from workbench.engine.evaluation import metrics
from workbench.engine.evaluation.report import CheckReport, CheckRows, EvaluationReport
from workbench.engine.evaluation.suggestions import TARGETS
from workbench.engine.evaluation.version_drift import CheckDrift

_STYLE = """
:root { color-scheme: light dark; --yes: #c2410c; --no: #2563eb; --line: #8888; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; } th, td { padding: .25rem .8rem; border-bottom: 1px solid var(--line); }
td { text-align: right; font-variant-numeric: tabular-nums; } th, td:first-child { text-align: left; }
section { margin-top: 2.5rem; } figure { display: inline-block; margin: 1rem 1.5rem 0 0; vertical-align: top; }
figcaption { font-weight: 600; } svg { background: transparent; } svg text { font: 11px system-ui, sans-serif; fill: currentColor; }
.note { opacity: .8; } .axis { stroke: currentColor; } .guide { stroke: var(--line); stroke-dasharray: 3 3; }
""".strip()
_SIZE, _EDGE = 240, 30


def html_report(
    report: EvaluationReport,
    rows: Mapping[str, CheckRows],
    *,
    title: str = "Evaluation",
    when: str = "",
    notes: Iterable[str] = (),
    drifts: Mapping[str, CheckDrift] | None = None,
) -> str:
    """Return the report as one HTML document; `rows` are the labelled results behind it (see `Evaluation.rows`).

    Holds no texts of cases, only figures. `when` is a date to show, as the caller wants it written; `notes` are
    sentences about the whole, such as what is stale; `drifts` say how checks moved since an earlier version.
    """
    sections = [_section(check, rows[name]) for name, check in report.checks.items() if name in rows]
    model = escape(report.model or "unknown model")
    date = f" · {escape(when)}" if when else ""
    union = _number(report.union_fpr)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style></head><body>\n<h1>{escape(title)}</h1>\n<p>{model}{date}</p>\n"
        + "".join(f'<p class="note">{escape(note)}</p>\n' for note in notes)
        + f"{_overview(report)}\n<p>Good cases that at least one check flags: {union}</p>\n"
        + _drift_section(drifts or {})
        + "\n".join(sections)
        + "\n</body></html>\n"
    )


def _overview(report: EvaluationReport) -> str:
    heads = (
        "check",
        "n",
        "yes",
        "refused",
        "errors",
        "threshold",
        "precision",
        "recall",
        "FPR",
        "F1",
        "AUC",
        "AP",
        "Brier",
        "skill",
        "log loss",
        "ECE",
        "MCE",
    )
    lines = []
    for name, c in report.checks.items():
        k = c.confusion
        threshold = _number(c.threshold) if c.kind == "model" else c.kind
        cells = [c.n, c.positives, c.refused, c.errors, threshold]
        skill = c.brier_parts.skill if c.brier_parts is not None else None
        figures = [k.precision, k.recall, k.fpr, k.f1, c.auc, c.average_precision]
        figures += [c.brier, skill, c.log_loss, c.ece, c.mce]
        row = "".join(f"<td>{cell}</td>" for cell in cells) + "".join(
            f"<td>{_number(v)}</td>" for v in figures
        )
        lines.append(f"<tr><td>{escape(name)}</td>{row}</tr>")
    head = "".join(f"<th>{h}</th>" for h in heads)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _drift_section(drifts: Mapping[str, CheckDrift]) -> str:
    """Return the table of how checks moved since an earlier version, and the cases whose outcome changed."""
    if not drifts:
        return ""
    models = (
        ", ".join(dict.fromkeys(model for drift in drifts.values() for model in drift.models)) or "nobody"
    )
    heads = ("check", "cases", "outcomes changed", "mean shift", "PSI", "KS")
    lines, flips = [], []
    for name, d in drifts.items():
        cells = [str(d.cases), str(d.flipped), *(_number(value) for value in (d.mean_shift, d.psi, d.ks))]
        lines.append(f"<tr><td>{escape(name)}</td>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
        flips += [
            f"<li>{escape(flip.case)}, {escape(name)}: {flip.before:.3f} → {flip.after:.3f}</li>"
            for flip in d.flips
        ]
    head = "".join(f"<th>{each}</th>" for each in heads)
    return (
        f"<section><h2>Since {escape(models)}</h2><table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}"
        f"</tbody></table><ul>{''.join(flips)}</ul></section>\n"
    )


def _rule_section(check: CheckReport) -> str:
    """Return the section of a check that asks no model: what it caught, without pictures of probabilities."""
    k = check.confusion
    notes = "".join(f'<p class="note">{escape(warning)}</p>' for warning in check.warnings)
    return (
        f"<section><h2>{escape(check.check)}</h2>{notes}"
        f"<p>{k.tp} caught, {k.fn} missed, {k.fp} false alarms, {k.tn} let through rightly.</p>"
        f"<p>A check of the kind {escape(check.kind)}: it asks no model, and its answer is 0 or 1, so that there"
        " is no threshold to suggest.</p></section>"
    )


def _section(check: CheckReport, rows: CheckRows) -> str:
    if check.kind != "model":
        return _rule_section(check)
    import numpy as np

    p, y = np.asarray(rows.p), np.asarray(rows.y, dtype=np.bool_)
    k = check.confusion
    notes = "".join(f'<p class="note">{escape(warning)}</p>' for warning in check.warnings)
    suggestions = "".join(_suggestion(s.to_json()) for s in check.suggestions)
    # A cost of its own was asked of the suggestions; the picture shows the same.
    miss_cost = next((s.target for s in check.suggestions if s.kind == "cost"), TARGETS["cost"])
    pictures = _figures(p, y, check.threshold, miss_cost) if len(p) else ""
    review = f"<p>{escape(check.review.words().capitalize())}.</p>" if check.review is not None else ""
    return (
        f"<section><h2>{escape(check.check)}</h2>{notes}"
        f"<p>At {check.threshold:g}: {k.tp} caught, {k.fn} missed, {k.fp} false alarms, {k.tn} let through rightly."
        f"</p>{review}{pictures}<h3>Suggestions</h3><ul>{suggestions}</ul></section>"
    )


def _suggestion(s: Mapping[str, Any]) -> str:
    if s["threshold"] is None:
        return f"<li>{escape(s['kind'])}: {escape(s['reason'])}</li>"
    out = s["out_of_bag"] or {}
    figures = f"on cases left out: recall {_number(out.get('recall'))}, FPR {_number(out.get('fpr'))}"
    return f"<li><b>{s['threshold']:.3f}</b> — {escape(s['reason'])}; {figures}</li>"


def _figures(p: Any, y: Any, threshold: float, miss_cost: float) -> str:
    curve = metrics.threshold_curve(p, y)
    figures = [
        ("Probabilities by label", _histogram(p, y, threshold)),
        ("Against the threshold", _curves(curve, threshold)),
        ("Reliability of P(yes)", _reliability(p, y)),
    ]
    roc, pr = curve.roc, curve.precision_recall
    if roc is not None:
        figures.append(("ROC", _frame("false-positive rate", "recall", _line(roc[0], roc[1]) + _diagonal())))
    if pr is not None:
        figures.append(("Precision and recall", _frame("recall", "precision", _line(pr[0], pr[1]))))
    cost = metrics.cost_of(curve, 1.0, miss_cost)
    if cost is not None:
        figures.append((f"Cost, a miss like {_plain(miss_cost, 'false alarm')}", _cost(cost, threshold)))
    return "".join(f"<figure><figcaption>{name}</figcaption>{svg}</figure>" for name, svg in figures)


def _x(value: float) -> float:
    return _EDGE + value * (_SIZE - 2 * _EDGE)


def _y(value: float) -> float:
    return _SIZE - _EDGE - value * (_SIZE - 2 * _EDGE)


def _frame(x_name: str, y_name: str, inside: str) -> str:
    low, high = _x(0), _x(1)
    return (
        f'<svg width="{_SIZE}" height="{_SIZE}" role="img" aria-label="{x_name}, {y_name}">'
        f'<path class="axis" fill="none" d="M{low},{_y(1)} V{_y(0)} H{high}"/>'
        f'<text x="{low}" y="{_SIZE - 12}">0</text><text x="{high - 6}" y="{_SIZE - 12}">1</text>'
        f'<text x="{_SIZE / 2}" y="{_SIZE - 4}" text-anchor="middle">{x_name}</text>'
        f'<text x="4" y="{_EDGE - 8}">{y_name}</text>{inside}</svg>'
    )


def _line(xs: Any, ys: Any, look: str = 'stroke="var(--no)"') -> str:
    """Return a line through the points; those that are not defined are left out, with a gap in their place."""
    step = max(1, len(xs) // 500)  # more points than pixels tell nothing
    picked = list(range(0, len(xs), step))
    if picked[-1] != len(xs) - 1:
        picked.append(len(xs) - 1)
    parts, gap = [], True
    for i in picked:
        if ys[i] != ys[i]:
            gap = True
            continue
        parts.append(f"{'M' if gap else 'L'}{_x(float(xs[i])):.1f},{_y(float(ys[i])):.1f}")
        gap = False
    return f'<path d="{" ".join(parts)}" fill="none" {look} stroke-width="2"/>'


def _curves(curve: metrics.ThresholdCurve, threshold: float) -> str:
    """Return precision, recall and false-positive rate as steps over the threshold."""
    import numpy as np

    # A threshold between two probabilities acts as the next higher one.
    x = np.repeat(np.r_[0.0, curve.thresholds], 2)[1:-1]
    looks = (
        ("precision", curve.precision, 'stroke="var(--no)"'),
        ("recall", curve.recall, 'stroke="currentColor" stroke-dasharray="6 3"'),
        ("false-positive rate", curve.fpr, 'stroke="var(--yes)" stroke-dasharray="2 2"'),
    )
    lines = "".join(
        f"<g><title>{name}</title>{_line(x, np.repeat(values, 2), look)}</g>" for name, values, look in looks
    )
    return _frame("threshold", "precision —, recall – –, false alarms ···", lines + _mark(threshold))


def _mark(threshold: float) -> str:
    return f'<path class="axis" d="M{_x(threshold):.1f},{_y(0)} V{_y(1)}"/>'


def _cost(curve: metrics.CostCurve, threshold: float) -> str:
    """Return the cost in false alarms over the threshold, and the stretch where it is least."""
    import numpy as np

    most = float(curve.cost.max()) or 1.0
    # Each cost holds from the probability before it; the last, of flagging nothing, up to 1.
    x = np.repeat(np.r_[0.0, curve.thresholds[:-1], 1.0], 2)[1:-1]
    low, high = curve.best
    least = _y(curve.least / most)
    words = f"least {curve.least:g} at {low:.3f}–{high:.3f}"
    best = (
        f'<g><title>{words}</title><path d="M{_x(low):.1f},{least:.1f} H{max(_x(high), _x(low) + 1):.1f}" '
        'fill="none" stroke="var(--yes)" stroke-width="5"/></g>'
    )
    line = _line(x, np.repeat(curve.cost / most, 2))
    return _frame(f"threshold, {words}", f"cost, up to {most:g}", line + best + _mark(threshold))


def _diagonal() -> str:
    return f'<path class="guide" d="M{_x(0)},{_y(0)} L{_x(1)},{_y(1)}"/>'


def _histogram(p: Any, y: Any, threshold: float) -> str:
    h = metrics.histogram(p, y, 20)
    most = max(*h.yes, *h.no, 1)
    width = (_x(1) - _x(0)) / len(h.yes)
    bars = []
    for i, (yes, no) in enumerate(zip(h.yes, h.no, strict=True)):
        for count, colour, shift in ((no, "no", 0.0), (yes, "yes", width / 2)):
            top = _y(count / most)
            bars.append(
                f'<rect x="{_x(0) + i * width + shift:.1f}" y="{top:.1f}" width="{width / 2:.1f}" '
                f'height="{_y(0) - top:.1f}" fill="var(--{colour})"><title>{colour}: {count}</title></rect>'
            )
    mark = f'<path class="axis" stroke-width="2" d="M{_x(threshold):.1f},{_y(0)} V{_y(1)}"/>'
    return _frame("probability (blue no, orange yes)", f"cases, up to {most}", "".join(bars) + mark)


def _reliability(p: Any, y: Any) -> str:
    dots = []
    for b in metrics.reliability(p, y):
        if b.mean_p is None or b.share_yes is None or b.interval is None:
            continue
        x = _x(b.mean_p)
        dots.append(
            f'<path class="guide" d="M{x:.1f},{_y(b.interval[0]):.1f} V{_y(b.interval[1]):.1f}"/>'
            f'<circle cx="{x:.1f}" cy="{_y(b.share_yes):.1f}" r="4" fill="var(--no)"><title>{b.count} cases</title></circle>'
        )
    return _frame("mean probability", "share of yes", _diagonal() + "".join(dots))


def _plain(number: float, noun: str) -> str:
    return f"{number:g} {noun}{'' if number == 1 else 's'}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
