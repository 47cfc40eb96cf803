"""Credentials by name: whether a value is stored, where it comes from, and for which servers. Never the value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QInputDialog,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.gui.shell.scale import fit
from workbench.gui.shell.session import Session
from workbench.gui.shell.theme import icon, set_role, small_font

CREDENTIAL = Qt.ItemDataRole.UserRole + 1
_SOURCES = {
    "keyring": "its value is in the system keyring",
    "environment": "its value comes from the environment variable {variable}",
    "memory": "its value is in memory, for this run",
    None: "no value is stored",
}


@dataclass(frozen=True)
class Credential:
    """One name under which a value may be stored, who uses it, and the server that it is for."""

    name: str
    title: str
    origin: str | None
    users: tuple[str, ...] = ()


def credentials_of(snapshot: ProjectSnapshot) -> list[Credential]:
    """Return the registered credentials, then the secrets that models of the project name."""
    from workbench.engine.prompts import BaseCredential, registry
    from workbench.engine.secrets import origin_of

    users: dict[str, list[str]] = {}
    origins: dict[str, str | None] = {}
    for name, model in snapshot.models.items():
        if model.secret:
            users.setdefault(model.secret, []).append(name)
            if model.base_url:
                try:
                    origins.setdefault(model.secret, origin_of(model.base_url))
                except ValueError:
                    origins.setdefault(model.secret, None)
    found: list[Credential] = []
    for component in registry.names(BaseCredential.TYPE):
        kind = registry[component]
        if issubclass(kind, BaseCredential):
            secret = kind.SECRET
            found.append(Credential(secret, component, kind.ORIGIN, tuple(users.pop(secret, ()))))
    known = {each.name for each in found}
    found += [
        Credential(name, name, origins.get(name), tuple(used))
        for name, used in users.items()
        if name not in known
    ]
    return found


class CredentialsSection(QWidget):
    """The list of credentials, and what can be done with the chosen one."""

    counted = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.sources: dict[str, str | None] = {}
        self.list = QListWidget()
        self.list.setAccessibleName("Credentials")
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.list.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        fit(self.list, min_height=48)
        self.list.currentItemChanged.connect(lambda *_: self._show_chosen())
        self.words = QLabel()
        self.words.setWordWrap(True)
        self.words.setFont(small_font())
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        set_role(self.words, "second")
        self.set_button, self.forget_button = QPushButton("Set value…"), QPushButton("Forget")
        self.set_button.setToolTip(
            "Enter a value; it goes to the system keyring, else to memory, never to a file"
        )
        self.forget_button.setToolTip(
            "Remove the value from keyring and memory, and what it was accepted for"
        )
        self.set_button.clicked.connect(self._ask)
        self.forget_button.clicked.connect(self.forget)
        buttons = QHBoxLayout()
        buttons.addWidget(self.set_button)
        buttons.addWidget(self.forget_button)
        buttons.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.list, 1)
        foot = QVBoxLayout()
        foot.setContentsMargins(12, 8, 12, 8)
        foot.addWidget(self.words)
        foot.addLayout(buttons)
        layout.addLayout(foot)
        session.project_changed.connect(self.refresh)
        session.models_changed.connect(self.refresh)
        self._show_chosen()

    def showEvent(self, event: Any) -> None:
        super().showEvent(event)
        self.refresh()

    def refresh(self) -> None:
        """Ask where each value comes from; a keyring may be slow, so it is asked as a job."""
        if not self.isVisible():
            return
        found = credentials_of(self._session.snapshot())
        secrets = self._session.secrets
        self._session.jobs.run_pool(
            lambda: {each.name: secrets.source(each.name) for each in found},
            on_done=lambda sources: self._show(found, sources),
            on_error=lambda error: self._session.status.emit(f"Credentials: {error}"),
            key="credentials",
        )

    def _show(self, found: list[Credential], sources: dict[str, str | None]) -> None:
        chosen = self.chosen()
        self.sources = sources
        self.list.clear()
        for each in found:
            source = sources.get(each.name)
            words = {
                "keyring": "in the keyring",
                "environment": "from the environment",
                "memory": "in memory",
            }
            item = QListWidgetItem(f"{each.title}\n{words.get(str(source), 'no value')}")
            item.setIcon(icon("lock", "passed") if source else icon("lock", "disabled"))
            item.setData(CREDENTIAL, each)
            item.setToolTip(f"The secret “{each.name}”")
            self.list.addItem(item)
            if chosen is not None and chosen.name == each.name:
                self.list.setCurrentItem(item)
        stored = sum(source is not None for source in sources.values())
        self.counted.emit(f"{stored} of {len(found)} stored")
        self._show_chosen()

    def chosen(self) -> Credential | None:
        """Return the chosen credential."""
        item = self.list.currentItem()
        return item.data(CREDENTIAL) if item is not None else None

    def choose(self, name: str) -> None:
        """Choose a credential by the name of its secret."""
        for row in range(self.list.count()):
            if self.list.item(row).data(CREDENTIAL).name == name:
                self.list.setCurrentRow(row)

    def _show_chosen(self) -> None:
        each = self.chosen()
        self.set_button.setEnabled(each is not None and each.origin is not None)
        source = self.sources.get(each.name) if each is not None else None
        self.forget_button.setEnabled(source in ("keyring", "memory"))
        if each is None:
            self.words.setText(
                "Values are kept by name in the system keyring or the environment, never in the project."
            )
            return
        from workbench.engine.secrets import variable_name

        lines = [f"“{each.name}”: {_SOURCES[source].format(variable=_breakable(variable_name(each.name)))}."]
        accepted = self._session.secrets.accepted(each.name)
        if accepted:
            lines.append(f"It may be sent to {', '.join(accepted)}.")
        elif each.origin is not None:
            lines.append(f"It is meant for {each.origin}.")
        if each.users:
            lines.append(f"Used by the model {', '.join(each.users)}.")
        problem = self._session.secrets.keyring_problem
        if source is None and problem:
            lines.append(
                f"The keyring cannot be used ({problem}); a value entered here is kept for this run."
            )
        self.words.setText(" ".join(lines))

    def _ask(self) -> None:
        each = self.chosen()
        if each is None:
            return
        value, done = QInputDialog.getText(
            self,
            "Set a credential",
            f"Value of “{each.name}” for {each.origin}:",
            QLineEdit.EchoMode.Password,
        )
        if done and value:
            self.remember(value)

    def remember(self, value: str) -> None:
        """Store a value of the chosen credential for its own server."""
        from workbench.engine.secrets import SecretError

        each = self.chosen()
        if each is None or each.origin is None:
            return
        try:
            kept = self._session.secrets.remember(each.name, value, each.origin)
        except (SecretError, ValueError) as error:
            self._session.status.emit(str(error))
            return
        self._session.status.emit(
            f"The value of “{each.name}” is {'in the keyring' if kept == 'keyring' else 'kept for this run'}."
        )
        self.refresh()

    def forget(self) -> None:
        """Remove the value of the chosen credential."""
        each = self.chosen()
        if each is not None:
            self._session.secrets.forget(each.name)
            self.refresh()


def _breakable(name: str) -> str:
    """Allow a line to end inside a long name."""
    return name.replace("_", "_\u200b")
