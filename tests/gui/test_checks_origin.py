"""A threshold belongs to the model version, the question and the day it was chosen on."""

from __future__ import annotations

from datetime import date

import pytest

from workbench.engine.guardrails.settings import CheckSettings
from workbench.engine.projects.edits import ThresholdOrigin
from workbench.gui.models.checks_origin import origin_now, stale_threshold

CHECK = CheckSettings("rude", "Is it rude?", 0.4)
CHOSEN = ThresholdOrigin("model@1", "Is it rude?", "2026-03-01")
TODAY = date(2026, 3, 9)


@pytest.mark.parametrize(
    ("origin", "version", "moving", "stale"),
    [
        (CHOSEN, "model@1", False, None),
        (CHOSEN, None, False, None),
        (CHOSEN, "model@2", False, "model@2 answers now"),
        (CHOSEN, "model@1+cv-12345678", False, None),
        (CHOSEN, "model@1", True, "2026-03-01"),
        (ThresholdOrigin("model@1", "Is it rude?", "2026-03-09"), "model@1", True, None),
        (ThresholdOrigin("model@1", "Is it loud?", "2026-03-01"), "model@1", False, "another question"),
        (ThresholdOrigin("embedded model@1", "", ""), "model@1", False, None),
        (None, "model@2", False, None),
    ],
    ids=[
        "same",
        "version unknown",
        "other version",
        "cross-validated",
        "alias, older day",
        "alias, today",
        "other question",
        "name and version",
        "nobody noted it",
    ],
)
def test_a_threshold_is_stale_when_model_question_or_with_an_alias_the_day_differs(
    origin: ThresholdOrigin | None, version: str | None, moving: bool, stale: str | None
) -> None:
    found = stale_threshold(origin, CHECK, version, moving=moving, today=TODAY)
    assert found is None if stale is None else stale in (found or "")


def test_an_inherited_threshold_is_never_stale() -> None:
    assert stale_threshold(CHOSEN, CheckSettings("rude", "Is it loud?"), "model@2") is None


def test_a_new_note_holds_the_plain_version_and_the_day() -> None:
    noted = origin_now("model@1+fit-aa+cv-bb", CHECK)
    assert (noted.model, noted.question, noted.date) == ("model@1+fit-aa", "Is it rude?", str(date.today()))
