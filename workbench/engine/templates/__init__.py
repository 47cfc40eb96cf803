"""Templates in three dialects: read, filled in one pass, explained per placeholder, converted and completed."""

from workbench.engine.templates import escapers
from workbench.engine.templates.completion import (
    Candidate,
    Completion,
    completion_at,
    placeholder_candidates,
)
from workbench.engine.templates.conversion import (
    ConversionError,
    convert_template,
    converted_options,
    placeholder_roots,
)
from workbench.engine.templates.counts import TextCounts, count_text, count_texts
from workbench.engine.templates.escapers import ESCAPERS
from workbench.engine.templates.graph import KeyCollisionError
from workbench.engine.templates.graph_text import (
    GraphText,
    JsonString,
    completion_in_graph,
    convert_graph,
    extract_in_graph,
    rename_in_graph,
)
from workbench.engine.templates.options import (
    DIALECTS,
    Dialect,
    Many,
    MessageTemplate,
    TemplateOptions,
    Unresolved,
)
from workbench.engine.templates.records import PlaceholderUse, UnresolvedPlaceholderError, type_surprises
from workbench.engine.templates.rename import (
    Extraction,
    apply_fixes,
    extract_parameter,
    missing_member,
    placeholder_for,
    rename_in_template,
    rename_key,
    rename_keys,
)
from workbench.engine.templates.rendering import (
    CompiledTemplate,
    RenderedMessage,
    RenderedPrompt,
    Rendering,
    render_graph,
    render_prompt,
    render_text,
    template_names,
)
from workbench.engine.templates.replacer import (
    ObjectGraphPlaceholderReplacer,
    ObjectGraphPlaceholderReplacerBuilder,
    Replacement,
)
from workbench.engine.templates.spans import ParsedTemplate, Span, declared_name, parse_template
from workbench.engine.templates.usage import unused_parameters
from workbench.engine.templates.values import TextParametersError, value_text

__all__ = [
    "DIALECTS",
    "ESCAPERS",
    "Candidate",
    "CompiledTemplate",
    "Completion",
    "ConversionError",
    "Dialect",
    "Extraction",
    "GraphText",
    "JsonString",
    "KeyCollisionError",
    "Many",
    "MessageTemplate",
    "ObjectGraphPlaceholderReplacer",
    "ObjectGraphPlaceholderReplacerBuilder",
    "ParsedTemplate",
    "PlaceholderUse",
    "RenderedMessage",
    "RenderedPrompt",
    "Rendering",
    "Replacement",
    "Span",
    "TemplateOptions",
    "TextCounts",
    "TextParametersError",
    "Unresolved",
    "UnresolvedPlaceholderError",
    "apply_fixes",
    "completion_at",
    "completion_in_graph",
    "convert_graph",
    "convert_template",
    "converted_options",
    "count_text",
    "count_texts",
    "declared_name",
    "escapers",
    "extract_in_graph",
    "extract_parameter",
    "missing_member",
    "parse_template",
    "placeholder_candidates",
    "placeholder_for",
    "placeholder_roots",
    "rename_in_graph",
    "rename_in_template",
    "rename_key",
    "rename_keys",
    "render_graph",
    "render_prompt",
    "render_text",
    "template_names",
    "type_surprises",
    "unused_parameters",
    "value_text",
]
