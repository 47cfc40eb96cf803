"""Prompt Workbench: edit prompts, test guardrails and repair translations, on one desktop."""

__version__ = "0.1.0"
