"""Where in the judged text the part lies by which a check decided, for models that judge long texts in parts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.engine.text import shorten

if TYPE_CHECKING:
    from workbench.engine.guardrails import GuardrailResult
    from workbench.engine.guardrails.settings import Stage

_QUOTED = 160


@dataclass(slots=True)
class StrongestParts:
    """Remembers for each stage which text its last result judged; `None` where nobody said."""

    _texts: dict[Stage, str | None] = field(default_factory=dict)

    def judged(self, stage: Stage, text: str | None) -> None:
        """Take the text that the last result of a stage belongs to."""
        self._texts[stage] = text

    def span(
        self, stage: Stage, result: GuardrailResult | None, name: str, shown: str
    ) -> tuple[int, int] | None:
        """Return where in the text `shown` the part lies that decided the check `name`; half-open, from 0.

        `None` where the check was decided by the whole text, or by another text than the one that is shown.
        """
        found = _span(result, name)
        return found if found is not None and self._texts.get(stage) == shown else None

    def words(self, stage: Stage, result: GuardrailResult | None, name: str) -> str:
        """Return a sentence that tells and quotes the part that decided a check, nothing where there is none."""
        found = _span(result, name)
        if found is None:
            return ""
        start, end = found
        place = f"The strongest part of the text, characters {start + 1} to {end}, decided"
        text = self._texts.get(stage)
        if text is None or not text[start:end].strip():
            return f"{place}."
        return f"{place}: “{shorten(text[start:end].strip(), _QUOTED)}”"


def _span(result: GuardrailResult | None, name: str) -> tuple[int, int] | None:
    checks = result.checks if result is not None else ()
    return next((each.span for each in checks if each.name == name), None)
