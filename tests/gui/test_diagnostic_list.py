"""The list of diagnostics leaves the most room to what is wrong, in a wide pane and in a narrow one."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from workbench.engine.diagnostics import Diagnostic
from workbench.gui.models.diagnostics import KEYWORD, LINE, MESSAGE, POINTER
from workbench.gui.shell.scale import px
from workbench.gui.widgets.diagnostic_list import DiagnosticList

SHORT = Diagnostic("error", "enum", "must be one of them", pointer="/a", keyword="enum", line=2, column=9)
LONG = Diagnostic(
    "error",
    "additionalProperties",
    "has a property that the schema does not name",
    pointer="/orders/0/lines/12/article/dimensions/height",
    keyword="additionalProperties",
    line=120,
    column=34,
)


def widths(found: DiagnosticList) -> list[int]:
    return [found.table.columnWidth(column) for column in (POINTER, KEYWORD, MESSAGE, LINE)]


@pytest.mark.parametrize("width", [320, 420, 560, 900])
@pytest.mark.parametrize("diagnostic", [SHORT, LONG], ids=["short", "long"])
def test_what_is_wrong_is_the_widest_column(qtbot: QtBot, width: int, diagnostic: Diagnostic) -> None:
    found = DiagnosticList()
    qtbot.addWidget(found)
    found.resize(px(width), px(240))
    found.show()
    found.show_diagnostics([diagnostic])
    pointer, keyword, message, line = widths(found)
    assert message > max(pointer, keyword, line)
    assert message >= found.table.viewport().width() * 0.4
    assert pointer + keyword + message + line <= found.table.viewport().width()


def test_short_pointers_and_keywords_take_no_more_than_their_words_need(qtbot: QtBot) -> None:
    found = DiagnosticList()
    qtbot.addWidget(found)
    found.resize(px(900), px(240))
    found.show()
    found.show_diagnostics([SHORT])
    before = widths(found)
    found.show_diagnostics([LONG])
    after = widths(found)
    assert before[0] < after[0]
    assert before[1] < after[1]
    assert before[2] > after[2]


def test_a_pointer_that_is_cut_is_in_the_tip_as_a_whole(qtbot: QtBot) -> None:
    from PySide6.QtCore import Qt

    found = DiagnosticList()
    qtbot.addWidget(found)
    found.show_diagnostics([LONG])
    tip = found.model.index(0, POINTER).data(Qt.ItemDataRole.ToolTipRole)
    assert LONG.pointer in tip
    assert LONG.message in tip
