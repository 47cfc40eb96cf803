"""Says how a model is called in the window, in one way for the bar, the panes and the dialogs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.engine.model_settings import ModelSettings


def model_title(settings: ModelSettings | None) -> str:
    """Return how a model is called in the window: `Embedded MiniLM`, or `model, host`."""
    if settings is None:
        return "No chat model"
    if settings.provider == "embedded":
        return "Embedded MiniLM"
    if settings.provider == "recorded":
        return "Recorded replies"
    if settings.provider in ("local", "gguf"):
        return settings.model or "Local model"
    from urllib.parse import urlsplit

    try:
        host = urlsplit(settings.base_url).hostname if settings.base_url else settings.provider
    except ValueError:  # no address yet; opening the model says so
        host = None
    return f"{settings.model or settings.name}, {host or settings.provider}"
