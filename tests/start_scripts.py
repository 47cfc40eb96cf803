"""Copies of the start scripts in which they can be run for real, with stand-ins for what they call outside."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.shared_data import ROOT

SCRIPTS = ("run", "test", "setup.sh")
# What the scripts may expect of every POSIX system, beside the shell's own commands.
TOOLS = (
    "sh", "cat", "chmod", "cksum", "cp", "dirname", "env", "grep", "head", "id", "ln", "ls", "mkdir", "mktemp", "printf",
    "pwd", "rm", "sed", "sleep", "tail", "touch", "tr", "uname",
)  # fmt: skip


class ScriptCopy:
    """A folder with `packaging/` and `pyproject.toml` of this project and nothing else."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "packaging").mkdir(parents=True)
        for name in SCRIPTS:
            shutil.copy2(ROOT / "packaging" / name, folder / "packaging" / name)
        shutil.copy2(ROOT / "pyproject.toml", folder / "pyproject.toml")

    @property
    def venv(self) -> Path:
        """Where the scripts make their environment."""
        return self.folder / ".venv"

    @property
    def stamp(self) -> Path:
        """What tells the scripts that the environment is ready."""
        return self.venv / "prompt-workbench.stamp"

    def make_environment(self, python: str) -> None:
        """Make an environment whose Python is the script `python`."""
        write_script(self.venv / "bin" / "python", python)
        (self.venv / "prompt-workbench.root").write_text(str(self.folder), "utf-8")

    def write_stamp(self, profile: str) -> None:
        """Write the stamp that the scripts' own function makes for `profile`."""
        command = f'root=$1; me=test; . "$root/packaging/setup.sh"; wanted_stamp "{profile}" >"$stamp"'
        subprocess.run(["sh", "-c", command, "sh", str(self.folder)], check=True)

    def run(
        self, script: str, *arguments: str, environment: Mapping[str, str], cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a script by its path, from `cwd` (the root folder by default), and return how it ended."""
        return subprocess.run(
            [str(self.folder / "packaging" / script), *arguments],
            cwd=cwd or "/", env=dict(environment), capture_output=True, text=True, timeout=60, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip


def write_script(path: Path, text: str) -> Path:
    """Write an executable file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    path.chmod(0o755)
    return path


class Toolbox:
    """A `PATH` with the plain tools of a system and nothing else: no Python, no package manager, no network."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        for tool in TOOLS:
            found = shutil.which(tool)
            if found is not None:
                (folder / tool).symlink_to(os.path.realpath(found))

    def add(self, name: str, body: str) -> None:
        """Put a command into the box, in place of one of the same name."""
        path = self.folder / name
        path.unlink(missing_ok=True)
        write_script(path, f"#!/bin/sh\n{body}\n")

    def environment(self, **more: str) -> dict[str, str]:
        """Return the environment of a process that has only this box."""
        return {"PATH": str(self.folder), "HOME": str(self.folder), "LC_ALL": "C", **more}
