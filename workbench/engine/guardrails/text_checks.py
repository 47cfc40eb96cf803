"""Checks that ask no model: patterns, lengths and languages, with probability 0 or 1.

They stand in the same list as the checks of a decision model, but their results carry another `kind`, so
that nobody takes their 0 or 1 for a judgement. As everywhere, a blank text passes before any check sees it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from workbench.engine.decisions import Answer, BadAnswer, YesNoAnswer
from workbench.engine.patterns import compile_pattern
from workbench.engine.text import grouped, shorten

PATTERN_TIMEOUT = 0.25
"""Seconds that one pattern may take on one text; then the check is an error, and the text does not pass."""


class TextCheck(Protocol):
    """A check on the text alone."""

    @property
    def kind(self) -> str:
        """One word that tells it from a model's check."""

    @property
    def description(self) -> str:
        """What is checked, in the place where a model's check has its question."""

    def answer(self, text: str) -> Answer:
        """Return 1 for "yes, reject" or 0, or say why it cannot be told."""


@dataclass(frozen=True, slots=True)
class PatternCheck:
    """Rejects a text in which a regular expression is found (or, with `must_match`, is not found).

    Raises:
        ValueError: where the pattern is no regular expression.
    """

    pattern: str
    must_match: bool = False
    ignore_case: bool = True
    kind: str = field(default="pattern", init=False)

    def __post_init__(self) -> None:
        self._compiled()

    def _compiled(self) -> Any:
        import regex

        try:
            return compile_pattern(self.pattern, regex.IGNORECASE if self.ignore_case else 0)
        except regex.error as error:
            # Without repr, which would double every backslash.
            raise ValueError(
                f"the pattern “{shorten(self.pattern)}” is no regular expression: {error}"
            ) from error

    @property
    def description(self) -> str:
        """What is checked, in words."""
        words = f"the text {'lacks' if self.must_match else 'contains'} the pattern {self.pattern}"
        return words if self.ignore_case else f"{words} in exactly this case"

    def answer(self, text: str) -> Answer:
        """Search the whole text, within a time limit."""
        try:
            match = self._compiled().search(text, timeout=PATTERN_TIMEOUT)
        except TimeoutError:
            return BadAnswer(f"the pattern took longer than {PATTERN_TIMEOUT:g} s on this text")
        if match is None:
            return YesNoAnswer(float(self.must_match), detail="not found")
        return YesNoAnswer(
            float(not self.must_match), detail=f"found at character {grouped(match.start() + 1)}"
        )


@dataclass(frozen=True, slots=True)
class LengthCheck:
    """Rejects a text with more than `most` or fewer than `least` characters (code points).

    Raises:
        ValueError: where no limit is given or the limits contradict each other.
    """

    most: int | None = None
    least: int | None = None
    kind: str = field(default="length", init=False)

    def __post_init__(self) -> None:
        if self.most is None and self.least is None:
            raise ValueError("a length check needs a limit: most, least or both")
        if min(self.most or 0, self.least or 0) < 0:
            raise ValueError("a limit of a length check cannot be below 0")
        if self.most is not None and self.least is not None and self.least > self.most:
            raise ValueError(
                f"the limits of a length check contradict each other: at least {self.least} and at most"
                f" {self.most} characters"
            )

    @property
    def description(self) -> str:
        """What is checked, in words."""
        limits = []
        if self.most is not None:
            limits.append(f"more than {grouped(self.most)} characters")
        if self.least is not None:
            limits.append(f"fewer than {grouped(self.least)} characters")
        return "the text has " + " or ".join(limits)

    def answer(self, text: str) -> Answer:
        """Count the characters."""
        length = len(text)
        outside = (self.most is not None and length > self.most) or (self.least or 0) > length
        return YesNoAnswer(float(outside), detail=f"{grouped(length)} characters")


_WORDS = {
    "en": "the and of to in is you that it for was on are with this have from not what can my your please",
    "de": "der die das und ist nicht ein eine ich sie wir mit für auf den von zu haben bitte können im dem",
    "fr": "le la les et est une des je vous nous pas pour dans que qui avec sur ce mon votre au du",
    "es": "el los las y es una por con para que no se mi su del está como pero más usted al un",
    "it": "il lo gli e è una per con che non si mio della di sono come ma più nel questo vorrei",
    "pt": "o os as e é uma por com para que não se meu da do em como mas mais está você um",
    "nl": "de het een en is niet ik van dat met voor op zijn te aan wij naar mijn kunt heb",
}
_COMMON = {code: frozenset(words.split()) for code, words in _WORDS.items()}
_SCRIPTS: tuple[tuple[str, str], ...] = (
    ("ja", r"[\u3040-\u30ff]"),
    ("ko", r"[\uac00-\ud7af]"),
    ("zh", r"[\u4e00-\u9fff]"),
    ("ru", r"[\u0400-\u04ff]"),
    ("ar", r"[\u0600-\u06ff]"),
    ("he", r"[\u0590-\u05ff]"),
    ("el", r"[\u0370-\u03ff]"),
    ("hi", r"[\u0900-\u097f]"),
    ("th", r"[\u0e00-\u0e7f]"),
)
_WORD = re.compile(r"[^\W\d_]+")


LANGUAGES: Mapping[str, str] = {
    "ar": "Arabic",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "fr": "French",
    "he": "Hebrew",
    "hi": "Hindi",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "nl": "Dutch",
    "pt": "Portuguese",
    "ru": "Russian",
    "th": "Thai",
    "zh": "Chinese",
}
"""The languages that can be recognised: two-letter code and English name."""


def guess_language(text: str) -> str | None:
    """Return the likeliest language as a two-letter code, `None` where the text does not tell.

    Scripts decide first, then the commonest words of seven languages. Good enough to notice that a text is
    in another language than expected; not a linguist.
    """
    letters = sum(character.isalpha() for character in text)
    for code, pattern in _SCRIPTS:
        # Kana decide for Japanese even among many Chinese characters.
        share = 0.1 if code == "ja" else 0.4
        if letters and len(re.findall(pattern, text)) > share * letters:
            return code
    words = _WORD.findall(text.lower())
    scores = {code: sum(word in common for word in words) for code, common in _COMMON.items()}
    best = max(scores, key=lambda code: scores[code])
    others = max(score for code, score in scores.items() if code != best)
    return best if scores[best] >= 2 and scores[best] > others else None


@dataclass(frozen=True, slots=True)
class LanguageCheck:
    """Rejects a text that is clearly in a language other than `allowed` (two-letter codes).

    Raises:
        ValueError: where no language is allowed, or one that cannot be recognised.
    """

    allowed: Sequence[str]
    kind: str = field(default="language", init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "allowed", tuple(self.allowed))
        if not self.allowed:
            raise ValueError("a language check needs at least one allowed language")
        for code in self.allowed:
            if code not in LANGUAGES:
                raise ValueError(
                    f"the language {code!r} cannot be recognised; known are {', '.join(LANGUAGES)}"
                )

    @property
    def description(self) -> str:
        """What is checked, in words."""
        return f"the text is in a language other than {', '.join(self.allowed)}"

    def answer(self, text: str) -> Answer:
        """Guess the language; a text that does not tell passes."""
        guess = guess_language(text)
        if guess is None:
            return YesNoAnswer(0.0, detail="the language cannot be told")
        return YesNoAnswer(float(guess not in self.allowed), detail=f"looks like {guess}")


@dataclass(frozen=True, slots=True)
class BrokenCheck:
    """Stands for a check whose settings cannot be used, so that its guardrail fails closed and says why.

    `problem` is what is wrong; `values` are the settings as the project has them.
    """

    kind: str
    problem: str
    values: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def description(self) -> str:
        """What is wrong, in words."""
        return f"this check cannot be used: {self.problem}"

    def answer(self, text: str) -> Answer:
        """Never tell anything of the text."""
        return BadAnswer(self.problem)
