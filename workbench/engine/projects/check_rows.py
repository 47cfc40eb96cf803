"""Reads and writes the row of one check: a question for a model, or a rule that asks none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.engine.guardrails.settings import CheckSettings

if TYPE_CHECKING:
    from workbench.engine.guardrails.text_checks import TextCheck
    from workbench.engine.projects.settings_reader import _Table

KINDS: Mapping[str, tuple[str, ...]] = {
    "model": ("question",),
    "pattern": ("pattern",),
    "length": ("max_length", "min_length"),
    "language": ("languages",),
}
"""The keys that make a check one of a kind; a row has those of exactly one."""
REVIEW_KEY = "review_from"
"""From this probability up to the threshold a person decides, where a project leaves some texts to one."""
ORIGIN_KEYS = ("model", "question", "yes_means", "no_means", "date")

_PATTERN_OPTIONS = ("must_match", "ignore_case")
_MODEL_ONLY = ("threshold", "yes_means", "no_means")
MODEL_KEYS = ("question", "yes_means", "no_means", "threshold")
"""What only a question to a model has, in the order in which it is written."""
RULE_KEYS = (*KINDS["pattern"], *_PATTERN_OPTIONS, *KINDS["length"], *KINDS["language"])
_RULE_HINT = "or `pattern`, `max_length`, `min_length` or `languages` for a check that asks no model"


def read_check(table: _Table) -> CheckSettings:
    """Return the check of a row; a rule that cannot be used becomes one that lets nothing pass."""
    name = table.filled("name", "", needed=True)
    kinds = [kind for kind, keys in KINDS.items() if any(key in table.values for key in keys)]
    rules = [kind for kind in kinds if kind != "model"]
    if len(kinds) > 1:
        check = CheckSettings(name, rule=_several(table, kinds))
    elif rules:
        check = CheckSettings(name, rule=_rule(table, rules[0]))
    else:
        check = _model_check(table, name)
    _read_origin(table)
    if check.rule is not None:
        _idle(table, (REVIEW_KEY,), "has no effect: the check asks no model, and its answer is 0 or 1")
    else:
        table.optional_probability(REVIEW_KEY)
    table.done()
    return check


def lint_review(rows: Sequence[_Table], checks: Sequence[CheckSettings], inherited: float) -> None:
    """Warn of review bands that hold nothing, since they begin at the threshold or above it."""
    for table, check in zip(rows, checks, strict=True):
        low: Any = table.values.get(REVIEW_KEY)
        threshold = inherited if check.threshold is None else check.threshold
        if check.rule is not None or isinstance(low, bool) or not isinstance(low, int | float):
            continue
        if threshold <= low <= 1:
            message = f"`{REVIEW_KEY}` ({low:g}) is not below the threshold ({threshold:g}): nothing is left to a person"
            table.problem("warning", "no_effect", message, REVIEW_KEY, "lower it, or remove it")


def _model_check(table: _Table, name: str) -> CheckSettings:
    if "question" not in table.values:
        message = "`question` is missing"
        table.problem("error", "missing_key", message, None, f'add `question = "…"`, {_RULE_HINT}')
    _idle(table, _PATTERN_OPTIONS, "goes with `pattern` only")
    return CheckSettings(
        name=name,
        question=table.filled("question", ""),
        threshold=table.optional_probability("threshold"),
        yes_means=table.optional_filled("yes_means"),
        no_means=table.optional_filled("no_means"),
    )


def _several(table: _Table, kinds: Sequence[str]) -> TextCheck:
    """Refuse a row of several kinds; nobody can tell which of them is meant."""
    from workbench.engine.guardrails.text_checks import BrokenCheck

    keys = [key for keys in KINDS.values() for key in keys if key in table.values]
    message = (
        "a check is one of a question, a pattern, a length and languages; here: "
        f"{', '.join(f'`{key}`' for key in keys)}"
    )
    second = next(key for key in KINDS[kinds[1]] if key in table.values)
    table.problem("error", "check_kind", message, second, "make it several checks", of_key=True)
    every = (*RULE_KEYS, "question", *_MODEL_ONLY)
    values = {key: table.plain(key) for key in every if key in table.values}
    return BrokenCheck(next(kind for kind in kinds if kind != "model"), message, values)


def _rule(table: _Table, kind: str) -> TextCheck:
    from workbench.engine.guardrails.text_checks import BrokenCheck

    _idle(table, _MODEL_ONLY, "has no effect: the check asks no model, and its answer is 0 or 1")
    if kind != "pattern":
        _idle(table, _PATTERN_OPTIONS, "goes with `pattern` only")
    before = len(table.problems)
    rule = {"pattern": _pattern, "length": _length, "language": _language}[kind](table)
    errors = [found for found in table.problems[before:] if found.severity == "error"]
    if rule is None or errors:
        return BrokenCheck(kind, errors[0].message, _raw(table))
    return rule


def _idle(table: _Table, keys: tuple[str, ...], words: str) -> None:
    """Warn of keys that this kind of check does not have."""
    for key in keys:
        if key in table.values:
            table.plain(key)
            table.problem("warning", "no_effect", f"`{key}` {words}", key, "remove it", of_key=True)


def _pattern(table: _Table) -> TextCheck | None:
    from workbench.engine.guardrails.text_checks import PatternCheck

    pattern = table.text("pattern", "")
    must_match, ignore_case = table.flag("must_match", False), table.flag("ignore_case", True)
    if not isinstance(table.values["pattern"], str):
        return None
    if not pattern:
        table.problem("error", "blank", "`pattern` is empty: it would be found in every text", "pattern")
        return None
    try:
        return PatternCheck(pattern, must_match, ignore_case)
    except ValueError as error:
        table.problem("error", "bad_pattern", str(error), "pattern", "the syntax is that of Python's regex")
        return None


def _length(table: _Table) -> TextCheck | None:
    from workbench.engine.guardrails.text_checks import LengthCheck

    limits: dict[str, int | None] = {"max_length": None, "min_length": None}
    sound = True
    for key in limits:
        if key in table.values:
            found = table.number(key, -1, whole=True, low=0)
            limits[key], sound = int(found), sound and found >= 0
    if not sound:
        return None
    most, least = limits["max_length"], limits["min_length"]
    try:
        return LengthCheck(most, least)
    except ValueError as error:
        table.problem("error", "bad_value", str(error), "min_length")
        return None


def _language(table: _Table) -> TextCheck | None:
    from workbench.engine.guardrails.text_checks import LANGUAGES, LanguageCheck

    before = len(table.problems)
    codes = table.texts("languages")
    if len(table.problems) > before:
        return None
    if not codes:
        table.problem("error", "bad_value", "`languages` names no language", "languages")
        return None
    unknown = [code for code in codes if code not in LANGUAGES]
    for code in unknown:
        table.problem(
            "error",
            "bad_value",
            f'the language "{code}" cannot be recognised',
            "languages",
            f"two-letter codes, of these: {', '.join(LANGUAGES)}",
        )
    return None if unknown else LanguageCheck(codes)


def _read_origin(table: _Table) -> None:
    chosen = table.table("chosen")
    for key in ORIGIN_KEYS:
        chosen.optional_text(key)
    chosen.done()


def _raw(table: _Table) -> dict[str, Any]:
    return {key: table.values[key] for key in RULE_KEYS if key in table.values}


def check_values(check: CheckSettings) -> dict[str, Any]:
    """Return the row of a check, `None` for each key that it has not.

    Keys without effect beside a rule are not among them: an edit leaves them, and their warning, as they are.
    """
    values: dict[str, Any] = {"name": check.name}
    if check.rule is None:
        values |= {key: getattr(check, key) for key in MODEL_KEYS}
        return {**values, **dict.fromkeys(RULE_KEYS)}
    return {**values, **dict.fromkeys(RULE_KEYS), **rule_values(check.rule)}


def rule_values(rule: TextCheck) -> dict[str, Any]:
    """Return the keys of a rule as a project has them; what is as by default is left out.

    Raises:
        ValueError: where no project can say such a rule.
    """
    from workbench.engine.guardrails.text_checks import BrokenCheck, LanguageCheck, LengthCheck, PatternCheck

    if isinstance(rule, PatternCheck):
        options = {"must_match": rule.must_match or None, "ignore_case": None if rule.ignore_case else False}
        return {"pattern": rule.pattern, **_stated(options)}
    if isinstance(rule, LengthCheck):
        return _stated({"max_length": rule.most, "min_length": rule.least})
    if isinstance(rule, LanguageCheck):
        return {"languages": list(rule.allowed)}
    if isinstance(rule, BrokenCheck):
        return dict(rule.values)
    raise ValueError(f"a project cannot say a check of the kind {rule.kind!r}")


def _stated(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}
