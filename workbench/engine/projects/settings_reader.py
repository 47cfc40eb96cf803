"""Turns the values of `workbench.toml` into settings, and says of every key what is wrong with it.

Reading is total: whatever the file holds, settings come out, with defaults in the place of what could not
be used and one problem for each such place. An unknown key is a warning, a wrong type an error.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from workbench.engine.guardrails.settings import DEFAULT_THRESHOLD, GuardrailSettings, Stage
from workbench.engine.model_settings import ModelSettings
from workbench.engine.projects.check_rows import lint_review, read_check
from workbench.engine.projects.model_rows import read_models
from workbench.engine.projects.toml_scan import Path
from workbench.engine.templates.options import DIALECTS, MessageTemplate, TemplateOptions
from workbench.engine.templates.spans import can_be_context
from workbench.engine.text import nearest, shorten
from workbench.engine.tools.definitions import Simulation, ToolDefinition
from workbench.engine.translation.settings import SCHEMA_STYLES, Rule, TranslationSettings

ESCAPES = (
    "none",
    "json_string",
    "xml",
    "html",
    "markdown",
    "regex",
    "shell",
    "python_literal",
    "java_string",
)
ROLES = ("system", "developer", "user", "assistant", "tool")
RULE_OPERATORS = ("==", "!=", "<", "<=", ">", ">=", "in", "not in", "matches", "exists", "length")

_TOO_LARGE = 2**63
_TYPES: dict[type, str] = {str: "a text", bool: "true or false", int: "a whole number", float: "a number"}


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong at a path of the file; its line is looked up when somebody asks."""

    severity: Literal["error", "warning", "info"]
    code: str
    message: str
    path: Path
    hint: str | None = None
    of_key: bool = False


@dataclass(frozen=True, slots=True)
class ProjectSettings:
    """All that `workbench.toml` says, apart from the files it names."""

    name: str = ""
    description: str = ""
    template: TemplateOptions = field(default_factory=TemplateOptions)
    messages: tuple[MessageTemplate, ...] = ()
    graph_file: str | None = None
    input_guardrail: GuardrailSettings = field(default_factory=GuardrailSettings)
    output_guardrail: GuardrailSettings = field(default_factory=GuardrailSettings)
    translation: TranslationSettings = field(default_factory=TranslationSettings)
    tools: tuple[ToolDefinition, ...] = ()
    models: Mapping[str, ModelSettings] = field(default_factory=dict)


def read_settings(values: Mapping[str, Any]) -> tuple[ProjectSettings, list[Problem]]:
    """Return the settings in `values` and every problem found in them."""
    problems: list[Problem] = []
    root = _Table(values, (), problems)
    root.number("format", 1, whole=True)
    template = root.table("template")
    guardrails = root.table("guardrails")
    settings = ProjectSettings(
        name=root.text("name", ""),
        description=root.text("description", ""),
        template=_template_options(template),
        messages=tuple(_message(row) for row in template.rows("messages")),
        graph_file=template.optional_text("graph"),
        input_guardrail=_guardrail(guardrails.table("input"), "input"),
        output_guardrail=_guardrail(guardrails.table("output"), "output"),
        translation=_translation(root.table("translation")),
        tools=_tools(root.rows("tools")),
        models=read_models(root.table("models")),
    )
    guardrails.done()
    template.done()
    root.done()
    _judge_target(settings, problems)
    return settings, problems


def _judge_target(settings: ProjectSettings, problems: list[Problem]) -> None:
    """Warn where requests shall become programs and there is nothing, or no name, that a program could call."""
    if settings.translation.target != "program":
        return
    path: Path = ("translation", "target")
    if not settings.tools:
        message = "requests become programs, but there is no tool that a program could call"
        problems.append(Problem("warning", "target", message, path, "add [[tools]], or leave `target` out"))
    for index, tool in enumerate(settings.tools):
        if tool.name and not (tool.name.isascii() and tool.name.isidentifier()):
            message = f"programs cannot call {shown(tool.name)}: names have letters, digits and _ only"
            problems.append(Problem("warning", "target", message, ("tools", index, "name")))


def _template_options(table: _Table) -> TemplateOptions:
    defaults = TemplateOptions()
    contexts = table.table("contexts")
    dialect = table.choice("dialect", defaults.dialect, DIALECTS)
    context_name = table.filled("context_name", defaults.context_name)
    if dialect == "context" and not can_be_context(context_name):
        message = f"no placeholder can have the context name {shown(context_name)}"
        hint = "give a name without a dot, without [% and %], and with no blank before it"
        table.problem("warning", "context_name", message, "context_name", hint)
    return TemplateOptions(
        dialect=cast(Any, dialect),
        context_name=context_name,
        escape=table.choice("escape", defaults.escape, ESCAPES),
        unresolved=cast(Any, table.choice("unresolved", defaults.unresolved, ("keep", "empty", "error"))),
        null_text=table.text("null_text", defaults.null_text),
        many=cast(Any, table.choice("many", defaults.many, ("join", "json", "first", "error"))),
        expand_parameters=table.flag("expand_parameters", defaults.expand_parameters),
        replace_keys=table.flag("replace_keys", defaults.replace_keys),
        literal_escape=table.flag("literal_escape", defaults.literal_escape),
        collapse_blank_lines=table.flag("collapse_blank_lines", defaults.collapse_blank_lines),
        required=table.texts("required"),
        optional=table.texts("optional"),
        contexts={name: contexts.table(name).all_texts() for name in contexts.names()},
        fields=table.table("fields").all_texts(),
    )


def _message(table: _Table) -> MessageTemplate:
    role = table.filled("role", "user", needed=True)
    if role not in ROLES:
        guess = nearest(role, ROLES)
        hint = f"did you mean `{guess}`?" if guess else f"usual roles: {', '.join(ROLES)}"
        table.problem("warning", "unknown_role", f"`{role}` is no usual role", "role", hint)
    content = table.text("content", "", needed=True)
    table.done()
    return MessageTemplate(role, content)


def _guardrail(table: _Table, stage: Stage) -> GuardrailSettings:
    defaults = GuardrailSettings()
    rows = table.rows("checks")
    checks = tuple(read_check(row) for row in rows)
    _refuse_doubles(rows, "check")
    settings = GuardrailSettings(
        threshold=table.probability("threshold", DEFAULT_THRESHOLD),
        checks=checks,
    )
    lint_review(rows, checks, settings.threshold)
    if stage == "output":
        reprompt = table.optional_text("reprompt")
        if reprompt is not None and not reprompt.strip():
            table.problem("error", "blank", "`reprompt` is blank", "reprompt", "leave it out to stop at once")
            reprompt = None
        retries = table.number("max_retries", defaults.max_retries, whole=True, low=0)
        settings = GuardrailSettings(settings.threshold, checks, reprompt, int(retries))
    table.done()
    return settings


def _translation(table: _Table) -> TranslationSettings:
    defaults = TranslationSettings()
    preamble: Any = ()
    if isinstance(table.values.get("preamble"), str):
        table.choice("preamble", "template", ("template",))
        preamble = "template"
    else:
        preamble = tuple(_message(row) for row in table.rows("preamble"))
    settings = TranslationSettings(
        type_name=table.filled("type_name", defaults.type_name),
        attempt_repair=table.flag("attempt_repair", defaults.attempt_repair),
        max_repairs=int(table.number("max_repairs", defaults.max_repairs, whole=True, low=0)),
        strip_nulls=cast(Any, table.choice("strip_nulls", defaults.strip_nulls, ("off", "all", "schema"))),
        schema_style=cast(Any, table.choice("schema_style", defaults.schema_style, SCHEMA_STYLES)),
        mode=cast(Any, table.choice("mode", defaults.mode, ("prompt", "json", "schema", "tool"))),
        profile=cast(Any, table.choice("profile", defaults.profile, ("smart", "compat", "strict"))),
        history=cast(Any, table.choice("history", defaults.history, ("last", "all"))),
        repair_model=table.optional_filled("repair_model"),
        request_prompt=table.optional_text("request_prompt"),
        repair_prompt=table.optional_text("repair_prompt"),
        preamble=preamble,
        rules=tuple(_rule(row) for row in table.rows("rules")),
        budget=_budget(table.table("budget")),
        target=cast(Any, table.choice("target", defaults.target, ("value", "program"))),
        stop_without_progress=table.flag("stop_without_progress", defaults.stop_without_progress),
        lenient=table.flag("lenient", defaults.lenient),
        schema_in_system=table.flag("schema_in_system", defaults.schema_in_system),
        try_unstripped_first=table.flag("try_unstripped_first", defaults.try_unstripped_first),
    )
    _refuse_type_name(table, settings)
    table.done()
    return settings


def _refuse_type_name(table: _Table, settings: TranslationSettings) -> None:
    known = re.fullmatch(r"[A-Za-z_$][\w$]*", settings.type_name, re.ASCII)
    if settings.schema_style == "typescript" and known is None:
        message = f"`{shorten(settings.type_name)}` is no name of a TypeScript type"
        hint = "take letters, digits, _ and $, no digit first, or another `schema_style`"
        table.problem("error", "bad_type_name", message, "type_name", hint)


def _rule(table: _Table) -> Rule:
    rule = Rule(
        path=table.filled("path", "$", needed=True),
        op=table.choice("op", "exists", RULE_OPERATORS, needed=True),
        value=table.plain("value"),
        message=table.text("message", ""),
    )
    table.done()
    if not table.has_problems():
        _refuse_rule(table, rule)
    return rule


def _refuse_rule(table: _Table, rule: Rule) -> None:
    from workbench.engine.translation.rules import rule_problem  # slow to import, and few projects have rules

    wrong = rule_problem(rule)
    if wrong is not None:
        key, message, hint = wrong
        table.problem("error", "rule", message, key if key in table.values else None, hint)


# The least value of each limit, and whether it is a whole number.
_BUDGET = {
    "calls": (0, True),
    "tokens": (0, True),
    "seconds": (0, False),
    "cost": (0, False),
    "max_tokens": (1, True),
    "token_ramp": (1.1, False),
}


def _budget(table: _Table) -> dict[str, float]:
    budget = {}
    for key, (low, whole) in _BUDGET.items():
        if key in table.values:
            budget[key] = table.number(key, low, whole=whole, low=low)
    table.done()
    return budget


def _tools(rows: Sequence[_Table]) -> tuple[ToolDefinition, ...]:
    tools = []
    for row in rows:
        defaults = ToolDefinition("")
        tools.append(
            ToolDefinition(
                name=row.filled("name", "", needed=True),
                description=row.text("description", ""),
                parameters=row.filled("parameters", defaults.parameters),
                simulate=_simulation(row.table("simulate")) if "simulate" in row.values else None,
                return_immediately=row.flag("return_immediately", defaults.return_immediately),
                compensate=_compensation(row),
            )
        )
        row.done()
    _refuse_doubles(rows, "tool")
    _judge_tools(rows, tools)
    return tuple(tools)


def _compensation(row: _Table) -> str | Simulation | None:
    if isinstance(row.values.get("compensate"), Mapping):
        return _simulation(row.table("compensate"))
    return row.optional_filled("compensate")


def _judge_tools(rows: Sequence[_Table], tools: Sequence[ToolDefinition]) -> None:
    """Report what keeps a tool that was read without a problem from being sent or run."""
    if not tools:
        return
    from workbench.engine.tools.checking import check_tool  # slow to import, and few projects have tools

    names = [tool.name for tool in tools]
    for row, tool in zip(rows, tools, strict=True):
        if row.has_problems():
            continue
        for found in check_tool(tool, names):
            keys = (found.node or "").split(".")
            path = (*row.path, *(key for key in keys if key))
            row.problems.append(Problem(found.severity, found.code, found.message, path, found.hint))


def _simulation(table: _Table) -> Simulation:
    contents = table.plain("contents")
    if contents is not None and not isinstance(contents, list):
        table.problem("error", "wrong_type", "`contents` must be a list of tables", "contents")
        contents = None
    simulation = Simulation(
        text=table.optional_text("text"),
        json=table.optional_text("json"),
        contents=None if contents is None else tuple(contents),
        error=table.optional_text("error"),
        delay_ms=int(table.number("delay_ms", 0, whole=True, low=0)),
        result=table.optional_text("result"),
        attributes=table.optional_text("attributes"),
    )
    answers = [key for key in ("text", "json", "contents", "error") if key in table.values]
    if len(answers) != 1:
        said = ", ".join(f"`{key}`" for key in answers) or "none"
        message = f"a simulated tool answers with exactly one of text, json, contents and error; here: {said}"
        table.problem("error", "simulation", message, answers[1] if len(answers) > 1 else None)
    table.done()
    return simulation


def _refuse_doubles(rows: Iterable[_Table], what: str) -> None:
    seen: set[str] = set()
    for row in rows:
        name = row.values.get("name")
        if isinstance(name, str):
            if name in seen:
                row.problem("error", "double_name", f"there is more than one {what} named `{name}`", "name")
            seen.add(name)


class _Table:
    """One table of the file: reads typed keys, remembers which were asked for, collects problems."""

    def __init__(self, values: Any, path: Path, problems: list[Problem]) -> None:
        self.path = path
        self.problems = problems
        self.values: Mapping[str, Any] = values if isinstance(values, Mapping) else {}
        self.known: dict[str, None] = {}

    def problem(
        self,
        severity: Literal["error", "warning", "info"],
        code: str,
        message: str,
        key: str | None,
        hint: str | None = None,
        *,
        of_key: bool = False,
    ) -> None:
        path = self.path if key is None else (*self.path, key)
        self.problems.append(Problem(severity, code, message, path, hint, of_key))

    def has_problems(self) -> bool:
        """Tell whether anything was found wrong in this table so far."""
        return any(problem.path[: len(self.path)] == self.path for problem in self.problems)

    def described(self, key: str) -> str:
        """Return what the value of `key` is, in words."""
        return describe(self.values[key])

    def names(self) -> list[str]:
        return list(self.values)

    def table(self, key: str) -> _Table:
        value = self._take(key)
        if value is not None and not isinstance(value, Mapping):
            self._wrong(key, value, f"a table, `[{'.'.join([*map(str, self.path), key])}]`")
        return _Table(value, (*self.path, key), self.problems)

    def rows(self, key: str) -> list[_Table]:
        value = self._take(key)
        if value is None:
            return []
        name = ".".join([*(step for step in self.path if isinstance(step, str)), key])
        if not isinstance(value, list):
            self._wrong(key, value, f"a list of tables, `[[{name}]]`")
            return []
        rows = []
        for index, row in enumerate(value):
            if isinstance(row, Mapping):
                rows.append(_Table(row, (*self.path, key, index), self.problems))
            else:
                message = f"row {index + 1} of `{key}` must be a table, not {describe(row)}"
                self.problems.append(Problem("error", "wrong_type", message, (*self.path, key, index)))
        return rows

    def text(self, key: str, default: str, *, needed: bool = False) -> str:
        value = self._take(key)
        if value is None:
            if needed:
                self.problem("error", "missing_key", f"`{key}` is missing", None, f'add `{key} = "…"`')
            return default
        if not isinstance(value, str):
            self._wrong(key, value, "a text in quotes")
            return default
        return value

    def filled(self, key: str, default: str, *, needed: bool = False) -> str:
        value = self.text(key, default, needed=needed)
        if key in self.values and isinstance(self.values[key], str) and not value.strip():
            self.problem("error", "blank", f"`{key}` is blank", key)
            return default
        return value

    def optional_text(self, key: str) -> str | None:
        value = self.text(key, "")
        return value if isinstance(self.values.get(key), str) else None

    def optional_filled(self, key: str) -> str | None:
        return self.filled(key, "") or None

    def choice(self, key: str, default: str, choices: Sequence[str], *, needed: bool = False) -> str:
        value = self.text(key, default, needed=needed)
        if value in choices or (not value and key not in self.values):
            return value
        if isinstance(self.values.get(key), str):
            guess = nearest(value, choices)
            hint = f"did you mean `{guess}`?" if guess else f"one of: {', '.join(choices)}"
            self.problem("error", "bad_value", f"`{key}` cannot be {shown(value)}", key, hint)
        return default

    def flag(self, key: str, default: bool) -> bool:
        value = self._take(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            self._wrong(key, value, "true or false, without quotes")
            return default
        return value

    def number(self, key: str, default: float, *, whole: bool = False, low: float | None = None) -> float:
        value = self._take(key)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
            self._wrong(key, value, "a whole number" if whole else "a number")
            return default
        # TOML 1.0 has no such whole number, though tomlkit reads it.
        if isinstance(value, int) and value >= _TOO_LARGE:
            self.problem("error", "bad_value", f"`{key}` is too large: {shown(value)}", key)
            return default
        if (isinstance(value, float) and not math.isfinite(value)) or (low is not None and value < low):
            wanted = "a number that is finite" if low is None else f"at least {low}"
            self.problem("error", "bad_value", f"`{key}` must be {wanted}, but is {shown(value)}", key)
            return default
        return cast(float, value)

    def probability(self, key: str, default: float) -> float:
        value = self._take(key)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float):
            self._wrong(key, value, "a number from 0 to 1, without quotes")
            return default
        if not 0 <= value <= 1:
            message = f"`{key}` must be between 0.0 and 1.0, but is {shown(value)}"
            self.problem("error", "bad_value", message, key)
            return default
        return float(value)

    def optional_probability(self, key: str) -> float | None:
        value = self.probability(key, -1.0)
        return None if value < 0 else value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self._take(key)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self._wrong(key, value, "a list of texts")
            return ()
        return tuple(value)

    def all_texts(self) -> dict[str, str]:
        """Read every key of this table as a text."""
        texts = {key: self.text(key, "") for key in self.names()}
        return {key: text for key, text in texts.items() if isinstance(self.values[key], str)}

    def plain(self, key: str) -> Any:
        """Return any value as JSON has it; dates, which JSON has not, are an error."""
        value = self._take(key)
        if not _is_plain(value):
            self.problem("error", "wrong_type", f"`{key}` holds a date", key, "write the date in quotes")
            return None
        return value

    def done(self, known: Iterable[str] = ()) -> None:
        """Warn of every key that nobody asked for."""
        names = (
            [*self.known, *known] if not known else [*list(known), "provider", "base_url", "model", "secret"]
        )
        for key in self.values:
            if key not in names:
                guess = nearest(key, names)
                hint = f"did you mean `{guess}`?" if guess else "it is kept, but nothing reads it"
                where = self._where()
                self.problem("warning", "unknown_key", f"unknown key `{key}`{where}", key, hint, of_key=True)

    def _where(self) -> str:
        names = [step for step in self.path if isinstance(step, str)]
        return f" in [{'.'.join(names)}]" if names else ""

    def _take(self, key: str) -> Any:
        self.known[key] = None
        return self.values.get(key)

    def _wrong(self, key: str, value: Any, wanted: str) -> None:
        self.problem("error", "wrong_type", f"`{key}` must be {wanted}, not {describe(value)}", key)


def describe(value: Any) -> str:
    """Return what a value is, in words, with its spelling where it is short."""
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list):
        return "a list"
    name = _TYPES.get(type(value), "a date")
    return f"{name} ({shown(value)})"


def shown(value: Any) -> str:
    """Return a value as a person would write it, cut short."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{shorten(value, 40)}"' if isinstance(value, str) else shorten(str(value), 40)


def _is_plain(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(_is_plain(item) for item in value.values())
    if isinstance(value, list):
        return all(_is_plain(item) for item in value)
    return value is None or isinstance(value, str | bool | int | float)
