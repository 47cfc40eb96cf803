"""Writes a project in the form of other frameworks, and says what each cannot express."""

from workbench.engine.exports.base import Export, ExportedFile, ExportTarget, Loss, readme, write_export
from workbench.engine.exports.registry import find_target, targets

__all__ = [
    "Export",
    "ExportTarget",
    "ExportedFile",
    "Loss",
    "find_target",
    "readme",
    "targets",
    "write_export",
]
