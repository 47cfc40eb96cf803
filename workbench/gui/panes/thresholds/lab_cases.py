"""What the lab does to the labelled cases of the project; all of it can be undone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from workbench.engine.evaluation.cases import Case
from workbench.engine.guardrails.settings import Stage
from workbench.gui.models.cases import LABEL, NOTE, TEXT, USER
from workbench.gui.models.cases_columns import CaseColumns
from workbench.gui.models.cases_edit import CasesEdit
from workbench.gui.models.figures import counted
from workbench.gui.shell.session import Session


class CaseEdits:
    """The part of the lab that edits, labels, adds and deletes cases, by their positions in its columns."""

    session: Session
    columns: CaseColumns
    check_name: str
    stage: Stage

    def edit_cases(self, words: str, change: Callable[[list[Case]], object]) -> None:
        """Apply `change` to a list of all the project's cases."""
        project, before = self.session.project, self.session.snapshot().cases
        if project is None:
            return
        if project.large_cases is not None:
            self.session.status.emit(project.large_cases.words())
            return
        listed = list(before)
        change(listed)
        if tuple(listed) != before:
            step = CasesEdit.between(before, listed)
            self.session.apply("cases", words, step.do, step.undo)

    def edit_cell(self, position: int, column: int, value: Any) -> None:
        """Change text, user message, label or note of one case."""
        if column == LABEL:
            self.label([position], value)
            return
        place = self.columns.places[position]
        fields = {TEXT: "text", USER: "user_message", NOTE: "note"}
        new = None if column == USER and not value else value

        def change(cases: list[Case]) -> None:
            cases[place] = replace(cases[place], **{fields[column]: new})

        self.edit_cases(f"Edit {self.columns.cases[position].id}", change)

    def label(self, positions: Sequence[int], label: bool | None) -> None:
        """Label cases for the chosen check; `None` takes the label away."""
        if not self.check_name:
            return
        places = [self.columns.places[position] for position in positions]

        def change(cases: list[Case]) -> None:
            for place in places:
                labels = dict(cases[place].labels)
                if label is None:
                    labels.pop(self.check_name, None)
                else:
                    labels[self.check_name] = label
                cases[place] = replace(cases[place], labels=labels)

        word = {True: "yes", False: "no", None: "nothing"}[label]
        self.edit_cases(f"Label {counted(len(places), 'case')} {word}", change)

    def add_case(self, text: str = "", user_message: str | None = None) -> int:
        """Add a case of this stage at the end and return its position."""
        taken = {case.id for case in self.session.snapshot().cases}
        number = len(self.columns) + 1
        while f"c-{number:03}" in taken:
            number += 1
        case = Case(f"c-{number:03}", text, stage=self.stage, user_message=user_message)
        self.edit_cases("Add case", lambda cases: cases.append(case))
        return len(self.columns) - 1

    def add_cases(self, added: Sequence[Case], words: str) -> None:
        """Add cases at the end."""
        self.edit_cases(words, lambda cases: cases.extend(added))

    def delete(self, positions: Sequence[int]) -> None:
        """Delete cases."""
        places = sorted((self.columns.places[position] for position in positions), reverse=True)

        def change(cases: list[Case]) -> None:
            for place in places:
                del cases[place]

        self.edit_cases(f"Delete {counted(len(places), 'case')}", change)
