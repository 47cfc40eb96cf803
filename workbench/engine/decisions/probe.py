"""Tests the connection to a decision model: what answered, how fast, in which dialect, and what is missing."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workbench.engine.decisions.errors import DecisionError
from workbench.engine.decisions.model import ask
from workbench.engine.decisions.opening import open_decision_model
from workbench.engine.decisions.questions import (
    BadAnswer,
    DecisionRequest,
    DecisionResponse,
    NoAnswer,
    Refusal,
    YesNoAnswer,
    YesNoQuestion,
)
from workbench.engine.decisions.remote import is_moving
from workbench.engine.model_settings import ModelSettings

_REQUEST = DecisionRequest(
    "The kettle is on the stove and the water is boiling.",
    {
        "kettle": YesNoQuestion(
            "Does the text mention a kettle?", "a kettle is mentioned", "no kettle is mentioned"
        ),
        "number": YesNoQuestion("Does the text contain a telephone number?"),
    },
)
_OTHERS = ("openai", "system-one", "sglang", "chat-logprobs")


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """What a test of the connection found.

    `ok` is true where every trial question got a sound answer. `looks_like` is the provider whose dialect
    the server speaks, as far as it was found out. `missing` names what a result will lack; `problem` and
    `hint` say what is wrong and what to change.
    """

    ok: bool
    provider: str
    looks_like: str | None
    elapsed_ms: float
    model_version: str | None = None
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    problem: str | None = None
    hint: str | None = None


async def probe_decision_model(
    settings: ModelSettings,
    *,
    root: Path | None = None,
    secrets: Any | None = None,
    transport: Any | None = None,
) -> ProbeReport:
    """Ask two harmless questions and report. Where the dialect is wrong, the others are tried as well.

    Sends at most one request per dialect (one per question for `chat-logprobs`), with no retries.

    Raises:
        OriginNotAccepted: where the secret was not accepted for this server; nothing was sent.
    """
    once = replace(settings, options={**settings.options, "max_retries": 0})
    report, error = await _try(once, root, secrets, transport)
    if (
        error is None
        or error.kind not in ("status", "envelope", "body")
        or error.status in (401, 402, 403, 429)
    ):
        return report
    if settings.provider not in _OTHERS or (error.status or 0) >= 500:
        return report
    for provider in _OTHERS:
        if provider == settings.provider:
            continue
        other, _ = await _try(replace(once, provider=provider), root, secrets, transport)
        if other.ok:
            return replace(
                report,
                looks_like=provider,
                hint=f'the server speaks another dialect: set provider = "{provider}"',
            )
    return report


async def _try(
    settings: ModelSettings, root: Path | None, secrets: Any, transport: Any
) -> tuple[ProbeReport, DecisionError | None]:
    started = time.perf_counter()
    try:
        model = open_decision_model(settings, root=root, secrets=secrets, transport=transport)
    except DecisionError as error:
        return _failed(settings, error, 0.0), error
    try:
        request = _REQUEST
        if settings.provider == "recorded":
            notes = ("recorded answers: nothing is asked",)
            return ProbeReport(True, settings.provider, settings.provider, 0.0, notes=notes), None
        response = await ask(model, request)
    except DecisionError as error:
        return _failed(settings, error, (time.perf_counter() - started) * 1000), error
    finally:
        await model.aclose()
    return _found(settings, response, (time.perf_counter() - started) * 1000), None


def _failed(settings: ModelSettings, error: DecisionError, elapsed_ms: float) -> ProbeReport:
    return ProbeReport(False, settings.provider, None, elapsed_ms, problem=error.message, hint=error.hint)


def _found(settings: ModelSettings, response: DecisionResponse, elapsed_ms: float) -> ProbeReport:
    bad = [a for a in response.answers.values() if isinstance(a, (NoAnswer, BadAnswer, Refusal))]
    missing = []
    if response.usage is None:
        missing.append("token counts")
    if response.model_name is None:
        missing.append("the version that answered")
    notes = list(response.notes)
    if response.model_name is not None and is_moving(response.model_name):
        notes.append(f"{response.model_name} is an alias: thresholds belong to the version that answers")
    masses = [a.mass for a in response.answers.values() if isinstance(a, YesNoAnswer) and a.mass is not None]
    if masses and min(masses) < 0.5:
        notes.append(f"only {min(masses):.2f} of the model's probability fell on yes or no")
    sound = [answer for answer in response.answers.values() if isinstance(answer, YesNoAnswer)]
    if sound and all(a.lower is not None and a.lower == a.upper and a.lower in (0.0, 1.0) for a in sound):
        notes.append(
            "the server gives certainties only, as some do at temperature 0: "
            "set extra_body = { temperature = 1, max_tokens = 1 }"
        )
    return ProbeReport(
        not bad,
        settings.provider,
        settings.provider,
        elapsed_ms,
        response.model_name,
        tuple(missing),
        tuple(notes),
        bad[0].detail if bad else None,
    )
