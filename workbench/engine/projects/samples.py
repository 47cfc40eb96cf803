"""Lists the sample projects that ship with the program, and copies one to where it can be changed."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.engine.projects import files
from workbench.engine.projects.errors import ProjectError
from workbench.engine.projects.project import copy_tree
from workbench.engine.projects.toml_document import read_toml
from workbench.engine.resources import resource
from workbench.engine.text import nearest

_ORDER = ("support-triage", "answer-from-documents", "table-booking")


@dataclass(frozen=True, slots=True)
class SampleInfo:
    """A sample: `name` is its folder, `title` and `description` are for people."""

    name: str
    title: str
    description: str


def list_samples() -> list[SampleInfo]:
    """Return the samples in the order in which they are best read."""
    found = []
    for folder in resource("samples").iterdir():
        if (folder / files.PROJECT_FILE).is_file():
            values = read_toml((folder / files.PROJECT_FILE).read_text("utf-8"), files.PROJECT_FILE)
            found.append(SampleInfo(folder.name, str(values["name"]), str(values.get("description", ""))))
    rank = {name: position for position, name in enumerate(_ORDER)}
    return sorted(found, key=lambda sample: (rank.get(sample.name, len(rank)), sample.name))


def sample_folder(name: str) -> Path:
    """Return the folder of a sample as it ships.

    Raises:
        ProjectError: when there is no such sample.
    """
    names = [sample.name for sample in list_samples()]
    if name not in names:
        guess = nearest(name, names)
        hint = f"did you mean `{guess}`?" if guess else f"samples: {', '.join(names)}"
        raise ProjectError.of("no_sample", f"there is no sample named `{name}`", hint=hint)
    return resource("samples", name)


def copy_sample(name: str, folder: Path | str) -> Path:
    """Make `folder`, which must be new or empty, a copy of the sample and return it.

    Where that fails half-way, as on a full disk, what was made is taken away again.

    Raises:
        ProjectError: when there is no such sample or the folder is not empty.
        OSError: when it cannot be written.
    """
    source, target = sample_folder(name), Path(folder)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise ProjectError.of("not_empty", f"{target} exists and is not empty", file=str(target))
    made = [path for path in (target, *target.parents) if not path.exists()]
    try:
        target.mkdir(parents=True, exist_ok=True)
        copy_tree(source, target)
    except BaseException:
        _take_away(source, target, made)
        raise
    return target


def _take_away(source: Path, target: Path, made: Sequence[Path]) -> None:
    """Remove the part of a copy that was made, and the folders `made` for it, the innermost first."""
    for entry in source.iterdir():
        part = target / entry.name
        if part.is_dir():
            shutil.rmtree(part, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                part.unlink()
    for folder in made:
        with contextlib.suppress(OSError):
            folder.rmdir()  # what somebody else put there meanwhile keeps it
