"""The invalid index, which in Qt stands for the root of every model; one object serves as the default everywhere."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex

ROOT = QModelIndex()
