"""One line of results per case and check, and the file that lets a stopped run go on where it ended."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from json.encoder import encode_basestring_ascii
from pathlib import Path
from typing import Any

from workbench.engine.evaluation.cases import Case
from workbench.engine.guardrails.results import CheckResult, Status
from workbench.engine.guardrails.settings import CheckSettings, GuardrailSettings
from workbench.engine.stored import stored_object
from workbench.engine.text import shorten

REWORDED = "the text or the wording of the check changed"
FAILED = "the call failed"
OTHER_MODEL = "another model was asked"
OTHER_VERSION = "another version of the model answered"
_NEEDED = ("case", "check", "probability", "status", "label", "threshold")


@dataclass(frozen=True, slots=True)
class ResultRow:
    """What one check said of one case.

    `probability` is `None` for what was refused, not answered or broken; such rows are kept and counted.
    `label` is `None` where the case has none for this check. `model` is the version that answered. `asked`
    is a hash of the text and the wording, by which a result is known to be of the present question; `source`
    is a hash of the provider, name and address of the model, known even where its version is not.
    """

    case: str
    check: str
    probability: float | None
    status: Status
    label: bool | None
    threshold: float
    model: str | None
    elapsed_ms: float
    asked: str = ""
    detail: str | None = None
    source: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the shape of a line of `evaluate --results`."""
        data: dict[str, Any] = {
            "case": self.case,
            "check": self.check,
            "probability": self.probability,
            "status": self.status,
            "label": self.label,
            "threshold": self.threshold,
            "model": self.model,
            "elapsed_ms": self.elapsed_ms,
            "asked": self.asked,
        }
        if self.source:
            data["source"] = self.source
        if self.detail is not None and self.probability is None:
            data["detail"] = self.detail
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ResultRow:
        """Read what `to_json` wrote.

        Raises:
            ValueError: where a member is missing or of the wrong type.
        """
        members = stored_object(data, "the row", _NEEDED)
        p, label, status = members["probability"], members["label"], members["status"]
        if p is not None and not (_is_number(p) and 0 <= p <= 1):
            raise ValueError(f"the probability {p!r} is not between 0 and 1")
        if label is not None and not isinstance(label, bool):
            raise ValueError(f"the label {label!r} is not true, false or null")
        if status not in ("passed", "rejected", "refused", "no_answer", "error"):
            raise ValueError(f"the status {status!r} is unknown")
        if (p is None) == (status in ("passed", "rejected")):
            raise ValueError(f"the status {status} does not go with the probability {p!r}")
        elapsed = data.get("elapsed_ms") or 0.0
        for name, number in (("threshold", members["threshold"]), ("elapsed_ms", elapsed)):
            if not _is_number(number):
                raise ValueError(f"the row's `{name}` is no number: {shorten(repr(number), 40)}")
        return cls(
            str(members["case"]),
            str(members["check"]),
            None if p is None else float(p),
            status,
            label,
            float(members["threshold"]),
            data.get("model"),
            float(elapsed),
            str(data.get("asked") or ""),
            data.get("detail"),
            str(data.get("source") or ""),
        )

    @property
    def settled(self) -> bool:
        """Whether the model said something; a row of a failed call is asked again when a run goes on."""
        return self.status != "error"

    def under(self, threshold: float, label: bool | None) -> ResultRow:
        """Return the row under another threshold and label, from the stored probability."""
        status = self.status
        if self.probability is not None:
            status = "rejected" if self.probability >= threshold else "passed"
        return replace(self, threshold=threshold, label=label, status=status)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def asked_hash(case: Case, check: CheckSettings) -> str:
    """Return the hash of all that the answer depends on besides the model."""
    parts = [case.stage, case.text, case.user_message, check.question, check.yes_means, check.no_means]
    if check.rule is not None:
        # A question that happens to read like a rule's description is still another check.
        parts = [case.text, check.kind, check.question]
    # As `json.dumps` writes the list, in a third of its time: this is done for every row of a file.
    words = ("null" if part is None else encode_basestring_ascii(part) for part in parts)
    return hashlib.sha256(f"[{', '.join(words)}]".encode()).hexdigest()[:16]


def row_of(
    case: Case,
    check: CheckSettings,
    result: CheckResult,
    model: str | None,
    elapsed_ms: float,
    source: str = "",
) -> ResultRow:
    """Return the row for a result of a guardrail."""
    return ResultRow(
        case.id,
        check.name,
        result.probability,
        result.status,
        case.labels.get(check.name),
        result.threshold,
        model,
        round(elapsed_ms, 3),
        asked_hash(case, check),
        result.detail,
        source,
    )


class ResultsFile:
    """A JSON Lines file of results that grows while a run goes on and survives being cut off.

    Reading keeps the last row for each case and check. A last line that a crash cut in two is dropped.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: list[str] = []
        self._file: Any = None

    def read(self) -> dict[tuple[str, str], ResultRow]:
        """Return the rows by (case, check); broken lines are named in `problems` and passed over."""
        rows: dict[tuple[str, str], ResultRow] = {}
        for row in self.rows():
            rows[row.case, row.check] = row
        return rows

    def rows(self) -> Iterator[ResultRow]:
        """Give all rows one by one, the oldest first; a later one of the same case and check supersedes it."""
        self.problems.clear()
        try:
            file = self.path.open("rb")
        except FileNotFoundError:
            return
        with file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    return
                if not line.strip():
                    continue
                try:
                    yield ResultRow.from_json(json.loads(line))
                except (ValueError, RecursionError, AttributeError) as error:
                    self.problems.append(f"{self.path.name}:{number}: {error}")

    def line_counts(self) -> Iterator[int]:
        """Give how many lines each piece of the file ends; together the rows that are there, read fast."""
        try:
            file = self.path.open("rb")
        except FileNotFoundError:
            return
        with file:
            while block := file.read(1 << 20):
                yield block.count(b"\n")

    def append(self, rows: Iterable[ResultRow]) -> None:
        """Write rows behind those that are there, and hand them to the system at once."""
        if self._file is None:
            self._cut_torn_line()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("ab")
        for row in rows:
            self._file.write(
                (json.dumps(row.to_json(), ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")
            )
        self._file.flush()

    def rewrite(self, rows: Iterable[ResultRow]) -> None:
        """Replace the file by `rows`; the old file stays whole until the new one is."""
        self.close()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self.path.with_name(self.path.name + ".tmp")
        with temporary.open("wb") as file:
            for row in rows:
                line = json.dumps(row.to_json(), ensure_ascii=False) + "\n"
                file.write(line.encode("utf-8", "backslashreplace"))
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, self.path)

    def close(self) -> None:
        """Close the file; it can be appended to again."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _cut_torn_line(self) -> None:
        try:
            with self.path.open("rb+") as file:
                size = file.seek(0, os.SEEK_END)
                position = size
                while position > 0:
                    step = min(65536, position)
                    file.seek(position - step)
                    block = file.read(step)
                    newline = block.rfind(b"\n")
                    if newline >= 0:
                        position = position - step + newline + 1
                        break
                    position -= step
                if position < size:
                    file.truncate(position)
        except FileNotFoundError:
            return


def usable(
    row: ResultRow | None, case: Case, check: CheckSettings, model_version: str | None, source: str = ""
) -> bool:
    """Tell whether a stored row answers the present question, so that nothing is asked twice.

    `model_version` is the version that would answer now, `None` where only an answer can tell; `source` is
    the model that would be asked, empty where it does not matter.
    """
    return row is not None and stale_reason(row, case, check, model_version, source) is None


def stale_reason(
    row: ResultRow, case: Case, check: CheckSettings, model_version: str | None, source: str = ""
) -> str | None:
    """Return why a stored row does not answer the present question, `None` where it does."""
    if row.asked != asked_hash(case, check):
        return REWORDED
    if not row.settled:
        return FAILED
    if check.rule is not None:
        return None
    if source and row.source and row.source != source:
        return OTHER_MODEL
    # A blank text has no version: no model was asked.
    unasked = row.model is None and row.probability is None
    if model_version is not None and row.model != model_version and not unasked:
        return OTHER_VERSION
    return None


def applied(row: ResultRow, case: Case, settings: GuardrailSettings, check: CheckSettings) -> ResultRow:
    """Return a stored row under the present threshold and label."""
    return row.under(settings.threshold_of(check), case.labels.get(check.name))
