"""Prompt classes as the reference system DashAI has them, with their registry and credentials."""

from workbench.engine.prompts.base import LANGUAGES, BasePrompt, PromptTemplateError
from workbench.engine.prompts.components import ConfigObject, SchemaField, ValidationError
from workbench.engine.prompts.credentials import (
    AnthropicCredential,
    BaseCredential,
    HuggingFaceCredential,
    OpenAICredential,
)
from workbench.engine.prompts.queries import (
    QueryDecompositionPrompt,
    QueryExpansionPrompt,
    QueryRewritingPrompt,
    RAGAugmentationPrompt,
)
from workbench.engine.prompts.rag import CustomRAGGenerationPrompt, RAGGenerationPrompt
from workbench.engine.prompts.registry import ComponentRegistry, UnknownComponentError, registry
from workbench.engine.prompts.variants import PromptVariant, find_variant, prompt_variants

__all__ = [
    "LANGUAGES",
    "AnthropicCredential",
    "BaseCredential",
    "BasePrompt",
    "ComponentRegistry",
    "ConfigObject",
    "CustomRAGGenerationPrompt",
    "HuggingFaceCredential",
    "OpenAICredential",
    "PromptTemplateError",
    "PromptVariant",
    "QueryDecompositionPrompt",
    "QueryExpansionPrompt",
    "QueryRewritingPrompt",
    "RAGAugmentationPrompt",
    "RAGGenerationPrompt",
    "SchemaField",
    "UnknownComponentError",
    "ValidationError",
    "find_variant",
    "prompt_variants",
    "registry",
]
