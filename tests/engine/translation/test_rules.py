"""The data-only rules of a project as a check of the translated value."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.engine.translation import Failure, Success, check_rules, rules_check
from workbench.engine.translation.settings import Rule

VALUE = {"size": 4, "name": "Ada", "tags": ["a", "b"], "date": "2025-03-01", "ok": True, "none": None}

HOLDS = [
    ("$.size", "==", 4), ("$.size", "==", 4.0), ("size", "!=", 5), ("$.size", "<", 5), ("$.size", "<=", 4),
    ("$.size", ">", 3), ("$.size", ">=", 4), ("$.name", "in", ["Ada", "Bob"]), ("$.name", "not in", ["Bob"]),
    ("$.name", "matches", "^A"), ("$.date", ">=", "2025-01-01"), ("$.name", "exists", True),
    ("$.other", "exists", False), ("$.tags", "length", 2), ("$.tags", "length", {"min": 1, "max": 2}),
    ("$.tags[*]", "in", ["a", "b"]), ("$.other", "==", 1), ("$.none", "==", None), ("$.none", "exists", True),
    ("$.name", "length", {"max": 3}),
]  # fmt: skip
BREAKS = [
    ("$.size", "==", 5), ("$.size", "==", "4"), ("$.ok", "==", 1), ("$.size", "<", 4), ("$.name", "<", 4),
    ("$.size", ">", 4), ("$.name", "in", ["ada"]), ("$.name", "not in", ["Ada"]), ("$.name", "matches", "^B"),
    ("$.size", "matches", "4"), ("$.other", "exists", True), ("$.name", "exists", False), ("$.tags", "length", 3),
    ("$.size", "length", 1), ("$.tags[*]", "==", "a"), ("$.none", "<=", 3), ("$.tags", "length", {"min": 3}),
]  # fmt: skip


def ids(row: Any) -> str:
    return str(row).replace("$.", "")


@pytest.mark.parametrize(("path", "op", "value"), HOLDS, ids=ids)
def test_a_rule_that_holds_lets_the_value_through(path: str, op: str, value: Any) -> None:
    assert rules_check([Rule(path, op, value, "")])(VALUE) == Success(VALUE)


@pytest.mark.parametrize(("path", "op", "value"), BREAKS, ids=ids)
def test_a_rule_that_breaks_says_so(path: str, op: str, value: Any) -> None:
    result = rules_check([Rule(path, op, value, "that is wrong")])(VALUE)
    assert isinstance(result, Failure)
    assert result.code == "instance_rejected"
    assert "that is wrong" in result.message


def test_every_value_that_breaks_is_named_by_its_pointer() -> None:
    rules = [Rule("$.l[*].n", "<=", 3, ""), Rule("$.x", "exists", True, "x is needed")]
    result = rules_check(rules)({"l": [{"n": 1}, {"n": 5}, {"n": 9}]})
    assert isinstance(result, Failure)
    assert [d.pointer for d in result.diagnostics] == ["/l/1/n", "/l/2/n", ""]
    assert "5" in result.diagnostics[0].message


WRONG = [
    pytest.param(Rule("$[", "==", 1, ""), "JSONPath", id="path"),
    pytest.param(Rule("$.a", "=", 1, ""), "operator", id="operator"),
    pytest.param(Rule("$.a", "<", [1], ""), "compares", id="ordering"),
    pytest.param(Rule("$.a", "in", "abc", ""), "list", id="in"),
    pytest.param(Rule("$.a", "matches", "(", ""), "pattern", id="pattern"),
    pytest.param(Rule("$.a", "matches", 3, ""), "pattern", id="pattern type"),
    pytest.param(Rule("$.a", "length", "3", ""), "length", id="length"),
    pytest.param(Rule("$.a", "length", {"most": 3}, ""), "length", id="length keys"),
    pytest.param(Rule("$.a", "exists", "yes", ""), "exists", id="exists"),
]


@pytest.mark.parametrize(("rule", "word"), WRONG)
def test_a_wrong_rule_is_refused_before_anything_runs(rule: Rule, word: str) -> None:
    (problem,) = check_rules([rule])
    assert word in problem.message
    with pytest.raises(ValueError, match=word):
        rules_check([rule])


def test_a_pattern_that_runs_wild_is_given_up() -> None:
    result = rules_check([Rule("$", "matches", "^(a+)+$", "")])("a" * 40 + "!")
    assert isinstance(result, Failure)
