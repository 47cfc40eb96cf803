"""The text of an editor is the engine's text, character by character."""

from __future__ import annotations

import json

import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QApplication

from tests.shared_data import shared_data
from workbench.engine.diagnostics import Diagnostic
from workbench.engine.templates.options import TemplateOptions
from workbench.gui.editor import CodeEditor, EditorText, PygmentsHighlighter, TemplateHighlighter, Tint

TEXTS = {
    "empty": "",
    "plain": "one\ntwo",
    "final newline": "one\n",
    "only newlines": "\n\n\n",
    "crlf": "one\r\ntwo\r\n",
    "cr": "one\rtwo",
    "mixed line ends": "one\r\ntwo\nthree\rfour",
    "stray cr and its stand-in": "a\rb\n\u240d",
    "no-break space": "a\u00a0b",
    "line separator": "a\u2028b",
    "paragraph separator": "a\u2029b",
    "next line and form feed": "a\u0085b\x0cc\x0bd",
    "astral": "😀 and 👩‍👩‍👧 and 𝒳",
    "combining": "e\u0301 a\u200b\u200d",
    "right to left": "שלום [%param.x%] عليكم",
    "bom inside": "\ufeffa\ufeff",
    "swapped bom": "\ufffea",
    "noncharacters": "\ufdd0\ufdd1\uffff",
    "null": "a\x00b",
    "tabs and blanks": "\t a \t\n  \t",
    "lone surrogate": "a\ud800b",
    "private use": "\ue000\ue001\r\n\u2029\n",
    "quotes": "'''\"\"\"\\",
}


@pytest.fixture
def editor(qtbot) -> CodeEditor:
    made = CodeEditor(name="test")
    qtbot.addWidget(made)
    made.resize(600, 400)
    made.show()
    return made


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_a_text_comes_back_exactly(editor: CodeEditor, text: str) -> None:
    editor.set_text(text)
    editor._text_cache = None
    assert editor.raw_text() == text


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_replacing_and_undoing_bring_the_text_back_exactly(editor: CodeEditor, text: str) -> None:
    editor.set_text("before\nit")
    editor.replace_text(text)
    assert editor.raw_text() == text
    editor.undo()
    assert editor.raw_text() == "before\nit"


def test_the_public_list_of_naughty_strings_survives(editor: CodeEditor) -> None:
    folder = shared_data("naughty-strings")
    texts = [s for file in sorted(folder.glob("*.json")) for s in json.loads(file.read_text("utf-8"))]
    if not texts:
        texts = [f.read_bytes().decode("utf-8") for f in sorted(folder.iterdir()) if f.is_file()]
    assert len(texts) > 0
    for text in texts:
        editor.set_text(text)
        editor._text_cache = None
        assert editor.raw_text() == text


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_offsets_and_positions_are_inverse_at_every_character(text: str) -> None:
    both = EditorText(text)
    for offset in range(len(text) + 1):
        if both.newline == "\r\n" and text[max(0, offset - 1) : offset + 1] == "\r\n":
            continue  # between CR and LF there is no place in the editor
        assert both.to_offset(both.to_position(offset)) == offset


def test_positions_count_utf16_units_and_one_unit_per_line_end() -> None:
    both = EditorText("😀\r\na")
    assert [both.to_position(offset) for offset in (0, 1, 3, 4)] == [0, 2, 3, 4]


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_a_text_put_into_a_crlf_text_comes_back_exactly(editor: CodeEditor, text: str) -> None:
    editor.set_text("a\r\nb\r\n")
    editor.replace_text(text)
    editor._text_cache = None
    assert editor.raw_text() == text
    editor.undo()
    assert editor.raw_text() == "a\r\nb\r\n"


def test_typing_an_enter_in_a_crlf_text_writes_crlf(editor: CodeEditor, qtbot) -> None:
    editor.set_text("a\r\nb")
    editor.moveCursor(QTextCursor.MoveOperation.End)
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.keyClick(editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert editor.raw_text() == "a\r\nb\r\n\r\n"


def test_copy_and_paste_keep_no_break_spaces(editor: CodeEditor) -> None:
    editor.set_text("a\u00a0b\u2028c\nd")
    editor.selectAll()
    editor.copy()
    assert QApplication.clipboard().text() == "a\u00a0b\u2028c\nd"
    data = QMimeData()
    data.setText("x\r\ny\u00a0z")
    editor.insertFromMimeData(data)
    assert editor.raw_text() == "x\ny\u00a0z"


def test_replace_text_touches_only_what_differs_and_keeps_the_scroll_position(editor: CodeEditor) -> None:
    editor.set_text("\n".join(f"line {i}" for i in range(500)))
    editor.verticalScrollBar().setValue(200)
    removed: list[tuple[int, int, int]] = []
    editor.document().contentsChange.connect(lambda *change: removed.append(change))
    editor.replace_text(editor.raw_text().replace("line 250", "LINE 250"))
    assert [(change[1], change[2]) for change in removed] == [(4, 4)]
    assert editor.verticalScrollBar().value() == 200


def test_setting_the_text_says_nothing_and_typing_says_edited(editor: CodeEditor, qtbot) -> None:
    said: list[int] = []
    editor.edited.connect(lambda: said.append(1))
    editor.set_text("abc")
    assert not said
    qtbot.keyClicks(editor, "x")
    assert said


def test_the_text_is_not_read_while_typing_goes_on(editor: CodeEditor, qtbot) -> None:
    editor.set_text("abc " * 100)
    editor.set_diagnostics([Diagnostic("error", "x", "bad", 4, 7, 1)])
    qtbot.keyClicks(editor, "xyz")
    assert not editor.text_is_read()


@pytest.mark.parametrize(
    ("text", "caret", "pair"),
    [
        ("(a)", 0, (0, 2)),
        ("(a)", 3, (2, 0)),
        ("{[()]}", 1, (1, 4)),
        ("((a)", 0, None),
        ("abc", 1, None),
        ("😀{😀}", 2, (2, 5)),
    ],
    ids=["open", "behind close", "nested", "unclosed", "none", "astral"],
)
def test_brackets_find_their_partner(editor: CodeEditor, text: str, caret: int, pair: object) -> None:
    editor.set_text(text)
    cursor = editor.textCursor()
    cursor.setPosition(caret)
    editor.setTextCursor(cursor)
    assert editor.matching_brackets() == pair


def test_a_squiggle_has_a_hover_text_at_its_place_and_nowhere_else(editor: CodeEditor) -> None:
    editor.set_text("alpha beta gamma")
    found = Diagnostic("error", "x", "beta <is> wrong", 6, 10, 1, 7, "/b", "write it anew", keyword="enum")
    editor.set_diagnostics([found])
    assert "beta &lt;is&gt; wrong" in editor.hover_text(7)
    assert "/b" in editor.hover_text(7)
    assert "write it anew" in editor.hover_text(7)
    assert editor.hover_text(2) == ""
    assert editor.gutter.marks == {1: "error"}


def test_a_tint_and_a_squiggle_on_one_place_become_one_format(editor: CodeEditor) -> None:
    editor.set_text("alpha beta gamma")
    editor.set_tints([Tint(6, 10, "missing_tint", "rejected")])
    editor.set_diagnostics([Diagnostic("error", "x", "bad", 6, 10, 1)])
    assert len(editor._marks) == 1
    style = editor._marks[0].format
    assert style.background().style() != Qt.BrushStyle.NoBrush
    assert style.underlineStyle() == style.UnderlineStyle.WaveUnderline


def test_only_visible_places_are_marked(editor: CodeEditor) -> None:
    text = "".join(f"line {i}\n" for i in range(3000))
    editor.set_text(text)
    editor.set_diagnostics(
        [Diagnostic("error", "x", "bad", m, m + 4, 1) for m in range(0, len(text) - 10, 10)]
    )
    assert 0 < len(editor.extraSelections()) < 100


def test_a_very_long_line_is_shown_but_not_edited_unasked(editor: CodeEditor, qtbot) -> None:
    said: list[bool] = []
    editor.long_line.connect(said.append)
    editor.set_text("x" * 150_000)
    assert said == [True]
    qtbot.keyClicks(editor, "y")
    assert len(editor.raw_text()) == 150_000
    editor.edit_anyway()
    qtbot.keyClicks(editor, "y")
    assert len(editor.raw_text()) == 150_001


def _formats(editor: CodeEditor, line: int = 0) -> list[tuple[str, str]]:
    block = editor.document().findBlockByNumber(line)
    units = block.text().encode("utf-16-le")
    return [
        (
            units[2 * f.start : 2 * (f.start + f.length)].decode("utf-16-le"),
            f.format.foreground().color().name(),
        )
        for f in block.layout().formats()
    ]


@pytest.mark.parametrize(
    ("options", "names", "text", "tinted"),
    [
        (TemplateOptions(), (), "a [%param.x%] b", ["[%param.x%]"]),
        (TemplateOptions(), (), "😀 [%param.x%]", ["[%param.x%]"]),
        (TemplateOptions(), (), "[% [%param.x%]", ["[%param.x%]"]),
        (TemplateOptions(context_name="p"), (), "[%p.x%]", ["[%p.x%]"]),
        (TemplateOptions(dialect="braces"), ("name",), "{name} {other}", ["{name}"]),
        (TemplateOptions(dialect="braces", required=("input",)), (), "{input}", ["{input}"]),
        (TemplateOptions(dialect="double-braces"), (), "{{a.b}} {x}", ["{{a.b}}"]),
    ],
    ids=["context", "astral", "restart", "renamed", "braces", "declared", "double"],
)
def test_placeholders_of_every_dialect_are_tinted(qtbot, options, names, text, tinted) -> None:
    editor = CodeEditor()
    qtbot.addWidget(editor)
    highlighter = TemplateHighlighter(editor.document(), options)
    highlighter.configure(options, frozenset(names))
    editor.set_text(text)
    highlighter.rehighlight()
    value = "#1c449f"
    assert [part for part, color in _formats(editor) if color == value] == tinted


def test_a_literal_placeholder_looks_like_text_not_like_a_value(qtbot) -> None:
    editor = CodeEditor()
    qtbot.addWidget(editor)
    highlighter = TemplateHighlighter(editor.document())
    editor.set_text(r"\[%param.x%]")
    highlighter.rehighlight()
    assert "#1c449f" not in [color for _, color in _formats(editor)]


def test_json_is_coloured_by_line(qtbot) -> None:
    editor = CodeEditor()
    qtbot.addWidget(editor)
    highlighter = PygmentsHighlighter(editor.document(), "json")
    editor.set_text('{"a😀": "b", "n": 1.5}')
    highlighter.rehighlight()
    colors = dict(_formats(editor))
    assert colors['"a😀"'] == "#0b5d7e"
    assert colors['"b"'] == "#7a4a06"
    assert colors["1.5"] == "#6c41a6"
