"""Edits the models of a project: provider, address, model, secret by name, options, prices, and a test of the connection."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QComboBox,
    QCompleter,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QHBoxLayout,
    QInputDialog,
    QLineEdit,
    QListWidget,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from workbench.engine.model_settings import CHAT_PROVIDERS, DECISION_PROVIDERS, ModelSettings
from workbench.gui.delegates.words import TextDelegate
from workbench.gui.dialogs.model_trial import Trial, try_model
from workbench.gui.dialogs.model_use import ModelUse
from workbench.gui.shell.scale import fit, resize_window
from workbench.gui.shell.session import Session
from workbench.gui.shell.theme import set_icon, set_role
from workbench.gui.widgets.labels import TokenLabel
from workbench.gui.widgets.model_options import ModelOptionFields
from workbench.gui.widgets.price_fields import PriceFields

_WORDS = {
    "embedded": "Embedded MiniLM (decisions, this computer)",
    "openai": "OpenAI or compatible",
    "openai-responses": "OpenAI Responses (chat)",
    "anthropic": "Anthropic (chat)",
    "ollama": "Ollama (chat)",
    "system-one": "System One (decisions)",
    "sglang": "SGLang (decisions)",
    "chat-logprobs": "Chat with logprobs (decisions)",
    "gguf": "GGUF file (this computer)",
    "local": "Local SmolLM2 (chat, this computer)",
    "recorded": "Recorded replies",
}
_NEEDS_ADDRESS = {"ollama", "system-one", "sglang", "chat-logprobs"}
_NO_ADDRESS = {"embedded", "gguf", "local", "recorded"}
_HINTS = {
    "embedded": "One embedding answers any number of checks in a few milliseconds. English first.",
    "local": "Demo quality: always valid JSON when the schema constrains it, often wrong in content.",
    "recorded": "Plays recordings/*.jsonl of the project; nothing is sent. Results say that they are recorded.",
    "chat-logprobs": "Reads P(yes) from the probabilities of the first token; needs a server that gives logprobs.",
}

_OWN_ADDRESS = {
    "openai": "https://api.openai.com",
    "openai-responses": "https://api.openai.com",
    "anthropic": "https://api.anthropic.com",
}


class ModelSettingsDialog(QDialog):
    """A list of the project's models and a form for the chosen one. Changes are written by *Save*."""

    def __init__(self, session: Session, parent: QWidget | None = None, chosen: str | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.setWindowTitle("Models")
        resize_window(self, 760, 500)
        self._models: dict[str, ModelSettings] = dict(session.snapshot().models)
        self._before = dict(self._models)
        self._removed: set[str] = set()
        self._name: str | None = None
        self._build()
        for name in self._models:
            self.list.addItem(name)
        self.list.currentRowChanged.connect(self._row_changed)
        row = list(self._models).index(chosen) if chosen in self._models else 0
        if self._models:
            self.list.setCurrentRow(row)
        else:
            self._show(None)

    def _build(self) -> None:
        self.list = QListWidget()
        self.list.setAccessibleName("Models of the project")
        fit(self.list, width=190)
        self.list.setItemDelegate(TextDelegate(self.list))
        add, remove = QPushButton("Add…"), QPushButton("Remove")
        set_icon(add, "plus")
        add.clicked.connect(self._ask_name)
        remove.clicked.connect(self.remove_current)
        left = QVBoxLayout()
        left.addWidget(self.list, 1)
        buttons = QHBoxLayout()
        buttons.addWidget(add)
        buttons.addWidget(remove)
        left.addLayout(buttons)
        self.provider = QComboBox()
        self.provider.setAccessibleName("Provider")
        for provider in dict.fromkeys((*DECISION_PROVIDERS, *CHAT_PROVIDERS)):
            self.provider.addItem(_WORDS[provider], provider)
        self.base_url, self.model, self.secret = QLineEdit(), QLineEdit(), QLineEdit()
        self.secret.setPlaceholderText("name of the secret, never its value")
        self.preset = QComboBox()
        self.preset.setAccessibleName("Fill in for a common server")
        self.preset.addItem("choose a common server…", None)
        self.prices = PriceFields()
        form = QFormLayout()
        form.setSpacing(8)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        form.addRow("Fill in", self.preset)
        self.use = ModelUse(form)
        for label, field in (
            ("Provider", self.provider),
            ("Used for", self.use),
            ("Address", self.base_url),
            ("Model", self.model),
        ):
            field.setAccessibleName(label)
            form.addRow(label, field)
        self.secret.setAccessibleName("Secret")
        self.value_button = QPushButton("Value…")
        self.value_button.setToolTip(
            "Enter the secret's value for this address; it is never written into the project"
        )
        self.value_button.clicked.connect(self._ask_value)
        self.secret_words = TokenLabel("", "second", size="second", wrap=True)
        line = QHBoxLayout()
        line.addWidget(self.secret, 1)
        line.addWidget(self.value_button)
        form.addRow("Secret", line)
        form.addRow("", self.secret_words)
        self.options = ModelOptionFields(form, self)
        form.addRow("Price of a million", self.prices)
        self.prices.changed.connect(self._show_problem)
        self.options.changed.connect(self._show_problem)
        self.secret.textChanged.connect(lambda _text: self._show_secret())
        self.base_url.textChanged.connect(lambda _text: self._show_secret())
        self.hint = TokenLabel("", "second", wrap=True)
        self.test_button = QPushButton("Test connection")
        set_icon(self.test_button, "play")
        self.test_button.clicked.connect(self.test)
        self.use.activated.connect(lambda _index: self._use_changed())
        test = QHBoxLayout()
        test.addWidget(self.test_button)
        test.addStretch(1)
        self.test_words = TokenLabel("", wrap=True)
        right = QVBoxLayout()
        right.addLayout(form)
        right.addWidget(self.hint)
        right.addLayout(test)
        right.addWidget(self.test_words)
        right.addStretch(1)
        body = QHBoxLayout()
        body.setSpacing(16)
        body.addLayout(left)
        body.addLayout(right, 1)
        self.buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Save | QDialogButtonBox.StandardButton.Cancel
        )
        set_role(self.buttons.button(QDialogButtonBox.StandardButton.Save), "main")
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 12)
        layout.setSpacing(12)
        layout.addLayout(body, 1)
        layout.addWidget(self.buttons)
        self.provider.currentIndexChanged.connect(lambda _index: self._fit_fields())
        self.preset.activated.connect(lambda _index: self._fill_in())

    # The list

    def _row_changed(self, row: int) -> None:
        self._keep()
        item = self.list.item(row)
        self._show(item.text() if item is not None else None)

    def _ask_name(self) -> None:
        name, accepted = QInputDialog.getText(self, "Add model", "Name (decision and chat are the defaults):")
        if accepted and name.strip():
            self.add(name.strip())

    def add(self, name: str) -> None:
        """Add a model and show it."""
        if name in self._models:
            self.list.setCurrentRow(list(self._models).index(name))
            return
        self._keep()
        provider = "embedded" if name.startswith("decision") else "openai"
        self._models[name] = ModelSettings(name, provider)
        self.list.addItem(name)
        self.list.setCurrentRow(self.list.count() - 1)

    def remove_current(self) -> None:
        """Take the chosen model out of the project."""
        row = self.list.currentRow()
        if row < 0:
            return
        name = self.list.item(row).text()
        self._name = None
        del self._models[name]
        self._removed.add(name)
        self.list.takeItem(row)

    # The form

    def _show(self, name: str | None) -> None:
        self._name = name
        self._session.jobs.cancel("test-model")  # its answer would stand under another model
        settings = self._models.get(name) if name is not None else None
        for field in (self.preset, self.provider, self.base_url, self.model, self.secret, self.test_button):
            field.setEnabled(settings is not None)
        self.prices.setEnabled(settings is not None)
        self.test_words.set_text("")
        self.model.setPlaceholderText("")
        self.model.setCompleter(None)  # type: ignore[arg-type]  # what one server offers, another does not
        self._list_presets()
        if settings is None:
            self.options.fit_to("", False)
            self.use.show_model(None)
            return
        self.use.show_model(settings)
        self.provider.setCurrentIndex(self.provider.findData(settings.provider))
        self.base_url.setText(settings.base_url or "")
        self.model.setText(settings.model or "")
        self.secret.setText(settings.secret or "")
        self.prices.show_options(settings.options)
        self.options.show_options(settings.options, self._session.snapshot().root)
        self._fit_fields()

    def _list_presets(self) -> None:
        """Offer the servers for chat models; decision models have servers of their own."""
        from workbench.engine.language_models import presets  # slow to import, and only this list needs it

        if self.preset.count() == 1:
            for preset in presets():
                self.preset.addItem(preset.title, preset)
                self.preset.setItemData(self.preset.count() - 1, preset.help, Qt.ItemDataRole.ToolTipRole)
        self.preset.setCurrentIndex(0)

    def _fill_in(self) -> None:
        """Take provider and address of the chosen preset into the form; the model's name stays."""
        preset = self.preset.currentData()
        if preset is None or self._name is None:
            return
        self.provider.setCurrentIndex(self.provider.findData(preset.provider))
        self.base_url.setText(preset.base_url or "")
        self.model.setPlaceholderText(f"for example {preset.model_example}" if preset.model_example else "")
        self.hint.set_text(preset.help)

    def _fit_fields(self) -> None:
        provider = self.provider.currentData()
        remote = provider not in _NO_ADDRESS
        for field in (self.base_url, self.secret):
            field.setEnabled(remote and self._name is not None)
        self.base_url.setPlaceholderText(
            _OWN_ADDRESS.get(provider, "http://localhost:11434") if remote else ""
        )
        self._show_secret()
        self.use.fit_to(provider)
        self._fit_to_use()
        self.hint.set_text(
            _HINTS.get(provider, "The value of a secret is bound to the address it was entered for.")
        )

    def _fit_to_use(self) -> None:
        """Show what is stated of models of the kind in the form."""
        chosen = self._name is not None
        self.options.fit_to(self.provider.currentData() if chosen else "", self.use.decides())
        self.prices.setEnabled(chosen and self._has_prices())
        self.preset.setEnabled(chosen and not self.use.decides())

    def _use_changed(self) -> None:
        self._fit_to_use()
        self._show_problem()  # what one kind answered to a test says nothing of the other

    def _has_prices(self) -> bool:
        """Tell whether answers of the model in the form can cost something."""
        return not self.use.decides() and self.provider.currentData() != "recorded"

    def _show_problem(self) -> None:
        problem = self.options.problem() or self.prices.problem()
        self._say(problem or "", "warning")
        self.buttons.button(QDialogButtonBox.StandardButton.Save).setEnabled(problem is None)

    # The secret

    def _address(self) -> str | None:
        """Return the address a secret would be sent to."""
        return self.base_url.text().strip() or _OWN_ADDRESS.get(self.provider.currentData())

    def _show_secret(self) -> None:
        """Say whether the named secret has a value, and where it is kept."""
        name = self.secret.text().strip()
        self.value_button.setEnabled(bool(name) and self.secret.isEnabled() and self._address() is not None)
        if not name or not self.secret.isEnabled():
            self.secret_words.set_text("")
            return
        source = self._session.secrets.source(name)
        places = {
            "keyring": "its value is in the system keyring",
            "memory": "its value is in memory, for this run",
            "environment": "its value comes from the environment",
        }
        self.secret_words.set_text(
            places.get(str(source), "no value is known; nothing will be sent with the request")
        )

    def _ask_value(self) -> None:
        name = self.secret.text().strip()
        value, accepted = QInputDialog.getText(
            self,
            "Value of the secret",
            f"Value of {name} for {self._address()}:",
            QLineEdit.EchoMode.Password,
        )
        if accepted and value:
            self.remember_value(value)

    def remember_value(self, value: str) -> None:
        """Keep a value of the named secret, bound to the origin of the address in the form."""
        name, address = self.secret.text().strip(), self._address()
        if not name or address is None:
            return
        from workbench.engine.secrets import SecretError

        try:
            self._session.secrets.remember(name, value, address)
        except (SecretError, ValueError) as error:
            self._say(str(error), "warning")
        self._show_secret()

    def _keep(self) -> None:
        """Take the form's fields into the model that is shown."""
        if self._name is None or self._name not in self._models:
            return
        old = self._models[self._name]
        provider = self.provider.currentData()
        remote = provider not in _NO_ADDRESS
        options = self.use.merged(self.options.merged(old.options))
        self._models[self._name] = ModelSettings(
            self._name,
            provider,
            (self.base_url.text().strip() or None) if remote else None,
            self.model.text().strip() or None,
            (self.secret.text().strip() or None) if remote else None,
            self.prices.merged(options) if self._has_prices() else options,
        )

    def current(self) -> ModelSettings | None:
        """Return the settings in the form."""
        self._keep()
        return self._models.get(self._name) if self._name is not None else None

    # The test

    def test(self) -> None:
        """Ask the model something small and say what answered, how fast, and what is missing."""
        settings = self.current()
        if settings is None:
            return
        if settings.provider in _NEEDS_ADDRESS and not settings.base_url:
            self._say("This provider needs an address.", "warning")
            return
        held = self.test_button.hasFocus()
        self.test_button.setEnabled(False)  # Qt gives its keyboard focus to the next field
        moved_to = self.focusWidget() if held else None
        self._say("Asking…", "second")
        root, secrets = self._session.snapshot().root, self._session.secrets
        self._session.jobs.run_async(
            lambda: try_model(settings, root, secrets),
            lambda trial: self._tested(trial, moved_to),
            lambda error: self._tested(Trial(str(error), good=False), moved_to),
            key="test-model",
        )

    def _tested(self, trial: Trial, moved_to: QWidget | None) -> None:
        self.test_button.setEnabled(True)
        if moved_to is not None and moved_to.hasFocus():
            self.test_button.setFocus()
        self._say(trial.words, "passed" if trial.good else "warning")
        if trial.models:
            completer = QCompleter(list(trial.models), self.model)
            completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
            completer.setFilterMode(Qt.MatchFlag.MatchContains)
            self.model.setCompleter(completer)
            self.model.setPlaceholderText(f"for example {trial.models[0]}")

    def _say(self, words: str, token: str) -> None:
        self.test_words.set_look(token=token)
        self.test_words.set_text(words)

    def done(self, result: int) -> None:
        self._session.jobs.cancel("test-model")
        super().done(result)

    def accept(self) -> None:
        """Write what was changed into the project."""
        self._keep()
        for name in self._removed - set(self._models):
            if name in self._before:
                self._session.edit("models", lambda project, name=name: project.remove_model(name))
        for name, settings in self._models.items():
            if settings != self._before.get(name):
                self._session.edit("models", lambda project, settings=settings: project.set_model(settings))
        super().accept()
