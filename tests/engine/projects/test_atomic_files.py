"""A process that is killed at any moment leaves the old file or the new one."""

from __future__ import annotations

import os
import random
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from workbench.engine.projects import files

WRITER = """
import sys
from pathlib import Path
from workbench.engine.projects.files import write_atomically
path, letters = Path(sys.argv[1]), "ab"
print("ready", flush=True)
number = 0
while True:
    write_atomically(path, letters[number % 2].encode() * 400_000)
    number += 1
"""


@pytest.mark.slow
def test_a_writer_that_is_killed_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_bytes(b"z" * 400_000)
    chance = random.Random(7)
    seen = set()
    for _ in range(30):
        child = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE)
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == b"ready\n"
            time.sleep(chance.uniform(0, 0.06))
        finally:
            child.kill()
            child.wait()
            if child.stdout is not None:
                child.stdout.close()
        data = path.read_bytes()
        assert len(data) == 400_000
        assert len(set(data)) == 1
        seen.add(data[:1])
    assert seen & {b"a", b"b"}, "no child got as far as writing"


def test_a_write_that_fails_leaves_the_old_file_and_no_rubbish(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file.txt"
    path.write_bytes(b"old")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        files.write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file.txt"]


def test_file_and_folder_are_flushed_before_and_after_the_replacement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    real_sync, real_replace = os.fsync, os.replace

    def sync(descriptor: int) -> None:
        calls.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        real_sync(descriptor)

    def replace(source: Path, target: Path) -> None:
        calls.append("replace")
        real_replace(source, target)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "replace", replace)
    files.write_atomically(tmp_path / "new.txt", b"x")
    assert calls == ["file", "replace", "folder"]


def test_the_mode_of_a_file_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_bytes(b"old")
    path.chmod(0o600)
    files.write_atomically(path, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "name",
    [
        "a/b",
        "..",
        ".",
        ".hidden",
        " x ",
        "con",
        "CON.txt",
        "nul",
        "a:b*?",
        "50%",
        "%41",
        "ends.",
        "tab\t",
        "é\u2028",
        "\\",
        '"',
    ],
)
def test_any_name_of_a_parameter_set_is_a_safe_file_name(tmp_path: Path, name: str) -> None:
    file_name = files.file_name_of_set(name)
    assert files.name_of_set_file(file_name) == name
    assert not set(file_name) & set('/\\:*?"<>|')
    assert not file_name.startswith((".", "con.", "nul.", "CON."))
    (tmp_path / file_name).write_text("{}")
    assert [path.name for path in tmp_path.iterdir()] == [file_name]
