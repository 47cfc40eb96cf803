"""The project that is open: its files, its edits, and saving them without losing a byte."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from workbench.engine.diagnostics import Diagnostic, sort_diagnostics
from workbench.engine.evaluation.cases import Case
from workbench.engine.guardrails.settings import Stage
from workbench.engine.projects import files
from workbench.engine.projects.case_file import HEAD_BYTES, LARGE_BYTES, CaseFile, LargeCases
from workbench.engine.projects.check_rows import REVIEW_KEY
from workbench.engine.projects.edits import (
    CASES,
    OUTPUT_SCHEMA,
    PARAMETERS_SCHEMA,
    Member,
    ProjectEdits,
    ThresholdOrigin,
)
from workbench.engine.projects.errors import ChangedOnDisk, ProjectError
from workbench.engine.projects.files import PARAMETERS_FOLDER, PROJECT_FILE, WORKBENCH_FOLDER
from workbench.engine.projects.migrations import FORMAT, migrate
from workbench.engine.projects.recovery import Recovery, RecoveryInfo, RecoveryState
from workbench.engine.projects.settings_reader import Problem, ProjectSettings, read_settings
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.engine.projects.toml_document import TomlDocument
from workbench.engine.projects.toml_scan import Path as TomlPath
from workbench.engine.projects.toml_values import first_lone_surrogate, write_string
from workbench.engine.text import LineIndex, TextFile

NEW_PROJECT = """\
format = 1
name = {name}

[template]
dialect = "context"
context_name = "param"

[[template.messages]]
role = "system"
content = \"\"\"
You are a helpful assistant.
\"\"\"

[[template.messages]]
role = "user"
content = \"\"\"
[%param.message%]
\"\"\"

[guardrails.input]
threshold = 0.5

[models.decision]
provider = "embedded"

[models.chat]
provider = "local"
"""
# What stands for the fingerprint of a file that cannot be read, such as a link that leads out.
UNREADABLE = "unreadable"
NEW_PARAMETERS = '{\n  "message": "Hello!"\n}\n'


class Project(ProjectEdits):
    """A project folder that is open.

    Reading never fails for what a file says: `diagnostics` lists it, with defaults in its place. All edits
    change the text of their own lines only, raise `revision` by one and can be undone by the inverse edit.
    Nothing is written before `save`. The object belongs to one thread; `snapshot()` may go anywhere.
    """

    def __init__(self, root: Path | None, toml: TextFile, on_disk: str | None) -> None:
        """Use `load` or `new` instead."""
        document, found_format = migrate(TomlDocument(toml.text, PROJECT_FILE))
        self.root = root
        self.read_only = root is not None and root.exists() and not files.is_writable(root)
        self.revision = 0
        self._toml_file = toml
        self._toml_on_disk = on_disk
        self._document = document
        self._migrated_from = found_format if found_format < FORMAT else None
        self._members: dict[str, Member] = {}
        self._set_files: dict[str, str] = {}
        self._cases = CaseFile()
        self._cases_ahead = False
        self.large_cases: LargeCases | None = None
        """What is known of a file of cases that is too long to be held; `None` for any other."""
        self._file_problems: list[Diagnostic] = []
        self._settings_cache: tuple[int, ProjectSettings, list[Problem]] | None = None
        self._snapshot_cache: tuple[int, ProjectSnapshot] | None = None

    # Opening

    @classmethod
    def load(cls, folder: Path | str, *, strict: bool = False) -> Project:
        """Open the project in `folder` (or whose `workbench.toml` it is); nothing is run or written.

        Raises:
            ProjectError: when there is no project, `workbench.toml` is not readable as TOML, or its format
                is too new; with `strict`, for any error in the project.
        """
        root = find_project(Path(folder))
        data = files.read_bytes(root, PROJECT_FILE)
        if data is None:
            raise ProjectError.of("no_project", f"{PROJECT_FILE} has vanished", file=PROJECT_FILE)
        project = cls(root, files.decode(data, PROJECT_FILE), files.fingerprint(data))
        project._read_members()
        if strict:
            errors = [diagnostic for diagnostic in project.diagnostics if diagnostic.severity == "error"]
            if errors:
                raise ProjectError(errors)
        return project

    @classmethod
    def new(cls, folder: Path | str | None, name: str) -> Project:
        """Make a project with one system and one user message and save it in `folder`.

        Without a folder it stays in memory until `save_as`.

        Raises:
            ProjectError: when the folder exists and is not empty.
            OSError: when it cannot be written.
        """
        text = NEW_PROJECT.format(name=write_string(name, '"'))
        project = cls(None, TextFile(text), None)
        project.set_parameter_set("default", NEW_PARAMETERS)
        if folder is not None:
            project.save_as(folder)
        return project

    def reload(self) -> None:
        """Read everything again from the disk; what was not saved is dropped, and `revision` goes on."""
        if self.root is None:
            return
        fresh = Project.load(self.root)
        fresh.revision = self.revision + 1
        self.__dict__.update(fresh.__dict__)

    def _read_members(self) -> None:
        for relative in (PARAMETERS_SCHEMA, OUTPUT_SCHEMA):
            self._read_member(relative)
        self._read_parameter_sets()
        self._read_cases()
        graph = self._settings().graph_file
        if graph is not None and graph not in self._members:
            self._read_member(graph, named_by=("template", "graph"))

    def _read_cases(self) -> None:
        """Read the labelled cases; of a file that is too long to be held only the first ones."""
        assert self.root is not None
        try:
            size = files.inside(self.root, CASES).stat().st_size
        except (OSError, ProjectError):
            size = 0
        if size <= LARGE_BYTES:
            self._read_member(CASES)
            cases = self._text_of(CASES)
            self._cases = CaseFile(cases.text if cases else "", CASES)
            return
        # The file is no member: it is never written, and so never compared with what lies on the disk.
        try:
            head = files.read_head(self.root, CASES, HEAD_BYTES)
            self._cases = CaseFile(files.decode(head, CASES).text, CASES)
        except ProjectError as error:
            self._file_problems.extend(error.diagnostics)
        self.large_cases = LargeCases(size, len(self._cases.cases))

    def every_case(self) -> Iterable[Case]:
        """Return all labelled cases: those held, or a stream of the file where it is too long to be held."""
        return self.snapshot().every_case()

    def _read_parameter_sets(self) -> None:
        assert self.root is not None
        try:
            folder = files.inside(self.root, PARAMETERS_FOLDER)
            names = sorted(os.listdir(folder))
        except ProjectError as error:
            self._file_problems.extend(error.diagnostics)
            return
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            message = f"{PARAMETERS_FOLDER} cannot be read: {error.strerror}"
            self._file_problems.append(Diagnostic("error", "unreadable", message, file=PARAMETERS_FOLDER))
            return
        for file_name in names:
            if file_name.endswith(".json") and not file_name.startswith("."):
                relative = f"{PARAMETERS_FOLDER}/{file_name}"
                self._read_member(relative)
                self._set_files[files.name_of_set_file(file_name)] = relative

    def _read_member(self, relative: str, named_by: TomlPath | None = None) -> None:
        assert self.root is not None
        data = None
        try:
            data = files.read_bytes(self.root, relative)
            text = None if data is None else files.decode(data, relative)
        except ProjectError as error:
            self._file_problems.extend(error.diagnostics)
            self._members[relative] = Member(None, files.fingerprint(data) or UNREADABLE, None)
            return
        if data is None and named_by is not None:
            self._file_problems.append(
                self._diagnostic(
                    Problem("error", "missing_file", f"{relative} does not exist in the project", named_by)
                )
            )
        self._members[relative] = Member(text, files.fingerprint(data), text)

    # What it says

    @property
    def name(self) -> str:
        """The project's name, or its folder's where the file gives none."""
        return self._settings().name or (self.root.name if self.root else "")

    @property
    def description(self) -> str:
        """What the project is for, in a sentence; may be empty."""
        return self._settings().description

    @property
    def dirty(self) -> bool:
        """Whether anything differs from what was last read or saved."""
        if self.root is None or self._migrated_from is not None:
            return True
        self._settle_cases()
        if self._document.text != self._toml_file.text:
            return True
        return any(member.text != member.saved for member in self._members.values())

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Everything wrong with the project's files, errors first, each with file, line and column."""
        _, _, problems = self._read_settings()
        found = [self._diagnostic(problem) for problem in problems]
        found += self._file_problems
        found += self._cases.diagnostics
        if self.large_cases is not None:
            hint = "`prompt-workbench evaluate` reads all of them, one by one; split the file to edit it here"
            found.append(Diagnostic("info", "large_cases", self.large_cases.words(), hint=hint, file=CASES))
        found += self._surrogate_problems()
        if "format" not in self._document.values:
            message = f"there is no `format`; the file is read as format {FORMAT}"
            found.append(Diagnostic("warning", "missing_key", message, line=1, column=1, file=PROJECT_FILE))
        if self._migrated_from is not None:
            message = f"the project has format {self._migrated_from}; saving writes format {FORMAT}"
            hint = f"the old file is kept in {WORKBENCH_FOLDER}/backups"
            found.append(Diagnostic("info", "migrated", message, hint=hint, file=PROJECT_FILE))
        if self.read_only:
            message = "the project cannot be written; it is open for reading, and no history is kept"
            hint = "save it as a copy to change it"
            found.append(Diagnostic("info", "read_only", message, hint=hint, file=PROJECT_FILE))
        return tuple(sort_diagnostics(found))

    def snapshot(self) -> ProjectSnapshot:
        """Return the project as it is now, frozen; cheap when nothing changed since the last call."""
        if self._snapshot_cache is not None and self._snapshot_cache[0] == self.revision:
            return self._snapshot_cache[1]
        settings = self._settings()
        snapshot = ProjectSnapshot(
            name=self.name,
            root=self.root,
            template=settings.template,
            messages=settings.messages,
            graph=None if settings.graph_file is None else self._text_of(settings.graph_file),
            parameter_sets=dict(self._parameter_sets()),
            parameters_schema=self._text_of(PARAMETERS_SCHEMA),
            output_schema=self._text_of(OUTPUT_SCHEMA),
            input_guardrail=settings.input_guardrail,
            output_guardrail=settings.output_guardrail,
            translation=settings.translation,
            tools=settings.tools,
            models=settings.models,
            cases=self._cases.cases,
            all_cases_held=self.large_cases is None,
        )
        self._snapshot_cache = (self.revision, snapshot)
        return snapshot

    @property
    def toml_text(self) -> str:
        """The present text of `workbench.toml`, without its byte order mark."""
        return self._document.text

    @property
    def files(self) -> tuple[str, ...]:
        """The project's files by their path in the folder, `workbench.toml` first."""
        self._settle_cases()
        return (PROJECT_FILE, *(relative for relative, m in self._members.items() if m.text is not None))

    def parameter_set_file(self, name: str) -> str | None:
        """Return the file of a parameter set, relative to the folder."""
        return self._set_files.get(name)

    def message_place(self, index: int) -> tuple[int, int] | None:
        """Return line and column at which the content of message `index` begins in `workbench.toml`."""
        span = self._document.map.place(("template", "messages", index, "content"))
        return None if span is None else self._document.lines.position(span[0])

    def threshold_origin(self, stage: Stage, check_name: str) -> ThresholdOrigin | None:
        """Return on what the own threshold of a check was chosen, `None` when nobody noted it."""
        path = self._check_path(stage, check_name)
        chosen = self._document.get((*path, "chosen")) if path else None
        if not isinstance(chosen, Mapping):
            return None
        means = (None if key not in chosen else str(chosen[key]) for key in ("yes_means", "no_means"))
        return ThresholdOrigin(*(str(chosen.get(key, "")) for key in ("model", "question", "date")), *means)

    def review_from(self, stage: Stage, check_name: str) -> float | None:
        """Return from which probability on, up to the threshold, a person decides; `None` for no such band."""
        path = self._check_path(stage, check_name)
        low = self._document.get((*path, REVIEW_KEY)) if path else None
        return (
            float(low)
            if isinstance(low, int | float) and not isinstance(low, bool) and 0 <= low <= 1
            else None
        )

    def _parameter_sets(self) -> Iterator[tuple[str, TextFile]]:
        for name in sorted(self._set_files):
            text = self._text_of(self._set_files[name])
            if text is not None:
                yield name, text

    def _settings(self) -> ProjectSettings:
        return self._read_settings()[1]

    def _read_settings(self) -> tuple[int, ProjectSettings, list[Problem]]:
        if self._settings_cache is None or self._settings_cache[0] != self.revision:
            self._settings_cache = (self.revision, *read_settings(self._document.values))
        return self._settings_cache

    def _settings_stay(self) -> None:
        if self._settings_cache is not None and self._settings_cache[0] == self.revision - 1:
            self._settings_cache = (self.revision, *self._settings_cache[1:])

    def _diagnostic(self, problem: Problem) -> Diagnostic:
        span = self._document.map.place(problem.path, of_key=problem.of_key) or (0, 0)
        line, column = self._document.lines.position(span[0])
        pointer = "".join(f"/{str(s).replace('~', '~0').replace('/', '~1')}" for s in problem.path)
        return Diagnostic(
            problem.severity,
            problem.code,
            problem.message,
            span[0],
            span[1],
            line,
            column,
            pointer,
            problem.hint,
            PROJECT_FILE,
        )

    def _surrogate_problems(self) -> Iterator[Diagnostic]:
        for path in self._document.lone_surrogates():
            text = str(self._document.get(path))
            at = first_lone_surrogate(text) or 0
            line, column = LineIndex(text).position(at)
            place = ".".join(str(step + 1 if isinstance(step, int) else step) for step in path)
            message = (
                f"{place} holds half a surrogate pair (U+{ord(text[at]):04X}) in its line {line}, "
                f"column {column}; the file cannot hold it and gets U+FFFD in its place"
            )
            problem = Problem("error", "lone_surrogate", message, path, "delete the character")
            node = f"/{path[2]}/{path[3]}" if path[:2] == ("template", "messages") else None
            yield self._diagnostic(problem).at(node=node)

    # Saving

    def changed_on_disk(self) -> list[Path]:
        """Return the project's files that another program changed, added or removed since they were read."""
        if self.root is None:
            return []
        known = {PROJECT_FILE: self._toml_on_disk}
        known.update((relative, member.on_disk) for relative, member in self._members.items())
        changed = [relative for relative, seen in known.items() if self._seen_now(relative) != seen]
        for relative in self._sets_on_disk():
            if relative not in known:
                changed.append(relative)
        return [self.root / relative for relative in changed]

    def _sets_on_disk(self) -> list[str]:
        assert self.root is not None
        try:
            names = os.listdir(files.inside(self.root, PARAMETERS_FOLDER))
        except (OSError, ProjectError):
            return []
        return [
            f"{PARAMETERS_FOLDER}/{name}"
            for name in sorted(names)
            if name.endswith(".json") and not name.startswith(".")
        ]

    def _seen_now(self, relative: str) -> str | None:
        assert self.root is not None
        try:
            return files.fingerprint(files.read_bytes(self.root, relative))
        except ProjectError:
            return UNREADABLE

    def _pending(self, *, everything: bool = False) -> dict[str, bytes | None]:
        """Return the bytes of every file that saving must write, `None` for one that it must remove.

        That is what differs from what was last read or saved, or `everything`.
        """
        self._settle_cases()
        pending: dict[str, bytes | None] = {}
        for relative, member in self._members.items():
            if everything or member.text != member.saved:
                pending[relative] = None if member.text is None else _encode_json(member.text)
        toml = self._toml_file.with_text(self._document.text)
        if everything or self._toml_on_disk is None or self._document.text != self._toml_file.text:
            pending[PROJECT_FILE] = toml.encode()
        return pending

    def save(self, *, overwrite: bool = False) -> None:
        """Write every file that changed, each atomically, and drop the recovery copy.

        Raises:
            ChangedOnDisk: when a file that would be written changed on the disk; nothing was written.
            ProjectError: for a project without a folder, or one that cannot be written.
            OSError: when the disk refuses; files that were written before that are complete.
        """
        if self.root is None:
            raise ProjectError.of("no_folder", "the project has no folder yet", hint="save it as…")
        if self.read_only:
            raise ProjectError.of(
                "read_only", f"{self.root} cannot be written", file=PROJECT_FILE, hint="save it as a copy"
            )
        # Where the folder went away, what is only in memory now must not be called saved.
        pending = self._pending(everything=self._seen_now(PROJECT_FILE) is None)
        if not overwrite:
            self._refuse_overwriting(pending)
        if self._migrated_from is not None:
            self._keep_backup(self._migrated_from)
        self._write(pending)
        self._migrated_from = None
        self.discard_recovery()

    def _write(self, pending: Mapping[str, bytes | None]) -> None:
        """Write files first and remove others after, so that a renamed set is never on neither path."""
        assert self.root is not None
        written = []
        for relative, data in pending.items():
            if data is not None:
                path = files.inside(self.root, relative)
                files.write_atomically(path, data)
                self._note_saved(relative, data)
                written.append(path)
        for relative, data in pending.items():
            if data is None:
                path = files.inside(self.root, relative)
                # Where names differ only in case, some file systems hold one file for both.
                if not any(path.exists() and path.samefile(other) for other in written):
                    files.remove_file(path)
                self._note_saved(relative, None)

    def _refuse_overwriting(self, pending: Mapping[str, bytes | None]) -> None:
        assert self.root is not None
        changed = []
        for relative in pending:
            member = self._members.get(relative)
            seen = self._toml_on_disk if relative == PROJECT_FILE else member.on_disk if member else None
            if self._seen_now(relative) != seen:
                changed.append(self.root / relative)
        if changed:
            raise ChangedOnDisk(changed)

    def _note_saved(self, relative: str, data: bytes | None) -> None:
        if relative == PROJECT_FILE:
            self._toml_on_disk = files.fingerprint(data)
            self._toml_file = self._toml_file.with_text(self._document.text)
            return
        member = self._members[relative]
        member.saved, member.on_disk = member.text, files.fingerprint(data)
        if member.text is None:
            del self._members[relative]

    def _keep_backup(self, found_format: int) -> None:
        """Keep the file as it was before the first save in a newer format."""
        assert self.root is not None
        old = files.read_bytes(self.root, PROJECT_FILE)
        if old is not None:
            folder = files.prepare_workbench_folder(self.root) / "backups"
            backup = folder / f"workbench.format-{found_format}.toml"
            number = 2
            while backup.exists():
                backup = folder / f"workbench.format-{found_format}-{number}.toml"
                number += 1
            files.write_atomically(backup, old)

    def save_as(self, folder: Path | str) -> None:
        """Write the whole project into `folder`, which must be new or empty, and go on there.

        Files of the project that the workbench does not read, such as recordings, are copied too; the
        history stays where it is.

        Raises:
            ProjectError: when the folder is not empty.
            OSError: when it cannot be written.
        """
        target = Path(folder)
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise ProjectError.of("not_empty", f"{target} exists and is not empty", file=str(target))
        target.mkdir(parents=True, exist_ok=True)
        self._settle_cases()
        if self.root is not None:
            copy_tree(self.root, target, leave_out=set(self._members) | {PROJECT_FILE})
            self.discard_recovery()
        self.root, self.read_only, self._migrated_from = target, False, None
        self._toml_on_disk = None
        for member in self._members.values():
            member.on_disk, member.saved = None, None
        self._members = {relative: m for relative, m in self._members.items() if m.text is not None}
        self.revision += 1
        self.save(overwrite=True)

    # History and recovery

    def history_path(self) -> Path | None:
        """Return where the history of runs is kept, `None` for a project that cannot be written."""
        if self.root is None or self.read_only:
            return None
        try:
            return files.prepare_workbench_folder(self.root) / "history.sqlite"
        except OSError:
            return None

    def write_recovery(self, fallback: Path | None = None) -> Path | None:
        """Write a recovery copy of everything that is not saved; return its path.

        It lies in `.workbench` of the project, or in the folder `fallback` for a project that has no folder
        or cannot be written (`None` then writes nothing). A project without changes has no copy.
        """
        if not self.dirty:
            self.discard_recovery(fallback)
            return None
        recovery = self._recovery(fallback)
        return None if recovery is None else recovery.write(self._recovery_state())

    @staticmethod
    def recovery_available(folder: Path | str) -> RecoveryInfo | None:
        """Return what a recovery copy in a project's folder (or a fallback folder) holds, if there is one."""
        return Recovery.of_project(Path(folder)).info()

    def restore_recovery(self, fallback: Path | None = None) -> bool:
        """Bring back what a recovery copy holds, as changes that are not saved; return whether there was one.

        Raises:
            ProjectError: when the copy cannot be read; the project stays as it is.
        """
        recovery = self._recovery(fallback)
        state = recovery.read() if recovery else None
        if state is None:
            return False
        for relative in state.files:
            files.inside(self.root or Path(), relative)
        self._document = TomlDocument(state.toml, PROJECT_FILE)
        for path, text in state.lost_texts:
            self._document.set(path, text)
        for relative, content in state.files.items():
            member = self._members.setdefault(relative, Member(None, None, None))
            member.text = content
        self._set_files = dict(state.parameter_sets)
        self._cases_ahead = False
        if self.large_cases is None:
            cases = self._text_of(CASES)
            self._cases = CaseFile(cases.text if cases else "", CASES)
        self.revision += 1
        return True

    def discard_recovery(self, fallback: Path | None = None) -> None:
        """Delete the recovery copy."""
        recovery = self._recovery(fallback)
        if recovery is not None:
            with contextlib.suppress(ProjectError, OSError):
                recovery.discard()

    def _recovery(self, fallback: Path | None) -> Recovery | None:
        if self.root is not None and not self.read_only:
            return Recovery.of_project(self.root)
        return None if fallback is None else Recovery.of_project(fallback)

    def _recovery_state(self) -> RecoveryState:
        self._settle_cases()
        return RecoveryState(
            name=self.name,
            toml=self._document.text,
            lost_texts=tuple((path, self._document.get(path)) for path in self._document.lone_surrogates()),
            files={r: m.text for r, m in self._members.items() if m.text != m.saved},
            parameter_sets=dict(self._set_files),
        )


def find_project(path: Path) -> Path:
    """Return the folder of the project at `path`, which may also be its `workbench.toml`.

    Raises:
        ProjectError: when there is none, with a hint where one is near.
    """
    try:
        return _find_project(path)
    except OSError as error:
        message = f"{path} cannot be opened: {error.strerror or error}"
        raise ProjectError.of("unreadable", message, file=str(path)) from None


def _find_project(path: Path) -> Path:
    folder = path.parent if path.name == PROJECT_FILE and not path.is_dir() else path
    if not folder.exists():
        raise ProjectError.of("no_project", f"{path} does not exist", file=str(path))
    if not folder.is_dir():
        hint = f"give the folder that holds {PROJECT_FILE}"
        raise ProjectError.of(
            "no_project", f"{path} is a file, not a project folder", file=str(path), hint=hint
        )
    if not (folder / PROJECT_FILE).exists():
        below = sorted(child.parent.name for child in folder.glob(f"*/{PROJECT_FILE}"))[:3]
        above = next(
            (parent for parent in folder.resolve().parents if (parent / PROJECT_FILE).is_file()), None
        )
        hint = "make one with New, or copy a sample"
        if below:
            hint = f"there are projects in it: {', '.join(below)}"
        elif above is not None:
            hint = f"it lies in the project {above}"
        raise ProjectError.of(
            "no_project", f"{folder} is no project: it has no {PROJECT_FILE}", file=str(folder), hint=hint
        )
    return folder


def copy_tree(source: Path, target: Path, *, leave_out: Collection[str] = ()) -> None:
    """Copy a project's further files; links and the workbench's own folder are not followed or copied."""
    for folder, folders, names in os.walk(source):
        here = Path(folder)
        folders[:] = [
            name
            for name in folders
            if not (here / name).is_symlink()
            and (here / name) != source / WORKBENCH_FOLDER
            and (here / name).resolve() != target.resolve()
        ]
        for name in names:
            path = here / name
            relative = path.relative_to(source)
            if relative.as_posix() in leave_out or path.is_symlink() or not path.is_file():
                continue
            destination = target / relative
            destination.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, destination)


def _encode_json(text: TextFile) -> bytes:
    """Return the bytes of a JSON file; a raw lone surrogate is written as the escape that JSON has for it."""
    if first_lone_surrogate(text.text) is None:
        return text.encode()
    escaped = "".join(f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in text.text)
    return text.with_text(escaped).encode()


__all__ = ["CASES", "OUTPUT_SCHEMA", "PARAMETERS_SCHEMA", "Project", "ThresholdOrigin", "find_project"]
