"""Finds the files that ship with the program, from a wheel and from a checkout alike."""

from __future__ import annotations

from pathlib import Path


def resource(*parts: str) -> Path:
    """Return the path of a shipped file or folder, such as `resource("samples", "support-triage")`.

    Raises:
        FileNotFoundError: where the installation is incomplete.
    """
    package = Path(__file__).resolve().parent.parent
    for root in (package / "resources", package.parent / "resources"):
        path = root.joinpath(*parts)
        if path.exists():
            return path
    raise FileNotFoundError(f"the installation lacks the resource {'/'.join(parts)}")
