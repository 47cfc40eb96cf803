"""Finds public test data that lies beside the project, and skips the test where it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared" / "data"


def shared_data(*parts: str) -> Path:
    """Return a path below `../shared/data`, or skip the calling test with the reason."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"public test data is not here: {'/'.join(('..', 'shared', 'data', *parts))}")
    return path
