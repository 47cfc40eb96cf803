"""The export dialog: losses before files, files as they will be written, and nothing replaced unasked."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.gui.benches import WAIT_MS, sample_session
from workbench.engine.exports import find_target, targets
from workbench.gui.dialogs import questions
from workbench.gui.dialogs.export import ExportDialog, losses_in_words
from workbench.gui.shell.session import Session
from workbench.gui.widgets.code_view import CodeView

session = sample_session


@pytest.fixture
def dialog(qtbot: QtBot, session: Session) -> ExportDialog:
    dialog = ExportDialog(session)
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: bool(dialog.current_files()), timeout=WAIT_MS)
    return dialog


def test_every_target_is_listed_with_the_number_of_its_losses(session: Session, dialog: ExportDialog) -> None:
    for target in targets():
        expected = target.export(session.snapshot(), parameter_set=session.parameter_set)
        assert dialog.targets.export(target.name) == expected
    assert losses_in_words(None) == "…"
    assert losses_in_words("failed because") == "failed"


def test_the_files_are_shown_exactly_as_they_will_be_written(
    session: Session, dialog: ExportDialog, tmp_path: Path
) -> None:
    dialog.choose("litellm")
    shown = {}
    for k in range(dialog.files.count()):
        view = dialog.files.widget(k)
        assert isinstance(view, CodeView)
        shown[dialog.files.tabText(k)] = view.code()
    dialog.folder.setText(str(tmp_path / "out"))
    dialog.save()
    assert {path.relative_to(tmp_path / "out").as_posix() for path in dialog.written} == set(shown)
    for name, text in shown.items():
        assert (tmp_path / "out" / name).read_bytes() == text.encode("utf-8")
    assert dialog.result() == ExportDialog.DialogCode.Accepted


def test_the_losses_are_named_with_kind_subject_and_detail(session: Session, dialog: ExportDialog) -> None:
    dialog.choose("litellm")
    target = find_target("litellm")
    assert target is not None
    losses = target.export(session.snapshot()).losses
    rows = [
        tuple(dialog.losses.item(row, column).text() for column in range(3))
        for row in range(dialog.losses.rowCount())
    ]
    assert rows == [(loss.kind, loss.subject, loss.detail) for loss in losses]
    assert "left out" in dialog.loss_head.note.text()


def test_the_losses_go_into_a_readme_unless_that_is_not_wanted(dialog: ExportDialog) -> None:
    dialog.choose("litellm")
    dialog.with_readme.setChecked(True)
    assert "README.md" in [file.path for file in dialog.current_files()]
    count = len(dialog.current_files())
    assert dialog.save_button.text() == f"Save {count} files"
    dialog.with_readme.setChecked(False)
    assert [file.path for file in dialog.current_files()] == [
        file.path
        for file in dialog.targets.export("litellm").files  # type: ignore[union-attr]
    ]


def test_a_search_narrows_the_targets(dialog: ExportDialog) -> None:
    dialog.search.setText("litel")
    assert dialog.current_target().name == "litellm"  # type: ignore[union-attr]
    assert dialog.list.model().rowCount() == 1


def test_files_of_another_content_are_replaced_only_after_a_question(
    dialog: ExportDialog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialog.choose("litellm")
    out = tmp_path / "out"
    out.mkdir()
    (out / "config.yaml").write_text("mine", encoding="utf-8")
    dialog.folder.setText(str(out))
    asked = []

    def answer(_parent: object, _title: str, question: str, _detail: str) -> bool:
        asked.append(question)
        return False

    monkeypatch.setattr(questions, "ask_replace", answer)
    dialog.save()
    assert "config.yaml" in asked[0]
    assert (out / "config.yaml").read_text(encoding="utf-8") == "mine"
    assert dialog.isVisible()


def test_a_folder_that_cannot_be_written_gives_one_clear_message(
    dialog: ExportDialog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    dialog.folder.setText(str(tmp_path / "file" / "out"))
    said = []
    monkeypatch.setattr(questions, "show_error", lambda _parent, _title, words, _why: said.append(words))
    dialog.save()
    assert len(said) == 1
    assert "could not be written" in said[0]
    assert dialog.isVisible()


@pytest.mark.parametrize("folder", ["{out}", "~nobody-of-this-name/out", "{out}" + "a" * 300])
def test_a_folder_in_which_nothing_can_be_looked_up_gives_the_same_message(
    dialog: ExportDialog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    said = []
    monkeypatch.setattr(questions, "show_error", lambda *words: said.append(words[2]))
    (tmp_path / "out" / dialog.current_files()[0].path).mkdir(parents=True)
    dialog.folder.setText(folder.format(out=tmp_path / "out"))
    dialog.save()
    assert said == ["The files could not be written."]
    assert dialog.isVisible()


def test_half_a_surrogate_pair_is_counted_and_written_as_the_sign_that_stands_for_it(
    qtbot: QtBot, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.edit("template", lambda project: project.set_message(0, "broken \ud800 sign"))
    dialog = ExportDialog(session)
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: bool(dialog.current_files()), timeout=WAIT_MS)
    monkeypatch.setattr(questions, "ask_replace", lambda *words: pytest.fail("nothing would be replaced"))
    dialog.choose("openai-request")
    dialog.folder.setText(str(tmp_path / "out"))
    for _ in range(2):
        dialog.save()
        texts = [path.read_text(encoding="utf-8") for path in dialog.written]
        assert any("broken \ufffd sign" in text for text in texts)


def test_no_secret_value_reaches_a_file(
    qtbot: QtBot, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workbench.engine.model_settings import ModelSettings

    monkeypatch.setenv("PROMPT_WORKBENCH_SECRET_OPENAI", "sk-very-secret")
    model = ModelSettings("decision", "openai", "https://example.test/v1", "m", "openai")
    session.edit("models", lambda project: project.set_model(model))
    dialog = ExportDialog(session)
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: bool(dialog.current_files()), timeout=WAIT_MS)
    for target in targets():
        dialog.choose(target.name)
        assert all("sk-very-secret" not in file.text for file in dialog.current_files())
