"""Fills the prompt of a project and says everything that is worth knowing of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.json_text import JsonDocument, parse_json
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
from workbench.engine.workflows.prompt_text import PromptText

if TYPE_CHECKING:
    from workbench.engine.projects import Project

GRAPH_FILE = "graph.json"
PARAMETERS_SCHEMA_FILE = "parameters.schema.json"
OUTPUT_SCHEMA_FILE = "output.schema.json"
CASES_FILE = "cases.jsonl"


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

    def problems(self) -> tuple[Diagnostic, ...]:
        """Return the diagnostics as they stand for sending: what is said of a placeholder that stops it is an error."""
        stopping = {
            (use.diagnostic.code, use.diagnostic.message)
            for use in self.unresolved
            if use.diagnostic is not None
        }
        return tuple(
            replace(each, severity="error") if (each.code, each.message) in stopping else each
            for each in self.diagnostics
        )

    def text(self) -> str:
        """Return the whole prompt as one text.

        One message gives its text and nothing else. Of several, each follows a line `--- role ---`.
        """
        whole = self.checked()
        return whole if isinstance(whole, str) else whole.sent

    def checked(self) -> str | PromptText:
        """Return the whole prompt as `check_project` takes it; several messages stay apart."""
        if self.graph is not None:
            from workbench.engine.json_text import dumps

            return dumps(self.graph.value, indent=2)
        return PromptText.of((message.role, message.text) for message in self.messages)


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
        diagnostics += _schema_diagnostics(snapshot, snapshot.parameters_schema.text, parameters, file)
    if snapshot.graph is not None:
        document = parse_json(snapshot.graph.text, file=GRAPH_FILE)
        diagnostics += document.diagnostics
        broken += () if document.ok else document.diagnostics
        readable = document.ok
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
        readable = True
        prompt = render_prompt(snapshot.messages, parameters.value, options)
        filled = prompt
        rendering = ProjectRendering(prompt, None, parameters, name, ())
        diagnostics += prompt.diagnostics
    # Of a graph that cannot be read nobody knows what it uses.
    if parameters.ok and name is not None and readable:
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


def _schema_diagnostics(
    snapshot: ProjectSnapshot, schema_text: str, parameters: JsonDocument, file: str
) -> list[Diagnostic]:
    from workbench.engine.schemas import JsonSchema, SchemaError, schema_files

    try:
        schema = JsonSchema.parse(schema_text, file=PARAMETERS_SCHEMA_FILE, files=schema_files(snapshot))
    except SchemaError as error:
        return list(error.diagnostics)
    return schema.check(parameters.value, document=parameters, file=file)


def _located(diagnostics: list[Diagnostic], document: JsonDocument, file: str) -> list[Diagnostic]:
    """Give diagnostics that know only a JSON Pointer their place in the text of `document`."""
    placed = []
    for diagnostic in diagnostics:
        pointer = diagnostic.pointer
        span = None if pointer is None else document.key_span(pointer) or document.span(pointer)
        if span is not None:
            line, column = document.lines.position(span[0])
            diagnostic = replace(diagnostic, start=span[0], end=span[1], line=line, column=column)
        placed.append(replace(diagnostic, file=file))
    return placed


_FOLLOWS_FROM_BROKEN = {"missing", "required_absent", "unused_parameter"}


def _with_all_cases(project: Project) -> list[Diagnostic]:
    """Return the diagnostics of a project, those of all its cases also where only the first are held."""
    from workbench.engine.evaluation.case_stream import CaseStream

    cases = project.every_case()
    if not isinstance(cases, CaseStream):
        return list(project.diagnostics)
    found = [d for d in project.diagnostics if d.file != CASES_FILE or d.code == "large_cases"]
    # Places in such a file are lines and columns; offsets count from the beginning of the line.
    return [*found, *(d.at(CASES_FILE, start=None, end=None) for d in cases.survey().diagnostics)]


def validate_project(folder: Path) -> list[Diagnostic]:
    """Return everything that is wrong with the project in `folder`: settings, every set, schemas, cases.

    Files are named relative to the folder.
    """
    from workbench.engine.projects import Project, ProjectError
    from workbench.engine.schemas import check_schema_text, schema_files

    try:
        project = Project.load(folder)
    except ProjectError as error:
        return list(error.diagnostics)
    snapshot = project.snapshot()
    found = _with_all_cases(project)
    for file, schema in (
        (PARAMETERS_SCHEMA_FILE, snapshot.parameters_schema),
        (OUTPUT_SCHEMA_FILE, snapshot.output_schema),
    ):
        if schema is not None:
            found += check_schema_text(schema.text, file, schema_files(snapshot))
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
