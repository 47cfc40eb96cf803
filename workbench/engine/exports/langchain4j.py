"""LangChain4j: prompt templates and guardrail builders as one Java class."""

from __future__ import annotations

import itertools
from dataclasses import replace

from workbench.engine.exports import common
from workbench.engine.exports.base import Export, ExportedFile, ExportTarget, Loss, camel
from workbench.engine.exports.variables import FlatPrompt, Part, flatten
from workbench.engine.guardrails.settings import GuardrailSettings, Stage
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.engine.templates import escapers

_MESSAGE_TYPES = {"system": "SystemMessage", "developer": "SystemMessage", "assistant": "AiMessage"}
_ONE_BRACE, _TWO_BRACES = "openBrace", "openBraces"
_RESERVED = (_ONE_BRACE, _TWO_BRACES, "current_date", "current_time", "current_date_time")
"""Variables that have a value of their own: our braces, and the moment that LangChain4j puts in."""

_USED_NAMES = frozenset(
    ("AiMessage", "ChatMessage", "DecisionModel", "DecisionModelInputGuardrail", "DecisionModelOutputGuardrail",
     "HashMap", "InputGuardrail", "List", "Map", "Object", "OutputGuardrail", "PromptTemplate", "String",
     "SystemMessage", "UserMessage")
)  # fmt: skip
_LONGEST_CONSTANT = 10_000
"""Characters of one Java constant: at most six bytes each, and 65,535 bytes are allowed."""


class LangChain4jTarget(ExportTarget):
    """One final class with the messages and a guardrail a stage."""

    name = "langchain4j"
    title = "LangChain4j, Java"
    description = (
        "A Java class with prompt templates and decision-model guardrails, for version 1.21 or later"
    )
    cannot_express = (
        "paths into nested parameters (each becomes a plain variable)",
        "lines that drop when an optional value is missing",
        "what yes and no mean (joined to the question)",
        "checks on a pattern, a length or languages (they ask no model)",
        "translation, repairs and tools",
    )

    def export(self, snapshot: ProjectSnapshot, *, parameter_set: str | None = None) -> Export:
        """Return `NAME.java`; the parameter set is not used."""
        snapshot, rules = common.without_rules(snapshot)
        prompt, blank = _without_blank_messages(flatten(snapshot, reserved=_RESERVED))
        losses = [*rules, *common.prompt_losses(snapshot, prompt), *_literal_braces(prompt), *_roles(prompt)]
        losses += [*blank, *_values(prompt)]
        losses += common.left_out(snapshot, parameters=True, translation=True, tools=True, chat=True)
        losses += common.meanings_joined(snapshot)
        if common.all_checks(snapshot):
            losses.append(
                Loss(
                    "changed",
                    "decision model",
                    "Pass a DecisionModel of your own; thresholds belong to its version",
                )
            )
        if snapshot.output_guardrail.reprompt is not None and snapshot.output_guardrail.max_retries != 2:
            losses.append(
                Loss(
                    "left out",
                    "max_retries",
                    "Set it where the AI service is built; a guardrail does not carry it",
                )
            )
        name = camel(snapshot.name)
        if name in _USED_NAMES:
            name += "Project"
        return Export(
            self.name, (ExportedFile(f"{name}.java", _class(snapshot, prompt, name)),), tuple(losses)
        )


def _without_blank_messages(prompt: FlatPrompt) -> tuple[FlatPrompt, list[Loss]]:
    """Return the prompt without messages that say nothing, which LangChain4j refuses to make."""
    kept = tuple(
        (role, parts)
        for role, parts in prompt.messages
        if any(part.kind == "variable" or part.text.strip() for part in parts)
    )
    count = len(prompt.messages) - len(kept)
    if not count:
        return prompt, []
    loss = Loss(
        "left out", common.plural(count, "blank message"), "LangChain4j takes no message without text"
    )
    return replace(prompt, messages=kept), [loss]


def _values(prompt: FlatPrompt) -> list[Loss]:
    if not prompt.variables:
        return []
    detail = "Java turns lists and maps into text in its own way and refuses null; pass the texts themselves"
    return [Loss("runs differently", "values that are no text", detail)]


def _literal_braces(prompt: FlatPrompt) -> list[Loss]:
    templates = [_mustache(parts) for _, parts in prompt.messages]
    if not any(
        "{{" + name + "}}" in template for template in templates for name in (_ONE_BRACE, _TWO_BRACES)
    ):
        return []
    return [
        Loss(
            "changed", "literal braces", "LangChain4j has no way to write them; a fixed variable puts them in"
        )
    ]


def _roles(prompt: FlatPrompt) -> list[Loss]:
    odd = sorted({role for role, _ in prompt.messages if role not in (*_MESSAGE_TYPES, "user")})
    return [Loss("changed", f"role {role}", "Written as a user message") for role in odd]


def _class(snapshot: ProjectSnapshot, prompt: FlatPrompt, name: str) -> str:
    inputs, outputs = snapshot.input_guardrail, snapshot.output_guardrail
    lines = [
        *_imports(prompt, inputs, outputs),
        "",
        f"/** {_comment(snapshot.name)}, written by Prompt Workbench. */",
    ]
    lines += [f"public final class {name} {{", "", f"    private {name}() {{}}"]
    if prompt.messages:
        lines += _messages(prompt)
    for stage, settings in (("input", inputs), ("output", outputs)):
        if settings.checks:
            lines += _guardrail(stage, settings)  # type: ignore[arg-type]
    lines += ["}", ""]
    return "\n".join(lines)


def _imports(prompt: FlatPrompt, inputs: GuardrailSettings, outputs: GuardrailSettings) -> list[str]:
    names = set()
    if prompt.messages:
        types = {_MESSAGE_TYPES.get(role, "UserMessage") for role, _ in prompt.messages}
        names |= {f"dev.langchain4j.data.message.{kind}" for kind in (*types, "ChatMessage")}
        names |= {
            "dev.langchain4j.model.input.PromptTemplate",
            "java.util.HashMap",
            "java.util.List",
            "java.util.Map",
        }
    for stage, settings in (("Input", inputs), ("Output", outputs)):
        if settings.checks:
            names.add(f"dev.langchain4j.guardrail.{stage}Guardrail")
            names.add(f"dev.langchain4j.guardrails.DecisionModel{stage}Guardrail")
            names.add("dev.langchain4j.model.decision.DecisionModel")
    return [f"import {name};" for name in sorted(names)]


def _messages(prompt: FlatPrompt) -> list[str]:
    lines: list[str] = []
    for number, (_, parts) in enumerate(prompt.messages, 1):
        lines += ["", f"    private static final PromptTemplate MESSAGE_{number} = PromptTemplate.from("]
        lines += [f"            {_java(_mustache(parts), '            ')});"]
    lines += ["", "    /**", "     * Returns the messages filled from {@code variables}."]
    for variable in prompt.variables:
        note = "" if variable.name == variable.path else f", the value at {_comment(variable.path)}"
        lines.append(f"     * <p>{variable.name}: required{note}")
    lines += ["     */", "    public static List<ChatMessage> messages(Map<String, Object> variables) {"]
    lines += ["        Map<String, Object> values = new HashMap<>(variables);"]
    templates = [_mustache(parts) for _, parts in prompt.messages]
    for name, text in ((_ONE_BRACE, "{"), (_TWO_BRACES, "{{")):
        if any("{{" + name + "}}" in template for template in templates):
            lines.append(f'        values.put("{name}", "{text}");')
    calls = []
    for number, (role, _) in enumerate(prompt.messages, 1):
        kind = _MESSAGE_TYPES.get(role, "UserMessage")
        calls.append(f"                {kind}.from(MESSAGE_{number}.apply(values).text())")
    lines += ["        return List.of(", ",\n".join(calls) + ");", "    }"]
    return lines


def _mustache(parts: tuple[Part, ...]) -> str:
    """Return the template in LangChain4j's dialect; braces that it would read as marks become variables."""
    pieces = []
    for part, following in itertools.zip_longest(parts, parts[1:]):
        if part.kind == "variable":
            pieces.append("{{" + part.text + "}}")
            continue
        text = part.text
        tail = ""
        if following is not None:
            # No brace may stand right before the marks of a variable, those of our own variables included.
            text = text.rstrip("{")
            braces = len(part.text) - len(text)
            tail = ("{{" + _TWO_BRACES + "}}") * (braces // 2) + ("{{" + _ONE_BRACE + "}}") * (braces % 2)
        pieces.append(text.replace("{{", "{{" + _TWO_BRACES + "}}") + tail)
    return "".join(pieces)


def _guardrail(stage: Stage, settings: GuardrailSettings) -> list[str]:
    kind = stage.capitalize()
    lines = ["", f"    public static {kind}Guardrail {stage}Guardrail(DecisionModel decisionModel) {{"]
    lines += [
        f"        return DecisionModel{kind}Guardrail.builder()",
        "                .decisionModel(decisionModel)",
    ]
    for check in settings.checks:
        question = _java(common.question_with_meanings(check), "                        ")
        threshold = "" if check.threshold is None else f", {_double(check.threshold)}"
        lines.append(f"                .check({_java(check.name, '')}, {question}{threshold})")
    lines.append(f"                .threshold({_double(settings.threshold)})")
    if stage == "output" and settings.reprompt is not None:
        lines.append(f"                .reprompt({_java(settings.reprompt, '                        ')})")
    return [*lines, "                .build();", "    }"]


def _double(value: float) -> str:
    """Return a Java double; an integer literal would not become a `Double`."""
    return repr(float(value))


def _java(text: str, indent: str) -> str:
    """Return Java string literals, one a line of the text, joined with `+`; a long text is joined when it runs."""
    constants = [""]
    for line in text.splitlines(keepends=True):
        for at in range(0, len(line), _LONGEST_CONSTANT):
            piece = line[at : at + _LONGEST_CONSTANT]
            if len(constants[-1]) + len(piece) > _LONGEST_CONSTANT:
                constants.append("")
            constants[-1] += piece
    if len(constants) == 1:
        return _constant(constants[0], indent)
    # The compiler joins what `+` joins into one constant, and refuses one that is too long for a class file.
    joined = ",".join(f"\n{indent}{_constant(each, indent)}" for each in constants if each)
    return f'String.join("",{joined})'


def _constant(text: str, indent: str) -> str:
    pieces = text.splitlines(keepends=True) or [""]
    return f"\n{indent}+ ".join(f'"{escapers.java_string(piece)}"' for piece in pieces)


def _comment(text: str) -> str:
    """Return text that can neither end a Java comment nor begin a Unicode escape in it."""
    return " ".join(text.split()).replace("*/", "* /").replace("\\", "/").replace("@", "(at)")
