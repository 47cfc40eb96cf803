"""The checks of one stage as rows: settings, last answer, and what the row says of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from workbench.engine.guardrails.settings import CheckSettings, GuardrailSettings
from workbench.gui.models.figures import format_margin, format_probability, is_near, joined
from workbench.gui.models.roots import ROOT

if TYPE_CHECKING:
    from workbench.engine.guardrails import CheckResult, GuardrailResult

RowState = Literal["idle", "queued", "stale", "passed", "rejected", "refused", "no_answer", "error"]

_WORDS: dict[str, str] = {
    "idle": "not run",
    "queued": "queued",
    "stale": "out of date",
    "passed": "passed",
    "rejected": "rejected",
    "refused": "refused",
    "no_answer": "no answer",
    "error": "error",
}


@dataclass(frozen=True, slots=True)
class CheckRow:
    """One check as the pane shows it.

    `threshold` is the one that counts (own or inherited), from 0 to 1. `probability` is that of the last answer,
    `None` where there was no number: no state ever turns into one. `state` is `idle` before the first run, `queued`
    while a run is under way and `stale` when the settings or the text have changed since. `lower`, `upper` and `mass` are
    bounds of the probability and the share of the model's own probability that fell on an answer, where it tells.
    `origin` says where the threshold was chosen, `origin_stale` why it no longer holds.
    """

    check: CheckSettings
    threshold: float
    own: bool
    state: RowState = "idle"
    probability: float | None = None
    detail: str = ""
    since: str = ""
    lower: float | None = None
    upper: float | None = None
    mass: float | None = None
    origin: str = ""
    origin_stale: str = ""

    @property
    def kind(self) -> str:
        """`model`, or the kind of a check that asks none and so has neither a probability nor a threshold to show."""
        return self.check.kind

    @property
    def current(self) -> bool:
        """Whether the number belongs to what is on the screen now."""
        return self.state in ("passed", "rejected")

    @property
    def failed(self) -> bool:
        """Whether this check, as it stands, rejects the text: everything that is answered but not passed does."""
        return self.state in ("rejected", "refused", "no_answer", "error")

    @property
    def number(self) -> str:
        """The probability as text, a dash where there is none, and nothing where there never is one."""
        if self.kind != "model":
            return ""
        return "–" if self.probability is None else format_probability(self.probability, self.threshold)

    @property
    def word(self) -> str:
        """The outcome in a word or two."""
        return _WORDS[self.state]

    @property
    def remark(self) -> str:
        """The second line of the outcome: the margin, what a rule found, or why there is no number."""
        if self.current and self.kind != "model":
            return self.detail
        if self.current and self.probability is not None:
            if self.uncertain:
                return f"could be {self.lower:.2f} to {self.upper:.2f}"
            return format_margin(self.probability, self.threshold)
        if self.state == "refused":
            return "no number"
        if self.state == "no_answer":
            return "no number"
        if self.state == "error":
            return _short_cause(self.detail)
        if self.state == "stale":
            return self.since
        return ""

    @property
    def uncertain(self) -> bool:
        """Whether the bounds of the probability lie on both sides of the threshold."""
        if self.lower is None or self.upper is None:
            return False
        return self.lower < self.threshold <= self.upper

    @property
    def near(self) -> bool:
        """Whether the probability is close to the threshold."""
        if self.kind != "model":
            return False
        return self.current and self.probability is not None and is_near(self.probability, self.threshold)

    def spoken(self) -> str:
        """Return the whole row as one sentence, for people who do not see it."""
        if self.kind != "model":
            words = (self.check.name, self.word, f"{self.kind} check, asks no model", self.remark)
            return ", ".join(part for part in words if part)
        threshold = f"threshold {self.threshold:.2f}, {'own' if self.own else 'default'}"
        parts = [self.check.name, self.word]
        if self.probability is not None:
            parts.append(f"probability {self.number}")
        stale = f"threshold out of date: {self.origin_stale}" if self.origin_stale else ""
        return ", ".join(part for part in (*parts, threshold, self.remark, stale) if part)

    def with_threshold(self, threshold: float, own: bool) -> CheckRow:
        """Return the row judged anew by another threshold, from the probability that is already there.

        A check that asks no model keeps its outcome.
        """
        if self.kind != "model":
            return self
        state = self.state
        if self.current and self.probability is not None:
            state = "rejected" if self.probability >= threshold else "passed"
        return replace(self, threshold=threshold, own=own, state=state)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What all checks of a stage say together. `kind` is `passed`, `rejected`, `error`, `running`, `stale` or `none`."""

    kind: Literal["passed", "rejected", "error", "running", "stale", "none"]
    headline: str
    detail: str = ""


class CheckListModel(QAbstractListModel):
    """The rows of one stage. The pane's widgets read rows from here and nowhere else."""

    RowRole = Qt.ItemDataRole.UserRole + 1
    verdict_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = GuardrailSettings()
        self._rows: list[CheckRow] = []
        self._result: GuardrailResult | None = None
        self._run_error = ""

    @property
    def settings(self) -> GuardrailSettings:
        """The guardrail's settings that the rows stand for."""
        return self._settings

    @property
    def result(self) -> GuardrailResult | None:
        """The last result, with the thresholds of the settings."""
        return self._result

    def rows(self) -> list[CheckRow]:
        """Return the rows in the order of the checks."""
        return list(self._rows)

    def row(self, index: int) -> CheckRow:
        """Return one row."""
        return self._rows[index]

    # Qt's side

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def data(
        self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        if role == self.RowRole:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row.check.name
        if role in (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole):
            return row.spoken()
        return None

    # What changes the rows

    def reset(self) -> None:
        """Forget settings and answers: another project comes."""
        self.beginResetModel()
        self._settings, self._rows, self._result, self._run_error = GuardrailSettings(), [], None, ""
        self.endResetModel()
        self.verdict_changed.emit()

    def set_settings(self, settings: GuardrailSettings, since: str = "") -> None:
        """Show other settings, keeping answers whose check still asks the same.

        A moved threshold judges the stored probability anew; a changed question makes its answer stale, with `since`
        saying from when it is.
        """
        kept = {row.check.name: row for row in self._rows}
        names = [row.check.name for row in self._rows]
        rows = [self._carried(check, settings, kept.get(check.name), since) for check in settings.checks]
        same_shape = names == [check.name for check in settings.checks]
        if same_shape:
            self._settings, old = settings, self._rows
            self._rows = rows
            for position, (before, after) in enumerate(zip(old, rows, strict=True)):
                if before != after:
                    self._touch(position)
        else:
            self.beginResetModel()
            self._settings, self._rows = settings, rows
            self.endResetModel()
        if self._result is not None:
            self._result = self._result.with_thresholds(settings)
        self.verdict_changed.emit()

    def _carried(
        self, check: CheckSettings, settings: GuardrailSettings, old: CheckRow | None, since: str
    ) -> CheckRow:
        fresh = CheckRow(check, settings.threshold_of(check), check.threshold is not None)
        if old is None:
            return fresh
        row = replace(old.with_threshold(fresh.threshold, fresh.own), check=check)
        if old.check.wording == check.wording or old.state in ("idle", "queued"):
            return row
        if old.kind != check.kind:
            return fresh
        since = since or ("the question changed" if check.rule is None else f"the {check.kind} changed")
        return replace(row, state="stale", since=since)

    def set_result(self, result: GuardrailResult) -> None:
        """Take the answers of a finished run."""
        self._run_error = ""
        self._result = result.with_thresholds(self._settings) if result.checks else result
        answers = {answer.name: answer for answer in self._result.checks}
        for position, row in enumerate(self._rows):
            answer = answers.get(row.check.name)
            if answer is None:
                # A blank text passes without a question being asked: the row has no answer to show.
                updated = replace(
                    row,
                    state="idle",
                    probability=None,
                    detail="",
                    since="",
                    lower=None,
                    upper=None,
                    mass=None,
                )
            else:
                updated = replace(
                    row,
                    state=answer.status,
                    probability=answer.probability,
                    detail=answer.detail or "",
                    since="",
                    lower=answer.lower,
                    upper=answer.upper,
                    mass=answer.mass,
                )
            self._put(position, updated)
        self.verdict_changed.emit()

    def set_queued(self) -> None:
        """Mark every row as waiting for an answer; the last numbers stay, greyed."""
        self._run_error = ""
        for position, row in enumerate(self._rows):
            self._put(position, replace(row, state="queued"))
        self.verdict_changed.emit()

    def set_stale(self, since: str) -> None:
        """Say that the answers on the screen belong to something older, named by `since`."""
        for position, row in enumerate(self._rows):
            if row.state not in ("idle", "queued"):
                self._put(position, replace(row, state="stale", since=since))
        self.verdict_changed.emit()

    def set_failed(self, message: str, found: Sequence[CheckResult] = ()) -> None:
        """Say that the run as a whole failed: no check has an answer but those in `found`, which ask no model."""
        self._run_error = message
        self._result = None
        known = {answer.name: answer for answer in found}
        for position, row in enumerate(self._rows):
            answer = known.get(row.check.name)
            state, detail, p = "error", message, None
            if answer is not None:
                state, detail, p = answer.status, answer.detail or "", answer.probability
            row = replace(row, state=state, detail=detail, probability=p, since="")
            self._put(position, replace(row, lower=None, upper=None, mass=None))
        self.verdict_changed.emit()

    def clear_queue(self, since: str = "stopped") -> None:
        """Take rows out of the queue after a run was stopped."""
        for position, row in enumerate(self._rows):
            if row.state == "queued":
                has_value = row.probability is not None
                self._put(position, replace(row, state="stale" if has_value else "idle", since=since))
        self.verdict_changed.emit()

    def set_origins(self, origins: Mapping[str, tuple[str, str]]) -> None:
        """Say of the thresholds where they were chosen and why they are stale, by check; both may be empty."""
        for position, row in enumerate(self._rows):
            origin, stale = origins.get(row.check.name, ("", ""))
            self._put(position, replace(row, origin=origin, origin_stale=stale))

    def preview_threshold(self, position: int, threshold: float) -> None:
        """Judge one row by a threshold that is still being dragged, without touching the settings."""
        self._put(position, self._rows[position].with_threshold(threshold, own=True))
        self.verdict_changed.emit()

    def _put(self, position: int, row: CheckRow) -> None:
        if self._rows[position] != row:
            self._rows[position] = row
            self._touch(position)

    def _touch(self, position: int) -> None:
        index = self.index(position)
        self.dataChanged.emit(index, index)

    # The verdict

    def verdict(self) -> Verdict:
        """Return what the rows say together, naming every check that rejected."""
        if not self._rows:
            return Verdict("none", "No checks at this stage.", "Add one to screen texts.")
        states = [row.state for row in self._rows]
        if self._run_error:
            sure = joined([row.check.name for row in self._rows if row.state == "rejected"])
            head = "the model did not answer"
            head = f"Rejected by {sure}; {head}." if sure else f"No verdict: {head}."
            return Verdict("error", head, self._run_error)
        if "queued" in states:
            return Verdict("running", "Checking…")
        if "stale" in states:
            return Verdict("stale", "The verdict is out of date.", "Run the checks again.")
        if all(state == "idle" for state in states):
            if self._result is not None and self._result.passed:
                return Verdict("passed", "Passed.", "The text is blank, so no check was asked.")
            return Verdict("none", "Not checked yet.", "")
        return self._judged()

    def _judged(self) -> Verdict:
        rejected = [row for row in self._rows if row.state in ("rejected", "refused")]
        silent = joined([row.check.name for row in self._rows if row.state in ("no_answer", "error")])
        if rejected:
            details = []
            if any(row.state == "refused" for row in rejected):
                details.append("A refusal counts as a failed check.")
            if silent:
                details.append(f"No usable answer to {silent}.")
            names = joined([row.check.name for row in rejected])
            return Verdict("rejected", f"Rejected by {names}.", " ".join(details))
        if silent:
            return Verdict(
                "error", f"Not passed: no usable answer to {silent}.", "A missing answer never passes."
            )
        if all(row.kind != "model" for row in self._rows):
            return Verdict("passed", "Passed.", "No check found a reason to reject; no model was asked.")
        return Verdict("passed", "Passed.", "Every probability is below its threshold.")


def _short_cause(detail: str) -> str:
    """Return the first words of a cause, fit for a narrow column."""
    first = detail.strip().splitlines()[0] if detail.strip() else "no detail"
    head = first.split(": ", 1)[0] if len(first) > 22 else first
    return head if len(head) <= 22 else head[:21] + "…"
