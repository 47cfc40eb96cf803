"""Turns an error that nobody foresaw into one line and a report in a file, instead of a traceback on the terminal."""

from __future__ import annotations

import os
import platform
import time
import traceback
from collections.abc import Sequence

from workbench import __version__
from workbench.cli.errors import UNFORESEEN
from workbench.cli.output import complain

DEBUG = "PROMPT_WORKBENCH_DEBUG"
"""With this environment variable set to anything but 0, the traceback is printed as well."""


def report_crash(error: Exception, arguments: Sequence[str]) -> int:
    """Write a report of `error`, say where it is, and return the exit status for it.

    The report holds the traceback, the versions and the names of the options, never their values: those may be
    confidential. Secrets are taken out of all of it.
    """
    text = "".join(traceback.format_exception(error))
    if os.environ.get(DEBUG, "0") not in ("", "0"):
        complain(_scrubbed(text))
    summary = f"{type(error).__name__}: {str(error)[:300]}"
    if not isinstance(error, ImportError):  # the name of a missing package is no secret, and all that helps
        summary = _scrubbed(summary)
    names = [
        argument.partition("=")[0] for argument in arguments if argument.startswith("-") and argument != "-"
    ]
    head = (
        f"Prompt Workbench {__version__}\nPython {platform.python_version()}, {platform.platform()}\n"
        f"Options: {' '.join(names) or 'none'}\n"
    )
    where = _write(_scrubbed(f"{head}\n{text}"))
    complain(f"prompt-workbench: this should not have happened: {' '.join(summary.split())}. {where}")
    return UNFORESEEN


def _write(report: str) -> str:
    """Write the report where no other program's user can read it; say where it is, or why there is none."""
    try:
        from workbench.cli.start import data_folder

        folder = data_folder() / "crashes"
        path = folder / f"crash-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with os.fdopen(
            os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8"
        ) as file:
            file.write(report)
    except (OSError, ImportError) as error:  # an installation that lacks a package crashes here too
        return f"A report could not be written ({error}); {DEBUG}=1 prints it."
    return f"The report is in {path}"


def _scrubbed(text: str) -> str:
    try:
        from workbench.engine.secrets import Secrets

        return Secrets.for_user().scrub(text)
    except (
        Exception
    ) as error:  # the report must come even where the secrets cannot be read: without the messages
        return f"(The report is left out, as secrets could not be taken out of it: {type(error).__name__}.)"
