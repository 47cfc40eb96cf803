"""The strict JSON reader: what is JSON, what is wrong with the rest, and where each value stands."""

from __future__ import annotations

import json
import math
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.shared_data import SHARED, shared_data
from workbench.engine.json_text import (
    JsonDocument,
    PointerError,
    dumps,
    escape_pointer,
    join_pointer,
    parse_json,
    parse_json_bytes,
    resolve_pointer,
    split_pointer,
)
from workbench.engine.templates.rename import apply_fixes

PARSING = SHARED / "json-parsing" / "test_parsing"


def first(text: str) -> Any:
    document = parse_json(text)
    assert not document.ok
    return document.diagnostics[0]


# -- the public parsing suite


def suite_files(prefix: str) -> list[Any]:
    files = sorted(PARSING.glob(f"{prefix}_*.json"))
    return [pytest.param(path, id=path.stem) for path in files] or [pytest.param(None, id="absent")]


@pytest.mark.parametrize("path", suite_files("y"))
def test_what_the_suite_calls_json_is_accepted(path: Path | None) -> None:
    path = path or shared_data("json-parsing", "test_parsing")
    data = path.read_bytes()
    document = parse_json_bytes(data)
    assert document.ok
    assert document.value == json.loads(data)


@pytest.mark.parametrize("path", suite_files("n"))
def test_what_the_suite_calls_broken_is_refused_at_a_place(path: Path | None) -> None:
    path = path or shared_data("json-parsing", "test_parsing")
    document = parse_json_bytes(path.read_bytes(), file=path.name)
    assert not document.ok
    assert document.value is None
    error = document.diagnostics[0]
    assert error.severity == "error"
    assert error.file == path.name
    assert error.start is not None
    assert error.end is not None
    assert 0 <= error.start <= error.end <= len(document.text)
    assert error.line is not None
    assert error.line >= 1


@pytest.mark.parametrize("path", suite_files("i"))
def test_what_the_suite_leaves_open_never_crashes(path: Path | None) -> None:
    path = path or shared_data("json-parsing", "test_parsing")
    document = parse_json_bytes(path.read_bytes())
    assert document.ok != any(item.severity == "error" for item in document.diagnostics)


# -- diagnostics

SYNTAX = [
    # id, text, code, line, column, a word of the message or hint
    ("T28-trailing-comma", '{"a": 1,}', "syntax", 1, 9, "comma"),
    ("T29-single-quotes", "{'a': 1}", "syntax", 1, 2, "Single quotes"),
    ("T30-python-true", '{"a": True}', "syntax", 1, 7, "true"),
    ("python-none", '{"a": None}', "syntax", 1, 7, "null"),
    ("T32-comment", '{"a": 1 /* n */}', "syntax", 1, 9, "comments"),
    ("line-comment", '{\n  // note\n  "a": 1}', "syntax", 2, 3, "comments"),
    ("comment-at-the-end", "{} # note", "trailing_text", 1, 4, "comments"),
    ("T33-nan", '{"a": NaN}', "non_finite", 1, 7, "NaN"),
    ("minus-infinity", "[-Infinity]", "non_finite", 1, 2, "-Infinity"),
    ("T34-overflow", '{"a": 1e999}', "number_overflow", 1, 7, "1e999"),
    ("overflow-without-exponent", "1" * 320 + ".5", "number_overflow", 1, 1, "too large"),
    ("integer-of-5000-digits", "7" * 5000, "number_overflow", 1, 1, "5000 digits"),
    ("T37-raw-newline", '{"log": "x\ny"}', "control_char", 1, 11, "line break"),
    ("raw-tab", '["a\tb"]', "control_char", 1, 4, "tab"),
    ("typographic-quotes", "{“a”: 1}", "syntax", 1, 2, "Typographic quotes"),
    ("bare-name", "{a: 1}", "syntax", 1, 2, "has no quotes"),
    ("missing-comma", "[1 2]", "syntax", 1, 4, "comma"),
    ("missing-colon", '{"a" 1}', "syntax", 1, 6, "colon"),
    ("double-comma", "[1,,2]", "syntax", 1, 4, "comma"),
    ("leading-zero", "[012]", "syntax", 1, 2, "leading zeros"),
    ("plus-sign", "[+1]", "syntax", 1, 2, "plus sign"),
    ("bare-point", "[.5]", "syntax", 1, 2, "both sides"),
    ("hexadecimal", "[0x1F]", "syntax", 1, 2, "decimal digits"),
    ("underscores", "[1_000]", "syntax", 1, 2, "underscores"),
    ("wrong-closer", '{"a": [1}', "syntax", 1, 9, "cannot close"),
    ("bad-escape", r'["\x41"]', "syntax", 1, 3, "escape"),
    ("short-unicode-escape", r'["\u12"]', "syntax", 1, 3, "four hexadecimal"),
    ("T42-unclosed-array", '{"a": [1, 2', "unclosed", 1, 7, "line 1, column 7"),
    ("unclosed-object", '{\n "a": {"b": 1}', "unclosed", 1, 1, "object"),
    ("unclosed-string", '["abc', "unclosed", 1, 2, "string"),
    ("empty", "", "syntax", 1, 1, "empty"),
    ("only-blanks", " \n ", "syntax", 1, 1, "empty"),
    ("two-values", "{} {}", "trailing_text", 1, 4, "after the end"),
    ("lone-escape", r'["\ud800"]', "lone_surrogate", 1, 3, "D800"),
    ("lone-raw", '["a\udc00"]', "lone_surrogate", 1, 4, "DC00"),
    ("inverted-pair", r'["\ude00\ud83d"]', "lone_surrogate", 1, 3, "DE00"),
]


@pytest.mark.parametrize(
    ("text", "code", "line", "column", "word"), [row[1:] for row in SYNTAX], ids=[row[0] for row in SYNTAX]
)
def test_an_error_says_what_is_wrong_and_where(
    text: str, code: str, line: int, column: int, word: str
) -> None:
    error = first(text)
    assert (error.code, error.line, error.column) == (code, line, column)
    assert word in f"{error.message} {error.hint}"


FIXES = [
    ("trailing-comma", '{"a": 1,}', {"a": 1}),
    ("single-quotes", "{'a': 1}", {"a": 1}),
    ("typographic-quotes", "[“it's”]", ["it's"]),
    ("python-literal", "[True]", [True]),
    ("comment", '{"a": 1 /* n */}', {"a": 1}),
    ("bare-name", "{a: 1}", {"a": 1}),
    ("missing-comma", '["a" "b"]', ["a", "b"]),
    ("semicolon", "[1; 2]", [1, 2]),
    ("raw-newline", '["a\nb"]', ["a\nb"]),
    ("bad-escape", r'["C:\dir"]', ["C:\\dir"]),
    ("lone-surrogate", r'["\ud800"]', ["\ufffd"]),
]


@pytest.mark.parametrize(("text", "value"), [row[1:] for row in FIXES], ids=[row[0] for row in FIXES])
def test_the_fix_of_an_error_makes_the_text_json(text: str, value: Any) -> None:
    fix = first(text).fixes[0]
    fixed = text[: fix.start] + fix.replacement + text[fix.end :]
    assert parse_json(fixed).value == value


def test_all_bad_values_are_reported_at_once_with_their_pointers() -> None:
    document = parse_json('{"a": [NaN, 1], "b/c": {"d": 1e400, "e": "\\udc00"}}')
    found = [(item.code, item.pointer) for item in document.diagnostics]
    assert found == [
        ("non_finite", "/a/0"),
        ("number_overflow", "/b~1c/d"),
        ("lone_surrogate", "/b~1c/e"),
    ]
    assert document.value is None


def test_a_repeated_name_is_a_warning_and_the_last_member_wins() -> None:
    document = parse_json('{"x": {"a": 1, "b": 2, "a": 3}}')
    assert document.ok
    assert document.value == {"x": {"a": 3, "b": 2}}
    (warning,) = document.diagnostics
    assert (warning.severity, warning.code, warning.pointer) == ("warning", "duplicate_key", "/x/a")
    assert document.text[warning.start : warning.end] == '"a"'
    assert warning.start == 23
    assert document.text[slice(*document.span("/x/a") or ())] == "3"


@pytest.mark.parametrize("text", ['{"a:b": 1, "c": ":"}', '[{"a": 1}, {"a": 1}]', r'{"\":": ":\\"}'])
def test_equal_names_in_different_objects_and_colons_in_strings_are_no_repetition(text: str) -> None:
    document = parse_json(text)
    assert document.ok
    assert document.diagnostics == ()


def test_a_name_repeated_by_an_escape_is_found() -> None:
    document = parse_json(r'{"a": 1, "\u0061": 2}')
    assert [item.code for item in document.diagnostics] == ["duplicate_key"]


def test_errors_are_capped() -> None:
    document = parse_json("[" + ",".join(["NaN"] * 10_000) + "]")
    assert not document.ok
    assert len(document.diagnostics) == 100


# -- values


VALUES = [
    ("T36-big-integer", "12345678901234567890", 12345678901234567890),
    ("a-float-stays-a-float", "1.0", 1.0),
    ("T39-emoji-by-escapes", r'"\ud83d\ude00"', "😀"),
    ("escaped-backslash-before-u", r'"\\ud800"', "\\ud800"),
    ("underflow-is-zero", "1e-400", 0.0),
    ("long-exponent-in-range", "1e0000000000000000001", 10.0),
    ("byte-order-mark", "\ufeff[1]", [1]),
    ("other-line-separators-in-strings", '"\u2028\u2029\x85"', "\u2028\u2029\x85"),
    ("four-thousand-digits", "9" * 4300, int("9" * 4300)),
]


@pytest.mark.parametrize(("text", "value"), [row[1:] for row in VALUES], ids=[row[0] for row in VALUES])
def test_a_value_is_exact(text: str, value: Any) -> None:
    document = parse_json(text)
    assert document.ok
    assert document.value == value
    assert type(document.value) is type(value)


def test_nesting_over_the_limit_is_refused_and_never_a_recursion_error() -> None:
    deep = "[" * 1500 + "]" * 1500
    assert first(deep).code == "too_deep"
    assert first(deep).start == 512
    assert first("[" * 100_000).code == "too_deep"
    assert first('{"a":' * 100_000).code == "too_deep"


def test_nesting_up_to_the_limit_is_read_and_brackets_in_strings_do_not_count() -> None:
    assert parse_json("[" * 512 + "]" * 512).ok
    assert parse_json(json.dumps(["[" * 5000, '"{{{' * 1000])).ok
    assert not parse_json("[" * 513 + "]" * 513).ok


def test_a_higher_limit_is_read_without_recursion() -> None:
    document = parse_json("[" * 50_000 + "]" * 50_000, max_depth=100_000)
    assert document.ok
    assert dumps(document.value) == document.text


def test_reading_from_a_nearly_full_stack_still_gives_the_value() -> None:
    def descend(levels: int) -> JsonDocument:
        return descend(levels - 1) if levels else parse_json("[" * 400 + "]" * 400)

    outcome: list[JsonDocument] = []
    levels = sys.getrecursionlimit() - 150
    thread = threading.Thread(target=lambda: outcome.append(descend(levels)))
    thread.start()
    thread.join()
    assert outcome[0].ok


# -- bytes


def test_bytes_that_are_not_utf8_are_located() -> None:
    document = parse_json_bytes(b'{"name":\n "caf\xe9"}', file="p.json")
    assert not document.ok
    (error,) = document.diagnostics
    assert (error.code, error.line, error.column, error.file) == ("encoding", 2, 6, "p.json")
    assert document.text[error.start : error.end] == "\ufffd"
    assert "0xE9" in error.message
    assert "byte 14" in error.message


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le"])
@pytest.mark.parametrize("text", ['{"é": 1}', "[1]"])
def test_other_unicode_encodings_are_named(encoding: str, text: str) -> None:
    (error,) = parse_json_bytes(text.encode(encoding)).diagnostics
    assert error.code == "encoding"
    assert "UTF-16" in (error.hint or "")


def test_a_byte_order_mark_is_removed_from_bytes() -> None:
    document = parse_json_bytes(b"\xef\xbb\xbf[1]")
    assert document.value == [1]
    assert document.text == "[1]"


# -- positions


def test_every_value_has_its_span_and_every_member_the_span_of_its_name() -> None:
    text = '{"a": [1, {"b/c": "x"}], "é~": null}'
    document = parse_json(text)

    def at(pointer: str) -> str:
        return text[slice(*document.span(pointer) or ())]

    assert list(document.pointers()) == ["", "/a", "/a/0", "/a/1", "/a/1/b~1c", "/é~0"]
    assert at("") == text
    assert at("/a") == '[1, {"b/c": "x"}]'
    assert at("/a/1/b~1c") == '"x"'
    assert text[slice(*document.key_span("/a/1/b~1c") or ())] == '"b/c"'
    assert document.key_span("/a/0") is None
    assert document.key_span("") is None
    for missing in ("/z", "/a/2", "/a/01", "/a/-1", "a", "/a/0/x"):
        assert document.span(missing) is None


AT = [
    (0, ""),
    (1, "/a"),
    (2, "/a"),
    (6, "/a"),
    (7, "/a/0"),
    (8, "/a/0"),
    (10, "/a/1"),
    (12, "/a/1/b"),
    (40, None),
]


@pytest.mark.parametrize(("offset", "pointer"), AT)
def test_an_offset_leads_to_the_innermost_value(offset: int, pointer: str | None) -> None:
    document = parse_json('{"a": [1, {"b": "x"}]}')
    assert document.pointer_at(offset) == pointer


def test_a_broken_text_has_positions_as_far_as_it_was_read() -> None:
    document = parse_json('{"a": 1, "b": [true, x]}')
    assert not document.ok
    assert document.span("/a") == (6, 7)
    assert document.pointer_at(20) == "/b"


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda children: (
        st.lists(children, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), children, max_size=4)
    ),
    max_leaves=20,
)


@given(json_values, st.sampled_from([None, 2]))
@settings(max_examples=150, deadline=None)
def test_what_is_written_reads_back_and_each_span_holds_its_value(value: Any, indent: int | None) -> None:
    text = dumps(value, indent=indent)
    document = parse_json(text)
    assert document.ok
    assert document.value == value
    for pointer in document.pointers():
        span = document.span(pointer)
        assert span is not None
        assert parse_json(text[slice(*span)]).value == resolve_pointer(value, pointer)


# -- writing


def test_numbers_and_texts_are_written_as_they_are() -> None:
    assert (
        dumps(["x", 1.0, 12345678901234567890, True, None, "é😀"])
        == '["x", 1.0, 12345678901234567890, true, null, "é😀"]'
    )
    assert dumps({"n": "pen", "price": 1.5}) == '{"n": "pen", "price": 1.5}'


@pytest.mark.parametrize("value", [math.nan, math.inf, [-math.inf], {"a": {"b": math.nan}}])
def test_numbers_that_are_not_finite_are_refused(value: Any) -> None:
    with pytest.raises(ValueError):
        dumps(value)


def test_a_value_that_contains_itself_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(ValueError):
        dumps(loop)
    deep: list[Any] = [loop]
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(ValueError, match="itself"):
        dumps(deep)


def test_half_a_surrogate_pair_is_written_as_an_escape() -> None:
    text = dumps("é\ud800")
    assert text == '"é\\ud800"'
    text.encode("utf-8")


@pytest.mark.parametrize("indent", [None, 2])
def test_a_deep_value_is_written_like_a_flat_one(indent: int | None) -> None:
    core: Any = {"a": [{"x": [], "y": {}}, 1.0, None, "é"], "b": {"c": (1, 2)}, 3: True}
    deep = core
    for _ in range(3000):
        deep = [deep]
    text = dumps(deep, indent=indent)
    unwrapped = parse_json(text, max_depth=4000).value
    for _ in range(3000):
        unwrapped = unwrapped[0]
    assert unwrapped == json.loads(json.dumps(core))
    if indent is None:
        assert text == "[" * 3000 + json.dumps(core, ensure_ascii=False) + "]" * 3000


# -- pointers


@pytest.mark.parametrize(
    ("tokens", "pointer"),
    [((), ""), (("a", 0), "/a/0"), (("a/b", "m~n"), "/a~1b/m~0n"), (("",), "/"), (("~1",), "/~01")],
)
def test_a_pointer_splits_into_what_it_was_joined_from(tokens: tuple[str | int, ...], pointer: str) -> None:
    assert join_pointer(*tokens) == pointer
    assert split_pointer(pointer) == [str(token) for token in tokens]


def test_pointers_resolve_or_say_where_nothing_is() -> None:
    value = {"a/b": [10, {"": 1}], "0": "zero"}
    assert resolve_pointer(value, "/a~1b/1/") == 1
    assert resolve_pointer(value, "/0") == "zero"
    assert escape_pointer("a/b") == "a~1b"
    for bad in ("a", "/a~1b/01", "/a~1b/-", "/a~1b/2", "/nope", "/0/0"):
        with pytest.raises(PointerError):
            resolve_pointer(value, bad)


# -- time


@pytest.mark.slow
def test_ten_megabytes_are_read_in_under_a_second() -> None:
    row = {
        "id": 7,
        "name": "user é",
        "tags": ["a", "b"],
        "price": 1.5,
        "ok": True,
        "n": None,
        "o": {"x": [1, {"y": "z\n"}]},
    }
    text = dumps([row] * 100_000)
    assert len(text) > 10_000_000

    def seconds(action: Callable[[], Any]) -> float:
        times = []
        for _ in range(3):
            started = time.process_time()
            action()
            times.append(time.process_time() - started)
        return min(times)

    # The standard library takes a quarter of a second where nothing else runs; a busy machine gets its share.
    share = max(1.0, seconds(lambda: json.loads(text)) / 0.25)
    assert seconds(lambda: parse_json(text)) < 1.0 * share


def test_hostile_texts_take_linear_time() -> None:
    started = time.process_time()
    for text in (
        '"' + "\\u" * 200_000,
        "[" * 400_000,
        '{"a' * 100_000,
        "[1," * 200_000,
        '"' * 300_001,
        "\\" * 300_000,
    ):
        assert not parse_json(text).ok
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("text", "named", "span"),
    [
        ('{"a":1,\u00a0"b":2}', "U+00A0 (no-break space)", (7, 8)),
        ('{"a":1\ufeff,"b":2}', "U+FEFF (zero width no-break space)", (6, 7)),
        ('{"a":\u200b\u200b1,"b":2}', "U+200B (zero width space)", (5, 7)),
        ('{"a":1,\u00a0 \n"b":2}', "U+00A0 (no-break space)", (7, 8)),  # the rest is JSON's own
        ('{"a"\u2028:1,"b":2}', "U+2028 (line separator)", (4, 5)),
        ('{"a":1,"b":2}\u00ad', "U+00AD (soft hyphen)", (13, 14)),
    ],
)
def test_a_character_that_nobody_sees_is_named_and_its_fix_makes_the_text_json(
    text: str, named: str, span: tuple[int, int]
) -> None:
    [problem] = parse_json(text).diagnostics
    assert problem.message.startswith(named)
    assert (problem.start, problem.end) == span
    assert parse_json(apply_fixes(text, problem.fixes)).value == {"a": 1, "b": 2}


def test_excerpts_show_what_is_invisible_as_escapes() -> None:
    [problem] = parse_json("[1 ?\u00a0\ufeff\u200b]").diagnostics
    assert "?\\xa0\\ufeff\\u200b]" in problem.message
    [problem] = parse_json('{"a\u200b":1,"a\u200b":2}').diagnostics
    assert '"a\\u200b"' in problem.message


@pytest.mark.parametrize(
    "text",
    ['{"a"', '{"a":', '{"a":1,', '{"a":[', '{"a":1,"b":{"c":[1,2', "[[1],[2", '[{"a":{"b":1}', '[1,[2,{"x":'],
)
def test_what_is_not_closed_is_named_by_its_span_and_by_the_pointer_to_the_same_value(text: str) -> None:
    document = parse_json(text)
    [problem] = document.diagnostics
    assert problem.code == "unclosed"
    assert problem.start is not None
    assert problem.pointer is not None
    span = document.span(problem.pointer)
    assert span is not None
    assert span[0] == problem.start


def test_a_name_without_a_value_after_another_member_lacks_its_colon_and_no_comma_is_blamed() -> None:
    [problem] = parse_json('{"a":1,"b"}').diagnostics
    assert problem.message.startswith("A colon is due before }")
    assert problem.pointer == "/b"


def test_after_a_comma_the_object_is_meant_and_not_the_member_before_it() -> None:
    [problem] = parse_json('{"x":{"a":1,b:2}}').diagnostics
    assert problem.pointer == "/x"
