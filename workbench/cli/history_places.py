"""Reads `3` as a run and `3.2` as its second attempt, wherever a command compares what the history keeps."""

from __future__ import annotations

import argparse
import re

from workbench.engine.history import HistoryStore, Run

Which = tuple[int, int | None]
"""A run, and the number of an attempt of it where not the whole run is meant."""


def run_or_attempt(text: str) -> Which:
    """Return what a text such as `3` or `3.2` names.

    Raises:
        argparse.ArgumentTypeError: where it is neither.
    """
    found = re.fullmatch(r"([0-9]{1,1000})(?:\.([0-9]{1,1000}))?", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a run, such as 3, nor an attempt, such as 3.2")
    return int(found[1]), None if found[2] is None else int(found[2])


def stored_run(store: HistoryStore, run_id: int, attempt: int | None) -> Run:
    """Return a run from the history; for an attempt, that attempt as a run.

    Raises:
        KeyError: where there is no such run or attempt.
        WorkflowError: where the run has no attempts.
    """
    from workbench.engine.workflows import run_of_attempt

    run = store.run(run_id)
    return run if attempt is None else run_of_attempt(run, attempt)


def run_words(run_id: int, attempt: int | None) -> str:
    """Return what is compared, in words."""
    return f"run {run_id}" if attempt is None else f"attempt {attempt} of run {run_id}"
