"""Finds requests that were made before, so that nobody has to type them again."""

from __future__ import annotations

from typing import Any


def known_requests(history: Any, root: Any) -> list[str]:
    """Return requests of stored runs, newest first, then those that the project's recordings answer."""
    found: list[str] = []
    if history is not None:
        for summary in history.runs(kind="translate", limit=20):
            request = history.run(summary.id).inputs.get("request")
            if isinstance(request, str) and request not in found:
                found.append(request)
    if root is not None:
        from workbench.engine.language_models.recorded import recorded_requests

        found += [request for request in recorded_requests(root) if request not in found]
    return found
