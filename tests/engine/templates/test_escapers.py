"""Escapers: the parser of each destination reads back what was put in."""

from __future__ import annotations

import ast
import html.parser
import json
import re
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.shared_data import shared_data
from workbench.engine.templates import ESCAPERS, TemplateOptions, escapers, render_text

ANY = st.text(st.characters(codec=None), max_size=60)
NASTY = [
    "",
    "plain",
    'it\'s "quoted" \\ `tick`',
    "a\nb\rc\r\nd\te\x0b\x0c",
    "</doc> & <!-- ]]> &amp; &#39;",
    "$HOME $(id) !x; rm -rf *",
    "\x00\x01\x1f\x7f\x85\u2028\u2029",
    "\\u0041 \\n \\\\",
    "🙂e\u0301 ß \ud83d \udc00 x",
    "# *a* _b_ [c](d) <e> 1. - + ~ | ![x]",
    "^(a+)+$ .*?[]{}|\\d",
    "{{x}} [%y%] {z} ${q} %s",
]


@pytest.mark.parametrize("text", NASTY)
@given(more=ANY)
def test_a_json_string_reads_back(text: str, more: str) -> None:
    for value in (text, more):
        assert json.loads(f'"{escapers.json_string(value)}"') == value


@pytest.mark.parametrize("text", NASTY)
@given(more=ANY)
def test_a_python_literal_reads_back(text: str, more: str) -> None:
    for value in (text, more):
        assert ast.literal_eval(f'"{escapers.python_literal(value)}"') == value


@pytest.mark.parametrize("text", NASTY)
@given(more=ANY)
def test_a_regular_expression_matches_the_text_alone(text: str, more: str) -> None:
    for value in (text, more):
        for flags in (0, re.VERBOSE):
            assert re.fullmatch(escapers.regex(value), value, flags)
        assert not re.fullmatch(escapers.regex(value), value + "x")


def _xml_view(text: str) -> str:
    return re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", "\ufffd", text)


@pytest.mark.parametrize("text", NASTY)
@given(more=ANY)
def test_xml_reads_back_in_content_and_in_attributes(text: str, more: str) -> None:
    for value in (text, more):
        escaped = escapers.xml(value)
        root = ElementTree.fromstring(f"<a one=\"{escaped}\" two='{escaped}'>{escaped}</a>")
        seen = _xml_view(value)
        assert (root.text or "") == seen
        # An attribute reads line feeds and tabs as spaces: they are kept readable on purpose.
        flat = seen.replace("\n", " ").replace("\t", " ")
        assert root.get("one") == flat
        assert root.get("two") == flat


class _Reader(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.attributes: list[tuple[str, str | None]] = []

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += attrs


@pytest.mark.parametrize("text", NASTY)
@given(more=ANY)
def test_html_reads_back_in_content_and_in_attributes(text: str, more: str) -> None:
    for value in (text, more):
        escaped = escapers.html(value)
        reader = _Reader()
        reader.feed(f"<p one=\"{escaped}\" two='{escaped}'>{escaped}</p>")
        reader.close()
        seen = re.sub("[\x00\ud800-\udfff]", "\ufffd", value)
        assert reader.text == seen
        assert [value for _, value in reader.attributes] == [seen, seen]


@pytest.mark.parametrize("text", [text for text in NASTY if not set("\n\x00\ud83d") & set(text)])
def test_markdown_shows_the_text_itself(text: str) -> None:
    markdown_it = pytest.importorskip("markdown_it")
    tokens = markdown_it.MarkdownIt("commonmark").parse(f"x {escapers.markdown(text)} x")
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    assert "".join(child.content for child in tokens[1].children) == f"x {text} x"


@pytest.mark.skipif(shutil.which("sh") is None, reason="needs a POSIX shell")
def test_a_shell_reads_one_word() -> None:
    for text in NASTY:
        value = text.encode("utf-8", "surrogateescape").decode("utf-8") if text.isascii() else text
        if any("\ud800" <= character <= "\udfff" for character in value):
            continue
        script = f"printf '%s\\0' {escapers.shell(value)}"
        done = subprocess.run(["sh", "-c", script], capture_output=True, check=True)
        assert done.stdout.decode() == value.replace("\x00", "\ufffd") + "\0"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("javac") is None, reason="needs a Java compiler")
def test_a_java_compiler_reads_the_strings_back(tmp_path: Path) -> None:
    literals = ", ".join(f'"{escapers.java_string(text)}"' for text in NASTY)
    source = tmp_path / "Echo.java"
    source.write_text(
        "class Echo { public static void main(String[] a) { for (String s : new String[] {"
        + literals
        + '}) { StringBuilder b = new StringBuilder(); for (char c : s.toCharArray()) b.append((int) c).append(" ");'
        + " System.out.println(b.toString()); } } }",
        encoding="utf-8",
    )
    subprocess.run(
        ["javac", "-encoding", "UTF-8", str(source)], cwd=tmp_path, check=True, capture_output=True
    )
    done = subprocess.run(["java", "-cp", str(tmp_path), "Echo"], capture_output=True, check=True, text=True)
    read = [[int(unit) for unit in line.split()] for line in done.stdout.split("\n")[: len(NASTY)]]
    expected = []
    for text in NASTY:
        data = text.encode("utf-16-be", "surrogatepass")
        expected.append([int.from_bytes(data[i : i + 2]) for i in range(0, len(data), 2)])
    assert read == expected


def test_java_never_sees_a_unicode_escape_that_was_text() -> None:
    assert escapers.java_string("\\u000a") == "\\\\u000a"
    assert "\n" not in escapers.java_string("a\nb\rc\x85")


def test_every_escaper_takes_every_naughty_string() -> None:
    strings = json.loads(shared_data("naughty-strings", "blns.json").read_text(encoding="utf-8"))
    for text in strings:
        for name, escape in ESCAPERS.items():
            assert isinstance(escape(text), str), name
        assert json.loads(f'"{escapers.json_string(text)}"') == text
        assert ast.literal_eval(f'"{escapers.python_literal(text)}"') == text
        assert ElementTree.fromstring(f"<a>{escapers.xml(text)}</a>").text in (_xml_view(text), None)


@pytest.mark.parametrize("name", ESCAPERS)
def test_an_escaper_is_chosen_by_its_name(name: str) -> None:
    text = 'a"b<c>'
    rendering = render_text("[%param.x%]", {"x": text}, TemplateOptions(escape=name))
    assert rendering.text == ESCAPERS[name](text)
    assert rendering.placeholders[0].escaper == name


def test_an_unknown_escaper_is_refused_with_the_one_that_was_meant() -> None:
    with pytest.raises(ValueError, match="did you mean json_string"):
        render_text("x", {}, TemplateOptions(escape="json-string"))
