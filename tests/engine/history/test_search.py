"""Whatever is typed into the search is looked for as it stands: no character has a meaning of its own, and none fails."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from workbench.engine.events import RunEvent
from workbench.engine.history import HistoryStore

TEXTS = {
    1: "the helmet arrived cracked, order FH-20418",
    2: "NEAR the tent AND NOT a pole OR a strap",
    3: 'she said "keep it" at /wanted_by (column:filter) a*b ^start {braces}',
    4: "Größe 42, naïve café, 価格は千円です, price €5 ½ 100%",
    5: "snake_case_name and C++ and a.b.c and x-y-z",
}


@pytest.fixture(scope="module")
def store() -> Iterator[HistoryStore]:
    with HistoryStore.in_memory() as opened:
        for number, text in TEXTS.items():
            run_id = opened.start_run("check", f"run number {number}", {"text": text})
            opened.append(run_id, RunEvent("check_request", 0.0, {"text": text}))
            opened.finish_run(run_id, "passed")
        yield opened


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("FH-20418", {1}),
        ("fh-20418 crack", {1}),
        ("NEAR", {2}),
        ("AND", {2, 5}),
        ("NOT", {2}),
        ("tent AND NOT pole", {2}),
        ("helmet OR tent", set()),
        ('"keep it"', {3}),
        ('"keep', {3}),
        ("/wanted_by", {3}),
        ("column:filter", {3}),
        ("column : filter", {3}),
        ("a*b", {3, 5}),
        ("^start", {3}),
        ("{braces}", {3}),
        ("GROSSE", set()),
        ("grosse größe", set()),
        ("große", {4}),
        ("cafe", {4}),
        ("100%", {4}),
        ("snake_case", {5}),
        ("C++", {1, 3, 4, 5}),
        ("a.b.c", {3, 5}),
        ("x-y", {5}),
        ("NEAR(tent strap, 3)", set()),
        ("  ", {1, 2, 3, 4, 5}),
        ("", {1, 2, 3, 4, 5}),
    ],
)
def test_a_search_is_taken_as_it_was_typed(store: HistoryStore, search: str, found: set[int]) -> None:
    assert {run.id for run in store.runs(search=search)} == found
    assert store.count(search=search) == len(found)


ODD = [
    '"', "'", '""', "*", "**", "-", "--", "^", ":", "(", ")", "()", "{", "}", "+", "\\", "%", "_", "__", "a_",
    "_a", "NEAR", "NEAR/3", "NEAR(", "AND", "OR", "NOT", "AND AND", "a AND", "OR b", "text:", "text:a", "rowid",
    "run_text", "a\x00b", "\x00", "\ud800", "a\udfff", "\u0301", "e\u0301", "½", "²", "①", "🙂", "👩\u200d🚀",
    "\u200b", "\ufeff", "\u202e", "ﬁ", "İ", "ß", "ａｂｃ", "'; DROP TABLE runs; --", "?", "?1", ":name", "@x",
    "$1", "\n", "\t a \r", "a" * 100_000, "word " * 3_000, "(" * 5_000, '"' * 5_001, "1e999", "NaN", "-1",
]  # fmt: skip


@pytest.mark.parametrize("search", ODD, ids=lambda text: ascii(text)[:30])
def test_no_search_fails(store: HistoryStore, search: str) -> None:
    listed = store.runs(search=search)
    assert store.count(search=search) == len(listed)


def test_no_mixture_of_operators_and_odd_characters_fails(store: HistoryStore) -> None:
    draw = random.Random(5)
    pieces = [each for each in ODD if len(each) < 20] + ["helmet", "tent", " ", " ", " "]
    for _ in range(2_000):
        search = "".join(draw.choices(pieces, k=draw.randint(1, 8)))
        assert store.count(search=search) == len(store.runs(search=search))
    assert store.count() == len(TEXTS)
