"""Completion, renaming, extracting a parameter and counting: what the editor asks of the engine."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.json_text import parse_json
from workbench.engine.templates import (
    Dialect,
    TemplateOptions,
    apply_fixes,
    completion_at,
    count_text,
    count_texts,
    extract_parameter,
    missing_member,
    placeholder_candidates,
    rename_in_template,
    rename_key,
    rename_keys,
    render_text,
)

PARAMETERS: dict[str, Any] = {
    "user": {"name": "Ann", "a.b": "dot", "age": 41},
    "items": [{"n": "pen", "x y": 1}, {"n": "ink"}],
    "note": None,
}


def offered(marked: str, options: TemplateOptions | None = None) -> list[str] | None:
    """Return what is offered at the bar in `marked`."""
    offset = marked.index("|")
    completion = completion_at(marked.replace("|", ""), offset, PARAMETERS, options)
    return None if completion is None else [candidate.text for candidate in completion.candidates]


def test_every_path_is_offered_with_type_and_sample() -> None:
    found = {c.text: (c.type, c.sample) for c in placeholder_candidates(PARAMETERS)}
    assert found["param.user"] == ("object", "{name, a.b, age}")
    assert found["param.user.name"] == ("string", "Ann")
    assert found["param.user['a.b']"] == ("string", "dot")
    assert found["param.user.age"] == ("integer", "41")
    assert found["param.items"] == ("array", "2 items")
    assert found["param.items[0].n"] == ("string", "pen")
    assert found["param.items[*]['x y']"] == ("integer", "1")
    assert found["param.note"] == ("null", "null")


def test_every_offered_path_resolves() -> None:
    for candidate in placeholder_candidates(PARAMETERS):
        (use,) = render_text(f"[%{candidate.text}%]", PARAMETERS).placeholders
        assert use.status == "resolved", candidate


def test_contexts_fields_and_declared_names_are_offered_too() -> None:
    options = TemplateOptions(
        contexts={"sys": {"date": "today"}}, fields={"mail": "a@b"}, required=("param.later",)
    )
    texts = [candidate.text for candidate in placeholder_candidates({}, options)]
    assert texts == ["sys.date", "mail", "param.later"]
    braces = TemplateOptions(dialect="braces", optional=("{queries}",))
    assert [c.text for c in placeholder_candidates({"a": 1}, braces)] == ["a", "queries"]


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("Hi [%param.user.na|", ["param.user.name"]),
        ("Hi [%param.user.na|me%] x", ["param.user.name"]),
        ("Hi [%PARAM.USER.AG|", ["param.user.age"]),
        ("Hi [%age|", ["param.user.age"]),
        ("Hi [%param.user.name%]|", None),
        ("Hi | [%param", None),
        ("[%param.\n|", None),
        (r"\[%param|", None),
        ("[%a%] [%note|", ["param.note"]),
    ],
)
def test_completion_knows_where_the_caret_is(marked: str, expected: list[str] | None) -> None:
    assert offered(marked) == expected


@pytest.mark.parametrize(
    ("dialect", "marked", "text", "closing"),
    [
        ("context", "[%param.note|", "param.note", "%]"),
        ("context", "[%param.note| rest [%x%]", "param.note", "%]"),
        ("context", "[%param.no|te%]", "param.note", ""),
        ("double-braces", "{{no|", "note", "}}"),
        ("braces", "{no|", "note", "}"),
        ("braces", "{no|te}", "note", ""),
    ],
)
def test_a_chosen_candidate_makes_a_whole_placeholder(
    dialect: Dialect, marked: str, text: str, closing: str
) -> None:
    plain = marked.replace("|", "")
    options = TemplateOptions(dialect=dialect)
    completion = completion_at(plain, marked.index("|"), PARAMETERS, options)
    assert completion is not None
    assert (completion.candidates[0].text, completion.closing) == (text, closing)
    done = plain[: completion.start] + text + closing + plain[completion.end :]
    statuses = [use.status for use in render_text(done, PARAMETERS, options).placeholders]
    assert statuses[0] == "resolved"


def test_completion_stays_quick_in_large_parameters() -> None:
    large = {f"k{i}": {f"j{n}": n for n in range(50)} for i in range(2000)}
    assert len(placeholder_candidates(large)) == 1000


@pytest.mark.parametrize(
    ("dialect", "template", "pointer", "expected"),
    [
        ("context", "[%param.user.name%] [%param.user%]", "/user", "[%param.client.name%] [%param.client%]"),
        (
            "context",
            "[%param.user.name%] [%param.name%]",
            "/user/name",
            "[%param.user.client%] [%param.name%]",
        ),
        ("context", "[%param.$.user['name']%]", "/user/name", "[%param.$.user.client%]"),
        (
            "context",
            "[%param.user[*].x%] [%param.users[*]%]",
            "/user",
            "[%param.client[*].x%] [%param.users[*]%]",
        ),
        (
            "context",
            r"\[%param.user%] [%sys.user%] [%user%]",
            "/user",
            r"\[%param.user%] [%sys.user%] [%user%]",
        ),
        ("context", "[%param.l[0].user%]", "/l/0/user", "[%param.l[0].client%]"),
        (
            "context",
            "[%param.l[*].user%] [%param.l[1].user%] [%param.l[0:2].user.x%] [%param.user%]",
            "/l/0/user",
            "[%param.l[*].client%] [%param.l[1].client%] [%param.l[0:2].client.x%] [%param.user%]",
        ),
        (
            "context",
            "[%param.l[?(@.user=='@.user')].user%] [%param.l[?@['user'].a>1].b%] [%param.l[*][0].user%]",
            "/l/0/user",
            "[%param.l[?(@.client=='@.user')].client%] [%param.l[?@.client.a>1].b%] [%param.l[*][0].user%]",
        ),
        (
            "context",
            "[%param.['a.b'].user%] [%param..user%]",
            "/a.b/user",
            "[%param.['a.b'].client%] [%param..user%]",
        ),
        ("double-braces", "{{ user.name }} {{user}}", "/user", "{{ client.name }} {{client}}"),
        ("braces", "{user} {username}", "/user", "{client} {username}"),
    ],
)
def test_a_parameter_is_renamed_in_templates(
    dialect: Dialect, template: str, pointer: str, expected: str
) -> None:
    options = TemplateOptions(dialect=dialect)
    edits = rename_in_template(template, pointer, "client", options, names=["user", "username"])
    assert apply_fixes(template, edits) == expected


def test_a_new_name_that_needs_quotes_gets_them() -> None:
    template = "[%param.user.name%] [%param.user[*]%]"
    edits = rename_in_template(template, "/user", "the client")
    assert apply_fixes(template, edits) == "[%param.['the client'].name%] [%param.['the client'][*]%]"


def test_renaming_in_template_and_json_leaves_the_output_as_it_was() -> None:
    text = '{\n  "user": {"name": "Ann", "user": 1},\n  "x": "user"\n}'
    template = "[%param.user.name%] [%param.user.user%] [%param.x%]"
    document = parse_json(text)
    edit = rename_key(document, "/user", 'cli"ent')
    assert edit is not None
    renamed = parse_json(apply_fixes(text, [edit]))
    new_template = apply_fixes(template, rename_in_template(template, "/user", 'cli"ent'))
    assert render_text(new_template, renamed.value).text == render_text(template, document.value).text
    assert rename_key(document, "/nobody", "x") is None


def test_a_member_is_renamed_in_every_item_of_its_list() -> None:
    text = '{"l": [{"user": 1}, {"x": 2}, {"user": {"user": 3}}], "user": 4}'
    document = parse_json(text)
    renamed = apply_fixes(text, rename_keys(document, "/l/0/user", "client"))
    assert renamed == '{"l": [{"client": 1}, {"x": 2}, {"client": {"user": 3}}], "user": 4}'
    with pytest.raises(ValueError, match="already"):
        rename_keys(document, "/l/0/user", "user")
    assert rename_keys(document, "/nobody", "x") == ()


def test_changes_that_overlap_are_refused() -> None:
    edits = rename_in_template("[%param.a%]", "/a", "b")
    with pytest.raises(ValueError, match="overlap"):
        apply_fixes("[%param.a%]", [*edits, *edits])


@pytest.mark.parametrize("dialect", ["context", "braces", "double-braces"])
def test_a_selection_becomes_a_parameter(dialect: Dialect) -> None:
    options = TemplateOptions(dialect=dialect)
    text = "Dear Ann, how are you?"
    extraction = extract_parameter(text, 5, 8, "customer", options)
    assert extraction.value == "Ann"
    assert render_text(extraction.text, {"customer": extraction.value}, options).text == text


def test_the_value_of_a_selection_is_what_it_put_out() -> None:
    text = r"x \[%a%] y"
    extraction = extract_parameter(text, 2, 8, "token")
    assert extraction.value == "[%a%]"
    assert render_text(extraction.text, {"token": extraction.value}).text == render_text(text, {}).text


@pytest.mark.parametrize(
    ("text", "start", "end", "name", "reason"),
    [
        ("a [%param.x%] b", 0, 6, "n", "placeholder at offset 2"),
        (r"\[%a%]", 2, 4, "n", "escaped"),
        ("abc", 0, 1, "", "needs a name"),
        ("abc", 0, 1, "taken", "taken"),
        ("\\abc", 1, 4, "n", "cannot stand here"),
    ],
)
def test_a_selection_that_cannot_become_a_parameter_is_refused(
    text: str, start: int, end: int, name: str, reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        extract_parameter(text, start, end, name, names=["taken"])


@pytest.mark.parametrize(
    ("text", "characters", "words"),
    [("", 0, 0), ("one", 3, 1), ("one two\nthree", 13, 3), ("🙂 é", 3, 2), ("日本語", 3, 1)],
)
def test_characters_and_words_are_counted(text: str, characters: int, words: int) -> None:
    counts = count_text(text)
    assert (counts.characters, counts.words) == (characters, words)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        # Around what common byte-pair tokenizers give for these texts.
        ("Answer politely and keep to the facts that are given to you in this message.", 14, 18),
        ('{"name": "Ann", "age": 41, "tags": ["x", "y"]}', 18, 30),
        ("Donaudampfschifffahrtsgesellschaft", 5, 14),
        ("日本語の文章です。", 6, 12),
        ("    return value + 1\n" * 10, 50, 90),
        ("🙂🙂", 2, 6),
    ],
)
def test_the_estimate_of_tokens_is_near_what_tokenizers_count(text: str, low: int, high: int) -> None:
    assert low <= count_text(text).tokens <= high


@given(texts=st.lists(st.text(), max_size=4))
def test_counts_of_messages_add_up(texts: list[str]) -> None:
    total = count_texts(texts)
    assert total.characters == sum(len(text) for text in texts)
    assert total.tokens == sum(count_text(text).tokens for text in texts)
    assert (total.tokens > 0) >= any(text.strip() for text in texts)


@pytest.mark.parametrize(
    ("dialect", "body", "expected"),
    [
        ("context", "param.order.carrier", ("/order", '"carrier": ""', "carrier")),
        ("context", "param.new.deep.er", ("", '"new": {"deep": {"er": ""}}', "new")),
        ("context", "param.list[0].x", ("/list/0", '"x": ""', "x")),
        ("context", "param.['a.b']", ("", '"a.b": ""', "a.b")),
        ("context", "param.order.id", None),
        ("context", "param.order.id.x", None),
        ("context", "param.list[5].x", None),
        ("context", "param.new[0]", None),
        ("context", "param.list[*].x", None),
        ("context", "sys.x", None),
        ("context", "x", None),
        ("double-braces", "order.carrier", ("/order", '"carrier": ""', "carrier")),
        ("braces", "carrier", ("", '"carrier": ""', "carrier")),
    ],
)
def test_what_a_placeholder_lacks_can_be_added(dialect: Dialect, body: str, expected: object) -> None:
    parameters = {"order": {"id": 1}, "list": [{}]}
    assert missing_member(body, parameters, TemplateOptions(dialect=dialect)) == expected


def test_a_quoted_name_with_a_dot_right_behind_the_context_gets_its_own_hint() -> None:
    use = render_text("[%param['a.b']%]", {"a.b": "dot"}).placeholders[0]
    assert use.diagnostic is not None
    assert use.diagnostic.fixes[0].replacement == "[%param.['a.b']%]"
