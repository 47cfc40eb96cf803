"""What holds of every template and all parameters."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.shared_data import shared_data
from workbench.engine.json_text import resolve_pointer
from workbench.engine.templates import (
    DIALECTS,
    ESCAPERS,
    Dialect,
    ObjectGraphPlaceholderReplacerBuilder,
    TemplateOptions,
    parse_template,
    render_graph,
    render_text,
    value_text,
)

SCRAPS = [
    "[%", "%]", "{", "}", "{{", "}}", "\\", "\\\\", "'", '"', "[", "]", ".", " ", "\n", "\r\n", "é", "🙂", "a", "x y",
    "[%param.a%]", "[%param.b.c%]", "[%param.l[*]%]", "[%param.l[0]%]", "[%param.gone%]", "[%sys.x%]", "[%bare%]",
    "[%param.['x y']%]", "{a}", "{x y}", "{gone}", "{{a}}", "{{b.c}}", "{{ l[*] }}", "{{gone}}", "[%param.l[?(@>1)]%]",
]  # fmt: skip
templates = st.lists(st.sampled_from(SCRAPS) | st.text(max_size=4), max_size=14).map("".join)
dialects: st.SearchStrategy[Dialect] = st.sampled_from(DIALECTS)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | templates,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
parameters = st.fixed_dictionaries(
    {},
    optional={
        "a": values,
        "b": st.fixed_dictionaries({"c": values}),
        "l": st.lists(values, max_size=3),
        "x y": values,
    },
)
graphs = st.recursive(
    templates | st.integers() | st.none(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(templates, inner, max_size=3) | st.tuples(inner, inner)
    ),
    max_leaves=10,
)


@given(text=templates, dialect=dialects, escape=st.booleans())
def test_spans_tile_the_text(text: str, dialect: Dialect, escape: bool) -> None:
    parsed = parse_template(text, TemplateOptions(dialect=dialect, literal_escape=escape), names=["a", "x y"])
    end = 0
    for span in parsed.spans:
        assert span.start == end < span.end
        end = span.end
    assert end == len(text)


@given(text=templates, given_parameters=parameters, dialect=dialects)
def test_the_records_rebuild_the_output(
    text: str, given_parameters: dict[str, Any], dialect: Dialect
) -> None:
    options = TemplateOptions(dialect=dialect, optional=("l",))
    rendering = render_text(text, given_parameters, options)
    end = 0
    for use in rendering.placeholders:
        assert end <= use.output_start <= use.output_end
        assert rendering.text[use.output_start : use.output_end] == use.text
        opener, closer = {"context": ("[%", "%]"), "braces": "{}", "double-braces": ("{{", "}}")}[dialect]
        assert text[use.start : use.end] == opener + use.body + closer
        single = "*" not in use.body and "?" not in use.body
        if single and use.status == "resolved" and use.pointer is not None:
            assert use.text == value_text(resolve_pointer(given_parameters, use.pointer))
        end = use.output_end


@given(value=templates, dialect=dialects, escape=st.sampled_from(list(ESCAPERS)))
def test_a_value_is_inert_whatever_it_holds(value: str, dialect: Dialect, escape: str) -> None:
    token = {"context": "[%param.v%]", "braces": "{v}", "double-braces": "{{v}}"}[dialect]
    given_parameters = {"v": value, "a": "A", "b": {"c": "C"}, "l": [1, 2]}
    rendering = render_text(
        f"<{token}|{token}>", given_parameters, TemplateOptions(dialect=dialect, escape=escape)
    )
    inserted = ESCAPERS[escape](value)
    assert rendering.text == f"<{inserted}|{inserted}>"


@given(text=templates, dialect=dialects)
def test_without_parameters_only_backslashes_before_tokens_change(text: str, dialect: Dialect) -> None:
    assert render_text(text, None, TemplateOptions(dialect=dialect, literal_escape=False)).text == text


@given(graph=graphs, given_parameters=parameters, expand=st.booleans())
def test_a_graph_is_filled_as_each_of_its_strings(
    graph: Any, given_parameters: dict[str, Any], expand: bool
) -> None:
    options = TemplateOptions(expand_parameters=expand)
    before = repr(graph)

    def one_by_one(value: Any) -> Any:
        if isinstance(value, str):
            return render_text(value, given_parameters, options).text
        if isinstance(value, list | tuple):
            return type(value)([one_by_one(item) for item in value])
        if isinstance(value, dict):
            return {key: one_by_one(item) for key, item in value.items()}
        return value

    replacement = render_graph(graph, given_parameters, options)
    assert replacement.value == one_by_one(graph)
    assert repr(graph) == before
    for use in replacement.placeholders:
        at = graph
        for step in use.node.split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            at = at[name] if isinstance(at, dict) else at[int(name)]
        assert use.body in at


@given(text=templates, given_parameters=parameters)
def test_the_quick_way_and_the_careful_way_agree(text: str, given_parameters: dict[str, Any]) -> None:
    plain = ObjectGraphPlaceholderReplacerBuilder().text_parameters(given_parameters)
    careful = ObjectGraphPlaceholderReplacerBuilder().text_parameters(given_parameters)
    # A resolver that knows nothing makes every placeholder take the long way.
    careful.context_placeholder_resolver(lambda context, content: None)
    one, two = plain.build().replace(text), careful.build().replace(text)
    assert one.value == two.value
    assert one.placeholders == two.placeholders
    assert one.used_pointers == two.used_pointers


def test_naughty_strings_are_inserted_as_they_are_and_kept_as_templates() -> None:
    strings = json.loads(shared_data("naughty-strings", "blns.json").read_text(encoding="utf-8"))
    for dialect in DIALECTS:
        token = {"context": "[%param.v%]", "braces": "{v}", "double-braces": "{{v}}"}[dialect]
        options = TemplateOptions(dialect=dialect)
        for text in strings:
            assert render_text(f"a{token}b", {"v": text}, options).text == f"a{text}b"
            assert render_text(text, {}, options).text == text
            assert render_text(f"{text}\n{token}", {"v": "V"}, options).text == f"{text}\nV"
