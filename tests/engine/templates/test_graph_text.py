"""Placeholders of an object graph at their places in the JSON text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.json_text import parse_json
from workbench.engine.templates import (
    ConversionError,
    GraphText,
    JsonString,
    TemplateOptions,
    apply_fixes,
    completion_in_graph,
    convert_graph,
    extract_in_graph,
    rename_in_graph,
    render_graph,
)

PARAMETERS = {"name": "Ann", "a.b": "dot", 'q"t': "quote", "user": {"age": 41}}


def _graph(text: str) -> GraphText:
    return GraphText(parse_json(text))


@given(st.text(), st.booleans())
def test_every_character_of_a_string_is_found_in_its_text_and_back(value: str, ascii_only: bool) -> None:
    value = value.encode("utf-8", "replace").decode("utf-8")
    literal = json.dumps(value, ensure_ascii=ascii_only)
    string = JsonString("  " + literal + " ", 2, 2 + len(literal))
    assert string.text == value
    for offset in range(len(value) + 1):
        start, end = string.to_source(offset), string.to_source(min(offset + 1, len(value)))
        assert json.loads('"' + ("  " + literal)[start:end] + '"') == value[offset : offset + 1]
        assert string.to_value(start) == offset


@pytest.mark.parametrize(
    ("source", "token"),
    [
        ('{"a": "Hi [%param.name%]"}', "[%param.name%]"),
        ('{"a": "line\\nquote \\" slash \\\\\\\\ [%param.name%]"}', "[%param.name%]"),
        ('{"a": ["\\u00e9\\ud83d\\ude42 [%param.name%]"]}', "[%param.name%]"),
        ('{"a": "[%param[\\"a.b\\"]%] [%param.[\\"q\\\\\\"t\\"]%]"}', '[%param.[\\"q\\\\\\"t\\"]%]'),
    ],
    ids=["plain", "escapes before it", "surrogate pair before it", "escapes inside it"],
)
def test_a_placeholder_is_found_behind_escapes(source: str, token: str) -> None:
    graph = _graph(source)
    uses = render_graph(graph.document.value, PARAMETERS, TemplateOptions()).placeholders
    start, end = graph.span_of(uses[-1])
    assert source[start:end] == token


def test_the_name_of_a_member_has_its_own_place() -> None:
    source = '{"[%param.name%]": "[%param.name%]"}'
    graph = _graph(source)
    options = TemplateOptions(replace_keys=True)
    uses = render_graph(graph.document.value, PARAMETERS, options).placeholders
    assert sorted((graph.span_of(use), use.is_key) for use in uses) == [((2, 16), True), ((20, 34), False)]


def test_a_diagnostic_and_its_fix_speak_of_the_text() -> None:
    source = '{\n  "a": "tab\\t[%param.Name%]",\n  "b": "[%a.b%]"\n}'
    graph = _graph(source)
    filled = render_graph(graph.document.value, PARAMETERS, TemplateOptions())
    found = graph.located(filled.diagnostics, filled.placeholders, "graph.json")
    assert [(source[d.start : d.end], d.line, d.file) for d in found] == [
        ("[%param.Name%]", 2, "graph.json"),
        ("[%a.b%]", 3, "graph.json"),
    ]
    mended = apply_fixes(source, [found[0].fixes[0]])
    assert json.loads(mended)["a"] == "tab\t[%param.name%]"
    literal = apply_fixes(source, [next(f for f in found[0].fixes if "literal" in f.title)])
    assert json.loads(literal)["a"] == "tab\t\\[%param.Name%]"


def test_a_renamed_parameter_is_renamed_in_every_string() -> None:
    source = '{"a": "\\t[%param.name%]", "b": ["[%param.user.age%]", "[%param[\\"name\\"]%]"], "c": "name"}'
    graph = _graph(source)
    text = apply_fixes(source, rename_in_graph(graph, "/name", 'the "name"'))
    value = json.loads(text)
    parameters = {'the "name"': "Ann", "user": {"age": 41}}
    filled = render_graph(value, parameters, TemplateOptions()).value
    assert filled["a"] == "\tAnn"
    assert filled["b"][0] == "41"
    assert filled["c"] == "name"


def test_a_selection_becomes_a_parameter() -> None:
    source = '{"a": "say \\"hello\\" now"}'
    start, end = source.index('\\"hello'), source.index(" now")
    made = extract_in_graph(_graph(source), start, end, "greeting")
    assert made.value == '"hello"'
    assert json.loads(made.text) == {"a": "say [%param.greeting%] now"}
    for outside in ((0, 3), (4, 9)):
        with pytest.raises(ValueError, match="inside one string"):
            extract_in_graph(_graph(source), *outside, "x")


@pytest.mark.parametrize("target", ["braces", "double-braces"])
def test_the_dialect_of_a_graph_changes_and_comes_back(target: str) -> None:
    source = '{ "a" : "caf\\u00e9", "b": "{literal} [%param.name%]\\n" }'
    options = TemplateOptions()
    there = convert_graph(_graph(source), options, target, names=PARAMETERS)
    assert '"caf\\u00e9"' in there  # a string that stays is not written anew
    new = TemplateOptions(dialect=target)
    filled = render_graph(json.loads(there), PARAMETERS, new).value
    assert filled == {"a": "café", "b": "{literal} Ann\n"}
    assert json.loads(convert_graph(_graph(there), new, "context", names=PARAMETERS)) == json.loads(source)


def test_a_dialect_that_cannot_say_it_is_refused_with_the_place_in_the_text() -> None:
    source = '{\n "a": "x\\n[%param.user.age%]"}'
    with pytest.raises(ConversionError) as refused:
        convert_graph(_graph(source), TemplateOptions(), "braces", names=PARAMETERS)
    found = refused.value.diagnostics[0]
    assert source[found.start : found.end] == "[%param.user.age%]"
    assert found.line == 2


@pytest.mark.parametrize(
    ("source", "dialect", "expected"),
    [
        ('{"a": "Hi [%param.na|"}', "context", '{"a": "Hi [%param.name%]"}'),
        ('{"a": "Hi\\t[%param.na|%]"}', "context", '{"a": "Hi\\t[%param.name%]"}'),
        ('{"a": "Hi [%param.na|', "context", '{"a": "Hi [%param.name%]'),
        ('{"k": 1, "a": "{{na|}}"}', "double-braces", '{"k": 1, "a": "{{name}}"}'),
        ('{"a": "{na|"}', "braces", '{"a": "{name}"}'),
        ('{"a": "[%param.[\'a|"}', "context", '{"a": "[%param.[\'a.b\']%]"}'),
    ],
    ids=["open", "closed", "text broken off", "double braces", "braces", "quoted name"],
)
def test_completion_works_inside_a_string(source: str, dialect: str, expected: str) -> None:
    offset = source.index("|")
    text = source.replace("|", "")
    found = completion_in_graph(text, offset, PARAMETERS, TemplateOptions(dialect=dialect))
    assert found is not None
    chosen = found.candidates[0].text + found.closing
    assert text[: found.start] + chosen + text[found.end :] == expected


def test_a_completed_name_with_a_quote_is_escaped() -> None:
    text = '{"a": "[%param."}'
    found = completion_in_graph(text, text.index('"}'), PARAMETERS, TemplateOptions())
    quoted = next(c.text for c in found.candidates if "q" in c.text)
    made = text[: found.start] + quoted + found.closing + text[found.end :]
    assert render_graph(json.loads(made), PARAMETERS, TemplateOptions()).value == {"a": "quote"}


@pytest.mark.parametrize("source", ['{"a": 1|}', "|", '{"a|": 1}', '"x"|', '{"a": "done" |, "b": "[%param.'])
def test_nothing_is_offered_outside_an_open_placeholder(source: str) -> None:
    assert completion_in_graph(source.replace("|", ""), source.index("|"), PARAMETERS) is None


@given(st.text(max_size=60), st.integers(0, 60))
def test_any_text_at_any_place_is_survived(text: str, offset: int) -> None:
    completion_in_graph(text, min(offset, len(text)), PARAMETERS)
    graph = _graph(text)
    graph.string_at(offset)
    list(graph.strings(keys=True))
