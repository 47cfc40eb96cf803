"""One record per action; menu, toolbar, palette, shortcut page and documentation are all made from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QKeySequence

from workbench.gui.shell.theme import set_icon


@dataclass(frozen=True)
class ActionSpec:
    """What the program can do, as data.

    `menu` is the menu's title (`""`: palette only), in which a `group` change draws a separator. `needs`
    is what must be there for the action to be enabled: `""`, `project`, `running`, or one of the abilities of the
    history (`history:branch`, …), which depend on the run that is shown there.
    """

    id: str
    text: str
    shortcut: str = ""
    icon: str = ""
    menu: str = ""
    toolbar: bool = False
    tip: str = ""
    group: int = 0
    needs: str = ""
    checkable: bool = False


MENUS = ("File", "Edit", "View", "Project", "Run", "Window", "Help")

ACTIONS: tuple[ActionSpec, ...] = (
    ActionSpec("file.new", "New project…", "Ctrl+N", "new", "File", tip="Make an empty project in a folder"),
    ActionSpec("file.open", "Open…", "Ctrl+O", "open", "File", True, "Open a folder with a workbench.toml"),
    ActionSpec(
        "file.welcome", "Welcome page", "", "home", "File", tip="Samples, recent projects, what works here"
    ),
    ActionSpec(
        "file.save", "Save", "Ctrl+S", "save", "File", True, "Write the project's files", 1, "project"
    ),
    ActionSpec(
        "file.save-as",
        "Save as…",
        "Ctrl+Shift+S",
        "",
        "File",
        False,
        "Write the project to another folder",
        1,
        "project",
    ),
    ActionSpec(
        "file.reload", "Reload from disk", "", "refresh", "File", False, "Read the files again", 1, "project"
    ),
    ActionSpec(
        "file.export",
        "Export…",
        "Ctrl+E",
        "export",
        "File",
        True,
        "Write the prompt for another system",
        2,
        "project",
    ),
    ActionSpec(
        "file.close", "Close project", "Ctrl+W", "", "File", False, "Back to the welcome page", 3, "project"
    ),
    ActionSpec("file.quit", "Quit", "Ctrl+Q", "", "File", group=3),
    ActionSpec("edit.undo", "Undo", "Ctrl+Z", "undo", "Edit"),
    ActionSpec("edit.redo", "Redo", "Ctrl+Shift+Z", "redo", "Edit"),
    ActionSpec("edit.cut", "Cut", "Ctrl+X", "", "Edit", group=1),
    ActionSpec("edit.copy", "Copy", "Ctrl+C", "copy", "Edit", group=1),
    ActionSpec("edit.paste", "Paste", "Ctrl+V", "", "Edit", group=1),
    ActionSpec("edit.select-all", "Select all", "Ctrl+A", "", "Edit", group=1),
    ActionSpec(
        "edit.find", "Find…", "Ctrl+F", "search", "Edit", group=2, tip="Find in the editor with the caret"
    ),
    ActionSpec(
        "edit.replace", "Replace…", "Ctrl+H", "", "Edit", group=2, tip="Find and replace in the editor"
    ),
    ActionSpec("edit.find-next", "Find next", "F3", "", "Edit", group=2),
    ActionSpec("edit.find-previous", "Find previous", "Shift+F3", "", "Edit", group=2),
    ActionSpec("edit.complete", "Complete placeholder", "Ctrl+Space", "", "Edit", group=3, needs="project"),
    ActionSpec(
        "edit.fix",
        "Quick fix",
        "Alt+Return",
        "bulb",
        "Edit",
        group=3,
        needs="project",
        tip="Mend the problem at the caret, or the one selected in the list of problems",
    ),
    ActionSpec(
        "edit.extract",
        "Extract selection to a parameter…",
        "Ctrl+Shift+E",
        "",
        "Edit",
        group=3,
        needs="project",
    ),
    ActionSpec("edit.rename-parameter", "Rename parameter…", "F2", "", "Edit", group=3, needs="project"),
    ActionSpec("edit.settings", "Settings…", "Ctrl+,", "gear", "Edit", group=4),
    ActionSpec("view.compose", "Compose layout", "Ctrl+1", "edit", "View"),
    ActionSpec("view.thresholds", "Thresholds layout", "Ctrl+2", "chart", "View"),
    ActionSpec("view.history", "History layout", "Ctrl+3", "history", "View"),
    ActionSpec(
        "view.reset-layout", "Reset this layout", "", "", "View", tip="Put the docks back where they were"
    ),
    ActionSpec("view.light", "Light theme", "", "", "View", group=1),
    ActionSpec("view.dark", "Dark theme", "", "", "View", group=1),
    ActionSpec("view.high-contrast", "High contrast theme", "", "", "View", group=1),
    ActionSpec("view.system-theme", "Theme of the system", "", "", "View", group=1),
    ActionSpec("view.larger", "Larger text", "Ctrl++", "", "View", group=2, tip="Larger text in the editors"),
    ActionSpec("view.smaller", "Smaller text", "Ctrl+-", "", "View", group=2),
    ActionSpec(
        "view.interface-larger",
        "Larger interface",
        "Ctrl+Alt++",
        "",
        "View",
        tip="Larger text, rows and icons in the whole window",
        group=2,
    ),
    ActionSpec("view.interface-smaller", "Smaller interface", "Ctrl+Alt+-", "", "View", group=2),
    ActionSpec("view.wrap", "Wrap long lines", "Alt+Z", "wrap", "View", group=2, checkable=True),
    ActionSpec("project.add-message", "Add message", "", "plus", "Project", needs="project"),
    ActionSpec(
        "project.use-graph",
        "Object graph",
        "",
        "graph",
        "Project",
        tip="Send the JSON of an object graph in place of the messages",
        needs="project",
    ),
    ActionSpec(
        "project.new-parameter-set", "New parameter set…", "", "plus", "Project", group=1, needs="project"
    ),
    ActionSpec(
        "project.duplicate-parameter-set",
        "Duplicate parameter set…",
        "",
        "duplicate",
        "Project",
        group=1,
        needs="project",
    ),
    ActionSpec(
        "project.rename-parameter-set", "Rename parameter set…", "", "", "Project", group=1, needs="project"
    ),
    ActionSpec(
        "project.delete-parameter-set",
        "Delete parameter set",
        "",
        "trash",
        "Project",
        group=1,
        needs="project",
    ),
    ActionSpec(
        "project.compare-previews",
        "Compare two parameter sets",
        "",
        "compare",
        "Project",
        group=1,
        needs="project",
    ),
    ActionSpec("project.rename", "Rename project…", "", "", "Project", group=2, needs="project"),
    ActionSpec("project.add-check", "Add check…", "", "plus", "Project", group=3, needs="project"),
    ActionSpec("project.models", "Models…", "", "chip", "Project", group=3, needs="project"),
    ActionSpec(
        "run.checks",
        "Run checks",
        "F5",
        "run-checks",
        "Run",
        True,
        "Run all input checks on the rendered prompt",
        0,
        "project",
    ),
    ActionSpec(
        "run.checks-output",
        "Run output checks",
        "Shift+F5",
        "",
        "Run",
        False,
        "Run the output checks on the response",
        0,
        "project",
    ),
    ActionSpec(
        "run.translate",
        "Translate",
        "Ctrl+T",
        "translate",
        "Run",
        True,
        "Turn the request into the JSON of the output schema",
        0,
        "project",
    ),
    ActionSpec(
        "run.stop",
        "Stop",
        "Escape",
        "stop",
        "Run",
        True,
        "Stop what is running and close its connection",
        1,
        "running",
    ),
    ActionSpec(
        "history.again",
        "Run again with today's prompt",
        "Ctrl+Shift+T",
        "refresh",
        "Run",
        False,
        "Run what the run in the history was started with again, and show what changed",
        2,
        "history:again",
    ),
    ActionSpec(
        "history.branch",
        "Repair again from this attempt…",
        "",
        "branch",
        "Run",
        False,
        "Edit the repair prompt, reply, schema or model of the attempt in the history, and go on from it",
        2,
        "history:branch",
    ),
    ActionSpec(
        "history.batch",
        "Run requests of a file…",
        "",
        "list",
        "Run",
        False,
        "Translate many requests, one after the other, and show which results changed",
        2,
        "project",
    ),
    ActionSpec(
        "history.compare",
        "Compare the run with…",
        "",
        "compare",
        "Run",
        False,
        "Compare the attempt or run in the history with another one",
        3,
        "history:compare",
    ),
    ActionSpec(
        "history.open",
        "Open the run with its inputs",
        "",
        "open",
        "Run",
        False,
        "Put the request or text of the run in the history back into its pane",
        3,
        "history:open",
    ),
    ActionSpec(
        "history.export-json", "Export the run as JSON…", "", "export", "Run", group=4, needs="history:mark"
    ),
    ActionSpec(
        "history.export-markdown",
        "Export the run as Markdown…",
        "",
        "export",
        "Run",
        group=4,
        needs="history:mark",
    ),
    ActionSpec("history.star", "Star the run, or take the star", "", "star", needs="history:mark"),
    ActionSpec("history.rename", "Rename the run…", "", "edit", needs="history:mark"),
    ActionSpec("history.note", "Write a note on the run…", "", "message", needs="history:mark"),
    ActionSpec("history.delete", "Delete the run", "", "trash", needs="history:mark"),
    ActionSpec(
        "window.palette", "Actions…", "Ctrl+Shift+P", "search", "Window", tip="Find any action by name"
    ),
    ActionSpec("window.next-pane", "Next pane", "F6", "", "Window"),
    ActionSpec("window.previous-pane", "Previous pane", "Shift+F6", "", "Window"),
    ActionSpec("window.next-problem", "Next problem", "F8", "", "Window", group=1, needs="project"),
    ActionSpec(
        "window.previous-problem", "Previous problem", "Shift+F8", "", "Window", group=1, needs="project"
    ),
    ActionSpec(
        "help.shortcuts", "Shortcuts…", "Ctrl+K", "keyboard", "Help", tip="See and change every shortcut"
    ),
    ActionSpec("help.about", "About Prompt Workbench", "", "info", "Help"),
)


class ActionSet(QObject):
    """The `QAction`s made from the records, by id."""

    def __init__(self, parent: QObject, specs: Iterable[ActionSpec] = ACTIONS) -> None:
        super().__init__(parent)
        self.specs: dict[str, ActionSpec] = {}
        self._actions: dict[str, QAction] = {}
        for spec in specs:
            self.add(spec)

    def add(self, spec: ActionSpec) -> QAction:
        """Make the action of one more record; the caller connects it."""
        action = QAction(spec.text, self)
        action.setObjectName(spec.id)
        action.setCheckable(spec.checkable)
        if spec.icon:
            set_icon(action, spec.icon)
        self.specs[spec.id] = spec
        self._actions[spec.id] = action
        self.set_shortcut(spec.id, spec.shortcut)
        return action

    def __getitem__(self, action_id: str) -> QAction:
        return self._actions[action_id]

    def __contains__(self, action_id: str) -> bool:
        return action_id in self._actions

    def ids(self) -> list[str]:
        """Return the ids in the order of the records."""
        return list(self._actions)

    def connect(self, action_id: str, slot: Callable[[], None]) -> None:
        """Call `slot` with no argument when the action is triggered."""
        self._actions[action_id].triggered.connect(lambda _checked=False: slot())

    def shortcut(self, action_id: str) -> str:
        """Return the action's shortcut in portable text, `""` for none."""
        return self._actions[action_id].shortcut().toString(QKeySequence.SequenceFormat.PortableText)

    def set_shortcut(self, action_id: str, shortcut: str) -> None:
        """Give an action another shortcut (portable text), and say it in its tip."""
        action, spec = self._actions[action_id], self.specs[action_id]
        action.setShortcut(QKeySequence.fromString(shortcut, QKeySequence.SequenceFormat.PortableText))
        tip = spec.tip or spec.text.rstrip("…")
        action.setToolTip(f"{tip} ({shortcut})" if shortcut else tip)

    def conflict(self, action_id: str, shortcut: str) -> str | None:
        """Return the id of another action that has `shortcut` already."""
        if not shortcut:
            return None
        wanted = QKeySequence.fromString(shortcut, QKeySequence.SequenceFormat.PortableText)
        for other, action in self._actions.items():
            if other != action_id and action.shortcut() == wanted:
                return other
        return None

    def update_enabled(self, *, project: bool, running: bool, history: frozenset[str] = frozenset()) -> None:
        """Enable what can be done now; `history` holds the abilities of the history."""
        have = {"": True, "project": project, "running": running}
        for action_id, spec in self.specs.items():
            room, _colon, ability = spec.needs.partition(":")
            enabled = ability in history if room == "history" else have[spec.needs]
            self._actions[action_id].setEnabled(enabled)
