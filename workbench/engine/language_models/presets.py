"""The addresses of common servers, so that nobody has to look them up."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.engine.model_settings import ModelSettings


@dataclass(frozen=True, slots=True)
class Preset:
    """One kind of server: `provider` and `base_url` as in a project, and what to tell the user.

    `base_url` is `None` where the provider's own address is used. `needs_secret` tells whether the server
    usually wants an API key.
    """

    id: str
    title: str
    provider: str
    base_url: str | None
    help: str
    needs_secret: bool = False
    model_example: str = ""

    def settings(self, name: str, model: str | None = None, secret: str | None = None) -> ModelSettings:
        """Return the settings of a model of this kind."""
        return ModelSettings(name, self.provider, self.base_url, model, secret)


_PRESETS = (
    Preset(
        "local",
        "SmolLM2 on this computer",
        "local",
        None,
        "Built in when the extra `local` is installed; demo quality.",
    ),
    Preset(
        "gguf",
        "A GGUF file on this computer",
        "gguf",
        None,
        "Runs any chat model in GGUF form without a server; `path` is its file.",
    ),
    Preset(
        "ollama",
        "Ollama",
        "ollama",
        "http://localhost:11434",
        "Start it with `ollama serve` and fetch a model with `ollama pull`.",
        model_example="llama3.2",
    ),
    Preset(
        "lm-studio",
        "LM Studio",
        "openai",
        "http://localhost:1234/v1",
        "Start the server on the Developer page; the model is the one that is loaded.",
    ),
    Preset(
        "llama-cpp",
        "llama.cpp server",
        "openai",
        "http://localhost:8080/v1",
        "Start it with `llama-server -m MODEL.gguf`; it serves the one model that it was started with.",
    ),
    Preset(
        "vllm",
        "vLLM",
        "openai",
        "http://localhost:8000/v1",
        "Start it with `vllm serve MODEL`; the model is named as it was there.",
    ),
    Preset(
        "sglang",
        "SGLang (chat)",
        "openai",
        "http://localhost:30000/v1",
        "Start it with `python -m sglang.launch_server --model-path MODEL`.",
    ),
    Preset(
        "localai",
        "LocalAI",
        "openai",
        "http://localhost:8080/v1",
        "Start it with `local-ai run MODEL`; models are named as in its gallery.",
    ),
    Preset(
        "text-generation-webui",
        "Text generation web UI",
        "openai",
        "http://localhost:5000/v1",
        "Start it with `--api`; it answers with the model that is loaded, whatever name is sent.",
    ),
    Preset(
        "koboldcpp",
        "KoboldCpp",
        "openai",
        "http://localhost:5001/v1",
        "It answers with the one model that it was started with.",
    ),
    Preset(
        "jan",
        "Jan",
        "openai",
        "http://localhost:1337/v1",
        "Start the server under Local API Server; it may ask for the key that is set there.",
    ),
    Preset(
        "gpt4all",
        "GPT4All",
        "openai",
        "http://localhost:4891/v1",
        "Switch on the local API server in its settings; it does not stream.",
    ),
    Preset(
        "llamafile",
        "llamafile",
        "openai",
        "http://localhost:8080/v1",
        "Start the file with `--server`; it serves the model inside it.",
    ),
    Preset(
        "litellm",
        "LiteLLM proxy",
        "openai",
        "http://localhost:4000/v1",
        "Start it with `litellm --config FILE`; models are named as in that file.",
    ),
    Preset(
        "openai", "OpenAI", "openai", None, "Uses OPENAI_API_KEY, or a secret of yours.", True, "gpt-4.1-mini"
    ),
    Preset(
        "openai-responses",
        "OpenAI (Responses API)",
        "openai-responses",
        None,
        "Uses OPENAI_API_KEY, or a secret of yours.",
        True,
        "gpt-4.1-mini",
    ),
    Preset(
        "anthropic", "Anthropic", "anthropic", None, "Uses ANTHROPIC_API_KEY, or a secret of yours.", True
    ),
    Preset(
        "recorded",
        "Recorded answers",
        "recorded",
        None,
        "Plays the answers in recordings/ of the project; no model runs.",
    ),
)


def presets() -> tuple[Preset, ...]:
    """Return all presets, those on this computer first."""
    return _PRESETS
