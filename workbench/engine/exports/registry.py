"""The list of export targets. A new target is one module beside this one and one line here."""

from __future__ import annotations

from workbench.engine.exports.base import ExportTarget
from workbench.engine.exports.langchain4j import LangChain4jTarget
from workbench.engine.exports.litellm import LiteLlmTarget
from workbench.engine.exports.openai_request import OpenAiRequestTarget
from workbench.engine.exports.python import PythonTarget

_TARGETS: tuple[ExportTarget, ...] = (
    PythonTarget(),
    LangChain4jTarget(),
    LiteLlmTarget(),
    OpenAiRequestTarget(),
)


def targets() -> tuple[ExportTarget, ...]:
    """Return all export targets in the order in which lists show them."""
    return _TARGETS


def find_target(name: str) -> ExportTarget | None:
    """Return the target called `name`, or `None`."""
    return next((target for target in _TARGETS if target.name == name), None)
