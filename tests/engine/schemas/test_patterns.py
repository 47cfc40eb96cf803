"""Patterns of JSON Schema mean what ECMA-262 says."""

from __future__ import annotations

import pytest

from workbench.engine.schemas.patterns import (
    PatternError,
    PatternTimeoutError,
    check_pattern,
    pattern_budget,
    search,
)

MATCHES = [
    (r"^\d+$", "123", True),
    (r"^\d+$", "١٢٣", False),
    (r"^\w+$", "abc_1", True),
    (r"^\w+$", "é", False),
    (r"^\W$", "é", True),
    (r"^[\W]$", "é", True),
    (r"^[^\W]$", "é", False),
    (r"^[\D]$", "5", False),
    (r"^\s$", "\ufeff", True),
    (r"^\s$", "\x1c", False),
    (r"^[\S]$", "\u00a0", False),
    ("^a$", "a\n", False),
    ("^.$", "\u2028", False),
    ("^.$", "\x85", True),
    ("^.$", "😀", True),
    (r"^\u00e9$", "é", True),
    (r"^\u{1F600}$", "😀", True),
    (r"^\ud83d\ude00$", "😀", True),
    (r"^\x41\cA$", "A\x01", True),
    ("^[^]$", "\n", True),
    ("[]", "a", False),
    ("^[[a]$", "[", True),
    ("^[&&--||~~]+$", "&-|~", True),
    (r"^[\b]$", "\b", True),
    (r"\bcat\b", "a cat", True),
    (r"\bcat\b", "écaté", True),
    (r"^(?<y>\d)-\k<y>$", "1-1", True),
    (r"^(?<y$>\d)-\k<y$>$", "1-2", False),
    (r"^(a)\1$", "aa", True),
    (r"^(?=a)(?!b)a(?<=a)(?<!b)$", "a", True),
    (r"^\p{Lu}\P{Lu}$", "Éa", True),
    (r"^\p{Script=Greek}$", "α", True),
    (r"^\/\-\.$", "/-.", True),
    ("^a{2,3}?$", "aaa", True),
    ("^a#b c$", "a#b c", True),
    ("b", "abc", True),
]


@pytest.mark.parametrize(("pattern", "text", "matches"), MATCHES)
def test_a_pattern_matches_as_in_ecmascript(pattern: str, text: str, matches: bool) -> None:
    assert search(pattern, text) is matches


BAD = [
    "(",
    "a)",
    "[a",
    "*a",
    "a**",
    "a++",
    "(?i)a",
    "(?>a)",
    "(?P<a>b)",
    "(?#c)",
    r"\Z",
    r"\A",
    r"a\Q",
    r"\x4",
    r"\u{110000}",
    "a\\",
    "[z-a]",
    r"\k<no>",
    "(?<1>a)",
]


@pytest.mark.parametrize("pattern", BAD)
def test_what_ecmascript_lacks_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError):
        check_pattern(pattern)


def test_searches_share_one_budget_of_time() -> None:
    with pattern_budget(0.05):
        with pytest.raises(PatternTimeoutError) as caught:
            search("^(a|aa)+$", "a" * 60 + "!")
        assert caught.value.pattern == "^(a|aa)+$"
        with pytest.raises(PatternTimeoutError):
            search("a", "a")
    assert search("a", "a")
