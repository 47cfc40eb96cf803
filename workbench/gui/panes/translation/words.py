"""Says in words how a translation stands, what arrives of its reply, and what its repairs changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbench.engine.json_text import dumps
from workbench.engine.text import shorten
from workbench.gui.models.figures import counted, format_duration, format_tokens
from workbench.gui.models.runs import status_of, word_of

if TYPE_CHECKING:
    from workbench.engine.translation import Attempt, TranslationRecord

VALID_IS_NOT_RIGHT = "Valid means that the schema holds, not that the values are right."
MOST_CHANGES = 3
LONGEST_VALUE = 32


def outcome_banner(record: TranslationRecord) -> tuple[str, str, str]:
    """Return kind, headline and detail of the banner for a translation that is over."""
    recorded = "Recorded reply, no model ran. " if any(a.recorded for a in record.attempts) else ""
    if record.outcome != "ok":
        kind = "rejected" if status_of(record.outcome) == "rejected" else "error"
        return kind, f"Not translated: {word_of(record.outcome)}.", f"{recorded}{why_failed(record)}"
    repairs = max(0, len(record.attempts) - 1)
    usage = record.usage
    tokens = format_tokens(usage.input_tokens, usage.output_tokens) if usage is not None else "tokens unknown"
    cost = f", {record.cost.words()}" if record.cost is not None else ""
    spent = f"{format_duration(record.elapsed * 1000)}, {tokens}{cost}."
    if not repairs:
        return "passed", "Valid at the first reply.", f"{recorded}{VALID_IS_NOT_RIGHT} {spent}"
    changes = record.changes(record.attempts[0].number, record.attempts[-1].number)
    parts = (repair_words(changes), f"{recorded}{VALID_IS_NOT_RIGHT}", spent)
    return "passed", f"Valid after {counted(repairs, 'repair')}.", " ".join(part for part in parts if part)


def repair_words(changes: Sequence[Any]) -> str:
    """Return the first changes of `pointer_diff` as one plain sentence; an empty text for none."""
    if not changes:
        return ""
    said = [_change(each) for each in changes[:MOST_CHANGES]]
    more = len(changes) - len(said)
    if more:
        said.append(f"{more} more")
    listed = said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"
    return f"The repair {listed}."


def _change(change: Any) -> str:
    name = change.pointer.lstrip("/") or "the whole value"
    if change.kind == "added":
        return f"added {name} {_value(change.after)}"
    if change.kind == "removed":
        return f"removed {name} {_value(change.before)}"
    return f"changed {name} from {_value(change.before)} to {_value(change.after)}"


def _value(value: Any) -> str:
    return shorten(dumps(value), LONGEST_VALUE)


def arriving_words(attempt: Attempt, value: Any) -> str:
    """Return what of a reply is there so far: how much, and the JSON in it, `value`, as far as it goes."""
    size = counted(len(attempt.reply), "character")
    if value is None:
        return f"{size} so far, no JSON yet. Stop closes the connection."
    return f"{size} so far: {shorten(dumps(value), 120)}"


def why_failed(record: TranslationRecord) -> str:
    """Return the first error of the last attempt, and how many more there are."""
    last = record.attempts[-1].diagnostics if record.attempts else ()
    errors = [each for each in last if each.severity == "error"]
    if not errors:
        return record.message.splitlines()[0] if record.message else ""
    more = f" And {counted(len(errors) - 1, 'more error')}." if len(errors) > 1 else ""
    return f"{errors[0].message}{more}"
