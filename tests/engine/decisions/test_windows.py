"""A long text is cut into windows that lose nothing."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.decisions.windows import LONGEST, placed_windows, sentences, windows


def test_a_short_text_is_one_window() -> None:
    assert windows("  Hello there. How are you?  ") == ["Hello there. How are you?"]


def test_a_blank_text_has_none() -> None:
    assert windows(" \n ") == []


def test_sentences_end_at_marks_blank_lines_and_list_items() -> None:
    text = 'One. Two! "Three?" Four\n\nFive\n- six\n- seven 八。九'
    assert sentences(text) == ["One.", "Two!", '"Three?"', "Four", "Five", "- six", "- seven 八。", "九"]


def test_neighbouring_windows_share_a_short_sentence() -> None:
    text = " ".join(f"This is sentence {i}." for i in range(10))
    pieces = windows(text)
    shared = [set(sentences(a)) & set(sentences(b)) for a, b in itertools.pairwise(pieces)]
    assert len(pieces) == 3
    assert all(shared)


def test_a_long_sentence_without_blanks_is_cut_and_kept() -> None:
    pieces = windows("x" * 1000)
    assert "".join(pieces) == "x" * 1000
    assert max(map(len, pieces)) <= LONGEST


def test_a_window_knows_its_sentences_and_where_they_lie() -> None:
    text = (
        "  The first one is short.\n\n"
        + "word " * 30
        + "end.  And a third, which is rather longer than that."
    )
    found = [(each.first, each.last, text[each.start : each.end]) for each in placed_windows(text)]
    assert found == [
        (1, 1, "The first one is short."),
        (2, 2, "word " * 30 + "end."),
        (3, 3, "And a third, which is rather longer than that."),
    ]
    assert [(each.first, each.last) for each in placed_windows("One. Two. Three.")] == [(1, 3)]


@given(st.text(alphabet=st.sampled_from("ab .!?\n。é"), max_size=900))
def test_no_character_is_lost_and_none_is_invented(text: str) -> None:
    pieces = windows(text)
    for each in placed_windows(text):
        assert "".join(text[each.start : each.end].split()) == "".join(each.text.split())
    squeezed = "".join(text.split())
    assert all(len(piece) <= LONGEST + 100 for piece in pieces)
    joined = ["".join(piece.split()) for piece in pieces]
    position = 0
    for piece in joined:
        start = squeezed.find(piece, max(0, position - len(piece)))
        assert start >= 0
        assert start <= position
        position = max(position, start + len(piece))
    assert position == len(squeezed)
