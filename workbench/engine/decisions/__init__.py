"""Decision models: yes/no questions about a text, answered with probabilities by one of several providers."""

from workbench.engine.decisions.errors import DecisionError, DecisionRefused, InvalidDecisionResponse
from workbench.engine.decisions.model import DecisionModel, ModelInfo, ask, validated
from workbench.engine.decisions.opening import decision_model_available, fitted_path, open_decision_model
from workbench.engine.decisions.probe import ProbeReport, probe_decision_model
from workbench.engine.decisions.questions import (
    Answer,
    BadAnswer,
    DecisionRequest,
    DecisionResponse,
    Exchange,
    NoAnswer,
    Refusal,
    Usage,
    YesNoAnswer,
    YesNoQuestion,
)

__all__ = [
    "Answer",
    "BadAnswer",
    "DecisionError",
    "DecisionModel",
    "DecisionRefused",
    "DecisionRequest",
    "DecisionResponse",
    "Exchange",
    "InvalidDecisionResponse",
    "ModelInfo",
    "NoAnswer",
    "ProbeReport",
    "Refusal",
    "Usage",
    "YesNoAnswer",
    "YesNoQuestion",
    "ask",
    "decision_model_available",
    "fitted_path",
    "open_decision_model",
    "probe_decision_model",
    "validated",
]
