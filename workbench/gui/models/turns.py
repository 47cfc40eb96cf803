"""What turns of every kind of run have in common: the last one is the one that is current."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from workbench.gui.widgets.conversation import Turn


def last_current(turns: Iterable[Turn]) -> list[Turn]:
    """Return `turns` with the last one, and no other, as the current turn."""
    found = [replace(turn, current=False) for turn in turns]
    if found:
        found[-1] = replace(found[-1], current=True)
    return found
