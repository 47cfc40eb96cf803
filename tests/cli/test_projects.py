"""`validate`, `samples`, `export`, `doctor`, `screenshot`, and starting without a display."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from workbench.engine.projects import Project

SAMPLES = ["answer-from-documents", "support-triage", "table-booking"]


def test_the_samples_are_listed_and_copied_and_valid(run: Run, tmp_path: Path) -> None:
    listed = run("samples", "list", "--json").json["samples"]
    assert sorted(sample["name"] for sample in listed) == SAMPLES
    assert all(sample["title"] and sample["description"] for sample in listed)
    for name in SAMPLES:
        assert run("samples", "copy", name, tmp_path / "deep" / name).status == 0
        outcome = run("validate", tmp_path / "deep" / name, "--json")
        assert outcome.status == 0
        assert [d for d in outcome.json["diagnostics"] if d["severity"] != "info"] == []


def test_a_copy_needs_a_known_name_and_an_empty_folder(run: Run, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("mine")
    assert run("samples", "copy", "support-triage", tmp_path / "full").status == 2
    assert (tmp_path / "full" / "file").read_text() == "mine"
    (tmp_path / "empty").mkdir()
    assert run("samples", "copy", "support-triage", tmp_path / "empty").status == 0
    unknown = run("samples", "copy", "suport-triage", tmp_path / "new")
    assert unknown.status == 2
    assert "support-triage" in unknown.err


@pytest.mark.parametrize(
    ("file", "old", "new", "place", "status"),
    [
        ("workbench.toml", "format = 1", "format = ", "workbench.toml:1", 1),
        ("workbench.toml", "format = 1", "format = 99", "newer", 1),
        ("parameters.schema.json", '"type"', '"type" "x"', "parameters.schema.json:", 1),
    ],
)
def test_a_broken_file_is_named_with_its_line(
    run: Run, triage: Path, file: str, old: str, new: str, place: str, status: int
) -> None:
    path = triage / file
    path.write_text(path.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    outcome = run("validate", triage)
    assert outcome.status == status
    assert place in outcome.err


def test_an_unknown_key_is_a_warning_with_its_line_and_a_wrong_type_an_error(run: Run, triage: Path) -> None:
    toml = triage / "workbench.toml"
    lines = toml.read_text(encoding="utf-8").splitlines()
    toml.write_text("\n".join([lines[0], 'colour = "red"', *lines[1:]]), encoding="utf-8")
    outcome = run("validate", triage, "--json")
    assert outcome.status == 0
    [warning] = [d for d in outcome.json["diagnostics"] if d["severity"] != "info"]
    assert (warning["severity"], warning["line"]) == ("warning", 2)
    toml.write_text("\n".join([lines[0], "name = 5", *lines[2:]]), encoding="utf-8")
    outcome = run("validate", triage, "--json")
    assert outcome.status == 1
    assert any(d["severity"] == "error" and d["line"] == 2 for d in outcome.json["diagnostics"])


def test_an_export_is_printed_or_written_with_its_losses(run: Run, triage: Path, tmp_path: Path) -> None:
    printed = run("export", triage, "--to", "langchain4j")
    assert printed.status == 0
    assert "DecisionModelInputGuardrail.builder()" in printed.text
    assert "left out: translation" in printed.err
    written = run("export", triage, "--to", "litellm", "-o", tmp_path / "out")
    assert (tmp_path / "out" / "config.yaml").exists()
    assert str(tmp_path / "out" / "config.yaml") in written.text
    unknown = run("export", triage, "--to", "nothing")
    assert unknown.status == 2
    assert "litellm" in unknown.err


def test_the_list_of_targets_says_what_each_cannot_express(run: Run, triage: Path) -> None:
    listed = run("export", triage, "--list", "--json").json["targets"]
    assert [target["name"] for target in listed] == ["python", "langchain4j", "litellm", "openai-request"]
    assert all(target["cannot_express"] and isinstance(target["losses"], int) for target in listed)
    assert "cannot express: " in run("export", "--list").text


def test_doctor_names_versions_models_and_folders(run: Run) -> None:
    outcome = run("doctor", "--json")
    found = {finding["subject"]: finding for finding in outcome.json["findings"]}
    assert found.keys() >= {
        "Python",
        "Qt",
        "display",
        "embedded decision model",
        "local chat model",
        "keyring",
        "data",
    }
    assert found["display"]["status"] == "missing"
    assert outcome.status == (0 if outcome.json["ok"] else 1)


def test_a_screenshot_has_the_size_that_was_asked_for(run: Run, triage: Path, tmp_path: Path) -> None:
    # In a process of its own, as users call it: one application object a process.
    picture = tmp_path / "window.png"
    command = [
        sys.executable,
        "-m",
        "workbench",
        "screenshot",
        str(triage),
        "-o",
        str(picture),
        "--size",
        "1200x800",
    ]
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    subprocess.run(command, check=True, timeout=120, env=environment, capture_output=True)
    data = picture.read_bytes()
    assert data.startswith(b"\x89PNG")
    assert (int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")) == (1200, 800)
    assert run("screenshot", triage, "-o", picture, "--size", "12x").status == 2


@pytest.mark.timeout(400)  # a real model translates: on a busy computer that takes its time
def test_without_a_display_the_sample_s_job_is_done_in_the_terminal(run: Run, tmp_path: Path) -> None:
    environment = {
        k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    }
    environment["XDG_DATA_HOME"] = str(tmp_path / "data")
    command = [sys.executable, "-m", "workbench", "--sample", "support-triage"]
    done = subprocess.run(command, timeout=360, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "--- system ---" in done.stdout
    assert "verdict: " in done.stdout
    assert "attempt 1: " in done.stdout
    picture = Path(done.stdout.strip().splitlines()[-1])
    assert picture.read_bytes().startswith(b"\x89PNG")
    project = tmp_path / "data" / "prompt-workbench" / "samples" / "support-triage"
    assert str(project) in done.stdout


def test_the_copy_of_a_sample_is_reopened_as_it_was_left(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What is shown of a project takes long and has the test above; here only which project is shown.
    shown: list[Project] = []
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    monkeypatch.setattr("workbench.cli.start.tour", lambda project: shown.append(project) or 0)
    assert run("--sample", "support-triage").status == 0
    toml = tmp_path / "home" / "data" / "prompt-workbench" / "samples" / "support-triage" / "workbench.toml"
    toml.write_text(toml.read_text(encoding="utf-8") + "\n# mine\n", encoding="utf-8")
    assert run("--sample", "support-triage").status == 0
    assert toml.read_text(encoding="utf-8").endswith("# mine\n")
    assert [project.root for project in shown] == [toml.parent, toml.parent]
    assert shown[1].toml_text.endswith("# mine\n")


def test_without_a_display_and_a_project_there_is_a_clear_line(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    outcome = run()
    assert outcome.status == 2
    assert "no display" in outcome.err


def test_a_misspelt_command_is_named_with_the_list_of_commands(run: Run, triage: Path) -> None:
    outcome = run("chek", triage)
    assert outcome.status == 2
    assert "chek" in outcome.err
    assert "check" in outcome.err


def test_a_written_export_has_a_readme_with_its_losses(run: Run, triage: Path, tmp_path: Path) -> None:
    run("export", triage, "--to", "litellm", "-o", tmp_path / "out")
    assert "left out" in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
