"""The tokeniser: spans of all three dialects, and how a token is made literal text."""

from __future__ import annotations

import time

import pytest

from workbench.engine.templates import DIALECTS, Dialect, TemplateOptions, parse_template

NAMES = ("input", "chunks", "a}b", "x y", "名前")


def pieces(text: str, dialect: Dialect, **settings: object) -> list[tuple[str, str]]:
    parsed = parse_template(text, TemplateOptions(dialect=dialect, **settings), names=NAMES)  # type: ignore[arg-type]
    return [(span.kind[0], text[span.start : span.end]) for span in parsed.spans]


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        pytest.param("context", "", [], id="empty"),
        pytest.param("context", "a[%p.x%]b", [("l", "a"), ("p", "[%p.x%]"), ("l", "b")], id="context"),
        pytest.param("context", "[%p.x%][%y%]", [("p", "[%p.x%]"), ("p", "[%y%]")], id="adjacent"),
        pytest.param("context", "[%a [%b%]", [("l", "[%a "), ("p", "[%b%]")], id="inner-restarts"),
        pytest.param("context", r"\[%b%]", [("e", r"\[%b%]")], id="escaped"),
        pytest.param("context", r"\\[%b%]", [("e", r"\\"), ("p", "[%b%]")], id="halved"),
        pytest.param("context", r"x\[%b", [("l", r"x\[%b")], id="no-token-no-escape"),
        pytest.param("context", r"\[%%]", [("l", r"\[%%]")], id="empty-token-no-escape"),
        pytest.param("context", "[%p.a\nb%]", [("p", "[%p.a\nb%]")], id="over-lines"),
        pytest.param("context", "[%]%]", [("p", "[%]%]")], id="marks-do-not-overlap"),
        pytest.param("context", "{a} {{b}} ${c}", [("l", "{a} {{b}} ${c}")], id="foreign-marks"),
        pytest.param("double-braces", "a {{x.y}}!", [("l", "a "), ("p", "{{x.y}}"), ("l", "!")], id="double"),
        pytest.param("double-braces", "{{{x}}}", [("l", "{"), ("p", "{{x}}"), ("l", "}")], id="triple"),
        pytest.param("double-braces", "{{a {{b}}", [("l", "{{a "), ("p", "{{b}}")], id="double-restarts"),
        pytest.param("double-braces", '{"a": {"b": 1}}', [("l", '{"a": {"b": 1}}')], id="json"),
        pytest.param("double-braces", r"\{{x}}", [("e", r"\{{x}}")], id="double-escaped"),
        pytest.param("double-braces", "{{['}}']}}", [("p", "{{['}}']}}")], id="double-quoted"),
        pytest.param("double-braces", "{{ }}", [("l", "{{ }}")], id="double-empty"),
        pytest.param("braces", "{input} {other}", [("p", "{input}"), ("l", " {other}")], id="braces"),
        pytest.param(
            "braces", '{"q": "{input}"}', [("l", '{"q": "'), ("p", "{input}"), ("l", '"}')], id="b-json"
        ),
        pytest.param("braces", "{a}b}", [("p", "{a}b}")], id="name-with-brace"),
        pytest.param("braces", "{x y}{名前}", [("p", "{x y}"), ("p", "{名前}")], id="any-name"),
        pytest.param("braces", "{{input}}", [("l", "{"), ("p", "{input}"), ("l", "}")], id="b-doubled"),
        pytest.param(
            "braces", r"\{input} \{other}", [("e", r"\{input}"), ("l", r" \{other}")], id="b-escaped"
        ),
        pytest.param("braces", "{ input }{Input}", [("l", "{ input }{Input}")], id="b-exact"),
    ],
)
def test_text_is_cut_into(dialect: Dialect, text: str, expected: list[tuple[str, str]]) -> None:
    assert pieces(text, dialect) == expected


@pytest.mark.parametrize("dialect", DIALECTS)
def test_without_the_escape_a_backslash_is_text(dialect: Dialect) -> None:
    token = {"context": "[%p.x%]", "braces": "{input}", "double-braces": "{{x}}"}[dialect]
    assert pieces("\\" + token, dialect, literal_escape=False) == [("l", "\\"), ("p", token)]


def test_only_declared_names_are_placeholders_in_braces() -> None:
    options = TemplateOptions(dialect="braces", required=("q",), optional=("{o}",), fields={"f": "F"})
    parsed = parse_template("{q}{o}{f}{n}{x}", options, names=["n"])
    assert [span.body for span in parsed.placeholders] == ["q", "o", "f", "n"]
    assert [d.code for d in parsed.diagnostics] == ["unknown_placeholder"]


@pytest.mark.parametrize(
    ("text", "code", "replacement"),
    [
        ("{ input }", "blanks_in_placeholder", "{input}"),
        ("{INPUT}", "wrong_case", "{input}"),
        ("{imput}", "unknown_placeholder", "{input}"),
        ("{{input}}", "doubled_braces", "{input}"),
    ],
)
def test_a_misspelt_word_in_braces_comes_with_its_correction(text: str, code: str, replacement: str) -> None:
    parsed = parse_template(f"é\n{text}", TemplateOptions(dialect="braces"), names=["input"])
    (diagnostic,) = parsed.diagnostics
    assert diagnostic.code == code
    assert (diagnostic.line, diagnostic.column) == (2, 1)
    assert [fix.replacement for fix in diagnostic.fixes] == [replacement]


def test_the_parse_is_cached_by_text_and_dialect() -> None:
    options = TemplateOptions()
    assert parse_template("a [%p.x%]", options) is parse_template("a [%p.x%]", TemplateOptions())
    assert parse_template("a {{x}}", options) is not parse_template(
        "a {{x}}", TemplateOptions(dialect="double-braces")
    )


HOSTILE = {
    "openers": "[%",
    "braces": "{",
    "double-braces": "{{",
    "brackets-and-quotes": "[%a['",
    "escaped-quotes": "[%a[\\'",
    "open-quotes": '[%a["\\"',
    "closing": "%]",
    "backslashes": "\\",
    "quoted": "[%a['[%b']",
    "braced-quotes": "{{a['",
    "words": "{x",
    "quote-then-letter": "[%a['b'c",
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_repetition_is_read_in_linear_time(dialect: Dialect, unit: str) -> None:
    text = unit * (400_000 // len(unit))
    started = time.process_time()
    parsed = parse_template(text, TemplateOptions(dialect=dialect), names=["input", "{" * 50_000, "a}" * 50])
    assert time.process_time() - started < 2
    assert "".join(text[s.start : s.end] for s in parsed.spans) == text


def test_unknown_words_are_compared_with_many_names_only_so_long() -> None:
    names = [f"parameter{number}" for number in range(3000)]
    text = "".join(f"{{word{number}xyz}} " for number in range(1500)) + "{Parameter7} {parametr8}"
    began = time.perf_counter()
    found = parse_template(text, TemplateOptions(dialect="braces"), names=names).diagnostics
    assert time.perf_counter() - began < 2
    assert len(found) == 1502
    assert "did you mean {parameter7}?" in str(found[-2].hint)


def test_the_first_unknown_words_get_the_name_that_was_meant() -> None:
    names = [f"parameter{number}" for number in range(3000)]
    (found,) = parse_template("{parametr8}", TemplateOptions(dialect="braces"), names=names).diagnostics
    assert "did you mean {parameter8}?" in str(found.hint)
