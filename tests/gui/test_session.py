"""The session: one project, rendered live, saved carefully."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from workbench.engine.decisions import DecisionResponse, YesNoAnswer
from workbench.engine.diagnostics import Diagnostic
from workbench.gui.shell.places import Place, place_of, place_words
from workbench.gui.shell.session import Session


class Editor:
    """A text that is pulled when it is needed, and counts how often."""

    def __init__(self, session: Session, index: int) -> None:
        self.session, self.index, self.text, self.pulls = session, index, "", 0

    def type(self, text: str) -> None:
        self.text = text
        self.session.touch("template", ("editor", self.index), self.pull)

    def pull(self) -> None:
        self.pulls += 1
        self.session.project.set_message(self.index, self.text)


def test_a_project_is_rendered_when_it_opens(open_session: Session) -> None:
    texts = [message.text for message in open_session.rendering().messages]
    assert texts == ["You greet for Fernhill.\n", "Hello Ann, you are 41.\n"]
    assert not open_session.dirty


def test_keys_reach_the_preview_and_a_burst_is_read_once(open_session: Session, settled) -> None:
    editor = Editor(open_session, 1)
    for text in ("B", "By", "Bye [%param.name%]"):
        editor.type(text)
    assert editor.pulls == 0
    assert open_session.dirty
    settled(open_session)
    assert editor.pulls == 1
    assert open_session.rendering().messages[1].text == "Bye Ann"


def test_a_snapshot_holds_keys_that_were_not_rendered_yet(open_session: Session) -> None:
    Editor(open_session, 0).type("now")
    assert open_session.snapshot().messages[0].content == "now"


def test_a_rendering_of_an_older_revision_is_dropped(open_session: Session) -> None:
    shown: list[object] = []
    open_session.rendered.connect(shown.append)
    old = open_session.rendering()
    open_session._show(open_session.revision - 1, old)
    assert shown == []


def test_a_large_project_is_rendered_as_a_job_and_still_arrives(
    open_session: Session, qtbot, settled
) -> None:
    editor = Editor(open_session, 1)
    editor.type("[%param.name%] " * 5000)
    with qtbot.waitSignal(open_session.rendered, timeout=20_000):
        open_session.render_now()
        assert open_session.jobs.busy("render")
    assert open_session.rendering().messages[1].text == "Ann " * 5000


def test_choosing_another_set_renders_with_it(open_session: Session) -> None:
    open_session.set_parameter_set("other")
    assert open_session.rendering().messages[1].text == "Hello Bob, you are 7.\n"
    open_session.set_parameter_set("no such set")
    assert open_session.parameter_set == "other"


def test_schema_errors_arrive_with_their_file_and_line(open_session: Session, settled) -> None:
    open_session.edit(
        "parameters", lambda p: p.set_parameter_set("default", '{\n "company": {"name": "F"},\n "name": 5\n}')
    )
    settled(open_session)
    errors = [d for d in open_session.diagnostics() if d.severity == "error"]
    found = [(d.file, d.line, d.pointer) for d in errors if d.code != "missing"]
    assert found == [("parameters/default.json", 3, "/name")]
    assert [d.node for d in errors if d.code == "missing"] == ["/1/content"]  # the age that the text wants


def test_edits_can_be_undone_and_done_again(open_session: Session) -> None:
    open_session.set_threshold("input", "rude", 0.3)
    assert open_session.snapshot().input_guardrail.checks[0].threshold == 0.3
    open_session.undo_stack.undo()
    assert open_session.snapshot().input_guardrail.checks[0].threshold is None
    open_session.undo_stack.redo()
    assert open_session.snapshot().input_guardrail.checks[0].threshold == 0.3


def test_a_drag_of_a_threshold_is_one_undo_step(open_session: Session) -> None:
    for step in range(1, 30):
        open_session.set_threshold("input", "rude", step / 100)
    assert open_session.undo_stack.count() == 1
    open_session.undo_stack.undo()
    assert open_session.snapshot().input_guardrail.checks[0].threshold is None


class CountingModel:
    """A decision model of the test: answers 0.62 to every question and counts its calls."""

    name, provider = "counting", "test"

    def __init__(self) -> None:
        self.calls = 0

    async def decide(self, request):
        self.calls += 1
        answers = {name: YesNoAnswer(0.62) for name in request.questions}
        return DecisionResponse(answers=answers, model_name="counting-1")

    async def aclose(self) -> None:
        return None


def test_moving_a_threshold_judges_again_without_asking_the_model(
    open_session: Session, qtbot, settled
) -> None:
    model = CountingModel()

    async def opened(*_arguments):
        return model

    open_session._decision_model = opened
    with qtbot.waitSignal(open_session.run_finished, timeout=20_000) as finished:
        open_session.run_checks("input", "you fool")
    assert finished.args[0] == "check"
    assert open_session.result("input").verdict == "rejected"
    open_session.set_threshold("input", "rude", 0.7)
    assert open_session.result("input").verdict == "passed"
    open_session.set_threshold("input", "rude", 0.62)
    assert open_session.result("input").verdict == "rejected"
    assert model.calls == 1
    settled(open_session)


def test_stopping_a_run_says_so_and_nothing_arrives_later(open_session: Session, qtbot, settled) -> None:
    import asyncio

    class Slow(CountingModel):
        async def decide(self, request):
            await asyncio.sleep(60)

    async def opened(*_arguments):
        return Slow()

    open_session._decision_model = opened
    said: list[tuple[str, str]] = []
    open_session.run_failed.connect(lambda *words: said.append(words))
    open_session.run_checks("input", "text")
    qtbot.wait(50)
    assert open_session.running() == {"check"}
    open_session.stop()
    assert said == [("check", "stopped by you")]
    assert open_session.running() == set()
    settled(open_session)
    assert open_session.result("input") is None


def test_saving_writes_only_what_changed(open_session: Session, project_folder: Path) -> None:
    before = (project_folder / "workbench.toml").read_bytes()
    Editor(open_session, 1).type("Bye\n")
    open_session.save()
    after = (project_folder / "workbench.toml").read_bytes()
    assert not open_session.dirty
    assert after != before
    assert b"# the first message" in after
    assert after.replace(b"Bye\n", b"Hello [%param.name%], you are [%param.age%].\n") == before


def test_undone_to_what_is_on_disk_there_is_nothing_to_save(
    open_session: Session, project_folder: Path
) -> None:
    from workbench.engine.projects import Project

    session, said = open_session, []
    session.dirty_changed.connect(said.append)
    session.set_threshold("input", "rude", 0.2)
    session.write_recovery()
    assert Project.recovery_available(project_folder)
    session.undo_stack.undo()
    assert not session.dirty
    assert not Project.recovery_available(project_folder)
    session.undo_stack.redo()
    session.save()
    session.undo_stack.undo()
    assert session.dirty
    session.undo_stack.redo()
    assert not session.dirty
    # What cannot be undone is still to be saved.
    Editor(session, 1).type("Bye")
    session.set_threshold("input", "rude", 0.3)
    session.undo_stack.undo()
    assert session.dirty
    assert said == [True, False, True, False, True, False, True]


def test_typed_back_to_what_is_on_disk_there_is_nothing_to_save(open_session: Session, settled) -> None:
    text = open_session.snapshot().messages[1].content
    Editor(open_session, 1).type("oops")
    settled(open_session)
    assert open_session.dirty
    Editor(open_session, 1).type(text)
    settled(open_session)
    assert not open_session.dirty


def test_a_file_changed_on_disk_is_not_overwritten_unasked(
    open_session: Session, project_folder: Path
) -> None:
    from workbench.engine.projects import ChangedOnDisk

    file = project_folder / "workbench.toml"
    file.write_text(file.read_text("utf-8") + "# theirs\n", encoding="utf-8")
    Editor(open_session, 1).type("mine\n")
    with pytest.raises(ChangedOnDisk):
        open_session.save()
    assert "# theirs" in file.read_text("utf-8")
    assert open_session.dirty
    open_session.save(overwrite=True)
    assert "mine" in file.read_text("utf-8")


def test_unsaved_work_is_copied_aside_and_comes_back(
    open_session: Session, project_folder: Path, settled
) -> None:
    from workbench.engine.projects import Project

    Editor(open_session, 1).type("precious\n")
    open_session.write_recovery()
    assert Project.recovery_available(project_folder) is not None
    again = Project.load(project_folder)
    assert again.restore_recovery()
    assert again.snapshot().messages[1].content == "precious\n"
    open_session.save()
    assert Project.recovery_available(project_folder) is None


def test_a_project_that_cannot_be_read_leaves_the_open_one_alone(
    open_session: Session, tmp_path: Path
) -> None:
    from workbench.engine.projects import ProjectError

    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "workbench.toml").write_text("format = [", encoding="utf-8")
    with pytest.raises(ProjectError):
        open_session.open(tmp_path / "broken")
    assert open_session.project.name == "Greeting"


@pytest.mark.parametrize(
    ("diagnostic", "place", "words"),
    [
        (
            Diagnostic("error", "x", "m", 1, 2, 3, node="/1/content"),
            Place("message", "1", 1, 2),
            "user, line 3",
        ),
        (
            Diagnostic("error", "x", "m", 1, 2, 4, file="parameters/other.json", pointer="/a"),
            Place("parameters", "other", 1, 2, "/a"),
            "other, line 4",
        ),
        (
            Diagnostic("error", "x", "m", 0, 1, 1, file="output.schema.json"),
            Place("output_schema", "", 0, 1),
            "output schema, line 1",
        ),
        (Diagnostic("error", "x", "m", file="workbench.toml", line=7), None, "workbench.toml, line 7"),
        (Diagnostic("error", "x", "m", node="/9/content"), None, "project"),
    ],
    ids=["message", "parameters", "schema", "toml", "gone"],
)
def test_a_diagnostic_knows_its_place(open_session: Session, diagnostic, place, words) -> None:
    snapshot = open_session.snapshot()
    assert place_of(diagnostic, snapshot, "default") == place
    assert place_words(diagnostic, snapshot, "default") == words


def test_a_prompt_with_a_missing_value_is_not_sent_to_the_checks(open_session: Session) -> None:
    Editor(open_session, 0).type("[%param.gone%]")
    failures: list[tuple[str, str]] = []
    open_session.run_failed.connect(lambda kind, why: failures.append((kind, why)))
    open_session.run_checks("input")
    assert failures == [("check", "the prompt is not sent: no value for param.gone")]
    open_session.run_checks("input", record=False)
    assert len(failures) == 1
    assert not open_session.running()


def test_what_stops_sending_is_an_error_among_the_problems(open_session: Session, settled) -> None:
    editor = Editor(open_session, 0)
    editor.type("[%param.gone%]")
    settled(open_session)
    assert open_session.rendering().unresolved
    [found] = [each for each in open_session.diagnostics() if "param.gone" in each.message]
    assert (found.severity, found.code, found.node) == ("error", "missing", "/0/content")
    assert open_session.diagnostics()[0] == found
    editor.type("You greet.")
    settled(open_session)
    assert not any(each.severity == "error" for each in open_session.diagnostics())


def test_secrets_come_from_the_keyring_of_the_system(qapp, settings, monkeypatch) -> None:
    from workbench.engine.secrets import SystemKeyring

    stored = {"mine": "sk-stored-value"}
    monkeypatch.setattr(SystemKeyring, "get_password", lambda _self, _service, name: stored.get(name))
    session = Session(settings)
    try:
        assert session.secrets.source("mine") == "keyring"
        session.secrets.accept("mine", "https://models.example.test")
        assert (settings.folder / "accepted-origins.json").exists()
    finally:
        session.close()
        session.deleteLater()


def test_a_project_that_is_saved_elsewhere_takes_no_run_along(
    open_session: Session, tmp_path: Path, qtbot
) -> None:
    hold = threading.Event()
    open_session.begin_run("check")
    open_session.jobs.run_pool(hold.wait, 10, on_done=lambda _done: None, key="check")
    assert open_session.running() == {"check"}
    open_session.save_as(tmp_path / "elsewhere")
    hold.set()
    assert open_session.running() == set()
    assert open_session.history is not None
