"""Finds rows in a results file of any length by their case, and keeps the places only, not the rows."""

from __future__ import annotations

import hashlib
import json
import os
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from workbench.engine.evaluation.rows import ResultRow

MOST_PROBLEMS = 50
_MOST_LINES = 32
"""Lines of one entry; each has one bit in the entry's masks."""


@dataclass(frozen=True, slots=True)
class Place:
    """One line of the file: the number of its entry, and which of the entry's lines it is."""

    entry: int
    line: int


class StoredRows:
    """The rows that a results file holds when a run begins.

    Neighbouring lines of one case make an entry of 33 bytes (a hash, an offset, a count, two masks and a place in the
    order), so that a million cases take about 30 MB whatever the number of checks. `problems` names the first
    lines that could not be read. A last line without its line end was cut by a crash and does not count.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: list[str] = []
        self.end = 0
        self._offsets = array("Q")
        self._lines = array("B")
        self._dropped = array("I")
        self._kept = array("I")
        self._keys: Any = None
        self._order: Any = None
        self._file: IO[bytes] | None = None
        self._untidy = False

    def __len__(self) -> int:
        """Return the number of entries; 0 where there is no file yet."""
        return len(self._offsets)

    def scan(self) -> None:
        """Read the file once and note where each case lies.

        Raises:
            OSError: where the file is there and cannot be read.
        """
        import numpy as np

        try:
            self._file = self.path.open("rb")
        except FileNotFoundError:
            return
        keys = array("Q")
        case: str | None = None
        for number, offset, line in self._complete_lines():
            row = self._parsed(line, number)
            if row is None:
                case = None
                continue
            if row.case == case and self._lines[-1] < _MOST_LINES:
                self._lines[-1] += 1
                continue
            case = row.case
            keys.append(key_of(case))
            self._offsets.append(offset)
            self._lines.append(1)
            self._dropped.append(0)
            self._kept.append(0)
        found = np.frombuffer(keys, dtype=np.uint64) if keys else np.empty(0, np.uint64)
        self._order = np.argsort(found, kind="stable")
        self._keys = found[self._order]

    def _complete_lines(self) -> Iterator[tuple[int, int, bytes]]:
        assert self._file is not None
        for number, line in enumerate(self._file, 1):
            if not line.endswith(b"\n"):
                return
            offset, self.end = self.end, self.end + len(line)
            yield number, offset, line

    def _parsed(self, line: bytes, number: int) -> ResultRow | None:
        if not line.strip():
            return None
        try:
            return ResultRow.from_json(json.loads(line))
        except (ValueError, RecursionError, AttributeError) as error:
            self._untidy = True
            if len(self.problems) < MOST_PROBLEMS:
                self.problems.append(f"{self.path.name}:{number}: {error}")
            return None

    def of_case(self, case: str) -> list[tuple[Place, ResultRow]]:
        """Return the rows of a case with their places, the oldest first."""
        if self._file is None or not len(self):
            return []
        import numpy as np

        key = np.uint64(key_of(case))
        rows: list[tuple[Place, ResultRow]] = []
        position = int(np.searchsorted(self._keys, key))
        while position < len(self._keys) and self._keys[position] == key:
            entry = int(self._order[position])
            self._file.seek(self._offsets[entry])
            for line in range(self._lines[entry]):
                row = ResultRow.from_json(json.loads(self._file.readline()))
                if row.case == case:
                    rows.append((Place(entry, line), row))
            position += 1
        return rows

    def keep(self, place: Place) -> None:
        """Mark a row as used; where two cases have one id, the other cannot drop it any more."""
        self._kept[place.entry] |= 1 << place.line

    def drop(self, place: Place) -> None:
        """Mark a row as superseded: `tidy` leaves it out, unless it is also kept."""
        self._dropped[place.entry] |= 1 << place.line
        self._untidy = True

    def tidy(self) -> None:
        """Write the file anew without the rows that were dropped and the lines that could not be read.

        Rows that were appended since the scan stay, and so do those of cases that nobody looked up. The old
        file stays whole until the new one is.
        """
        if self._file is None or not self._untidy or not len(self):
            return
        temporary = self.path.with_name(self.path.name + ".tmp")
        with temporary.open("wb") as target:
            for entry, offset in enumerate(self._offsets):
                self._file.seek(offset)
                for line in range(self._lines[entry]):
                    data = self._file.readline()
                    if not (self._dropped[entry] & ~self._kept[entry]) >> line & 1:
                        target.write(data)
            self._file.seek(self.end)
            while block := self._file.read(1 << 20):
                target.write(block)
            target.flush()
            os.fsync(target.fileno())
        self.close()
        os.replace(temporary, self.path)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


def key_of(case: str) -> int:
    """Return a 64-bit hash of the id of a case."""
    data = case.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")
