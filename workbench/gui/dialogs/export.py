"""Exports the prompt for another system: every target with its losses, the files as they will be written, then saves."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRectF,
    QSize,
    QSortFilterProxyModel,
    Qt,
)
from PySide6.QtGui import QAction, QPainter
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QListView,
    QPushButton,
    QSplitter,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableWidget,
    QTableWidgetItem,
    QTabWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from workbench.gui.delegates.ink import color, scaled_font
from workbench.gui.delegates.status import paint_status
from workbench.gui.delegates.words import TextDelegate, draw_ground
from workbench.gui.dialogs import questions
from workbench.gui.models.figures import counted, format_size
from workbench.gui.shell.scale import fit, fit_rows, px, resize_window
from workbench.gui.shell.session import Session
from workbench.gui.shell.theme import icon_pixmap, set_icon, set_role
from workbench.gui.widgets.code_view import CodeView
from workbench.gui.widgets.labels import Ground, SectionHead, TokenLabel

if TYPE_CHECKING:
    from workbench.engine.exports import Export, ExportedFile, ExportTarget, Loss
    from workbench.engine.projects.snapshot import ProjectSnapshot

_LANGUAGES = {
    ".yaml": "yaml",
    ".yml": "yaml",
    ".json": "json",
    ".py": "python",
    ".java": "java",
    ".toml": "toml",
    ".sh": "bash",
    ".xml": "xml",
    ".ts": "typescript",
    ".js": "javascript",
}
_LOSS_LOOK = {
    "left out": ("minus", "warning"),
    "changed": ("swap", "accent"),
    "runs differently": ("info", "second"),
}


class TargetListModel(QAbstractListModel):
    """The targets with what each would lose; exports are computed elsewhere and handed in."""

    TargetRole = Qt.ItemDataRole.UserRole + 1
    ExportRole = Qt.ItemDataRole.UserRole + 2

    def __init__(self, targets: list[ExportTarget], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._targets = targets
        self._exports: dict[str, Export | str] = {}

    def set_export(self, name: str, export: Export | str) -> None:
        """Take the export of a target, or the words of the error that stopped it."""
        self._exports[name] = export
        for row, target in enumerate(self._targets):
            if target.name == name:
                self.dataChanged.emit(self.index(row), self.index(row))

    def export(self, name: str) -> Export | str | None:
        """Return the export of a target, its error, or `None` while it is not known."""
        return self._exports.get(name)

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._targets)

    def data(
        self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if not index.isValid():
            return None
        target = self._targets[index.row()]
        if role == self.TargetRole:
            return target
        if role == self.ExportRole:
            return self._exports.get(target.name)
        if role == Qt.ItemDataRole.DisplayRole:
            return target.title
        if role == Qt.ItemDataRole.ToolTipRole:
            return target.description
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{target.title}, {losses_in_words(self._exports.get(target.name))}"
        return None


def losses_in_words(export: Export | str | None) -> str:
    """Return `complete`, `5 losses`, `failed`, or an ellipsis while nothing is known."""
    if export is None:
        return "…"
    if isinstance(export, str):
        return "failed"
    return counted(len(export.losses), "loss", "losses") if export.losses else "complete"


class TargetDelegate(QStyledItemDelegate):
    """Title over description, and the number of losses at the right."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(px(120), px(42))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        title = draw_ground(self, painter, option, index)
        target = index.data(TargetListModel.TargetRole)
        export = index.data(TargetListModel.ExportRole)
        area = QRectF(option.rect).adjusted(14, 4, -12, -4)  # type: ignore[attr-defined]
        painter.save()
        right = self._paint_losses(painter, option, area, export)
        half = area.height() / 2
        selected = bool(option.state & option.state.State_Selected)  # type: ignore[attr-defined]
        painter.setFont(scaled_font(option.font, bold=selected))  # type: ignore[attr-defined]
        painter.setPen(color("text"))
        middle = int(Qt.AlignmentFlag.AlignVCenter.value)
        width = area.width() - right - 10
        words = painter.fontMetrics().elidedText(title, Qt.TextElideMode.ElideRight, int(width))
        painter.drawText(QRectF(area.left(), area.top(), width, half), middle, words)
        painter.setFont(scaled_font(option.font, "second"))  # type: ignore[attr-defined]
        painter.setPen(color("second"))
        words = painter.fontMetrics().elidedText(target.description, Qt.TextElideMode.ElideRight, int(width))
        painter.drawText(QRectF(area.left(), area.top() + half, width, half), middle, words)
        painter.setPen(color("line"))
        rect = option.rect  # type: ignore[attr-defined]
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        painter.restore()

    def _paint_losses(
        self, painter: QPainter, option: QStyleOptionViewItem, area: QRectF, export: Export | str | None
    ) -> float:
        words = losses_in_words(export)
        status, token = "", "second"
        if words == "complete":
            status, token = "passed", "passed"
        elif words == "failed":
            status, token = "error_mark", "rejected"
        painter.setFont(scaled_font(option.font, "second"))  # type: ignore[attr-defined]
        width = float(painter.fontMetrics().horizontalAdvance(words))
        painter.setPen(color(token))
        right = int(Qt.AlignmentFlag.AlignRight.value | Qt.AlignmentFlag.AlignVCenter.value)
        painter.drawText(area, right, words)
        if status:
            side = px(14)
            mark = QRectF(area.right() - width - side - 5, area.center().y() - side / 2, side, side)
            paint_status(painter, mark, status)
            width += side + 5
        return width


class ExportDialog(QDialog):
    """Chooses a target, previews its files and losses, writes them into a folder."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        from workbench.engine.exports import targets

        self._session = session
        self._snapshot: ProjectSnapshot = session.snapshot()
        self._targets = list(targets())
        self._folder_touched = False
        self.written: list[Path] = []
        self.setWindowTitle(f"Export “{self._snapshot.name}”")
        resize_window(self, 1100, 730)
        self._build()
        self.list.selectionModel().currentChanged.connect(lambda *_: self._show_target())
        self.search.textChanged.connect(self._filter)
        self.list.setCurrentIndex(self._shown.index(0, 0))
        self._compute()

    # Building

    def _build(self) -> None:
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.setChildrenCollapsible(False)
        splitter.setHandleWidth(1)
        splitter.addWidget(self._build_targets())
        splitter.addWidget(self._build_preview())
        splitter.setSizes([310, 790])
        splitter.setStretchFactor(1, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(splitter, 1)
        layout.addWidget(self._build_foot())

    def _build_targets(self) -> QWidget:
        self.search = QLineEdit()
        self.search.setPlaceholderText(f"Search {counted(len(self._targets), 'target')}")
        self.search.setAccessibleName("Search targets")
        self.search.setClearButtonEnabled(True)
        picture = QAction(self.search)
        set_icon(picture, "search", "second")
        self.search.addAction(picture, QLineEdit.ActionPosition.LeadingPosition)
        self.targets = TargetListModel(self._targets, self)
        self._shown = QSortFilterProxyModel(self)
        self._shown.setSourceModel(self.targets)
        self._shown.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.list = QListView()
        self.list.setModel(self._shown)
        self.list.setItemDelegate(TargetDelegate(self.list))
        self.list.setUniformItemSizes(True)
        self.list.setAccessibleName("Export targets")
        box = QWidget()
        layout = QVBoxLayout(box)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        holder = QWidget()
        inner = QVBoxLayout(holder)
        inner.setContentsMargins(12, 12, 12, 12)
        inner.addWidget(self.search)
        layout.addWidget(holder)
        layout.addWidget(self.list, 1)
        fit(box, min_width=260)
        return box

    def _build_preview(self) -> QWidget:
        self.files = QTabWidget()
        self.files.setDocumentMode(True)
        self.files.currentChanged.connect(lambda _index: self._show_size())
        corner = Ground("head")
        row = QHBoxLayout(corner)
        row.setContentsMargins(8, 0, 12, 0)
        row.setSpacing(8)
        self.size_words = TokenLabel("", "second", size="second")
        self.copy_button = QToolButton()
        self.copy_button.setText("Copy")
        set_icon(self.copy_button, "copy")
        self.copy_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.copy_button.clicked.connect(self._copy)
        row.addWidget(self.size_words)
        row.addWidget(self.copy_button)
        self.files.setCornerWidget(corner)
        self.loss_head = SectionHead("What is lost")
        self.losses = QTableWidget(0, 3)
        self.losses.setAccessibleName("What the target cannot express")
        self.losses.horizontalHeader().hide()
        self.losses.verticalHeader().hide()
        fit_rows(self.losses, 30)
        self.losses.setShowGrid(False)
        self.losses.setItemDelegate(TextDelegate(self.losses))
        self.losses.setTabKeyNavigation(False)
        self.losses.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.losses.setSelectionBehavior(QTableWidget.SelectionBehavior.SelectRows)
        self.losses.horizontalHeader().setSectionResizeMode(2, QHeaderView.ResizeMode.Stretch)
        self.losses.setColumnWidth(0, px(160))
        self.losses.setColumnWidth(1, px(170))
        below = QWidget()
        below_layout = QVBoxLayout(below)
        below_layout.setContentsMargins(0, 0, 0, 0)
        below_layout.setSpacing(0)
        below_layout.addWidget(self.loss_head)
        below_layout.addWidget(self.losses, 1)
        splitter = QSplitter(Qt.Orientation.Vertical)
        splitter.setChildrenCollapsible(False)
        splitter.setHandleWidth(1)
        splitter.addWidget(self.files)
        splitter.addWidget(below)
        splitter.setSizes([430, 190])
        return splitter

    def _build_foot(self) -> QWidget:
        foot = QWidget()
        layout = QVBoxLayout(foot)
        layout.setContentsMargins(16, 10, 16, 14)
        layout.setSpacing(10)
        line = QHBoxLayout()
        line.setSpacing(12)
        line.addWidget(TokenLabel("Save to"))
        self.folder = QLineEdit()
        self.folder.setAccessibleName("Folder to save to")
        self.folder.textEdited.connect(self._folder_edited)
        browse = QPushButton("Browse…")
        browse.clicked.connect(self._browse)
        line.addWidget(self.folder, 1)
        line.addWidget(browse)
        layout.addLayout(line)
        line = QHBoxLayout()
        line.setSpacing(12)
        self.with_readme = QCheckBox("Write the losses into README.md")
        self.with_readme.setChecked(True)
        self.with_readme.toggled.connect(lambda _on: self._show_target())
        line.addWidget(self.with_readme)
        picture = TokenLabel("Secrets are written as names, never as values", "second", size="second")
        line.addWidget(picture)
        line.addStretch(1)
        cancel = QPushButton("Cancel")
        cancel.clicked.connect(self.reject)
        self.save_button = QPushButton("Save")
        set_role(self.save_button, "main")
        self.save_button.setDefault(True)
        self.save_button.clicked.connect(self.save)
        line.addWidget(cancel)
        line.addWidget(self.save_button)
        layout.addLayout(line)
        return foot

    # Exports

    def _compute(self) -> None:
        """Export for every target as a job; all are pure functions of the frozen snapshot."""
        snapshot, parameter_set, targets = self._snapshot, self._session.parameter_set, self._targets
        self._session.jobs.run_pool(
            _export_all,
            targets,
            snapshot,
            parameter_set,
            on_done=self._computed,
            on_error=self._failed,
            key="export",
        )

    def _computed(self, found: dict[str, Export | str]) -> None:
        for name, export in found.items():
            self.targets.set_export(name, export)
        self._show_target()

    def _failed(self, error: BaseException) -> None:
        for target in self._targets:
            self.targets.set_export(target.name, str(error))
        self._show_target()

    def current_target(self) -> ExportTarget | None:
        """Return the chosen target."""
        target = self.list.currentIndex().data(TargetListModel.TargetRole)
        return target  # type: ignore[no-any-return]

    def choose(self, name: str) -> None:
        """Choose a target by name."""
        for row in range(self._shown.rowCount()):
            index = self._shown.index(row, 0)
            if index.data(TargetListModel.TargetRole).name == name:
                self.list.setCurrentIndex(index)

    def current_files(self) -> list[ExportedFile]:
        """Return the files as they will be written."""
        target = self.current_target()
        export = self.targets.export(target.name) if target is not None else None
        if target is None or export is None or isinstance(export, str):
            return []
        files = list(export.files)
        if self.with_readme.isChecked() and all(file.path != "README.md" for file in files):
            from workbench.engine.exports import readme

            files.append(readme(export, self._snapshot, target.title))
        return files

    # What is shown

    def _filter(self, text: str) -> None:
        self._shown.setFilterFixedString(text.strip())
        if not self.list.currentIndex().isValid() and self._shown.rowCount():
            self.list.setCurrentIndex(self._shown.index(0, 0))

    def _show_target(self) -> None:
        target = self.current_target()
        files = self.current_files()
        chosen = self.files.tabText(self.files.currentIndex())
        while self.files.count():
            widget = self.files.widget(0)
            self.files.removeTab(0)
            widget.deleteLater()
        for file in files:
            view = CodeView()
            view.set_code(file.text, _LANGUAGES.get(PurePosixPath(file.path).suffix, ""))
            view.setAccessibleName(file.path)
            position = self.files.addTab(view, file.path)
            if file.path == chosen:
                self.files.setCurrentIndex(position)
        self._show_size()
        self._show_losses(target)
        self.save_button.setText(f"Save {counted(len(files), 'file')}" if files else "Save")
        self.save_button.setEnabled(bool(files))
        self.copy_button.setEnabled(bool(files))
        if target is not None and not self._folder_touched:
            root = self._snapshot.root or Path.home()
            self.folder.setText(str(root / "exports" / target.name))

    def _show_size(self) -> None:
        view = self.files.currentWidget()
        if isinstance(view, CodeView):
            from workbench.engine.exports import ExportedFile

            text = view.code()
            size = len(ExportedFile(view.accessibleName(), text).data)
            lines = text.count("\n") + (0 if text.endswith("\n") else 1)
            self.size_words.set_text(f"{counted(lines, 'line')}, {format_size(size)}")
        else:
            self.size_words.set_text("")

    def _show_losses(self, target: ExportTarget | None) -> None:
        export = self.targets.export(target.name) if target is not None else None
        title = target.title if target is not None else ""
        if export is None or isinstance(export, str):
            self.losses.setRowCount(0)
            self.loss_head.title.set_text(f"{title} failed" if isinstance(export, str) else title)
            self.loss_head.note.set_text(export if isinstance(export, str) else "")
            return
        self.loss_head.title.set_text(
            f"What {title} cannot express" if export.losses else f"{title} carries everything"
        )
        kinds = [loss.kind for loss in export.losses]
        words = [f"{kinds.count(kind)} {kind}" for kind in _LOSS_LOOK if kind in kinds]
        self.loss_head.note.set_text(", ".join(words))
        self.losses.setRowCount(len(export.losses))
        for row, loss in enumerate(export.losses):
            self._put_loss(row, loss)

    def _put_loss(self, row: int, loss: Loss) -> None:
        picture, token = _LOSS_LOOK[loss.kind]
        kind = QTableWidgetItem(icon_pixmap(picture, token, 16), loss.kind)
        kind.setForeground(color(token))
        kind.setFont(scaled_font(self.font(), bold=True))
        subject, detail = QTableWidgetItem(loss.subject), QTableWidgetItem(loss.detail)
        detail.setForeground(color("second"))
        for column, item in enumerate((kind, subject, detail)):
            item.setToolTip(f"{loss.subject}: {loss.detail}")
            self.losses.setItem(row, column, item)

    # Saving

    def _folder_edited(self, _text: str) -> None:
        self._folder_touched = True

    def _browse(self) -> None:
        chosen = QFileDialog.getExistingDirectory(self, "Save to", self.folder.text())
        if chosen:
            self.folder.setText(chosen)
            self._folder_touched = True

    def _copy(self) -> None:
        view = self.files.currentWidget()
        if isinstance(view, CodeView):
            QApplication.clipboard().setText(view.code())

    def occupied(self) -> list[Path]:
        """Return the files that are there already and would be replaced by other content."""
        folder = Path(self.folder.text().strip()).expanduser()
        found = []
        for file in self.current_files():
            path = folder / file.path
            if path.exists() and path.read_bytes() != file.data:
                found.append(path)
        return found

    def save(self) -> None:
        """Write the files; asks before other files are replaced, and stays open when it cannot write."""
        from workbench.engine.exports import write_export

        target = self.current_target()
        export = self.targets.export(target.name) if target is not None else None
        if target is None or export is None or isinstance(export, str):
            return
        text = self.folder.text().strip()
        if not text:
            self._session.status.emit("Name a folder to save to.")
            return
        extra = tuple(file for file in self.current_files() if file not in export.files)
        try:
            if (occupied := self.occupied()) and not self._may_replace(occupied):
                return
            self.written = write_export(export, Path(text).expanduser(), extra=extra)
        except (OSError, RuntimeError) as error:  # no home directory of that name is the latter
            questions.show_error(self, "Export", "The files could not be written.", str(error))
            return
        self._session.status.emit(f"{counted(len(self.written), 'file')} written to {text}")
        self.accept()

    def _may_replace(self, occupied: list[Path]) -> bool:
        names = ", ".join(path.name for path in occupied[:4]) + ("…" if len(occupied) > 4 else "")
        question = f"{counted(len(occupied), 'file')} would be replaced: {names}."
        return questions.ask_replace(self, "Export", question, "What is in them now is gone then.")

    def done(self, result: int) -> None:
        self._session.jobs.cancel("export")
        super().done(result)


def _export_all(
    targets: list[ExportTarget], snapshot: ProjectSnapshot, parameter_set: str | None
) -> dict[str, Export | str]:
    """Return each target's export; one target that fails must not hide the others."""
    found: dict[str, Export | str] = {}
    for target in targets:
        try:
            found[target.name] = target.export(snapshot, parameter_set=parameter_set)
        except Exception as error:
            found[target.name] = f"{type(error).__name__}: {error}"
    return found
