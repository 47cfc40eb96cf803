"""Says what of a tool's result the model never saw, so that every place that shows it agrees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.engine.json_text import dumps, parse_json


def kept_back(told: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of an execution, as `ToolExecution.to_json` gives it, that were kept from the model.

    The keys are `result` and `attributes`, each only where there is something in it. A raw result that says the
    same as the one text that was sent, as a string or as its JSON, was not kept back and is left out.
    """
    kept = {key: value for key, value in (told.get("not_sent") or {}).items() if value not in (None, {}, "")}
    if "result" in kept and _was_sent(kept["result"], (told.get("sent") or {}).get("contents")):
        del kept["result"]
    return kept


def _was_sent(result: Any, contents: Any) -> bool:
    if not isinstance(contents, list | tuple) or len(contents) != 1 or not isinstance(contents[0], Mapping):
        return False
    text = contents[0].get("text")
    if contents[0].get("type") != "text" or not isinstance(text, str):
        return False
    if isinstance(result, str):
        return result == text
    document = parse_json(text)
    # Compared as texts: in Python 1, 1.0 and true are equal, in JSON they are not.
    return document.ok and dumps(document.value) == dumps(result)
