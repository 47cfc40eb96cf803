"""Reads the probability of "yes" out of a chat model's token probabilities: arithmetic only, nothing is sent."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.engine.decisions.questions import Answer, BadAnswer, NoAnswer, YesNoAnswer, clamp
from workbench.engine.decisions.wire import MIN_MASS, shown

YES_WORDS = frozenset({"yes"})
NO_WORDS = frozenset({"no"})

_NEVER = -9000.0
"""Log probabilities at or below this are a server's way to write "impossible", not numbers."""
_LEAST = -1e300
"""Where even smaller numbers are moved to; integers may be too large for a float."""
_POSITIVE_SLACK = 1e-6
_SUM_SLACK = 1.001
_STRIPPED = (
    " \t\r\n\v\f\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\"'`*.:,;!()[]“”‘’Ġ▁Ċ"
)


@dataclass(frozen=True, slots=True)
class TokenOption:
    """One token that the model might have written at a position, with its log probability.

    `keys` name the token in falling order of trust: its number, its bytes, its text, as far as a server told.
    """

    keys: tuple[tuple[str, object], ...]
    text: str | None
    logprob: float

    def is_same(self, other: TokenOption) -> bool:
        """Tell whether both are one token, by the most trusted key that both have.

        A server may give a number or bytes for the chosen token only.
        """
        theirs = dict(other.keys)
        for kind, key in self.keys:
            if kind in theirs:
                return theirs[kind] == key
        return False

    @property
    def probability(self) -> float:
        """The probability, 0 for what the server calls impossible."""
        return 0.0 if self.logprob <= _NEVER else math.exp(min(self.logprob, 0.0))


@dataclass(frozen=True, slots=True)
class Position:
    """One token that the model wrote (`chosen`) and all options listed there, the chosen one among them."""

    chosen: TokenOption
    options: tuple[TokenOption, ...]


class BadLogprobs(ValueError):  # noqa: N818 - says what the data is
    """The token probabilities are absent or are not of a form that can be read; the text says how."""


def positions_of(choice: Mapping[str, Any], reply: Mapping[str, Any] | None = None) -> list[Position]:
    """Return the positions in a choice of a chat completion, or in a native Ollama reply.

    Raises:
        BadLogprobs: where there are none, or a value is no log probability.
    """
    logprobs = choice.get("logprobs")
    if isinstance(logprobs, dict):
        if "token_logprobs" in logprobs:
            return _legacy(logprobs)
        content = logprobs.get("content")
    else:
        content = logprobs if isinstance(logprobs, list) else (reply or {}).get("logprobs")
    if not isinstance(content, list) or not content:
        raise BadLogprobs("the server returned no token probabilities (logprobs)")
    return [_position(entry) for entry in content]


def _position(entry: Any) -> Position:
    if not isinstance(entry, dict):
        raise BadLogprobs("the token probabilities are not of a form that is known")
    chosen = _option(entry)
    listed: dict[object, TokenOption] = {}
    alternatives = entry.get("top_logprobs")
    for alternative in alternatives if isinstance(alternatives, list) else []:
        if not isinstance(alternative, dict):
            raise BadLogprobs("the token probabilities are not of a form that is known")
        option = _option(alternative)
        listed.setdefault(option.keys[:1], option)
    # The chosen token need not be the likeliest, nor be listed; it must not count twice either.
    others = [option for option in listed.values() if not option.is_same(chosen)]
    if len(others) == len(listed):
        # Some servers drop its leading space in the list; that its number is the very same gives it away.
        word = normal_form(chosen.text)
        twin = next((o for o in others if o.logprob == chosen.logprob and normal_form(o.text) == word), None)
        others = [option for option in others if option is not twin]
    return Position(chosen, (chosen, *others))


def _option(entry: Mapping[str, Any]) -> TokenOption:
    logprob = entry.get("logprob")
    if isinstance(logprob, bool) or not isinstance(logprob, (int, float)) or logprob != logprob:
        raise BadLogprobs(f"a token probability is {shown(logprob)}, not a number")
    if logprob > _POSITIVE_SLACK:
        raise BadLogprobs(f"a token has the log probability {shown(logprob)}, which is above 0")
    logprob = max(logprob, _LEAST)
    token, raw = entry.get("token"), entry.get("bytes")
    text: str | None = token if isinstance(token, str) else None
    keys: list[tuple[str, object]] = [] if text is None else [("token", text)]
    if isinstance(raw, list) and raw:
        try:
            data = bytes(raw)
            keys.insert(0, ("bytes", data))
            text = data.decode("utf-8")
        except (ValueError, TypeError):
            # Part of a character, or no bytes at all: such a token is no answer.
            text = None
    if isinstance(entry.get("id"), int):
        keys.insert(0, ("id", entry["id"]))
    return TokenOption(tuple(keys), text, float(logprob))


def _legacy(logprobs: Mapping[str, Any]) -> list[Position]:
    """Read the form of the old completions: lists of tokens, of numbers and of maps side by side."""
    tokens, numbers = logprobs.get("tokens"), logprobs.get("token_logprobs")
    tops = logprobs.get("top_logprobs")
    if (
        not isinstance(tokens, list)
        or not isinstance(numbers, list)
        or len(tokens) != len(numbers)
        or not tokens
    ):
        raise BadLogprobs("the token probabilities have the form of the old completions, with parts missing")
    positions = []
    for i, (token, number) in enumerate(zip(tokens, numbers, strict=True)):
        top = tops[i] if isinstance(tops, list) and i < len(tops) else None
        alternatives = [{"token": t, "logprob": n} for t, n in top.items()] if isinstance(top, dict) else []
        positions.append(_position({"token": token, "logprob": number, "top_logprobs": alternatives}))
    return positions


def normal_form(text: str | None) -> str | None:
    """Return a token as a bare lower-case word; `None` for one that is no text."""
    return None if text is None else text.strip(_STRIPPED).casefold()


def yes_probability(
    positions: Sequence[Position],
    *,
    yes: Iterable[str] = YES_WORDS,
    no: Iterable[str] = NO_WORDS,
    min_mass: float = MIN_MASS,
) -> Answer:
    """Return P(yes) at the first position where the model wrote something, with its bounds and its mass.

    Only whole words count: "Not", "None" or "Yesterday" are no answers. White space before the answer adds
    the yes and no that might have stood there, weighted by the probability of the way taken. What was not
    listed may belong to either side, which gives the bounds; where only one side was listed, the bound
    nearer to the other side is the probability, never a hard 0 or 1. Mass below `min_mass` is no answer.
    """
    yes_words = {word.casefold() for word in yes}
    no_words = {word.casefold() for word in no}
    sum_yes = sum_no = 0.0
    rest = 0.0
    path = 1.0
    for position in positions:
        listed = sum(option.probability for option in position.options)
        if listed > _SUM_SLACK:
            return BadAnswer(f"the token probabilities add up to {listed:.3f}, which is above 1")
        words = [(normal_form(option.text), option.probability) for option in position.options]
        sum_yes += path * sum(p for word, p in words if word in yes_words)
        sum_no += path * sum(p for word, p in words if word in no_words)
        rest += path * max(0.0, 1.0 - listed)
        if normal_form(position.chosen.text) != "":
            return _answer(sum_yes, sum_no, rest, min_mass)
        path *= position.chosen.probability
    return NoAnswer("the model wrote nothing but white space")


def _answer(sum_yes: float, sum_no: float, rest: float, min_mass: float) -> Answer:
    mass = clamp(sum_yes + sum_no)
    if mass <= 0 or mass < min_mass:
        return NoAnswer(
            f"the model answered neither with yes nor with no: their mass is {mass:.2f}, "
            f"at least {min_mass:.2f} is needed"
        )
    total = sum_yes + sum_no
    lower, upper = sum_yes / (total + rest), (sum_yes + rest) / (total + rest)
    if sum_no == 0:
        p = lower
    elif sum_yes == 0:
        p = upper
    else:
        p = sum_yes / total
    return YesNoAnswer(clamp(p), clamp(lower), clamp(upper), mass)
