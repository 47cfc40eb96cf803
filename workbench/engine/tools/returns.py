"""Turns what a tool returned or raised into a result, and a result into what a message holds."""

from __future__ import annotations

from typing import Any

from workbench.engine.json_text import dumps
from workbench.engine.tools.results import ImageContent, TextContent, ToolExecutionResult

DONE = "Done."
"""What the model reads of a tool that returns nothing."""


def to_result(answer: Any) -> ToolExecutionResult:
    """Return what a tool returned as a result: results and contents as they are, texts verbatim, None as a word
    for success, everything else as JSON text with the object itself as the raw result.

    Raises:
        ValueError: the object is not JSON.
    """
    builder = ToolExecutionResult.builder()
    if isinstance(answer, ToolExecutionResult):
        return answer
    if isinstance(answer, (TextContent, ImageContent)):
        return builder.result_contents([answer]).build()
    is_contents = isinstance(answer, (list, tuple)) and len(answer) > 0
    if is_contents and all(isinstance(item, (TextContent, ImageContent)) for item in answer):
        return builder.result_contents(answer).build()
    if answer is None:
        return builder.result_text(DONE).build()
    text = answer if isinstance(answer, str) else dumps(_json_like(answer))
    return builder.result(answer).result_text(text).build()


def _json_like(answer: Any) -> Any:
    from workbench.engine.translation.json_values import plain_copy

    return answer if isinstance(answer, (bool, int, float)) else plain_copy(answer)


def error_result(text: str) -> ToolExecutionResult:
    """Return the result of a failed call: one text, which the model reads."""
    return ToolExecutionResult.builder().is_error(True).result_text(text).build()


def error_text(error: BaseException) -> str:
    """Return what a model reads of an exception: the message of its cause or of itself, else its type's name."""
    shown = error.__cause__ or error
    return str(shown).strip() or type(shown).__name__


def message_content(result: ToolExecutionResult) -> Any:
    """Return contents as a message holds them: one text as it is, anything else as a tuple of parts.

    Raises:
        ValueError: there are no contents (a supplier gave none), so there is nothing that could be sent.
    """
    contents = result.result_contents()
    if not contents:
        raise ValueError("A tool result without contents cannot be sent to a model.")
    if len(contents) == 1 and isinstance(contents[0], TextContent):
        return contents[0].text
    return tuple(
        {"type": "text", "text": content.text}
        if isinstance(content, TextContent)
        else {"type": "image_url", "image_url": {"url": content.address}}
        for content in contents
    )


def contents_text(result: ToolExecutionResult) -> str:
    """Return the texts among the contents, a line each; an image is named by its kind."""
    return "\n".join(
        content.text if isinstance(content, TextContent) else f"[image: {content.url or content.mime_type}]"
        for content in result.result_contents()
    )
