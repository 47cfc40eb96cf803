"""Texts of strangers are quoted so that they stay in their line and steer nothing."""

from __future__ import annotations

import pytest

from workbench.engine.text import one_line, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ü 🙂 \u00a0", "plain ü 🙂 \u00a0"),
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("a\nb\r\tc", "a\\nb\\r\\tc"),
        ("\u202eevil\u2066", "\\u202eevil\\u2066"),
        ("\x9b1m\x7f\u2028", "\\x9b1m\\x7f\\u2028"),
    ],
)
def test_characters_that_steer_are_shown_as_escapes(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_characters_that_are_asked_for_stay() -> None:
    assert visible("a\n\x1b", keep="\n") == "a\n\\x1b"


def test_one_line_folds_white_space_and_shows_the_rest() -> None:
    assert one_line("  a\n\n b\t\x1bc ") == "a b \\x1bc"
