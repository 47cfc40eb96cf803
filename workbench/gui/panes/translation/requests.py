"""Finds requests that were made before, so that nobody has to type them again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.gui.models.request_batch import stored_requests

if TYPE_CHECKING:
    from workbench.engine.translation.settings import Target


def known_requests(history: Any, root: Any, target: Target) -> list[str]:
    """Return requests of stored runs that became a `target`, newest first, then those that the project's recordings
    answer."""
    found = stored_requests(history, target, 20) if history is not None else []
    if root is not None:
        from workbench.engine.language_models.recorded import recorded_requests

        found += [request for request in recorded_requests(root) if request not in found]
    return found
