"""`translate` says what it cost where prices are stated, keeps a budget of money, and takes the environment's model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cli.conftest import Run
from tests.engine.decisions.servers import running

GOOD = {
    "category": "defect",
    "urgency": "high",
    "summary": "The tent pole broke",
    "order_number": "FH-20418",
    "wanted_by": "2027-05-07",
}
PRICES = 'input_price = 0.4\noutput_price = 1.6\ncurrency = "EUR"\n'


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with running("llmock", "serve") as url:
        yield url


@pytest.fixture
def project(server: str, triage: Path) -> Path:
    """Return a project with a chat model whose first reply breaks the schema and whose second does not."""
    replies = [{"type": "reply", "text": text} for text in ('{"category": "?"}', json.dumps(GOOD))]
    _ask(server, "reset", None)
    _ask(server, "scenario", {"behaviors": replies})
    return triage


def _ask(server: str, path: str, body: Any) -> None:
    reply = httpx.post(f"{server}/_llmock/{path}", json=body, trust_env=False)
    reply.raise_for_status()


def add(project: Path, server: str, rows: str = PRICES, more: str = "") -> None:
    file = project / "workbench.toml"
    text = file.read_text("utf-8")
    model = f'\n[models.priced]\nprovider = "openai"\nbase_url = "{server}/v1"\nmodel = "m"\n{rows}{more}'
    file.write_text(text + model, "utf-8")


def test_the_cost_stands_with_each_attempt_and_in_all(run: Run, project: Path, server: str) -> None:
    add(project, server)
    document = run("translate", project, "--request", "It broke", "--model", "priced", "--json").json
    assert document["outcome"] == "ok"
    costs = [attempt["cost"] for attempt in document["attempts"]]
    usages = [attempt["usage"] for attempt in document["attempts"]]
    assert [cost["amount"] for cost in costs] == [
        pytest.approx((usage["input_tokens"] * 0.4 + usage["output_tokens"] * 1.6) / 1_000_000)
        for usage in usages
    ]
    assert document["cost"] == {
        "amount": pytest.approx(sum(cost["amount"] for cost in costs)),
        "currency": "EUR",
    }
    [stored] = run("history", project, "--json").json["runs"]
    assert run("translate", project, "--replay", stored["id"], "--json").json == document
    assert "cost of all attempts: 0.0" in run("translate", project, "--replay", stored["id"]).text


def test_without_prices_the_cost_is_null_and_not_told(run: Run, project: Path, server: str) -> None:
    add(project, server, rows="")
    outcome = run("translate", project, "--request", "It broke", "--model", "priced")
    assert "cost" not in outcome.text
    [stored] = run("history", project, "--json").json["runs"]
    document = run("translate", project, "--replay", stored["id"], "--json").json
    assert document["cost"] is None
    assert [attempt["cost"] for attempt in document["attempts"]] == [None, None]


def test_a_budget_of_money_ends_the_run(run: Run, project: Path, server: str) -> None:
    add(project, server, more="\n[translation.budget]\ncost = 0.000001\n")
    outcome = run("translate", project, "--request", "It broke", "--model", "priced")
    assert outcome.status == 1
    assert "The budget of 0.0000010 EUR for the cost is used up (0.0" in outcome.text


def test_the_model_of_the_environment_answers_once_its_address_is_accepted(
    run: Run, project: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-from-the-environment")
    monkeypatch.setenv("OPENAI_MODEL", "m")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server}/v1")
    call = ("translate", project, "--request", "It broke", "--model", "environment", "--json")
    refused = run(*call)
    assert refused.status == 2
    assert "--accept-origin" in refused.err
    assert run(*call, "--accept-origin", server).json["value"] == GOOD
    stored = b"".join(path.read_bytes() for path in (project / ".workbench").iterdir() if path.is_file())
    assert b"sk-from-the-environment" not in stored


def test_an_environment_without_a_model_is_a_wrong_call(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    outcome = run("translate", project, "--request", "It broke", "--model", "environment")
    assert outcome.status == 2
    assert "OPENAI_MODEL" in outcome.err
