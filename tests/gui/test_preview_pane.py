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


def test_hovering_tells_how_often_a_path_matches_and_how_its_value_is_escaped(
    open_window: MainWindow, preview, settled
) -> None:
    session = open_window.session
    session.edit(
        "parameters", lambda p: p.set_parameter_set("default", '{"l": ["a", "<b>"], "q": "\\"x\\""}')
    )
    session.edit("template", lambda p: p.set_template_option("escape", "xml"))
    open_window.template.cards[1].editor.replace_text("[%param.l[*]%] [%param.q%]")
    settled(session)
    text = preview.text.raw_text()
    tip = preview.text.hover_text(text.index("a, "))
    for part in ("2 matches", "/l/0", "array", "escaped as xml", "&amp;lt;b&amp;gt;"):
        assert part in tip
    assert "1 match" in preview.text.hover_text(text.index("&quot;x"))


def test_a_missing_value_says_why_on_hover(open_window: MainWindow, preview, settled) -> None:
    open_window.template.cards[1].editor.replace_text("[%param.nam%]")
    settled(open_window.session)
    tip = preview.text.hover_text(preview.text.raw_text().index("[%param.nam%]") + 2)
    assert "is unresolved" in tip
    assert "did you mean name?" in tip


def test_the_json_view_is_tinted_hovered_and_clicked_like_the_messages(
    open_window: MainWindow, preview, settled
) -> None:
    preview.view_switch.choose("json")
    text = preview.json.raw_text()
    assert [text[t.start : t.end] for t in preview.json._tints] == ["Fernhill", "Ann", "41"]
    preview.json.clicked.emit(text.index("41"))
    editor = open_window.template.cards[1].editor
    start, end = editor.selection()
    assert editor.raw_text()[start:end] == "[%param.age%]"
    settled(open_window.session)
    assert [text[a:b] for a, b in preview.json._outlines] == ["41"]


def test_the_menu_of_a_value_leads_to_the_parameter_too(open_window: MainWindow, preview) -> None:
    menu = preview.menu_at(preview.text, preview.text.raw_text().index("Ann"))
    actions = {action.text(): action for action in menu.actions()}
    assert list(actions)[:2] == ["Go to placeholder", "Go to parameter"]
    actions["Go to parameter"].trigger()
    editor = open_window.data.parameters.editor()
    start, end = editor.selection()
    assert editor.raw_text()[start:end] == '"Ann"'
    assert "Go to placeholder" not in [a.text() for a in preview.menu_at(preview.text, 0).actions()]


def test_what_differs_between_two_sets_stands_out(open_window: MainWindow, preview, settled) -> None:
    session = open_window.session
    other = '{"company": {"name": "Fernhill"}, "name": "Bob", "age": 41}'
    session.edit("parameters", lambda p: p.set_parameter_set("other", other))
    open_window.actions_by_id["project.compare-previews"].trigger()
    settled(session)
    assert (preview.first_name.text(), preview.second_name.text()) == ("default", "other")
    assert preview.difference.text() == "1 value differs"
    for text in (preview.text, preview.second):
        bold = [text.raw_text()[t.start : t.end] for t in text._tints if t.bold]
        assert bold in (["Ann"], ["Bob"])
    open_window.template.cards[1].editor.replace_text("Same for all.\n")
    settled(session)
    assert preview.difference.text() == "no value differs"
    open_window.actions_by_id["project.compare-previews"].trigger()
    settled(session)
    assert not preview.second.isVisible()
    assert not preview.heads.isVisible()


def test_the_two_sides_scroll_together(open_window: MainWindow, preview, settled) -> None:
    text = "".join(f"line {i} [%param.name%]\n" for i in range(300))
    open_window.template.cards[1].editor.replace_text(text)
    open_window.actions_by_id["project.compare-previews"].trigger()
    settled(open_window.session)
    preview.text.verticalScrollBar().setValue(150)
    assert preview.second.verticalScrollBar().value() == pytest.approx(150, abs=2)
    preview.second.verticalScrollBar().setValue(20)
    assert preview.text.verticalScrollBar().value() == pytest.approx(20, abs=2)


def test_each_message_is_counted(open_window: MainWindow, preview, settled) -> None:
    assert not preview.counts.isVisible()
    preview.each.click()
    lines = preview.counts.text().split("\n")
    assert preview.counts.isVisible()
    assert lines[0].startswith("system: 24 characters · 4 words · about")
    assert lines[1].startswith("user: 23 characters · 5 words · about")


def test_the_number_of_parts_in_json_and_messages_agree_for_ten_thousand_values(
    open_window: MainWindow, preview, settled
) -> None:
    open_window.template.cards[1].editor.replace_text("[%param.name%] " * 6000)
    settled(open_window.session)
    preview.view_switch.choose("json")
    assert len(preview.text._tints) == len(preview.json._tints) == 5000


@pytest.fixture
def long_prompt(open_window: MainWindow, preview, settled):
    """A message of 200 lines, each with a value, of which the preview shows a few."""
    lines = "\n".join(f"line {n}: [%param.part{n}%]" for n in range(200))
    values = ", ".join(f'"part{n}": "value {n}"' for n in range(200))
    session = open_window.session
    session.edit("parameters", lambda p: p.set_parameter_set("default", f'{{"name": "Ann", {values}}}'))
    open_window.template.cards[1].editor.replace_text(lines)
    settled(session)
    return open_window


def _in_view(preview, words: str, text=None) -> bool:
    text = text or preview.text
    start = text.raw_text().index(words)
    boxes = text.span_boxes(start, start + len(words))
    return bool(boxes) and text.viewport().rect().contains(boxes[0].center().toPoint())


def _framed(preview) -> list[str]:
    text = preview.text.raw_text()
    return [text[start:end] for start, end in preview.text._outlines]


def test_the_preview_scrolls_to_the_value_of_the_placeholder_at_the_caret(
    long_prompt: MainWindow, preview
) -> None:
    editor = long_prompt.template.cards[1].editor
    for number in (150, 3, 199):
        editor.go_to(editor.raw_text().index(f"part{number}%"))
        assert _in_view(preview, f"value {number}")
        assert _framed(preview) == [f"value {number}"]
    at = preview.text.verticalScrollBar().value()
    editor.go_to(editor.raw_text().index("part198%"))
    assert preview.text.verticalScrollBar().value() == at, "what is in view already does not jump"


def test_the_json_view_scrolls_too(long_prompt: MainWindow, preview, settled) -> None:
    preview.view_switch.choose("json")
    settled(long_prompt.session)
    editor = long_prompt.data.parameters.editor()
    editor.go_to(editor.raw_text().index("value 120"))
    assert _in_view(preview, "value 120", preview.json)


def test_the_frame_follows_a_value_while_it_is_typed(long_prompt: MainWindow, preview, settled) -> None:
    editor = long_prompt.data.parameters.editor()
    at = editor.raw_text().index("value 77") + len("value 77")
    editor.go_to(at)
    assert _framed(preview) == ["value 77"]
    editor.edit_span(at, at, " and more")
    settled(long_prompt.session)
    assert _framed(preview) == ["value 77 and more"]
    assert _in_view(preview, "value 77 and more")
    long_prompt.template.cards[0].editor.edit_span(0, 0, "Pushed along. ")
    settled(long_prompt.session)
    assert _framed(preview) == ["value 77 and more"]
