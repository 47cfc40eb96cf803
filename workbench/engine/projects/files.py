"""Reads and writes the files of a project folder: never outside it, never half written."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import stat
from pathlib import Path, PurePosixPath

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.projects.errors import ProjectError
from workbench.engine.text import LineIndex, TextFile

PROJECT_FILE = "workbench.toml"
WORKBENCH_FOLDER = ".workbench"
PARAMETERS_FOLDER = "parameters"
MAX_FILE_BYTES = 256 * 1024 * 1024

_UNSAFE_IN_NAME = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|\ud800-\udfff]|^\.|^ |[. ]$|%(?=[0-9A-F]{2})')
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|\Z)", re.IGNORECASE)
_ONE_BYTE = re.compile(r"%([0-9A-F]{2})")


def inside(root: Path, relative: str) -> Path:
    """Return the path of `relative` in the project folder `root`.

    Raises:
        ProjectError: when `relative` is absolute, climbs out with `..`, or leads out through a link.
    """
    parts = PurePosixPath(relative.replace("\\", "/")).parts
    if not parts or parts[0] == "/" or ".." in parts or re.match(r"[A-Za-z]:", relative) or "\0" in relative:
        raise ProjectError.of(
            "outside",
            f"`{relative}` is not a path inside the project folder, and nothing outside is read",
            file=relative,
        )
    path = root.joinpath(*parts)
    try:
        resolved, real_root = path.resolve(), root.resolve()
    except (OSError, RuntimeError) as error:
        raise ProjectError.of("outside", f"`{relative}` cannot be followed: {error}", file=relative) from None
    if not resolved.is_relative_to(real_root):
        raise ProjectError.of(
            "outside",
            f"`{relative}` is a link that leads out of the project folder; it is not followed",
            file=relative,
            hint="replace the link by a copy of the file",
        )
    return path


def read_bytes(root: Path, relative: str) -> bytes | None:
    """Return the bytes of a regular file of the project, `None` where there is none.

    Raises:
        ProjectError: when it lies outside, is no regular file, is too large or cannot be read.
    """
    path = inside(root, relative)
    try:
        kind = path.stat()
        if not stat.S_ISREG(kind.st_mode):
            what = "a folder" if stat.S_ISDIR(kind.st_mode) else "no regular file"
            raise ProjectError.of("no_file", f"{relative} is {what}", file=relative)
        if kind.st_size > MAX_FILE_BYTES:
            message = f"{relative} has {kind.st_size} bytes; the most that is read is {MAX_FILE_BYTES}"
            raise ProjectError.of("too_large", message, file=relative)
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        message = f"{relative} cannot be read: {error.strerror or error}"
        raise ProjectError.of("unreadable", message, file=relative) from None


def read_head(root: Path, relative: str, most: int) -> bytes:
    """Return the whole lines among the first `most` bytes of a file that is too long to be held.

    Raises:
        ProjectError: when it lies outside, is no regular file or cannot be read.
    """
    path = inside(root, relative)
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ProjectError.of("no_file", f"{relative} is no regular file", file=relative)
        with path.open("rb") as file:
            data = file.read(most)
    except OSError as error:
        message = f"{relative} cannot be read: {error.strerror or error}"
        raise ProjectError.of("unreadable", message, file=relative) from None
    return data[: data.rfind(b"\n") + 1]


def decode(data: bytes, relative: str) -> TextFile:
    """Return the text of `data`.

    Raises:
        ProjectError: at the first byte that is not UTF-8, with line and column.
    """
    try:
        return TextFile.decode(data)
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8", "replace").removeprefix("\ufeff")
        line, column = LineIndex(before).position(len(before))
        raise ProjectError(
            [
                Diagnostic(
                    "error",
                    "encoding",
                    f"{relative} is not UTF-8: byte 0x{data[error.start]:02X} at offset {error.start}",
                    start=len(before),
                    end=len(before) + 1,
                    line=line,
                    column=column,
                    hint="save the file as UTF-8",
                    file=relative,
                )
            ]
        ) from None


def fingerprint(data: bytes | None) -> str | None:
    """Return what tells whether a file changed: the hash of its bytes, `None` for no file."""
    return None if data is None else hashlib.sha256(data).hexdigest()


def write_atomically(path: Path, data: bytes) -> None:
    """Replace the file at `path` by `data` so that a crash at any moment leaves the old file or the new one.

    The data goes to a temporary file beside the target, is flushed to the disk and moved into place; then
    the folder is flushed. Mode bits of an existing file are kept; a link inside the folder is written through.

    Raises:
        OSError: when the file cannot be written; the old file is untouched.
    """
    target = path.resolve() if path.is_symlink() else path
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.tmp")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        with contextlib.suppress(FileNotFoundError):
            os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    sync_folder(target.parent)


def remove_file(path: Path) -> None:
    """Delete a file, if it is there, and flush its folder."""
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries to the disk where the system can do that."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)


def is_writable(root: Path) -> bool:
    """Tell whether files in the folder, and the project file itself, can be written."""
    project_file = root / PROJECT_FILE
    return os.access(root, os.W_OK | os.X_OK) and (
        not project_file.exists() or os.access(project_file, os.W_OK)
    )


def prepare_workbench_folder(root: Path) -> Path:
    """Return the folder for history and recovery copies, made with a `.gitignore` of its own.

    Raises:
        ProjectError: when `.workbench` leads out of the project.
        OSError: when it cannot be made.
    """
    folder = inside(root, WORKBENCH_FOLDER)
    folder.mkdir(exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        write_atomically(
            ignore, b"# What the workbench remembers on this computer; not part of the project.\n*\n"
        )
    return folder


def file_name_of_set(name: str) -> str:
    """Return the file name of a parameter set; characters that file systems refuse are percent-encoded.

    Raises:
        ValueError: when the name is empty or too long for a file.
    """
    if not name:
        raise ValueError("a parameter set needs a name")
    encoded = _UNSAFE_IN_NAME.sub(_percent_encode, name)
    if _RESERVED.match(encoded):
        encoded = f"%{ord(encoded[0]):02X}{encoded[1:]}"
    if len(encoded.encode("utf-8")) > 200:
        raise ValueError(f"the name of a parameter set is too long for a file: {name[:40]}…")
    return f"{encoded}.json"


def name_of_set_file(file_name: str) -> str:
    """Return the name of the parameter set that is kept in `file_name`."""
    stem = file_name.removesuffix(".json")
    return re.sub(r"(?:%[0-9A-F]{2})+", _percent_decode, stem)


def _percent_encode(found: re.Match[str]) -> str:
    data = found.group().encode("utf-8", "surrogatepass")
    return "".join(f"%{byte:02X}" for byte in data)


def _percent_decode(found: re.Match[str]) -> str:
    data = bytes(int(byte, 16) for byte in _ONE_BYTE.findall(found.group()))
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return found.group()
