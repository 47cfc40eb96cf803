"""What is written into TOML text reads back as it was, and an edit touches only its own lines."""

from __future__ import annotations

import difflib
import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.shared_data import shared_data
from workbench.engine.projects.errors import ProjectError
from workbench.engine.projects.toml_document import TomlDocument, read_toml
from workbench.engine.projects.toml_scan import ScanError, scan
from workbench.engine.projects.toml_values import write_key, write_string, write_value

SAMPLE = """\
# a comment at the top
format = 1   # trailing comment
name = 'literal name'

[template]
dialect = "context"
required = [
  "a",  # why a
  "b",
]

# the first message
[[template.messages]]
role = "system"
content = \"\"\"
One [%param.a%]
Two\"\"\"

# the second message
[[template.messages]]
role = "user"
content = '''
raw \\ text
'''

[template.contexts.env]
"odd key" = "x"

[guardrails]
input.threshold = 0.50

[models]
decision = { provider = "embedded", options = [1, 2.5, true] }
"""

AWKWARD_TEXTS = {
    "empty": "",
    "no final newline": "abc",
    "final newline": "abc\n",
    "leading newline": "\nabc",
    "only newlines": "\n\n\n",
    "trailing blanks": "abc  \n  def \t\n",
    "tabs": "\ta\tb\n",
    "crlf": "a\r\nb\r\n",
    "lone cr": "a\rb",
    "no-break space": "a\u00a0b\n",
    "line separator": "a\u2028b\u2029c\u0085d\n",
    "emoji": "👩‍👩‍👧 ok\n",
    "three double quotes": 'say """hi""" and """\n',
    "six double quotes": '""""""\n""""""""',
    "three single quotes": "say '''hi'''\n",
    "both quotes": "\"\"\"'''\n",
    "ends in a quote": 'he said "no"',
    "ends in two quotes": 'x\n""',
    "ends in a backslash": "path\\",
    "backslash at a line end": "a \\\n   b",
    "escapes as text": "\\n \\u0041 \\\\ \\",
    "nul and controls": "\x00\x01\x07\x08\x0b\x0c\x1b\x1f\x7f",
    "byte order mark": "\ufeffabc\n\ufeff",
    "looks like toml": '[table]\nkey = "value" # no comment\n',
    "astral": "\U0001f600\U0010ffff",
}
STYLES = {
    "new": "",
    "basic": '"x"',
    "escaped basic": '"x\\ny"',
    "literal": "'x'",
    "lines": '"""\nx\n"""',
    "lines from the first": '"""x\n"""',
    "literal lines": "'''\nx\n'''",
    "literal lines from the first": "'''x\n'''",
}
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
QUOTED = st.text(
    st.sampled_from(['"', "'", "\\", "\n", "\r", "\t", " ", "a", "\u2028", "\x00", "#"]), max_size=25
)


def changed_lines(before: str, after: str) -> list[str]:
    """Return the lines that a diff of the two texts shows, with their sign."""
    diff = difflib.ndiff(before.splitlines(keepends=True), after.splitlines(keepends=True))
    return [line for line in diff if line[:2] in ("+ ", "- ")]


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf file", "crlf file"])
@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES.keys())
@pytest.mark.parametrize("text", AWKWARD_TEXTS.values(), ids=AWKWARD_TEXTS.keys())
def test_every_text_survives_in_every_style(text: str, style: str, newline: str) -> None:
    token = write_string(text, style, newline)
    assert read_toml(f"a = {token}{newline}") == {"a": text}


@given(st.one_of(TEXT, QUOTED), st.sampled_from(list(STYLES.values())), st.sampled_from(["\n", "\r\n"]))
@settings(max_examples=400)
def test_any_text_survives(text: str, style: str, newline: str) -> None:
    assert read_toml(f"a = {write_string(text, style, newline)}")["a"] == text


@given(st.one_of(TEXT, QUOTED))
def test_any_name_survives_as_a_key(name: str) -> None:
    text = f"{write_key(name)} = 1\n"
    assert read_toml(text) == {name: 1}
    assert (name,) in scan(text).keys


def test_a_text_with_line_ends_is_written_below_three_quotes_with_raw_tabs() -> None:
    assert write_string("a\n\tb \r\n") == '"""\na\n\tb \\r\n"""'


@pytest.mark.parametrize(
    "value",
    [
        True,
        False,
        0,
        -7,
        10**30,
        0.1,
        1e300,
        -0.0,
        math.inf,
        -math.inf,
        [],
        [1, "two", [3.5]],
        {"a b": {"c": [1]}},
    ],
    ids=repr,
)
def test_values_of_other_types_survive(value: Any) -> None:
    assert repr(read_toml(f"a = {write_value(value)}")["a"]) == repr(value)


def test_a_value_that_toml_lacks_is_refused() -> None:
    with pytest.raises(ValueError, match="NoneType"):
        write_value({"a": None})


@pytest.mark.parametrize(
    ("path", "value", "diff"),
    [
        (("name",), "other", ["- name = 'literal name'\n", "+ name = 'other'\n"]),
        (("format",), 2, ["- format = 1   # trailing comment\n", "+ format = 2   # trailing comment\n"]),
        (
            ("template", "messages", 0, "content"),
            "One [%param.a%]\n2",
            ['- Two"""\n', '+ 2"""\n'],
        ),
        (("template", "messages", 1, "content"), "raw \\ text\nmore\n", ["+ more\n"]),
        (("template", "required"), ["a"], ['-   "b",\n']),
        (("template", "required"), ["a", "c"], ['-   "b",\n', '+   "c",\n']),
        (("template", "required"), ["a", "b", "c"], ['+   "c",\n']),
        (("template", "required"), ["c", "a", "b"], ['+   "c",\n']),
        (
            ("guardrails", "input", "threshold"),
            0.25,
            ["- input.threshold = 0.50\n", "+ input.threshold = 0.25\n"],
        ),
        (("guardrails", "input", "more"), 1, ["+ input.more = 1\n"]),
        (("template", "contexts", "env", "odd key"), "y", ['- "odd key" = "x"\n', '+ "odd key" = "y"\n']),
        (("template", "contexts", "env", "new"), "y", ['+ new = "y"\n']),
        (("template", "null_text"), "-", ['+ null_text = "-"\n']),
        (("description",), "x", ['+ description = "x"\n']),
    ],
    ids=lambda item: ".".join(map(str, item)) if isinstance(item, tuple) else "",
)
def test_an_edit_changes_only_its_own_lines(path: tuple[str | int, ...], value: Any, diff: list[str]) -> None:
    document = TomlDocument(SAMPLE)
    assert document.set(path, value)
    assert changed_lines(SAMPLE, document.text) == diff
    assert TomlDocument(document.text).get(path) == value


@pytest.mark.parametrize(
    ("path", "diff"),
    [
        (("name",), ["- name = 'literal name'\n"]),
        (("template", "required"), ["- required = [\n", '-   "a",  # why a\n', '-   "b",\n', "- ]\n"]),
        (("guardrails", "input"), ["- input.threshold = 0.50\n"]),
        (
            ("template", "messages", 1),
            [
                "- # the second message\n",
                "- [[template.messages]]\n",
                '- role = "user"\n',
                "- content = '''\n",
                "- raw \\ text\n",
                "- '''\n",
                "- \n",
            ],
        ),
    ],
    ids=lambda item: ".".join(map(str, item)) if isinstance(item, tuple) else "",
)
def test_removing_takes_only_the_lines_of_the_thing(path: tuple[str | int, ...], diff: list[str]) -> None:
    document = TomlDocument(SAMPLE)
    assert document.remove(path)
    assert changed_lines(SAMPLE, document.text) == diff
    assert not document.remove(path) or path[-1] == 1


def test_setting_the_same_value_changes_no_byte() -> None:
    document = TomlDocument(SAMPLE)
    for path in [("name",), ("template", "messages"), ("guardrails",), ("models", "decision"), ("template",)]:
        assert not document.set(path, document.get(path))
    assert document.text == SAMPLE


def test_a_key_inside_an_inline_table_is_edited_in_place() -> None:
    document = TomlDocument(SAMPLE)
    document.set(("models", "decision", "provider"), "openai")
    assert 'decision = { provider = "openai", options = [1, 2.5, true] }' in document.text
    document.set(("models", "decision", "model"), "m")
    assert document.get(("models", "decision", "model")) == "m"
    document.remove(("models", "decision", "options"))
    assert 'decision = { provider = "openai", model = "m" }' in document.text


def test_rows_can_be_inserted_moved_and_removed_and_keep_their_comments() -> None:
    document = TomlDocument(SAMPLE)
    path = ("template", "messages")
    document.insert_row(path, 1, {"role": "assistant", "content": "between\n"})
    assert [row["role"] for row in document.get(path)] == ["system", "assistant", "user"]
    document.move_row(path, 2, 0)
    assert [row["role"] for row in document.get(path)] == ["user", "system", "assistant"]
    assert '# the second message\n[[template.messages]]\nrole = "user"' in document.text
    document.move_row(path, 0, 2)
    document.remove((*path, 1))
    assert document.get(path) == TomlDocument(SAMPLE).get(path)
    assert document.text.count("# the") == 2


def test_moving_there_and_back_gives_the_same_text() -> None:
    document = TomlDocument(SAMPLE)
    document.move_row(("template", "messages"), 0, 1)
    assert document.text != SAMPLE
    document.move_row(("template", "messages"), 1, 0)
    assert document.text == SAMPLE


def test_a_new_table_stands_before_the_tables_that_follow_it_in_the_usual_order() -> None:
    document = TomlDocument(SAMPLE)
    document.set(("translation", "type_name"), "T")
    assert (
        document.text.index("[guardrails]")
        < document.text.index("[translation]")
        < document.text.index("[models]")
    )


FORMS = {
    "headers": '[t]\na = 1\n[[t.rows]]\nn = "x"\n[[t.rows]]\nn = "y"\n[t.rows.sub]\nk = 1\n',
    "dotted": 't.a = 1\nt.rows = [{n = "x"}, {n = "y", sub = {k = 1}}]\n',
    "inline": 't = {a = 1, rows = [{n = "x"}, {n = "y", sub.k = 1}]}\n',
    "no final newline": '[t]\na = 1\n[[t.rows]]\nn = "x"\n[[t.rows]]\nn = "y"\nsub.k = 1',
    "crlf": '[t]\r\na = 1\r\n\r\n[[t.rows]]\r\nn = "x"\r\n\r\n[[t.rows]]\r\nn = "y"\r\nsub.k = 1\r\n',
}
EDITS: dict[str, Any] = {
    "set a value": lambda d: d.set(("t", "a"), 2),
    "add a key": lambda d: d.set(("t", "b"), "new\ntext"),
    "add a table": lambda d: d.set(("t", "sub"), {"k": 1, "deep": {"x": "y"}}),
    "add a top table": lambda d: d.set(("u",), {"k": 1}),
    "remove a key": lambda d: d.remove(("t", "a")),
    "change a row": lambda d: d.set(("t", "rows", 1, "n"), "z"),
    "add a row": lambda d: d.insert_row(("t", "rows"), 1, {"n": "q", "sub": {"k": 5}}),
    "add a first row": lambda d: d.insert_row(("t", "rows"), 0, {"n": "q"}),
    "add a last row": lambda d: d.insert_row(("t", "rows"), 2, {"n": "q"}),
    "remove a row": lambda d: d.remove(("t", "rows", 0)),
    "remove the last row": lambda d: d.remove(("t", "rows", 1)),
    "remove all rows": lambda d: d.remove(("t", "rows")),
    "move a row up": lambda d: d.move_row(("t", "rows"), 1, 0),
    "move a row down": lambda d: d.move_row(("t", "rows"), 0, 1),
    "replace all rows": lambda d: d.set(("t", "rows"), [{"n": "y", "sub": {"k": 1}}, {"n": "p"}, {"n": "q"}]),
    "a row of another kind": lambda d: d.insert_row(("t", "more"), 0, {"m": 1}),
    "rows become a text": lambda d: d.set(("t", "rows"), "text"),
    "a value becomes rows": lambda d: d.set(("t", "a"), [{"m": 1}]),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_edits_work_on_every_way_to_write_the_same_table(form: str, edit: Any) -> None:
    document = TomlDocument(form)
    plain = TomlDocument(FORMS["headers"])
    edit(document)
    edit(plain)
    assert read_toml(document.text) == document.values
    assert json.dumps(document.values, sort_keys=True) == json.dumps(plain.values, sort_keys=True)
    assert "\r\n" not in form or "\n" not in document.text.replace("\r\n", "")


PATHS = [
    ("name",),
    ("template", "null_text"),
    ("template", "messages", 0, "content"),
    ("template", "messages", 1, "content"),
    ("template", "contexts", "env", "odd key"),
    ("models", "decision", "provider"),
    ("new", "table", "key"),
]


@given(st.lists(st.tuples(st.sampled_from(PATHS), st.one_of(TEXT, QUOTED)), max_size=6), st.booleans())
@settings(max_examples=150, deadline=None)
def test_any_series_of_edits_reads_back(edits: list[tuple[tuple[str | int, ...], str]], crlf: bool) -> None:
    document = TomlDocument(SAMPLE.replace("\n", "\r\n") if crlf else SAMPLE)
    wanted = {}
    for path, value in edits:
        document.set(path, value)
        wanted[path] = value
    reread = TomlDocument(document.text)
    assert reread.values == document.values
    assert all(reread.get(path) == value for path, value in wanted.items())


def test_the_scanner_finds_the_same_paths_as_the_reader() -> None:
    found = scan(SAMPLE)
    for path, (start, end) in found.values.items():
        value = TomlDocument(SAMPLE).get(path)
        assert read_toml(f"v = {SAMPLE[start:end]}")["v"] == value
    assert ("models", "decision", "options", 1) in found.values


def test_a_lone_surrogate_stays_in_memory_and_is_replaced_in_the_file() -> None:
    document = TomlDocument(SAMPLE)
    document.set(("name",), "half \ud83d!")
    assert document.get(("name",)) == "half \ud83d!"
    assert "half \ufffd!" in document.text
    assert document.lone_surrogates() == [("name",)]
    document.text.encode("utf-8")


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("a = 1\na = 2\n", 2, 1, "exists"),
        ("[t]\nb = 1\n[t]\nc = 2\n", 3, 1, "exists"),
        ("a = \n", 1, 5, "a value is missing"),
        ('a = 1\nb = "x\n', 2, 5, "not closed"),
        ('a = 1\nb = """x\ny\n', 2, 5, "not closed"),
        ("a = 1\nb = [1,\n2\n", 2, 5, "not closed"),
        ("a = {b = 1\n", 1, 5, "not closed"),
        ("[t\n", 1, 1, "not closed"),
        ('a = "\\q"\n', 1, 7, "invalid character"),
        ("[t]\na = 1\n[[t.r]]\nn = 1\n[o]\nz = 1\n[t.r.s]\nk = 1\n", 7, 1, "after another"),
        ('a = "\\ud800"\n', 1, 7, "unicode"),
        ("a = 1 b = 2\n", 1, 7, "unexpected"),
        ("= 1\n", 1, 1, "key"),
        ("a = " + "[" * 5000, 1, None, "nested"),
        (".".join("a" * 5000) + " = 1", 1, None, "nested"),
    ],
    ids=[
        "double key",
        "double table",
        "no value",
        "open string",
        "open lines",
        "open array",
        "open inline table",
        "open header",
        "bad escape",
        "rows apart",
        "surrogate escape",
        "two values",
        "no key",
        "deep value",
        "deep key",
    ],
)
def test_broken_toml_is_placed_where_a_person_looks(
    text: str, line: int, column: int | None, words: str
) -> None:
    with pytest.raises(ProjectError) as caught:
        read_toml(text, "workbench.toml")
    (found,) = caught.value.diagnostics
    assert found.line == line
    assert column is None or found.column == column
    assert words in found.message.lower()
    assert found.file == "workbench.toml"


@given(st.text(max_size=60))
@settings(max_examples=300)
def test_the_scanner_and_the_reader_take_any_text(text: str) -> None:
    for read, error in ((scan, ScanError), (read_toml, ProjectError)):
        try:
            read(text)
        except error:
            continue


def test_naughty_strings_survive_as_texts_and_keys() -> None:
    strings = json.loads(shared_data("naughty-strings", "blns.json").read_text("utf-8"))
    document = TomlDocument(SAMPLE)
    for index, text in enumerate(strings):
        document.set(("template", "messages", index % 2, "content"), text)
        assert read_toml(document.text) == document.values
    rows = "".join(f"{write_key(text)} = {write_string(text)}\n" for text in dict.fromkeys(strings))
    assert read_toml(rows) == {text: text for text in strings}


def test_a_text_that_changes_often_is_written_when_the_file_is_asked_for() -> None:
    source = '# top\n[[template.messages]]\nrole = "user"\ncontent = """\nHi\n"""\n\n[[template.messages]]\nrole = "x"\ncontent = "a"\n'
    document = TomlDocument(source)
    for text in ("Hello\n", "Hello [%param.x%]\n", 'Bye """ \\ \n'):
        assert document.set(("template", "messages", 0, "content"), text)
        assert document.get(("template", "messages", 0, "content")) == text
    assert not document.set(("template", "messages", 0, "content"), 'Bye """ \\ \n')
    document.set(("template", "messages", 1, "content"), "b")
    document.insert_row(("template", "messages"), 1, {"role": "system", "content": "new"})
    document.set(("template", "messages", 2, "content"), "c")
    document.set(("name",), "N")
    read = read_toml(document.text)
    assert [m["content"] for m in read["template"]["messages"]] == ['Bye """ \\ \n', "new", "c"]
    assert read["name"] == "N"
    assert document.text.startswith('name = "N"\n# top\n')


@given(st.lists(st.tuples(st.integers(0, 1), st.text(max_size=12), st.booleans()), max_size=8))
def test_writing_late_loses_nothing_whenever_the_file_is_asked_for(edits) -> None:
    source = '[[template.messages]]\nrole = "user"\ncontent = """\nHi\n"""\n[[template.messages]]\nrole = "x"\ncontent = \'a\' # why\n'
    document = TomlDocument(source)
    for index, text, asked in edits:
        document.set(("template", "messages", index, "content"), text)
        if asked:
            assert read_toml(document.text) == document.values
    assert read_toml(document.text) == document.values
    assert document.text.endswith(" # why\n")


def test_a_text_that_is_changed_back_keeps_its_spelling() -> None:
    source = 'name = "caf\\u00e9"\n'
    document = TomlDocument(source)
    document.set(("name",), "tea")
    document.set(("name",), "café")
    assert document.text == source


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('t = [{n = "x"}] # d\nz = 1\n', "t = [] # d\nz = 1\n"),
        ('[a]\nb.t = [ # c\n  {n = "x"},\n]\nz = 1\n', "[a]\nb.t = []\nz = 1\n"),
        ('a = {b = {t = [{n = "x"}]}, z = 1}\n', "a = {b = {t = []}, z = 1}\n"),
    ],
    ids=["list", "dotted", "inside inline tables"],
)
def test_the_last_row_of_an_inline_list_can_be_removed_and_another_one_added(text: str, left: str) -> None:
    document = TomlDocument(text)
    path: tuple[str | int, ...] = ("t",) if text.startswith("t") else ("a", "b", "t")
    assert document.remove((*path, 0))
    assert document.text == left
    assert document.get(path) == []
    document.insert_row(path, 0, {"n": "new"})
    assert TomlDocument(document.text).get(path) == [{"n": "new"}]
