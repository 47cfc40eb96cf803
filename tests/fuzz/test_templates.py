"""Throws broken templates and odd parameters at everything that reads templates, for a fixed time."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from typing import Any

import pytest

from workbench.engine.prompts import CustomRAGGenerationPrompt, PromptTemplateError
from workbench.engine.templates import (
    DIALECTS,
    ESCAPERS,
    ConversionError,
    KeyCollisionError,
    ObjectGraphPlaceholderReplacerBuilder,
    TemplateOptions,
    apply_fixes,
    completion_at,
    convert_template,
    converted_options,
    count_text,
    extract_parameter,
    parse_template,
    placeholder_roots,
    rename_in_template,
    render_graph,
    render_text,
    unused_parameters,
)

SECONDS = float(os.environ.get("FUZZ_SECONDS", "1"))
SLOWEST = 2.0  # seconds for one input of at most a few kilobytes, on a busy machine

SCRAPS = [
    *"[]{}%.$*?@()'\"\\,:|&=<>!~ \n\r\t\x00\x0b\u2028é🙂aZ019_-",
    "[%", "%]", "{{", "}}", "[%param.", "[%param.a%]", "[%param['", "']%]", "[?(@.", ")]", "..", "[*]", "[0:2]", "$.",
    "{input}", "{chunks}", "{{a}}", "{{ a.b[0] }}", "\\[%", "\\{{", "=~", "length(", "\ud800", "\r\n", "a" * 300,
]  # fmt: skip
VALUES: list[Any] = [
    None, True, 0, -1, 1.5, 10**30, "", "x", "[%param.a%]", "{input}", "{{a}}", "\x00\u2028", [], {}, [1, "a", None],
    {"b": [{"c": "d"}]}, [[["deep"]]], {"": {"": 1}}, "\ud83d", float("inf"),
]  # fmt: skip


def inputs(seed: int) -> Iterator[tuple[random.Random, str, Any]]:
    """Yield (random, template, parameters) until the time is over; the same ones for the same seed."""
    chance = random.Random(seed)
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        text = "".join(chance.choices(SCRAPS, k=chance.choice((1, 3, 10, 60))))
        if chance.random() < 0.1:
            text *= chance.randint(2, 30)
        names = ("a", "b", "input", "chunks", "x y", "")
        parameters: Any = {name: chance.choice(VALUES) for name in chance.sample(names, chance.randint(0, 4))}
        if chance.random() < 0.1:
            parameters = chance.choice(VALUES)
        yield chance, text, parameters


def options(chance: random.Random) -> TemplateOptions:
    return TemplateOptions(
        dialect=chance.choice(DIALECTS),
        escape=chance.choice(list(ESCAPERS)),
        unresolved=chance.choice(("keep", "empty", "error")),
        many=chance.choice(("join", "json", "first", "error")),
        null_text=chance.choice(("", "null")),
        replace_keys=chance.random() < 0.2,
        literal_escape=chance.random() < 0.8,
        collapse_blank_lines=chance.random() < 0.3,
        required=chance.choice(((), ("a",), ("{input}", "chunks"))),
        optional=chance.choice(((), ("b",), ("input", "a.b"))),
        contexts=chance.choice(({}, {"sys": {"a": "b"}, "param": {"a": "c"}})),
        fields=chance.choice(({}, {"a": "field", "x y": ""})),
    )


@pytest.mark.parametrize("seed", range(2))
def test_rendering_takes_anything(seed: int) -> None:
    rounds = 0
    for chance, text, parameters in inputs(seed):
        settings = options(chance)
        started = time.monotonic()
        rendering = render_text(text, parameters, settings)
        for use in rendering.placeholders:
            assert rendering.text[use.output_start : use.output_end] == use.text
            assert 0 <= use.start < use.end <= len(text)
        for diagnostic in rendering.diagnostics:
            assert diagnostic.message
            for fix in diagnostic.fixes:
                assert 0 <= fix.start <= fix.end <= len(text)
                apply_fixes(text, [fix])
        unused_parameters(parameters, rendering.used_pointers)
        try:
            render_graph({text: [text, (text, {"k": text})]}, parameters, settings)
        except KeyCollisionError:
            assert settings.replace_keys
        assert time.monotonic() - started < SLOWEST, (text, parameters, settings)
        rounds += 1
    assert rounds > 20


def test_parsing_completing_and_renaming_take_anything() -> None:
    for chance, text, parameters in inputs(10):
        settings = options(chance)
        started = time.monotonic()
        parsed = parse_template(text, settings, names=["a", "input", "x y", "a}b"])
        assert "".join(text[span.start : span.end] for span in parsed.spans) == text
        completion = completion_at(text, chance.randint(0, len(text)), parameters, settings)
        if completion is not None:
            assert 0 <= completion.start <= completion.end <= len(text)
        apply_fixes(text, rename_in_template(text, "/a", chance.choice(("b", "x y", "'")), settings))
        count_text(text)
        start, end = sorted((chance.randint(0, len(text)), chance.randint(0, len(text))))
        try:
            extract_parameter(text, start, end, "new", settings)
        except ValueError as refusal:
            assert str(refusal)  # noqa: PT017 - most random selections are refused, and each says why
        assert time.monotonic() - started < SLOWEST, (text, settings)


def test_conversion_is_lossless_or_refused() -> None:
    converted = 0
    for chance, text, _ in inputs(20):
        settings = options(chance)
        target = chance.choice(DIALECTS)
        names = ["a", "b", "input"]
        try:
            result = convert_template(text, settings, target, names=names)
        except ConversionError:
            continue
        known = [*names, *placeholder_roots(text, settings, names=names)]
        assert (
            convert_template(result, converted_options(settings, target), settings.dialect, names=known)
            == text
        )
        converted += 1
    assert converted > 20


def test_the_replacer_refuses_parameters_or_replaces() -> None:
    for chance, text, parameters in inputs(30):
        builder = ObjectGraphPlaceholderReplacerBuilder().text_parameters(parameters)
        builder.replace_placeholders_in_text_parameters(chance.random() < 0.5)
        builder.replacer(chance.choice((None, lambda body: body[::-1])))
        try:
            replacer = builder.build()
        except ValueError:
            assert "inf" in repr(parameters)
            continue
        value = replacer.replace([text, text]).value
        assert value[0] == value[1]


def test_prompt_classes_fill_or_say_what_is_missing() -> None:
    for chance, text, _ in inputs(40):
        prompt = CustomRAGGenerationPrompt(text)
        CustomRAGGenerationPrompt.check_template(text)
        queries = chance.choice((None, "", "{input}", text))
        try:
            filled = prompt.format("{chunks}", text, queries)
        except PromptTemplateError:
            continue
        assert "{chunks}" in filled
