"""The views that translation and history share: code with marks, JSON as a tree, a conversation that folds."""

from __future__ import annotations

from PySide6.QtGui import QTextFormat
from pytestqt.qtbot import QtBot

from workbench.gui.models.json_tree import JsonTreeModel
from workbench.gui.widgets.code_view import CodeView, Mark, token_spans
from workbench.gui.widgets.conversation import FOLDED_LINES, ConversationView, Turn


def test_offsets_are_those_of_the_text_also_behind_emoji_and_crlf(qtbot: QtBot) -> None:
    text = "🙂 line one\r\nsecond 🙂 word\r\n"
    view = CodeView()
    qtbot.addWidget(view)
    view.set_code(text)
    assert view.code() == text
    start = text.index("word")
    view.go_to(start, start + 4)
    found = next(s for s in view.extraSelections() if s.cursor.hasSelection())
    assert found.cursor.selectedText() == "word"


def test_a_marked_span_and_problems_are_shown_where_they_are(qtbot: QtBot) -> None:
    text = 'Sure:\n{"a": "x",\n "b": 1}\nDone.'
    view = CodeView()
    qtbot.addWidget(view)
    view.resize(400, 200)
    view.show()
    start, end = text.index("{"), text.index("}") + 1
    view.set_code(text, "json", region=(start, end))
    view.mark_span((start, end))
    where = text.index('"x"')
    view.set_marks([Mark(where, where + 3, "error_mark", "not one of them")])
    whole = QTextFormat.Property.FullWidthSelection
    tinted = [s for s in view.extraSelections() if s.format.boolProperty(whole)]
    assert [s.cursor.blockNumber() for s in tinted] == [1, 2]
    marked = [s.cursor.selectedText() for s in view.extraSelections() if not s.format.boolProperty(whole)]
    assert marked == ['{"a": "x",', ' "b": 1}', '"x"']


def test_a_text_that_grows_keeps_the_place_of_the_reader(qtbot: QtBot) -> None:
    view = CodeView()
    qtbot.addWidget(view)
    view.resize(300, 120)
    view.show()
    lines = "\n".join(f"line {k}" for k in range(100))
    view.set_code(lines)
    view.verticalScrollBar().setValue(10)
    view.set_code(lines + "\nmore")
    assert view.verticalScrollBar().value() == 10
    assert view.toPlainText().endswith("more")


def test_only_the_region_of_a_reply_is_coloured_as_json() -> None:
    text = 'Is "this" JSON? {"a": 1}'
    start = text.index("{")
    spans = token_spans(text, "json", start, None)
    assert spans
    assert all(span[0] >= start for span in spans)
    assert (text.index('"a"'), text.index('"a"') + 3, "json_key") in spans
    assert token_spans(text, "no-such-language") == []


def test_a_json_tree_names_every_value_by_pointer_and_type() -> None:
    model = JsonTreeModel()
    model.set_value({"a/b": [1, None, {"t": True}], "e": {}, "f": 1.5})
    for pointer, shown, kind in (
        ("/a~1b", "[ 3 ]", "array"),
        ("/a~1b/0", "1", "integer"),
        ("/a~1b/1", "null", "null"),
        ("/a~1b/2/t", "true", "boolean"),
        ("/e", "{ }", "object"),
        ("/f", "1.5", "number"),
    ):
        index = model.index_of(pointer)
        assert index.data(JsonTreeModel.PointerRole) == pointer
        assert (index.siblingAtColumn(1).data(), index.siblingAtColumn(2).data()) == (shown, kind)
    assert not model.index_of("/missing").isValid()
    model.clear()
    assert model.rowCount() == 0
    model.set_value(None)
    assert model.rowCount() == 1


def test_long_messages_fold_and_open_on_demand(qtbot: QtBot) -> None:
    view = ConversationView()
    qtbot.addWidget(view)
    view.resize(400, 300)
    view.show()
    text = "\n".join(f"line {k}" for k in range(50))
    view.set_turns(
        [Turn("user", text, "request prompt"), Turn("assistant", "short", "reply 1", current=True)]
    )
    first, second = view._cards
    assert first.body.code().count("\n") == FOLDED_LINES - 1
    assert first.more.text() == f"… {50 - FOLDED_LINES} more lines"
    first.more.click()
    assert first.body.code() == text
    assert second.body.code() == "short"
    first.head.click()
    assert not first.body.isVisible()


def test_unchanged_messages_keep_their_widgets_while_a_reply_grows(qtbot: QtBot) -> None:
    view = ConversationView()
    qtbot.addWidget(view)
    view.set_turns([Turn("user", "question"), Turn("assistant", "an")])
    cards = list(view._cards)
    view.set_turns([Turn("user", "question"), Turn("assistant", "an answer")])
    assert view._cards == cards
    assert [turn.text for turn in view.turns()] == ["question", "an answer"]
    view.set_turns([])
    assert view.turns() == []
