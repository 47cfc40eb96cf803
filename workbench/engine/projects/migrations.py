"""Brings project files of older formats up to the present one, line by line, so that comments survive.

Format 0 is what was written before the file had a version: messages and checks stood at the top of the
file, as `[[messages]]` and `[[checks]]`, beside a guardrail threshold called `threshold`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.projects.errors import ProjectError
from workbench.engine.projects.files import PROJECT_FILE
from workbench.engine.projects.toml_document import TomlDocument

FORMAT = 1


def migrate(document: TomlDocument) -> tuple[TomlDocument, int]:
    """Return the document in the present format and the format it came in.

    Raises:
        ProjectError: when the format is newer than ours, or no whole number.
    """
    found = document.get(("format",), FORMAT)
    if isinstance(found, bool) or not isinstance(found, int) or found < 0:
        raise _format_error(document, "wrong_type", "`format` must be a whole number", "write `format = 1`")
    if found > FORMAT:
        raise _format_error(
            document,
            "format_too_new",
            f"the project has format {found}, and this version of the workbench reads up to format {FORMAT}",
            "open it with a newer version; nothing was changed",
        )
    for version in range(found, FORMAT):
        document = _STEPS[version](document)
    return document, found


def _format_error(document: TomlDocument, code: str, message: str, hint: str) -> ProjectError:
    span = document.map.place(("format",)) or (0, 0)
    line, column = document.lines.position(span[0])
    diagnostic = Diagnostic(
        "error", code, message, span[0], span[1], line, column, hint=hint, file=PROJECT_FILE
    )
    return ProjectError([diagnostic])


def _from_0(document: TomlDocument) -> TomlDocument:
    """Move messages and checks below their tables by renaming their headers; then state the format."""
    renamed = {"messages": "template.messages", "checks": "guardrails.input.checks"}
    text = document.text
    for statement in sorted(document.map.headers(), key=lambda s: s.start, reverse=True):
        first = statement.path[0]
        if first in renamed and len(document.map.rows) and (first,) in document.map.rows:
            start, end = statement.key
            header = re.sub(
                rf"^(\[\[?\s*){first}\b", rf"\g<1>{renamed[str(first)]}", text[start:end], count=1
            )
            text = text[:start] + header + text[end:]
    document = TomlDocument(text, document.file)
    threshold = document.get(("threshold",))
    if threshold is not None:
        document.remove(("threshold",))
        document.set(("guardrails", "input", "threshold"), threshold)
    document.set(("format",), 1)
    return document


_STEPS: dict[int, Callable[[TomlDocument], TomlDocument]] = {0: _from_0}
