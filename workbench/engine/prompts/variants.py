"""The built-in templates of prompt classes as starting points of a project, in its dialect and any language."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from workbench.engine.prompts.base import LANGUAGES, BasePrompt
from workbench.engine.prompts.registry import ComponentRegistry, registry
from workbench.engine.templates.conversion import convert_template
from workbench.engine.templates.options import TemplateOptions
from workbench.engine.templates.spans import declared_name


@dataclass(frozen=True, slots=True)
class PromptVariant:
    """One language of one prompt class, written in the dialect of a project.

    `component` is the name of the class, `text` its template. `required` and `optional` are names without
    marks; `descriptions` says what each stands for.
    """

    component: str
    title: str
    description: str
    language: str
    text: str
    required: tuple[str, ...]
    optional: tuple[str, ...]
    descriptions: dict[str, str]


def prompt_variants(
    options: TemplateOptions | None = None,
    *,
    names: Collection[str] = (),
    components: ComponentRegistry = registry,
) -> list[PromptVariant]:
    """Return every language of every registered prompt class that has built-in templates.

    Classes come in the order of the registry, languages in the order of `LANGUAGES`. `names` are the top-level
    names of the project's parameters.
    """
    options = options or TemplateOptions()
    found: list[PromptVariant] = []
    for name in components.names(BasePrompt.TYPE):
        kind = components[name]
        if not issubclass(kind, BasePrompt):
            continue
        templates = kind.get_metadata().get("templates", {})
        order = [each for each in LANGUAGES if each in templates]
        order += [each for each in templates if each not in LANGUAGES]
        found += [_variant(name, kind, language, options, names) for language in order]
    return found


def _variant(
    name: str, kind: type[BasePrompt], language: str, options: TemplateOptions, names: Collection[str]
) -> PromptVariant:
    metadata = kind.get_metadata()
    required = tuple(declared_name(token, "braces") for token in kind.get_required_placeholders())
    optional = tuple(declared_name(t, "braces") for t in getattr(kind, "optional_placeholders", ()))
    described = metadata.get("placeholder_descriptions", {})
    source = TemplateOptions(
        dialect="braces",
        context_name=options.context_name,
        literal_escape=options.literal_escape,
        required=required,
        optional=optional,
    )
    text = kind.get_template(language)
    return PromptVariant(
        component=name,
        title=str(metadata.get("name", name)),
        description=str(metadata.get("description", "")),
        language=language,
        text=convert_template(text, source, options.dialect, names=names),
        required=required,
        optional=optional,
        descriptions={declared_name(token, "braces"): str(words) for token, words in described.items()},
    )


def find_variant(text: str, variants: Collection[PromptVariant]) -> PromptVariant | None:
    """Return the variant whose template `text` is, blanks at its ends aside; `None` where it was changed."""
    wanted = text.strip()
    return next((each for each in variants if wanted and each.text.strip() == wanted), None)
