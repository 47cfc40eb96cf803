"""A history of its own for each test, in the folder where a project keeps it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from workbench.engine.history import HistoryStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".workbench" / "history.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[HistoryStore]:
    with HistoryStore.open(path) as opened:
        yield opened
