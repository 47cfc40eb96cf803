"""The result of a tool execution: what the model gets to read, and what it never sees."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True, slots=True)
class TextContent:
    """A text among the contents of a result."""

    text: str

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise ValueError(f"A text content holds a text, not {type(self.text).__name__}.")

    def to_json(self) -> dict[str, Any]:
        """Return `{"type": "text", "text"}`."""
        return {"type": "text", "text": self.text}


@dataclass(frozen=True, slots=True)
class ImageContent:
    """An image among the contents of a result: base64 `data` with its MIME type, or a `url`.

    Raises:
        ValueError: neither or both of `data` and `url` are given.
    """

    data: str | None = None
    mime_type: str = "image/png"
    url: str | None = None

    def __post_init__(self) -> None:
        if (self.data is None) == (self.url is None):
            raise ValueError("An image needs either data or a url.")
        if not isinstance(self.data, str | None) or not isinstance(self.url, str | None):
            raise ValueError("The data of an image is base64 text, its url a text.")

    @property
    def address(self) -> str:
        """The image as an address: its URL, or a `data:` URL."""
        return self.url if self.url is not None else f"data:{self.mime_type};base64,{self.data}"

    def to_json(self) -> dict[str, Any]:
        """Return `{"type": "image", …}` with what was given."""
        if self.url is not None:
            return {"type": "image", "url": self.url}
        return {"type": "image", "data": self.data, "mime_type": self.mime_type}


Content = TextContent | ImageContent
Supplier = Callable[[], str | None]


class _LazyContents:
    """Contents that are made at the first look, once, whoever looks and however many at a time."""

    __slots__ = ("_contents", "_lock", "_supplier")

    def __init__(self, supplier: Supplier) -> None:
        self._supplier = supplier
        self._lock = threading.RLock()
        self._contents: tuple[Content, ...] | None = None

    @property
    def known(self) -> tuple[Content, ...] | None:
        return self._contents

    def get(self) -> tuple[Content, ...]:
        with self._lock:
            if self._contents is None:
                text = self._supplier()
                if text is not None and not isinstance(text, str):
                    raise ValueError(f"The result text supplier gave {type(text).__name__}, not a text.")
                self._contents = () if text is None else (TextContent(text),)
            return self._contents


class ToolExecutionResult:
    """The result of one tool execution, as LangChain4j has it.

    `is_error` tells whether the tool failed. `result` is the raw object that the tool returned; it and
    `attributes` (a read-only mapping) are never sent to a model. What a model reads are the contents. Made by
    `ToolExecutionResult.builder()`. Results are equal when `is_error`, `result`, contents and attributes are;
    comparing and hashing ask a lazy text, `repr` does not.
    """

    __slots__ = ("_attributes", "_contents", "_is_error", "_result")

    def __init__(
        self,
        is_error: bool,
        result: Any,
        contents: tuple[Content, ...] | _LazyContents,
        attributes: Mapping[str, Any],
    ) -> None:
        self._is_error = is_error
        self._result = result
        self._contents = contents
        self._attributes = MappingProxyType(dict(attributes))

    @staticmethod
    def builder() -> ToolExecutionResultBuilder:
        """Return a new builder."""
        return ToolExecutionResultBuilder()

    @property
    def is_error(self) -> bool:
        """Whether the tool failed; False unless it was set."""
        return self._is_error

    @property
    def result(self) -> Any:
        """The raw object, None unless it was set."""
        return self._result

    @property
    def attributes(self) -> Mapping[str, Any]:
        """The attributes, read-only."""
        return self._attributes

    def result_contents(self) -> list[Content]:
        """Return the contents; a lazy text is asked for at the first call and kept."""
        contents = self._contents
        return list(contents.get() if isinstance(contents, _LazyContents) else contents)

    def result_text(self) -> str:
        """Return the text of contents that are exactly one text.

        Raises:
            ValueError: there are other contents; `result_contents()` has them.
        """
        contents = self.result_contents()
        if len(contents) == 1 and isinstance(contents[0], TextContent):
            return contents[0].text
        kinds = ", ".join(type(content).__name__ for content in contents) or "nothing"
        raise ValueError(f"The result is not one text but {kinds}: use result_contents().")

    def to_builder(self) -> ToolExecutionResultBuilder:
        """Return a builder that holds all of this result. A lazy text stays lazy and is still asked for once.

        To give other contents, take the old ones away first (`result_contents(None)`).
        """
        return ToolExecutionResultBuilder._of(self)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        assert isinstance(other, ToolExecutionResult)
        return (
            self._is_error == other._is_error
            and _same(self._result, other._result)
            and self.result_contents() == other.result_contents()
            and self._attributes == other._attributes
        )

    def __hash__(self) -> int:
        # Raw results and attributes may hold what has no hash; equal results still have equal hashes.
        return hash((self._is_error, tuple(self.result_contents())))

    def __repr__(self) -> str:
        contents: Any = self._contents
        if isinstance(contents, _LazyContents):
            contents = "not asked for yet" if contents.known is None else contents.known
        return (
            f"ToolExecutionResult(is_error={self._is_error}, contents={contents!r}, "
            f"result={_short(self._result)}, attributes={sorted(map(str, self._attributes))})"
        )


def _same(one: Any, other: Any) -> bool:
    """Compare raw results; those that cannot be compared are equal where they are one object."""
    if one is other:
        return True
    try:
        return bool(one == other)
    except Exception:
        return False


def _short(value: Any) -> str:
    """Return what a raw result is, not what it holds: it may be large, or secret."""
    return "None" if value is None else f"<{type(value).__name__}>"


class ToolExecutionResultBuilder:
    """Collects the parts of a `ToolExecutionResult`; the order of the calls does not matter.

    Exactly one of text, text supplier and contents must be set when `build` is called. None, and an empty list of
    contents, count as not set; an empty text counts as set.
    """

    def __init__(self) -> None:
        self._is_error = False
        self._result: Any = None
        self._text: str | None = None
        self._supplier: Supplier | None = None
        self._lazy: _LazyContents | None = None
        self._contents: tuple[Any, ...] = ()
        self._attributes: dict[str, Any] = {}

    @classmethod
    def _of(cls, result: ToolExecutionResult) -> ToolExecutionResultBuilder:
        builder = cls()
        builder._is_error = result.is_error
        builder._result = result.result
        builder._attributes = dict(result.attributes)
        if isinstance(result._contents, _LazyContents):
            builder._lazy = result._contents
        else:
            builder._contents = result._contents
        return builder

    def is_error(self, is_error: bool) -> ToolExecutionResultBuilder:
        """Say whether the tool failed."""
        if not isinstance(is_error, bool):
            raise ValueError(f"is_error is True or False, not {is_error!r}.")
        self._is_error = is_error
        return self

    def result(self, result: Any) -> ToolExecutionResultBuilder:
        """Set the raw object; it is never sent to a model."""
        self._result = result
        return self

    def result_text(self, text: str | None) -> ToolExecutionResultBuilder:
        """Set the text; it becomes the one content."""
        self._text = text
        return self

    def result_text_supplier(self, supplier: Supplier | None) -> ToolExecutionResultBuilder:
        """Set a function that gives the text when it is first asked for; it is called once and its text kept."""
        if supplier is not None and not callable(supplier):
            raise ValueError(f"result_text_supplier takes a function, not {type(supplier).__name__}.")
        self._supplier = supplier
        self._lazy = None
        return self

    def result_contents(self, contents: Iterable[Content] | None) -> ToolExecutionResultBuilder:
        """Set the contents, any mixture of texts and images."""
        self._contents = tuple(contents or ())
        if contents is None:
            self._lazy = None
        return self

    def attributes(self, attributes: Mapping[str, Any] | None) -> ToolExecutionResultBuilder:
        """Set the attributes, in place of earlier ones; they are never sent to a model."""
        if attributes is not None and not isinstance(attributes, Mapping):
            raise ValueError(f"attributes is a mapping, not {type(attributes).__name__}.")
        self._attributes = copy.copy(dict(attributes or {}))
        return self

    def build(self) -> ToolExecutionResult:
        """Return the result.

        Raises:
            ValueError: none, or more than one, of text, text supplier and contents is set; or one of them has
                the wrong type.
        """
        lazy = self._lazy if self._supplier is None else _LazyContents(self._supplier)
        given = [
            name
            for name, is_set in (
                ("result_text", self._text is not None),
                ("result_text_supplier", lazy is not None),
                ("result_contents", bool(self._contents)),
            )
            if is_set
        ]
        if not given:
            raise ValueError("One of result_text, result_text_supplier and result_contents must be set.")
        if len(given) > 1:
            raise ValueError(f"{' and '.join(given)} are mutually exclusive: set one of them only.")
        return ToolExecutionResult(self._is_error, self._result, self._built_contents(lazy), self._attributes)

    def _built_contents(self, lazy: _LazyContents | None) -> tuple[Content, ...] | _LazyContents:
        if lazy is not None:
            return lazy
        if self._text is not None:
            if not isinstance(self._text, str):
                raise ValueError(f"result_text must be a text, not {type(self._text).__name__}.")
            return (TextContent(self._text),)
        for content in self._contents:
            if not isinstance(content, (TextContent, ImageContent)):
                raise ValueError(f"result_contents takes texts and images, not {type(content).__name__}.")
        return self._contents
