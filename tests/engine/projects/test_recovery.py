"""What was typed and not saved comes back after a crash."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.projects.conftest import contents
from workbench.engine.evaluation.cases import Case
from workbench.engine.projects import Project, ProjectError


def test_everything_that_was_not_saved_comes_back(folder: Path) -> None:
    project = Project.load(folder)
    project.set_message(0, "typed \ud83d\n")
    project.set_parameter_set("default", '{"typed": 1}')
    project.add_parameter_set("brand new", "{}")
    project.remove_parameter_set("other")
    project.set_cases([Case("z", "typed")])
    before = contents(folder)
    assert project.write_recovery() == folder / ".workbench" / "recovery.json"
    assert contents(folder) == before

    info = Project.recovery_available(folder)
    assert info is not None
    assert info.name == "Small"
    assert "cases.jsonl" in info.files
    again = Project.load(folder)
    assert again.restore_recovery()
    assert again.snapshot() == project.snapshot()
    assert again.dirty
    again.save()
    assert Project.recovery_available(folder) is None
    assert sorted(Project.load(folder).snapshot().parameter_sets) == ["brand new", "default"]


def test_a_project_without_changes_has_no_recovery_copy(folder: Path) -> None:
    project = Project.load(folder)
    assert project.write_recovery() is None
    project.set_name("x")
    project.write_recovery()
    project.set_name("Small")
    assert project.write_recovery() is None
    assert Project.recovery_available(folder) is None
    assert not project.restore_recovery()


def test_a_recovery_copy_can_be_thrown_away(folder: Path) -> None:
    project = Project.load(folder)
    project.set_name("x")
    project.write_recovery()
    project.discard_recovery()
    assert Project.recovery_available(folder) is None


def test_a_project_without_a_folder_keeps_its_copy_elsewhere(tmp_path: Path) -> None:
    project = Project.new(None, "Untitled")
    project.set_message(0, "typed")
    assert project.write_recovery() is None
    project.write_recovery(tmp_path)
    again = Project.new(None, "Untitled")
    assert again.restore_recovery(tmp_path)
    assert again.snapshot() == project.snapshot()


def test_saving_still_notices_that_the_disk_changed_after_a_recovery(folder: Path) -> None:
    project = Project.load(folder)
    project.set_name("typed")
    project.write_recovery()
    again = Project.load(folder)
    again.restore_recovery()
    (folder / "workbench.toml").write_text((folder / "workbench.toml").read_text() + "# by hand\n")
    with pytest.raises(ProjectError, match="changed on disk"):
        again.save()


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"format": 1}', b'{"format": 9}'])
def test_a_damaged_recovery_copy_is_refused_and_the_project_stays(folder: Path, data: bytes) -> None:
    (folder / ".workbench").mkdir()
    (folder / ".workbench" / "recovery.json").write_bytes(data)
    project = Project.load(folder)
    assert Project.recovery_available(folder) is None
    with pytest.raises(ProjectError, match="damaged"):
        project.restore_recovery()
    assert not project.dirty


def test_a_recovery_copy_cannot_name_files_outside(folder: Path) -> None:
    project = Project.load(folder)
    project.set_parameter_set("default", "{}")
    path = project.write_recovery()
    assert path is not None
    path.write_text(path.read_text().replace("parameters/default.json", "../outside.json"))
    again = Project.load(folder)
    with pytest.raises(ProjectError, match="outside"):
        again.restore_recovery()
    assert not again.dirty
