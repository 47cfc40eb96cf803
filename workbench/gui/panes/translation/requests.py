"""Finds requests that were made before, so that nobody has to type them again."""

from __future__ import annotations

from typing import Any

from workbench.gui.models.request_batch import stored_requests


def known_requests(history: Any, root: Any) -> list[str]:
    """Return requests of stored runs, newest first, then those that the project's recordings answer."""
    found = stored_requests(history, 20) if history is not None else []
    if root is not None:
        from workbench.engine.language_models.recorded import recorded_requests

        found += [request for request in recorded_requests(root) if request not in found]
    return found
