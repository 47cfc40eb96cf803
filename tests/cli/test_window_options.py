"""The options of the window are read, said in the help, and handed on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from workbench.cli import main


@pytest.mark.parametrize(("arguments", "asks"), [([], True), (["--no-recovery-question"], False)])
def test_a_start_may_leave_out_the_question_about_a_recovery_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], asks: bool
) -> None:
    seen: dict[str, Any] = {}

    def window(project: Path | None, argv: list[str], *, ask_recovery: bool) -> int:
        seen.update(project=project, asks=ask_recovery)
        return 0

    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    monkeypatch.setattr("workbench.gui.application.main", window)
    (tmp_path / "workbench.toml").write_text('format = 1\nname = "P"\n', encoding="utf-8")
    assert main([str(tmp_path), *arguments]) == 0
    assert seen == {"project": tmp_path.resolve(), "asks": asks}


def test_the_help_names_the_options_of_the_window(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    said = capsys.readouterr().out
    for words in (
        "--sample NAME",
        "--no-window",
        "--no-recovery-question",
        "PROMPT_WORKBENCH_NO_RECOVERY_QUESTION=1",
    ):
        assert words in said
