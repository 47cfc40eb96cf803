"""The hash of a question stays what older files hold, and the lines of a file are counted without reading them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from workbench.engine.evaluation.cases import Case
from workbench.engine.evaluation.rows import ResultRow, ResultsFile, asked_hash
from workbench.engine.guardrails.settings import CheckSettings


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain",
        'quoted "words" \\ and\n\ttabs',
        "Überraschung – 東京 😀",
        "\ud800 alone",
        "\x00\x1f\x7f\u2028",
    ],
    ids=["empty", "plain", "escapes", "beyond-ascii", "lone-surrogate", "control"],
)
@pytest.mark.parametrize("user_message", [None, "", "Who?"])
def test_the_hash_is_that_of_the_json_text_of_the_question(text: str, user_message: str | None) -> None:
    case = Case("c", text, stage="output", user_message=user_message)
    check = CheckSettings("n", f"Is it {text}?", yes_means=text or None)
    parts = ["output", text, user_message, check.question, check.yes_means, check.no_means]
    expected = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
    assert asked_hash(case, check) == expected


def test_the_lines_are_counted_in_pieces_and_a_torn_last_one_is_not(tmp_path: Path) -> None:
    file = ResultsFile(tmp_path / "rows.jsonl")
    assert list(file.line_counts()) == []
    row = ResultRow("c", "n", 0.5, "rejected", None, 0.5, "v" * 300, 1.0)
    file.append(row for _ in range(4000))
    file.close()
    with file.path.open("ab") as torn:
        torn.write(b'{"case": "c')
    counts = list(file.line_counts())
    assert len(counts) > 1
    assert sum(counts) == len(list(file.rows())) == 4000
