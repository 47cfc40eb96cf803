"""Opening, saving and leaving projects, with the questions that keep anything from being lost."""

from __future__ import annotations

import os
import time
from pathlib import Path

from PySide6.QtCore import QObject, QStandardPaths, Signal
from PySide6.QtWidgets import QFileDialog, QInputDialog, QWidget

from workbench.gui.dialogs import questions
from workbench.gui.dialogs.new_project import NewProjectDialog, folder_name
from workbench.gui.shell.session import Session

# Set to 1, a recovery copy is set aside at opening instead of being asked about: for starts that nobody watches.
KEEP_RECOVERY = "PROMPT_WORKBENCH_NO_RECOVERY_QUESTION"


class FileActions(QObject):
    """What the File menu does."""

    opened = Signal()

    def __init__(self, window: QWidget, session: Session) -> None:
        super().__init__(window)
        self._window, self._session = window, session
        self.asks_about_recovery = os.environ.get(KEEP_RECOVERY, "") in ("", "0")

    # -- opening ----------------------------------------------------------------------------------------

    def open_folder(self, folder: Path, *, ask: bool = True) -> bool:
        """Open the project in `folder`; with `ask` False no question is raised (screenshots, tests)."""
        from workbench.engine.projects import Project, ProjectError, find_project

        if ask and not self.leave():
            return False
        try:
            root = find_project(Path(folder))
            project = Project.load(root)
        except ProjectError as error:
            self._say(f"{folder} cannot be opened.", str(error), ask)
            return False
        except OSError as error:
            self._say(f"{folder} cannot be opened.", str(error), ask)
            return False
        if ask and not self.asks_about_recovery:
            self._keep_recovery(root)
        elif ask and (info := Project.recovery_available(root)) is not None:
            if questions.ask_recovery(self._window, info.name, info.written_at, info.files):
                try:
                    project.restore_recovery()
                except ProjectError as error:
                    self._say("The recovery copy cannot be read.", str(error), ask)
            else:
                project.discard_recovery()
        self._session.adopt(project)
        self._session.settings.add_recent(root, project.name, time.time())
        self.opened.emit()
        return True

    def _keep_recovery(self, root: Path) -> None:
        """Set a recovery copy aside without asking, so that it is neither taken nor lost."""
        from workbench.engine.projects.recovery import Recovery

        try:
            kept = Recovery.of_project(root).set_aside()
        except OSError as error:
            self._session.status.emit(f"The recovery copy stays where it is: {error}")
            return
        if kept is not None:
            self._session.status.emit(f"Unsaved work of an earlier start is kept in {kept}.")

    def _say(self, message: str, detail: str, ask: bool) -> None:
        if ask:
            questions.show_error(self._window, "Open", message, detail)
        self._session.status.emit(f"{message} {detail}".replace("\n", " "))

    def ask_open(self) -> None:
        """Ask for a folder and open it."""
        folder = QFileDialog.getExistingDirectory(
            self._window, "Open a project folder", str(self._home()), QFileDialog.Option.ShowDirsOnly
        )
        if folder:
            self.open_folder(Path(folder))

    def ask_new(self) -> None:
        """Ask for a name and a folder and make a project there."""
        dialog = NewProjectDialog(self._window, self._home())
        if dialog.exec() == NewProjectDialog.DialogCode.Accepted:
            self.create(*dialog.chosen())

    def create(self, name: str, folder: Path) -> bool:
        """Make an empty project with one message and one parameter set, and open it."""
        from workbench.engine.projects import Project, ProjectError

        if not self.leave():
            return False
        try:
            folder.mkdir(parents=True, exist_ok=True)
            project = Project.new(folder, name)
            if not project.snapshot().messages:
                project.add_message("user", "Hello [%param.name%]!\n")
            if not project.snapshot().parameter_sets:
                project.add_parameter_set("default", '{\n  "name": "Ann"\n}\n')
            project.save()
        except (ProjectError, OSError) as error:
            questions.show_error(self._window, "New project", f"{folder} cannot be used.", str(error))
            return False
        return self.open_folder(folder)

    def open_sample(self, name: str) -> bool:
        """Copy a sample into a folder that is asked for, and open the copy."""
        from workbench.engine.projects import ProjectError, copy_sample, list_samples

        title = next((sample.title for sample in list_samples() if sample.name == name), name)
        dialog = NewProjectDialog(self._window, self._home(), title, f"Open a copy of “{title}”")
        dialog.folder.setText(str(_free_folder(self._home() / (folder_name(title) or name))))
        dialog.create_button.setText("Open a copy")
        if dialog.exec() != NewProjectDialog.DialogCode.Accepted:
            return False
        chosen, folder = dialog.chosen()
        try:
            copy_sample(name, folder)
        except (ProjectError, OSError) as error:
            questions.show_error(
                self._window, "Sample", f"The sample cannot be copied to {folder}.", str(error)
            )
            return False
        opened = self.open_folder(folder)
        if opened and chosen and self._session.project is not None and chosen != self._session.project.name:
            self._session.edit("name", lambda project: project.set_name(chosen))
        return opened

    def _home(self) -> Path:
        recent = self._session.settings.recent()
        if recent:
            parent = Path(recent[0]["path"]).parent
            if parent.is_dir():
                return parent
        documents = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
        return Path(documents) if documents and Path(documents).is_dir() else Path.home()

    # -- saving -----------------------------------------------------------------------------------------

    def save(self) -> bool:
        """Save; ask first where another program changed the files. False when it was not saved."""
        from workbench.engine.projects import ChangedOnDisk, ProjectError

        if self._session.project is None:
            return True
        if self._session.project.root is None:
            return self.ask_save_as()
        try:
            self._session.save()
        except ChangedOnDisk as error:
            answer = questions.ask_changed_on_disk(self._window, error.paths)
            if answer == "overwrite":
                return self._overwrite()
            if answer == "reload":
                self.reload(ask=False)
            return False
        except (ProjectError, OSError) as error:
            questions.show_error(
                self._window,
                "Save",
                "The project cannot be written.",
                f"{error}\nWhat you typed is still here.",
            )
            return False
        self._session.status.emit("Saved.")
        return True

    def _overwrite(self) -> bool:
        from workbench.engine.projects import ProjectError

        try:
            self._session.save(overwrite=True)
        except (ProjectError, OSError) as error:
            questions.show_error(self._window, "Save", "The project cannot be written.", str(error))
            return False
        return True

    def ask_save_as(self) -> bool:
        """Ask for a folder and write the project there."""
        from workbench.engine.projects import ProjectError

        project = self._session.project
        if project is None:
            return False
        dialog = NewProjectDialog(self._window, self._home(), project.name, "Save as")
        dialog.folder.setText(str(_free_folder(self._home() / (folder_name(project.name) or "prompt"))))
        dialog.create_button.setText("Save")
        if dialog.exec() != NewProjectDialog.DialogCode.Accepted:
            return False
        name, folder = dialog.chosen()
        try:
            if name != project.name:
                self._session.edit("name", lambda each: each.set_name(name))
            self._session.save_as(folder)
        except (ProjectError, OSError) as error:
            questions.show_error(self._window, "Save as", f"{folder} cannot be written.", str(error))
            return False
        self._session.settings.add_recent(folder, name, time.time())
        return True

    def leave(self) -> bool:
        """Ask about unsaved work; False when the user stays."""
        project = self._session.project
        if project is None or not self._session.dirty:
            return True
        self._session.flush()
        if not project.dirty:
            return True
        answer = questions.ask_unsaved(self._window, project.name)
        if answer == "save":
            return self.save()
        if answer == "drop":
            self._session.discard_recovery()
        return answer == "drop"

    def close_project(self) -> bool:
        """Close the project, after asking about unsaved work."""
        if not self.leave():
            return False
        self._session.adopt(None)
        return True

    def reload(self, *, ask: bool = True) -> None:
        """Read the files again; unsaved edits are asked about."""
        from workbench.engine.projects import ProjectError

        if ask and not self.leave():
            return
        try:
            self._session.reload()
        except (ProjectError, OSError) as error:
            questions.show_error(self._window, "Reload", "The project cannot be read.", str(error))

    def rename(self) -> None:
        """Ask for another name of the project; undoable."""
        project = self._session.project
        if project is None:
            return
        before = project.name
        name, done = QInputDialog.getText(self._window, "Rename project", "Name:", text=before)
        if done and name.strip() and name.strip() != before:
            after = name.strip()
            self._session.apply(
                "name",
                "Rename project",
                lambda each: each.set_name(after),
                lambda each: each.set_name(before),
            )


def _free_folder(wish: Path) -> Path:
    """Return `wish`, or a like name that is not taken."""
    candidate, number = wish, 2
    while candidate.exists() and (not candidate.is_dir() or any(candidate.iterdir())):
        candidate = wish.with_name(f"{wish.name}-{number}")
        number += 1
    return candidate
