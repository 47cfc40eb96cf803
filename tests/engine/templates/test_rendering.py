"""Filling the prompts of a project: messages, dialects, declared placeholders, contexts, fields, diagnostics."""

from __future__ import annotations

import time
from typing import Any

import pytest

from workbench.engine.templates import (
    CompiledTemplate,
    Dialect,
    MessageTemplate,
    TemplateOptions,
    render_graph,
    render_prompt,
    render_text,
    unused_parameters,
)

BRACES = TemplateOptions(dialect="braces", required=("input", "chunks"), optional=("queries",))
DOUBLE = TemplateOptions(dialect="double-braces")
RAG = "Q: {input}\nC: {chunks}\nS: {queries}\nEnd"


def codes(diagnostics: Any) -> list[str]:
    return [diagnostic.code for diagnostic in diagnostics]


@pytest.mark.parametrize(
    ("dialect", "template", "expected"),
    [
        ("context", "[%param.user.name%] [%param.tags[0]%]", "Ann x"),
        ("double-braces", "{{user.name}} {{ tags[0] }} {{tags[*]}}", "Ann x x, y"),
        ("double-braces", r"\{{user.name}} \\{{user.name}}", r"{{user.name}} \Ann"),
        ("double-braces", '{"a": {"b": "{{user.name}}"}}', '{"a": {"b": "Ann"}}'),
        ("braces", "{city} {user} {other}", 'Graz {"name": "Ann"} {other}'),
        ("braces", r"\{city} \\{city} \{other}", r"{city} \Graz \{other}"),
        ("braces", "{名前}", "太郎"),
        ("double-braces", "{{名前}}", "太郎"),
    ],
)
def test_each_dialect_fills_its_placeholders(dialect: Dialect, template: str, expected: str) -> None:
    parameters = {"user": {"name": "Ann"}, "tags": ["x", "y"], "city": "Graz", "名前": "太郎"}
    assert render_text(template, parameters, TemplateOptions(dialect=dialect)).text == expected


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"input": "i", "chunks": "c", "queries": "q"}, "Q: i\nC: c\nS: q\nEnd"),
        ({"input": "i", "chunks": "c", "queries": None}, "Q: i\nC: c\nEnd"),
        ({"input": "i", "chunks": "c"}, "Q: i\nC: c\nEnd"),
        ({"input": "i", "chunks": "c", "queries": ""}, "Q: i\nC: c\nS: \nEnd"),
        ({"input": "{chunks}", "chunks": "{queries}"}, "Q: {chunks}\nC: {queries}\nEnd"),
        ({"input": "i", "chunks": None}, "Q: i\nC: \nEnd"),
        ({"input": True, "chunks": 1.0, "queries": [1]}, "Q: true\nC: 1.0\nS: [1]\nEnd"),
    ],
)
def test_an_optional_placeholder_without_a_value_takes_its_line_along(
    parameters: dict[str, Any], expected: str
) -> None:
    assert render_text(RAG, parameters, BRACES).text == expected


def test_what_a_dropped_line_held_is_recorded_as_empty() -> None:
    rendering = render_text(RAG, {"input": "i", "chunks": "c"}, BRACES)
    dropped = rendering.placeholders[2]
    assert (dropped.body, dropped.status, dropped.text) == ("queries", "empty", "")
    assert dropped.diagnostic is not None
    assert dropped.diagnostic.code == "line_dropped"
    for use in rendering.placeholders[:2]:
        assert rendering.text[use.output_start : use.output_end] == use.text


@pytest.mark.parametrize(
    ("dialect", "template"),
    [("context", "a\nS: [%param.q%]\nb"), ("double-braces", "a\nS: {{ q }}\nb"), ("braces", "a\nS: {q}\nb")],
)
def test_optional_placeholders_exist_in_every_dialect(dialect: Dialect, template: str) -> None:
    options = TemplateOptions(dialect=dialect, optional=("q",), unresolved="error")
    assert render_text(template, {}, options).text == "a\nb"
    assert render_text(template, {"q": None}, options).text == "a\nb"
    assert render_text(template, {"q": 1}, options).text == "a\nS: 1\nb"


def test_a_line_with_a_required_placeholder_is_never_dropped() -> None:
    rendering = render_text("Q: {input} {queries}\nC: {chunks}", {"input": "i", "chunks": "c"}, BRACES)
    assert rendering.text == "Q: i {queries}\nC: c"
    (problem,) = [d for d in rendering.diagnostics if d.severity == "error"]
    assert problem.code == "required_on_dropped_line"
    assert "queries" in problem.message
    assert "input" in problem.message


@pytest.mark.parametrize(
    ("template", "plain", "collapsed"),
    [
        ("a\n\n{q}\n\nb", "a\n\n\nb", "a\n\nb"),
        ("{q}\n\nb", "\nb", "b"),
        ("a\n\n{q}", "a\n", "a"),
        ("a\n{q}\nb", "a\nb", "a\nb"),
        ("a\n\n{q}\n{q}\n\n\nb\n\n\nc", "a\n\n\n\nb\n\n\nc", "a\n\nb\n\n\nc"),
    ],
)
def test_blank_lines_around_a_dropped_line_stay_unless_they_are_collapsed(
    template: str, plain: str, collapsed: str
) -> None:
    options = TemplateOptions(dialect="braces", optional=("q",))
    assert render_text(template, {}, options).text == plain
    options = TemplateOptions(dialect="braces", optional=("q",), collapse_blank_lines=True)
    assert render_text(template, {}, options).text == collapsed


def test_a_required_placeholder_that_no_message_holds_is_an_error_of_the_prompt() -> None:
    messages = [MessageTemplate("system", "Use {chunks}."), MessageTemplate("user", "{imput}")]
    prompt = render_prompt(messages, {"input": "i", "chunks": "c"}, BRACES)
    assert codes(d for d in prompt.diagnostics if d.severity == "error") == ["required_absent"]
    messages[1] = MessageTemplate("user", "{input}")
    assert prompt.messages[0].diagnostics == ()
    assert render_prompt(messages, {"input": "i", "chunks": "c"}, BRACES).diagnostics == ()


@pytest.mark.parametrize(
    ("dialect", "name", "template", "shown"),
    [
        ("context", "input", "[%param.input%]", "[%param.input%]"),
        ("context", "param.input", "[% param.input %]", "[%param.input%]"),
        ("context", "sys.day", "[%sys.day%]", "[%sys.day%]"),
        ("double-braces", "{{a.b}}", "{{ a.b }}", "{{a.b}}"),
        ("braces", "{input}", "{input}", "{input}"),
    ],
)
def test_a_required_placeholder_is_named_as_it_must_be_written(
    dialect: Dialect, name: str, template: str, shown: str
) -> None:
    options = TemplateOptions(dialect=dialect, required=(name,))
    (problem,) = render_text("nothing", {}, options).diagnostics
    assert shown in problem.message
    assert "required_absent" not in codes(render_text(template, {}, options).diagnostics)
    assert "required_absent" in codes(render_graph(["nothing"], {}, options).diagnostics)


def test_messages_keep_their_roles_and_know_their_nodes() -> None:
    messages = [
        MessageTemplate("[%param.role%]", "You serve [%param.company%]."),
        MessageTemplate("user", "no placeholder"),
        MessageTemplate("user", "[%param.missing%]"),
    ]
    prompt = render_prompt(messages, {"company": "ACME", "role": "user"})
    assert [(m.role, m.text) for m in prompt.messages] == [
        ("[%param.role%]", "You serve ACME."),
        ("user", "no placeholder"),
        ("user", "[%param.missing%]"),
    ]
    assert [use.node for use in prompt.placeholders] == ["/0/content", "/2/content"]
    assert prompt.used_pointers == {"/company", "/missing"}
    (problem,) = prompt.diagnostics
    assert (problem.node, problem.code, problem.severity) == ("/2/content", "missing", "warning")


@pytest.mark.parametrize(
    ("mode", "severity"), [("keep", "warning"), ("empty", "warning"), ("error", "error")]
)
def test_the_severity_of_an_unresolved_placeholder_follows_the_mode(mode: Any, severity: str) -> None:
    rendering = render_text("[%param.x%]", {}, TemplateOptions(unresolved=mode))
    assert rendering.diagnostics[0].severity == severity


def test_contexts_and_fields_of_the_options_answer_first() -> None:
    options = TemplateOptions(
        contexts={"sys": {"date": "today"}, "param": {"shadowed": "context"}}, fields={"mail": "a@b"}
    )
    template = "[%sys.date%] [%param.shadowed%] [%param.plain%] [%mail%] [%sys.time%] [%phone%]"
    rendering = render_text(template, {"shadowed": "parameter", "plain": "p"}, options)
    assert rendering.text == "today context p a@b [%sys.time%] [%phone%]"
    assert [use.source for use in rendering.placeholders] == [
        "context", "context", "parameter", "field", None, None,
    ]  # fmt: skip
    assert codes(rendering.diagnostics) == ["unknown_key", "no_context"]


def test_in_a_project_a_field_without_a_text_is_unresolved() -> None:
    options = TemplateOptions(unresolved="error")
    (problem,) = render_text("[%mail%]", {}, options).diagnostics
    assert problem.severity == "error"
    assert render_text("<[%mail%]>", {}, TemplateOptions(unresolved="empty")).text == "<>"


def test_contexts_and_fields_work_in_double_braces_too() -> None:
    options = TemplateOptions(
        dialect="double-braces", contexts={"sys": {"date": "today"}}, fields={"mail": "a@b"}
    )
    rendering = render_text("{{sys.date}} {{sys.other}} {{ mail }}", {"sys": {"other": 1}}, options)
    assert rendering.text == "today 1 a@b"


def test_parameters_are_expanded_once_when_the_options_say_so() -> None:
    options = TemplateOptions(expand_parameters=True)
    parameters = {
        "greeting": "Hi [%param.name%] [%param.gone%]",
        "name": "Ann",
        "idle": "[%param.also_gone%]",
    }
    rendering = render_text("[%param.greeting%]!", parameters, options)
    assert rendering.text == "Hi Ann [%param.gone%]!"
    assert rendering.used_pointers == {"/greeting", "/name", "/gone"}
    (problem,) = rendering.diagnostics
    assert problem.pointer == "/greeting"
    assert "gone" in problem.message


def test_a_graph_is_filled_without_raising_and_knows_its_problems() -> None:
    graph = {"messages": [{"role": "user", "content": "[%param.a%] [%param.b%]"}]}
    options = TemplateOptions(unresolved="error")
    replacement = render_graph(graph, {"a": 1}, options)
    assert replacement.value == {"messages": [{"role": "user", "content": "1 [%param.b%]"}]}
    assert [(d.severity, d.node) for d in replacement.diagnostics] == [("error", "/messages/0/content")]
    assert replacement.used_pointers == {"/a", "/b"}


@pytest.mark.parametrize(
    ("template", "parameters", "hint", "fix"),
    [
        ("[%param.usr.name%]", {"user": {"name": 1}}, "user.name", "[%param.user.name%]"),
        ("[%param.User%]", {"user": 1}, "case counts", "[%param.user%]"),
        ("[%parm.user%]", {"user": 1}, "did you mean", "[%param.user%]"),
        ("[%param.a.b%]", {"a.b": 1}, "quote", "[%param.['a.b']%]"),
        ("[%param.a.b.c%]", {"a.b": {"c": 1}}, "quote", "[%param.['a.b'].c%]"),
        ("[%param.@org/x%]", {"@org/x": 1}, "quote", "[%param.['@org/x']%]"),
        ("[%user%]", {"user": 1}, "did you mean", "[%param.user%]"),
        ("[%param['user']%]", {"user": 1}, "write", "[%param.['user']%]"),
    ],
)
def test_a_quick_fix_leads_to_the_value(template: str, parameters: Any, hint: str, fix: str) -> None:
    (use,) = render_text(template, parameters).placeholders
    assert use.diagnostic is not None
    assert hint in (use.diagnostic.hint or "")
    change = use.diagnostic.fixes[0]
    assert change.replacement == fix
    mended = template[: change.start] + change.replacement + template[change.end :]
    assert render_text(mended, parameters).text in ("1", '{"c": 1}')


@pytest.mark.parametrize(
    ("dialect", "template"),
    [("context", "a [%param.x%]"), ("context", r"a \\[%param.x%]"), ("double-braces", "{{x}}")],
)
def test_a_quick_fix_makes_the_token_literal(dialect: Dialect, template: str) -> None:
    options = TemplateOptions(dialect=dialect)
    (use,) = render_text(template, {}, options).placeholders
    assert use.diagnostic is not None
    change = use.diagnostic.fixes[-1]
    mended = template[: change.start] + change.replacement + template[change.end :]
    rendering = render_text(mended, {}, options)
    assert rendering.placeholders == ()
    assert rendering.text == render_text(template, {}, options).text


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("user.name.first", "single value"),
        ("tags.name", "is a list"),
        ("tags[7]", "has 2 items"),
        ("user[0]", "is an object"),
        ("none.x", "null"),
    ],
)
def test_a_wrong_turn_in_a_path_is_explained(path: str, reason: str) -> None:
    parameters = {"user": {"name": "Ann"}, "tags": ["x", "y"], "none": None}
    (use,) = render_text(f"[%param.{path}%]", parameters).placeholders
    assert use.diagnostic is not None
    assert reason in use.diagnostic.message


def test_surprising_types_are_noted() -> None:
    parameters = {"list": [1, 2], "map": {"a": 1}, "null": None, "text": "t"}
    template = "[%param.list%] [%param.map%] [%param.null%] [%param.list[*]%] [%param.text%]"
    rendering = render_text(template, parameters)
    assert [(d.severity, d.code) for d in rendering.diagnostics] == [
        ("info", "array_as_json"),
        ("info", "object_as_json"),
        ("info", "null_as_text"),
        ("info", "many_matches"),
    ]
    assert all(use.diagnostic is None for use in rendering.placeholders)


def test_unused_parameters_are_named_once_and_at_the_outside() -> None:
    parameters = {
        "user": {"name": "Ann", "age": 41, "home": {"city": "Graz", "zip": 1}},
        "items": [{"n": 1, "price": 2}],
        "spare": {"deep": {"er": 1}},
        "a/b": 1,
    }
    template = "[%param.user.name%] [%param.user.home.city%] [%param.items[?(@.price>1)].n%]"
    used = render_text(template, parameters).used_pointers
    assert used == {"/user/name", "/user/home/city", "/items"}
    found = unused_parameters(parameters, used)
    assert [d.pointer for d in found] == ["/user/age", "/user/home/zip", "/spare", "/a~1b"]
    assert {d.code for d in found} == {"unused_parameter"}


def test_a_value_that_is_used_as_a_whole_has_no_unused_parts() -> None:
    assert unused_parameters({"a": {"b": 1}}, ["/a"]) == []
    assert unused_parameters({"a": {"b": 1}}, [""]) == []
    assert unused_parameters([1], []) == []


def test_rendering_again_reads_the_parameters_as_they_are_now() -> None:
    template = CompiledTemplate("Hi [%param.name%]")
    parameters = {"name": "Ann"}
    first = template.render(parameters)
    parameters["name"] = "Bob"
    second = template.render(parameters)
    assert (first.text, second.text) == ("Hi Ann", "Hi Bob")
    assert first.placeholders[0].text == "Ann"


def test_values_that_are_no_json_are_reported_and_never_asked_for_attributes() -> None:
    class Leaky:
        password = "secret"

        def __str__(self) -> str:
            return "secret"

    rendering = render_text("[%param.u%] [%param.u.password%] [%param.n%]", {"u": Leaky(), "n": float("nan")})
    assert "secret" not in rendering.text
    assert [d.code for d in rendering.diagnostics] == ["not_json", "missing", "not_json"]


def test_a_template_of_100_kb_with_1000_placeholders_is_filled_within_20_ms() -> None:
    text = "".join(f"{'word ' * 17}[%param.rows[{i}].name%]" for i in range(1000))
    assert len(text) > 100_000
    parameters = {"rows": [{"name": f"n{i}"} for i in range(1000)]}
    times = []
    for attempt in range(5):
        fresh = text + "!" * attempt  # a new text each time: nothing comes from a cache
        started = time.process_time()
        rendering = render_text(fresh, parameters)
        times.append(time.process_time() - started)
        assert rendering.text.count("n9") > 1
    assert min(times[1:]) < 0.020


def test_a_keystroke_in_a_usual_template_costs_less_than_5_ms() -> None:
    text = "".join(f"{'word ' * 30}[%param.user.field{i}%]\n" for i in range(20))
    parameters = {"user": {f"field{i}": i for i in range(20)}}
    times = []
    for attempt in range(8):
        started = time.process_time()
        rendering = render_text(text + "x" * attempt, parameters)
        assert len(rendering.placeholders) == 20
        assert rendering.diagnostics == ()
        times.append(time.process_time() - started)
    assert min(times[1:]) < 0.005


def test_a_thousand_unresolved_placeholders_are_explained_without_delay() -> None:
    text = "".join(f"[%param.nam{i}%] " for i in range(1000))
    parameters = {f"name{i}": i for i in range(1000)}
    started = time.process_time()
    rendering = render_text(text, parameters)
    assert len(rendering.diagnostics) == 1000
    assert rendering.diagnostics[0].fixes[0].replacement == "[%param.name0%]"
    assert time.process_time() - started < 0.5
