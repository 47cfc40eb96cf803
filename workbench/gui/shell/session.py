"""The one object that the panes talk to: the open project, its live rendering and what is running."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QUndoStack

from workbench.engine.diagnostics import Diagnostic, Fix, sort_diagnostics
from workbench.engine.guardrails.settings import Stage
from workbench.engine.model_settings import ModelSettings
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.gui.jobs import STOPPED, Jobs
from workbench.gui.shell.history_keeper import HistoryKeeper
from workbench.gui.shell.places import Place
from workbench.gui.shell.settings import AppSettings
from workbench.gui.shell.undoable import ProjectEdit, UndoableEdit

if TYPE_CHECKING:
    from workbench.engine.history import HistoryStore
    from workbench.engine.projects import Project
    from workbench.engine.projects.edits import ThresholdOrigin
    from workbench.engine.secrets import Secrets
    from workbench.engine.translation.settings import Target
    from workbench.engine.workflows import ProjectRendering, PromptText
    from workbench.gui.editor import CodeEditor

Pull = Callable[[], None]

# What a change of each area makes stale.
RENDERING_AREAS = frozenset({"template", "parameters", "schemas"})

CHEAP_SECONDS = 0.012
SMALL_TEXT = 32_000
SOON_MS = 20
THROTTLE_MS = (60, 150)
LATEST_MS = 400


class Session(QObject):
    """Owns the project and tells everybody what became of it. No widget knows another widget.

    Texts stay in their editors until they are needed: an editor calls `touch` on every key and the session
    calls its `pull` once before a rendering, a run or a save.
    """

    project_changed = Signal()
    edited = Signal(str)
    dirty_changed = Signal(bool)
    parameter_set_changed = Signal(str)
    models_changed = Signal()
    rendered = Signal(object)
    diagnostics_changed = Signal()
    run_started = Signal(str)
    run_progress = Signal(str, object)
    run_finished = Signal(str, object)
    run_failed = Signal(str, str)
    results_changed = Signal(str)
    history_changed = Signal()
    reveal = Signal(object)
    status = Signal(str)
    caret_moved = Signal(object)
    caret_words = Signal(str)
    fix_requested = Signal(object, object)
    secret_asked = Signal(object, object)

    def __init__(
        self,
        settings: AppSettings | None = None,
        jobs: Jobs | None = None,
        secrets: Secrets | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.settings = settings if settings is not None else AppSettings(parent=self)
        self.jobs = jobs if jobs is not None else Jobs(self)
        self.project: Project | None = None
        self._keeper = HistoryKeeper(self.settings, self.jobs, lambda text: self.secrets.scrub(text), self)
        self._keeper.changed.connect(self.history_changed)
        self._keeper.said.connect(self.status)
        self.records = True
        """Whether runs are stored; a picture of a project must leave no trace in it."""
        self.parameter_set: str | None = None
        self.decision_model_name: str | None = None
        self.chat_model_name: str | None = None
        self.undo_stack = QUndoStack(self)
        self.undo_stack.cleanChanged.connect(self._undone_to_saved)
        self._secrets = secrets
        self._pulls: dict[object, tuple[str, Pull]] = {}
        self._dirty = False
        self._rendering: ProjectRendering | None = None
        self._validation: list[Diagnostic] = []
        self._collected: tuple[tuple[Any, ...], list[Diagnostic]] | None = None
        self._revision = 0
        self._rendered_revision = self._validated_revision = -1
        self._cost = 0.0
        self._first_touch = 0.0
        self._results: dict[str, tuple[Any, int]] = {}
        # What the checks that ask no model said in the last run of checks, where the model failed.
        self.found: tuple[Any, ...] = ()
        self._running: set[str] = set()
        # The run of each kind whose events are told; those of one that was stopped or replaced come too late.
        self._told: dict[str, object] = {}
        self._models: dict[str, Any] = {}
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.render_now)
        self._recovery = QTimer(self)
        self._recovery.timeout.connect(self.write_recovery)
        self.settings.changed.connect(self._setting_changed)
        self._setting_changed("recovery.seconds")

    # -- the project ----------------------------------------------------------------------------------

    def scrub(self, text: str) -> str:
        """Return `text` with every known secret value taken out."""
        return self._secrets.scrub(text) if self._secrets is not None else text

    @property
    def secrets(self) -> Secrets:
        """The keeper of secret values, with the system's keyring behind it; made on first use."""
        if self._secrets is None:
            from workbench.engine.secrets import Secrets

            self._secrets = Secrets.for_user(self.settings.folder)
        return self._secrets

    @property
    def history(self) -> HistoryStore | None:
        """The history of the open project; `None` where no runs are kept."""
        return self._keeper.store

    @property
    def history_problem(self) -> str | None:
        """Why no runs are kept, or what is wrong with the history."""
        return self._keeper.problem

    def open(self, folder: Path) -> None:
        """Open the project in `folder` in place of the present one.

        Raises:
            ProjectError: where the folder is no project that can be read; the present one stays open.
        """
        from workbench.engine.projects import Project

        self.adopt(Project.load(folder))

    def adopt(self, project: Project | None) -> None:
        """Make `project` the open one; `None` closes the present one."""
        self.stop()
        self._keeper.close()
        self._pulls.clear()
        self.undo_stack.clear()
        self._results.clear()
        self._rendering = None
        self._validation = []
        self._revision += 1
        self.project = project
        self.decision_model_name = self.chat_model_name = None
        snapshot = self.snapshot()
        self.parameter_set = snapshot.default_parameter_set()
        if project is not None:
            self._keeper.open(project.root, records=self.records)
        self._mark(bool(project is not None and project.dirty))
        self.project_changed.emit()
        self.parameter_set_changed.emit(self.parameter_set or "")
        self.models_changed.emit()
        self.history_changed.emit()
        if project is not None:
            self.render_now()
        else:
            self.diagnostics_changed.emit()

    def snapshot(self) -> ProjectSnapshot:
        """Return the project as it is now, pending keystrokes included; an empty one when none is open."""
        if self.project is None:
            return ProjectSnapshot("")
        self.flush()
        return self.project.snapshot()

    @property
    def dirty(self) -> bool:
        """Whether there is something that was not saved."""
        return self._dirty

    @property
    def revision(self) -> int:
        """A number that grows with every change; a result that carries an older one is stale."""
        return self._revision

    # -- edits ----------------------------------------------------------------------------------------

    def touch(self, area: str, key: object, pull: Pull) -> None:
        """Say that the text of `key` changed in its editor; `pull` writes it into the project later."""
        self._pulls[key] = (area, pull)
        self._changed(area)

    def flush(self) -> None:
        """Take every pending text into the project."""
        if not self._pulls:
            return
        pending, self._pulls = self._pulls, {}
        for _area, pull in pending.values():
            pull()
        for area in dict.fromkeys(area for area, _ in pending.values()):
            self.edited.emit(area)
        self._look_for_changes()

    def forget(self, key: object) -> None:
        """Drop the pending text of `key` (its editor goes away after its text was taken)."""
        self._pulls.pop(key, None)

    def edit(self, area: str, change: ProjectEdit) -> None:
        """Apply `change(project)` and tell everybody; not undoable. Several areas are joined by `+`."""
        if self.project is None:
            return
        self.flush()
        change(self.project)
        for each in area.split("+"):
            self._changed(each)
        for each in area.split("+"):
            self.edited.emit(each)
            if each == "models":
                self.models_changed.emit()

    def apply(
        self, area: str, text: str, do: ProjectEdit, undo: ProjectEdit, merge: str | None = None
    ) -> None:
        """Apply an undoable change; successive ones with the same `merge` key become one step."""
        if self.project is not None:
            self.undo_stack.push(UndoableEdit(self.edit, area, text, do, undo, merge))

    def set_threshold(
        self,
        stage: Stage,
        check_name: str | None,
        value: float | None,
        origin: ThresholdOrigin | None = None,
    ) -> None:
        """Set a check's threshold (`None`: inherit) or the guardrail's; undoable, without a model call.

        `origin` notes on what the value was chosen; undo brings the older note back too.
        """
        guardrail = self.snapshot().guardrail(stage)
        noted: ThresholdOrigin | None = None
        if check_name is None:
            stated = self.project is not None and self.project.states("guardrails", stage, "threshold")
            before: float | None = guardrail.threshold if stated else None
            if guardrail.threshold == value:
                return
        else:
            before = next((c.threshold for c in guardrail.checks if c.name == check_name), None)
            noted = self.project.threshold_origin(stage, check_name) if self.project is not None else None
        if before == value and (origin is None or origin == noted):
            return
        self.apply(
            "guardrails",
            f"Threshold of {check_name or stage}",
            lambda project: project.set_threshold(stage, check_name, value, origin=origin),
            lambda project: project.set_threshold(stage, check_name, before, origin=noted),
            merge=f"threshold/{stage}/{check_name}",
        )

    def set_parameter_set(self, name: str | None) -> None:
        """Choose the parameter set that fills the prompt."""
        if name != self.parameter_set and (name is None or name in self.snapshot().parameter_sets):
            self.parameter_set = name
            self._revision += 1
            self.parameter_set_changed.emit(name or "")
            self.render_now()

    def _changed(self, area: str) -> None:
        self._mark(True)
        if area in RENDERING_AREAS:
            self._revision += 1
            self._schedule()
        elif area == "guardrails":
            self._reverdict()
        if area not in RENDERING_AREAS:
            self.diagnostics_changed.emit()

    def _mark(self, dirty: bool) -> None:
        if dirty != self._dirty:
            self._dirty = dirty
            self.dirty_changed.emit(dirty)

    def _undone_to_saved(self, clean: bool) -> None:
        if clean:
            self.flush()
            self._look_for_changes()

    def _look_for_changes(self) -> None:
        """Call the project saved where undo, redo or typing has led back to what is on disk."""
        if self._dirty and self.project is not None and not self.project.dirty:
            self.discard_recovery()
            self._mark(False)

    def text_command(self, *, undone: bool = False) -> bool:
        """Tell whether the change that undo (with `undone`: redo) would take back next concerns texts."""
        index = self.undo_stack.index() - (0 if undone else 1)
        command = self.undo_stack.command(index) if 0 <= index < self.undo_stack.count() else None
        return isinstance(command, UndoableEdit) and not RENDERING_AREAS.isdisjoint(command.area.split("+"))

    def undo_in(self, editor: CodeEditor) -> None:
        """Undo in a text, or the last change of the project where the text has none of its own."""
        own = not (editor.undo_is_the_projects() and self.text_command())
        (editor if own and editor.document().isUndoAvailable() else self.undo_stack).undo()

    def redo_in(self, editor: CodeEditor) -> None:
        """Redo in a text, or the last undone change of the project where the text has none of its own."""
        own = not (editor.redo_is_the_projects() and self.text_command(undone=True))
        (editor if own and editor.document().isRedoAvailable() else self.undo_stack).redo()

    # -- rendering ------------------------------------------------------------------------------------

    def rendering(self) -> ProjectRendering | None:
        """Return the newest rendering that is on screen."""
        return self._rendering

    def _schedule(self) -> None:
        now = time.monotonic()
        if not self._timer.isActive():
            self._first_touch = now
        if self._cost < CHEAP_SECONDS:
            if not self._timer.isActive():
                self._timer.start(0)
            return
        low, high = THROTTLE_MS
        delay = SOON_MS if self._cost < 3 * CHEAP_SECONDS else max(low, min(high, self._cost * 2000))
        left = LATEST_MS - (now - self._first_touch) * 1000
        self._timer.start(int(max(0, min(delay, left))))

    def render_now(self) -> None:
        """Render the newest state: at once when that is cheap, else as a job; validation is always a job."""
        self._timer.stop()
        if self.project is None:
            return
        from workbench.engine.workflows import render_project

        started = time.perf_counter()
        snapshot, name, revision = self.snapshot(), self.parameter_set, self._revision

        def work() -> tuple[ProjectRendering, float]:
            begun = time.perf_counter()
            return render_project(snapshot, name, validate=False), time.perf_counter() - begun

        size = sum(len(message.content) for message in snapshot.messages)
        if snapshot.graph is not None:
            size += len(snapshot.graph.text)
        if name in snapshot.parameter_sets:
            size += len(snapshot.parameter_sets[name].text)
        if size <= SMALL_TEXT and self._cost < 2 * CHEAP_SECONDS:
            self.jobs.cancel("render")
            rendering, _ = work()
            self._show(revision, rendering)
            # The cost of the first rendering holds the imports; the next one tells the truth.
            cost = time.perf_counter() - started
            self._cost = min(cost, CHEAP_SECONDS / 2) if self._cost == 0.0 else cost
        else:
            self.jobs.run_pool(
                work,
                on_done=lambda done: self._show(revision, done[0], done[1]),
                on_error=self._job_failed,
                key="render",
            )
        self.jobs.run_pool(
            _validate,
            snapshot,
            name,
            on_done=lambda found: self._show_validation(revision, found),
            on_error=self._job_failed,
            key="validate",
        )

    def _show(self, revision: int, rendering: ProjectRendering, cost: float | None = None) -> None:
        if cost is not None:
            self._cost = cost
        if revision != self._revision:
            return
        self._rendering = rendering
        self._rendered_revision = revision
        self.rendered.emit(rendering)
        self.diagnostics_changed.emit()

    def _show_validation(self, revision: int, found: list[Diagnostic]) -> None:
        if revision != self._revision:
            return
        self._validated_revision = revision
        if found != self._validation:
            self._validation = found
            self.diagnostics_changed.emit()

    def request_fix(self, place: Place, fix: Fix) -> None:
        """Let the pane of `place` mend its text, unless the text has changed since the problem was found there."""
        if self._rendered_revision == self._validated_revision == self._revision:
            self.fix_requested.emit(place, fix)
        else:
            self.status.emit("The text has just changed; look at the problem again.")

    def _job_failed(self, error: BaseException) -> None:
        self.status.emit(f"{type(error).__name__}: {error}")

    def diagnostics(self) -> list[Diagnostic]:
        """Return everything that is wrong or worth knowing, worst first."""
        if self.project is None:
            return []
        key = (self.project.revision, self._rendering, self._validation)
        if self._collected is None or not _same_key(self._collected[0], key):
            found = [*self.project.diagnostics, *self._validation]
            if self._rendering is not None:
                found += self._rendering.problems()
            unique: dict[tuple[object, ...], Diagnostic] = {}
            for d in found:
                unique.setdefault((d.code, d.message, d.file, d.node, d.start, d.pointer), d)
            self._collected = (key, sort_diagnostics(unique.values()))
        return list(self._collected[1])

    # -- models ---------------------------------------------------------------------------------------

    def decision_models(self) -> list[str]:
        """Return the names of the project's models that can answer yes/no questions."""
        return [name for name, each in self.snapshot().models.items() if each.decides]

    def chat_models(self) -> list[str]:
        """Return the names of the project's models that can write text."""
        return [name for name, each in self.snapshot().models.items() if not each.decides]

    def set_decision_model(self, name: str | None) -> None:
        """Choose the model of the checks; `None` is the project's default."""
        if name != self.decision_model_name:
            self.decision_model_name = name
            self.models_changed.emit()

    def set_chat_model(self, name: str | None) -> None:
        """Choose the model of translation; `None` is the project's default."""
        if name != self.chat_model_name:
            self.chat_model_name = name
            self.models_changed.emit()

    def decision_settings(self) -> ModelSettings:
        """Return the settings of the decision model in use."""
        from workbench.engine.workflows import decision_settings

        return decision_settings(self.snapshot(), self.decision_model_name)

    def chat_settings(self) -> ModelSettings | None:
        """Return the settings of the language model in use, `None` where there is none."""
        from workbench.engine.workflows import chat_settings

        return chat_settings(self.snapshot(), self.chat_model_name)

    def environment_settings(self) -> ModelSettings | None:
        """Return the language model that environment variables describe, `None` where they describe none."""
        from workbench.engine.workflows import ENVIRONMENT, WorkflowError, environment_settings

        if ENVIRONMENT in self.snapshot().models:
            return None  # the project's own model has the name
        try:
            return environment_settings(self.secrets.environment)
        except WorkflowError:
            return None

    # -- runs -----------------------------------------------------------------------------------------

    def running(self) -> set[str]:
        """Return the kinds of the runs under way."""
        return set(self._running)

    def result(self, stage: Stage) -> Any | None:
        """Return the last `GuardrailResult` of `stage`, judged by the present thresholds."""
        return self._results[stage][0] if stage in self._results else None

    def result_revision(self, stage: Stage) -> int | None:
        """Return the revision that the last result of `stage` belongs to."""
        return self._results[stage][1] if stage in self._results else None

    def run_checks(
        self,
        stage: Stage,
        text: str | PromptText | None = None,
        user_message: str | None = None,
        record: bool = True,
        parent: int | None = None,
    ) -> None:
        """Run all checks of `stage` on `text` (`None`: the rendered prompt) as one job of kind `check`.

        Without `record` the run happened by itself while somebody typed; history keeps only the last of those.
        """
        from workbench.engine.decisions import DecisionError
        from workbench.engine.workflows import check_project
        from workbench.engine.workflows.checking import with_rule_findings

        self.found = ()
        snapshot, revision, parameter_set = self.snapshot(), self._revision, self.parameter_set
        if text is None:
            rendering = self._fill(snapshot, parameter_set)
            if rendering.broken or rendering.unresolved:
                self._refuse_to_send(rendering, record)
                return
            text = rendering.checked()
        name, history = self.decision_model_name, self.history if self.records else None
        body, settings = text, snapshot.guardrail(stage)

        async def run() -> Any:
            try:
                model = await self._decision_model(snapshot, name) if settings.asks_model else None
            except DecisionError as error:
                raise with_rule_findings(error, settings, body) from error.__cause__
            return await check_project(
                snapshot,
                stage,
                body,
                user_message=user_message,
                model=model,
                model_name=name,
                history=history,
                secrets=self.secrets,
                live_key=None if record else f"live/{stage}",
                parent=parent,
            )

        def done(result: Any) -> None:
            self._results[stage] = (result, revision)
            self._end("check")
            self._reverdict(stage)
            self.run_finished.emit("check", self._results[stage][0])
            self.results_changed.emit(stage)
            self.history_changed.emit()

        self._begin("check")
        retry = partial(self.run_checks, stage, body, user_message, record, parent)

        def failed(error: BaseException) -> None:
            self.found = getattr(error, "found", ())
            self._fail("check", error, retry)

        self.jobs.run_async(run, done, failed, key="check")

    def translate(self, request: str, parent: int | None = None, target: Target | None = None) -> None:
        """Translate `request` to the output schema as one job of kind `translate`.

        `parent` is the stored run whose request is run again; the new run is stored below it. `target` is what the
        request becomes this once, `None` for what the project says.
        """
        from workbench.engine.workflows import translate_project
        from workbench.engine.workflows.programs import with_target

        snapshot, options = self.snapshot(), self._run_options("translate")
        snapshot = snapshot if target is None else with_target(snapshot, target)
        options |= {"parameter_set": self.parameter_set, "parent": parent}
        self._run_recorded(
            "translate",
            lambda: translate_project(snapshot, request, **options),
            partial(self.translate, request, parent, target),
        )

    def branch(
        self,
        run_id: int,
        attempt: int,
        *,
        reply: str | None = None,
        repair_prompt: str | None = None,
        schema_text: str | None = None,
        model_name: str | None = None,
    ) -> None:
        """Go on from an attempt of a stored run with today's project, as a job of kind `translate`.

        `reply` and `repair_prompt` take the place of the attempt's own, `schema_text` that of the output schema (which
        stays as it is in the project), `model_name` that of the model in use.
        """
        from workbench.engine.workflows import branch_translation

        history = self.history
        if history is None:
            return
        snapshot, options = self.snapshot(), self._run_options("translate")
        changes = {"reply": reply, "repair_prompt": repair_prompt, "schema_text": schema_text}
        options |= {**changes, "history": history}
        if model_name is not None:
            # Who picks a model wants its repairs, not those of the project's repair model.
            options |= {"model_name": model_name, "repair_model_too": True}
        self._run_recorded(
            "translate",
            lambda: branch_translation(snapshot, run_id=run_id, attempt=attempt, **options),
            partial(self.branch, run_id, attempt, **changes, model_name=model_name),
        )

    def run_tools(self, request: str, *, with_prompt: bool = True, parent: int | None = None) -> None:
        """Let the chat model answer with the project's simulated tools, as one job of kind `tools`.

        `parent` is the stored run that is run again; the new run is stored below it.
        """
        from workbench.engine.workflows import run_project_tools

        snapshot, options = self.snapshot(), self._run_options("tools")
        options |= {"parameter_set": self.parameter_set, "with_prompt": with_prompt, "parent": parent}
        self._run_recorded(
            "tools",
            lambda: run_project_tools(snapshot, request, **options),
            partial(self.run_tools, request, with_prompt=with_prompt, parent=parent),
        )

    def run_program(self, request: str, parent: int | None = None) -> None:
        """Let the chat model write a program over the project's tools, and run it, as one job of kind `program`.

        `parent` is the stored run that is run again; the new run is stored below it.
        """
        from workbench.engine.workflows import as_program, translate_project

        snapshot, options = as_program(self.snapshot()), self._run_options("program")
        options |= {"parameter_set": self.parameter_set, "parent": parent}
        self._run_recorded(
            "program",
            lambda: translate_project(snapshot, request, **options),
            partial(self.run_program, request, parent),
        )

    def _run_options(self, kind: str) -> dict[str, Any]:
        """Return what every run of a chat model is given; its events arrive as progress of `kind`."""
        post, run = self.jobs.post, object()
        self._told[kind] = run

        def tell(event: Any) -> None:
            if self._told.get(kind) is run:
                self.run_progress.emit(kind, event)

        return {
            "model_name": self.chat_model_name,
            "history": self.history if self.records else None,
            "secrets": self.secrets,
            "on_event": lambda event: post(tell, event),
        }

    def _run_recorded(self, kind: str, start: Callable[[], Any], retry: Callable[[], None]) -> None:
        """Run what `start` awaits as the one job of `kind`, and tell everybody how it went."""

        def done(result: Any) -> None:
            self._end(kind)
            self.run_finished.emit(kind, result)
            self.history_changed.emit()

        self._begin(kind)
        self.jobs.run_async(start, done, lambda error: self._fail(kind, error, retry), key=kind)

    def stop(self, kind: str | None = None) -> None:
        """Stop the run of `kind`, or all of them; connections are closed."""
        for each in list(self._running) if kind is None else [kind]:
            self.jobs.cancel(each)
            if each in self._running:
                self._end(each)
                self.run_failed.emit(each, STOPPED)
                self.history_changed.emit()

    def begin_run(self, kind: str) -> None:
        """Say that a pane's own job of `kind` (its key in `jobs`) began; it then can be stopped from the toolbar."""
        self._begin(kind)

    def end_run(self, kind: str, result: Any = None, failure: str | None = None) -> None:
        """Say how a pane's own job of `kind` ended."""
        self._end(kind)
        if failure is None:
            self.run_finished.emit(kind, result)
        else:
            self.run_failed.emit(kind, failure)

    def _begin(self, kind: str) -> None:
        self._running.add(kind)
        self.run_started.emit(kind)

    def _end(self, kind: str) -> None:
        self._running.discard(kind)
        self._told.pop(kind, None)

    def _fail(self, kind: str, error: BaseException, retry: Callable[[], None]) -> None:
        from workbench.engine.secrets import OriginNotAccepted

        self._end(kind)
        message = str(error) or type(error).__name__
        self.run_failed.emit(kind, self.scrub(message))
        self.history_changed.emit()
        asked = error if isinstance(error, OriginNotAccepted) else error.__cause__
        if isinstance(asked, OriginNotAccepted):
            self.secret_asked.emit(asked, retry)

    def _reverdict(self, only: Stage | None = None) -> None:
        """Judge the stored probabilities by the present thresholds; no model is asked."""
        snapshot = self.snapshot()
        stages: tuple[Stage, ...] = ("input", "output") if only is None else (only,)
        for stage in stages:
            if stage not in self._results:
                continue
            result, revision = self._results[stage]
            judged = result.with_thresholds(snapshot.guardrail(stage))
            if judged != result:
                self._results[stage] = (judged, revision)
                if only is None:
                    self.results_changed.emit(stage)

    def _fill(self, snapshot: ProjectSnapshot, parameter_set: str | None) -> ProjectRendering:
        from workbench.engine.workflows import render_project

        return render_project(snapshot, parameter_set, validate=False)

    def _refuse_to_send(self, rendering: ProjectRendering, asked: bool) -> None:
        """Say why a prompt is not sent; a run that somebody asked for has failed with it."""
        bodies = ", ".join(dict.fromkeys(use.body for use in rendering.unresolved))
        reason = rendering.broken[0].one_line() if rendering.broken else f"no value for {bodies}"
        message = f"the prompt is not sent: {reason}"
        if asked:
            self._begin("check")
            self._end("check")
            self.run_failed.emit("check", self.scrub(message))
        else:
            self.status.emit(self.scrub(message))

    async def _decision_model(self, snapshot: ProjectSnapshot, name: str | None) -> Any:
        """Return the opened model, kept open between runs; runs on the loop thread."""
        from workbench.engine.decisions import open_decision_model
        from workbench.engine.workflows import decision_settings

        settings = decision_settings(snapshot, name)
        key = repr((settings, snapshot.root, _fitted_at(settings, snapshot.root)))
        if key not in self._models:
            for old in list(self._models):
                await self._models.pop(old).aclose()
            self._models[key] = open_decision_model(settings, root=snapshot.root, secrets=self.secrets)
        return self._models[key]

    # -- saving ---------------------------------------------------------------------------------------

    def save(self, *, overwrite: bool = False) -> None:
        """Write the project.

        Raises:
            ChangedOnDisk: where files changed since they were read and `overwrite` is false.
            ProjectError, OSError: where it cannot be written; nothing is lost.
        """
        if self.project is None:
            return
        self.flush()
        self.project.save(overwrite=overwrite)
        self.discard_recovery()
        self._mark(False)
        self.undo_stack.setClean()
        self.diagnostics_changed.emit()

    def save_as(self, folder: Path) -> None:
        """Write the project to another folder and go on there; runs under way are stopped, as they store into the old one."""
        if self.project is None:
            return
        self.stop()
        self.flush()
        self.discard_recovery()
        self._keeper.close()
        self.project.save_as(folder)
        self._keeper.open(self.project.root, records=self.records)
        self._mark(False)
        self.undo_stack.setClean()
        self.project_changed.emit()
        self.history_changed.emit()

    def reload(self) -> None:
        """Read the project's files again; unsaved edits are dropped."""
        if self.project is not None and self.project.root is not None:
            chosen = self.parameter_set
            self.discard_recovery()
            self.open(self.project.root)
            self.set_parameter_set(chosen)

    def write_recovery(self) -> None:
        """Copy unsaved work aside, if there is any."""
        if self.project is None or not self._dirty or self.project.root is None:
            return
        self.flush()
        try:
            self.project.write_recovery()
        except OSError as error:
            self.status.emit(f"No recovery copy: {error}")

    def discard_recovery(self) -> None:
        """Remove the recovery copy of the open project."""
        if self.project is not None and self.project.root is not None:
            with contextlib.suppress(OSError):
                self.project.discard_recovery()

    # -- end ------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Stop everything and let go of files, threads and models."""
        self._timer.stop()
        self._recovery.stop()
        self.stop()
        models, self._models = list(self._models.values()), {}
        self.jobs.shutdown(last=lambda: _close_all(models))
        self._keeper.close()
        self.project = None

    def _setting_changed(self, key: str) -> None:
        if key == "recovery.seconds":
            seconds = self.settings.get("recovery.seconds")
            if seconds > 0:
                self._recovery.start(int(seconds * 1000))
            else:
                self._recovery.stop()

    def go_to(self, place: Place) -> None:
        """Ask the panes to show a place."""
        self.reveal.emit(place)


def _same_key(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    """Compare by identity: equal renderings would be compared text by text."""
    return a[0] == b[0] and all(x is y for x, y in zip(a[1:], b[1:], strict=True))


def _validate(snapshot: ProjectSnapshot, parameter_set: str | None) -> list[Diagnostic]:
    from workbench.gui.shell.validation import validate

    return validate(snapshot, parameter_set)


def _fitted_at(settings: ModelSettings, root: Path | None) -> int | None:
    """Return when the weights fitted on the project's cases were written: a model that was opened before is old."""
    from workbench.engine.decisions import fitted_path

    path = fitted_path(settings, root) if settings.provider == "embedded" else None
    try:
        return None if path is None else path.stat().st_mtime_ns
    except OSError:
        return None


async def _close_all(models: list[Any]) -> None:
    for model in models:
        with contextlib.suppress(Exception):
            await model.aclose()
