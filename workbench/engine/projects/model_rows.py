"""Reads the row of one model: provider, address, the name of its secret, its options and its prices."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from workbench.engine.model_options import NUMBER_OPTIONS, number_problem
from workbench.engine.model_settings import (
    CHAT_PROVIDERS,
    DECISION_PROVIDERS,
    USES,
    ModelSettings,
    serves_both,
)
from workbench.engine.prices import PRICE_OPTIONS, price_problem

if TYPE_CHECKING:
    from workbench.engine.projects.settings_reader import _Table

MODEL_OPTIONS = (
    "use",
    "path",
    "recording",
    "fitted",
    "timeout",
    "budget",
    "total_budget",
    "max_retries",
    "max_questions",
    "split",
    "concurrency",
    "headers",
    "organization",
    "project",
    "safety_identifier",
    "secret_header",
    "body",
    "extra_body",
    "temperature",
    "seed",
    "max_tokens",
    "n_ctx",
    "n_threads",
    "num_ctx",
    "think",
    "cache_prompt",
    "min_mass",
    "yes_words",
    "no_words",
    *PRICE_OPTIONS,
)
_TABLES = ("headers", "body", "extra_body")
_TEXTS = ("path", "recording", "fitted", "organization", "project", "safety_identifier", "secret_header")
_FLAGS = ("split", "think", "cache_prompt")
_AMOUNTS = ("budget", "total_budget")
_COUNTS = ("max_questions", "concurrency")
_WORDS = ("yes_words", "no_words")
_OWN_KEYS = ("provider", "base_url", "model", "secret")
# The start of a key as the big providers hand it out; a project must hold names of secrets only.
_LOOKS_SECRET = re.compile(r"(?:sk|pk|rk|key|ghp|xox[abp])[-_].{12,}|\S{40,}|Bearer\s.+")


def read_models(table: _Table) -> dict[str, ModelSettings]:
    """Return the models of `[models]`; a row that names no provider is left out."""
    models = {}
    for name in table.names():
        row = table.table(name)
        if not isinstance(table.values[name], Mapping):
            continue
        settings = _read_model(row, name)
        if settings.provider:
            models[name] = settings
    return models


def _read_model(row: _Table, name: str) -> ModelSettings:
    providers: dict[str, tuple[str, ...]] = {"decision": DECISION_PROVIDERS, "chat": CHAT_PROVIDERS}
    every = tuple(dict.fromkeys(DECISION_PROVIDERS + CHAT_PROVIDERS))
    provider = row.choice("provider", "", providers.get(name, every), needed=True)
    secret = row.optional_filled("secret")
    if secret is not None and _LOOKS_SECRET.fullmatch(secret):
        row.problem(
            "warning",
            "secret_value",
            "`secret` looks like the secret itself",
            "secret",
            "write a name here; the value belongs into the keyring or an environment variable",
        )
    settings = ModelSettings(
        name=name,
        provider=provider,
        base_url=row.optional_filled("base_url"),
        model=row.optional_filled("model"),
        secret=secret,
        options={key: row.plain(key) for key in row.values if key not in _OWN_KEYS},
    )
    _check_address(row, settings.base_url)
    _check_kinds(row)
    _check_use(row, settings)
    _check_numbers(row)
    _check_prices(row, settings)
    row.done(known=MODEL_OPTIONS)
    return settings


def _check_address(row: _Table, base_url: str | None) -> None:
    """Warn of an address that no model could be reached at; only a use of this very model is an error."""
    from workbench.engine.secrets import origin_of

    if base_url is None:
        return
    try:
        origin_of(base_url.strip())
    except ValueError as error:
        hint = "such as http://127.0.0.1:8000/v1"
        row.problem("warning", "bad_address", f"`base_url` cannot be used: {error}", "base_url", hint)


def _check_kinds(row: _Table) -> None:
    """Warn of options of another kind than the models read; whoever opens such a model is refused."""
    kinds: dict[str, tuple[tuple[str, ...], Callable[[Any], bool]]] = {
        "a table": (_TABLES, lambda value: isinstance(value, Mapping)),
        "a text in quotes": (_TEXTS, lambda value: isinstance(value, str) and bool(value.strip())),
        "true or false, without quotes": (_FLAGS, lambda value: isinstance(value, bool)),
        "a number from 0": (_AMOUNTS, _is_amount),
        "a whole number from 1": (_COUNTS, lambda value: _is_amount(value) and value >= 1 and value % 1 == 0),
        "a number from 0 to 1": (("min_mass",), lambda value: _is_amount(value) and value <= 1),
        "a text or a list of texts": (_WORDS, _are_words),
    }
    for wanted, (keys, fits) in kinds.items():
        for key in keys:
            if key in row.values and not fits(row.values[key]):
                found = row.described(key)
                row.problem("warning", "wrong_type", f"`{key}` must be {wanted}, not {found}", key)
    if isinstance(row.values.get("headers"), Mapping):
        headers = row.table("headers")
        for name, value in headers.values.items():
            if not isinstance(value, str):
                message = f"the header `{name}` must be a text in quotes, not {headers.described(name)}"
                headers.problem("warning", "wrong_type", message, name)


def _check_use(row: _Table, settings: ModelSettings) -> None:
    """Refuse a use that there is not, and warn of one that decides nothing."""
    if "use" not in row.values or not settings.provider:
        return
    if not row.choice("use", "", USES):
        return
    if not serves_both(settings.provider):
        kind = "decision models" if settings.decides else "chat models"
        message = f"`use` has no effect here: all models of {settings.provider} are {kind}"
    elif settings.name in USES:
        message = f"`use` has no effect here: the model `{settings.name}` is what its name says"
    else:
        return
    row.problem("warning", "no_effect", message, "use", "take it out")


def _is_amount(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf


def _are_words(value: Any) -> bool:
    return isinstance(value, str) or (
        isinstance(value, list) and all(isinstance(word, str) for word in value)
    )


def _check_numbers(row: _Table) -> None:
    for key in NUMBER_OPTIONS:
        if key in row.values and (wanted := number_problem(key, row.values[key])) is not None:
            row.problem("error", "bad_value", f"`{key}` must be {wanted}", key)


def _check_prices(row: _Table, settings: ModelSettings) -> None:
    stated = [key for key in PRICE_OPTIONS if key in row.values]
    for key in stated:
        wanted = price_problem(key, row.values[key])
        if wanted is not None:
            row.problem("error", "bad_value", f"`{key}` must be {wanted}", key)
    if not stated:
        return
    if not _is_paid_for(settings):
        message = "prices have no effect here: they count for chat models that are asked, not for this one"
        row.problem("warning", "no_effect", message, stated[0], "take them out")
        return
    missing = [key for key in ("input_price", "output_price") if key not in row.values]
    if missing:
        message = f"without `{missing[0]}` the cost of a call stays unknown"
        hint = "0 is a price, too; leave all prices out where they are not known"
        row.problem("warning", "half_a_price", message, stated[0], hint)


def _is_paid_for(settings: ModelSettings) -> bool:
    """Tell whether the model can be one that answers in a chat and is really asked."""
    if not settings.provider:
        return settings.name != "decision"
    return not settings.decides and settings.provider != "recorded"
