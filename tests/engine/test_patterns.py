"""Patterns that come with a project are compiled only when what they ask for is small."""

from __future__ import annotations

import time

import pytest
import regex

from workbench.engine.patterns import MOST_ITEMS, compile_pattern, written_out


@pytest.mark.parametrize(
    "pattern",
    [
        "a{9999999}",
        "[a-z]{9999999}x",
        "(ab){999999}",
        "(a{1000}){1000}",
        "((a{100}){100}){100}",
        r"\d{60000}",
        "a{99999999999999999999999999}",
        "(" * 5000 + ")" * 5000,
    ],
    ids=lambda pattern: pattern[:24],
)
def test_a_pattern_that_would_eat_the_memory_is_refused_at_once(pattern: str) -> None:
    began = time.perf_counter()
    with pytest.raises(regex.error):
        compile_pattern(pattern)
    assert time.perf_counter() - began < 1


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("^.{10000}$", "x" * 10000),
        ("(?:a{0,60000}){0,60000}", ""),
        ("(?P<x>a{20}){20}", "a" * 400),
        (r"\p{L}{3}[{9}]{3}", "abc{9}"),
        (r"[]{99999}]", "9"),
        (r"\{99999\}", "{99999}"),
        ("a{,99999}", "aa"),
        ("a{}", "a{}"),
    ],
)
def test_an_ordinary_pattern_is_compiled_and_means_what_it_did(pattern: str, text: str) -> None:
    assert compile_pattern(pattern).search(text) is not None


@pytest.mark.parametrize(
    ("pattern", "items", "depth"),
    [
        ("", 0, 0),
        ("abc", 3, 0),
        ("a{3}", 3, 0),
        ("(ab){3}", 9, 1),
        ("((a{9}){9})", 91, 2),
        ("a|b{2}", 3, 0),
        (")(", 1, 1),
    ],
)
def test_written_out_counts_items_and_depth(pattern: str, items: int, depth: int) -> None:
    assert written_out(pattern) == (items, depth)
    assert items < MOST_ITEMS
