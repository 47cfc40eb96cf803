"""What can go wrong with a project as a whole, so that callers catch one family of errors."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from workbench.engine.diagnostics import Diagnostic


class ProjectError(Exception):
    """A project cannot be opened, written or changed in this way.

    `diagnostics` holds at least one error with file, line and column as far as they are known; the text of
    the exception is their one-line form.
    """

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n".join(diagnostic.one_line() for diagnostic in self.diagnostics))

    @classmethod
    def of(cls, code: str, message: str, *, file: str | None = None, hint: str | None = None) -> ProjectError:
        """Return an error with one diagnostic that has no place inside a file."""
        return cls([Diagnostic("error", code, message, file=file, hint=hint)])


class ChangedOnDisk(ProjectError):  # noqa: N818 - a name that says what happened
    """Another program changed files that saving would overwrite; `paths` lists them."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self.paths = tuple(paths)
        super().__init__(
            Diagnostic(
                "error",
                "changed_on_disk",
                f"{path.name} changed on disk since it was read and was not overwritten",
                file=str(path),
                hint="reload the project, or save again and allow overwriting",
            )
            for path in self.paths
        )
