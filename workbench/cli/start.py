"""Opens the window; where there is no display, does the same work in the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workbench.cli.errors import BAD_VERDICT, GOOD, CliError, guarded
from workbench.cli.inputs import load_project, project_folder
from workbench.cli.output import complain, write
from workbench.engine.projects import Project, ProjectError, copy_sample, list_samples


def display_available() -> bool:
    """Tell whether a window can be shown."""
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def config_folder() -> Path:
    """Return the folder where settings and accepted origins live."""
    import platformdirs

    return Path(platformdirs.user_config_dir("prompt-workbench", appauthor=False))


def data_folder() -> Path:
    """Return the folder where copies of samples live."""
    import platformdirs

    return Path(platformdirs.user_data_dir("prompt-workbench", appauthor=False))


def start(
    project: str | None, *, sample: str | None = None, window: bool = True, ask_recovery: bool = True
) -> int:
    """Open the window on a project, on the user's copy of a sample, or on the welcome page.

    Without `ask_recovery`, unsaved work of an earlier start is set aside instead of being asked about.

    Without a display the prompt, the checks and a translation are printed and a picture of the window saved.
    """
    folder = _sample_folder(sample) if sample is not None else None
    if project is not None:
        folder = project_folder(project).resolve()
    if window and (display_available() or os.environ.get("QT_QPA_PLATFORM")):
        return _open_window(folder, ask_recovery)
    if folder is None:
        raise CliError(
            "there is no display to open the window on; name a project to do the work in the terminal, or see"
            " prompt-workbench --help"
        )
    return tour(load_project(str(folder)))


def _open_window(folder: Path | None, ask_recovery: bool = True) -> int:
    try:
        from workbench.gui.application import main
    except ImportError as error:
        raise CliError(f"the window cannot start: {error} (see prompt-workbench doctor)") from error
    return int(main(folder, sys.argv[:1], ask_recovery=ask_recovery))


def _sample_folder(name: str) -> Path:
    """Return the user's copy of a sample, made at the first start and reopened at the next."""
    known = [sample.name for sample in list_samples()]
    if name not in known:
        raise CliError(f"--sample {name}: there is no such sample (there are: {', '.join(known)})")
    folder = data_folder() / "samples" / name
    if not (folder / "workbench.toml").exists():
        try:
            copy_sample(name, folder)
        except (OSError, ProjectError) as error:
            raise CliError(f"{folder}: the sample could not be copied: {error}") from error
    return folder


def tour(project: Project) -> int:
    """Print the filled prompt, the check table and a translation's attempts, and save a picture of the window."""
    import argparse

    from workbench.cli.commands import check, translate
    from workbench.cli.commands.screenshot import DEFAULT_SIZE, take
    from workbench.engine.workflows import render_project

    assert project.root is not None
    snapshot = project.snapshot()
    parameter_set = snapshot.default_parameter_set()
    write(f"There is no display, so {project.name!r} is shown here. The project is in {project.root}\n")
    command = Path(sys.executable).with_name("prompt-workbench")
    write(f"Each part is also a command: {command if command.exists() else 'prompt-workbench'} --help\n")
    rendering = render_project(snapshot, parameter_set)
    write(f"\n== The prompt, filled from the parameter set {parameter_set}\n\n{rendering.text()}")
    call = argparse.Namespace(
        project=str(project.root), json=False, model=None, accept_origin=[], no_history=False, text=None,
        text_file=None, rendered=True, stage="input", user_message=None, parameter_set=parameter_set,
        replay=None, requests=None, interactive=False, program=False, tools=False, progress=False,
        schema_style=None,
    )  # fmt: skip
    status = GOOD
    if snapshot.input_guardrail.checks:
        write("\n== The checks of the input, in one call\n\n")
        status = max(status, _shown(check.run, call))
    if snapshot.output_schema is not None:
        write("\n== A request, translated to JSON\n\n")
        call.request = _example_request(project)
        write(f"request: {call.request}\n\n")
        status = max(status, _shown(translate.run, call))
    picture = data_folder() / f"{project.root.name}.png"
    picture.parent.mkdir(parents=True, exist_ok=True)
    take(project.root, picture, size=DEFAULT_SIZE, theme="light")
    write(f"\n== The window, drawn without a display\n\n{picture}\n")
    return status


def _shown(run: Callable[[Any], int], call: Any) -> int:
    """Run one part of the tour; a rejected message is something to see, not a failure of the tour."""
    try:
        status = guarded(run, call)
    except CliError as error:
        complain(error.message)
        status = error.status
    return status if status > BAD_VERDICT else GOOD


def _example_request(project: Project) -> str:
    """Return a request that suits the project: a recorded one, else the text of its first labelled case."""
    from workbench.engine.language_models import recorded_requests

    snapshot = project.snapshot()
    for request in recorded_requests(project.root):
        return request
    for case in snapshot.cases:
        if case.stage == "input":
            return case.text
    complain("note: the project has neither recordings nor cases, so a plain request is used")
    return "Please translate this request."
