"""`doctor`: says what works on this computer, and what to do about what does not."""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import subprocess
import sys
from dataclasses import dataclass
from typing import Any, Literal

from workbench import __version__
from workbench.cli.errors import BAD_VERDICT, GOOD
from workbench.cli.output import print_json, table, write

Status = Literal["ok", "missing", "broken"]

_PACKAGES = ("PySide6-Essentials", "jsonpath-ng", "jsonschema", "httpx", "pygments", "tomlkit", "platformdirs",
             "keyring", "pyqtgraph", "numpy", "onnxruntime", "tokenizers", "xllamacpp")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. Only `broken` findings make the status bad."""

    subject: str
    status: Status
    detail: str


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """Add the subcommand and its options."""
    parser = commands.add_parser(
        "doctor",
        help="what works on this computer",
        description="Look at versions, Qt, fonts, models, the keyring and the folders that the program uses.",
        epilog="Exit status: 0 the engine and the window can run, 1 they cannot.",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the findings and return the exit status."""
    findings = [*_versions(), _qt(), _display(), *_models(), _keyring(), *_folders()]
    bad = any(finding.status == "broken" for finding in findings)
    if arguments.json:
        rows = [{"subject": f.subject, "status": f.status, "detail": f.detail} for f in findings]
        print_json({"format": 1, "ok": not bad, "findings": rows})
    else:
        write(table([[f.status, f.subject, f.detail] for f in findings]))
    return BAD_VERDICT if bad else GOOD


def _versions() -> list[Finding]:
    found = [
        Finding("Prompt Workbench", "ok", __version__),
        Finding("Python", "ok", f"{platform.python_version()} on {platform.system()} {platform.machine()}"),
    ]
    parts = []
    for name in _PACKAGES:
        try:
            parts.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            if name != "xllamacpp":
                found.append(Finding(name, "broken", "not installed; install prompt-workbench again"))
    found.append(Finding("packages", "ok", ", ".join(parts)))
    return found


_QT_PROBE = """
import sys
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QApplication
from PySide6.QtCore import qVersion
app = QApplication([])
print(qVersion(), app.platformName(), len(QFontDatabase.families()), sep="|")
"""


def _qt() -> Finding:
    # In a process of its own: a Qt that cannot start ends its process without a Python error.
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    try:
        done = subprocess.run(
            [sys.executable, "-c", _QT_PROBE],
            capture_output=True,
            text=True,
            timeout=60,
            env=environment,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return Finding("Qt", "broken", f"the window cannot start: {error}")
    if done.returncode or "|" not in done.stdout:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        return Finding(
            "Qt", "broken", f"the window cannot start: {last} (on Debian: packaging/run names the packages)"
        )
    version, name, fonts = done.stdout.strip().splitlines()[-1].split("|")
    if fonts == "0":
        return Finding(
            "Qt", "broken", "no font is installed, so texts are drawn as boxes; install fonts-dejavu-core"
        )
    return Finding("Qt", "ok", f"{version}, platform {name}, {fonts} font families")


def _display() -> Finding:
    from workbench.cli.start import display_available

    if display_available():
        return Finding(
            "display", "ok", os.environ.get("WAYLAND_DISPLAY") or os.environ.get("DISPLAY") or "native"
        )
    return Finding(
        "display", "missing", "no DISPLAY or WAYLAND_DISPLAY; the command line and screenshots work"
    )


def _models() -> list[Finding]:
    from workbench.engine.decisions import decision_model_available
    from workbench.engine.language_models import language_model_available
    from workbench.engine.workflows import EMBEDDED, LOCAL

    embedded = decision_model_available(EMBEDDED, None)
    chat = language_model_available(LOCAL, None)
    return [
        Finding("embedded decision model", "missing" if embedded else "ok",
                embedded or "MiniLM, ready; no network; best in English"),
        Finding("local chat model", "missing" if chat else "ok",
                chat or "SmolLM2 135M, ready; no network; demo quality"),
    ]  # fmt: skip


def _keyring() -> Finding:
    from workbench.engine.secrets import Secrets

    problem = Secrets.for_user().check_keyring()
    if problem is None:
        return Finding("keyring", "ok", "keeps the values of secrets")
    reason = problem.partition(". ")[0]  # what follows advises to install packages for other programs
    return Finding(
        "keyring", "missing", f"{reason}; secrets come from PROMPT_WORKBENCH_SECRET_<NAME> instead"
    )


def _folders() -> list[Finding]:
    from workbench.cli.start import config_folder, data_folder

    return [
        Finding("configuration", "ok", str(config_folder())),
        Finding("data", "ok", str(data_folder())),
    ]
