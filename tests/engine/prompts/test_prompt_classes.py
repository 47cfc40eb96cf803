"""The prompt classes of the reference system: the case table of their contract, registry and credentials."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from workbench.engine.prompts import (
    LANGUAGES,
    BaseCredential,
    BasePrompt,
    CustomRAGGenerationPrompt,
    HuggingFaceCredential,
    PromptTemplateError,
    QueryDecompositionPrompt,
    QueryExpansionPrompt,
    QueryRewritingPrompt,
    RAGAugmentationPrompt,
    RAGGenerationPrompt,
    SchemaField,
    ValidationError,
    registry,
)
from workbench.engine.secrets import OriginNotAccepted, Secrets

D = "Q: {input}\nC: {chunks}\nS: {queries}\nEnd"

FORMAT = [
    ("B01", "Q: {input}\nC: {chunks}", {}, "Q: i\nC: c"),
    ("B02", D, {"queries": None}, "Q: i\nC: c\nEnd"),
    ("B03", D, {"queries": "a; b"}, "Q: i\nC: c\nS: a; b\nEnd"),
    ("B04", D, {"queries": ""}, "Q: i\nC: c\nS: \nEnd"),
    ("B05", D, {"input": "{chunks}", "chunks": "SECRET"}, "Q: {chunks}\nC: SECRET\nEnd"),
    ("B06", D, {"input": "{queries}", "queries": "a"}, "Q: {queries}\nC: c\nS: a\nEnd"),
    ("B07-value-in-optional", D, {"queries": "{input}"}, "Q: i\nC: c\nS: {input}\nEnd"),
    ("B14", '{"q": "{input}", "x": {}} {chunks}', {}, '{"q": "i", "x": {}} c'),
    ("B15", "{input}{input} {chunks}", {}, "ii c"),
    ("B16", "{Input} {input} {chunks}", {}, "{Input} i c"),
    ("B35", "{input}\n\n{queries}\n\n{chunks}", {}, "i\n\n\nc"),
    ("T1-extra-token", "{input} {chunks} {tone}", {"tone": "kind"}, "i c kind"),
    ("T1-extra-none", "{input}\n{tone}\n{chunks}", {"tone": None}, "i\nc"),
    ("T3-vertical-tab", "{input}\x0b{chunks}\n{queries}\x0cx\nEnd", {}, "i\x0bc\nEnd"),
    ("T3-next-line", "{input} {chunks}\n{queries}\x85\u2028x\nEnd", {}, "i c\nEnd"),
    ("T4-last-line", "{input} {chunks}\n{queries}", {}, "i c"),
    ("T4-last-line-crlf", "{input} {chunks}\r\n{queries}", {}, "i c"),
    ("T4-final-newline-stays", "{input} {chunks}\n{queries}\n", {}, "i c\n"),
]


@pytest.mark.parametrize(
    ("template", "values", "expected"), [case[1:] for case in FORMAT], ids=[case[0] for case in FORMAT]
)
def test_a_custom_prompt_is_formatted_as_the_contract_says(
    template: str, values: dict[str, Any], expected: str
) -> None:
    assert (
        CustomRAGGenerationPrompt(template=template).format(**{"input": "i", "chunks": "c", **values})
        == expected
    )


@pytest.mark.parametrize(
    ("template", "valid"),
    [
        pytest.param("{input} {chunks}", True, id="B09"),
        pytest.param("{input}{ chunks }", False, id="B10"),
        pytest.param("", False, id="B11"),
        pytest.param("{{input}} {chunks}", True, id="B12"),
        pytest.param("{INPUT} {chunks}", False, id="B13-case"),
    ],
)
def test_a_template_is_valid_when_it_holds_every_required_token(template: str, valid: bool) -> None:
    assert CustomRAGGenerationPrompt.validate_template(template) is valid
    assert CustomRAGGenerationPrompt().validate_template(template) is valid


def test_b08_a_missing_required_token_is_an_error_that_lists_it() -> None:
    with pytest.raises(PromptTemplateError, match=r"\{chunks\}") as caught:
        CustomRAGGenerationPrompt(template="Q: {input}").format("i", "c")
    assert caught.value.tokens == ("{chunks}",)


def test_b08_a_prompt_without_a_template_fails_when_it_is_formatted() -> None:
    with pytest.raises(PromptTemplateError, match=r"\{input\}, \{chunks\}"):
        CustomRAGGenerationPrompt().format("i", "c")


def test_b34_a_required_token_on_a_dropped_line_is_refused_with_both_tokens() -> None:
    prompt = CustomRAGGenerationPrompt(template="Q: {input} {queries}\nC: {chunks}")
    with pytest.raises(PromptTemplateError) as caught:
        prompt.format("i", "c")
    assert "{input}" in str(caught.value)
    assert "{queries}" in str(caught.value)
    assert prompt.format("i", "c", "q") == "Q: i q\nC: c"


def test_b18_format_never_writes_the_word_none() -> None:
    with pytest.raises(PromptTemplateError, match=r"no value for \{input\}"):
        CustomRAGGenerationPrompt(template=D).format(None, "c")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("template", "values", "expected"),
    [
        pytest.param("{n}", {"{n}": 3}, "3", id="B17"),
        pytest.param("{n}", {"{n}": None}, "None", id="B18"),
        pytest.param("{b} {f}", {"{b}": True, "{f}": 1.0}, "True 1.0", id="B19"),
        pytest.param("a{b}c", {}, "a{b}c", id="B20"),
        pytest.param("ab", {"a": "b", "b": "a"}, "ba", id="B21"),
        pytest.param("abc", {"a": "1", "ab": "2"}, "2c", id="B22-longest"),
        pytest.param("{a.b*}", {"{a.b*}": "\\1"}, "\\1", id="B24"),
        pytest.param("{x}", {"{x}": "$1 \\g<0>"}, "$1 \\g<0>", id="B24-groups"),
    ],
)
def test_placeholders_are_rendered_in_one_pass(template: str, values: dict[str, Any], expected: str) -> None:
    assert BasePrompt.render_placeholders(template, values) == expected


def test_b23_an_empty_token_is_refused() -> None:
    with pytest.raises(ValueError, match="empty token"):
        BasePrompt.render_placeholders("x", {"": "y"})
    with pytest.raises(ValueError, match="empty token"):
        BasePrompt.render_optional("x", "", None)


@pytest.mark.parametrize(
    ("template", "key", "value", "expected"),
    [
        pytest.param("a {n_max} b\nc", "{n_max}", None, "c", id="B25"),
        pytest.param("a\n{n}", "{n}", None, "a", id="B26-last"),
        pytest.param("{n}\na", "{n}", None, "a", id="B27-first"),
        pytest.param("a\n{n}\n", "{n}", None, "a\n", id="B28"),
        pytest.param("{n}", "{n}", None, "", id="B29"),
        pytest.param("a\r\n{n}\r\nb", "{n}", None, "a\r\nb", id="B30"),
        pytest.param("a\r{n}\rb", "{n}", None, "a\rb", id="B31-cr"),
        pytest.param("a {n}", "{n}", 0, "a 0", id="B32"),
        pytest.param("a {n}", "{n}", False, "a False", id="B32-false"),
        pytest.param("a {n}", "{n}", "", "a ", id="B32-empty"),
        pytest.param("abc", "{n}", None, "abc", id="B33"),
        pytest.param("{n}\na\n{n} {n}\nb", "{n}", None, "a\nb", id="B36-every-line"),
    ],
)
def test_an_optional_token_is_put_in_or_takes_its_lines_away(
    template: str, key: str, value: Any, expected: str
) -> None:
    assert BasePrompt.render_optional(template, key, value) == expected


def test_render_queries_is_the_optional_token_of_the_queries() -> None:
    assert RAGGenerationPrompt.render_queries(D, None) == "Q: {input}\nC: {chunks}\nEnd"
    assert RAGGenerationPrompt.render_queries(D, "{input}") == "Q: {input}\nC: {chunks}\nS: {input}\nEnd"


class Bare(BasePrompt):
    """Declares nothing."""


def test_b37_a_class_without_declared_placeholders_says_so() -> None:
    with pytest.raises(AttributeError, match=r"Bare.*required_placeholders"):
        Bare.get_required_placeholders()
    with pytest.raises(AttributeError, match=r"Bare.*optional_placeholders"):
        Bare().get_optional_placeholders()
    assert Bare.get_metadata() == {}


def test_b38_metadata_is_a_copy_at_every_depth() -> None:
    metadata = RAGGenerationPrompt.get_metadata()
    metadata["templates"]["en"] = "changed"
    metadata["name"] = "changed"
    fresh = RAGGenerationPrompt.get_metadata()
    assert fresh["templates"]["en"] != "changed"
    assert fresh["name"] != "changed"


def test_b39_lists_of_placeholders_are_copies() -> None:
    RAGGenerationPrompt.get_required_placeholders().append("{x}")
    RAGGenerationPrompt().get_optional_placeholders().append("{x}")
    assert RAGGenerationPrompt.get_required_placeholders() == ["{input}", "{chunks}"]
    assert RAGGenerationPrompt().get_optional_placeholders() == ["{queries}"]


@pytest.mark.parametrize("data", [{}, {"template": 5}], ids=["missing", "wrong-type"])
def test_b40_settings_that_break_the_schema_are_refused_with_the_field(data: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="template"):
        CustomRAGGenerationPrompt().validate_and_transform(data)


def test_b40_the_path_of_the_field_is_named() -> None:
    with pytest.raises(ValidationError) as caught:
        CustomRAGGenerationPrompt().validate_and_transform({"template": 5})
    assert caught.value.path == ("template",)


def test_b40_valid_settings_come_back_as_a_new_dict() -> None:
    data = {"template": "{input} {chunks}"}
    result = CustomRAGGenerationPrompt().validate_and_transform(data)
    assert result == data
    assert result is not data
    assert CustomRAGGenerationPrompt(**result).template == "{input} {chunks}"


def test_b41_an_unknown_credential_is_a_key_error_that_lists_the_known_ones() -> None:
    with pytest.raises(KeyError) as caught:
        CustomRAGGenerationPrompt().get_credential("Nope")
    assert "HuggingFaceCredential" in str(caught.value)
    with pytest.raises(KeyError, match="did you mean HuggingFaceCredential"):
        CustomRAGGenerationPrompt().get_credential("huggingfacecredential")


@pytest.mark.parametrize("name", [None, 5, []])
def test_what_is_no_name_is_an_unknown_credential_too(name: Any) -> None:
    with pytest.raises(KeyError, match="HuggingFaceCredential"):
        CustomRAGGenerationPrompt().get_credential(name)


def test_b41_a_prompt_is_no_credential() -> None:
    with pytest.raises(KeyError, match="unknown credential"):
        CustomRAGGenerationPrompt().get_credential("RAGGenerationPrompt")


def test_b42_with_nothing_stored_the_key_is_none_and_apply_does_nothing() -> None:
    assert isinstance(CustomRAGGenerationPrompt().get_credential("HuggingFaceCredential"), BaseCredential)
    credential = HuggingFaceCredential(Secrets(env={}))
    headers: dict[str, str] = {}
    assert credential.get_key() is None
    credential.apply()
    credential.apply(headers)
    assert headers == {}


def test_b42_every_call_makes_a_new_credential() -> None:
    prompt = CustomRAGGenerationPrompt()
    assert prompt.get_credential("OpenAICredential") is not prompt.get_credential("OpenAICredential")


def test_a_stored_key_is_found_and_goes_only_to_the_accepted_server() -> None:
    secrets = Secrets(env={"PROMPT_WORKBENCH_SECRET_HUGGINGFACE": "hf_0123456789"})
    credential = HuggingFaceCredential(secrets)
    headers: dict[str, str] = {}
    assert credential.get_key() == "hf_0123456789"
    with pytest.raises(OriginNotAccepted):
        credential.apply(headers)
    assert headers == {}
    secrets.accept("huggingface", "https://huggingface.co")
    credential.apply(headers)
    assert headers == {"Authorization": "Bearer hf_0123456789"}


def test_b43_the_base_class_formats_nothing() -> None:
    with pytest.raises(NotImplementedError, match="BasePrompt"):
        BasePrompt(template="x").format()


def test_b44_the_schema_describes_the_template() -> None:
    schema = CustomRAGGenerationPrompt.get_schema()
    assert schema["type"] == "object"
    assert schema["required"] == ["template"]
    template = schema["properties"]["template"]
    assert template["type"] == "string"
    assert template["title"]
    assert template["description"]
    assert CustomRAGGenerationPrompt.get_schema("de")["properties"]["template"]["title"] == "Vorlage"


def test_t10_check_template_names_missing_unknown_doubled_and_misspelt_tokens_with_their_places() -> None:
    template = "{Input} {input}\n{input} {foo} {{queries}} { chunks }"
    found = {(d.code, d.start, d.end) for d in CustomRAGGenerationPrompt.check_template(template)}
    assert found == {
        ("missing_placeholder", None, None),
        ("wrong_case", 0, 7),
        ("duplicate_placeholder", 16, 23),
        ("unknown_placeholder", 24, 29),
        ("doubled_braces", 30, 41),
        ("blanks_in_placeholder", 42, 52),
    }


def test_t9_a_misspelt_token_comes_with_its_correction() -> None:
    (missing, wrong) = CustomRAGGenerationPrompt.check_template("{chunks} {inptu}")
    assert missing.code == "missing_placeholder"
    assert wrong.fixes[0].replacement == "{input}"
    assert "{input}" in (wrong.hint or "")


def test_a_good_template_has_nothing_to_report() -> None:
    assert CustomRAGGenerationPrompt.check_template(D + ' {"json": {}}') == []


BUILT_IN = [
    RAGGenerationPrompt,
    RAGAugmentationPrompt,
    QueryRewritingPrompt,
    QueryDecompositionPrompt,
    QueryExpansionPrompt,
]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", BUILT_IN, ids=lambda kind: kind.__name__)
def test_every_built_in_template_is_valid_in_every_language(kind: type[BasePrompt], language: str) -> None:
    template = kind.get_template(language)
    assert template in kind.get_metadata()["templates"].values()
    assert kind.validate_template(template)
    assert kind.check_template(template) == []
    filled = kind(template).format("WHAT?", **({"chunks": "TEXTS"} if kind is RAGGenerationPrompt else {}))
    assert "WHAT?" in filled
    for token in (*kind.get_required_placeholders(), *kind().get_optional_placeholders()):
        assert token in template
        assert token not in filled


@pytest.mark.parametrize("kind", [*BUILT_IN, CustomRAGGenerationPrompt], ids=lambda kind: kind.__name__)
def test_the_metadata_agrees_with_the_class(kind: type[BasePrompt]) -> None:
    metadata = kind.get_metadata()
    assert metadata["required_placeholders"] == kind.get_required_placeholders()
    assert metadata["optional_placeholders"] == kind().get_optional_placeholders()
    tokens = {*kind.get_required_placeholders(), *kind().get_optional_placeholders()}
    assert set(metadata["placeholder_descriptions"]) == tokens
    assert metadata["type"] in ("generation", "augmentation")
    assert registry[kind.__name__] is kind


def test_the_registry_groups_components_by_type() -> None:
    assert "RAGGenerationPrompt" in registry.names("Prompt")
    assert "HuggingFaceCredential" in registry.names("Credential")
    assert "HuggingFaceCredential" not in registry.names("Prompt")


def test_settings_may_name_a_component_which_is_then_made() -> None:
    class Configured(BasePrompt):
        """Has a component among its settings."""

        SCHEMA: ClassVar[tuple[SchemaField, ...]] = (
            *BasePrompt.SCHEMA,
            SchemaField("prompt", {"en": "Prompt"}, {"en": "Another prompt."}, component="Prompt"),
        )

    data = {
        "template": "x",
        "prompt": {"component": "CustomRAGGenerationPrompt", "params": {"template": "{input} {chunks}"}},
    }
    made = Configured().validate_and_transform(data)["prompt"]
    assert isinstance(made, CustomRAGGenerationPrompt)
    assert made.format("i", "c") == "i c"
    data["prompt"] = {"component": "HuggingFaceCredential"}
    with pytest.raises(ValidationError, match="is a Credential"):
        Configured().validate_and_transform(data)
    data["prompt"] = {"component": "CustomRAGGenerationPrompt", "params": {"template": 1}}
    with pytest.raises(ValidationError, match="template"):
        Configured().validate_and_transform(data)
