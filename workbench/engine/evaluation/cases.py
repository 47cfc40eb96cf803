"""Labelled cases: the texts on which a check's threshold is chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.engine.guardrails.settings import Stage


@dataclass(frozen=True, slots=True)
class Case:
    """One row of `cases.jsonl`.

    `labels` maps a check's name to `True` (yes, must be rejected) or `False`; a check without a label is
    not mentioned. `user_message` belongs to cases of the output stage.
    """

    id: str
    text: str
    labels: Mapping[str, bool] = field(default_factory=dict)
    note: str = ""
    stage: Stage = "input"
    user_message: str | None = None
