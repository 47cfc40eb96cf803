"""Measures what a person feels: the first window, the memory, each key, the preview, and the start script.

Run it with `python -m tests.bench.window`; it draws offscreen unless `QT_QPA_PLATFORM` says otherwise. Every figure of
the window comes from a process of its own that runs the program's real `main`; figures are printed beside their targets
and nothing is asserted, because a machine that is busy with something else says little.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
PLACEHOLDERS = 1_000
TEMPLATE_SIZE = 100_000
STARTS = 7
KEYS = 200
PREVIEWS = 60
FILLS = 30
# Somebody who types fast presses a key about this often.
KEY_PAUSE = 0.03
SETTLE_SECONDS = 60.0


@dataclass(frozen=True)
class Figure:
    """One line of the report; `target` is the most that is wanted, in the same unit, `None` where none was set."""

    name: str
    value: float
    unit: str
    target: float | None = None

    def line(self) -> str:
        """Return the figure, its target and whether it is met."""
        verdict = ""
        if self.target is not None:
            verdict = (
                f"target < {self.target:g} {self.unit}   {'met' if self.value < self.target else 'MISSED'}"
            )
        return f"{self.name:<62} {self.value:>9.3f} {self.unit:<3} {verdict}".rstrip()


def quantile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least `share` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -(-int(share * 100) * len(ordered) // 100) - 1))]


# -- what is measured on ------------------------------------------------------------------------------------


def large_template(parts: int) -> str:
    """Return a template of about 100 KB in lines of a common length, with 1,000 placeholders for `parts` values."""
    room = TEMPLATE_SIZE // PLACEHOLDERS
    lines = []
    for number in range(PLACEHOLDERS):
        start = f"{number}: the part that [%param.part{number % parts}.name%] names, "
        lines.append(start + ("in words that fill a line and say little more " * 3)[: room - len(start) - 1])
    return "\n".join(lines) + "\n"


def large_parameters(parts: int, version: int = 0) -> dict[str, Any]:
    """Return the parameters of the large template; another version has other values."""
    return {f"part{number}": {"name": f"value {number} of {version}"} for number in range(parts)}


def make_large_project(folder: Path) -> None:
    """Write a project of one message, the large template."""
    (folder / "parameters").mkdir(parents=True)
    (folder / "parameters" / "default.json").write_text(json.dumps(large_parameters(50), indent=2), "utf-8")
    (folder / "workbench.toml").write_text(
        'format = 1\nname = "Large"\n\n[template]\ndialect = "context"\n\n[[template.messages]]\nrole = "user"\n'
        f'content = """\n{large_template(50)}"""\n',
        "utf-8",
    )


def make_sample(folder: Path) -> None:
    """Copy the sample *Support triage*."""
    from workbench.engine.projects import copy_sample

    copy_sample("support-triage", folder)


# -- inside the process that is measured --------------------------------------------------------------------


class Watch:
    """Counts the paintings of widgets that it was told to look at."""

    def __init__(self) -> None:
        from PySide6.QtCore import QEvent, QObject

        class Filter(QObject):
            def __init__(self) -> None:
                super().__init__()
                self.painted: dict[int, int] = {}

            def eventFilter(self, watched: Any, event: Any) -> bool:  # noqa: N802 - Qt's name
                # The filter is asked before the widget paints: `count` is one ahead of the paint that runs.
                if event.type() == QEvent.Type.Paint:
                    self.painted[id(watched)] = self.painted.get(id(watched), 0) + 1
                return False

        self._filter = Filter()

    def see(self, widget: Any) -> None:
        """Count the paintings of `widget` from now on."""
        widget.installEventFilter(self._filter)

    def count(self, widget: Any) -> int:
        """Return how often `widget` was painted; read it when the event loop is idle."""
        return self._filter.painted.get(id(widget), 0)


def main_window() -> Any:
    """Return the window, `None` while there is none."""
    from PySide6.QtWidgets import QApplication

    found = [w for w in QApplication.topLevelWidgets() if type(w).__name__ == "MainWindow"]
    return found[0] if found else None


def run_program(folder: Path, script: Callable[[Any, Watch, float], Any]) -> None:
    """Run the program's `main` on `folder`; when the filled prompt is painted, run `script` and print its result."""
    from PySide6.QtCore import QTimer

    from workbench.cli import main
    from workbench.gui.application import make_application

    app = make_application()
    watch, state = Watch(), {"step": "window"}
    timer = QTimer()

    def look() -> None:
        window = main_window()
        if window is None:
            return
        preview = window.docks.docks["preview"].pane
        if state["step"] == "window" and preview is not None and preview.text.raw_text():
            watch.see(preview.text.viewport())
            preview.text.viewport().update()
            state["step"] = "preview"
        elif state["step"] == "preview" and watch.count(preview.text.viewport()):
            state["step"] = "done"
            timer.stop()
            drawn = time.monotonic()
            QTimer.singleShot(0, lambda: finish(window, drawn))

    def finish(window: Any, drawn: float) -> None:
        try:
            print(json.dumps(script(window, watch, drawn)), flush=True)
        finally:
            window.session.project = None
            app.exit()

    timer.timeout.connect(look)
    timer.start(1)
    main([str(folder)])


def settle(window: Any) -> None:
    """Let the window work until nothing is left."""
    from PySide6.QtWidgets import QApplication

    quiet, deadline = 0, time.monotonic() + SETTLE_SECONDS
    while quiet < 40 and time.monotonic() < deadline:
        QApplication.processEvents()
        busy = window.session.jobs.busy() or window.session._timer.isActive()
        quiet = 0 if busy else quiet + 1
        time.sleep(0.005)


def first_window(_window: Any, _watch: Watch, drawn: float) -> float:
    """Return when the filled prompt was on the screen, on the clock that all processes share."""
    return drawn


def memory(window: Any, _watch: Watch, _drawn: float) -> float:
    """Return the resident memory in megabytes, with everything drawn and no model started."""
    import gc

    settle(window)
    gc.collect()
    for line in Path("/proc/self/status").read_text("ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("this system does not tell the resident memory")


def press(editor: Any, letter: str) -> None:
    """Send one key to an editor, as the window system would."""
    from PySide6.QtCore import QEvent, Qt
    from PySide6.QtGui import QKeyEvent
    from PySide6.QtWidgets import QApplication

    key, no = Qt.Key(ord(letter.upper())), Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(editor, QKeyEvent(QEvent.Type.KeyPress, key, no, letter))
    QApplication.sendEvent(editor, QKeyEvent(QEvent.Type.KeyRelease, key, no, letter))


def prepare_typing(window: Any, watch: Watch) -> tuple[Any, Any]:
    """Put the caret into the middle of the large template; return its editor and the preview."""
    settle(window)
    editor, preview = window.template.cards[0].editor, window.docks.pane("preview")
    window.activateWindow()
    editor.go_to(len(editor.raw_text()) // 2)
    # The filled text at the same place, so that what changes is what is painted.
    preview.text.go_to(len(preview.text.raw_text()) // 2, focus=False)
    for widget in (editor.viewport(), preview.text.viewport()):
        watch.see(widget)
    settle(window)
    return editor, preview


def typing(window: Any, watch: Watch, _drawn: float) -> dict[str, list[float]]:
    """Return milliseconds from each key to its painting, while the preview follows as it can."""
    from PySide6.QtWidgets import QApplication

    editor, _ = prepare_typing(window, watch)
    viewport, times = editor.viewport(), []
    for number in range(KEYS):
        before, begun = watch.count(viewport), time.perf_counter()
        press(editor, "etaoin"[number % 6])
        while watch.count(viewport) == before:
            QApplication.processEvents()
        times.append((time.perf_counter() - begun) * 1000)
        pause = time.perf_counter() + KEY_PAUSE
        while time.perf_counter() < pause:
            QApplication.processEvents()
            time.sleep(0.001)
    return {"keys": times[5:]}


def freshness(window: Any, watch: Watch, _drawn: float) -> dict[str, list[float]]:
    """Return milliseconds from a key to the painted preview that shows it, one key at a time."""
    from PySide6.QtWidgets import QApplication

    editor, preview = prepare_typing(window, watch)
    viewport, times = preview.text.viewport(), []
    seen: list[Any] = []
    window.session.rendered.connect(seen.append)
    for _ in range(PREVIEWS):
        seen.clear()
        begun = time.perf_counter()
        press(editor, "x")
        revision = window.session.revision
        while not seen:
            QApplication.processEvents()
        before = watch.count(viewport)
        viewport.update()
        while watch.count(viewport) == before:
            QApplication.processEvents()
        times.append((time.perf_counter() - begun) * 1000)
        assert window.session.revision == revision
        settle(window)
    return {"previews": times[3:]}


SCRIPTS: dict[str, tuple[Callable[[Path], None], Callable[[Any, Watch, float], Any]]] = {
    "first-window": (make_sample, first_window),
    "memory": (make_sample, memory),
    "typing": (make_large_project, typing),
    "freshness": (make_large_project, freshness),
}


# -- from outside -------------------------------------------------------------------------------------------


def ask(script: str, folder: Path, home: Path) -> Any:
    """Run a script in a process of its own, on a project in `folder`, and return what it measured.

    A project that was typed into is not used again: it has a recovery copy, about which the program would ask.
    """
    if not folder.exists():
        SCRIPTS[script][0](folder)
    environment = {**os.environ, "HOME": str(home), "PROMPT_WORKBENCH_CONFIG": str(home / "config")}
    environment.setdefault("QT_QPA_PLATFORM", "offscreen")
    # A person's second start finds compiled modules, whatever this shell says of writing them.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PYTHONPYCACHEPREFIX"] = str(home / "compiled")
    command = [sys.executable, "-m", "tests.bench.window", "--inside", script, str(folder)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0 or not done.stdout.strip():
        raise SystemExit(f"the measurement {script} failed with {done.returncode}:\n{done.stderr}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def measure_window(work: Path) -> list[Figure]:
    """Measure start, memory, keys and preview."""
    home = work / "home"
    (home / "config").mkdir(parents=True)
    # The embedded model would start by itself, and these figures are without models.
    (home / "config" / "settings.json").write_text(
        json.dumps({"checks.live": False, "recovery.seconds": 0}), "utf-8"
    )
    sample = work / "sample"
    make_sample(sample)
    starts = []
    for _ in range(STARTS + 1):
        begun = time.monotonic()
        starts.append(ask("first-window", sample, home) - begun)
    warm = starts[1:]
    resident = ask("memory", sample, home)
    keys = ask("typing", work / "typed into", home)["keys"]
    previews = ask("freshness", work / "followed", home)["previews"]
    return [
        Figure(
            f"first window on the sample, warm, median of {STARTS} starts", statistics.median(warm), "s", 1.5
        ),
        Figure("  the slowest of them", max(warm), "s"),
        Figure("memory with the sample open, without models", resident, "MB", 120),
        Figure(f"key handled and painted, 100 KB template, p50 of {len(keys)}", quantile(keys, 0.5), "ms"),
        Figure("  p95", quantile(keys, 0.95), "ms", 16),
        Figure("  the slowest", max(keys), "ms"),
        Figure(
            f"fresh preview after a key, 100 KB, median of {len(previews)}",
            quantile(previews, 0.5),
            "ms",
            100,
        ),
        Figure("  p95", quantile(previews, 0.95), "ms"),
    ]


def measure_fill() -> list[Figure]:
    """Measure the engine alone: 1,000 placeholders in 100 KB, the template parsed before."""
    from workbench.engine.templates import TemplateOptions, render_text

    template, options = large_template(PLACEHOLDERS), TemplateOptions(dialect="context")
    bare, whole = [], []
    for number in range(FILLS):
        parameters = large_parameters(PLACEHOLDERS, number)
        begun = time.perf_counter()
        rendering = render_text(template, parameters, options)
        assert rendering.text.count(f" of {number} names") == PLACEHOLDERS
        bare.append((time.perf_counter() - begun) * 1000)
        assert len(rendering.placeholders) == PLACEHOLDERS
        assert not rendering.diagnostics
        whole.append((time.perf_counter() - begun) * 1000)
    return [
        Figure(
            "1,000 placeholders in 100 KB filled, parse cached, median", statistics.median(bare[1:]), "ms", 20
        ),
        Figure("  with every placeholder's record and the diagnostics", statistics.median(whole[1:]), "ms"),
        Figure("  the first time, with parsing", bare[0], "ms"),
    ]


def measure_script(work: Path) -> list[Figure]:
    """Measure what packaging/run adds on a second start: the whole script, with a program that ends at once."""
    from tests.start_scripts import ScriptCopy

    copy = ScriptCopy(work / "a copy")
    copy.make_environment("#!/bin/sh\nexit 0\n")
    copy.write_stamp("run local=yes display=no")
    environment = {"PATH": os.environ["PATH"], "HOME": str(work)}

    def timed(*arguments: str) -> float:
        begun = time.perf_counter()
        done = copy.run("run", *arguments, environment=environment)
        assert done.returncode == 0, done.stderr
        assert not done.stderr, done.stderr
        return time.perf_counter() - begun

    second = [timed() for _ in range(11)]
    described = [timed("--help") for _ in range(5)]
    return [
        Figure(
            "packaging/run on a second start, without the program, median",
            statistics.median(second),
            "s",
            0.5,
        ),
        Figure("packaging/run --help, median", statistics.median(described), "s"),
    ]


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--inside", choices=sorted(SCRIPTS), help=argparse.SUPPRESS)
    parser.add_argument("folder", nargs="?", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--only", choices=("window", "fill", "script"), help="measure one part only")
    arguments = parser.parse_args()
    if arguments.inside:
        run_program(arguments.folder, SCRIPTS[arguments.inside][1])
        return
    print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} processors, "
          f"load {os.getloadavg()[0]:.1f}")  # fmt: skip
    work = Path(tempfile.mkdtemp(prefix="workbench-bench-"))
    try:
        parts: dict[str, Callable[[], list[Figure]]] = {
            "window": lambda: measure_window(work),
            "fill": measure_fill,
            "script": lambda: measure_script(work),
        }
        for name, part in parts.items():
            if arguments.only in (None, name):
                for figure in part():
                    print(figure.line(), flush=True)
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
