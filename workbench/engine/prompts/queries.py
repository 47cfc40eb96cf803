"""The prompts that turn a question into searches before passages are retrieved."""

from __future__ import annotations

from typing import Any, ClassVar

from workbench.engine.prompts import texts
from workbench.engine.prompts.base import BasePrompt

_INPUT = {"{input}": "The question of the person."}
_HISTORY = {"{history}": "The conversation so far as one text; without one its line is left out."}


def _metadata(
    name: str,
    description: str,
    required: list[str],
    optional: list[str],
    descriptions: dict[str, str],
    templates: dict[str, str],
) -> dict[str, Any]:
    return {
        "name": name,
        "description": description,
        "type": "augmentation",
        "required_placeholders": required,
        "optional_placeholders": optional,
        "placeholder_descriptions": descriptions,
        "templates": templates,
    }


class _SearchPrompt(BasePrompt):
    """What the prompts of this module share: an own template or the built-in English one."""

    def _filled(self, values: dict[str, Any], further: dict[str, Any]) -> str:
        named = {"{" + name + "}": value for name, value in further.items()}
        return self.fill(self.template or self.get_template(), {**named, **values})


class RAGAugmentationPrompt(_SearchPrompt):
    """Asks for search terms that help to find passages for a question."""

    required_placeholders: ClassVar[list[str]] = ["{input}", "{n_search_terms}"]
    optional_placeholders: ClassVar[list[str]] = []
    metadata: ClassVar[dict[str, Any]] = _metadata(
        "Search terms",
        "Asks for terms under which passages for a question can be found.",
        ["{input}", "{n_search_terms}"],
        [],
        {**_INPUT, "{n_search_terms}": "How many terms to give."},
        texts.AUGMENTATION,
    )

    def format(self, input: str, n_search_terms: int = 5, **kwargs: Any) -> str:
        """Return the filled prompt; `n_search_terms` is how many terms to ask for.

        Raises:
            PromptTemplateError: when the template lacks a required token.
        """
        return self._filled({"{input}": input, "{n_search_terms}": n_search_terms}, kwargs)


class QueryRewritingPrompt(_SearchPrompt):
    """Rewrites a question so that it can be understood, and searched for, on its own."""

    required_placeholders: ClassVar[list[str]] = ["{input}"]
    optional_placeholders: ClassVar[list[str]] = ["{history}"]
    metadata: ClassVar[dict[str, Any]] = _metadata(
        "Query rewriting",
        "Rewrites a question so that it stands on its own.",
        ["{input}"],
        ["{history}"],
        {**_INPUT, **_HISTORY},
        texts.REWRITING,
    )

    def format(self, input: str, history: str | None = None, **kwargs: Any) -> str:
        """Return the filled prompt; without a `history` its lines are left out.

        Raises:
            PromptTemplateError: when the template lacks a required token, or a dropped line holds one.
        """
        return self._filled({"{input}": input, "{history}": history}, kwargs)


class QueryDecompositionPrompt(_SearchPrompt):
    """Splits a question into simpler ones that can be searched for one by one."""

    required_placeholders: ClassVar[list[str]] = ["{input}"]
    optional_placeholders: ClassVar[list[str]] = ["{history}", "{n_max}"]
    metadata: ClassVar[dict[str, Any]] = _metadata(
        "Query decomposition",
        "Splits a question into simpler ones.",
        ["{input}"],
        ["{history}", "{n_max}"],
        {
            **_INPUT,
            **_HISTORY,
            "{n_max}": "The largest number of questions; without one its line is left out.",
        },
        texts.DECOMPOSITION,
    )

    def format(self, input: str, history: str | None = None, n_max: int | None = None, **kwargs: Any) -> str:
        """Return the filled prompt; without `history` or `n_max` their lines are left out.

        Raises:
            PromptTemplateError: when the template lacks a required token, or a dropped line holds one.
        """
        return self._filled({"{input}": input, "{history}": history, "{n_max}": n_max}, kwargs)


class QueryExpansionPrompt(_SearchPrompt):
    """Asks for several wordings of one question, so that more passages are found."""

    required_placeholders: ClassVar[list[str]] = ["{input}", "{n_queries}"]
    optional_placeholders: ClassVar[list[str]] = ["{history}"]
    metadata: ClassVar[dict[str, Any]] = _metadata(
        "Query expansion",
        "Asks for several wordings of one question.",
        ["{input}", "{n_queries}"],
        ["{history}"],
        {**_INPUT, **_HISTORY, "{n_queries}": "How many wordings to give."},
        texts.EXPANSION,
    )

    def format(self, input: str, n_queries: int = 3, history: str | None = None, **kwargs: Any) -> str:
        """Return the filled prompt; without a `history` its lines are left out.

        Raises:
            PromptTemplateError: when the template lacks a required token, or a dropped line holds one.
        """
        return self._filled({"{input}": input, "{n_queries}": n_queries, "{history}": history}, kwargs)
