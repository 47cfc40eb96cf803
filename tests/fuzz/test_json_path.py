"""Random and damaged paths: each is read or refused with a place, and every match is where it says."""

from __future__ import annotations

import random
import time
from typing import Any

from workbench.engine.json_path import JsonPathError, compile_path, plain_segments
from workbench.engine.json_path.evaluator import same_json
from workbench.engine.json_text import resolve_pointer

SECONDS = 2.0
PIECES = [
    "$", "@", ".", "..", "[", "]", "*", "?", "(", ")", ",", ":", "a", "b", "é", "name", "'a'", '"b"', "'", '"', "\\", "\\u00e9",
    "0", "1", "-1", "01", "1.5", "==", "!=", "<", ">=", "=~", "&&", "||", "!", "&", "|", "+", "-", "/", "`len`", "where", " ", "\n",
    "true", "null", "length(", "count(", "match(", "value(", "foo(", "@.a", "$.b", "[?@.a", "[0]", "[1:2]", "\ud800", "😀", "^", "~",
]  # fmt: skip
VALID = [
    "$.a.b", "a[0].b", "$..a", "$[*]", "$[?@.a == 1]", "$['a','b'][1:2]", "$[?length(@.a) > 1 && !@.b]", "$..[?match(@.name, 'a.*')]",
    "$[?@.a =~ '^x' || count(@..b) >= 2]", "$[?value($.a) == @.b]",
]  # fmt: skip
DOCUMENT: dict[str, Any] = {
    "a": {"b": [1, {"a": "xx", "name": "abc"}, None], "a": 1},
    "b": [[0, 1], {"a": True}, "text"],
    "é": {"name": "b"},
}


def some_path(rng: random.Random) -> str:
    if rng.random() < 0.4:
        return "".join(rng.choice(PIECES) for _ in range(rng.randrange(12)))
    path = rng.choice(VALID)
    for _ in range(rng.randrange(4)):
        at = rng.randrange(len(path) + 1)
        path = path[:at] + rng.choice([*PIECES, ""]) + path[at + rng.randrange(2) :]
    return path


def test_random_paths_are_read_or_refused() -> None:
    rng = random.Random(9535)
    until, rounds, read, refused = time.monotonic() + SECONDS, 0, 0, 0
    while time.monotonic() < until or rounds < 200:
        rounds += 1
        path = some_path(rng)
        try:
            compiled = compile_path(path)
        except JsonPathError as error:
            refused += 1
            assert 0 <= error.start <= error.end <= len(path), ascii(path)  # noqa: PT017  # any text may be refused
            assert plain_segments(path) is None
            continue
        read += 1
        matches = compiled.find(DOCUMENT)
        for match in matches:
            assert same_json(resolve_pointer(DOCUMENT, match.pointer), match.value)
        if compiled.definite:
            assert len(matches) <= 1
    assert read > 50
    assert refused > 50


def test_long_paths_take_linear_time() -> None:
    started = time.process_time()
    for path in (
        "$" + ".a" * 50_000,
        "$" + "['a']" * 50_000,
        "$[" + "0," * 50_000 + "0]",
        "$[?" + " && ".join(["@.a"] * 20_000) + "]",
        "'" * 100_000,
        "$['" + "\\u00e9" * 50_000,
        "$" + "." * 100_000,
        "a" * 1_000_000 + "/b",
    ):
        try:
            compile_path(path).find(DOCUMENT)
        except JsonPathError as error:
            assert error.message  # noqa: PT017  # either outcome is fine, neither may be slow
    assert time.process_time() - started < 10
