"""The preview: the prompt as it is sent, tinted, and the way back to where each value came from."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor

from workbench.gui.main_window import MainWindow


@pytest.fixture
def preview(open_window: MainWindow):
    return open_window.docks.pane("preview")


def _tinted(preview) -> list[tuple[str, str]]:
    text = preview.text.raw_text()
    return [(text[t.start : t.end], t.ground) for t in preview.text._tints]


def test_values_are_tinted_and_roles_stand_beside_the_messages(preview) -> None:
    assert preview.text.raw_text() == "You greet for Fernhill.\nHello Ann, you are 41."
    assert _tinted(preview) == [("Fernhill", "value_tint"), ("Ann", "value_tint"), ("41", "value_tint")]
    assert [section.role for section in preview.text.sections] == ["system", "user"]


def test_values_of_contexts_and_fields_have_their_own_tints(
    open_window: MainWindow, preview, settled
) -> None:
    session = open_window.session
    session.edit("template", lambda p: p.set_template_option("contexts", {"sys": {"day": "Monday"}}))
    session.edit("template", lambda p: p.set_template_option("fields", {"mail": "a@b"}))
    open_window.template.cards[1].editor.replace_text("[%sys.day%] [%mail%] [%param.name%]")
    settled(session)
    assert _tinted(preview)[1:] == [("Monday", "context_tint"), ("a@b", "field_tint"), ("Ann", "value_tint")]


def test_a_missing_value_cannot_be_overlooked(open_window: MainWindow, preview, settled) -> None:
    open_window.template.cards[1].editor.replace_text("Dear [%param.title%]")
    settled(open_window.session)
    assert preview.banner.isVisible()
    assert preview.banner.words.text() == "1 value is missing."
    assert ("[%param.title%]", "missing") in _tinted(preview)
    preview.banner.link.click()
    assert open_window.template.cards[1].editor.selection() == (5, 20)


def test_a_click_on_a_value_goes_to_its_placeholder(open_window: MainWindow, preview) -> None:
    offset = preview.text.raw_text().index("41")
    preview.text.clicked.emit(offset)
    editor = open_window.template.cards[1].editor
    start, end = editor.selection()
    assert editor.raw_text()[start:end] == "[%param.age%]"


def test_hovering_tells_path_value_type_and_source(preview) -> None:
    tip = preview.text.hover_text(preview.text.raw_text().index("Ann"))
    for part in ("param.name", "Ann", "string", "/name", "from the parameters"):
        assert part in tip


def test_only_the_difference_is_applied(open_window: MainWindow, preview, settled) -> None:
    open_window.template.cards[1].editor.replace_text(
        "".join(f"line {i} [%param.name%]\n" for i in range(300))
    )
    settled(open_window.session)
    bar = preview.text.verticalScrollBar()
    bar.setValue(150)
    cursor = preview.text.textCursor()
    cursor.setPosition(40)
    cursor.setPosition(50, QTextCursor.MoveMode.KeepAnchor)
    preview.text.setTextCursor(cursor)
    bar.setValue(150)
    changes: list[tuple[int, int]] = []
    preview.text.document().contentsChange.connect(lambda _at, out, new: changes.append((out, new)))
    editor = open_window.template.cards[1].editor
    editor.edit_span(len(editor.raw_text()), len(editor.raw_text()), "more")
    settled(open_window.session)
    assert preview.text.raw_text().endswith("more")
    assert all(out <= 2 and new <= 6 for out, new in changes)
    assert bar.value() == 150
    assert preview.text.textCursor().selectedText() != ""


def test_the_json_view_shows_what_is_sent(preview) -> None:
    import json

    preview.view_switch.choose("json")
    assert json.loads(preview.json.raw_text()) == [
        {"role": "system", "content": "You greet for Fernhill.\n"},
        {"role": "user", "content": "Hello Ann, you are 41.\n"},
    ]
    preview.view_switch.choose("messages")
    assert preview.views.currentIndex() == 0


def test_two_sets_can_be_seen_side_by_side(open_window: MainWindow, preview, settled) -> None:
    open_window.actions_by_id["project.compare-previews"].trigger()
    settled(open_window.session)
    assert preview.compare.currentText() == "other"
    assert preview.second.isVisible()
    assert "Hello Bob, you are 7." in preview.second.raw_text()
    assert "Hello Ann" in preview.text.raw_text()


def test_counts_follow_the_text(open_window: MainWindow, preview, settled) -> None:
    assert preview.foot.text().startswith("47 characters · 9 words")
    open_window.template.cards[1].editor.replace_text("one two three")
    settled(open_window.session)
    assert preview.foot.text().startswith("37 characters · 7 words")
    assert "tokens" in open_window.status_line.tokens.text()


def test_a_value_with_placeholder_text_is_shown_as_it_is(open_window: MainWindow, preview, settled) -> None:
    editor = open_window.data.parameters.editor()
    editor.replace_text('{"company": {"name": "F"}, "name": "[%param.age%]", "age": 1}')
    settled(open_window.session)
    assert "Hello [%param.age%], you are 1." in preview.text.raw_text()
    assert not preview.banner.isVisible()


def test_astral_and_crlf_values_are_tinted_at_the_right_place(
    open_window: MainWindow, preview, settled
) -> None:
    editor = open_window.data.parameters.editor()
    editor.replace_text('{"company": {"name": "😀😀\\r\\n𝒳"}, "name": "שלום", "age": 1}')
    settled(open_window.session)
    assert [part for part, _ in _tinted(preview)] == ["😀😀\r\n𝒳", "שלום", "1"]
    assert preview.text.cursor().shape() in (Qt.CursorShape.ArrowCursor, Qt.CursorShape.IBeamCursor)
