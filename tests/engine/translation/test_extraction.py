"""How JSON is found in a reply: the cases of extraction and parsing, and what must hold for any reply."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.translation.scripted import FENCE, INTEGER, NUMBER, S1, S2, S3, S7, S8
from workbench.engine.translation import Extraction, extract_json

SCHEMA_TEXT = json.dumps(S1, indent=2)

FOUND = [
    pytest.param('{"a": 1}', S1, {"a": 1}, "whole", id="T01"),
    pytest.param('Sure!\n{"a": 1}\nHope it helps', S1, {"a": 1}, "text", id="T02"),
    pytest.param(f'{FENCE}json\n{{"a": 1}}\n{FENCE}', S1, {"a": 1}, "fence", id="T03"),
    pytest.param(f'{FENCE}\n{{"a": 1}}\n{FENCE}\nNote: {{braces}}', S1, {"a": 1}, "fence", id="T04"),
    pytest.param('Using the set {x, y}, answer {"a": 1}', S1, {"a": 1}, "text", id="T05"),
    pytest.param('{"a": 1} and {curly} braces', S1, {"a": 1}, "text", id="T06"),
    pytest.param('{"log": "unexpected } at 4"}', S2, {"log": "unexpected } at 4"}, "whole", id="T07"),
    pytest.param('Sure: {"log":"char \'}\' at 42"}', S2, {"log": "char '}' at 42"}, "text", id="T08"),
    pytest.param('[{"a": 1}]', S3, [{"a": 1}], "whole", id="T10"),
    pytest.param('[{"a": 1}, {"a": 2}]', S3, [{"a": 1}, {"a": 2}], "whole", id="T11"),
    pytest.param('<think>maybe {"a": 0}</think>{"a": 1}', S1, {"a": 1}, "whole", id="T14"),
    pytest.param(
        '<THINKING depth="2">{"a": 0} {"a": tru</THINKING>\n{"a": 1}', S1, {"a": 1}, "whole", id="T14-attr"
    ),
    pytest.param('maybe {"a": 0}, no\n</think>\n\n{"a": 1}', S1, {"a": 1}, "whole", id="T14-unpaired"),
    pytest.param('so {"a": oops </think> Answer: {"a": 1}', S1, {"a": 1}, "text", id="T14-broken-draft"),
    pytest.param("<think>easy</think> 42", INTEGER, 42, "whole", id="T14-scalar"),
    pytest.param(
        '{"log":"<think>literal</think>"}', S2, {"log": "<think>literal</think>"}, "whole", id="T16"
    ),
    pytest.param(
        'Sure: {"log":"a </think> b <think>"} ok', S2, {"log": "a </think> b <think>"}, "text", id="T16-prose"
    ),
    pytest.param(
        f'{{"log": "run {FENCE}bun test{FENCE} first"}}',
        S2,
        {"log": f"run {FENCE}bun test{FENCE} first"},
        "whole",
        id="T17",
    ),
    pytest.param(
        f'Here: {{"name": "a", "log": "{FENCE}json"}} done {FENCE}',
        S2,
        {"name": "a", "log": f"{FENCE}json"},
        "text",
        id="T18",
    ),
    pytest.param(f'````json\n{{"log":"use {FENCE}"}}\n````', S2, {"log": f"use {FENCE}"}, "fence", id="T19"),
    pytest.param(
        f'{FENCE}\nstep 1\n{FENCE}\n{FENCE}json\n{{"a":1}}\n{FENCE}', S1, {"a": 1}, "fence", id="T20"
    ),
    pytest.param(f'{SCHEMA_TEXT}\n{{"a": 1}}', S1, {"a": 1}, "text", id="T21"),
    pytest.param('See [1] and [2]. {"a": 1}', S1, {"a": 1}, "text", id="T23"),
    pytest.param('See [1 above] and [2, maybe]. {"a": 1}', S1, {"a": 1}, "text", id="T23-broken-arrays"),
    pytest.param('{{"a": 1}}', S1, {"a": 1}, "text", id="T25"),
    pytest.param('\ufeff{"a": 1}', S1, {"a": 1}, "whole", id="T27"),
    pytest.param('{"log": "\\ud83d\\ude00"}', S2, {"log": "😀"}, "whole", id="T39"),
    pytest.param('{"a": 12345678901234567890}', S1, {"a": 12345678901234567890}, "whole", id="T36"),
    pytest.param("{}", S8, {}, "whole", id="T48"),
    pytest.param("42", INTEGER, 42, "whole", id="T50"),
    pytest.param(f"The number:\n{FENCE}\n42\n{FENCE}", INTEGER, 42, "fence", id="T50-fence"),
    pytest.param('"{\\"a\\": 1}"', S1, {"a": 1}, "string", id="double-encoded"),
    pytest.param('"{\\"a\\": 1}"', {"type": "string"}, '{"a": 1}', "whole", id="a-string-stays-one"),
    pytest.param('~~~json\r\n{"a": 1}\r\n~~~\r\n', S1, {"a": 1}, "fence", id="tilde-fence-crlf"),
    pytest.param(f'{FENCE}json\n{{"a": 1}}{FENCE}', S1, {"a": 1}, "fence", id="fence-closed-on-the-line"),
    pytest.param(f'{FENCE}json {{"a": 1}} {FENCE}', S1, {"a": 1}, "text", id="inline-fence"),
    pytest.param(
        f'{FENCE}json\n{{"a": 1}}\n{FENCE}\n{FENCE}python\nx = {{"a": 0}}\n{FENCE}',
        S1,
        {"a": 1},
        "fence",
        id="code-in-another-language-comes-last",
    ),
]


@pytest.mark.parametrize(("reply", "schema", "value", "source"), FOUND)
def test_the_json_is_found(reply: str, schema: Any, value: Any, source: str) -> None:
    found = extract_json(reply, schema=schema)
    assert (found.outcome, found.value, found.source) == ("ok", value, source)
    assert found.span is not None
    assert reply == found.prologue + (found.json_text or "") + found.epilogue


REFUSED = [
    pytest.param('[{"a": 1}]', S1, "invalid", "type", id="T09"),
    pytest.param('Here: [{"a": 1}]', S1, "invalid", "type", id="T09-prose"),
    pytest.param(SCHEMA_TEXT, S1, "schema_echo", "schema_echo", id="T22"),
    pytest.param(
        f"The schema:\n{FENCE}json\n{SCHEMA_TEXT}\n{FENCE}", S1, "schema_echo", "schema_echo", id="T22-f"
    ),
    pytest.param('{"a": 1,}', S1, "syntax", "syntax", id="T28"),
    pytest.param("{'a': 1}", S1, "syntax", "syntax", id="T29"),
    pytest.param('{"a": True}', S1, "syntax", "syntax", id="T30"),
    pytest.param('{"a": 1 /* n */}', S1, "syntax", "syntax", id="T32"),
    pytest.param('{"a": NaN}', S1, "syntax", "non_finite", id="T33"),
    pytest.param('{"a": 1e999}', NUMBER, "syntax", "number_overflow", id="T34"),
    pytest.param('Here: {"a": 1e999} ok', NUMBER, "syntax", "number_overflow", id="T34-prose"),
    pytest.param('{"log": "x\ny"}', S2, "syntax", "control_char", id="T37"),
    pytest.param('{"l": ' + "[" * 1500 + "]" * 1500 + "}", S7, "syntax", "too_deep", id="T40"),
    pytest.param('{"a": {"b": 1}', {"type": "object"}, "syntax", "unclosed", id="T41"),
    pytest.param('{"k":"v"', S7, "syntax", "unclosed", id="T43"),
    pytest.param("} then {", S1, "no_json", "no_json", id="T44"),
    pytest.param("", S1, "empty", "empty", id="T45"),
    pytest.param(" \n\t", S1, "empty", "empty", id="T45-blank"),
    pytest.param("I cannot help", S1, "no_json", "no_json", id="T47"),
    pytest.param("See [1] and [2].", S1, "no_json", "no_json", id="only-citations"),
    pytest.param('<think>{"a": 1}', S1, "no_json", "no_json", id="reasoning-that-never-ends"),
    pytest.param("{'a': {\"a\": 1}}", S1, "syntax", "syntax", id="never-the-inner-object-quotes"),
    pytest.param('{a: {"a": 1}}', S1, "syntax", "syntax", id="never-the-inner-object-names"),
    pytest.param('{"x" {"a": 1}}', S1, "syntax", "syntax", id="never-the-inner-object-colon"),
    pytest.param('Well: {"x": tru, "y": {"a": 1}}', S1, "syntax", "syntax", id="never-the-inner-object-word"),
    pytest.param('Draft {"a": 1}, final {"a": ', S1, "syntax", "unclosed", id="never-the-draft"),
    pytest.param(
        f'Sure: {{"log": "x\n{FENCE}json\n{{\\"log\\": \\"y\\"}}\n{FENCE}"}}',
        S2,
        "syntax",
        "control_char",
        id="a-fence-inside-a-string-is-no-fence",
    ),
    pytest.param(f'{FENCE}json\n{{"a": 1,}}\n{FENCE}', S1, "syntax", "syntax", id="broken-fence"),
    pytest.param('"{\\"a\\": \\"x\\"}"', S1, "invalid", "type", id="double-encoded-and-wrong"),
]


@pytest.mark.parametrize(("reply", "schema", "outcome", "code"), REFUSED)
def test_what_is_wrong_is_named(reply: str, schema: Any, outcome: str, code: str) -> None:
    found = extract_json(reply, schema=schema)
    assert found.outcome == outcome
    names = {d.code for d in found.diagnostics} | {d.keyword for d in found.diagnostics}
    assert code in names, found.diagnostics


def test_a_plain_reply_has_no_notes_and_no_diagnostics() -> None:
    found = extract_json('{"a": 1}', schema=S1)
    assert (found.notes, found.diagnostics, found.prologue, found.epilogue) == ((), (), "", "")


def test_prologue_and_epilogue_are_kept() -> None:
    found = extract_json('Sure!\n{"a": 1}\nHope it helps', schema=S1)
    assert (found.prologue, found.epilogue) == ("Sure!\n", "\nHope it helps")


@pytest.mark.parametrize(
    ("reply", "word"),
    [
        pytest.param('{{"a": 1}}', "braces", id="T25"),
        pytest.param(f'{SCHEMA_TEXT}\n{{"a": 1}}', "schema", id="T21"),
        pytest.param('"{\\"a\\": 1}"', "string", id="double-encoded"),
        pytest.param('<think>x</think>{"a": 1}', "Reasoning", id="T14"),
    ],
)
def test_what_had_to_be_done_is_noted(reply: str, word: str) -> None:
    assert any(word in note for note in extract_json(reply, schema=S1).notes)


def test_of_several_different_values_the_last_is_taken_with_a_warning_T12() -> None:  # noqa: N802
    found = extract_json('{"a": 1}\n{"a": 2}', schema=S1)
    assert (found.outcome, found.value) == ("ok", {"a": 2})
    assert [(d.severity, d.code) for d in found.diagnostics] == [("warning", "ambiguous")]
    strict = extract_json('{"a": 1}\n{"a": 2}', schema=S1, profile="strict")
    assert strict.outcome == "ambiguous"
    assert [d.severity for d in strict.diagnostics] == ["error"]


def test_the_same_value_twice_is_not_ambiguous() -> None:
    assert extract_json('{"a": 1}\n{"a":1}', schema=S1, profile="strict").outcome == "ok"


def test_the_one_that_fits_is_taken_wherever_it_stands() -> None:
    found = extract_json('{"a": 1} or {"a": "x"} or {"b": 2}', schema=S1)
    assert (found.value, found.diagnostics) == ({"a": 1}, ())
    assert [c.status for c in found.candidates] == ["chosen", "invalid", "invalid"]


def test_where_none_fits_the_one_with_fewest_errors_is_diagnosed() -> None:
    found = extract_json('{"b": 1, "c": 2} then {"a": "x"} then {"b": 1}', schema=S1)
    assert found.outcome == "invalid"
    assert found.json_text == '{"a": "x"}'


def test_the_place_of_a_syntax_error_counts_in_the_reply_T28() -> None:  # noqa: N802
    (problem,) = [d for d in extract_json('{"a": 1,}', schema=S1).diagnostics if d.severity == "error"]
    assert (problem.line, problem.column) == (1, 9)
    (problem,) = [d for d in extract_json('Well:\n{"a": 1,}', schema=S1).diagnostics if d.severity == "error"]
    assert (problem.line, problem.column) == (2, 9)


def test_the_place_of_a_schema_error_counts_in_the_reply() -> None:
    reply = 'Here it is:\n\n{"a": "x"} bye'
    (problem,) = extract_json(reply, schema=S1).diagnostics
    assert problem.pointer == "/a"
    assert problem.start is not None
    assert reply[problem.start : problem.end] == '"x"'
    assert problem.line == 3


def test_a_repeated_name_is_a_warning_and_an_error_when_strict_T35() -> None:  # noqa: N802
    reply = '{"a": 1, "a": 2}'
    found = extract_json(reply, schema=S1)
    assert (found.outcome, found.value) == ("ok", {"a": 2})
    assert [(d.code, d.pointer, d.severity) for d in found.diagnostics] == [
        ("duplicate_key", "/a", "warning")
    ]
    assert extract_json(reply, schema=S1, profile="strict").outcome == "invalid"


def test_quotes_that_json_does_not_know_are_named_T29() -> None:  # noqa: N802
    single = extract_json("{'a': 1}", schema=S1).diagnostics[0]
    assert "quot" in (single.message + (single.hint or "")).lower()
    curly = extract_json("{“a”: 1}", schema=S1).diagnostics[0]
    assert "quot" in (curly.message + (curly.hint or "")).lower()


def test_a_cut_reply_has_a_preview_T42() -> None:  # noqa: N802
    found = extract_json('{"a": [1, 2', schema=S7)
    assert (found.outcome, found.partial) == ("syntax", {"a": [1]})


LENIENT = [
    pytest.param('{"a": 1,}', S1, "ok", {"a": 1}, 1, id="T28"),
    pytest.param("{'a': 1}", S1, "ok", {"a": 1}, 1, id="T29"),
    pytest.param("{“a”: 1}", S1, "ok", {"a": 1}, 1, id="T29-curly"),
    pytest.param('{"a": True}', S1, "invalid", {"a": True}, 1, id="T30"),
    pytest.param('{"a": 1 /* n */}', S1, "ok", {"a": 1}, 1, id="T32"),
    pytest.param('{"a": 1, // n\n}', S1, "ok", {"a": 1}, 2, id="T32-line"),
    pytest.param('{"log": "x\ny"}', S2, "ok", {"log": "x\ny"}, 1, id="T37"),
    pytest.param('{"k":"v"', S7, "ok", {"k": "v"}, 1, id="T43"),
    pytest.param('Well {"l": [{"x": 1]} ok', S7, "ok", {"l": [{"x": 1}]}, 1, id="missing-closer-inside"),
    pytest.param("{a: {'b': None}, }", S7, "ok", {"a": {"b": None}}, 4, id="several"),
]


@pytest.mark.parametrize(("reply", "schema", "outcome", "value", "edits"), LENIENT)
def test_mending_lists_every_edit(reply: str, schema: Any, outcome: str, value: Any, edits: int) -> None:
    assert extract_json(reply, schema=schema).outcome == "syntax"
    found = extract_json(reply, schema=schema, lenient=True)
    assert (found.outcome, found.value, len(found.edits)) == (outcome, value, edits)
    assert any("mended" in note for note in found.notes)
    for edit in found.edits:
        assert reply[edit.start : edit.end] != edit.replacement


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param('{"k":"v', id="cut-inside-a-string"),
        pytest.param('{"k":', id="cut-before-a-value"),
        pytest.param('{"k": 1,', id="cut-behind-a-comma"),
        pytest.param('{"k": 1 2}', id="two-values"),
        pytest.param("{'it's': 1}", id="quotes-with-two-readings"),
        pytest.param('{"k": NaN}', id="no-number"),
    ],
)
def test_what_has_no_one_reading_is_not_mended(reply: str) -> None:
    assert extract_json(reply, schema=S7, lenient=True).outcome == "syntax"


def test_diagnostics_of_mended_json_have_their_places_in_the_reply() -> None:
    reply = "Look: {'b': 2, 'a': 'x',}"
    found = extract_json(reply, schema=S1, lenient=True)
    place = next(d for d in found.diagnostics if d.pointer == "/a")
    assert place.start is not None
    assert reply[place.start : place.end] == "'x'"


LINEAR = [
    pytest.param("lorem ipsum dolor sit amet, " * 180_000 + '{"a":1}', id="T51-prose"),
    pytest.param("[" * 5_000_000, id="T51-brackets"),
    pytest.param("{" * 5_000_000 + '"a":1}', id="braces"),
    pytest.param("[1 {x} " * 200_000 + '{"a":1}', id="brackets-in-prose"),
    pytest.param("```a\n" * 500_000 + "```", id="fences-that-do-not-close"),
    pytest.param("```\n[\n" * 300_000, id="fences-with-brackets"),
    pytest.param("<think>" * 700_000 + '{"a":1}', id="tags-that-do-not-close"),
    pytest.param("<think " * 700_000, id="tags-that-do-not-end"),
    pytest.param('{"a": oops </think>' * 250_000 + '{"a":1}', id="drafts"),
    pytest.param('{"' * 2_500_000, id="quotes"),
    pytest.param('{"a":1} ' * 200_000, id="candidates"),
    pytest.param("\\" * 5_000_000, id="backslashes"),
]


@pytest.mark.slow
@pytest.mark.parametrize("reply", LINEAR)
def test_five_megabytes_of_anything_take_a_moment(reply: str) -> None:
    extract_json("warm", schema=S1)
    began = time.process_time()
    extract_json(reply, schema=S1)
    # The target is one second for prose; what is all brackets may take a few. A quadratic scan takes hours.
    assert time.process_time() - began < 5


pieces = st.sampled_from(
    [
        '{"a": 1}',
        '{"a"',
        "{",
        "}",
        "[",
        "]",
        '"',
        "'",
        ":",
        ",",
        "1",
        "null",
        "\\",
        "\n",
        " ",
        "<think>",
        "</think>",
        FENCE,
        f"\n{FENCE}json\n",
        "prose ",
        "\ud800",
        "é",
        "NaN",
        "//",
        '{"a": "x"}',
    ]
)


@settings(max_examples=400, deadline=None)
@given(
    st.lists(pieces, max_size=12).map("".join), st.sampled_from(["smart", "strict", "compat"]), st.booleans()
)
def test_any_reply_gives_a_result_that_agrees_with_itself(reply: str, profile: Any, lenient: bool) -> None:
    found: Extraction = extract_json(reply, schema=S1, profile=profile, lenient=lenient)
    assert found.outcome in ("ok", "no_json", "empty", "syntax", "invalid", "schema_echo", "ambiguous")
    assert found.ok or any(d.severity == "error" for d in found.diagnostics)
    if found.ok:
        assert isinstance(found.value["a"], int)
    for diagnostic in found.diagnostics:
        assert diagnostic.start is None or 0 <= diagnostic.start <= len(reply)
    assert found == extract_json(reply, schema=S1, profile=profile, lenient=lenient)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda v: st.lists(v) | st.dictionaries(st.text(), v),
        max_leaves=8,
    )
)
@settings(max_examples=200, deadline=None)
def test_any_object_is_found_again_in_prose_and_in_a_fence(value: Any) -> None:
    wanted = {"l": value}
    text = json.dumps(wanted, ensure_ascii=False).encode("utf-8", "replace").decode()
    wanted = json.loads(text)
    for reply in (text, f"Here you are: {text} as asked.", f"So:\n{FENCE}json\n{text}\n{FENCE}\nBye {{x}}"):
        assert extract_json(reply, schema=S7).value == wanted
