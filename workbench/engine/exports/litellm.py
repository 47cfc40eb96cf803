"""LiteLLM: the checks as decision-model guardrails in a proxy's `config.yaml`."""

from __future__ import annotations

from typing import Any

from workbench.engine.exports import common
from workbench.engine.exports.base import Export, ExportedFile, ExportTarget, Loss, slug
from workbench.engine.guardrails.settings import GuardrailSettings, Stage
from workbench.engine.model_settings import ModelSettings
from workbench.engine.projects.snapshot import ProjectSnapshot

# What the proxy calls a decision model of each wire dialect, and a model of that kind to begin with.
_MODELS = {"openai": ("openai", "gpt-6-luna"), "system-one": ("typesafe", "jev-latest")}
MAX_CHECKS = 128


class LiteLlmTarget(ExportTarget):
    """A `config.yaml` with one guardrail a stage."""

    name = "litellm"
    title = "LiteLLM"
    description = "config.yaml with decision-model guardrails, for a proxy of version 1.106 or later"
    cannot_express = (
        "prompt templates, parameters and their schema",
        "translation and tools",
        "what yes and no mean (joined to the question)",
        "checks on a pattern, a length or languages (they ask no model)",
        "asking again after a rejected response",
    )

    def export(self, snapshot: ProjectSnapshot, *, parameter_set: str | None = None) -> Export:
        """Return `config.yaml`; the parameter set is not used."""
        import yaml

        snapshot, losses = common.without_rules(snapshot)
        config: dict[str, Any] = {"model_list": [_model(snapshot)]}
        guardrails = []
        for stage in ("input", "output"):
            settings = snapshot.guardrail(stage)
            if len(settings.checks) > MAX_CHECKS:
                losses.append(
                    Loss("left out", f"{stage} checks after number {MAX_CHECKS}", "The proxy takes no more")
                )
            if settings.checks:
                guardrails.append(_guardrail(snapshot, stage, settings))
        if guardrails:
            config["guardrails"] = guardrails
        text = yaml.safe_dump(config, sort_keys=False, allow_unicode=True, width=110)
        losses += common.left_out(
            snapshot, template=True, parameters=True, translation=True, tools=True, chat=True
        )
        losses += common.meanings_joined(snapshot) + common.decision_model_changed(snapshot)
        losses += _differences(snapshot)
        return Export(self.name, (ExportedFile("config.yaml", text),), tuple(losses))


def _model(snapshot: ProjectSnapshot) -> dict[str, Any]:
    settings = snapshot.models.get("decision")
    provider = settings.provider if settings is not None and settings.provider in _MODELS else "system-one"
    prefix, default = _MODELS[provider]
    model = (
        settings.model
        if settings is not None and settings.provider in _MODELS and settings.model
        else default
    )
    parameters: dict[str, Any] = {
        "model": f"{prefix}/{model}",
        "api_key": f"os.environ/{_key_name(settings, prefix)}",
    }
    if settings is not None and settings.provider in _MODELS and settings.base_url:
        parameters["api_base"] = settings.base_url
    return {"model_name": "decisions", "litellm_params": parameters}


def _key_name(settings: ModelSettings | None, prefix: str) -> str:
    if settings is not None and settings.secret:
        word = "".join(c if c.isascii() and c.isalnum() else "_" for c in settings.secret.upper())
        return f"PROMPT_WORKBENCH_SECRET_{word}"
    return f"{prefix.upper()}_API_KEY"


def _guardrail(snapshot: ProjectSnapshot, stage: Stage, settings: GuardrailSettings) -> dict[str, Any]:
    checks = [
        {
            "name": check.name,
            "instructions": common.question_with_meanings(check),
            # Always written: the proxy's own default has changed between versions.
            "threshold": float(settings.threshold_of(check)),
            "action": "block",
        }
        for check in settings.checks[:MAX_CHECKS]
    ]
    return {
        "guardrail_name": f"{slug(snapshot.name)}-{stage}",
        "litellm_params": {
            "guardrail": "decision_model",
            "mode": "pre_call" if stage == "input" else "post_call",
            "decision_model": "decisions",
            "checks": checks,
            "unreachable_fallback": "fail_closed",
            "default_on": True,
        },
    }


def _differences(snapshot: ProjectSnapshot) -> list[Loss]:
    losses = []
    if common.all_checks(snapshot):
        losses.append(
            Loss(
                "runs differently",
                "screening of messages",
                "Each message is one call; of the overlapping parts of a long text the highest probability counts",
            )
        )
    if snapshot.output_guardrail.checks:
        losses.append(
            Loss(
                "runs differently", "output checks", "Only the response is screened, without the user message"
            )
        )
        if snapshot.output_guardrail.reprompt is not None:
            losses.append(
                Loss("left out", "reprompt", "A rejected response is refused and never asked for again")
            )
    return losses
