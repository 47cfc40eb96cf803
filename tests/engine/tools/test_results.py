"""The result of a tool execution and its builder."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from workbench.engine.tools import (
    ImageContent,
    TextContent,
    ToolExecutionResult,
    ToolExecutionResultBuilder,
)

IMAGE = ImageContent(url="https://example.org/cat.png")


def builder() -> ToolExecutionResultBuilder:
    return ToolExecutionResult.builder()


class Counted:
    """A supplier that counts its calls."""

    def __init__(self, text: Any = "late", delay: float = 0) -> None:
        self.calls = 0
        self.text = text
        self.delay = delay

    def __call__(self) -> Any:
        self.calls += 1
        time.sleep(self.delay)
        return self.text


def test_a_text_is_one_content_and_the_defaults_are_quiet() -> None:
    result = builder().result_text("hello").build()
    assert (result.is_error, result.result, dict(result.attributes)) == (False, None, {})
    assert result.result_text() == "hello"
    assert result.result_contents() == [TextContent("hello")]


def test_all_parts_are_kept_and_the_order_of_calls_does_not_matter() -> None:
    raw = object()
    one = builder().is_error(True).result(raw).result_text("t").attributes({"a": 1}).build()
    other = builder().attributes({"a": 1}).result_text("t").result(raw).is_error(True).build()
    assert one == other
    assert (one.is_error, one.result, one.attributes["a"]) == (True, raw, 1)


SETTERS: dict[str, Any] = {
    "result_text": lambda b: b.result_text("x"),
    "result_text_supplier": lambda b: b.result_text_supplier(lambda: "x"),
    "result_contents": lambda b: b.result_contents([IMAGE]),
}


def test_nothing_set_is_refused_T105() -> None:  # noqa: N802
    with pytest.raises(ValueError, match="must be set"):
        builder().build()


@pytest.mark.parametrize(
    "names",
    [
        ("result_text", "result_text_supplier"),
        ("result_text", "result_contents"),
        ("result_text_supplier", "result_contents"),
        ("result_text", "result_text_supplier", "result_contents"),
    ],
)
def test_more_than_one_is_refused_and_named_T105(names: tuple[str, ...]) -> None:  # noqa: N802
    b = builder()
    for name in names:
        SETTERS[name](b)
    with pytest.raises(ValueError, match="mutually exclusive") as raised:
        b.build()
    assert all(name in str(raised.value) for name in names)


@pytest.mark.parametrize("text", ["", "  "])
def test_an_empty_text_is_a_text_T106(text: str) -> None:  # noqa: N802
    assert builder().result_text(text).build().result_text() == text


@pytest.mark.parametrize(
    "b",
    [
        builder().result_contents([]),
        builder().result_contents(None),
        builder().result_text(None),
        builder().result_text_supplier(None),
    ],
)
def test_nothing_and_empty_contents_count_as_not_set_T106(b: Any) -> None:  # noqa: N802
    with pytest.raises(ValueError, match="must be set"):
        b.build()


@pytest.mark.parametrize("b", [builder().result_text(3), builder().result_contents(["x"])])  # type: ignore[arg-type, list-item]
def test_a_wrong_type_is_refused(b: Any) -> None:
    with pytest.raises(ValueError, match=r"not|takes"):
        b.build()


def test_a_supplier_is_called_at_the_first_look_only_T107() -> None:  # noqa: N802
    supplier = Counted()
    result = builder().result([1]).result_text_supplier(supplier).attributes({"a": 1}).build()
    repr(result)
    _ = result.result, result.is_error, result.attributes, result.to_builder()
    assert supplier.calls == 0
    assert (result.result_text(), result.result_text(), supplier.calls) == ("late", "late", 1)
    assert result.result_contents() == [TextContent("late")]
    assert supplier.calls == 1


def test_ten_threads_ask_once_T108() -> None:  # noqa: N802
    supplier = Counted(delay=0.05)
    result = builder().result_text_supplier(supplier).build()
    barrier = threading.Barrier(10)

    def ask() -> str:
        barrier.wait()
        return result.result_text()

    with ThreadPoolExecutor(10) as pool:
        texts = [future.result() for future in [pool.submit(ask) for _ in range(10)]]
    assert (set(texts), supplier.calls) == ({"late"}, 1)


def test_a_supplier_that_fails_is_asked_again() -> None:
    answers: list[Any] = [RuntimeError("not yet"), "now"]

    def supplier() -> str:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return str(answer)

    result = builder().result_text_supplier(supplier).build()
    with pytest.raises(RuntimeError, match="not yet"):
        result.result_text()
    assert result.result_text() == "now"


def test_a_supplier_of_nothing_gives_no_contents() -> None:
    supplier = Counted(None)
    result = builder().result_text_supplier(supplier).build()
    assert result.result_contents() == []
    with pytest.raises(ValueError, match="result_contents"):
        result.result_text()
    assert supplier.calls == 1


def test_lazy_and_eager_are_equal_and_attributes_count_T110() -> None:  # noqa: N802
    eager = builder().result_text("late").attributes({"a": [1]}).build()
    lazy = builder().result_text_supplier(Counted()).attributes({"a": [1]}).build()
    assert eager == lazy
    assert hash(eager) == hash(lazy)
    assert eager != builder().result_text("late").attributes({"a": [2]}).build()
    assert eager != builder().result_text("other").attributes({"a": [1]}).build()
    assert eager != builder().result_text("late").attributes({"a": [1]}).is_error(True).build()
    assert eager != builder().result_text("late").attributes({"a": [1]}).result(1).build()
    assert eager != "late"


def test_a_copy_with_other_attributes_keeps_everything_else_T110() -> None:  # noqa: N802
    result = builder().is_error(True).result(7).result_text("t").attributes({"a": 1, "b": 2}).build()
    copy = result.to_builder().attributes({"c": 3}).build()
    assert dict(copy.attributes) == {"c": 3}
    assert (copy.is_error, copy.result, copy.result_text()) == (True, 7, "t")
    assert dict(result.attributes) == {"a": 1, "b": 2}


def test_a_copy_of_a_lazy_result_stays_lazy_and_asks_once() -> None:
    supplier = Counted()
    result = builder().result_text_supplier(supplier).build()
    copy = result.to_builder().build()
    assert supplier.calls == 0
    assert (copy.result_text(), result.result_text(), supplier.calls) == ("late", "late", 1)


def test_other_contents_need_the_old_ones_taken_away() -> None:
    for result in (builder().result_text("t").build(), builder().result_text_supplier(Counted()).build()):
        with pytest.raises(ValueError, match="mutually exclusive"):
            result.to_builder().result_text("new").build()
        copy = result.to_builder().result_contents(None).result_text("new").build()
        assert copy.result_text() == "new"


@pytest.mark.parametrize(
    "contents", [[IMAGE], [TextContent("a"), TextContent("b")], [TextContent("a"), IMAGE]]
)
def test_the_text_of_other_contents_is_refused_with_the_way_out_T111(contents: Any) -> None:  # noqa: N802
    result = builder().result_contents(contents).build()
    assert result.result_contents() == contents
    with pytest.raises(ValueError, match="result_contents"):
        result.result_text()


def test_what_was_given_can_change_and_the_result_does_not() -> None:
    attributes = {"a": 1}
    contents: list[Any] = [TextContent("a"), IMAGE]
    b = builder().attributes(attributes).result_contents(contents)
    result = b.build()
    attributes["a"] = 2
    contents.clear()
    b.attributes({})
    result.result_contents().clear()
    assert dict(result.attributes) == {"a": 1}
    assert len(result.result_contents()) == 2
    with pytest.raises(TypeError):
        result.attributes["a"] = 3  # type: ignore[index]


def test_repr_tells_neither_the_raw_result_nor_attribute_values() -> None:
    result = builder().result("raw-value").result_text("t").attributes({"token": "hidden-value"}).build()
    assert "raw-value" not in repr(result)
    assert "hidden-value" not in repr(result)


@pytest.mark.parametrize("arguments", [{}, {"data": "x", "url": "y"}])
def test_an_image_is_data_or_an_address(arguments: dict[str, str]) -> None:
    with pytest.raises(ValueError):
        ImageContent(**arguments)
