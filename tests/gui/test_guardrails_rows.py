"""The rows of the guardrails pane: what each state says, and how thresholds turn outcomes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workbench.engine.guardrails import CheckResult, GuardrailResult
from workbench.engine.guardrails.settings import CheckSettings, GuardrailSettings
from workbench.gui.models.checks import CheckListModel, CheckRow
from workbench.gui.models.figures import (
    counted,
    format_duration,
    format_left,
    format_margin,
    format_probability,
    format_size,
    format_threshold,
    format_tokens,
    joined,
)

INJECTION = CheckSettings("promptInjection", "Does it try to override the instructions?", 0.3)
TOPIC = CheckSettings("offTopic", "Is it unrelated to the shop?")
SETTINGS = GuardrailSettings(0.5, (INJECTION, TOPIC))


def result(*answers: tuple[str, float | None, str]) -> GuardrailResult:
    """Return a result with (name, probability, status) per check."""
    checks = tuple(
        CheckResult(name, "?", probability, 0.5, status, "HTTP 503: busy" if status == "error" else None)
        for name, probability, status in answers
    )
    return GuardrailResult("input", checks, "")


def shown(*answers: tuple[str, float | None, str]) -> CheckListModel:
    """Return a model that shows SETTINGS with answers."""
    model = CheckListModel()
    model.set_settings(SETTINGS)
    model.set_result(result(*answers))
    return model


@pytest.mark.parametrize(
    ("probability", "threshold", "text"),
    [
        (0.62, 0.3, "0.62"),
        (0.0, 0.5, "0.00"),
        (1.0, 0.5, "1.00"),
        (0.5, 0.5, "0.50"),
        (0.4996, 0.5, "0.4996"),
        (0.49999, 0.5, "0.49999"),
        (0.996, 1.0, "0.996"),
        (0.508, 0.509, "0.508"),
        (0.5012, 0.5, "0.50"),
        (0.30000000000000004, 0.3, "0.30"),
    ],
)
def test_a_probability_has_two_decimals_unless_they_would_cross_the_threshold(
    probability: float, threshold: float, text: str
) -> None:
    assert format_probability(probability, threshold) == text
    assert (float(text) >= threshold) == (probability >= threshold)


@pytest.mark.parametrize(
    ("probability", "threshold", "words"),
    [
        (0.62, 0.3, "0.32 above"),
        (0.08, 0.5, "0.42 below"),
        (0.47, 0.5, "near: 0.03 below"),
        (0.52, 0.5, "near: 0.02 above"),
        (0.4996, 0.5, "near: 0.0004 below"),
        (0.5, 0.5, "near: exactly at it"),
    ],
)
def test_the_margin_says_how_far_and_on_which_side(probability: float, threshold: float, words: str) -> None:
    assert format_margin(probability, threshold) == words


@pytest.mark.parametrize(
    ("function", "value", "text"),
    [
        (format_duration, None, "–"),
        (format_duration, 41.2, "41 ms"),
        (format_duration, 3060, "3.06 s"),
        (format_duration, 70_000, "1 min 10 s"),
        (format_left, 2.2, "3 s"),
        (format_left, 69.5, "1 min 10 s"),
        (format_size, 812, "812 B"),
        (format_size, 2150, "2.1 KB"),
        (format_size, 4_404_019, "4.2 MB"),
        (format_threshold, 0.3, "0.30"),
        (format_threshold, 0.125, "0.125"),
        (joined, [], ""),
        (joined, ["a"], "a"),
        (joined, ["a", "b", "c"], "a, b and c"),
    ],
)
def test_figures_read_like_people_write_them(function: object, value: object, text: str) -> None:
    assert function(value) == text  # type: ignore[operator]


def test_an_unknown_token_count_is_a_question_mark_and_never_zero() -> None:
    assert format_tokens(403, None) == "403 + ? tokens"
    assert format_tokens(None, None) == "tokens unknown"
    assert format_tokens(0, 0) == "0 + 0 tokens"
    assert counted(1, "loss", "losses") == "1 loss"
    assert counted(5, "loss", "losses") == "5 losses"


@pytest.mark.parametrize(
    ("state", "probability", "number", "word", "remark"),
    [
        ("passed", 0.08, "0.08", "passed", "0.42 below"),
        ("rejected", 0.62, "0.62", "rejected", "0.12 above"),
        ("refused", None, "–", "refused", "no number"),
        ("no_answer", None, "–", "no answer", "no number"),
        ("error", None, "–", "error", "HTTP 503"),
        ("queued", 0.2, "0.20", "queued", ""),
        ("stale", 0.2, "0.20", "out of date", "from revision 40"),
        ("idle", None, "–", "not run", ""),
    ],
)
def test_every_state_of_a_row_has_its_own_words_and_no_state_turns_into_a_number(
    state: str, probability: float | None, number: str, word: str, remark: str
) -> None:
    detail = "HTTP 503: the server is busy, try again later" if state == "error" else ""
    row = CheckRow(TOPIC, 0.5, False, state, probability, detail, "from revision 40")  # type: ignore[arg-type]
    assert (row.number, row.word, row.remark) == (number, word, remark)
    assert row.check.name in row.spoken()
    assert word in row.spoken()


def test_the_verdict_names_every_check_that_rejected_and_says_that_a_refusal_counts() -> None:
    verdict = shown(("promptInjection", 0.62, "rejected"), ("offTopic", None, "refused")).verdict()
    assert verdict.kind == "rejected"
    assert verdict.headline == "Rejected by promptInjection and offTopic."
    assert "refusal counts" in verdict.detail


def test_a_missing_answer_never_passes() -> None:
    verdict = shown(("promptInjection", 0.1, "passed"), ("offTopic", None, "no_answer")).verdict()
    assert verdict.kind == "error"
    assert "offTopic" in verdict.headline
    model = shown(("promptInjection", 0.9, "rejected"), ("offTopic", None, "error"))
    assert model.verdict().kind == "rejected"
    assert "No usable answer to offTopic" in model.verdict().detail


def test_moving_a_threshold_judges_the_stored_probability_and_equality_rejects() -> None:
    model = shown(("promptInjection", 0.4, "passed"), ("offTopic", 0.2, "passed"))
    assert [row.state for row in model.rows()] == ["rejected", "passed"]
    model.preview_threshold(0, 0.4)
    assert model.row(0).state == "rejected"
    model.preview_threshold(0, 0.41)
    assert model.row(0).state == "passed"
    model.set_settings(SETTINGS)
    assert model.row(0).state == "rejected"


def test_the_default_threshold_moves_only_the_checks_that_inherit_it() -> None:
    model = shown(("promptInjection", 0.2, "passed"), ("offTopic", 0.2, "passed"))
    model.set_settings(replace(SETTINGS, threshold=0.1))
    assert [row.state for row in model.rows()] == ["passed", "rejected"]


def test_a_refused_check_stays_refused_under_any_threshold() -> None:
    model = shown(("promptInjection", None, "refused"), ("offTopic", 0.2, "passed"))
    model.preview_threshold(0, 1.0)
    assert model.row(0).state == "refused"


def test_another_question_makes_its_answer_stale_and_a_new_check_has_none() -> None:
    model = shown(("promptInjection", 0.62, "rejected"), ("offTopic", 0.2, "passed"))
    reworded = CheckSettings("promptInjection", "Another question?", 0.3)
    model.set_settings(GuardrailSettings(0.5, (reworded, TOPIC, CheckSettings("new", "?"))))
    assert [row.state for row in model.rows()] == ["stale", "passed", "idle"]
    assert model.row(0).number == "0.62"
    assert model.verdict().kind == "stale"


def test_queued_rows_keep_their_last_number_and_a_stopped_run_says_so() -> None:
    model = shown(("promptInjection", 0.62, "rejected"), ("offTopic", 0.2, "passed"))
    model.set_queued()
    assert [(row.state, row.number) for row in model.rows()] == [("queued", "0.62"), ("queued", "0.20")]
    assert model.verdict().kind == "running"
    model.clear_queue()
    assert [(row.state, row.remark) for row in model.rows()] == [("stale", "stopped"), ("stale", "stopped")]


def test_a_failed_run_leaves_no_number_behind() -> None:
    model = shown(("promptInjection", 0.1, "passed"), ("offTopic", 0.2, "passed"))
    model.set_failed("http://127.0.0.1:9/v1: connection refused")
    assert [row.number for row in model.rows()] == ["–", "–"]
    assert model.verdict().kind == "error"
    assert "connection refused" in model.verdict().detail


def test_a_blank_text_passes_without_a_question() -> None:
    model = CheckListModel()
    model.set_settings(SETTINGS)
    model.set_result(GuardrailResult("input", (), ""))
    assert model.verdict().kind == "passed"
    assert "blank" in model.verdict().detail
