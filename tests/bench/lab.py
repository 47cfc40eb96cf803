"""Measures the threshold lab at 10,000 cases × 8 checks: pauses while answers are read, frames while one works with it.

Run it with `python -m tests.bench.lab`; it draws offscreen unless `QT_QPA_PLATFORM` says otherwise. A frame is one
step of the drag and everything that is painted after it. Figures are printed beside the target of 16 ms and nothing is
asserted: a machine that is busy with something else says little. The stored answers are made up here, in the format of
the engine; no model is asked, and the last line says how often one was.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.engine.evaluation.cases import Case
from workbench.engine.evaluation.rows import ResultRow, ResultsFile, asked_hash
from workbench.engine.guardrails.settings import CheckSettings
from workbench.engine.projects.case_lines import write_case

TARGET_MS = 16.0
CASES = 10_000
CHECKS = 8


def checks(number: int) -> list[CheckSettings]:
    """Return checks that only differ in their names."""
    return [CheckSettings(f"check{k}", f"Is it of kind {k}?", 0.5) for k in range(number)]


def make_project(folder: Path, cases: int, number: int) -> None:
    """Write a project with labelled cases and an answer of the embedded model for each case and check."""
    from workbench.engine.decisions import open_decision_model
    from workbench.engine.model_settings import ModelSettings

    model: Any = open_decision_model(ModelSettings("embedded", "embedded"))
    version, chance, all_checks = model.version, random.Random(7), checks(number)
    lines = ["format = 1", 'name = "Lab"', "[guardrails.input]", "threshold = 0.5"]
    for check in all_checks:
        lines += ["[[guardrails.input.checks]]", f'name = "{check.name}"', f'question = "{check.question}"']
    (folder / "workbench.toml").write_text("\n".join(lines) + "\n", "utf-8")
    made = [
        Case(
            f"c-{k:05}",
            f"Message number {k}: " + "words that somebody wrote to a shop " * chance.randint(1, 6),
            {check.name: chance.random() < 0.3 for check in all_checks},
        )
        for k in range(cases)
    ]
    (folder / "cases.jsonl").write_text("".join(write_case(case) + "\n" for case in made), "utf-8")
    (folder / ".workbench").mkdir()
    file = ResultsFile(folder / ".workbench" / "results-input.jsonl")
    file.append(_row(case, check, version, chance) for case in made for check in all_checks)
    file.close()


def _row(case: Case, check: CheckSettings, version: str, chance: random.Random) -> ResultRow:
    label = case.labels[check.name]
    p = min(1.0, max(0.0, chance.betavariate(5, 2) if label else chance.betavariate(2, 5)))
    status = "rejected" if p >= 0.5 else "passed"
    return ResultRow(case.id, check.name, p, status, label, 0.5, version, 6.0, asked_hash(case, check))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Frame:
    """One frame: milliseconds on the clock, and those that the window's thread worked."""

    wall: float
    cpu: float


def frames(
    step: Callable[[int], object], count: int, settled: Callable[[], bool] | None = None
) -> list[Frame]:
    """Return how long each step took with all that is painted after it.

    What a step leaves to later turns of the window, until all is `settled`, are frames like any other: of each step the
    longest is given.
    """
    from PySide6.QtWidgets import QApplication

    def frame(work: Callable[[], object]) -> Frame:
        begun, worked = time.perf_counter(), time.thread_time()
        work()
        QApplication.processEvents()
        return Frame((time.perf_counter() - begun) * 1000, (time.thread_time() - worked) * 1000)

    times = []
    for k in range(count):
        longest = frame(lambda k=k: step(k))
        while settled is not None and not settled():
            longest = max(longest, frame(lambda: None), key=lambda each: each.cpu)
        times.append(longest)
    return times


def quantile(values: list[float], share: float) -> float:
    """Return the smallest value that at least `share` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def report(name: str, times: list[Frame]) -> None:
    """Print median and 95th percentile of some frames, on the clock and in work: others may use the processor too."""
    wall, cpu = [each.wall for each in times], [each.cpu for each in times]
    verdict = "met" if quantile(wall, 0.95) < TARGET_MS else "MISSED"
    print(
        f"{name:<44} clock: median {statistics.median(wall):6.2f}  p95 {quantile(wall, 0.95):6.2f}"
        f"   work: median {statistics.median(cpu):6.2f}  p95 {quantile(cpu, 0.95):6.2f} ms"
        f"   target {TARGET_MS:g} {verdict}"
    )


def open_pane(folder: Path) -> tuple[Any, Any]:
    """Open the lab on a project and wait until the stored answers are shown."""
    from workbench.gui.application import make_application
    from workbench.gui.panes.thresholds import ThresholdsPane
    from workbench.gui.shell.session import Session
    from workbench.gui.shell.settings import AppSettings
    from workbench.gui.shell.theme import apply_theme

    app = make_application()
    apply_theme(app, "light")
    settings = AppSettings(folder / "config")
    settings.set("recovery.seconds", 0)
    session = Session(settings)
    begun = time.perf_counter()
    session.open(folder)
    print(f"open the project{'':<36} {(time.perf_counter() - begun) * 1000:8.0f} ms")
    pane = ThresholdsPane(session)
    pane.resize(1440, 800)
    lab, begun = pane.lab, time.perf_counter()
    pane.show()
    # The reading begins at once; what the first look at the pane takes is not its fault, and is told apart.
    first = longest_pause(lambda: lab.slices.waiting() or time.perf_counter() - begun < 0.5)
    pause("show the lab, with the first drawing of all pictures", first, target=None)
    said, rest = pane.strip.words.text(), longest_pause(lambda: session.jobs.busy() or lab.loading)
    print(f"   the lab says meanwhile{'':<26} {said}")
    print(f"read the stored answers{'':<28} {(time.perf_counter() - begun) * 1000:8.0f} ms")
    pause("   longest pause of the window meanwhile", rest)
    pause("   longest pause when they are shown", longest_pause(lab.slices.waiting))
    begun = time.perf_counter()
    lab.reload()
    rest = longest_pause(lambda: session.jobs.busy() or lab.loading or lab.slices.waiting())
    print(f"read them again{'':<36} {(time.perf_counter() - begun) * 1000:8.0f} ms")
    pause("   longest pause until they are shown", rest)
    return session, pane


def longest_pause(waiting: Callable[[], bool]) -> Frame:
    """Turn the window's loop while `waiting`, and return the longest turn: until it came round again."""
    from PySide6.QtWidgets import QApplication

    nap, longest = 0.001, Frame(0.0, 0.0)
    while waiting():
        tick, worked = time.perf_counter(), time.thread_time()
        QApplication.processEvents()
        # A thread that computes may keep this one from going on after the nap too: that is a pause as well.
        time.sleep(nap)
        wall, cpu = time.perf_counter() - tick - nap, time.thread_time() - worked
        longest = max(longest, Frame(wall * 1000, cpu * 1000), key=lambda each: each.wall)
    return longest


def pause(name: str, longest: Frame, target: float | None = TARGET_MS) -> None:
    """Print a pause, beside the target where it has one."""
    verdict = "" if target is None else f"   target {target:g} {'met' if longest.wall < target else 'MISSED'}"
    print(f"{name:<52} clock {longest.wall:6.1f}   work {longest.cpu:6.1f} ms{verdict}")


def measure(session: Any, pane: Any, count: int) -> None:
    """Drag, filter, scroll and label, and print how long each frame took."""
    from workbench.gui.models.cases import PROBABILITY
    from workbench.gui.models.cases_filter import EVERYTHING, CaseFilter

    lab, table, histogram = pane.lab, pane.case_table, pane.pictures.histogram

    def settled() -> bool:
        return not lab.slices.waiting()

    def drag(k: int) -> None:
        histogram.line.setValue(0.05 + 0.9 * (k % 97) / 97)

    drag(0)
    frames(drag, 5)
    for place in range(pane.pictures.tabs.count()):
        pane.pictures.tabs.setCurrentIndex(place)
        frames(drag, 3)
        report(f"drag, tab {pane.pictures.tabs.tabText(place)}", frames(drag, count))
    pane.pictures.tabs.setCurrentIndex(0)
    lab.set_band(0.2)
    report("drag with a review band", frames(drag, count))
    lab.set_band(None)
    table.view.sortByColumn(PROBABILITY, table.view.horizontalHeader().sortIndicatorOrder())
    lab.set_filter(CaseFilter("fp", words="false alarms"))
    report("drag, sorted, only false alarms are shown", frames(drag, count))
    lab.set_filter(EVERYTHING)
    bar = table.view.verticalScrollBar()
    report("scroll the table", frames(lambda k: bar.setValue((k * 37) % max(1, bar.maximum())), count))
    keys = ("tp", "wrong", "near", "")
    report("change the filter", frames(lambda k: lab.set_filter(CaseFilter(keys[k % 4], words="x")), count))
    lab.set_filter(EVERYTHING)
    words = ("9", "99", "shop", "")
    report("search", frames(lambda k: table.search.setText(words[k % 4]), count))
    names = [check.name for check in lab.guardrail.checks]
    report(
        "another check (not a drag)",
        frames(lambda k: lab.choose_check(names[k % len(names)]), len(names) * 3, settled),
    )
    lab.reload()
    times, place = [], itertools.count()
    while lab.loading:
        times += frames(lambda _k: drag(next(place)), 1)
    report("drag while the answers are read again", times)
    table.view.selectRow(5)
    report(
        "label a case with one key (not a drag)",
        frames(lambda k: table.label_selected(k % 2 == 0), 40, settled),
    )
    report("write a threshold (not a drag)", frames(lambda k: lab.apply(0.3 + 0.01 * (k % 30)), 20, settled))


def megabytes() -> float:
    """Return the most memory that this process ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def import_window() -> None:
    """Import what any window needs, so that it is not counted as the lab's."""
    from workbench.engine.evaluation import EvaluationRun, suggest
    from workbench.gui.application import make_application
    from workbench.gui.panes.thresholds import pictures
    from workbench.gui.widgets import plot_histogram

    assert all((EvaluationRun, suggest, pictures, plot_histogram))
    make_application()


def main() -> None:
    """Make the project, open the lab on it and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=CASES)
    parser.add_argument("--checks", type=int, default=CHECKS)
    parser.add_argument("--frames", type=int, default=100)
    arguments = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from workbench.engine.decisions.embedded import EmbeddedDecisionModel

    asked = []
    decide = EmbeddedDecisionModel.decide

    async def counted(self: Any, request: Any) -> Any:
        asked.append(request)
        return await decide(self, request)

    EmbeddedDecisionModel.decide = counted  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory(prefix="lab-bench-") as name:
        folder = Path(name)
        # In a process of its own: what making it takes must not hide what the lab takes.
        make = f"import pathlib; from {__spec__.name} import make_project as make; "
        make += f"make(pathlib.Path({name!r}), {arguments.cases}, {arguments.checks})"
        subprocess.run([sys.executable, "-c", make], check=True)
        started = megabytes()
        import_window()
        from workbench.gui.shell.memory import spare_long_lived

        before = megabytes()
        session, pane = open_pane(folder)
        spare_long_lived()  # as the program does when its window stands
        measure(session, pane, arguments.frames)
        print(f"memory of the window's libraries{'':<20} {before - started:8.0f} MB")
        print(f"memory that project and lab added at most{'':<11} {megabytes() - before:8.0f} MB")
        print(f"calls of the model{'':<34} {len(asked):8}")
        session.project = None
        pane.hide()
        pane.deleteLater()
        session.close()


if __name__ == "__main__":
    main()
