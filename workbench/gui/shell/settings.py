"""The program's settings, declared once with type, default and help, and the state it restores."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal


@dataclass(frozen=True)
class SettingSpec:
    """One setting: `kind` is the type of its value; `choices` or `low`/`high` bound it."""

    key: str
    title: str
    help: str
    default: Any
    section: str
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None

    def accepts(self, value: Any) -> bool:
        """Tell whether `value` has the setting's type and lies within its bounds."""
        if isinstance(self.default, bool) or isinstance(value, bool):
            return isinstance(value, bool) and isinstance(self.default, bool)
        if isinstance(self.default, int | float):
            if not isinstance(value, int | float):
                return False
            return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)
        if not isinstance(value, type(self.default)):
            return False
        return not self.choices or value in self.choices


SETTINGS: tuple[SettingSpec, ...] = (
    SettingSpec("theme", "Theme", "Colours of the window; “system” follows the desktop.", "system", "Look",
                ("system", "light", "dark", "high-contrast")),
    SettingSpec("interface.size", "Interface size (%)",
                "Size of all text, rows and icons, over the text size of the system.", 100, "Look", low=80, high=200),
    SettingSpec("editor.size", "Editor text size",
                "Size of editor text in pixels, at an interface size of 100 %.", 12, "Look", low=8, high=32),
    SettingSpec("editor.wrap", "Wrap long lines", "Break lines at the edge of an editor.", True, "Editing"),
    SettingSpec("editor.line_numbers", "Line numbers", "Show the number of each line.", True, "Editing"),
    SettingSpec("editor.complete", "Complete while typing", "Offer parameter paths inside a placeholder.", True, "Editing"),
    SettingSpec("checks.live", "Check while typing",
                "Run the checks on a pause of typing when the decision model is on this computer.", True, "Running"),
    SettingSpec("recovery.seconds", "Recovery copy every (s)",
                "How often unsaved work is copied aside, in seconds; 0 turns it off.", 10, "Safety", low=0, high=600),
    SettingSpec("history.days", "Keep runs for (days)",
                "Older runs are deleted when a project opens; 0 keeps them. Starred, named and annotated runs always stay.",
                0, "History", low=0, high=36_500),
    SettingSpec("history.runs", "Keep at most (runs)",
                "The newest so many runs of a project are kept; 0 keeps all.", 0, "History", low=0, high=10_000_000),
    SettingSpec("history.megabytes", "Keep at most (MB)",
                "The oldest runs go when the history of a project takes more; 0 sets no limit.", 0, "History",
                low=0, high=1_000_000),
    SettingSpec("session.restore", "Reopen the last project", "Open the last project when the program starts.", True, "Safety"),
    SettingSpec("welcome.show", "Show the welcome page at start", "Show samples and recent projects first.", True, "Safety"),
)  # fmt: skip

MAX_RECENT = 12


def config_folder() -> Path:
    """Return the folder of settings and state: `PROMPT_WORKBENCH_CONFIG`, else the platform's own."""
    if override := os.environ.get("PROMPT_WORKBENCH_CONFIG"):
        return Path(override)
    import platformdirs

    return Path(platformdirs.user_config_dir("prompt-workbench", appauthor=False))


class AppSettings(QObject):
    """Settings (by the schema `SETTINGS`), shortcuts, recent projects and window state, in two JSON files.

    A file that cannot be read, or a value of the wrong type, gives the default and never an error; what
    could not be understood is kept aside as `*.broken`.
    """

    changed = Signal(str)

    def __init__(self, folder: Path | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.folder = folder if folder is not None else config_folder()
        self._specs = {spec.key: spec for spec in SETTINGS}
        self._values = self._read("settings.json")
        self.state: dict[str, Any] = self._read("state.json")

    # -- settings -------------------------------------------------------------------------------------

    def get(self, key: str) -> Any:
        """Return the value of a declared setting."""
        spec = self._specs[key]
        value = self._values.get(key, spec.default)
        return value if spec.accepts(value) else spec.default

    def set(self, key: str, value: Any) -> None:
        """Change a declared setting and write it down.

        Raises:
            ValueError: where the value has the wrong type or lies out of bounds.
        """
        spec = self._specs[key]
        if not spec.accepts(value):
            raise ValueError(f"{spec.title}: {value!r} is not a value of this setting")
        if self.get(key) != value or key not in self._values:
            self._values[key] = value
            self._write("settings.json", self._values)
            self.changed.emit(key)

    def specs(self) -> Iterator[SettingSpec]:
        """Yield the declared settings in order."""
        yield from self._specs.values()

    # -- shortcuts ------------------------------------------------------------------------------------

    def shortcuts(self) -> dict[str, str]:
        """Return the shortcuts that differ from the defaults, by action id."""
        found = self._values.get("shortcuts")
        return {k: v for k, v in found.items() if isinstance(v, str)} if isinstance(found, Mapping) else {}

    def set_shortcut(self, action_id: str, shortcut: str | None) -> None:
        """Remember another shortcut for an action; `None` goes back to the default."""
        shortcuts = self.shortcuts()
        if shortcut is None:
            shortcuts.pop(action_id, None)
        else:
            shortcuts[action_id] = shortcut
        self._values["shortcuts"] = shortcuts
        self._write("settings.json", self._values)
        self.changed.emit("shortcuts")

    # -- recent projects ------------------------------------------------------------------------------

    def recent(self) -> list[dict[str, Any]]:
        """Return the recent projects, newest first: `path`, `name` and `opened` (seconds since 1970)."""
        rows = self.state.get("recent")
        return (
            [r for r in rows if isinstance(r, dict) and isinstance(r.get("path"), str)]
            if isinstance(rows, list)
            else []
        )

    def add_recent(self, path: Path, name: str, opened: float) -> None:
        """Put a project at the head of the recent ones."""
        rows = [row for row in self.recent() if row["path"] != str(path)]
        self.state["recent"] = [{"path": str(path), "name": name, "opened": opened}, *rows][:MAX_RECENT]
        self.save_state()
        self.changed.emit("recent")

    def forget_recent(self, path: str | None = None) -> None:
        """Take one project, or all of them, off the list."""
        self.state["recent"] = [] if path is None else [r for r in self.recent() if r["path"] != path]
        self.save_state()
        self.changed.emit("recent")

    # -- files ----------------------------------------------------------------------------------------

    def save_state(self) -> None:
        """Write the window's state (geometry, layouts, last project, carets)."""
        self._write("state.json", self.state)

    def _read(self, name: str) -> dict[str, Any]:
        path = self.folder / name
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError):
            data = None
        if isinstance(data, dict):
            return data
        with contextlib.suppress(OSError):
            path.replace(path.with_suffix(".broken"))
        return {}

    def _write(self, name: str, data: dict[str, Any]) -> None:
        """Write atomically; a disk that takes nothing must not stop the program."""
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            descriptor, temporary = tempfile.mkstemp(dir=self.folder, prefix=name, suffix=".tmp")
            try:
                with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                    json.dump(data, file, indent=1, ensure_ascii=False)
                os.replace(temporary, self.folder / name)
            except OSError:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
                raise
