"""The edits of a project: each changes the lines it is about and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date
from pathlib import Path
from typing import Any

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.evaluation.cases import Case
from workbench.engine.guardrails.settings import CheckSettings, Stage
from workbench.engine.model_settings import ModelSettings
from workbench.engine.projects import files
from workbench.engine.projects.case_file import CaseFile, LargeCases
from workbench.engine.projects.check_rows import (
    MODEL_KEYS,
    ORIGIN_KEYS,
    REVIEW_KEY,
    RULE_KEYS,
    check_values,
)
from workbench.engine.projects.files import PARAMETERS_FOLDER
from workbench.engine.projects.settings_reader import ProjectSettings, read_settings
from workbench.engine.projects.toml_document import TomlDocument
from workbench.engine.projects.toml_scan import Path as TomlPath
from workbench.engine.templates.options import MessageTemplate, TemplateOptions
from workbench.engine.text import TextFile, nearest
from workbench.engine.tools.definitions import Simulation, ToolDefinition
from workbench.engine.translation.settings import Rule, TranslationSettings

PARAMETERS_SCHEMA = "parameters.schema.json"
OUTPUT_SCHEMA = "output.schema.json"
CASES = "cases.jsonl"


@dataclass(frozen=True, slots=True)
class ThresholdOrigin:
    """On what a threshold was chosen; when the model or the wording changes, the threshold is stale.

    `model` is the name and version of the model that answered, `question` the check's question then,
    `date` an ISO date. `yes_means` and `no_means` are those of the check then, empty where it had none;
    `None` where they were not noted, as in older projects.
    """

    model: str = ""
    question: str = ""
    date: str = ""
    yes_means: str | None = None
    no_means: str | None = None

    def reworded(self, check: CheckSettings) -> str | None:
        """Return in what the wording of `check` differs from the one then, `None` where it does not."""
        if self.question and self.question != check.question:
            return "it was chosen for another question"
        for noted, now, word in (
            (self.yes_means, check.yes_means, "yes"),
            (self.no_means, check.no_means, "no"),
        ):
            if noted is not None and noted != (now or ""):
                return f"it was chosen for another description of {word}"
        return None


@dataclass(slots=True)
class Member:
    """One text file beside `workbench.toml`: its text now, and what the disk held when it was last seen."""

    text: TextFile | None
    on_disk: str | None
    saved: TextFile | None


class ProjectEdits:
    """The part of a project that changes it in memory; `Project` opens and saves it."""

    root: Path | None
    revision: int
    _document: TomlDocument
    _members: dict[str, Member]
    _set_files: dict[str, str]
    _cases: CaseFile
    _cases_ahead: bool
    large_cases: LargeCases | None
    _file_problems: list[Diagnostic]

    def _settings(self) -> ProjectSettings:
        raise NotImplementedError

    def _text_of(self, relative: str) -> TextFile | None:
        if relative == CASES:
            self._settle_cases()
        member = self._members.get(relative)
        return member.text if member else None

    # Edits of workbench.toml

    def states(self, *path: str) -> bool:
        """Tell whether `workbench.toml` states a value at this path of keys, rather than leaving the default."""
        nothing = object()
        return self._document.get(path, nothing) is not nothing

    def _edit(self, path: TomlPath, value: Any) -> None:
        """Set a value, or remove it when `value` is `None`."""
        changed = self._document.remove(path) if value is None else self._document.set(path, value)
        if changed:
            self.revision += 1

    def set_name(self, name: str) -> None:
        """Give the project a name."""
        self._edit(("name",), name)

    def set_description(self, description: str) -> None:
        """Say what the project is for; an empty text removes the key."""
        self._edit(("description",), description or None)

    def set_message(self, index: int, content: str) -> None:
        """Change the text of message `index`.

        Raises:
            IndexError: when there is no such message.
        """
        self._edit((*self._row(("template", "messages"), index), "content"), content)

    def set_message_role(self, index: int, role: str) -> None:
        """Change the role of message `index`."""
        self._edit((*self._row(("template", "messages"), index), "role"), role)

    def add_message(self, role: str, content: str, index: int | None = None) -> None:
        """Add a message before `index`, or at the end."""
        self._insert(("template", "messages"), index, {"role": role, "content": content})

    def remove_message(self, index: int) -> None:
        """Remove message `index`."""
        self._edit(self._row(("template", "messages"), index), None)

    def move_message(self, old: int, new: int) -> None:
        """Move message `old` so that it becomes message `new`."""
        self._move(("template", "messages"), old, new)

    def set_template_option(self, key: str, value: Any) -> None:
        """Change one option of the template by its name in the file; `None` removes it.

        Raises:
            ValueError: when there is no such option or the value does not suit it.
        """
        self._set_known(("template",), key, value, _field_names(TemplateOptions))

    def set_check(self, stage: Stage, index: int, check: CheckSettings) -> None:
        """Make `check` the check at `index` of a stage; keys that stay equal are not touched.

        Where a question becomes a rule, what only a question has goes; a note on its threshold stays.
        """
        path = self._row(_checks(stage), index)
        row = dict(self._document.get(path))
        values = check_values(check)
        if check.rule is not None and "question" in row and "question" not in values:
            for key in MODEL_KEYS:
                row.pop(key, None)
        for key, value in values.items():
            row.pop(key, None)
            if value is not None:
                row[key] = value
        self._edit(path, row)

    def add_check(self, stage: Stage, check: CheckSettings, index: int | None = None) -> None:
        """Add a check before `index`, or at the end."""
        row = {key: value for key, value in check_values(check).items() if value is not None}
        self._insert(_checks(stage), index, row)

    def remove_check(self, stage: Stage, index: int) -> None:
        """Remove the check at `index`."""
        self._edit(self._row(_checks(stage), index), None)

    def move_check(self, stage: Stage, old: int, new: int) -> None:
        """Move the check `old` so that it becomes check `new`."""
        self._move(_checks(stage), old, new)

    def set_guardrail(self, stage: Stage, key: str, value: Any) -> None:
        """Change `threshold`, or at the output stage `reprompt` or `max_retries`; `None` removes it."""
        known = ("threshold",) if stage == "input" else ("threshold", "reprompt", "max_retries")
        self._set_known(("guardrails", stage), key, value, known)

    def set_threshold(
        self,
        stage: Stage,
        check_name: str | None,
        value: float | None,
        *,
        origin: ThresholdOrigin | None = None,
    ) -> None:
        """Set the threshold of a check, or of the guardrail when `check_name` is `None`.

        `value` lies between 0 and 1; `None` takes the check's own away, so that it inherits. `origin` notes
        on what the value was chosen; without it an older note is removed, since it no longer holds.

        Raises:
            ValueError: when there is no such check, it asks no model, or the value is out of range.
        """
        if value is not None and (isinstance(value, bool) or not 0 <= value <= 1):
            raise ValueError(f"a threshold lies between 0 and 1, not at {value}")
        if check_name is None:
            self._edit(("guardrails", stage, "threshold"), value)
            return
        path, row = self._named_check(stage, check_name)
        if _asks_no_model(row):
            raise ValueError(
                f"the check `{check_name}` asks no model: its answer is 0 or 1, without a threshold"
            )
        before = row.get("threshold")
        self._edit((*path, "threshold"), value)
        if origin is not None:
            note = {key: getattr(origin, key) for key in ORIGIN_KEYS}
            note["date"] = origin.date or str(date.today())
            self._edit((*path, "chosen"), {key: text for key, text in note.items() if text is not None})
        elif before != value:
            self._edit((*path, "chosen"), None)

    def set_review(self, stage: Stage, check_name: str, value: float | None) -> None:
        """Leave what lies between `value` and the threshold of a check to a person; `None` leaves nothing.

        Raises:
            ValueError: when there is no such check, it asks no model, or the value is out of range.
        """
        if value is not None and (isinstance(value, bool) or not 0 <= value <= 1):
            raise ValueError(f"a review band begins between 0 and 1, not at {value}")
        path, row = self._named_check(stage, check_name)
        if value is not None and _asks_no_model(row):
            raise ValueError(f"the check `{check_name}` asks no model: its answer is 0 or 1")
        self._edit((*path, REVIEW_KEY), value)

    def set_translation(self, key: str, value: Any) -> None:
        """Change one key of the translation (also `preamble`, `rules` and `budget`); `None` removes it."""
        if key == "preamble":
            self.set_preamble(value if value is not None else ())
        elif key == "rules":
            self.set_rules(value or ())
        else:
            self._set_known(("translation",), key, value, _field_names(TranslationSettings))

    def set_preamble(self, preamble: str | Sequence[MessageTemplate]) -> None:
        """Put the template (`"template"`), messages, or nothing in front of the request prompt."""
        value: Any = preamble
        if not isinstance(preamble, str):
            value = [{"role": m.role, "content": m.content} for m in preamble] or None
        elif preamble != "template":
            raise ValueError('a preamble is "template" or a list of messages')
        self._edit(("translation", "preamble"), value)

    def set_rules(self, rules: Sequence[Rule]) -> None:
        """Make `rules` the data-only checks of the translated value."""
        rows = [{"path": r.path, "op": r.op, "value": r.value, "message": r.message} for r in rules]
        value = [{key: item for key, item in row.items() if item is not None} for row in rows]
        self._edit(("translation", "rules"), value or None)

    def set_tools(self, tools: Sequence[ToolDefinition]) -> None:
        """Make `tools` the tools of the project."""
        self._edit(("tools",), [_tool_values(tool) for tool in tools] or None)

    def set_model(self, model: ModelSettings) -> None:
        """Make `model` what the project says of the model with its name."""
        values = {
            "provider": model.provider,
            "base_url": model.base_url,
            "model": model.model,
            "secret": model.secret,
            **model.options,
        }
        path = ("models", model.name)
        self._edit(path, {key: value for key, value in values.items() if value is not None})

    def remove_model(self, name: str) -> None:
        """Remove a model from the project."""
        self._edit(("models", name), None)

    def _set_known(self, table: TomlPath, key: str, value: Any, known: Sequence[str]) -> None:
        """Set a key after a trial reading, so that no edit can put a value there that reading refuses."""
        if key not in known:
            guess = nearest(key, known)
            raise ValueError(f"there is no key `{key}`" + (f"; did you mean `{guess}`?" if guess else ""))
        if value is not None:
            value = _plain(value)
            trial: Any = {key: value}
            for step in reversed(table):
                trial = {step: trial}
            errors = [p.message for p in read_settings(trial)[1] if p.severity == "error"]
            if errors:
                raise ValueError(errors[0])
        self._edit((*table, key), value)

    def _row(self, path: TomlPath, index: int) -> TomlPath:
        rows = self._document.get(path, [])
        if not isinstance(rows, list) or not 0 <= index < len(rows):
            raise IndexError(f"there is no {path[-1]} {index}")
        return (*path, index)

    def _insert(self, path: TomlPath, index: int | None, row: Mapping[str, Any]) -> None:
        rows = self._document.get(path, [])
        self._document.insert_row(path, len(rows) if index is None else index, row)
        self.revision += 1

    def _move(self, path: TomlPath, old: int, new: int) -> None:
        if old != new:
            self._document.move_row(path, old, new)
            self.revision += 1

    def _check_path(self, stage: Stage, name: str) -> TomlPath | None:
        rows = self._document.get(_checks(stage), [])
        for index, row in enumerate(rows if isinstance(rows, list) else []):
            if isinstance(row, Mapping) and row.get("name") == name:
                return (*_checks(stage), index)
        return None

    def _named_check(self, stage: Stage, name: str) -> tuple[TomlPath, Mapping[str, Any]]:
        """Return where the check is, and its row.

        Raises:
            ValueError: when there is no such check.
        """
        path = self._check_path(stage, name)
        if path is None:
            raise ValueError(f"there is no check named `{name}` at the {stage} stage")
        return path, self._document.get(path)

    # Edits of the other files

    def set_parameter_set(self, name: str, text: str | TextFile) -> None:
        """Make `text` the JSON text of a parameter set, as typed; a set that is not there is added."""
        relative = self._set_files.get(name)
        if relative is None:
            self.add_parameter_set(name, text)
        else:
            self._set_text(relative, text)

    def add_parameter_set(self, name: str, text: str | TextFile = "{}\n") -> None:
        """Add a parameter set.

        Raises:
            ValueError: when the name is taken (also in other case, which some file systems cannot tell
                apart), empty or too long for a file.
        """
        taken = next((other for other in self._set_files if other.casefold() == name.casefold()), None)
        if taken is not None:
            raise ValueError(f"there is already a parameter set named `{taken}`")
        relative = f"{PARAMETERS_FOLDER}/{files.file_name_of_set(name)}"
        self._set_files[name] = relative
        self._set_text(relative, text)

    def remove_parameter_set(self, name: str) -> None:
        """Remove a parameter set; its file goes when the project is saved."""
        relative = self._set_files.pop(self._known_set(name))
        self._set_text(relative, None)

    def rename_parameter_set(self, old: str, new: str) -> None:
        """Give a parameter set another name."""
        if old == new:
            return
        relative = self._set_files.pop(self._known_set(old))
        text = self._text_of(relative)
        try:
            self.add_parameter_set(new, text or TextFile("{}\n"))
        except ValueError:
            self._set_files[old] = relative
            raise
        self._set_text(relative, None)

    def _known_set(self, name: str) -> str:
        if name not in self._set_files:
            raise ValueError(f"there is no parameter set named `{name}`")
        return name

    def set_parameters_schema(self, text: str | None) -> None:
        """Make `text` the JSON Schema of the parameters; `None` removes it."""
        self._set_text(PARAMETERS_SCHEMA, text)

    def set_output_schema(self, text: str | None) -> None:
        """Make `text` the JSON Schema of the translated object; `None` removes it."""
        self._set_text(OUTPUT_SCHEMA, text)

    def set_cases(self, cases: Sequence[Case]) -> None:
        """Make `cases` the labelled cases; rows that stay equal keep their text.

        Raises:
            ValueError: where the file is too long to be held, so that only its first cases are known.
        """
        if tuple(cases) == self._cases.cases:
            return
        if self.large_cases is not None:
            raise ValueError(self.large_cases.words())
        self._cases.replace(cases)
        self._cases_ahead = True
        self._file_problems = [found for found in self._file_problems if found.file != CASES]
        self.revision += 1
        self._settings_stay()

    def _settings_stay(self) -> None:
        """Say that the last revision left `workbench.toml` as it was, so that it need not be read again."""
        raise NotImplementedError

    def _settle_cases(self) -> None:
        """Take the text of edited cases over; putting it together for every edit would make each cost all rows."""
        if self._cases_ahead:
            self._cases_ahead = False
            revision = self.revision
            self._set_text(CASES, self._cases.text)
            self.revision = revision

    def set_graph(self, text: str | None, file: str = "graph.json") -> None:
        """Use an object graph with this JSON text instead of messages; `None` goes back to messages."""
        present = self._settings().graph_file
        if text is None:
            self._edit(("template", "graph"), None)
            if present is not None:
                self._set_text(present, None)
            return
        if present is None:
            if self.root is not None:
                files.inside(self.root, file)
            self._edit(("template", "graph"), file)
        self._set_text(present or file, text)

    def _set_text(self, relative: str, text: str | TextFile | None) -> None:
        member = self._members.setdefault(relative, Member(None, None, None))
        before = member.text or member.saved
        if isinstance(text, str):
            text = before.with_text(text) if before else TextFile(text)
        if member.text == text:
            return
        member.text = text
        self._file_problems = [found for found in self._file_problems if found.file != relative]
        self.revision += 1


def _checks(stage: Stage) -> TomlPath:
    return ("guardrails", stage, "checks")


def _asks_no_model(row: Mapping[str, Any]) -> bool:
    return "question" not in row and any(key in row for key in RULE_KEYS)


def _tool_values(tool: ToolDefinition) -> dict[str, Any]:
    values: dict[str, Any] = {"name": tool.name}
    if tool.description:
        values["description"] = tool.description
    values["parameters"] = tool.parameters
    if tool.return_immediately:
        values["return_immediately"] = True
    if isinstance(tool.compensate, str):
        values["compensate"] = tool.compensate
    if tool.simulate is not None:
        values["simulate"] = _simulation_values(tool.simulate)
    if tool.compensate is not None and not isinstance(tool.compensate, str):
        values["compensate"] = _simulation_values(tool.compensate)
    return values


def _simulation_values(simulation: Simulation) -> dict[str, Any]:
    values = {
        "text": simulation.text,
        "json": simulation.json,
        "contents": None if simulation.contents is None else _plain(simulation.contents),
        "error": simulation.error,
        "delay_ms": simulation.delay_ms or None,
        "result": simulation.result,
        "attributes": simulation.attributes,
    }
    return {key: value for key, value in values.items() if value is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _field_names(settings: type[TemplateOptions] | type[TranslationSettings]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(settings))
