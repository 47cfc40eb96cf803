"""The options of the template: each shows what it does at once."""

from __future__ import annotations

import pytest

from workbench.gui.main_window import MainWindow

VALUE = '{"q": "a<b", "none": null, "l": [1, 2], "inner": "[%param.q%]"}'


@pytest.fixture
def options(open_window: MainWindow, settled):
    session = open_window.session
    session.edit("parameters", lambda p: p.set_parameter_set("default", VALUE))
    open_window.template.cards[0].editor.replace_text("x")
    open_window.template.cards[1].editor.replace_text(
        "[%param.q%]|[%param.none%]|[%param.l[*]%]|[%param.inner%]|[%param.no%]"
    )
    pane = open_window.docks.show_pane("options")
    settled(session)
    return pane


def _sent(window: MainWindow) -> str:
    return window.session.rendering().messages[1].text


def _choose(combo, value: str) -> None:
    index = combo.findData(value)
    combo.setCurrentIndex(index if index >= 0 else combo.findText(value))
    combo.activated.emit(combo.currentIndex())


def test_without_options_nothing_is_changed(options, open_window: MainWindow) -> None:
    assert _sent(open_window) == "a<b||1, 2|[%param.q%]|[%param.no%]"
    assert options.note.text() == "5 placeholders: 4 filled, 0 empty, 1 without a value."
    assert options.effect.text() == "These options change no value at the moment."


@pytest.mark.parametrize(
    ("change", "sent", "shown"),
    [
        (lambda p: _choose(p.escape, "html"), "a&lt;b||1, 2|[%param.q%]|[%param.no%]", "a&amp;lt;b"),
        (
            lambda p: (p.null_text.setText("none"), p.null_text.editingFinished.emit()),
            "a<b|none|1, 2|[%param.q%]|[%param.no%]",
            "none",
        ),
        (lambda p: _choose(p.choices["many"], "json"), "a<b||[1, 2]|[%param.q%]|[%param.no%]", "[1, 2]"),
        (lambda p: _choose(p.choices["many"], "first"), "a<b||1|[%param.q%]|[%param.no%]", "<code>1</code>"),
        (lambda p: _choose(p.choices["unresolved"], "empty"), "a<b||1, 2|[%param.q%]|", "<i>nothing</i>"),
        (lambda p: p.switches["expand_parameters"].click(), "a<b||1, 2|a<b|[%param.no%]", "a&lt;b"),
    ],
    ids=["escaper", "null text", "many json", "many first", "unresolved", "expansion"],
)
def test_each_option_shows_in_preview_and_panel_at_once_and_is_undone(
    options, open_window: MainWindow, settled, change, sent, shown
) -> None:
    before = _sent(open_window)
    change(options)
    settled(open_window.session)
    assert _sent(open_window) == sent
    assert sent in open_window.docks.pane("preview").text.raw_text()
    assert shown in options.effect.text()
    open_window.session.undo_stack.undo()
    settled(open_window.session)
    assert _sent(open_window) == before


def test_stopping_with_an_error_makes_the_missing_value_one(
    options, open_window: MainWindow, settled
) -> None:
    _choose(options.choices["unresolved"], "error")
    settled(open_window.session)
    errors = [d for d in open_window.session.diagnostics() if d.severity == "error"]
    assert [d.node for d in errors if d.node] == ["/1/content"]


def test_another_context_name_makes_other_placeholders(options, open_window: MainWindow, settled) -> None:
    options.context_name.setText("p")
    options.context_name.editingFinished.emit()
    settled(open_window.session)
    assert len(open_window.session.rendering().unresolved) == 5
    open_window.template.cards[1].editor.replace_text("[%p.q%]")
    settled(open_window.session)
    assert _sent(open_window) == "a<b"


@pytest.mark.parametrize("name", ["", "a.b", "x%]"])
def test_a_context_name_that_no_placeholder_can_carry_is_refused(
    options, open_window: MainWindow, name: str
) -> None:
    options.context_name.setText(name)
    options.context_name.editingFinished.emit()
    assert open_window.session.snapshot().template.context_name == "param"
    assert options.context_name.text() == "param"


def test_a_dialect_that_loses_something_is_refused_with_the_place(
    options, open_window: MainWindow, settled
) -> None:
    open_window.template.cards[1].editor.replace_text("first\n[%param.l[0]%]")
    settled(open_window.session)
    options.set_dialect("braces")
    assert "line 2, column 1" in options.note.text()
    assert "message user" in options.note.text()
    assert open_window.session.snapshot().template.dialect == "context"
    assert options.dialect.currentData() == "context"
    editor = open_window.template.cards[1].editor
    start, end = editor.selection()
    assert editor.raw_text()[start:end] == "[%param.l[0]%]"


def test_declared_names_lose_their_marks_with_the_dialect(options, open_window: MainWindow, settled) -> None:
    session = open_window.session
    session.edit("template", lambda p: p.set_template_option("required", ["[%param.q%]"]))
    open_window.template.cards[1].editor.replace_text("[%param.q%]")
    settled(session)
    options.set_dialect("double-braces")
    settled(session)
    assert session.snapshot().messages[1].content == "{{q}}"
    assert session.snapshot().template.required == ("param.q",)
    session.undo_stack.undo()
    assert session.snapshot().template.required == ("[%param.q%]",)


def test_filled_member_names_and_blank_lines_are_options_too(
    options, open_window: MainWindow, settled
) -> None:
    session = open_window.session
    session.edit("template", lambda p: p.set_template_option("optional", ["no"]))
    open_window.template.cards[1].editor.replace_text("a\n\n[%param.no%]\n\nb")
    settled(session)
    assert _sent(open_window) == "a\n\n\nb"
    options.switches["collapse_blank_lines"].click()
    settled(session)
    assert _sent(open_window) == "a\n\nb"
    options.switches["literal_escape"].click()
    open_window.template.cards[1].editor.replace_text("\\\\[%param.q%]".replace("\\\\", "\\"))
    settled(session)
    assert _sent(open_window) == "\\a<b"
