"""Settings, recent projects and shortcuts are kept, and broken files do no harm."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.gui.shell.actions import ACTIONS, ActionSet
from workbench.gui.shell.palette import match_score
from workbench.gui.shell.settings import AppSettings


def test_a_setting_is_kept_for_the_next_start(tmp_path: Path) -> None:
    AppSettings(tmp_path).set("theme", "dark")
    assert AppSettings(tmp_path).get("theme") == "dark"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("theme", "pink"),
        ("theme", 1),
        ("editor.size", 7),
        ("editor.size", "12"),
        ("editor.wrap", 1),
        ("editor.size", True),
    ],
)
def test_a_value_that_does_not_fit_is_refused(tmp_path: Path, key: str, value: object) -> None:
    settings = AppSettings(tmp_path)
    before = settings.get(key)
    with pytest.raises(ValueError):
        settings.set(key, value)
    assert settings.get(key) == before


@pytest.mark.parametrize("text", ["", "{", "[]", '{"theme": 5, "editor.size": 900}', "\x00", "[" * 100_000])
def test_a_broken_file_gives_the_defaults(tmp_path: Path, text: str) -> None:
    (tmp_path / "settings.json").write_text(text, encoding="utf-8")
    (tmp_path / "state.json").write_text(text, encoding="utf-8")
    settings = AppSettings(tmp_path)
    assert settings.get("theme") == "system"
    assert settings.get("editor.size") == 12
    assert settings.recent() == []


def test_recent_projects_are_newest_first_and_each_once(tmp_path: Path) -> None:
    settings = AppSettings(tmp_path)
    for number in range(20):
        settings.add_recent(Path(f"/p{number % 15}"), f"P{number}", float(number))
    paths = [row["path"] for row in settings.recent()]
    assert paths[0] == "/p4"
    assert len(paths) == len(set(paths)) == 12
    settings.forget_recent("/p4")
    assert "/p4" not in [row["path"] for row in AppSettings(tmp_path).recent()]


def test_a_folder_that_cannot_be_written_does_not_stop_the_program(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    settings = AppSettings(tmp_path / "file" / "config")
    settings.set("theme", "dark")
    assert settings.get("theme") == "dark"


def test_no_two_actions_have_the_same_id_or_shortcut() -> None:
    ids = [spec.id for spec in ACTIONS]
    shortcuts = [spec.shortcut for spec in ACTIONS if spec.shortcut]
    assert len(ids) == len(set(ids))
    assert len(shortcuts) == len(set(shortcuts))


def test_a_shortcut_that_is_taken_is_found(qapp) -> None:
    actions = ActionSet(qapp)
    assert actions.conflict("file.save", "Ctrl+O") == "file.open"
    assert actions.conflict("file.open", "Ctrl+O") is None
    assert actions.conflict("file.open", "") is None
    actions.deleteLater()


@pytest.mark.parametrize(
    ("query", "better", "worse"),
    [("exp", "Export", "Next problem"), ("rc", "Run checks", "Replace"), ("set", "Settings", "New parameter set"),
     ("par new", "New parameter set", "Delete parameter set")],
)  # fmt: skip
def test_the_palette_puts_the_better_match_first(query: str, better: str, worse: str) -> None:
    good, bad = match_score(query, better), match_score(query, worse)
    assert good is not None
    assert bad is None or good <= bad


def test_letters_that_do_not_occur_match_nothing() -> None:
    assert match_score("xyz", "Export") is None
