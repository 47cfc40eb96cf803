"""Numbers as people read them: probabilities that never lie about a threshold, margins, times and sizes."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from workbench.engine.text import grouped

NEAR = 0.05
"""A probability closer than this to its threshold is called near."""


def format_probability(probability: float, threshold: float | None = None) -> str:
    """Return `probability` with two decimals, or more where two would put it on the other side of `threshold`.

    A probability equal to the threshold fails, so `0.4996` against `0.5` must not read `0.50`.
    """
    if threshold is not None:
        fails = probability >= threshold
        for digits in range(2, 17):
            text = f"{probability:.{digits}f}"
            if (float(text) >= threshold) == fails:
                return text
        return repr(probability)
    return f"{probability:.2f}"


def format_threshold(threshold: float) -> str:
    """Return `threshold` with two decimals, or with all it has when two would change it."""
    text = f"{threshold:.2f}"
    return text if float(text) == threshold else repr(threshold)


def is_near(probability: float, threshold: float) -> bool:
    """Tell whether `probability` lies so close to `threshold` that a small change would turn the outcome."""
    return abs(probability - threshold) < NEAR


def format_margin(probability: float, threshold: float) -> str:
    """Return how far `probability` is from `threshold` in words: `0.32 above`, `near: 0.03 below`."""
    distance = abs(probability - threshold)
    if distance == 0:
        return "near: exactly at it"
    digits = 2
    while digits < 6 and float(f"{distance:.{digits}f}") == 0:
        digits += 1
    side = "above" if probability > threshold else "below"
    words = f"{distance:.{digits}f} {side}"
    return f"near: {words}" if is_near(probability, threshold) else words


def format_duration(milliseconds: float | None) -> str:
    """Return a time as `41 ms`, `3.06 s` or `1 min 10 s`; an unknown time is a dash."""
    if milliseconds is None:
        return "–"
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    if seconds < 60:
        return f"{seconds:.2f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def format_left(seconds: float) -> str:
    """Return an estimate of time as `3 s` or `1 min 10 s`; an estimate has no fractions."""
    return format_duration(math.ceil(seconds) * 1000).replace(".00", "")


def format_tokens(input_tokens: int | None, output_tokens: int | None) -> str:
    """Return `403 + 88 tokens`; a count that the model did not give is a question mark, never zero."""
    if input_tokens is None and output_tokens is None:
        return "tokens unknown"
    sides = ("?" if count is None else grouped(count) for count in (input_tokens, output_tokens))
    return f"{' + '.join(sides)} tokens"


def format_size(byte_count: int) -> str:
    """Return a size as `812 B`, `2.1 KB` or `4.2 MB`, in powers of 1024."""
    if byte_count < 1024:
        return f"{byte_count} B"
    if byte_count < 1024 * 1024:
        return f"{byte_count / 1024:.1f} KB"
    return f"{byte_count / (1024 * 1024):.1f} MB"


def format_when(moment: datetime, now: datetime) -> str:
    """Return a moment as `14:32` today, `yesterday`, `12 March` this year, else `12 March 2025`."""
    if moment.date() == now.date():
        return f"today, {moment:%H:%M}"
    if moment.date() == (now - timedelta(days=1)).date():
        return "yesterday"
    day = f"{moment.day} {moment:%B}"
    return day if moment.year == now.year else f"{day} {moment.year}"


def joined(words: list[str]) -> str:
    """Return `a`, `a and b` or `a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return `1 error` or `3 errors`."""
    return f"{grouped(number)} {one if number == 1 else many or one + 's'}"
