"""Reads the files that a schema refers to: those of the project folder, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from posixpath import dirname
from typing import TYPE_CHECKING, Final, Protocol
from urllib.parse import unquote, urlsplit

from workbench.engine.text import nearest, shorten

if TYPE_CHECKING:
    from workbench.engine.projects.snapshot import ProjectSnapshot

__all__ = [
    "FolderFiles",
    "SchemaFileError",
    "SchemaFiles",
    "refers_to_files",
    "schema_files",
    "split_reference",
]

MAX_FILE_CHARACTERS: Final = 8_000_000
"""The longest file that a schema may refer to; a schema of that size is a mistake."""

_OUTWARD = re.compile(r'"\$ref"\s*:\s*"[^#"]')
_INSIDE = "Put the file into the project folder and write its path from there, such as parts/address.json."


class SchemaFileError(ValueError):
    """A reference that is not followed; `code` is that of the diagnostic, `hint` says what to do."""

    def __init__(self, code: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint


class SchemaFiles(Protocol):
    """What gives the text of a file by its path in the project folder, with `/` between its parts."""

    def read(self, path: str) -> str:
        """Return the text of a file.

        Raises:
            SchemaFileError: where there is no such file, or it may not or cannot be read.
        """
        ...


@dataclass(frozen=True, slots=True)
class FolderFiles:
    """The files of a project folder. `own` are texts that count in place of what is on the disk, by their path.

    `root` is `None` for a project that was never saved: then only `own` can be referred to.
    """

    root: Path | None
    own: Mapping[str, str] = field(default_factory=dict)

    def read(self, path: str) -> str:
        """Return the text of a file of the folder; links that lead out of it are not followed."""
        if path in self.own:
            return self.own[path]
        if self.root is None:
            raise SchemaFileError(
                "missing_file",
                f"{shorten(path)} cannot be read before the project has a folder.",
                "Save the project.",
            )
        return _read(self.root, path)


def _read(root: Path, path: str) -> str:
    from workbench.engine.projects.errors import ProjectError
    from workbench.engine.projects.files import decode, read_bytes

    try:
        data = read_bytes(root, path)
        if data is None:
            raise SchemaFileError(
                "missing_file", f"There is no {shorten(path)} in the project folder.", _near(root, path)
            )
        text = decode(data, path).text
    except ProjectError as error:
        first = error.diagnostics[0]
        code = "outside_ref" if first.code == "outside" else first.code
        raise SchemaFileError(code, f"{first.message.replace(path, shorten(path))}.", first.hint) from None
    if len(text) > MAX_FILE_CHARACTERS:
        message = f"{path} has {len(text)} characters; a schema file may have {MAX_FILE_CHARACTERS}."
        raise SchemaFileError("too_large", message)
    return text


def _near(root: Path, path: str) -> str | None:
    """Return a hint that names the file of the same folder which was most likely meant."""
    folder = dirname(path)
    try:
        names = [entry.name for entry in (root / folder).iterdir() if entry.suffix == ".json"]
    except OSError:
        return None
    found = nearest(path.rpartition("/")[2], names)
    return f"Did you mean {f'{folder}/{found}' if folder else found}?" if found else None


def schema_files(snapshot: ProjectSnapshot) -> FolderFiles:
    """Return the files that the schemas of a project may refer to; its own schemas count as they are edited."""
    own = {
        name: text.text
        for name, text in (
            ("parameters.schema.json", snapshot.parameters_schema),
            ("output.schema.json", snapshot.output_schema),
        )
        if text is not None
    }
    return FolderFiles(snapshot.root, own)


def refers_to_files(text: str) -> bool:
    """Tell quickly whether a schema's text may have a `$ref` to something outside of it."""
    return _OUTWARD.search(text) is not None


def split_reference(reference: str, base: str) -> tuple[str, str]:
    """Return the path in the project folder and the fragment of a `$ref` that stands in the file `base`.

    Raises:
        SchemaFileError: for a reference with a scheme or a host (code `remote_ref`), and for a path that is
            absolute, has `..`, a backslash or a query (code `outside_ref`).
    """
    shown = shorten(reference, 80)
    if re.match(r"[A-Za-z]:[\\/]", reference):
        raise SchemaFileError(
            "outside_ref", f"$ref {shown!r} is an absolute path, which is not followed.", _INSIDE
        )
    try:
        parts = urlsplit(reference)
    except ValueError:
        raise SchemaFileError(
            "outside_ref", f"$ref {shown!r} is no reference that can be read.", _INSIDE
        ) from None
    if parts.scheme or parts.netloc:
        message = f"$ref {shown!r} leads out of the project, where references are never followed."
        raise SchemaFileError("remote_ref", message, _INSIDE)
    path = unquote(parts.path)
    why = _refused(path, parts.query)
    if why is not None:
        raise SchemaFileError("outside_ref", f"$ref {shown!r} {why}, which is not followed.", _INSIDE)
    folder = dirname(base)
    names = [name for name in path.split("/") if name not in ("", ".")]
    return "/".join([*([folder] if folder else []), *names]), unquote(parts.fragment)


def _refused(path: str, query: str) -> str | None:
    if path.startswith("/"):
        return "is an absolute path"
    if ".." in path.split("/"):
        return "climbs with .."
    if "\\" in path:
        return "has a backslash"
    if any(ord(character) < 32 for character in path):
        return "has a control character"
    return "has a query" if query else None
