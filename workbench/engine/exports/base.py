"""What every export target gives back: files, and the losses that a person must know before using them."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import ClassVar, Literal

from workbench.engine.projects.snapshot import ProjectSnapshot

LossKind = Literal["left out", "changed", "runs differently"]


_LONGEST_NAME = 60
_README_END = "Secrets are written as names, never as values."
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """One file of an export: a path relative to the export's folder, with `/`, and its text."""

    path: str
    text: str

    @property
    def data(self) -> bytes:
        """Return the file's bytes as they are written, in UTF-8."""
        # Half a surrogate pair, as an editor may hold it, has no UTF-8 form.
        return _SURROGATE.sub("\ufffd", self.text).encode("utf-8")


@dataclass(frozen=True, slots=True)
class Loss:
    """Something of the project that the target cannot express as it is.

    `left out`: it is not in the files. `changed`: it is there in another form. `runs differently`: it is
    there, and behaves in another way than in the workbench.
    """

    kind: LossKind
    subject: str
    detail: str


@dataclass(frozen=True, slots=True)
class Export:
    """A project in the form of a target; the first file is the main one."""

    target: str
    files: tuple[ExportedFile, ...]
    losses: tuple[Loss, ...]


class ExportTarget(ABC):
    """One framework that a project can be written for.

    `name` is what the command line takes, `title` what people read, `cannot_express` the general limits of
    the format; the losses of one project come with its export. `export` is a pure function of its inputs.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    description: ClassVar[str]
    cannot_express: ClassVar[tuple[str, ...]]

    @abstractmethod
    def export(self, snapshot: ProjectSnapshot, *, parameter_set: str | None = None) -> Export:
        """Return the files for `snapshot`; `parameter_set` names the values that a filled example uses.

        Never raises for the content of a project: what cannot be written becomes a loss.
        """


def readme(export: Export, snapshot: ProjectSnapshot, title: str) -> ExportedFile:
    """Return a README.md that names the files of an export and each of its losses."""
    lines = [f"# {snapshot.name}, exported for {title}", "", "Files:", ""]
    lines += [f"- `{file.path}`" for file in export.files]
    lines += ["", "## What this format cannot express", ""]
    if export.losses:
        lines += [f"- **{loss.kind}**: {loss.subject}. {loss.detail}." for loss in export.losses]
    else:
        lines.append("Nothing was lost.")
    lines += ["", _README_END, ""]
    return ExportedFile("README.md", "\n".join(lines))


def write_export(export: Export, folder: Path, *, extra: tuple[ExportedFile, ...] = ()) -> list[Path]:
    """Write the files of an export (and `extra` ones) below `folder`, making it; return their paths.

    Raises:
        OSError: where a file cannot be written.
    """
    written = []
    for file in (*export.files, *extra):
        relative = PurePosixPath(file.path)
        if relative.is_absolute() or ".." in relative.parts:
            raise OSError(f"an export may not leave its folder: {file.path}")
        path = folder.joinpath(*relative.parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.data)
        written.append(path)
    return written


def foreign_file(export: Export, folder: Path) -> Path | None:
    """Return a file in `folder` that `write_export` would replace and that no earlier export wrote, if there is one.

    An earlier export is known by the last line of its README.md.

    Raises:
        OSError: where the folder cannot be looked into.
    """
    try:
        if _README_END in (folder / "README.md").read_text(encoding="utf-8", errors="replace"):
            return None
    except OSError:  # there is none, or nothing that could be read
        pass
    for name in (*(file.path for file in export.files), "README.md"):
        path = folder.joinpath(*PurePosixPath(name).parts)
        if path.is_file():
            return path
    return None


def slug(name: str) -> str:
    """Return `name` as a lower-case word with hyphens that every file system takes, at most 60 characters."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower())[:_LONGEST_NAME].strip("-") or "prompt"


def identifier(name: str, fallback: str = "value") -> str:
    """Return `name` as an ASCII identifier with underscores, which begins with a letter."""
    word = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")
    if not word:
        return fallback
    return word if word[0].isalpha() else f"{fallback}_{word}"


def camel(name: str, fallback: str = "Prompt") -> str:
    """Return `name` as an upper camel-case ASCII identifier of about 60 characters at most, also for a file."""
    words = re.findall(r"[A-Za-z0-9]+", name)
    joined = "".join(word[:1].upper() + word[1:] for word in words)[:_LONGEST_NAME]
    if not joined:
        return fallback
    return joined if joined[0].isalpha() else fallback + joined
