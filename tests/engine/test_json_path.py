"""JSONPath: right by RFC 9535 or refused with a reason, and never a wrong answer."""

from __future__ import annotations

import json
import re
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.shared_data import SHARED, shared_data
from workbench.engine.json_path import (
    CompiledPath,
    JsonPathError,
    JsonPathTimeoutError,
    compile_path,
    plain_segments,
)
from workbench.engine.json_path.evaluator import evaluate, same_json
from workbench.engine.json_path.iregexp import translate
from workbench.engine.json_path.ng import NgPath, canonical_text
from workbench.engine.json_path.reader import read_path
from workbench.engine.json_text import join_pointer, resolve_pointer

ACCEPTED = Path(__file__).resolve().parent.parent / "data" / "jsonpath_accepted_invalid.json"
SUITE = SHARED / "jsonpath-cts" / "cts.json"

P: dict[str, Any] = {
    "user": {"name": "Ann", "age": 41, "note": None, "tags": ["x", "y"], "a.b": "dot", "é": "acc", "x-y": 1},
    "items": [{"n": "pen", "price": 1.5}, {"n": "ink", "price": 2.0}],
    "none": [],
    "where": "W",
    "x y": "sp",
    "@org/x": "scoped",
    "true": "T",
}


def values(path: str, value: Any = P) -> list[Any]:
    return [match.value for match in compile_path(path).find(value)]


# -- the public compliance suite


def suite_cases() -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads(SUITE.read_text("utf-8"))["tests"] if SUITE.exists() else []
    return cases


def pointers_of(case: dict[str, Any]) -> list[list[str]]:
    """Return the suite's normalised paths as JSON Pointers, one list for each result that is allowed."""
    lists = case["results_paths"] if "results_paths" in case else [case["result_paths"]]
    return [[_pointer(path) for path in paths] for paths in lists]


def _pointer(path: str) -> str:
    tokens: list[str | int] = []
    for quoted, index in re.findall(r"\[(?:'((?:[^'\\]|\\.)*)'|(\d+))\]", path):
        name = quoted.replace("\\'", "'").replace('"', '\\"')
        tokens.append(int(index) if index else json.loads(f'"{name}"'))
    return join_pointer(*tokens)


def test_no_valid_selector_of_the_suite_is_answered_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    shared_data("jsonpath-cts", "cts.json")
    right, refused, wrong = 0, [], []
    valid = [case for case in suite_cases() if not case.get("invalid_selector")]
    for case in valid:
        try:
            path = compile_path(case["selector"])
        except JsonPathError:
            refused.append(case["name"])
            continue
        matches = path.find(case["document"])
        allowed = case["results"] if "results" in case else [case["result"]]
        good_values = [same_json([match.value for match in matches], result) for result in allowed]
        good_places = [[match.pointer for match in matches] == places for places in pointers_of(case)]
        if any(a and b for a, b in zip(good_values, good_places, strict=True)):
            right += 1
        else:
            wrong.append(case["name"])
    with capsys.disabled():
        print(
            f"\nJSONPath compliance suite: {right} right, {len(refused)} refused, {len(wrong)} wrong of {len(valid)} valid"
        )
    assert wrong == []
    assert refused == []


def test_invalid_selectors_of_the_suite_are_refused_but_for_the_pinned_ones(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shared_data("jsonpath-cts", "cts.json")
    pinned = {entry["selector"]: entry["reason"] for entry in json.loads(ACCEPTED.read_text("utf-8"))}
    assert all(pinned.values())
    accepted, errors = set(), []
    for case in suite_cases():
        if not case.get("invalid_selector"):
            continue
        try:
            compile_path(case["selector"])
            accepted.add(case["selector"])
        except JsonPathError as error:
            errors.append((error, len(case["selector"])))
    with capsys.disabled():
        print(
            f"\nJSONPath compliance suite: {len(errors)} invalid selectors refused, {len(accepted)} accepted"
        )
    assert accepted == set(pinned)
    assert all(error.message and 0 <= error.start <= error.end <= length for error, length in errors)


def test_the_suite_is_answered_alike_by_jsonpath_ng_and_by_our_evaluator() -> None:
    shared_data("jsonpath-cts", "cts.json")
    both = 0
    for case in suite_cases():
        if case.get("invalid_selector"):
            continue
        query = read_path(case["selector"])
        text = canonical_text(query.segments)
        if text is None:
            continue
        both += 1
        assert NgPath(text).find(case["document"]) == evaluate(query, case["document"]), text
    assert both > 150


# -- plain paths


PLAIN = [
    ("A01", "user.name", ("user", "name"), "Ann"),
    ("A02", "$.user.name", ("user", "name"), "Ann"),
    ("A04-null-is-a-match", "user.note", ("user", "note"), None),
    ("A09", "items[0].n", ("items", 0, "n"), "pen"),
    ("A20", "user['a.b']", ("user", "a.b"), "dot"),
    ("A23", "['x y']", ("x y",), "sp"),
    ("A24", "user.é", ("user", "é"), "acc"),
    ("A25", "where", ("where",), "W"),
    ("reserved-literal", "$.true", ("true",), "T"),
    ("hyphen", "user.x-y", ("user", "x-y"), 1),
    ("D36", "['@org/x']", ("@org/x",), "scoped"),
    ("double-quotes", '$["user"]["name"]', ("user", "name"), "Ann"),
    ("escapes-decoded", r"$['\u0075ser']['n\u0061me']", ("user", "name"), "Ann"),
    ("negative-index", "items[-1].n", ("items", -1, "n"), "ink"),
    ("root", "$", (), P),
    ("blanks-between-steps", "$ .user [ 'name' ]", ("user", "name"), "Ann"),
]


@pytest.mark.parametrize(
    ("path", "segments", "value"), [row[1:] for row in PLAIN], ids=[row[0] for row in PLAIN]
)
def test_a_plain_path_leads_to_one_value(path: str, segments: tuple[str | int, ...], value: Any) -> None:
    compiled = compile_path(path)
    assert compiled.definite
    assert plain_segments(path) == segments
    (match,) = compiled.find(P)
    assert match.value == value
    assert resolve_pointer(P, match.pointer) == value


@pytest.mark.parametrize(
    "path",
    ["missing", "user.missing", "user.name.x", "items[2]", "items[-3]", "items.n", "user[0]", "user.name[0]"],
)
def test_a_plain_path_without_a_value_matches_nothing(path: str) -> None:
    assert compile_path(path).find(P) == []


def test_the_root_of_a_scalar_document_is_itself() -> None:
    assert values("$", 5) == [5]


def test_tuples_are_arrays() -> None:
    assert values("a[1]", {"a": (1, 2)}) == [2]
    assert values("a[?@ > 1]", {"a": (1, 2)}) == [2]
    assert values("$..n", {"a": ({"n": 1},)}) == [1]


# -- other paths


MANY = [
    ("A10", "items[*].n", ["pen", "ink"], ["/items/0/n", "/items/1/n"]),
    ("A14", "items[?(@.price>1.9)].n", ["ink"], ["/items/1/n"]),
    ("A16", "none[*].n", [], []),
    ("slice", "items[1:].n", ["ink"], ["/items/1/n"]),
    ("reversed", "items[::-1].n", ["ink", "pen"], ["/items/1/n", "/items/0/n"]),
    ("union", "user['age', 'name']", [41, "Ann"], ["/user/age", "/user/name"]),
    ("descendants", "..n", ["pen", "ink"], ["/items/0/n", "/items/1/n"]),
    ("descendant-index", "$..tags[-1]", ["y"], ["/user/tags/1"]),
    ("function", "items[?length(@.n) == 3 && @.price < 2].n", ["pen"], ["/items/0/n"]),
    ("root-in-filter", "items[?@.n != $.items[0].n].n", ["ink"], ["/items/1/n"]),
    ("regex", "items[?(@.n =~ '^p')].n", ["pen"], ["/items/0/n"]),
    ("match-is-whole", "items[?match(@.n, 'p.n')].n", ["pen"], ["/items/0/n"]),
    ("search-is-partial", "items[?search(@.n, 'k')].n", ["ink"], ["/items/1/n"]),
    ("wildcard-on-object", "user.tags.*", ["x", "y"], ["/user/tags/0", "/user/tags/1"]),
]


@pytest.mark.parametrize(
    ("path", "expected", "pointers"), [row[1:] for row in MANY], ids=[row[0] for row in MANY]
)
def test_an_indefinite_path_gives_all_matches_with_their_pointers(
    path: str, expected: list[Any], pointers: list[str]
) -> None:
    compiled = compile_path(path)
    assert not compiled.definite
    assert plain_segments(path) is None
    matches = compiled.find(P)
    assert [match.value for match in matches] == expected
    assert [match.pointer for match in matches] == pointers


TYPED = [
    ("number-and-string-differ", [1, "1"], "$[?@ == 1]", [1]),
    ("boolean-is-no-number", [1, True], "$[?@ == true]", [True]),
    ("null-is-not-missing", [{"a": None}, {}], "$[?@.a == null]", [{"a": None}]),
    ("missing-equals-missing", [{"a": 1}, {}], "$[?@.a == @.b]", [{}]),
    ("integers-and-floats-compare", [1, 1.0, 2], "$[?@ == 1.0]", [1, 1.0]),
    ("no-order-between-types", [1, "b", None, True], "$[?@ > 'a']", ["b"]),
]


@pytest.mark.parametrize(
    ("value", "path", "expected"), [row[1:] for row in TYPED], ids=[row[0] for row in TYPED]
)
def test_comparisons_respect_types(value: Any, path: str, expected: list[Any]) -> None:
    assert same_json(values(path, value), expected)


# -- refusals


REFUSED = [
    # id, path, unsupported, start, end, a word of message or hint
    ("arithmetic-plus", "$.a + 'x'", True, 4, 5, "Arithmetic"),
    ("arithmetic-times", "$.a * 2", True, 4, 5, "Arithmetic"),
    ("arithmetic-in-filter", "a[?@.n==1+1]", True, 9, 10, "Arithmetic"),
    ("backquotes", "$.a.`len`", True, 4, 9, "backquotes"),
    ("backquotes-parent", "a.`parent`", True, 2, 10, "backquotes"),
    ("where", "$.a where $.b", True, 4, 9, "where"),
    ("wherenot", "$.a wherenot $.b", True, 4, 12, "wherenot"),
    ("union-of-paths", "$.a|$.b", True, 3, 4, "|"),
    ("intersection", "$.a & $.b", True, 4, 5, "&"),
    ("single-ampersand", "a[?(@.a & @.b)]", True, 8, 9, "&&"),
    ("sorting", "items[/price]", True, 6, 7, "Sorting"),
    ("script", "items[(@.length-1)]", True, 6, 7, "Scripts"),
    ("unknown-function", "a[?foo(@)]", True, 3, 6, "length"),
    ("misspelt-function", "a[?lenght(@) > 1]", False, 3, 9, "length"),
    ("empty", "", False, 0, 0, "empty"),
    ("A46", "user[?(@.a", False, 6, 10, "never closed"),
    ("open-bracket", "items[0", False, 5, 7, "never closed"),
    ("open-quote", "['a", False, 1, 3, "never closed"),
    ("empty-bracket", "items[]", False, 5, 7, "empty"),
    ("bare-name-in-bracket", "items[price]", False, 6, 11, "['price']"),
    ("digit-name", "items.0.n", False, 6, 7, "[0]"),
    ("dollar-name", "$.$ref", False, 2, 6, "['$ref']"),
    ("scoped-name", "@org/x", False, 0, 1, "['@org/x']"),
    ("slash-name", "org/x", True, 3, 4, "['org/x']"),
    ("trailing-blank", "user.name ", False, 9, 10, "blank"),
    ("single-equals", "a[?(@.b=1)]", False, 7, 8, "=="),
    ("bare-word", "a[?(@.b==foo)]", False, 9, 12, "'foo'"),
    ("python-true", "a[?@.b==True]", False, 8, 12, "true"),
    ("word-and", "a[?@.b==1 and @.c==2]", False, 10, 13, "&&"),
    ("member-without-at", "a[?(price>1)]", False, 4, 9, "@.price"),
    ("leading-zero", "a[01]", False, 2, 4, "leading zeros"),
    ("bad-escape", r"['\x41']", False, 2, 4, "escape"),
    ("several-values-compared", "a[?@.*==1]", False, 3, 6, "several"),
    ("constant-alone", "a[?true]", False, 3, 7, "not a test"),
    ("bad-regex", "a[?@.b =~ '(']", False, 10, 13, "regular expression"),
]


@pytest.mark.parametrize(
    ("path", "unsupported", "start", "end", "word"),
    [row[1:] for row in REFUSED],
    ids=[row[0] for row in REFUSED],
)
def test_a_refusal_names_the_part_and_what_to_write(
    path: str, unsupported: bool, start: int, end: int, word: str
) -> None:
    with pytest.raises(JsonPathError) as caught:
        compile_path(path)
    error = caught.value
    assert (error.unsupported, error.start, error.end) == (unsupported, start, end)
    assert word in f"{error.message} {error.hint}"
    assert plain_segments(path) is None


def test_hostile_nesting_is_refused() -> None:
    for path in ("$[?" + "(" * 5000, "$" + "[?@" * 5000, "$[?" + "!" * 5000, "$[?" + "length(" * 5000):
        with pytest.raises(JsonPathError):
            compile_path(path)


# -- bounds


@pytest.mark.parametrize("test", ["@.n =~ '^(a|aa)+$'", "match(@.n, '(a|aa)+')"])
def test_a_regular_expression_that_explodes_is_stopped(test: str) -> None:
    value = {"items": [{"n": "a" * 60 + "!"}] * 10}
    path = compile_path(f"items[?{test}]")
    started = time.process_time()
    with pytest.raises(JsonPathTimeoutError) as caught:
        path.find(value)
    assert time.process_time() - started < 1
    assert path.path[caught.value.start : caught.value.end] in test


def test_descendants_of_a_value_that_contains_itself_end() -> None:
    loop: dict[str, Any] = {"a": 1}
    loop["self"] = loop
    loop["list"] = [loop, {"a": 2}]
    assert values("$..a", loop) == [1, 2]
    assert len(compile_path("$..*").find(loop)) < 20


def test_a_shared_part_is_no_cycle() -> None:
    part = {"a": 1}
    assert values("$..a", {"x": part, "y": part}) == [1, 1]


def test_depth_is_no_limit() -> None:
    deep: Any = {"x": 1}
    for _ in range(20_000):
        deep = [deep]
    started = time.process_time()
    (match,) = compile_path("$..x").find(deep)
    assert match.pointer == "/0" * 20_000 + "/x"
    assert len(compile_path("$..*").find(deep)) == 20_001
    assert len(compile_path("$" + "[0]" * 3000).find(deep)) == 1
    assert len(compile_path("$" + "[*]" * 3000).find(deep)) == 1
    assert time.process_time() - started < 10


def test_compiled_paths_are_kept_and_shared_by_threads() -> None:
    assert compile_path("items[?(@.price>1.9)].n") is compile_path("items[?(@.price>1.9)].n")
    problems: list[str] = []

    def work(number: int) -> None:
        for round_number in range(30):
            path = f"items[?(@.price > {1 + (number + round_number) % 2})].n"
            expected = ["pen", "ink"] if (number + round_number) % 2 == 0 else []
            if values(path) != expected:
                problems.append(path)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []


def test_a_plain_path_is_much_faster_than_reading_it_with_jsonpath_ng() -> None:
    from jsonpath_ng.ext import parse

    def seconds(action: Any, rounds: int) -> float:
        started = time.process_time()
        for _ in range(rounds):
            action()
        return (time.process_time() - started) / rounds

    parse("$.user.name").find(P)
    ours = seconds(lambda: compile_path("$.user.name").find(P), 2000)
    theirs = seconds(lambda: parse("$.user.name").find(P), 30)
    assert theirs > 5 * ours


# -- two evaluators, one answer


names = st.sampled_from(["a", "b", "é", "where", "x y", "null"])
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([0.5, 1.0, 2.5])
    | st.sampled_from(["", "a", "b", "1"])
)
documents = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=25,
)
steps = st.one_of(
    names.map(lambda name: f"['{name}']"),
    st.integers(-3, 3).map(lambda index: f"[{index}]"),
    st.just("[*]"),
    st.just("..*"),
    st.sampled_from(["..a", "..b", "..é", "[1:]", "[:-1]", "[::-1]", "[0:3:2]", "[2:0:-1]", "[:]"]),
    st.builds(
        lambda left, operator, right: f"[?@{left} {operator} {right}]",
        st.sampled_from(["", ".a", "['x y']", "[0]", ".a.b", "[-1]"]),
        st.sampled_from(["==", "!=", "<", "<=", ">", ">="]),
        st.sampled_from(["1", "-1", "0.5", "'a'", "''", "true", "false", "null", "1.0"]),
    ),
    st.sampled_from(["[?@.a]", "[?!@.a]", "[?@.a && @.b == 1]", "[?@.a == 1 || (@.b && !@.a)]", "..[?@.a]"]),
)


@given(st.lists(steps, min_size=1, max_size=4), documents)
@settings(max_examples=400, deadline=None)
def test_jsonpath_ng_and_our_evaluator_agree_on_every_path_that_both_answer(
    parts: list[str], value: Any
) -> None:
    query = read_path("$" + "".join(parts))
    ours = evaluate(query, value)
    for node, trail in ours:
        tokens: list[str | int] = []
        while trail is not None:
            trail, token = trail
            tokens.append(token)
        assert same_json(resolve_pointer(value, join_pointer(*reversed(tokens))), node)
    text = canonical_text(query.segments)
    if text is not None:
        assert NgPath(text).find(value) == ours


@pytest.mark.parametrize("path", ["$.items[*].n", "$..n", "items[?(@.price>1.9)].n", "items[0:1]"])
def test_jsonpath_ng_answers_what_it_can(path: str) -> None:
    compiled = CompiledPath(path, read_path(path))
    assert compiled._ng is not None
    compiled.find(P)
    assert type(compiled._ng._compiled).__module__.startswith("jsonpath_ng")


# -- I-Regexp


@pytest.mark.parametrize(
    "pattern",
    [
        "(?i)a",
        "a**",
        "a+?",
        "+",
        "a{2",
        "[",
        "[]",
        "[a[b]]",
        r"\d",
        r"\x41",
        "(a",
        "a)",
        "]",
        r"\p{Greek}",
        "(?:a)",
    ],
)
def test_what_is_no_i_regexp_matches_nothing(pattern: str) -> None:
    assert translate(pattern) is None
    literal = json.dumps(pattern)
    assert values(f"$[?search(@, {literal})]", [pattern, "a", ""]) == []


@pytest.mark.parametrize(
    ("pattern", "text", "whole"),
    [
        ("a.c", "abc", True),
        ("a.c", "a\nc", False),
        ("a.c", "a\rc", False),
        ("[^a-c]+", "xyz", True),
        ("[-a]", "-", True),
        (r"\p{Lu}\.", "É.", True),
        ("a{2,3}|b", "aaa", True),
        ("a{2,3}|b", "aaaa", False),
        ("(ab)*", "abab", True),
        ("a$", "a\n", False),
    ],
)
def test_an_i_regexp_matches_as_the_rfc_says(pattern: str, text: str, whole: bool) -> None:
    assert (values(f"$[?match(@, {json.dumps(pattern)})]", [text]) == [text]) is whole
