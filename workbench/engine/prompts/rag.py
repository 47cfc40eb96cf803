"""The prompts of the generation step of retrieval-augmented generation (RAG)."""

from __future__ import annotations

from typing import Any, ClassVar

from workbench.engine.prompts import texts
from workbench.engine.prompts.base import BasePrompt


class RAGGenerationPrompt(BasePrompt):
    """Answers a question from retrieved passages, in the words of the built-in template."""

    required_placeholders: ClassVar[list[str]] = ["{input}", "{chunks}"]
    optional_placeholders: ClassVar[list[str]] = ["{queries}"]
    metadata: ClassVar[dict[str, Any]] = {
        "name": "Answer from passages",
        "description": "Answers a question from the passages that were retrieved for it, and from nothing else.",
        "type": "generation",
        "required_placeholders": ["{input}", "{chunks}"],
        "optional_placeholders": ["{queries}"],
        "placeholder_descriptions": {
            "{input}": "The question of the person.",
            "{chunks}": "The retrieved passages as one text.",
            "{queries}": "The search queries that were derived from the question, as one text.",
        },
        "templates": texts.GENERATION,
    }

    def format(self, input: str, chunks: str, queries: str | None = None, **kwargs: Any) -> str:
        """Return the filled prompt.

        `queries` are the search queries as one text; `None` drops their lines. Further keyword arguments
        fill tokens of their name (`history="…"` fills `{history}`), with `None` dropping the lines too. An
        instance without a template of its own uses the built-in English one.

        Raises:
            PromptTemplateError: when the template lacks a required token, or a dropped line holds one.
        """
        template = self.template or self.get_template()
        values = {"{" + name + "}": value for name, value in kwargs.items()}
        values |= {"{input}": input, "{chunks}": chunks, "{queries}": queries}
        return self.fill(template, values)

    @staticmethod
    def render_queries(template: str, queries: str | None) -> str:
        """Put the joined search queries in the place of `{queries}`; `None` drops the lines that hold it."""
        return BasePrompt.render_optional(template, "{queries}", queries)


class CustomRAGGenerationPrompt(RAGGenerationPrompt):
    """Answers a question from retrieved passages, in the words of the user's own template."""

    metadata: ClassVar[dict[str, Any]] = {
        **RAGGenerationPrompt.metadata,
        "name": "Answer from passages, own template",
        "description": "A template of your own that fills a question and the passages retrieved for it.",
        "templates": {},
    }
