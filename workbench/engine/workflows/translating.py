"""Translates requests with a project, goes on from stored attempts, and previews the prompts."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbench.engine.events import RunEvent
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.engine.text import TextFile, shorten
from workbench.engine.workflows.errors import UnfilledPromptError, WorkflowError, settle
from workbench.engine.workflows.models import open_chat_model
from workbench.engine.workflows.programs import target_of, with_target
from workbench.engine.workflows.recording import Recorder, titled
from workbench.engine.workflows.rendering import OUTPUT_SCHEMA_FILE, render_project
from workbench.engine.workflows.replaying import replay_translation

if TYPE_CHECKING:
    from workbench.engine.history import HistoryStore
    from workbench.engine.language_models import LanguageModel
    from workbench.engine.schemas import JsonSchema
    from workbench.engine.secrets import Secrets
    from workbench.engine.translation import Attempt, Failure, JsonTranslator, ProgramValidator, Success
    from workbench.engine.translation.preview import PromptPreview
    from workbench.engine.translation.settings import TranslationSettings


async def translate_project(
    snapshot: ProjectSnapshot,
    request: str,
    *,
    model: LanguageModel | None = None,
    model_name: str | None = None,
    parameter_set: str | None = None,
    history: HistoryStore | None = None,
    secrets: Secrets | None = None,
    on_event: Callable[[RunEvent], None] | None = None,
    parent: int | None = None,
) -> Success[Any] | Failure:
    """Translate one request into a value of the project's output schema and store every attempt.

    `parent` is the stored run whose request is run again; the new run is stored below it.

    Raises:
        WorkflowError: where the project has no output schema, no chat model that can answer, or a preamble
            whose placeholders have no value.
        SchemaError: where the output schema is not a schema.
    """
    schema = translation_target(snapshot)
    inputs = {
        "request": request,
        "type_name": snapshot.translation.type_name,
        "schema": schema.text,
        "parameter_set": parameter_set,
        "model": model_name,
        "target": snapshot.translation.target,
    }

    async def translate(translator: JsonTranslator) -> Success[Any] | Failure:
        return await translator.translate(request)

    return await _run_translation(
        snapshot,
        schema,
        _preamble(snapshot, parameter_set),
        inputs,
        translate,
        model=model,
        model_name=model_name,
        history=history,
        secrets=secrets,
        on_event=on_event,
        parent=None if parent is None else (parent, None),
    )


async def branch_translation(
    snapshot: ProjectSnapshot,
    history: HistoryStore,
    run_id: int,
    attempt: int,
    *,
    reply: str | None = None,
    repair_prompt: str | None = None,
    schema_text: str | None = None,
    repair_model_too: bool = False,
    model: LanguageModel | None = None,
    model_name: str | None = None,
    secrets: Secrets | None = None,
    on_event: Callable[[RunEvent], None] | None = None,
) -> Success[Any] | Failure:
    """Go on from an attempt of a stored run with today's project: a new run, stored as a branch of the old one.

    The attempt's reply, or `reply` in its place, is judged by today's rules and today's schema, or by
    `schema_text` in its place (which is not written to the project). Where it does not hold, a repair follows,
    asked with `repair_prompt` where one is given. With `repair_model_too` the model of this call is asked for
    repairs, whatever repair model the project has.

    Raises:
        KeyError: where there is no such run, or no such attempt in it.
        WorkflowError: as `translate_project` does, and where the run is no translation.
    """
    snapshot = with_output_schema(snapshot, schema_text)
    if repair_model_too:
        snapshot = replace(snapshot, translation=replace(snapshot.translation, repair_model=None))
    stored = history.run(run_id)
    snapshot = with_target(snapshot, target_of(stored))
    if stored.summary.kind != "translate":
        raise WorkflowError(f"run {run_id} is no translation, so there is nothing to repair")
    attempts = replay_translation(stored.events).attempts
    chosen = next((each for each in attempts if each.number == attempt), None)
    if chosen is None:
        raise KeyError(f"run {run_id} has no attempt {attempt}")
    schema = translation_target(snapshot)
    inputs = {
        **stored.inputs,
        "type_name": snapshot.translation.type_name,
        "schema": schema.text,
        "model": model_name,
        "target": snapshot.translation.target,
        "branched_from": {"run": run_id, "attempt": attempt},
    }

    async def go_on(translator: JsonTranslator) -> Success[Any] | Failure:
        return await translator.continue_from(
            chosen, request=str(inputs.get("request", "")), reply=reply, repair_prompt=repair_prompt
        )

    return await _run_translation(
        snapshot,
        schema,
        [],
        inputs,
        go_on,
        model=model,
        model_name=model_name,
        history=history,
        secrets=secrets,
        on_event=on_event,
        parent=(run_id, attempt),
    )


async def preview_translation(
    snapshot: ProjectSnapshot,
    request: str,
    *,
    parameter_set: str | None = None,
    attempt: Attempt | None = None,
    reply: str | None = None,
    schema_text: str | None = None,
) -> PromptPreview:
    """Return what `translate_project` would send for `request`; nothing is sent.

    With `attempt` it is what `branch_translation` would send: the repair of the attempt's reply, or of `reply`.
    `schema_text` takes the place of the project's output schema.

    Raises:
        WorkflowError: as `translate_project` does, but for the model.
    """
    from workbench.engine.translation.preview import preview_repair, preview_request

    schema = translation_target(with_output_schema(snapshot, schema_text))
    settings = _settings(snapshot)
    try:
        if attempt is not None:
            return await preview_repair(settings, schema, attempt, request=request, reply=reply)
        preamble = _preamble(snapshot, parameter_set)
        return await preview_request(settings, schema, request, preamble_messages=preamble)
    except ValueError as error:
        raise WorkflowError(str(error)) from error


async def _run_translation(
    snapshot: ProjectSnapshot,
    schema: JsonSchema | ProgramValidator,
    preamble: list[Any],
    inputs: dict[str, Any],
    start: Callable[[JsonTranslator], Awaitable[Success[Any] | Failure]],
    *,
    model: LanguageModel | None,
    model_name: str | None,
    history: HistoryStore | None,
    secrets: Secrets | None,
    on_event: Callable[[RunEvent], None] | None,
    parent: tuple[int, int | None] | None = None,
) -> Success[Any] | Failure:
    """Open the models, run `start` on a translator, store what happens, and close what was opened."""
    from workbench.engine.translation import translator_from_settings

    settings = _settings(snapshot)
    opened: list[LanguageModel] = []
    recorder = Recorder(history)
    began = time.monotonic()

    def forward(event: RunEvent) -> None:
        recorder.store(event)
        if on_event is not None:
            on_event(event)

    try:
        if model is None:
            model = open_chat_model(snapshot, model_name, secrets)
            opened.append(model)
        repair_model = None
        if settings.repair_model is not None:
            repair_model = open_chat_model(snapshot, settings.repair_model, secrets)
            opened.append(repair_model)
        head = "Program" if settings.target == "program" else settings.type_name
        title = titled(head, str(inputs.get("request", "")))
        recorder.start("translate", title, inputs, model=model.name, parent=parent)
        asked, repairing = model, repair_model
        translator = settle(
            lambda: translator_from_settings(
                settings, asked, schema, repair_model=repairing, preamble_messages=preamble, on_event=forward
            )
        )
        result = await start(translator)
        if settings.target == "program" and result.success:
            result = await _evaluated(snapshot, result, forward, began)
        recorder.finish_translation(result)
        return result
    except BaseException as error:
        recorder.fail(error)
        raise
    finally:
        for each in opened:
            await each.aclose()


async def _evaluated(
    snapshot: ProjectSnapshot,
    result: Success[Any] | Failure,
    forward: Callable[[RunEvent], None],
    began: float,
) -> Success[Any] | Failure:
    """Evaluate the program of a success; where a tool gives an error, the run fails with `tool_error`."""
    from workbench.engine.translation import Failure, Success
    from workbench.engine.workflows.programs import evaluate_with_tools

    assert isinstance(result, Success)
    problem = await evaluate_with_tools(snapshot, result.data, on_event=forward, began=began)
    if not problem:
        return result
    return Failure(problem, "tool_error", attempts=result.attempts, record=result.record)


def _settings(snapshot: ProjectSnapshot) -> TranslationSettings:
    from workbench.engine.workflows.programs import program_settings

    settings = snapshot.translation
    return program_settings(settings) if settings.target == "program" else settings


def translation_target(snapshot: ProjectSnapshot) -> JsonSchema | ProgramValidator:
    """Return what a request is translated to: a value of the output schema, or a program over the tools.

    Raises:
        WorkflowError: where the project has none, or it is wrong.
    """
    from workbench.engine.workflows.programs import program_validator

    return (
        program_validator(snapshot) if snapshot.translation.target == "program" else output_schema(snapshot)
    )


def with_output_schema(snapshot: ProjectSnapshot, text: str | None) -> ProjectSnapshot:
    """Return `snapshot` with another output schema; as it is for `None`."""
    return snapshot if text is None else replace(snapshot, output_schema=TextFile(text))


def output_schema(snapshot: ProjectSnapshot) -> JsonSchema:
    """Return the project's output schema, compiled.

    Raises:
        WorkflowError: where the project has none, or it is not a JSON Schema; with its diagnostics.
    """
    from workbench.engine.schemas import JsonSchema, SchemaError, schema_files

    if snapshot.output_schema is None:
        raise WorkflowError(f"the project has no {OUTPUT_SCHEMA_FILE}, so there is nothing to translate to")
    try:
        return JsonSchema.parse(
            snapshot.output_schema.text, file=OUTPUT_SCHEMA_FILE, files=schema_files(snapshot)
        )
    except SchemaError as error:
        first = error.diagnostics[0].one_line() if error.diagnostics else str(error)
        raise WorkflowError(first, error.diagnostics) from error


def _preamble(snapshot: ProjectSnapshot, parameter_set: str | None) -> list[Any]:
    from workbench.engine.language_models import Message

    preamble = snapshot.translation.preamble
    if preamble != "template":
        return [Message(section.role, section.content) for section in preamble]
    return filled_messages(snapshot, parameter_set)


def filled_messages(snapshot: ProjectSnapshot, parameter_set: str | None) -> list[Any]:
    """Return the project's prompt as messages, filled; refuse one that would be sent with holes in it."""
    from workbench.engine.language_models import Message

    if parameter_set is not None and parameter_set not in snapshot.parameter_sets:
        known = ", ".join(sorted(snapshot.parameter_sets)) or "none"
        raise WorkflowError(f"there is no parameter set {shorten(parameter_set)!r} (there are: {known})")
    rendering = render_project(snapshot, parameter_set, validate=False)
    if rendering.broken:
        raise WorkflowError(f"the prompt is not sent: {rendering.broken[0].one_line()}", rendering.broken)
    if rendering.unresolved:
        bodies = ", ".join(dict.fromkeys(use.body for use in rendering.unresolved))
        raise UnfilledPromptError(f"the prompt is not sent: no value for {bodies}", rendering.diagnostics)
    return [Message(message.role, message.text) for message in rendering.messages]
