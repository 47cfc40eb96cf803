"""Language models: one protocol, and a model behind it for every provider that a project can name."""

from workbench.engine.language_models.base import (
    Completion,
    LanguageModel,
    LanguageModelError,
    Message,
    ModelDescription,
    Probe,
    ToolCall,
    Usage,
    json_schema_format,
)
from workbench.engine.language_models.environment import model_from_environment, settings_from_environment
from workbench.engine.language_models.opening import language_model_available, open_language_model
from workbench.engine.language_models.presets import Preset, presets
from workbench.engine.language_models.recorded import recorded_requests, recording_row
from workbench.engine.prices import Cost, Prices, cost_from_json, total_cost

__all__ = [
    "Completion",
    "Cost",
    "LanguageModel",
    "LanguageModelError",
    "Message",
    "ModelDescription",
    "Preset",
    "Prices",
    "Probe",
    "ToolCall",
    "Usage",
    "cost_from_json",
    "json_schema_format",
    "language_model_available",
    "model_from_environment",
    "open_language_model",
    "presets",
    "recorded_requests",
    "recording_row",
    "settings_from_environment",
    "total_cost",
]
