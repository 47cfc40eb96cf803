"""Tells whether a threshold still belongs to the model, the wording and the day on which it was chosen."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from workbench.engine.guardrails.settings import CheckSettings

if TYPE_CHECKING:
    from workbench.engine.projects.edits import ThresholdOrigin


def plain_version(version: str) -> str:
    """Return a version without the mark that its answers were cross-validated; thresholds belong to the model."""
    return version.partition("+cv-")[0]


def origin_now(version: str | None, check: CheckSettings) -> ThresholdOrigin:
    """Return the note for a threshold that is chosen today on the answers of `version`."""
    from workbench.engine.projects.edits import ThresholdOrigin

    return ThresholdOrigin(
        plain_version(version or ""),
        check.question,
        str(date.today()),
        check.yes_means or "",
        check.no_means or "",
    )


def stale_threshold(
    origin: ThresholdOrigin | None,
    check: CheckSettings,
    version: str | None,
    *,
    moving: bool = False,
    today: date | None = None,
) -> str | None:
    """Return why the threshold of `check` is stale, `None` where it is not, or nobody noted its origin.

    `version` is the model version in use, `None` where only an answer can tell. With a `moving` model name the
    day counts too: the same name may stand for another version tomorrow.
    """
    if origin is None or check.threshold is None:
        return None
    if reworded := origin.reworded(check):
        return reworded
    now = plain_version(version or "")
    # A note may hold the model's name beside its version.
    if now and origin.model and now not in origin.model and origin.model not in now:
        return f"it was chosen for {origin.model}, and {now} answers now"
    if moving and origin.date and origin.date != str(today or date.today()):
        return f"it was chosen on {origin.date}, and the model's name may stand for another version since"
    return None


def origin_words(origin: ThresholdOrigin) -> str:
    """Return where a threshold comes from, in one sentence."""
    parts = [f"chosen on {origin.date}" if origin.date else "chosen"]
    if origin.model:
        parts.append(f"with {origin.model}")
    return " ".join(parts)
