"""What was kept from the model: nothing that was sent to it in the same words."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.engine.tools import kept_back


def told(sent: list[dict[str, Any]], result: Any, attributes: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return an execution as it is stored."""
    return {"sent": {"contents": sent}, "not_sent": {"result": result, "attributes": attributes or {}}}


def text(words: str) -> list[dict[str, Any]]:
    """Return contents that are one text."""
    return [{"type": "text", "text": words}]


@pytest.mark.parametrize(
    ("sent", "result", "kept"),
    [
        pytest.param(text("Done."), "Done.", {}, id="the same text"),
        pytest.param(text('{"a":1}'), {"a": 1}, {}, id="the same JSON"),
        pytest.param(text("Done."), {"row": 17}, {"result": {"row": 17}}, id="another value"),
        pytest.param(text("1"), True, {"result": True}, id="true is not 1"),
        pytest.param(text("1"), 1.0, {"result": 1.0}, id="1.0 is not 1"),
        pytest.param(text("1"), "1", {}, id="a text of a number"),
        pytest.param(text("a") * 2, "a", {"result": "a"}, id="two contents"),
        pytest.param([{"type": "image", "url": "u"}], "u", {"result": "u"}, id="an image"),
        pytest.param([], {"row": 17}, {"result": {"row": 17}}, id="nothing sent"),
        pytest.param(text("Done."), None, {}, id="no result"),
    ],
)
def test_a_result_is_kept_back_only_where_it_says_something_else(
    sent: list[dict[str, Any]], result: Any, kept: dict[str, Any]
) -> None:
    assert kept_back(told(sent, result)) == kept


def test_attributes_are_kept_back_always() -> None:
    assert kept_back(told(text("Done."), "Done.", {"trace": "t-1"})) == {"attributes": {"trace": "t-1"}}


def test_an_execution_that_tells_nothing_kept_nothing_back() -> None:
    assert kept_back({}) == {}
