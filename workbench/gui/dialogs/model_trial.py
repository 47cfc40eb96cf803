"""Asks a model something small and says in words what answered, how fast, and what it was seen to do."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.engine.model_settings import ModelSettings
from workbench.gui.models.figures import format_duration, joined

if TYPE_CHECKING:
    from workbench.engine.language_models import Probe

MOST_NAMES = 6


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of a trial: words for people, whether it went well, and the names of the server's models."""

    words: str
    good: bool = True
    models: tuple[str, ...] = ()


async def try_model(settings: ModelSettings, root: Any, secrets: Any) -> Trial:
    """Ask the model of `settings`, as a decision model where it answers checks, else as a chat model."""
    return await (_try_decisions if settings.decides else _try_chat)(settings, root, secrets)


async def _try_decisions(settings: ModelSettings, root: Any, secrets: Any) -> Trial:
    from workbench.engine.decisions import open_decision_model, probe_decision_model

    report = await probe_decision_model(settings, root=root, secrets=secrets)
    if not report.ok:
        words = [report.problem or "The questions were not answered.", report.hint or "", *report.notes]
        return Trial(" ".join(_sentence(each) for each in words if each), good=False)
    model = open_decision_model(settings, root=root, secrets=secrets)
    try:
        info = await model.describe()
    finally:
        await model.aclose()
    words = [f"{report.model_version or info.name} answered in {format_duration(report.elapsed_ms)}"]
    words += [f"It does not tell {joined(list(report.missing))}"] if report.missing else []
    words += [*report.notes, info.expectation]
    return Trial(" ".join(_sentence(each) for each in words if each))


def _sentence(words: str) -> str:
    """Return words as a sentence; names at their beginning stay as they are."""
    return words if words.endswith((".", "?", "!", ")")) else f"{words}."


async def _try_chat(settings: ModelSettings, root: Any, secrets: Any) -> Trial:
    from workbench.engine.language_models import open_language_model

    model: Any = open_language_model(settings, root=root, secrets=secrets)
    try:
        begun = time.perf_counter()
        probe = await model.probe()
        elapsed = (time.perf_counter() - begun) * 1000
        description = await model.describe()
    finally:
        await model.aclose()
    sentences = [probe.message]
    if probe.ok:
        sentences += [f"It took {format_duration(elapsed)}.", *seen(probe)]
    sentences += [*_offered(probe.models or ()), description.expectation]
    return Trial(" ".join(each for each in sentences if each), probe.ok, probe.models or ())


def seen(probe: Probe) -> list[str]:
    """Return one sentence for what a model does and one for what it does not; nothing where it was not tried."""
    facts = (
        (probe.streaming, "streams", "does not stream"),
        (probe.json_schema, "obeys a JSON Schema", "does not obey a JSON Schema (use the mode “prompt”)"),
        (probe.usage, "counts its tokens", "does not count its tokens"),
    )
    said = [yes if fact else no for fact, yes, no in facts if fact is not None]
    return [f"It {joined(said)}."] if said else []


def _offered(names: Sequence[str]) -> list[str]:
    if len(names) < 2:
        return []
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return [f"The server offers {', '.join(names[:MOST_NAMES])}{more}."]
