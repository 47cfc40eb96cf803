"""What a person does with a project, in one call each: fill the prompt, run its checks, translate a request.

The window and the command line stand on these functions, so that both do the same. They take a frozen
`ProjectSnapshot`; what they send and receive is appended to a history while it happens.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.events import RunEvent
from workbench.engine.guardrails.settings import Stage
from workbench.engine.json_text import JsonDocument, parse_json
from workbench.engine.model_settings import ModelSettings
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.engine.templates import (
    GraphText,
    KeyCollisionError,
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
    from workbench.engine.tools import ToolRun
    from workbench.engine.translation import Attempt, Failure, JsonTranslator, Success, TranslationRecord
    from workbench.engine.translation.preview import PromptPreview

T = TypeVar("T")

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
    templates, the parameters and their schema; each carries its `file` or its `node`. `broken` are those of
    them that say why the parameters or the graph are no JSON: a prompt that has any is not sent.
    `graph_document` is the text of the object graph as it was read; diagnostics of a graph have their places
    in it.
    """

    prompt: RenderedPrompt | None
    graph: Replacement | None
    parameters: JsonDocument
    parameter_set: str | None
    diagnostics: tuple[Diagnostic, ...]
    broken: tuple[Diagnostic, ...] = ()
    graph_document: JsonDocument | None = None

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
    broken = () if parameters.ok else parameters.diagnostics
    if validate and snapshot.parameters_schema is not None and parameters.ok and name is not None:
        diagnostics += _schema_diagnostics(snapshot.parameters_schema.text, parameters, file)
    if snapshot.graph is not None:
        document = parse_json(snapshot.graph.text, file=GRAPH_FILE)
        diagnostics += document.diagnostics
        broken += () if document.ok else document.diagnostics
        try:
            graph = render_graph(document.value, parameters.value, options)
        except KeyCollisionError as error:
            graph = render_graph(document.value, parameters.value, replace(options, replace_keys=False))
            diagnostics.append(_collision(error, document))
        filled: Replacement | RenderedPrompt = graph
        rendering = ProjectRendering(None, graph, parameters, name, (), graph_document=document)
        if graph.diagnostics:
            text = GraphText(document)
            diagnostics += text.located(graph.diagnostics, graph.placeholders, GRAPH_FILE)
    else:
        prompt = render_prompt(snapshot.messages, parameters.value, options)
        filled = prompt
        rendering = ProjectRendering(prompt, None, parameters, name, ())
        diagnostics += prompt.diagnostics
    if parameters.ok and name is not None:
        diagnostics += _located(unused_parameters(parameters.value, filled.used_pointers), parameters, file)
    return replace(rendering, diagnostics=tuple(diagnostics), broken=broken)


def _collision(error: KeyCollisionError, document: JsonDocument) -> Diagnostic:
    """Say that two names of the graph become one; its names are then shown as they are."""
    span = document.span(error.node)
    start, end = (None, None) if span is None else (span[0], span[0] + 1)
    line, column = (None, None) if start is None else document.lines.position(start)
    hint = "rename one of them, or turn off that member names are filled"
    return Diagnostic(
        "error", "key_collision", str(error), start, end, line, column, error.node, hint, GRAPH_FILE
    )


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


_FOLLOWS_FROM_BROKEN = {"missing", "required_absent", "unused_parameter"}


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
        rendering = render_project(snapshot, name)
        for diagnostic in rendering.diagnostics:
            # Where the parameters are no JSON, every placeholder lacks its value; that is said once, by them.
            follows = bool(rendering.broken) and diagnostic.code in _FOLLOWS_FROM_BROKEN
            if diagnostic.file != PARAMETERS_SCHEMA_FILE and not follows:
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
        guardrail: Any = _sound(lambda: guardrail_from_settings(settings, model, stage))
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


def _sound(build: Callable[[], T]) -> T:
    """Return what `build` makes; settings that it refuses are the project's fault, in its own words."""
    try:
        return build()
    except ValueError as error:
        raise WorkflowError(str(error)) from error


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
    schema = output_schema(snapshot)
    inputs = {
        "request": request,
        "type_name": snapshot.translation.type_name,
        "schema": schema.text,
        "parameter_set": parameter_set,
        "model": model_name,
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
    model: LanguageModel | None = None,
    model_name: str | None = None,
    secrets: Secrets | None = None,
    on_event: Callable[[RunEvent], None] | None = None,
) -> Success[Any] | Failure:
    """Go on from an attempt of a stored run with today's project: a new run, stored as a branch of the old one.

    The attempt's reply, or `reply` in its place, is judged by today's schema and rules. Where it does not
    hold, a repair follows, asked with `repair_prompt` where one is given.

    Raises:
        KeyError: where there is no such run, or no such attempt in it.
        WorkflowError: as `translate_project` does, and where the run is no translation.
    """
    shown = replay_run(history, run_id)
    record = getattr(shown, "attempts", None)
    if record is None:
        raise WorkflowError(f"run {run_id} is no translation, so there is nothing to repair")
    chosen = next((each for each in record if each.number == attempt), None)
    if chosen is None:
        raise KeyError(f"run {run_id} has no attempt {attempt}")
    schema = output_schema(snapshot)
    inputs = {
        **history.run(run_id).inputs,
        "type_name": snapshot.translation.type_name,
        "schema": schema.text,
        "model": model_name,
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
) -> PromptPreview:
    """Return what `translate_project` would send for `request`; nothing is sent.

    With `attempt` it is what `branch_translation` would send: the repair of the attempt's reply, or of `reply`.

    Raises:
        WorkflowError: as `translate_project` does, but for the model.
    """
    from workbench.engine.translation.preview import preview_repair, preview_request

    schema = output_schema(snapshot)
    settings = snapshot.translation
    try:
        if attempt is not None:
            return await preview_repair(settings, schema, attempt, request=request, reply=reply)
        preamble = _preamble(snapshot, parameter_set)
        return await preview_request(settings, schema, request, preamble_messages=preamble)
    except ValueError as error:
        raise WorkflowError(str(error)) from error


async def _run_translation(
    snapshot: ProjectSnapshot,
    schema: JsonSchema,
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

    settings = snapshot.translation
    opened: list[LanguageModel] = []
    recorder = _Recorder(history)

    def forward(event: RunEvent) -> None:
        recorder.store(event)
        if on_event is not None:
            on_event(event)

    try:
        if model is None:
            model = _open_chat_model(snapshot, model_name, secrets)
            opened.append(model)
        repair_model = None
        if settings.repair_model is not None:
            repair_model = _open_chat_model(snapshot, settings.repair_model, secrets)
            opened.append(repair_model)
        title = f"Translate to {settings.type_name}"
        recorder.start("translate", title, inputs, model=model.name, parent=parent)
        asked, repairing = model, repair_model
        translator = _sound(
            lambda: translator_from_settings(
                settings, asked, schema, repair_model=repairing, preamble_messages=preamble, on_event=forward
            )
        )
        result = await start(translator)
        recorder.finish_translation(result)
        return result
    except BaseException as error:
        recorder.fail(error)
        raise
    finally:
        for each in opened:
            await each.aclose()


def _open_chat_model(snapshot: ProjectSnapshot, name: str | None, secrets: Secrets | None) -> LanguageModel:
    from workbench.engine.language_models import (
        LanguageModelError,
        language_model_available,
        open_language_model,
    )

    chosen = chat_settings(snapshot, name)
    if chosen is None:
        raise WorkflowError("no chat model can answer: the project has none, and no recorded replies")
    if reason := language_model_available(chosen, snapshot.root):
        raise LanguageModelError("unavailable", f"the chat model {chosen.name!r} is not available: {reason}")
    return open_language_model(chosen, root=snapshot.root, secrets=secrets)


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
    return _filled_messages(snapshot, parameter_set)


def _filled_messages(snapshot: ProjectSnapshot, parameter_set: str | None) -> list[Any]:
    """Return the project's prompt as messages, filled; refuse one that would be sent with holes in it."""
    from workbench.engine.language_models import Message

    rendering = render_project(snapshot, parameter_set, validate=False)
    if rendering.broken:
        raise WorkflowError(f"the prompt is not sent: {rendering.broken[0].one_line()}", rendering.broken)
    if rendering.unresolved:
        bodies = ", ".join(dict.fromkeys(use.body for use in rendering.unresolved))
        raise WorkflowError(f"the prompt is not sent: no value for {bodies}", rendering.diagnostics)
    return [Message(message.role, message.text) for message in rendering.messages]


async def run_project_tools(
    snapshot: ProjectSnapshot,
    request: str,
    *,
    with_prompt: bool = True,
    model: LanguageModel | None = None,
    model_name: str | None = None,
    parameter_set: str | None = None,
    max_round_trips: int = 20,
    history: HistoryStore | None = None,
    secrets: Secrets | None = None,
    on_event: Callable[[RunEvent], None] | None = None,
) -> ToolRun:
    """Let the chat model answer with the help of the project's simulated tools, and store the conversation.

    The filled prompt is sent first (not without `with_prompt`), then `request` as a message of the user, where it
    is not empty.

    Raises:
        WorkflowError: where there is no tool, a tool has no usable simulated answer, the prompt has placeholders
            without a value, there is nothing to send, or no chat model can answer.
    """
    from workbench.engine.language_models import Message
    from workbench.engine.tools import ToolPolicies, check_simulation, run_tools, simulated_tools

    problems = [problem for tool in snapshot.tools for problem in check_simulation(tool)]
    if problems or not snapshot.tools:
        raise WorkflowError(problems[0].message if problems else "the project has no tools", problems)
    messages = _filled_messages(snapshot, parameter_set) if with_prompt else []
    if request.strip():
        messages.append(Message("user", request))
    if not messages:
        raise WorkflowError("there is nothing to send: write a message, or send the prompt too")
    opened = model is None
    if model is None:
        model = _open_chat_model(snapshot, model_name, secrets)
    recorder = _Recorder(history)

    def forward(event: RunEvent) -> None:
        recorder.store(event)
        if on_event is not None:
            on_event(event)

    names = [tool.name for tool in snapshot.tools]
    inputs = {"request": request, "with_prompt": with_prompt, "parameter_set": parameter_set, "tools": names}
    try:
        recorder.start("tool", f"Tools {', '.join(names)}", {**inputs, "model": model_name}, model=model.name)
        result = await run_tools(
            model,
            messages,
            simulated_tools(snapshot.tools),
            policies=ToolPolicies(max_round_trips=max_round_trips),
            on_event=forward,
        )
        calls = len(result.executions)
        recorder.finish(result.outcome, f"{calls} tool call{'s' if calls != 1 else ''}")
        return result
    except BaseException as error:
        recorder.fail(error)
        raise
    finally:
        if opened:
            await model.aclose()


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
    """Writes one run into a history, or nowhere when there is none.

    A history that fails (a full disk, say) does not take the answer with it that a model was asked for: the
    run goes on unrecorded, and the store's `problem` says why.
    """

    def __init__(self, history: HistoryStore | None) -> None:
        self._history = history
        self._run_id: int | None = None
        self._began = 0.0
        self._done = False

    def start(
        self,
        kind: str,
        title: str,
        inputs: dict[str, Any],
        *,
        model: str,
        live_key: str | None = None,
        parent: tuple[int, int | None] | None = None,
    ) -> None:
        self._began = time.monotonic()
        history = self._history
        if history is not None:
            self._run_id = self._stored(
                lambda: history.start_run(kind, title, inputs, model=model, live_key=live_key, parent=parent)
            )

    def _stored(self, write: Callable[[], T]) -> T | None:
        from workbench.engine.history import HistoryError

        assert self._history is not None
        try:
            return write()
        except HistoryError as error:
            self._history.problem = str(error)
            self._history = None
            return None

    def add(self, kind: str, data: dict[str, Any]) -> None:
        self.store(RunEvent(kind, time.monotonic() - self._began, data))

    def store(self, event: RunEvent) -> None:
        # Pieces of a streamed reply are shown live; the whole reply follows in an event of its own.
        history, run_id = self._history, self._run_id
        if history is not None and run_id is not None and event.kind != "delta":
            self._stored(lambda: history.append(run_id, event))

    def finish(self, outcome: str, summary: str, *, model: str | None = None) -> None:
        self._done = True
        history, run_id = self._history, self._run_id
        if history is not None and run_id is not None:
            self._stored(lambda: history.finish_run(run_id, outcome, summary, model=model))

    def finish_translation(self, result: Success[Any] | Failure) -> None:
        from workbench.engine.history import AttemptSummary
        from workbench.engine.translation import Failure

        attempts = result.attempts
        history, run_id = self._history, self._run_id
        if history is not None and run_id is not None:
            rows = [
                AttemptSummary(
                    attempt.number,
                    attempt.outcome,
                    attempt.elapsed_ms,
                    attempt.usage.input_tokens if attempt.usage is not None else None,
                    attempt.usage.output_tokens if attempt.usage is not None else None,
                )
                for attempt in attempts
            ]
            self._stored(lambda: history.set_attempts(run_id, rows))
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
