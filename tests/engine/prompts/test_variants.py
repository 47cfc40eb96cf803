"""Built-in prompts as starting points of a project."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from workbench.engine.prompts import (
    LANGUAGES,
    ComponentRegistry,
    RAGGenerationPrompt,
    find_variant,
    prompt_variants,
)
from workbench.engine.templates import DIALECTS, TemplateOptions, render_text


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_variant_fills_as_its_class_does_in_every_dialect_and_language(dialect) -> None:
    options = TemplateOptions(dialect=dialect)
    variants = prompt_variants(options)
    assert len({(v.component, v.language) for v in variants}) == len(variants)
    assert {v.language for v in variants} == set(LANGUAGES)
    for variant in (v for v in variants if v.component == "RAGGenerationPrompt"):
        declared = TemplateOptions(dialect=dialect, required=variant.required, optional=variant.optional)
        for queries in ("a, b", None):
            values = {"input": "Why?", "chunks": "Because {input}", "queries": queries}
            template = RAGGenerationPrompt.get_template(variant.language)
            assert render_text(variant.text, values, declared).text == RAGGenerationPrompt(template).format(
                **values
            )


@pytest.mark.parametrize("dialect", DIALECTS)
def test_literal_braces_of_a_template_stay_text(dialect) -> None:
    variants = prompt_variants(TemplateOptions(dialect=dialect))
    variant = next(v for v in variants if v.component == "RAGAugmentationPrompt" and v.language == "en")
    options = TemplateOptions(dialect=dialect, required=variant.required)
    filled = render_text(variant.text, {"input": "Q", "n_search_terms": 3}, options)
    assert '{"terms": ["first term", "second term"]}' in filled.text
    assert filled.diagnostics == ()


def test_a_text_is_recognised_until_somebody_changes_it() -> None:
    variants = prompt_variants()
    german = next(v for v in variants if v.component == "QueryExpansionPrompt" and v.language == "de")
    assert find_variant(german.text + "\n", variants) is german
    assert find_variant(german.text + "!", variants) is None
    assert find_variant("", variants) is None


def test_what_a_placeholder_means_comes_with_the_variant() -> None:
    variant = prompt_variants()[0]
    assert set(variant.descriptions) == {*variant.required, *variant.optional}
    assert all(variant.descriptions.values())


def test_a_registered_class_of_ones_own_is_offered_too() -> None:
    class Own(RAGGenerationPrompt):
        metadata: ClassVar[dict[str, Any]] = {
            **RAGGenerationPrompt.metadata,
            "name": "Own",
            "templates": {"fr": "{input} {chunks}"},
        }

    own = prompt_variants(components=ComponentRegistry((Own,)))
    assert [(v.title, v.language, v.text) for v in own] == [("Own", "fr", "[%param.input%] [%param.chunks%]")]
