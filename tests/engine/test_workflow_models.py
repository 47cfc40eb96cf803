"""A run may take the chat model that the environment describes, and says what is missing where it describes none."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.engine.loopback import Received, Server, serve
from workbench.engine.model_settings import ModelSettings
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.engine.secrets import OriginNotAccepted, Secrets
from workbench.engine.text import TextFile
from workbench.engine.workflows import ENVIRONMENT, WorkflowError, chat_settings, translate_project

SCHEMA = '{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}'
NAMES = ("OPENAI_API_KEY", "OPENAI_MODEL", "AZURE_OPENAI_API_KEY", "ANTHROPIC_API_KEY")


def snapshot(**models: ModelSettings) -> ProjectSnapshot:
    return ProjectSnapshot(name="p", output_schema=TextFile(SCHEMA), models=models)


async def answer(request: Received, writer: Any, server: Server, reader: Any) -> None:
    body = b'{"model": "m", "choices": [{"finish_reason": "stop", "message": {"content": "{\\"a\\": 1}"}}]}'
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    await writer.drain()


def test_a_request_is_translated_by_the_model_of_the_environment_once_its_address_is_accepted() -> None:
    async def scene() -> None:
        async with serve(answer) as server:
            env = {"OPENAI_API_KEY": "sk-env-key", "OPENAI_MODEL": "m", "OPENAI_BASE_URL": server.url + "/v1"}
            secrets = Secrets(env)
            with pytest.raises(OriginNotAccepted):
                await translate_project(snapshot(), "one", model_name=ENVIRONMENT, secrets=secrets)
            assert server.requests == []
            secrets.accept("OPENAI_API_KEY", server.url)
            result = await translate_project(snapshot(), "one", model_name=ENVIRONMENT, secrets=secrets)
            assert result.success
            assert result.data == {"a": 1}
            assert server.requests[0].headers["authorization"] == "Bearer sk-env-key"

    asyncio.run(scene())


def test_an_environment_without_a_model_is_told_with_the_variables_that_are_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(WorkflowError, match="OPENAI_MODEL"):
        chat_settings(snapshot(), ENVIRONMENT)
    with pytest.raises(WorkflowError, match="OPENAI_MODEL"):
        asyncio.run(translate_project(snapshot(), "one", model_name=ENVIRONMENT, secrets=Secrets({})))


def test_a_model_of_the_project_goes_before_the_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_MODEL", "m")
    own = ModelSettings(ENVIRONMENT, "ollama", model="llama")
    assert chat_settings(snapshot(environment=own), ENVIRONMENT) == own
    found = chat_settings(snapshot(), ENVIRONMENT)
    assert found is not None
    assert (found.provider, found.model) == ("openai", "m")
