"""Converting templates between dialects: what is kept, and what is refused where."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.templates import (
    ConversionError,
    Dialect,
    TemplateOptions,
    convert_template,
    converted_options,
    placeholder_roots,
    render_text,
    template_names,
)

CONTEXTS = {"sys": {"date": "today"}}
FIELDS = {"mail": "a@b"}


def options(dialect: Dialect) -> TemplateOptions:
    return TemplateOptions(dialect=dialect, contexts=CONTEXTS, fields=FIELDS)


@pytest.mark.parametrize(
    ("source", "target", "text", "expected"),
    [
        ("context", "double-braces", "Hi [%param.user.name%]!", "Hi {{user.name}}!"),
        ("context", "double-braces", "[%param.$.items[*].n%]", "{{$.items[*].n}}"),
        ("context", "double-braces", "[%sys.date%] [%mail%]", "{{sys.date}} {{mail}}"),
        ("context", "double-braces", r"\[%x%] \{{y}} {{z}}", r"[%x%] \\\{{y}} \{{z}}"),
        ("context", "double-braces", r"\\[%param.x%]", r"\\{{x}}"),
        ("context", "braces", "[%param.name%] [%param.['x y']%] {a}", "{name} {x y} {a}"),
        ("context", "braces", "[%param.name%] {name}", r"{name} \{name}"),
        ("double-braces", "context", "a {{ user.name }} {x}", "a [% param.user.name %] {x}"),
        ("double-braces", "context", '{"j": {"k": 1}} [%q.r%]', r'{"j": {"k": 1}} \[%q.r%]'),
        ("double-braces", "braces", "{{name}} {{{name}}}", "{name} {{name}}"),
        ("braces", "context", '{name} {"j": 1}', '[%param.name%] {"j": 1}'),
        ("braces", "double-braces", r"\{name} {name}", "{name} {{name}}"),
        ("context", "context", "[%param.x%]", "[%param.x%]"),
    ],
)
def test_a_template_converts(source: Dialect, target: Dialect, text: str, expected: str) -> None:
    assert convert_template(text, options(source), target, names=["name"]) == expected


@pytest.mark.parametrize(
    ("source", "target", "text", "start", "reason"),
    [
        ("context", "braces", "a [%param.user.name%]", 2, "path"),
        ("context", "braces", "[%param.$.x%]", 0, "path|spelling"),
        ("context", "braces", "ab [%sys.date%]", 3, "context"),
        ("context", "double-braces", "x [%other.date%]", 2, "no parameter"),
        ("context", "double-braces", "x [%unknown%]", 2, "no parameter"),
        ("context", "double-braces", "[%param.sys.date%]", 0, "context sys"),
        ("context", "double-braces", "[%param.mail%]", 0, "field"),
        ("double-braces", "braces", "{{ name }}", 0, "blanks"),
        ("double-braces", "braces", "{{items[*]}}", 0, "path"),
        ("context", "double-braces", "[%param. x%]", 0, "blanks"),
    ],
)
def test_what_would_be_lost_is_refused_with_its_place(
    source: Dialect, target: Dialect, text: str, start: int, reason: str
) -> None:
    with pytest.raises(ConversionError, match=reason) as caught:
        convert_template(text, options(source), target)
    assert caught.value.diagnostics[0].start == start
    assert caught.value.diagnostics[0].line == 1


def test_every_place_that_cannot_be_converted_is_named() -> None:
    with pytest.raises(ConversionError) as caught:
        convert_template("[%param.a.b%]\n[%param.c%] [%sys.date%]", options("context"), "braces")
    assert [(d.line, d.column) for d in caught.value.diagnostics] == [(1, 1), (2, 13)]


def test_names_that_are_declared_with_marks_lose_them() -> None:
    old = TemplateOptions(dialect="braces", required=("{input}",), optional=("q",))
    new = converted_options(old, "context")
    assert (new.dialect, new.required, new.optional) == ("context", ("input",), ("q",))
    text = convert_template("a {input}\n{q}\nb", old, "context")
    parameters = {"input": "i"}
    assert render_text(text, parameters, new).text == render_text("a {input}\n{q}\nb", parameters, old).text


PIECES = st.lists(
    st.sampled_from(
        [
            "[%", "%]", "{", "}", "{{", "}}", "\\", "'", '"', "[", "]", ".", " ", "\n", "a", "name", "x y", "param",
            "[%param.name%]", "[%param.a.b%]", "[%param.['x y']%]", "[%sys.date%]", "[%mail%]", "{name}", "{{name}}",
            "{{ a.b }}", "{{['x y']}}", "\\[%param.name%]", "\\{name}", "\\{{name}}", "[% param.name %]", "{mail}",
        ]
    ),
    max_size=12,
)  # fmt: skip
PARAMETERS: dict[str, Any] = {"name": "N", "a": {"b": "B"}, "x y": "S"}


@given(pieces=PIECES, source=st.sampled_from(["context", "braces", "double-braces"]), data=st.data())
def test_the_way_there_and_back_is_the_identity(
    pieces: list[str], source: Dialect, data: st.DataObject
) -> None:
    target = data.draw(st.sampled_from(["context", "braces", "double-braces"]))
    text = "".join(pieces)
    names = list(PARAMETERS)
    old = options(source)
    try:
        converted = convert_template(text, old, target, names=names)
    except ConversionError:
        return  # what a refusal says is tested above
    new = converted_options(old, target)
    roots = placeholder_roots(text, old, names=names)
    assert convert_template(converted, new, source, names=[*names, *roots]) == text
    # … and both texts say the same.
    assert render_text(converted, PARAMETERS, new).text == render_text(text, PARAMETERS, old).text or (
        placeholder_roots(text, old, names=names) - set(PARAMETERS)
    )


def test_text_that_would_name_a_parameter_in_braces_stays_text() -> None:
    parameters = {"name": "N", "age": 41}
    old = TemplateOptions()
    text = "[%param.name%] {age}"
    converted = convert_template(text, old, "braces", names=template_names(parameters, old))
    new = converted_options(old, "braces")
    assert (
        render_text(converted, parameters, new).text == render_text(text, parameters, old).text == "N {age}"
    )


def test_a_long_run_of_escaped_tokens_is_converted_in_linear_time() -> None:
    text = "\\[%param.a%] " * 200_000
    began = time.perf_counter()
    assert convert_template(text, options("context"), "double-braces") == "[%param.a%] " * 200_000
    assert time.perf_counter() - began < 10
