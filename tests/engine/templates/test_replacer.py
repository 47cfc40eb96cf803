"""The object-graph replacer of the reference system: the case table of its contract, and its builder."""

from __future__ import annotations

import json
import time
from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from typing import Any

import pytest

from workbench.engine.json_text import parse_json
from workbench.engine.templates import (
    KeyCollisionError,
    ObjectGraphPlaceholderReplacerBuilder,
    TextParametersError,
    UnresolvedPlaceholderError,
    escapers,
    render_text,
)

PARAMETERS: dict[str, Any] = {
    "user": {
        "name": "Ann",
        "age": 41,
        "vip": True,
        "note": None,
        "bio": "line1\nline2",
        "tags": ["x", "y"],
        "a.b": "dot",
        "é": "acc",
    },
    "items": [{"n": "pen", "price": 1.5}, {"n": "ink", "price": 2.0}],
    "price": 1.0,
    "big": 12345678901234567890,
    "empty": "",
    "none": [],
    "q": 'say "hi"\\n',
    "inj": "[%param.user.name%]",
    "where": "W",
    "x y": "sp",
}


def replacer(parameters: Any = PARAMETERS, **settings: Any) -> Any:
    builder = ObjectGraphPlaceholderReplacerBuilder().text_parameters(parameters)
    for name, value in settings.items():
        assert getattr(builder, name)(value) is builder
    return builder.build()


def fill(graph: Any, parameters: Any = PARAMETERS, **settings: Any) -> Any:
    return replacer(parameters, **settings).replace(graph).value


def mail(body: str) -> str | None:
    return "a@b" if body == "tfEmail" else None


def today(context: str, content: str) -> str | None:
    return "2026-01-01" if (context, content) == ("sys", "date") else None


def over(context: str, content: str) -> str | None:
    return "OVER" if content == "user.name" else None


CASES = [
    ("A01", "Hi [%param.user.name%]!", {}, "Hi Ann!"),
    ("A02", "[%param.$.user.name%]", {}, "Ann"),
    ("A03", "[%param.user.age%] [%param.user.vip%]", {}, "41 true"),
    ("A04", "[[%param.user.note%]]", {}, "[]"),
    ("A05", "[%param.user.note%]", {"null_text": "null"}, "null"),
    ("A06", "[%param.price%]", {}, "1.0"),
    ("A07-big", "[%param.big%]", {}, "12345678901234567890"),
    ("A07-empty", "<[%param.empty%]>", {}, "<>"),
    ("A08", "[%param.user.tags%]", {}, '["x", "y"]'),
    ("A09", "[%param.items[0]%]", {}, '{"n": "pen", "price": 1.5}'),
    ("A10", "[%param.items[*].n%]", {}, "pen, ink"),
    ("A11", "[%param.items[*].n%]", {"many": "json"}, '["pen", "ink"]'),
    ("A12", "[%param.items[*].n%]", {"many": "first"}, "pen"),
    (
        "A13",
        "[%param.items[*]%]",
        {},
        '[{"n": "pen", "price": 1.5}, {"n": "ink", "price": 2.0}]',
    ),
    ("A14", "[%param.items[?(@.price>1.9)].n%]", {}, "ink"),
    ("A15-index", "[%param.items[1].n%] [%param.items[-1].n%]", {}, "ink ink"),
    ("A15-slice", "[%param.items[0:1].n%]", {}, "pen"),
    ("A15-descent", "[%param.$..price%]", {}, "1.0, 1.5, 2.0"),
    ("A16", "[%param.none[*].n%]", {}, ""),
    ("A17", "[%param.missing%]", {}, "[%param.missing%]"),
    ("A18", "[%param.missing%]", {"unresolved": "empty"}, ""),
    ("A20", "[%param.user['a.b']%]", {}, "dot"),
    ("A21-double-quotes", '[%param.user["a.b"]%]', {}, "dot"),
    ("A22", "[%param['x y']%]", {}, "[%param['x y']%]"),
    ("A23", "[%param.['x y']%]", {}, "sp"),
    ("A24", "[%param.user.é%]", {}, "acc"),
    ("A25", "[%param.where%]", {}, "W"),
    ("A26", "[%param.user.name", {}, "[%param.user.name"),
    ("A27", "a [% b [%param.user.name%] c", {}, "a [% b Ann c"),
    ("A28-only-close", "a %] b [%param.user.name%]", {}, "a %] b Ann"),
    ("A29", "[%%][%param.%][%.x%]", {}, "[%%][%param.%][%.x%]"),
    ("A30", "[%tfEmail%] [%$FORM_LINK%]", {}, "[%tfEmail%] [%$FORM_LINK%]"),
    ("A30-empty-mode", "[%tfEmail%]", {"unresolved": "empty"}, "[%tfEmail%]"),
    ("A30-error-mode", "[%tfEmail%]", {"unresolved": "error"}, "[%tfEmail%]"),
    ("A31", "[%tfEmail%] [%param.user.name%]", {"replacer": mail}, "a@b Ann"),
    ("A32", "[%PARAM.user.name%]", {}, "[%PARAM.user.name%]"),
    (
        "A33",
        "[%p.user.name%] [%param.user.name%]",
        {"text_parameter_context_name": "p"},
        "Ann [%param.user.name%]",
    ),
    (
        "A34",
        "[%sys.date%] [%param.user.name%]",
        {"context_placeholder_resolver": today},
        "2026-01-01 Ann",
    ),
    (
        "A35",
        "[%param.user.name%] [%param.user.age%]",
        {"context_placeholder_resolver": over},
        "OVER 41",
    ),
    (
        "A37",
        '{"t": "[%param.q%]"}',
        {"escaper": escapers.json_string},
        '{"t": "say \\"hi\\"\\\\n"}',
    ),
    (
        "A38",
        '"k": "[%param.missing%]"',
        {"escaper": escapers.json_string},
        '"k": "[%param.missing%]"',
    ),
    ("A39", "[%param.inj%]", {}, "[%param.user.name%]"),
    ("A40", "[%param.inj%]", {"replace_placeholders_in_text_parameters": True}, "Ann"),
    ("A44", r"\[%param.user.name%]", {}, "[%param.user.name%]"),
    ("A44-even", r"\\[%param.user.name%]", {}, r"\Ann"),
    ("A44-three", r"\\\[%param.user.name%]", {}, r"\[%param.user.name%]"),
    ("A44-elsewhere", r"C:\dir \[% x [%param.user.name%]", {}, r"C:\dir \[% x Ann"),
    ("A44-strict", r"\[%param.user.name%]", {"literal_escape": False}, r"\Ann"),
    ("A45", "[%param.user[%]", {}, "[%param.user[%]"),
    ("A46", "[%param.user[?(@.a%]", {}, "[%param.user[?(@.a%]"),
    ("A51", "[%param.user.bio%]", {}, "line1\nline2"),
    ("A52", "a\r\n[%param.user.name%]\r\n", {}, "a\r\nAnn\r\n"),
]


@pytest.mark.parametrize(
    ("template", "settings", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_a_template_is_filled_as_the_contract_says(
    template: str, settings: dict[str, Any], expected: str
) -> None:
    assert fill(template, **settings) == expected


WITH_PARAMETERS = [
    (
        "A42",
        "[%param.x%]",
        {"x": "[%param.x%]"},
        {"replace_placeholders_in_text_parameters": True},
        "[%param.x%]",
    ),
    ("A49", "[%param.$%]", 5, {}, "5"),
    ("A50", "[%param.a%]", None, {}, "[%param.a%]"),
    ("A50-root", "[%param.$%]", None, {}, "[%param.$%]"),
    ("A54", "[%param.v%]", {"v": "🙂e\u0301"}, {}, "🙂e\u0301"),
    ("list-root", "[%param.[1]%]", ["a", "b"], {}, "b"),
    ("tuple-is-a-list", "[%param.t[1]%]", {"t": (1, 2)}, {}, "2"),
    ("string-has-no-index", "[%param.s[0]%]", {"s": "abc"}, {}, "[%param.s[0]%]"),
    ("non-ascii-json", "[%param.m%]", {"m": {"ß": "é"}}, {}, '{"ß": "é"}'),
    ("join-null", "[%param.l[*]%]", {"l": [None, True, 1.0, "a"]}, {}, ", true, 1.0, a"),
    ("close-in-quotes", "[%param.['a%]b']%]", {"a%]b": 1}, {}, "1"),
    ("open-in-quotes", "[%param.['a[%b']%]", {"a[%b": 1}, {}, "1"),
    ("unclosed-quote", "[%param.['a%] b", {"a": 1}, {}, "[%param.['a%] b"),
    (
        "quote-of-prose",
        "[%param.['a%] it's [%param.a%]",
        {"a": 1},
        {},
        "[%param.['a%] it's 1",
    ),
    ("huge-integer", "[%param.n%]", {"n": 10**5000}, {}, "1" + "0" * 5000),
    ("slash-name", "[%param.['@org/x']%]", {"@org/x": 1}, {}, "1"),
]


@pytest.mark.parametrize(
    ("template", "parameters", "settings", "expected"),
    [case[1:] for case in WITH_PARAMETERS],
    ids=[case[0] for case in WITH_PARAMETERS],
)
def test_a_template_is_filled_from_these_parameters(
    template: str, parameters: Any, settings: dict[str, Any], expected: str
) -> None:
    assert fill(template, parameters, **settings) == expected


def test_a16_an_indefinite_path_without_a_match_warns_in_every_mode() -> None:
    for mode in ("keep", "empty", "error"):
        (use,) = replacer(unresolved=mode).replace("[%param.none[*].n%]").placeholders
        assert (use.status, use.text, use.match_count) == ("empty", "", 0)
        assert use.diagnostic is not None
        assert (use.diagnostic.severity, use.diagnostic.code) == ("warning", "no_match")


def test_a19_an_unresolved_placeholder_is_an_error_that_names_placeholder_offset_and_node() -> None:
    graph = {"messages": [{"content": "Hi [%param.user.name%] [%param.missing%]"}]}
    with pytest.raises(UnresolvedPlaceholderError) as caught:
        fill(graph, unresolved="error")
    for part in ("[%param.missing%]", "23", "/messages/0/content"):
        assert part in str(caught.value)
    assert [use.status for use in caught.value.placeholders] == ["resolved", "kept"]
    assert [use.body for use in caught.value.unresolved] == ["param.missing"]


def test_a47_a_malformed_path_is_an_error_that_says_so() -> None:
    with pytest.raises(UnresolvedPlaceholderError, match="path"):
        fill("[%param.user[?(@.a%]", unresolved="error")


def test_a46_a_malformed_path_is_reported_inside_its_placeholder() -> None:
    template = "see [%param.user[?(@.a%]"
    (use,) = replacer().replace(template).placeholders
    assert use.diagnostic is not None
    assert use.diagnostic.severity == "error"
    assert 4 <= (use.diagnostic.start or 0) <= (use.diagnostic.end or 0) <= len(template)


def test_a22_a_bracket_right_after_the_context_name_suggests_the_dot() -> None:
    (use,) = replacer().replace("[%param['x y']%]").placeholders
    assert use.diagnostic is not None
    assert "param.['x y']" in (use.diagnostic.hint or "")
    assert use.diagnostic.fixes[0].replacement == "[%param.['x y']%]"


def test_a29_empty_bodies_are_literal_and_reported() -> None:
    replacement = replacer(unresolved="error").replace("[%%][%param.%][%.x%]")
    assert replacement.placeholders == ()
    assert [(d.code, d.start) for d in replacement.diagnostics] == [
        ("empty_placeholder", 0),
        ("empty_placeholder", 4),
        ("empty_placeholder", 14),
    ]


def test_a32_another_case_of_the_context_name_suggests_the_right_one() -> None:
    (use,) = replacer().replace("[%PARAM.user.name%]").placeholders
    assert use.diagnostic is not None
    assert use.diagnostic.fixes[0].replacement == "[%param.user.name%]"


def test_a31_a_replacer_without_an_answer_leaves_a_placeholder_unresolved() -> None:
    assert fill("[%other%]", replacer=mail) == "[%other%]"
    assert fill("[%other%]", replacer=mail, unresolved="empty") == ""
    with pytest.raises(UnresolvedPlaceholderError):
        fill("[%other%]", replacer=mail, unresolved="error")


def test_a31_the_replacer_never_sees_a_context_placeholder() -> None:
    seen: list[str] = []
    fill("[%a.b%] [%param.user.name%] [%c%]", replacer=lambda body: seen.append(body))
    assert seen == ["c"]


def test_a35_the_resolver_sees_every_context_and_its_content() -> None:
    seen: list[tuple[str, str]] = []

    def resolver(context: str, content: str) -> None:
        seen.append((context, content))

    assert fill("[%a.b.c%] [%param.user.name%]", context_placeholder_resolver=resolver) == "[%a.b.c%] Ann"
    assert seen == [("a", "b.c"), ("param", "user.name")]


@pytest.mark.parametrize(("value", "text"), [(False, "false"), (0, "0"), ("", "")])
def test_a35_any_answer_but_none_wins(value: object, text: str) -> None:
    filled = fill("<[%param.user.name%]>", context_placeholder_resolver=lambda *_: value)
    assert filled == f"<{text}>"


def test_a36_the_escaper_is_applied_once_to_every_inserted_value_and_to_nothing_else() -> None:
    seen: list[str] = []

    def escaper(text: str) -> str:
        seen.append(text)
        return f"<{text}>"

    filled = fill(
        "a&b [%param.user.name%] [%sys.date%] [%tfEmail%] [%param.missing%] [%param.user.tags%]",
        escaper=escaper,
        context_placeholder_resolver=today,
        replacer=mail,
    )
    assert filled == 'a&b <Ann> <2026-01-01> <a@b> [%param.missing%] <["x", "y"]>'
    assert seen == ["Ann", "2026-01-01", "a@b", '["x", "y"]']


def test_a37_the_json_escaper_gives_a_text_that_parses_to_the_value() -> None:
    assert json.loads(fill('{"t": "[%param.q%]"}', escaper=escapers.json_string)) == {"t": PARAMETERS["q"]}


def test_a40_values_inside_expanded_parameters_are_not_escaped_twice() -> None:
    parameters = {"a": "<b>", "b": "x [%param.a%]"}
    filled = fill(
        "[%param.b%]", parameters, escaper=escapers.xml, replace_placeholders_in_text_parameters=True
    )
    assert filled == "x &lt;b&gt;"


def test_a41_parameters_are_expanded_from_the_original_parameters_and_only_once() -> None:
    parameters = {"a": "[%param.b%]", "b": "[%param.c%]", "c": "C"}
    settings = {"replace_placeholders_in_text_parameters": True}
    assert fill("[%param.a%] [%param.b%]", parameters, **settings) == "[%param.c%] C"


def test_a43_parameters_that_name_each_other_come_to_an_end() -> None:
    parameters = {"a": "1[%param.b%]", "b": "2[%param.a%]"}
    filled = fill("[%param.a%]", parameters, replace_placeholders_in_text_parameters=True)
    assert filled == "12[%param.a%]"


def test_a40_the_resolver_and_the_replacer_answer_inside_parameters_too() -> None:
    filled = fill(
        "[%param.list[0]%]",
        {"list": ["[%sys.date%] [%tfEmail%]"]},
        replace_placeholders_in_text_parameters=True,
        context_placeholder_resolver=today,
        replacer=mail,
    )
    assert filled == "2026-01-01 a@b"


def test_a40_an_unresolved_placeholder_in_a_used_parameter_is_an_error_when_asked_for() -> None:
    parameters = {"used": "[%param.nothing%]", "unused": "[%param.nothing%]"}
    settings = {"replace_placeholders_in_text_parameters": True, "unresolved": "error"}
    assert fill("fine", parameters, **settings) == "fine"
    with pytest.raises(UnresolvedPlaceholderError, match="nothing"):
        fill("[%param.used%]", parameters, **settings)


def test_a48_more_than_one_match_is_an_error_when_the_options_say_so() -> None:
    assert fill("[%param.items[0:1].n%]", many="error") == "pen"
    with pytest.raises(UnresolvedPlaceholderError, match="2 values"):
        fill("[%param.items[*].n%]", many="error")


def test_a55_large_values_and_many_placeholders_take_one_linear_pass() -> None:
    parameters = {"v": "x" * 5_000_000, "s": "y"}
    template = "[%param.v%]" + "[%param.s%] " * 20_000
    started = time.process_time()
    replacement = replacer(parameters).replace(template)
    assert len(replacement.value) == 5_000_000 + 40_000
    assert len(replacement.placeholders) == 20_001
    assert time.process_time() - started < 1


def test_a56_openers_without_an_end_are_read_in_linear_time() -> None:
    template = "[%" * 200_000
    started = time.process_time()
    assert fill(template) == template
    assert time.process_time() - started < 1


@dataclass(frozen=True)
class M:
    role: str
    content: str
    n: int = 0


@dataclass(slots=True)
class Slotted:
    content: str
    also: Any = None


Pair = namedtuple("Pair", "left right")


class Plain:
    def __init__(self, content: str) -> None:
        self.content = content


def test_a57_what_is_no_string_stays() -> None:
    graph = {"a": "[%param.user.name%]", "n": 3, "b": None}
    assert fill(graph) == {"a": "Ann", "n": 3, "b": None}


def test_a58_keys_are_not_replaced_unless_asked_for() -> None:
    graph = {"[%param.user.name%]": "v"}
    assert fill(graph) == graph


def test_a59_keys_are_replaced_on_request_in_their_order() -> None:
    graph = {"z": 1, "[%param.user.name%]": "v", "a": "[%param.user.age%]"}
    filled = fill(graph, replace_keys=True)
    assert list(filled.items()) == [("z", 1), ("Ann", "v"), ("a", "41")]


def test_a60_keys_that_become_the_same_are_an_error() -> None:
    graph = {"deep": {"[%param.user.name%]": 1, "Ann": 2}}
    with pytest.raises(KeyCollisionError, match="/deep"):
        fill(graph, replace_keys=True)


def test_a61_shared_parts_stay_shared_and_the_input_is_not_changed() -> None:
    shared = ["[%param.user.name%]"]
    graph = [shared, shared]
    filled = fill(graph)
    assert filled == [["Ann"], ["Ann"]]
    assert filled[0] is filled[1]
    assert shared == ["[%param.user.name%]"]


def test_a62_cycles_stay_cycles() -> None:
    graph: dict[str, Any] = {"text": "[%param.user.name%]"}
    graph["self"] = graph
    graph["pair"] = (graph, ["[%param.user.age%]", graph])
    filled = fill(graph)
    assert filled["text"] == "Ann"
    assert filled["self"] is filled
    assert filled["pair"][0] is filled
    assert filled["pair"][1] == ["41", filled]
    assert graph["text"] == "[%param.user.name%]"
    assert graph["self"] is graph


def test_a63_depth_costs_no_recursion() -> None:
    graph: Any = "[%param.user.name%]"
    for _ in range(20_000):
        graph = [graph]
    replacement = replacer().replace(graph)
    depth = 0
    value = replacement.value
    while isinstance(value, list):
        (value,) = value
        depth += 1
    assert (depth, value) == (20_000, "Ann")
    assert replacement.placeholders[0].node == "/0" * 20_000


def test_a64_objects_keep_their_class() -> None:
    assert fill(M("user", "[%param.user.name%]")) == M("user", "Ann")
    assert fill(Slotted("[%param.user.name%]", also=["[%param.user.age%]"])) == Slotted("Ann", also=["41"])
    filled = fill(Plain("[%param.user.name%]"))
    assert type(filled) is Plain
    assert filled.content == "Ann"
    pair = fill(Pair("[%param.user.name%]", 1))
    assert type(pair) is Pair
    assert pair == Pair("Ann", 1)
    ordered = fill(OrderedDict(b="[%param.user.name%]", a=1))
    assert type(ordered) is OrderedDict
    assert list(ordered.items()) == [("b", "Ann"), ("a", 1)]


def test_a64_pydantic_models_are_walked() -> None:
    pydantic = pytest.importorskip("pydantic")

    class Message(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(frozen=True, extra="allow")
        content: str
        parts: list[str]

    message = Message(content="[%param.user.name%]", parts=["[%param.user.age%]"], note="[%param.price%]")
    filled = fill([message])[0]
    assert type(filled) is Message
    assert (filled.content, filled.parts, filled.note) == ("Ann", ["41"], "1.0")
    assert message.content == "[%param.user.name%]"


def test_a65_what_holds_no_placeholder_is_the_same_object() -> None:
    text = "".join(["no", " placeholder"])
    leaf = object()
    part = {"x": [1, text]}
    assert fill(text) is text
    filled = fill({"part": part, "leaf": leaf, "t": "[%param.user.name%]"})
    assert filled["part"] is part
    assert filled["leaf"] is leaf


def test_a65_a_kept_token_leaves_the_string_the_same_object() -> None:
    text = "".join(["[%param", ".missing%]"])
    assert fill([text])[0] is text


def test_a66_a_built_replacer_keeps_its_configuration() -> None:
    builder = ObjectGraphPlaceholderReplacerBuilder().text_parameters({"a": 1})
    built = builder.build()
    builder.text_parameters({"a": 2}).text_parameter_context_name("p").unresolved("error").many("json")
    assert built.replace("[%param.a%] [%param.b%]").value == "1 [%param.b%]"
    assert builder.build().replace("[%p.a%]").value == "2"


def test_a67_parameters_that_change_after_build_do_not_reach_it() -> None:
    parameters = {"list": [1], "a": "old"}
    built = replacer(parameters)
    parameters["a"] = "new"
    parameters["list"].append(2)  # type: ignore[attr-defined]
    assert built.replace("[%param.a%] [%param.list%]").value == "old [1]"


def test_a68_a_hostile_regular_expression_is_stopped() -> None:
    parameters = {"items": [{"n": "p" * 40 + "b"}]}
    template = "[%param.items[?(@.n =~ '^(p+)+$')].n%]"
    replacer(parameters).replace(template).placeholders  # noqa: B018 - loads what is loaded on first use
    started = time.process_time()
    (use,) = replacer(parameters).replace(template).placeholders
    assert time.process_time() - started < 0.4
    assert use.status in ("kept", "empty")
    assert use.diagnostic is not None


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")], ids=repr)
def test_a69_numbers_that_json_does_not_have_are_refused_with_their_place(value: float) -> None:
    with pytest.raises(TextParametersError, match="not a JSON number") as caught:
        replacer({"a": [1, {"b": value}]})
    assert caught.value.pointer == "/a/1/b"


def test_a70_of_a_doubled_key_the_last_wins_and_a_warning_says_so() -> None:
    document = parse_json('{"a": 1, "a": 2}')
    assert render_text("[%param.a%]", document.value).text == "2"
    assert [d.code for d in document.diagnostics] == ["duplicate_key"]


@pytest.mark.parametrize(
    ("parameters", "pointer"),
    [({"a": {1: "x"}}, "/a"), ({"a": [b"x"]}, "/a/0"), ({"a": object()}, "/a"), ({1, 2}, "")],
    ids=["number-as-key", "bytes", "object", "set"],
)
def test_parameters_that_are_not_json_are_refused_with_their_place(parameters: Any, pointer: str) -> None:
    with pytest.raises(TextParametersError) as caught:
        replacer(parameters)
    assert caught.value.pointer == pointer


def test_parameters_that_contain_themselves_are_refused() -> None:
    parameters: dict[str, Any] = {}
    parameters["self"] = {"again": parameters}
    with pytest.raises(TextParametersError, match="contains itself") as caught:
        replacer(parameters)
    assert caught.value.pointer == "/self/again"


def test_deep_parameters_are_copied_without_recursion() -> None:
    parameters: Any = "end"
    for _ in range(5_000):
        parameters = {"a": parameters}
    assert fill("[%param." + ".".join("a" * 5_000) + "%]", {"a": parameters["a"]}) == "end"


def test_the_records_tell_place_text_and_origin() -> None:
    graph = [{"content": "é [%param.items[1].n%], [%param.items[*].price%]!"}]
    first, second = replacer(escaper=escapers.xml).replace(graph).placeholders
    assert (first.node, first.start, first.end, first.body) == ("/0/content", 2, 22, "param.items[1].n")
    assert (first.output_start, first.output_end, first.text) == (2, 5, "ink")
    assert (first.pointer, first.match_count, first.source) == ("/items/1/n", 1, "parameter")
    assert (first.value_type, first.escaper, first.status) == ("string", "xml", "resolved")
    assert second.pointers == ("/items/0/price", "/items/1/price")
    assert (second.match_count, second.text) == (2, "1.5, 2.0")
    assert (second.output_start, second.output_end) == (7, 15)


def test_the_records_come_in_the_order_of_the_graph() -> None:
    graph = {"a": {"x": "[%param.one%]", "y": ["[%param.two%]"]}, "b": "[%param.three%]"}
    uses = replacer({"one": 1, "two": 2}).replace(graph).placeholders
    assert [use.node for use in uses] == ["/a/x", "/a/y/0", "/b"]


def test_node_paths_escape_the_characters_of_json_pointers() -> None:
    (use,) = replacer().replace({"a/b~c": "[%param.price%]"}).placeholders
    assert use.node == "/a~1b~0c"


@pytest.mark.parametrize("name", ["", " ", "a.b", "a%]", "[%a", " a", None, 5])
def test_a_context_name_that_no_placeholder_can_carry_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="context name"):
        ObjectGraphPlaceholderReplacerBuilder().text_parameter_context_name(name)


@pytest.mark.parametrize(("setter", "value"), [("unresolved", "raise"), ("many", "all")])
def test_a_mode_that_does_not_exist_is_refused_with_the_modes_that_do(setter: str, value: str) -> None:
    with pytest.raises(ValueError, match="one of"):
        getattr(ObjectGraphPlaceholderReplacerBuilder(), setter)(value)


def test_none_takes_back_the_optional_parts_of_the_builder() -> None:
    builder = ObjectGraphPlaceholderReplacerBuilder().text_parameters(PARAMETERS)
    builder.escaper(escapers.xml).replacer(mail).context_placeholder_resolver(over)
    built = builder.escaper(None).replacer(None).context_placeholder_resolver(None).build()
    assert built.replace("[%param.user.name%] [%tfEmail%]").value == "Ann [%tfEmail%]"


def test_the_value_of_a_resolver_may_be_any_object() -> None:
    import datetime

    day = datetime.date(2026, 1, 2)
    assert fill("[%sys.day%]", context_placeholder_resolver=lambda *_: day) == "2026-01-02"
    assert fill("[%sys.map%]", context_placeholder_resolver=lambda *_: {"a": [1]}) == '{"a": [1]}'


@pytest.mark.parametrize(
    ("setter", "value"),
    [("escaper", "xml"), ("replacer", {}), ("context_placeholder_resolver", 5), ("null_text", None)],
)
def test_what_a_setter_cannot_use_is_refused_there_and_not_in_the_middle_of_a_prompt(
    setter: str, value: Any
) -> None:
    with pytest.raises(TypeError, match=setter):
        getattr(ObjectGraphPlaceholderReplacerBuilder(), setter)(value)


@pytest.mark.parametrize("template", ["[%param.user.name%]", "[%param.items[*].n%]", "[%sys.date%]"])
def test_an_escaper_that_gives_no_text_is_named(template: str) -> None:
    def resolver(name: str, _content: str) -> str | None:
        return "today" if name == "sys" else None

    with pytest.raises(TypeError, match="the escaper must return a text, not bytes"):
        fill(template, escaper=str.encode, context_placeholder_resolver=resolver)
    with pytest.raises(TypeError, match="the escaper must return a text, not bytes"):
        fill("[%param.user.name%]", escaper=str.encode)


def test_a_long_run_of_escaped_tokens_takes_linear_time() -> None:
    text = "\\[%param.user.name%]" * 200_000
    began = time.perf_counter()
    assert fill(text) == text.replace("\\", "")
    assert time.perf_counter() - began < 5


def test_a_path_of_very_many_names_takes_linear_time() -> None:
    body = "param.user." + "a." * 200_000 + "a"
    began = time.perf_counter()
    (use,) = replacer().replace(f"[%{body}%]").placeholders
    assert use.status == "kept"
    assert time.perf_counter() - began < 6


def test_a_name_that_holds_dots_itself_is_still_suggested() -> None:
    (use,) = replacer({"u": {"a.b.c": 1}}).replace("[%param.u.a.b.c%]").placeholders
    assert use.diagnostic is not None
    assert "u['a.b.c']" in str(use.diagnostic.hint)
