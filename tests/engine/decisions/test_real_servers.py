"""Other people's servers on this computer: whatever is broken in them, nothing unanswered ever passes."""

from __future__ import annotations

import asyncio
import subprocess
import time
from typing import Any

import pytest

from tests.engine.decisions.servers import program, running
from tests.engine.decisions.support import run
from workbench.engine.decisions import DecisionError, open_decision_model, probe_decision_model
from workbench.engine.guardrails import DecisionModelInputGuardrail, GuardrailResult
from workbench.engine.model_settings import ModelSettings
from workbench.engine.secrets import Secrets

NAMES = ("a", "größe 1")

# What each fault of the mock must lead to: an error of the whole run, the status of each check, or a normal
# result, where the fault concerns something that a yes/no check never meets.
SOUND = ("passed", "passed")
FAULTS: dict[str, Any] = {
    "wrong-route": "status",
    "xssi-200": "body",
    "nan": "body",
    "auth-rejects-header": "status",
    "auth-x-api-key": "status",
    "auth-plain": "status",
    "auth-invalid-403-text": "status",
    "reject-jev-latest": "status",
    "strict-ids": "status",
    "first-question-only": ("passed", "no_answer"),
    "boolean-type": ("error", "error"),
    "noul-range": ("error", "error"),
    **dict.fromkeys(
        (
            "plain-content-type",
            "text-errors",
            "models-404",
            "reject-array-state",
            "nfd-keys",
            "forbid-extra",
            "string-only-text",
            "noul-two-sided",
            "noul-needs-instructions",
            "no-null-description",
            "cap-64",
            "cap-5-levels",
            "accept-map-score",
            "no-usage",
            "float-usage",
            "extra-answer",
            "unprefixed-extra",
            "choice-no-confidence",
            "choice-key-case",
            "choice-sum",
            "choice-second",
            "score-no-legend",
            "legend-1-based",
            "score-keys-1-based",
            "score-sum",
            "score-argmax",
            "confidence-over",
            "confidence-margin",
            "500-on-unknown-type",
            "accept-boolean",
            "validation-400",
            "error-flat",
            "id-leaks",
            "batch-leaks",
            "order-leaks",
        ),
        SOUND,
    ),
}
KEYS = {"auth-x-api-key": "right", "auth-invalid-403-text": "wrong", "auth-rejects-header": "right"}
SERVER_KEYS = {"auth-x-api-key", "auth-plain", "auth-invalid-403-text"}


def check(
    url: str, *, key: str | None = None, model: str = "jev-latest", text: str = "Where is it?"
) -> GuardrailResult:
    secrets = Secrets({"PROMPT_WORKBENCH_SECRET_MOCK": key} if key else {})
    secrets.accept("mock", url)
    settings = ModelSettings(
        "decision", "system-one", url, model, "mock", {"max_retries": 0, "timeout": 20.0}
    )

    async def go() -> GuardrailResult:
        opened = open_decision_model(settings, secrets=secrets)
        try:
            builder = DecisionModelInputGuardrail.builder().decision_model(opened).threshold(1.0)
            builder.check(NAMES[0], "Is the text rude?", yes_means="insults")
            builder.check(NAMES[1], "Does it ask for a refund?", yes_means="money back", no_means="else")
            return await builder.build().validate(text)
        finally:
            await opened.aclose()

    return run(go())


def test_every_fault_of_the_mock_has_an_expectation() -> None:
    listed = subprocess.run(
        [program("jevcompat"), "mock", "--list-faults"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert {line.split()[0] for line in listed.stdout.splitlines() if line.strip()} == set(FAULTS)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_mock_never_lets_an_unanswered_check_pass(fault: str) -> None:
    expected = FAULTS[fault]
    command = ["jevcompat", "mock", "--fault", fault]
    if fault in SERVER_KEYS:
        command += ["--key", "right"]
    with running(*command) as url:
        if isinstance(expected, str):
            with pytest.raises(DecisionError) as caught:
                check(url, key=KEYS.get(fault))
            assert caught.value.kind == expected
            return
        result = check(url, key=KEYS.get(fault))
    assert tuple(c.status for c in result.checks) == expected
    for c in result.checks:
        assert (c.probability is not None) == (c.status in ("passed", "rejected"))
    assert result.passed is (expected == SOUND)


def test_a_healthy_mock_answers_with_key_version_and_usage() -> None:
    with running("jevcompat", "mock", "--key", "right") as url:
        result = check(url, key="right")
        with pytest.raises(DecisionError) as caught:
            check(url, key="wrong")
    assert result.passed
    assert result.model_version == "jevcompat-mock-0.1"
    assert result.usage is not None
    assert (result.usage.input_tokens or 0) > 0
    assert caught.value.hint == "check the secret of this model"


def test_an_unknown_model_is_a_final_error_with_the_server_s_words() -> None:
    with running("jevcompat", "mock") as url, pytest.raises(DecisionError, match="Unknown model: nothing"):
        check(url, model="nothing")


@pytest.mark.parametrize("provider", ["openai", "sglang", "chat-logprobs"])
def test_a_real_system_one_server_is_recognised_behind_wrong_settings(provider: str) -> None:
    with running("jevcompat", "mock") as url:
        report = run(probe_decision_model(ModelSettings("decision", provider, url, "jev-latest")))
    assert not report.ok
    assert report.looks_like == "system-one"


def test_sparrow_s_real_weights_answer_both_checks() -> None:
    with running("sparrow-decider", "serve") as url:
        result = check(url, model="sparrow")
        report = run(probe_decision_model(ModelSettings("d", "system-one", url + "/v1/systemone", "sparrow")))
    assert result.passed
    assert all(0 <= (c.probability if c.probability is not None else -1) <= 1 for c in result.checks)
    assert (result.model_version or "").startswith("sparrow")
    assert report.ok


def test_cancelling_reaches_a_server_that_does_not_answer_within_50_ms() -> None:
    async def go() -> float:
        async def silence(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1)
            await asyncio.sleep(30)

        server = await asyncio.start_server(silence, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        settings = ModelSettings("decision", "system-one", f"http://127.0.0.1:{port}", "m")
        model = open_decision_model(settings)
        guardrail = DecisionModelInputGuardrail.builder().decision_model(model).check("a", "Rude?").build()
        task = asyncio.ensure_future(guardrail.validate("text"))
        await asyncio.sleep(0.3)
        started = time.perf_counter()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        elapsed = time.perf_counter() - started
        await model.aclose()
        server.close()
        return elapsed

    # Three tries: the limit is that of the engine, not of a machine that is busy with other tests.
    assert min(run(go()) for _ in range(3)) < 0.05
