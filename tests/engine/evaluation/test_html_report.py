"""The HTML report stands alone: its figures and pictures inside, nothing fetched, nothing unescaped."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest

from workbench.engine.evaluation import Evaluation, ResultRow
from workbench.engine.evaluation.html_report import html_report
from workbench.engine.evaluation.metrics import cost_curve
from workbench.engine.guardrails import CheckSettings, GuardrailSettings

NAME = 'a<script>alert("x")</script>'
SETTINGS = GuardrailSettings(0.5, (CheckSettings(NAME, "A?"), CheckSettings("empty", "E?")))


class Balanced(HTMLParser):
    """Fails on a tag that is closed out of order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.counts: dict[str, int] = {}

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.counts[tag] = self.counts.get(tag, 0) + 1
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.counts[tag] = self.counts.get(tag, 0) + 1

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def document(rows: int = 40, miss_cost: float | None = None) -> str:
    evaluation = Evaluation(SETTINGS)
    for i in range(rows):
        p = i / rows
        evaluation.add(
            ResultRow(
                f"c{i}",
                NAME,
                p,
                "rejected" if p >= 0.5 else "passed",
                i % 3 != 0 and i > 10,
                0.5,
                "v<1>",
                1.0,
            )
        )
    targets = {} if miss_cost is None else {"cost": miss_cost}
    report = evaluation.report(targets=targets)
    return html_report(report, evaluation.rows, title="My <report>", when="today")


def test_the_document_is_well_formed_and_fetches_nothing() -> None:
    text = document()
    parser = Balanced()
    parser.feed(text)
    assert parser.open == []
    assert not re.search(r"(?:src|href)=|url\(|@import|https?:", text)
    assert "script" not in parser.counts
    assert parser.counts["svg"] == 6


def test_it_shows_the_same_figures_as_the_report() -> None:
    evaluation = Evaluation(SETTINGS)
    evaluation.add(ResultRow("1", NAME, 0.9, "rejected", True, 0.5, "v1", 1.0))
    evaluation.add(ResultRow("2", NAME, 0.2, "passed", False, 0.5, "v1", 1.0))
    text = html_report(evaluation.report(), evaluation.rows)
    assert "1 caught, 0 missed, 0 false alarms, 1 let through rightly" in text
    assert "not enough cases" in text


def test_the_cost_curve_has_the_least_cost_where_it_is_for_the_price_of_a_miss() -> None:
    p = [i / 40 for i in range(40)]
    y = [i % 3 != 0 and i > 10 for i in range(40)]
    for miss_cost, words in ((None, "2 false alarms"), (1.0, "1 false alarm"), (7.5, "7.5 false alarms")):
        text = document(miss_cost=miss_cost)
        best = cost_curve(p, y, 1.0, miss_cost or 2.0)
        assert best is not None
        low, high = best.best
        assert f"<figcaption>Cost, a miss like {words}</figcaption>" in text
        assert f"least {best.least:g} at {low:.3f}–{high:.3f}" in text


def test_the_cost_is_a_step_that_ends_with_the_cost_of_flagging_nothing() -> None:
    evaluation = Evaluation(SETTINGS)
    evaluation.add(ResultRow("1", NAME, 0.75, "rejected", True, 0.5, "v1", 1.0))
    evaluation.add(ResultRow("2", NAME, 0.25, "passed", False, 0.5, "v1", 1.0))
    text = html_report(evaluation.report(), evaluation.rows)
    figure = text[text.index("<figcaption>Cost") :]
    drawn = re.search(r'<path d="(M[^"]*L[^"]*)" fill="none" stroke="var\(--no\)"', figure)
    assert drawn is not None
    points = [tuple(map(float, each[1:].split(","))) for each in drawn[1].split()]
    # To 0.25 one false alarm, to 0.75 nothing, from there one miss, which is worth two.
    assert points == [(30, 120), (75, 120), (75, 210), (165, 210), (165, 30), (210, 30)]


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_few_or_no_cases_make_a_report_too(rows: int) -> None:
    parser = Balanced()
    parser.feed(document(rows))
    assert parser.open == []
