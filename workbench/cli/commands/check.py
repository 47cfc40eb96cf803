"""`check`: run a project's guardrail checks on a text."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from workbench.cli.errors import BAD_VERDICT, GOOD, MODEL_FAILED, CliError, is_wrong_setting
from workbench.cli.inputs import load_project, read_file, refuse, refuse_unknown_set, text_argument
from workbench.cli.output import print_json, table, write
from workbench.cli.runs import add_model_options, close_history, open_history, secrets_for, wait_for
from workbench.engine.guardrails import CheckResult, GuardrailResult
from workbench.engine.guardrails.settings import GuardrailSettings, Stage
from workbench.engine.projects.snapshot import ProjectSnapshot

if TYPE_CHECKING:
    from workbench.engine.decisions import DecisionError
    from workbench.engine.workflows import PromptText


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """Add the subcommand and its options."""
    parser = commands.add_parser(
        "check",
        help="run guardrail checks on a text",
        description="Run all checks of a stage in one call of the decision model; checks on a pattern, a length or"
        " languages ask none.",
        epilog="Exit status: 0 passed, 1 rejected, 2 a wrong call or file, 3 a model failed or left a check unanswered.",
    )
    parser.add_argument("project", help="the project's folder")
    texts = parser.add_mutually_exclusive_group()
    texts.add_argument("--text", metavar="T", help="the text to check; - reads standard input")
    texts.add_argument("--text-file", metavar="F", help="a file with the text to check")
    texts.add_argument("--rendered", action="store_true", help="check the rendered prompt (the default)")
    parser.add_argument(
        "--stage", choices=("input", "output"), default="input", help="which checks (default: input)"
    )
    parser.add_argument(
        "--user-message", metavar="T", help="at the output stage: the message that is answered"
    )
    parser.add_argument("--parameter-set", metavar="NAME", help="the parameter set of the rendered prompt")
    add_model_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the checks, print them, and return the exit status."""
    from workbench.engine.decisions import DecisionError
    from workbench.engine.workflows import check_project, describe_decision_model

    project = load_project(arguments.project)
    snapshot = project.snapshot()
    refuse_unknown_set(snapshot, arguments.parameter_set, arguments.project)
    text = _text(arguments, snapshot)
    user_message = None if arguments.user_message is None else text_argument(arguments.user_message)
    secrets = secrets_for(arguments, snapshot)
    history = open_history(project.root, arguments, secrets)
    try:
        result = wait_for(
            lambda: check_project(
                snapshot,
                arguments.stage,
                text,
                user_message=user_message,
                model_name=arguments.model,
                history=history,
                secrets=secrets,
            )
        )
    except DecisionError as error:
        if arguments.json and not is_wrong_setting(error):
            print_json(_unanswered(arguments.stage, snapshot.guardrail(arguments.stage), error))
        raise
    finally:
        close_history(history)
    if arguments.json:
        print_json(result.to_json())
    else:
        write(check_table(result))
        if snapshot.guardrail(arguments.stage).asks_model:
            info = wait_for(lambda: describe_decision_model(snapshot, arguments.model, secrets=secrets))
            write(f"{info.expectation}\n")
    return {"passed": GOOD, "rejected": BAD_VERDICT}.get(result.verdict, MODEL_FAILED)


def _unanswered(stage: Stage, settings: GuardrailSettings, error: DecisionError) -> dict[str, Any]:
    """Return the document of a run whose model failed: an error for each check that was to ask it."""
    found = {each.name: each for each in error.found if isinstance(each, CheckResult)}
    checks = tuple(
        found.get(check.name)
        or CheckResult(check.name, check.question, None, settings.threshold_of(check), "error", error.message)
        for check in settings.checks
    )
    document = GuardrailResult(stage, checks, error.message).to_json()
    # Not "rejected", whatever the checks say that ask no model: the question as a whole has no answer.
    return document | {"verdict": "error"}


def _text(arguments: argparse.Namespace, snapshot: ProjectSnapshot) -> str | PromptText:
    if arguments.text is not None:
        return text_argument(arguments.text)
    if arguments.text_file is not None:
        return read_file(arguments.text_file).text
    if arguments.stage == "output":
        raise CliError("check: the output stage checks a response; give it with --text or --text-file")
    return rendered_text(snapshot, arguments.parameter_set)


def rendered_text(snapshot: ProjectSnapshot, parameter_set: str | None) -> str | PromptText:
    """Return the rendered prompt as it is checked.

    Raises:
        CliError: where a placeholder has no value, which stops a send.
    """
    from workbench.engine.workflows import render_project

    rendering = render_project(snapshot, parameter_set, validate=False)
    refuse(rendering.broken, snapshot.root)
    if rendering.unresolved:
        bodies = ", ".join(dict.fromkeys(use.body for use in rendering.unresolved))
        raise CliError(f"the prompt is not sent: no value for {bodies}", BAD_VERDICT)
    return rendering.checked()


def check_table(result: GuardrailResult) -> str:
    """Return the checks as a table for people, with the verdict and the model that answered below it."""
    rows = [["check", "kind", "p", "threshold", "outcome", "question"]]
    for check in result.checks:
        probability, threshold = "-", f"{check.threshold:.2f}"
        if check.kind != "model":
            # The 0 or 1 of a rule is no judgement, and nothing that a threshold would change.
            threshold = "-"
        elif check.probability is not None:
            probability = probability_figure(check.probability, check.threshold)
        outcome = check.status.replace("_", " ") + (f" ({check.detail})" if check.detail else "")
        rows.append([check.name, check.kind, probability, threshold, outcome, check.question])
    verdict = f"verdict: {result.verdict}" + (f". {result.message}" if result.message else "")
    version = f" ({result.model_version})" if result.model_version else ""
    model = f"{result.model_name}{version}" if result.model_name else "none was asked"
    asked = f"model: {model}, {result.elapsed_ms:.0f} ms"
    return table(rows, right=frozenset({2, 3})) + f"\n{verdict}\n{asked}\n"


def probability_figure(probability: float, threshold: float) -> str:
    """Return two decimals, or as many more as it takes to stay on the threshold's right side."""
    for decimals in range(2, 8):
        text = f"{probability:.{decimals}f}"
        if (float(text) >= threshold) == (probability >= threshold):
            return text
    return repr(probability)
