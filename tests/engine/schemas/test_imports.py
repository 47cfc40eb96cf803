"""Checking a schema costs no second of start-up for formats that the schema does not use."""

from __future__ import annotations

import subprocess
import sys

import pytest

from workbench.engine.schemas import JsonSchema

_PROBE = """
import sys
from workbench.engine.schemas import JsonSchema
schema = JsonSchema.from_value({"properties": {"a": {"type": "string", "format": FORMAT}}})
print(len(schema.check({"a": VALUE})), "rfc3987_syntax" in sys.modules, sys.modules.get("rfc3987_syntax", 0) is None)
"""


@pytest.mark.parametrize(
    ("format_name", "value", "expected"),
    [
        ("date", "nope", "1 False False"),
        ("uri", "not a uri", "1 False False"),
        ("iri", "not an iri", "1 True False"),
        ("iri", "https://grün.example/weg", "0 True False"),
        ("iri-reference", "weg#ä", "0 True False"),
    ],
)
def test_the_grammar_of_iris_is_read_only_for_an_iri(format_name: str, value: str, expected: str) -> None:
    script = _PROBE.replace("FORMAT", repr(format_name)).replace("VALUE", repr(value))
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == expected


def test_a_draft_without_iris_does_not_check_them() -> None:
    schema = {"$schema": "http://json-schema.org/draft-04/schema#", "properties": {"a": {"format": "iri"}}}
    assert not [d for d in JsonSchema.from_value(schema).check({"a": "no iri"}) if d.severity == "error"]
