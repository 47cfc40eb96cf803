"""Shows what a translation would send, by running it with a model that never answers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from workbench.engine.events import RunEvent
from workbench.engine.language_models import Message
from workbench.engine.schemas import JsonSchema
from workbench.engine.translation.record import Attempt, replay
from workbench.engine.translation.settings import TranslationSettings
from workbench.engine.translation.translator import JsonTranslator, translator_from_settings
from workbench.engine.translation.validator import Validator


@dataclass(frozen=True, slots=True)
class PromptPreview:
    """What would be sent next.

    `messages` is the whole conversation, `prompt` the text of its last message; both are empty where nothing
    would be sent. `judged` is, for a repair, the reply with today's verdict on it. `problem` says why nothing
    would be sent though something should.
    """

    messages: tuple[Message, ...] = ()
    prompt: str = ""
    judged: Attempt | None = None
    problem: str = ""


class _NoModel:
    """Never answers, and calls the run off as soon as it is asked."""

    name = "none"

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def complete(self, messages: Sequence[Message], **_options: Any) -> Any:
        self.asked.set()
        await asyncio.Event().wait()


async def preview_request(
    settings: TranslationSettings,
    schema: JsonSchema | Validator,
    request: str,
    *,
    preamble_messages: Sequence[Any] = (),
) -> PromptPreview:
    """Return what the first attempt at `request` would send.

    Raises:
        ValueError: where the settings cannot be used, for example a rule that is wrong in itself.
    """
    events: list[RunEvent] = []
    model = _NoModel()
    translator = _rehearsing(settings, schema, model, events, preamble_messages)
    await translator.translate(request, cancel=model.asked)
    return _preview(replay(events).attempts, 1)


async def preview_repair(
    settings: TranslationSettings,
    schema: JsonSchema | Validator,
    attempt: Attempt,
    *,
    request: str = "",
    reply: str | None = None,
) -> PromptPreview:
    """Judge the reply of `attempt`, or `reply` in its place, and return the repair that would be asked for.

    Raises:
        ValueError: where the settings cannot be used.
    """
    events: list[RunEvent] = []
    model = _NoModel()
    translator = _rehearsing(settings, schema, model, events, ())
    await translator.continue_from(attempt, request=request, reply=reply, cancel=model.asked)
    return _preview(replay(events).attempts, 2)


def _rehearsing(
    settings: TranslationSettings,
    schema: JsonSchema | Validator,
    model: Any,
    events: list[RunEvent],
    preamble: Sequence[Any],
) -> JsonTranslator:
    return translator_from_settings(
        settings, model, schema, repair_model=model, preamble_messages=preamble, on_event=events.append
    )


def _preview(attempts: Sequence[Attempt], number: int) -> PromptPreview:
    judged = next((each for each in attempts if each.number == number - 1), None)
    asked = next((each for each in attempts if each.number == number), None)
    if asked is None:
        return PromptPreview(judged=judged)
    problem = asked.message if not asked.messages else ""
    return PromptPreview(asked.messages, asked.prompt, judged, problem)
