"""Reads from a check's wording what a "yes" and what a "no" looks like, as far as sentence vectors can use it.

A sentence vector hardly sees a negation: "about something other than cooking" lies close to texts about
cooking. So what a description excludes is taken out of it and put where it belongs, and a description of "no"
that only says what is missing ("contains no password") is left out, because it names the subject of "yes".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from workbench.engine.decisions.questions import YesNoQuestion

_SEPARATOR = re.compile(r"([,;:]\s*|\s+(?:such as|for example|n?or)\s+)", re.IGNORECASE)
_LEADING = re.compile(r"^(?:or|and|such as|for example)\s+", re.IGNORECASE)
_TRAILING = re.compile(r"\s+(?:with|and|but|that|is|are|to|about|or)$", re.IGNORECASE)
_EXCLUSION = re.compile(
    r"\b(?:other than|anything but|nothing to do with|unrelated to|not related to|not about|off[ -]topic (?:for|in)|"
    r"(?:something|anything|topics?|subjects?|matters?|questions?) outside(?: of)?|except(?: for)?)\s+",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\b(?:not(?! only\b| just\b)|no|never|nothing|none|nobody|without|cannot|\w+n['’]t)\b\s*", re.IGNORECASE
)
_ASKING = re.compile(
    r"^(?:is|are|does|do|did|has|have|can|will|would|should)\s+(?:(?:the|this|that|a|an)\s+)?"
    r"(?:text|message|user|customer|reply|document|writer|response|answer|question|mail|person|someone|"
    r"there|this|it|he|she|they)?\s*",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_][\w'’-]*")
_SAYS_NOTHING = re.compile(
    r"(?:an?|the|this|that|it|there|i|we|you|he|she|they|is|are|be|do|does|did|has|have|contains?|makes?|asks?|"
    r"about|with|of|in|to|from|and|or|but|something|anything|someone|else|one|text|message|user|writer|reply|"
    r"document|question|request)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sides:
    """What to compare a text with.

    `yes` describes a "yes" as a whole and `parts` are the things that it lists, one each; both are empty where
    the wording only says what a "yes" is not. `no` describes a "no", or is empty.
    """

    yes: str
    parts: tuple[str, ...]
    no: str


@lru_cache(maxsize=1024)
def sides(question: YesNoQuestion) -> Sides:
    """Return what the wording of a check says about both sides; without `yes_means` the question stands in."""
    text = question.yes_means or _ASKING.sub("", question.text.rstrip("?？ ")) or question.text
    kept, excluded = _cut(text, _EXCLUSION)
    if not kept and not excluded:
        kept = [text]
    no_kept: list[str] = []
    no_text = question.no_means or ""
    if no_text:
        no_kept, no_taken = _cut(no_text, _EXCLUSION, _NEGATION)
        if not no_taken:
            no_kept = [no_text]
    yes = ", ".join(kept) if excluded else text
    return Sides(yes, tuple(kept), ", ".join([*no_kept, *excluded]))


def _cut(text: str, *signs: re.Pattern[str]) -> tuple[list[str], list[str]]:
    """Return the things that `text` lists, and those that it excludes: what follows one of the `signs`."""
    kept: list[str] = []
    excluded: list[str] = []
    out = False
    separator = ""
    # `split` gives the separators too: thing, separator, thing, ...
    for i, found in enumerate(_SEPARATOR.split(text)):
        if i % 2:
            separator = found.strip().lower()
            continue
        piece = _LEADING.sub("", found.strip())
        sign = min((m for one in signs if (m := one.search(piece))), key=lambda m: m.start(), default=None)
        if sign is not None:
            before, piece = _TRAILING.sub("", piece[: sign.start()].strip()), piece[sign.end() :].strip()
            if _says_something(before):
                kept.append(before)
        # "no password or key" excludes both.
        out = sign is not None or (out and separator in ("or", "nor"))
        if _WORD.search(piece):
            (excluded if out else kept).append(piece)
    return kept, excluded


def _says_something(text: str) -> bool:
    return any(not _SAYS_NOTHING.fullmatch(word) for word in _WORD.findall(text))
