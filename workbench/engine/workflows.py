"""What a person does with a project, in one call each: fill the prompt, run its checks, translate a request.

The window and the command line stand on these functions, so that both do the same. They take a frozen
`ProjectSnapshot`; what they send and receive is appended to a history while it happens.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.events import RunEvent
from workbench.engine.guardrails.settings import Stage
from workbench.engine.json_text import JsonDocument, parse_json
from workbench.engine.model_settings import ModelSettings
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.engine.templates import (
    PlaceholderUse,
    RenderedMessage,
    RenderedPrompt,
    Replacement,
    TemplateOptions,
    render_graph,
    render_prompt,
    unused_parameters,
)

if TYPE_CHECKING:
    from workbench.engine.decisions import DecisionModel, ModelInfo
    from workbench.engine.guardrails import GuardrailResult
    from workbench.engine.history import HistoryStore
    from workbench.engine.language_models import LanguageModel, ModelDescription
    from workbench.engine.schemas import JsonSchema
    from workbench.engine.secrets import Secrets
    from workbench.engine.translation import Failure, Success, TranslationRecord

EMBEDDED = ModelSettings("embedded", "embedded")
LOCAL = ModelSettings("local", "local")

GRAPH_FILE = "graph.json"
PARAMETERS_SCHEMA_FILE = "parameters.schema.json"
OUTPUT_SCHEMA_FILE = "output.schema.json"


class WorkflowError(Exception):
    """The project cannot do what was asked of it; `diagnostics` names the places, when there are any."""

    def __init__(self, message: str, diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.diagnostics = tuple(diagnostics)


@dataclass(frozen=True, slots=True)
class ProjectRendering:
    """A project's prompt, filled.

    `prompt` holds the messages; `graph` is set instead when the template is an object graph. `parameters` is
    the parsed parameter set named `parameter_set`. `diagnostics` names everything worth knowing of the
    templates, the parameters and their schema; each carries its `file` or its `node`.
    """

    prompt: RenderedPrompt | None
    graph: Replacement | None
    parameters: JsonDocument
    parameter_set: str | None
    diagnostics: tuple[Diagnostic, ...]

    @property
    def messages(self) -> tuple[RenderedMessage, ...]:
        """The filled messages; none for an object graph."""
        return self.prompt.messages if self.prompt is not None else ()

    @property
    def placeholders(self) -> tuple[PlaceholderUse, ...]:
        """Every placeholder record, in the order of the messages or of the graph."""
        if self.graph is not None:
            return tuple(self.graph.placeholders)
        return tuple(use for message in self.messages for use in message.placeholders)

    @property
    def unresolved(self) -> tuple[PlaceholderUse, ...]:
        """The placeholders that have no value and were kept; a prompt that has any is not sent."""
        return tuple(use for use in self.placeholders if use.status == "kept")

    def text(self) -> str:
        """Return the whole prompt as one text.

        One message gives its text and nothing else. Of several, each follows a line `--- role ---`.
        """
        if self.graph is not None:
            from workbench.engine.json_text import dumps

            return dumps(self.graph.value, indent=2)
        if len(self.messages) == 1:
            return self.messages[0].text
        parts = []
        for message in self.messages:
            newline = "" if message.text.endswith("\n") else "\n"
            parts.append(f"--- {message.role} ---\n{message.text}{newline}")
        return "".join(parts)


def render_project(
    snapshot: ProjectSnapshot,
    parameter_set: str | None = None,
    *,
    options: TemplateOptions | None = None,
    validate: bool = True,
) -> ProjectRendering:
    """Fill the prompt of a project with one of its parameter sets (the default one when none is named).

    A set that is missing or broken gives a rendering with its diagnostics and nothing filled. With
    `validate` the parameters are checked against their schema, which costs about half a second a megabyte.

    Raises:
        KeyError: where there is no parameter set of that name.
    """
    options = snapshot.template if options is None else options
    name = snapshot.default_parameter_set() if parameter_set is None else parameter_set
    file = f"parameters/{name}.json"
    parameters = (
        parse_json(snapshot.parameter_sets[name].text, file=file) if name is not None else parse_json("null")
    )
    diagnostics = list(parameters.diagnostics)
    if validate and snapshot.parameters_schema is not None and parameters.ok and name is not None:
        diagnostics += _schema_diagnostics(snapshot.parameters_schema.text, parameters, file)
    if snapshot.graph is not None:
        document = parse_json(snapshot.graph.text, file=GRAPH_FILE)
        diagnostics += document.diagnostics
        graph = render_graph(document.value, parameters.value, options)
        filled: Replacement | RenderedPrompt = graph
        rendering = ProjectRendering(None, graph, parameters, name, ())
    else:
        prompt = render_prompt(snapshot.messages, parameters.value, options)
        filled = prompt
        rendering = ProjectRendering(prompt, None, parameters, name, ())
    diagnostics += filled.diagnostics
    if parameters.ok and name is not None:
        diagnostics += _located(unused_parameters(parameters.value, filled.used_pointers), parameters, file)
    return replace(rendering, diagnostics=tuple(diagnostics))


def _schema_diagnostics(schema_text: str, parameters: JsonDocument, file: str) -> list[Diagnostic]:
    from workbench.engine.schemas import JsonSchema, SchemaError

    try:
        schema = JsonSchema.parse(schema_text, file=PARAMETERS_SCHEMA_FILE)
    except SchemaError as error:
        return list(error.diagnostics)
    return schema.check(parameters.value, document=parameters, file=file)


def _located(diagnostics: list[Diagnostic], document: JsonDocument, file: str) -> list[Diagnostic]:
    """Give diagnostics that know only a JSON Pointer their place in the text of `document`."""
    from workbench.engine.text import LineIndex

    index = LineIndex(document.text)
    placed = []
    for diagnostic in diagnostics:
        pointer = diagnostic.pointer
        span = None if pointer is None else document.key_span(pointer) or document.span(pointer)
        if span is not None:
            line, column = index.position(span[0])
            diagnostic = replace(diagnostic, start=span[0], end=span[1], line=line, column=column)
        placed.append(replace(diagnostic, file=file))
    return placed


def validate_project(folder: Path) -> list[Diagnostic]:
    """Return everything that is wrong with the project in `folder`: settings, every set, schemas, cases.

    Files are named relative to the folder.
    """
    from workbench.engine.projects import Project, ProjectError
    from workbench.engine.schemas import check_schema_text

    try:
        project = Project.load(folder)
    except ProjectError as error:
        return list(error.diagnostics)
    snapshot = project.snapshot()
    found = list(project.diagnostics)
    for file, schema in (
        (PARAMETERS_SCHEMA_FILE, snapshot.parameters_schema),
        (OUTPUT_SCHEMA_FILE, snapshot.output_schema),
    ):
        if schema is not None:
            found += check_schema_text(schema.text, file=file)
    names: list[str | None] = [*sorted(snapshot.parameter_sets)] or [None]
    for name in names:
        for diagnostic in render_project(snapshot, name).diagnostics:
            if diagnostic.file != PARAMETERS_SCHEMA_FILE:
                found.append(diagnostic)
    # The same problem may show under several sets; a diagnostic may hold a list, so it is told by its words.
    return list({repr(diagnostic): diagnostic for diagnostic in found}.values())


def decision_settings(snapshot: ProjectSnapshot, name: str | None = None) -> ModelSettings:
    """Return the settings of the decision model `name`, else of `[models.decision]`, else the embedded one.

    Raises:
        WorkflowError: where the project names no such model.
    """
    if name in (None, "decision"):
        return snapshot.models.get("decision", EMBEDDED)
    if name == "embedded" and name not in snapshot.models:
        return EMBEDDED
    return _named_model(snapshot, str(name))


async def describe_decision_model(
    snapshot: ProjectSnapshot, name: str | None = None, *, secrets: Secrets | None = None
) -> ModelInfo:
    """Return what to expect of the decision model that `check_project` would ask; nothing is sent.

    Raises:
        WorkflowError: where the project names no such model.
    """
    from workbench.engine.decisions import open_decision_model

    model = open_decision_model(decision_settings(snapshot, name), root=snapshot.root, secrets=secrets)
    try:
        return await model.describe()
    finally:
        await model.aclose()


def chat_settings(snapshot: ProjectSnapshot, name: str | None = None) -> ModelSettings | None:
    """Return the settings of the chat model that can answer now, `None` where there is none.

    A model asked for by `name` is returned as it is. Without a name: `[models.chat]` when it is usable, else
    the local model, else the project's recorded replies.

    Raises:
        WorkflowError: where the project names no such model.
    """
    from workbench.engine.language_models import language_model_available

    if name not in (None, "chat"):
        return LOCAL if name == "local" and name not in snapshot.models else _named_model(snapshot, str(name))
    candidates = [snapshot.models["chat"]] if "chat" in snapshot.models else [LOCAL]
    candidates += [m for m in snapshot.models.values() if m.provider == "recorded"]
    candidates.append(ModelSettings("recorded", "recorded"))
    for settings in candidates:
        if language_model_available(settings, snapshot.root) is None:
            return settings
    return snapshot.models.get("chat")


def _named_model(snapshot: ProjectSnapshot, name: str) -> ModelSettings:
    if name not in snapshot.models:
        known = ", ".join(sorted(snapshot.models)) or "none"
        raise WorkflowError(f"the project has no model named {name!r} in [models] (it has: {known})")
    return snapshot.models[name]


async def describe_chat_model(
    snapshot: ProjectSnapshot, name: str | None = None, *, secrets: Secrets | None = None
) -> ModelDescription | None:
    """Return what to expect of the chat model that `translate_project` would ask, `None` where there is none.

    Nothing is sent.

    Raises:
        WorkflowError: where the project names no such model.
    """
    from workbench.engine.language_models import language_model_available, open_language_model

    settings = chat_settings(snapshot, name)
    if settings is None or language_model_available(settings, snapshot.root) is not None:
        return None
    model = open_language_model(settings, root=snapshot.root, secrets=secrets)
    try:
        return await model.describe()
    finally:
        await model.aclose()


async def check_project(
    snapshot: ProjectSnapshot,
    stage: Stage,
    text: str,
    *,
    user_message: str | None = None,
    model: DecisionModel | None = None,
    model_name: str | None = None,
    history: HistoryStore | None = None,
    secrets: Secrets | None = None,
    title: str = "",
    live_key: str | None = None,
) -> GuardrailResult:
    """Run all checks of a stage on `text` in one call and store the run.

    At the output stage `text` is the response and `user_message` the message it answers. `live_key` marks a
    run that happened by itself while somebody typed: of those only the last is kept.

    Raises:
        WorkflowError: where the stage has no checks.
        DecisionError: where the model cannot be reached or its whole answer is unusable.
    """
    from workbench.engine.decisions import open_decision_model
    from workbench.engine.guardrails import guardrail_from_settings

    settings = snapshot.guardrail(stage)
    if not settings.checks:
        raise WorkflowError(f"the project has no {stage} checks; add one under [[guardrails.{stage}.checks]]")
    opened = model is None
    if model is None:
        model = open_decision_model(
            decision_settings(snapshot, model_name), root=snapshot.root, secrets=secrets
        )
    recorder = _Recorder(history)
    checks = [
        {
            "name": check.name,
            "question": check.question,
            "threshold": settings.threshold_of(check),
            "yes_means": check.yes_means,
            "no_means": check.no_means,
        }
        for check in settings.checks
    ]
    recorder.start(
        "check",
        title or f"Check {stage}, {len(checks)} check{'s' if len(checks) != 1 else ''}",
        {"stage": stage, "text": text, "user_message": user_message, "checks": checks},
        model=model.name,
        live_key=live_key,
    )
    try:
        recorder.add(
            "check_request", {"stage": stage, "text": text, "user_message": user_message, "checks": checks}
        )
        guardrail: Any = guardrail_from_settings(settings, model, stage)
        if stage == "input":
            result: GuardrailResult = await guardrail.validate(text)
        else:
            result = await guardrail.validate(text, user_message=user_message)
        recorder.add("check_result", result.to_record())
        summary = result.verdict + (f" by {', '.join(result.failed_checks)}" if result.failed_checks else "")
        recorder.finish(
            result.verdict, summary, model=result.model_version or result.model_name or model.name
        )
        return result
    except BaseException as error:
        recorder.fail(error)
        raise
    finally:
        if opened:
            await model.aclose()


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
) -> Success[Any] | Failure:
    """Translate one request into a value of the project's output schema and store every attempt.

    Raises:
        WorkflowError: where the project has no output schema, no chat model that can answer, or a preamble
            whose placeholders have no value.
        SchemaError: where the output schema is not a schema.
    """
    from workbench.engine.language_models import language_model_available, open_language_model
    from workbench.engine.translation import translator_from_settings

    schema = output_schema(snapshot)
    preamble = _preamble(snapshot, parameter_set)
    settings = snapshot.translation
    opened: list[LanguageModel] = []
    if model is None:
        chosen = chat_settings(snapshot, model_name)
        if chosen is None:
            raise WorkflowError("no chat model can answer: the project has none, and no recorded replies")
        if reason := language_model_available(chosen, snapshot.root):
            raise WorkflowError(f"the chat model {chosen.name!r} is not available: {reason}")
        model = open_language_model(chosen, root=snapshot.root, secrets=secrets)
        opened.append(model)
    repair_model = None
    if settings.repair_model is not None:
        repair_settings = chat_settings(snapshot, settings.repair_model)
        assert repair_settings is not None
        repair_model = open_language_model(repair_settings, root=snapshot.root, secrets=secrets)
        opened.append(repair_model)
    recorder = _Recorder(history)
    recorder.start(
        "translate",
        f"Translate to {settings.type_name}",
        {
            "request": request,
            "type_name": settings.type_name,
            "schema": schema.text,
            "parameter_set": parameter_set,
            "model": model_name,
        },
        model=model.name,
    )

    def forward(event: RunEvent) -> None:
        recorder.store(event)
        if on_event is not None:
            on_event(event)

    try:
        translator = translator_from_settings(
            settings, model, schema, repair_model=repair_model, preamble_messages=preamble, on_event=forward
        )
        result = await translator.translate(request)
        recorder.finish_translation(result)
        return result
    except BaseException as error:
        recorder.fail(error)
        raise
    finally:
        for each in opened:
            await each.aclose()


def output_schema(snapshot: ProjectSnapshot) -> JsonSchema:
    """Return the project's output schema, compiled.

    Raises:
        WorkflowError: where the project has none, or it is not a JSON Schema; with its diagnostics.
    """
    from workbench.engine.schemas import JsonSchema, SchemaError

    if snapshot.output_schema is None:
        raise WorkflowError(f"the project has no {OUTPUT_SCHEMA_FILE}, so there is nothing to translate to")
    try:
        return JsonSchema.parse(snapshot.output_schema.text, file=OUTPUT_SCHEMA_FILE)
    except SchemaError as error:
        first = error.diagnostics[0].one_line() if error.diagnostics else str(error)
        raise WorkflowError(first, error.diagnostics) from error


def _preamble(snapshot: ProjectSnapshot, parameter_set: str | None) -> list[Any]:
    from workbench.engine.language_models import Message

    preamble = snapshot.translation.preamble
    if preamble != "template":
        return [Message(section.role, section.content) for section in preamble]
    rendering = render_project(snapshot, parameter_set, validate=False)
    if rendering.unresolved:
        bodies = ", ".join(dict.fromkeys(use.body for use in rendering.unresolved))
        raise WorkflowError(f"the prompt is not sent: no value for {bodies}", rendering.diagnostics)
    return [Message(message.role, message.text) for message in rendering.messages]


def replay_run(
    history: HistoryStore, run_id: int, *, steps: int | None = None
) -> TranslationRecord | GuardrailResult:
    """Show a stored run again, from its events and with no model; `steps` stops after that many events.

    Raises:
        KeyError: where there is no such run.
        WorkflowError: where the run's kind has nothing to replay, or its result was never stored.
    """
    run = history.run(run_id)
    events = run.events if steps is None else run.events[:steps]
    if run.summary.kind == "translate":
        from workbench.engine.translation import replay

        return replay(events)
    if run.summary.kind == "check":
        from workbench.engine.guardrails import GuardrailResult

        for event in reversed(events):
            if event.kind == "check_result":
                return GuardrailResult.from_json(event.data)
        raise WorkflowError(f"run {run_id} stored no result: it ended with {run.summary.outcome}")
    raise WorkflowError(f"run {run_id} is of the kind {run.summary.kind}, which cannot be replayed")


def history_path(root: Path) -> Path:
    """Return where the history of the project in folder `root` lives."""
    return root / ".workbench" / "history.sqlite"


class _Recorder:
    """Writes one run into a history, or nowhere when there is none."""

    def __init__(self, history: HistoryStore | None) -> None:
        self._history = history
        self._run_id: int | None = None
        self._began = 0.0
        self._done = False

    def start(
        self, kind: str, title: str, inputs: dict[str, Any], *, model: str, live_key: str | None = None
    ) -> None:
        self._began = time.monotonic()
        if self._history is not None:
            self._run_id = self._history.start_run(kind, title, inputs, model=model, live_key=live_key)

    def add(self, kind: str, data: dict[str, Any]) -> None:
        self.store(RunEvent(kind, time.monotonic() - self._began, data))

    def store(self, event: RunEvent) -> None:
        # Pieces of a streamed reply are shown live; the whole reply follows in an event of its own.
        if self._history is not None and self._run_id is not None and event.kind != "delta":
            self._history.append(self._run_id, event)

    def finish(self, outcome: str, summary: str, *, model: str | None = None) -> None:
        self._done = True
        if self._history is not None and self._run_id is not None:
            self._history.finish_run(self._run_id, outcome, summary, model=model)

    def finish_translation(self, result: Success[Any] | Failure) -> None:
        from workbench.engine.history import AttemptSummary
        from workbench.engine.translation import Failure

        attempts = result.attempts
        if self._history is not None and self._run_id is not None:
            self._history.set_attempts(
                self._run_id,
                [
                    AttemptSummary(
                        attempt.number,
                        attempt.outcome,
                        attempt.elapsed_ms,
                        attempt.usage.input_tokens if attempt.usage is not None else None,
                        attempt.usage.output_tokens if attempt.usage is not None else None,
                    )
                    for attempt in attempts
                ],
            )
        outcome = result.code if isinstance(result, Failure) else "ok"
        repairs = max(0, len(attempts) - 1)
        summary = f"{repairs} repair{'s' if repairs != 1 else ''}" if repairs else "first attempt"
        self.finish(outcome, summary)

    def fail(self, error: BaseException) -> None:
        if self._done:
            return
        stopped = isinstance(error, asyncio.CancelledError | KeyboardInterrupt)
        if not stopped:
            self.add("failed", {"error": type(error).__name__, "message": str(error)})
        self.finish("cancelled" if stopped else "error", "stopped" if stopped else str(error))
