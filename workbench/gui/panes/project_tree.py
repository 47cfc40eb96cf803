"""The project at a glance: messages, sets, schemas, checks, cases, tools and models, with their problems."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFont, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.gui.models.model_title import model_title
from workbench.gui.shell.places import Place, message_title, place_of
from workbench.gui.shell.scale import px
from workbench.gui.shell.session import Session
from workbench.gui.shell.theme import icon_pixmap, interface_font, on_theme_changed, small_font, theme

NODE = Qt.ItemDataRole.UserRole + 1


@dataclass(frozen=True)
class Node:
    """One row of the tree: its key and depth, what it shows, and where it leads."""

    key: str
    depth: int
    text: str
    icon: str
    place: Place | None
    count: str = ""
    errors: int = 0
    strong: bool = False


def project_nodes(snapshot: ProjectSnapshot, chosen: str | None, errors: dict[Place, int]) -> Iterator[Node]:
    """Yield the rows of a project, depth first. `errors` counts the errors by area and name."""

    def at(area: str, name: str = "") -> tuple[Place, int]:
        place = Place(area, name)
        return place, errors.get(place, 0)

    yield Node("project", 0, snapshot.name, "folder", None, strong=True)
    if snapshot.graph is not None:
        place, wrong = at("graph")
        yield Node("template", 1, "Object graph", "graph", place, errors=wrong)
    else:
        yield Node("template", 1, "Template", "message", Place("message", "0"))
        for i in range(len(snapshot.messages)):
            place, wrong = at("message", str(i))
            yield Node(f"message/{i}", 2, message_title(snapshot, i), "message", place, errors=wrong)
    sets = snapshot.parameter_sets
    yield Node("sets", 1, "Parameter sets", "braces", Place("parameters", chosen or ""), str(len(sets) or ""))
    for name in sets:
        place, wrong = at("parameters", name)
        yield Node(f"set/{name}", 2, name, "file", place, errors=wrong, strong=name == chosen)
    schemas = [snapshot.parameters_schema, snapshot.output_schema]
    have = sum(each is not None for each in schemas)
    yield Node("schemas", 1, "Schemas", "schema", Place("parameters_schema"), str(have or ""))
    for schema, area, title in (
        (schemas[0], "parameters_schema", "parameters"),
        (schemas[1], "output_schema", f"output ({snapshot.translation.type_name})"),
    ):
        if schema is not None:
            place, wrong = at(area)
            yield Node(f"schema/{area}", 2, title, "file", place, errors=wrong)
    stages = {"input": snapshot.input_guardrail.checks, "output": snapshot.output_guardrail.checks}
    total = sum(map(len, stages.values()))
    yield Node("guardrails", 1, "Guardrails", "run-checks", Place("guardrails", "input"), str(total or ""))
    for stage, checks in stages.items():
        place = Place("guardrails", stage)
        yield Node(f"guardrails/{stage}", 2, stage.capitalize(), "sliders", place, str(len(checks) or ""))
    yield Node("cases", 1, "Labelled cases", "tag", Place("cases"), str(len(snapshot.cases) or ""))
    yield Node("tools", 1, "Tools", "wrench", Place("tools"), str(len(snapshot.tools) or ""))
    yield Node("models", 1, "Models", "chip", Place("models"))
    for name, settings in snapshot.models.items():
        yield Node(f"model/{name}", 2, model_title(settings), "chip", Place("models", name))


class _NodeDelegate(QStyledItemDelegate):
    """Paints icon, name, and at the right the count or the number of errors."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(px(120), px(24))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        node: Node = index.data(NODE)
        colors = theme()
        painter.save()
        box = option.rect
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(box, colors.color("selection"))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(box, colors.color("hover"))
        painter.drawPixmap(
            box.left() + 4, box.center().y() - px(16) // 2, icon_pixmap(node.icon, "second", 16)
        )
        right = box.right() - 12
        painter.setFont(small_font())
        align = Qt.AlignmentFlag.AlignVCenter
        badge = str(node.errors) if node.errors else node.count
        width = painter.fontMetrics().horizontalAdvance(badge) if badge else 0
        painter.setPen(colors.color("rejected" if node.errors else "second"))
        painter.drawText(QRect(right - width, box.top(), width, box.height()), align, badge)
        if node.errors:
            painter.drawPixmap(
                right - width - px(14) - 4,
                box.center().y() - px(14) // 2,
                icon_pixmap("warning", "rejected", 14),
            )
            width += px(14) + 6
        font = interface_font(weight=QFont.Weight.DemiBold if node.strong else QFont.Weight.Normal)
        painter.setFont(font)
        painter.setPen(colors.color("text"))
        name = name_place(box, width)
        painter.drawText(
            name,
            align,
            painter.fontMetrics().elidedText(node.text, Qt.TextElideMode.ElideRight, name.width()),
        )
        painter.restore()


def name_place(box: QRect, badge: int) -> QRect:
    """Return where a row's name stands; `badge` is the width in pixels of what stands at its right, 0 for nothing."""
    start = box.left() + px(24) + 4
    end = box.right() - (badge + 18 if badge else 4)
    return QRect(start, box.top(), end - start, box.height())


class ProjectTreePane(QWidget):
    """The tree; a click leads to the part, the context menu acts on it."""

    asked = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._nodes: list[Node] = []
        self.model = QStandardItemModel(self)
        self.view = QTreeView()
        self.view.setModel(self.model)
        self.view.setHeaderHidden(True)
        self.view.setIndentation(18)
        self.view.setUniformRowHeights(True)
        self.view.setMouseTracking(True)
        self.view.setItemDelegate(_NodeDelegate(self.view))
        self.view.setEditTriggers(QTreeView.EditTrigger.NoEditTriggers)
        self.view.setAccessibleName("Project")
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.view.customContextMenuRequested.connect(self._context_menu)
        self.view.clicked.connect(self._open)
        self.view.activated.connect(self._open)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.view)
        session.project_changed.connect(self.refresh)
        session.edited.connect(lambda _area: self.refresh())
        session.parameter_set_changed.connect(lambda _name: self.refresh())
        session.diagnostics_changed.connect(self.refresh)
        session.caret_moved.connect(self._follow)
        on_theme_changed(self, self.view.viewport().update)
        self.refresh()

    def refresh(self) -> None:
        """Show the project as it is; rows that stay keep their state."""
        nodes: list[Node] = []
        if self._session.project is not None:
            snapshot, chosen = self._session.snapshot(), self._session.parameter_set
            nodes = list(project_nodes(snapshot, chosen, self._errors(snapshot, chosen)))
        if nodes == self._nodes:
            return
        if [(n.key, n.depth) for n in nodes] == [(n.key, n.depth) for n in self._nodes]:
            for node, item in zip(nodes, self._items(), strict=True):
                item.setData(node, NODE)
                item.setText(node.text)
        else:
            self._rebuild(nodes)
        self._nodes = nodes

    def _errors(self, snapshot: ProjectSnapshot, chosen: str | None) -> dict[Place, int]:
        errors: dict[Place, int] = {}
        for each in self._session.diagnostics():
            place = place_of(each, snapshot, chosen) if each.severity == "error" else None
            if place is not None:
                key = Place(place.area, place.name)
                errors[key] = errors.get(key, 0) + 1
            # A placeholder without a value is shouted although the prompt may keep it.
        rendering = self._session.rendering()
        for index, message in enumerate(rendering.messages if rendering is not None else ()):
            key = Place("message", str(index))
            missing = sum(use.status == "kept" for use in message.placeholders)
            if missing > errors.get(key, 0):
                errors[key] = missing
        return errors

    def _rebuild(self, nodes: list[Node]) -> None:
        closed = {item.data(NODE).key for item in self._items() if not self.view.isExpanded(item.index())}
        known = {node.key for node in self._nodes}
        self.model.clear()
        parents: list[QStandardItem] = [self.model.invisibleRootItem()]
        for node in nodes:
            item = QStandardItem(node.text)
            item.setData(node, NODE)
            del parents[node.depth + 1 :]
            parents[-1].appendRow(item)
            parents.append(item)
        for item in self._items():
            key = item.data(NODE).key
            self.view.setExpanded(item.index(), key not in closed or key not in known)

    def _items(self) -> list[QStandardItem]:
        found: list[QStandardItem] = []
        waiting = [self.model.invisibleRootItem()]
        while waiting:
            item = waiting.pop()
            if item is not self.model.invisibleRootItem() and item.data(NODE) is not None:
                found.append(item)
            waiting.extend(item.child(row) for row in reversed(range(item.rowCount())))
        return found

    def _open(self, index: QModelIndex) -> None:
        node = index.data(NODE)
        if node is not None and node.place is not None:
            self._session.go_to(node.place)

    def _follow(self, place: Place) -> None:
        """Select the row of the part that has the caret."""
        wanted = Place(place.area, place.name)
        for item in self._items():
            node: Node = item.data(NODE)
            if node.place == wanted and node.depth == 2:
                if self.view.currentIndex() != item.index():
                    self.view.setCurrentIndex(item.index())
                return

    def _context_menu(self, point: QPoint) -> None:
        node = self.view.indexAt(point).data(NODE)
        if node is None:
            return
        menu = QMenu(self)
        if node.key.startswith(("set", "sets")):
            if node.key.startswith("set/"):
                menu.addAction("Use this set", lambda: self._session.set_parameter_set(node.text))
            for action, text in (
                ("project.new-parameter-set", "New set…"),
                ("project.duplicate-parameter-set", "Duplicate…"),
                ("project.rename-parameter-set", "Rename…"),
                ("project.delete-parameter-set", "Delete"),
            ):
                menu.addAction(text, lambda action=action: self._on_set(node, action))
        elif node.key.startswith(("template", "message")):
            menu.addAction("Add message", lambda: self.asked.emit("project.add-message"))
        elif node.key == "project":
            menu.addAction("Rename project…", lambda: self.asked.emit("project.rename"))
        elif node.key.startswith("guardrails"):
            menu.addAction("Add check…", lambda: self.asked.emit("project.add-check"))
        elif node.key.startswith("model"):
            menu.addAction("Models…", lambda: self.asked.emit("project.models"))
        if menu.actions():
            menu.exec(self.view.viewport().mapToGlobal(point))

    def _on_set(self, node: Node, action: str) -> None:
        if node.key.startswith("set/"):
            self._session.set_parameter_set(node.text)
        self.asked.emit(action)
