"""`translate`: turn requests into JSON of the project's output schema, into programs, or into answers with tools."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from workbench.cli.errors import GOOD, CliError
from workbench.cli.inputs import load_project, read_file, text_argument
from workbench.cli.output import print_json, tell
from workbench.cli.progress import Progress, progress_for
from workbench.cli.request_loop import request_loop
from workbench.cli.runs import add_model_options, close_history, open_history, secrets_for, wait_for
from workbench.cli.tool_runs import tools_status, tools_text, tools_to_json
from workbench.cli.translations import exit_status, record_text, record_to_json, short_text
from workbench.engine.events import RunEvent
from workbench.engine.history import HistoryStore
from workbench.engine.projects import Project
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.engine.secrets import Secrets
from workbench.engine.text import shorten
from workbench.engine.translation import TranslationRecord, read_requests
from workbench.engine.translation.settings import SCHEMA_STYLES

DESCRIPTION = (
    "Ask the chat model for JSON of the project's output schema; replies that break it are repaired. Or ask it for a "
    "program over the project's tools, or let it answer with their help; simulated answers stand in for the tools."
)
EPILOG = (
    "Exit status: 0 a valid value, 1 none, 2 a wrong call or file, 3 the model or the network failed; of several "
    "requests the worst.\n\n"
    "--interactive reads requests from standard input, one a line, until quit, exit or the end; blank lines are passed "
    "over, and a request that fails does not end it. With --json each answer is one line of JSON. Progress is shown on "
    "standard error where that is a terminal."
)


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """Add the subcommand and its options."""
    parser = commands.add_parser(
        "translate", help="turn a request into schema-valid JSON", description=DESCRIPTION, epilog=EPILOG
    )
    parser.add_argument("project", help="the project's folder")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--request", metavar="T", help="the request; - reads standard input")
    source.add_argument(
        "--requests", metavar="FILE", help="a file with one request a line; # starts a comment line"
    )
    source.add_argument("--interactive", action="store_true", help="ask for requests, one after another")
    source.add_argument("--replay", metavar="RUN", type=int, help="show a stored run again, without a model")
    target = parser.add_mutually_exclusive_group()
    target.add_argument(
        "--program", action="store_true", help="make a program over the project's tools, and run it"
    )
    target.add_argument("--tools", action="store_true", help="let the model answer with the project's tools")
    parser.add_argument("--parameter-set", metavar="NAME", help="the parameter set of a template preamble")
    parser.add_argument(
        "--schema-style",
        choices=SCHEMA_STYLES,
        help="how the prompt shows the schema (default: as the project says)",
    )
    parser.add_argument("--progress", action="store_true", help="say how far it is, even without a terminal")
    add_model_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Translate or replay, print every attempt, and return the exit status."""
    project = load_project(arguments.project)
    if arguments.replay is not None:
        return _replay(project, arguments)
    with _translating(project, arguments) as translating:
        if arguments.interactive:
            return request_loop(translating.answer_one)
        if arguments.requests is not None:
            return _batch(translating)
        request = text_argument(arguments.request)
        if not request.strip():
            raise CliError("translate: the request is empty")
        answer = translating.answer(request)
    if arguments.json:
        print_json(answer.document)
    else:
        tell(answer.text + _expectation(project, arguments))
    return answer.status


@dataclass(frozen=True, slots=True)
class _Answer:
    """What came of one request: exit status, text for people, its one line, and the JSON document."""

    status: int
    text: str
    short: str
    document: dict[str, Any]
    attempts: int = 0


@dataclass(slots=True)
class _Translating:
    """What the requests of one call share."""

    snapshot: ProjectSnapshot
    arguments: argparse.Namespace
    secrets: Secrets
    history: HistoryStore | None
    progress: Progress

    def answer(self, request: str) -> _Answer:
        with self.progress:
            return self._with_tools(request) if self.arguments.tools else self._translated(request)

    def answer_one(self, request: str) -> int:
        """Answer a request of the loop and print what came of it."""
        answer = self.answer(request)
        if self.arguments.json:
            print_json({"request": request, **answer.document}, indent=None)
        else:
            tell(answer.text)
        return answer.status

    def _options(self) -> dict[str, Any]:
        return {
            "model_name": self.arguments.model,
            "parameter_set": self.arguments.parameter_set,
            "history": self.history,
            "secrets": self.secrets,
        }

    def _translated(self, request: str) -> _Answer:
        from workbench.engine.workflows import replay_translation, translate_project

        events: list[RunEvent] = []

        def take(event: RunEvent) -> None:
            events.append(event)
            self.progress.take(event)

        wait_for(lambda: translate_project(self.snapshot, request, on_event=take, **self._options()))
        record = replay_translation(events)
        return _Answer(
            exit_status(record),
            record_text(record),
            short_text(record),
            record_to_json(record),
            len(record.attempts),
        )

    def _with_tools(self, request: str) -> _Answer:
        from workbench.engine.workflows import run_project_tools

        result = wait_for(
            lambda: run_project_tools(self.snapshot, request, on_event=self.progress.take, **self._options())
        )
        short = shorten(result.text, 200) if result.outcome == "ok" else result.outcome
        return _Answer(tools_status(result), tools_text(result), short, tools_to_json(result), 1)


@contextmanager
def _translating(project: Project, arguments: argparse.Namespace) -> Iterator[_Translating]:
    from workbench.engine.workflows import as_program

    snapshot = project.snapshot()
    if arguments.program:
        snapshot = as_program(snapshot)
    if arguments.schema_style is not None:
        settings = replace(snapshot.translation, schema_style=arguments.schema_style)
        snapshot = replace(snapshot, translation=settings)
    secrets = secrets_for(arguments, snapshot)
    history = open_history(project.root, arguments, secrets)
    try:
        yield _Translating(snapshot, arguments, secrets, history, progress_for(arguments))
    finally:
        close_history(history)


def _expectation(project: Project, arguments: argparse.Namespace) -> str:
    """Return a line that names the model that answered and says what to expect of it."""
    from workbench.engine.workflows import describe_chat_model

    snapshot = project.snapshot()
    secrets = secrets_for(arguments, snapshot)
    described = wait_for(lambda: describe_chat_model(snapshot, arguments.model, secrets=secrets))
    return "" if described is None else f"model: {described.one_line()}\n"


def _replay(project: Project, arguments: argparse.Namespace) -> int:
    from workbench.engine.workflows import WorkflowError, replay_run

    history = open_history(project.root, arguments, None)
    if history is None:
        raise CliError(f"{arguments.project}: there is no history to replay from")
    with history:
        try:
            record = replay_run(history, arguments.replay)
        except (KeyError, WorkflowError) as error:
            raise CliError(f"{arguments.project}: {error.args[0]}") from error
    if not isinstance(record, TranslationRecord):
        raise CliError(
            f"run {arguments.replay} is no translation; see prompt-workbench history PROJECT replay"
        )
    if arguments.json:
        print_json(record_to_json(record))
    else:
        tell(f"replay of run {arguments.replay}; nothing is sent\n" + record_text(record))
    return exit_status(record)


def _batch(translating: _Translating) -> int:
    arguments = translating.arguments
    requests = read_requests(read_file(arguments.requests).text)
    if not requests:
        raise CliError(f"{arguments.requests}: there is no request in this file")
    answers = []
    for number, request in enumerate(requests, 1):
        translating.progress.prefix = f"{number}/{len(requests)} "
        answer = translating.answer(request)
        answers.append(answer)
        if not arguments.json:
            tell(f"{number}/{len(requests)}  {shorten(request, 60)}\n    {answer.short}\n")
    if arguments.json:
        rows = [
            {"request": request, **answer.document} for request, answer in zip(requests, answers, strict=True)
        ]
        print_json({"format": 1, "results": rows})
    else:
        tell(_count(answers, arguments))
    return max(answer.status for answer in answers)


def _count(answers: list[_Answer], arguments: argparse.Namespace) -> str:
    """Return one line that counts how the requests of a file went."""
    good = sum(answer.status == GOOD for answer in answers)
    failed = len(answers) - good
    if arguments.tools:
        return f"{len(answers)} requests: {good} answered, {failed} failed\n"
    first = sum(answer.status == GOOD and answer.attempts == 1 for answer in answers)
    return f"{len(answers)} requests: {first} valid at first, {good - first} repaired, {failed} failed\n"
