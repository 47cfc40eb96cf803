"""The command line says outcomes in the window's words; JSON keeps their names."""

from __future__ import annotations

import pytest

from workbench.cli.tool_runs import tools_text, tools_to_json
from workbench.cli.translations import record_text, record_to_json, short_text
from workbench.engine.tools import ToolRun
from workbench.engine.translation import Attempt, TranslationRecord


@pytest.mark.parametrize(
    ("outcome", "words"), [("truncated", "cut off"), ("no_json", "no JSON"), ("budget", "out of budget")]
)
def test_a_translation_without_a_value_says_why_in_words(outcome: str, words: str) -> None:
    attempt = Attempt(1, (), 0, reply="{", outcome=outcome)
    record = TranslationRecord((attempt,), (), outcome, None, "The reply ended.")
    text = record_text(record)
    assert f"attempt 1: {words} (" in text
    assert f"no value ({words}): The reply ended." in text
    assert short_text(record) == words
    assert record_to_json(record)["outcome"] == outcome


def test_an_answer_that_was_cut_off_says_so() -> None:
    run = ToolRun("truncated", "", (), (), "The limit was reached.")
    assert tools_text(run) == "no answer (cut off): The limit was reached.\n"
    assert tools_to_json(run)["outcome"] == "truncated"


def test_an_answer_without_a_call_says_so() -> None:
    assert tools_text(ToolRun("ok", "Hello.", (), ())) == "answer, without calling a tool:\nHello.\n"
