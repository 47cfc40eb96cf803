"""Reads files of labelled cases that are too long to be held: once to find what is wrong, then case by case."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.evaluation.cases import Case
from workbench.engine.evaluation.csv_cases import csv_header, guess_mapping, read_csv_cases
from workbench.engine.evaluation.stored_rows import key_of
from workbench.engine.text import TextFile

MOST_DIAGNOSTICS = 50
_MOST_NAMES = 500


@dataclass(slots=True)
class CaseSurvey:
    """What a file of cases holds: cases per stage, the checks that its labels name, and what is wrong.

    Of a file full of errors the first fifty are named.
    """

    stages: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def add(self, case: Case) -> None:
        """Count one case."""
        self.stages[case.stage] += 1
        for name in case.labels:
            if name in self.labels or len(self.labels) < _MOST_NAMES:
                self.labels[name] += 1

    def note(self, found: Iterable[Diagnostic]) -> None:
        """Keep diagnostics, as far as there is room."""
        for diagnostic in found:
            if len(self.diagnostics) < MOST_DIAGNOSTICS:
                self.diagnostics.append(diagnostic)


class CaseStream:
    """The cases of a JSON Lines file, read anew each time they are iterated over.

    Lines that are no case are passed over; `survey` names them.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __iter__(self) -> Iterator[Case]:
        return (case for case, _ in self._rows() if case is not None)

    def survey(self) -> CaseSurvey:
        """Read the whole file and say what is in it. Takes eight bytes a case, to find ids that occur twice.

        Raises:
            OSError: where it cannot be read.
        """
        import numpy as np

        survey = CaseSurvey()
        keys = array("Q")
        for case, found in self._rows():
            survey.note(found)
            if case is not None:
                survey.add(case)
                keys.append(key_of(case.id))
        ids = np.sort(np.frombuffer(keys, dtype=np.uint64)) if keys else np.empty(0, np.uint64)
        if repeated := int((ids[1:] == ids[:-1]).sum()):
            message = (
                f"{repeated} cases have an id that another case has too; their results cannot be told apart"
            )
            survey.note([Diagnostic("warning", "double_id", message, file=str(self.path))])
        return survey

    def _rows(self) -> Iterator[tuple[Case | None, Sequence[Diagnostic]]]:
        # Projects stand on this room, so that their reader is imported when it is needed.
        from workbench.engine.projects.case_lines import LabelSets, read_line

        file, shared = str(self.path), LabelSets()
        with self.path.open("rb") as lines:
            for number, data in enumerate(lines, 1):
                if number == 1:
                    data = data.removeprefix(b"\xef\xbb\xbf")
                try:
                    text = data.decode("utf-8")
                except UnicodeDecodeError as error:
                    column = len(data[: error.start].decode("utf-8", "replace")) + 1
                    message = f"this byte (0x{data[error.start]:02x}) is not UTF-8 text"
                    yield (
                        None,
                        [Diagnostic("error", "encoding", message, line=number, column=column, file=file)],
                    )
                    continue
                found = read_line(text, number, file, shared)
                yield found.case, found.diagnostics


def read_table(path: Path, checks: Iterable[str]) -> tuple[list[Case], CaseSurvey]:
    """Return the cases of a CSV file whose columns are named like the checks, and what is wrong with it.

    Raises:
        OSError: where it cannot be read.
        UnicodeDecodeError: where it is not UTF-8.
    """
    text = TextFile.decode(path.read_bytes()).text
    survey = CaseSurvey()
    header = csv_header(text)
    mapping = guess_mapping(header, checks)
    if mapping is None:
        known = ", ".join(header) or "none"
        message = f"no column looks like the text of a case (there are: {known})"
        hint = "name it text"
        if text.strip() and not header:
            message = "the names of the columns cannot be read: they are no row of CSV"
            hint = "a quote within a field is written twice"
        survey.note([Diagnostic("error", "csv_column", message, line=1, column=1, hint=hint, file=str(path))])
        return [], survey
    cases, found = read_csv_cases(text, mapping, file=str(path))
    survey.note(found)
    for case in cases:
        survey.add(case)
    return cases, survey
