"""What an attempt cost, what it sent, and what a server said of its failure stand among its figures and details."""

from __future__ import annotations

import pytest

from workbench.engine.language_models import Message
from workbench.engine.prices import Cost
from workbench.engine.translation import Attempt, TranslationRecord
from workbench.gui.models.attempts import cost_words, figures, turns_of
from workbench.gui.panes.translation.words import outcome_banner
from workbench.gui.widgets.attempt_details import detail_rows

PAID = Attempt(1, outcome="ok", elapsed_ms=800.0, cost=Cost(0.0012, "EUR"))


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (PAID, "0.0012 EUR"),
        (Attempt(1, elapsed_ms=5.0, recorded=True), "nothing: a recorded answer"),
        (Attempt(1, elapsed_ms=5.0), "unknown: the model has no prices, or told no tokens"),
    ],
)
def test_a_cost_is_told_or_said_to_be_unknown_and_never_zero(attempt: Attempt, words: str) -> None:
    assert cost_words(attempt) == words
    assert ("Cost", words, None) in list(detail_rows(attempt))


def test_a_known_cost_stands_beside_time_and_tokens() -> None:
    assert "0.0012 EUR" in figures(PAID)
    assert "EUR" not in figures(Attempt(1, elapsed_ms=5.0))
    banner = outcome_banner(TranslationRecord((PAID,), outcome="ok", elapsed=0.8))
    assert "0.0012 EUR" in banner[2]


def test_what_the_server_said_of_a_failure_is_a_detail() -> None:
    failure = {"kind": "status", "status": 503, "server_said": '{"error": "overloaded"}'}
    rows = list(detail_rows(Attempt(1, outcome="model_error", failure=failure)))
    assert ("HTTP status", "503", None) in rows
    assert ("The server said", '{"error": "overloaded"}', None) in rows
    names = [name for name, _words, _span in detail_rows(PAID)]
    assert "The server said" not in names


def test_an_image_of_a_prompt_is_named_where_it_stands() -> None:
    def turn(url: str) -> str:
        image = {"type": "image_url", "image_url": {"url": url}}
        content = ({"type": "text", "text": "What is this?"}, image, {"type": "text", "text": "In German."})
        return turns_of(Attempt(1, (Message("user", content),), 1))[0].text

    assert turn("https://example.org/a.png").splitlines() == [
        "What is this?",
        "[image: https://example.org/a.png]",
        "In German.",
    ]
    drawn, other = turn("data:image/png;base64,AAAA"), turn("data:image/png;base64,AAAB")
    assert "[image: image/png, 4 characters of data, " in drawn
    assert "AAAA" not in drawn
    assert drawn != other
