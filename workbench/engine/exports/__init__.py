"""Writes a project in the form of other frameworks, and says what each cannot express."""

from workbench.engine.exports.base import (
    Export,
    ExportedFile,
    ExportTarget,
    Loss,
    foreign_file,
    readme,
    write_export,
)
from workbench.engine.exports.registry import find_target, targets

__all__ = [
    "Export",
    "ExportTarget",
    "ExportedFile",
    "Loss",
    "find_target",
    "foreign_file",
    "readme",
    "targets",
    "write_export",
]
