"""Keeps a copy of what was typed and not yet saved, so that a crash loses nothing."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.engine.projects import files
from workbench.engine.projects.errors import ProjectError
from workbench.engine.projects.toml_scan import Path as TomlPath
from workbench.engine.text import TextFile

RECOVERY_FILE = "recovery.json"
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class RecoveryInfo:
    """What a recovery copy holds: the project's name, when it was written (seconds since 1970), which files."""

    name: str
    written_at: float
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecoveryState:
    """The content of a recovery copy.

    `lost_texts` are texts that TOML cannot hold exactly, by their path. In `files` a `None` is a file that
    was removed.
    """

    name: str
    toml: str
    lost_texts: tuple[tuple[TomlPath, str], ...]
    files: Mapping[str, TextFile | None]
    parameter_sets: Mapping[str, str]


class Recovery:
    """The recovery copy of one project."""

    def __init__(self, folder: Path, *, in_project: bool) -> None:
        self.folder = folder
        self.in_project = in_project

    @classmethod
    def of_project(cls, folder: Path) -> Recovery:
        """Return the recovery copy below a project's folder, or in any other folder for such copies."""
        is_project = (folder / files.PROJECT_FILE).exists()
        return cls(folder, in_project=is_project)

    @property
    def path(self) -> Path:
        """Where the copy lies, whether it is there or not."""
        if self.in_project:
            return files.inside(self.folder, files.WORKBENCH_FOLDER) / RECOVERY_FILE
        return self.folder / RECOVERY_FILE

    def write(self, state: RecoveryState) -> Path:
        """Write the copy atomically and return its path."""
        if self.in_project:
            files.prepare_workbench_folder(self.folder)
        data = {
            "format": _FORMAT,
            "name": state.name,
            "written_at": time.time(),
            "toml": state.toml,
            "lost_texts": [[list(path), text] for path, text in state.lost_texts],
            "files": {
                relative: None
                if text is None
                else {"text": text.text, "bom": text.bom, "newline": text.newline}
                for relative, text in state.files.items()
            },
            "parameter_sets": dict(state.parameter_sets),
        }
        # ASCII escapes carry even lone surrogates, which is what this copy must be able to do.
        files.write_atomically(self.path, json.dumps(data, ensure_ascii=True, indent=1).encode("ascii"))
        return self.path

    def read(self) -> RecoveryState | None:
        """Return the content of the copy, `None` where there is none.

        Raises:
            ProjectError: when it is damaged.
        """
        data = self._load()
        if data is None:
            return None
        try:
            return RecoveryState(
                name=str(data["name"]),
                toml=str(data["toml"]),
                lost_texts=tuple((tuple(path), text) for path, text in data["lost_texts"]),
                files={
                    relative: None if item is None else TextFile(item["text"], item["bom"], item["newline"])
                    for relative, item in data["files"].items()
                },
                parameter_sets=dict(data["parameter_sets"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            raise self._damaged() from None

    def info(self) -> RecoveryInfo | None:
        """Return what the copy holds, `None` where there is none or it is damaged."""
        try:
            data = self._load()
            if data is None:
                return None
            return RecoveryInfo(str(data["name"]), float(data["written_at"]), tuple(data["files"]))
        except (ProjectError, KeyError, TypeError, ValueError):
            return None

    def set_aside(self) -> Path | None:
        """Keep the copy under a name of its own, which nothing writes over; return its path, `None` for no copy.

        Named `recovery.json` again, it is offered at the next opening.
        """
        path = self.path
        if not path.exists():
            return None
        stem = f"{path.stem}-{time.strftime('%Y%m%d-%H%M%S', time.localtime(path.stat().st_mtime))}"
        names = (f"{stem}{suffix}.json" for suffix in ("", *(f"-{number}" for number in range(2, 1000))))
        kept = next(each for name in names if not (each := path.with_name(name)).exists())
        path.replace(kept)
        return kept

    def discard(self) -> None:
        """Delete the copy."""
        files.remove_file(self.path)

    def _load(self) -> dict[str, Any] | None:
        try:
            data = json.loads(self.path.read_bytes())
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError):
            raise self._damaged() from None
        if not isinstance(data, dict) or data.get("format") != _FORMAT:
            raise self._damaged()
        return data

    def _damaged(self) -> ProjectError:
        return ProjectError.of("recovery", "the recovery copy is damaged", file=str(self.path))
