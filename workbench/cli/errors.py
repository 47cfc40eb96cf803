"""How the command line ends: its exit statuses, and the error that carries one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from workbench.engine.diagnostics import Diagnostic

if TYPE_CHECKING:
    from workbench.engine.decisions import DecisionError
    from workbench.engine.http import HttpError
    from workbench.engine.language_models import LanguageModelError

GOOD = 0
BAD_VERDICT = 1
WRONG_CALL = 2
MODEL_FAILED = 3
UNFORESEEN = 70
"""An error of the program itself; the number is that of `EX_SOFTWARE` in sysexits.h."""
INTERRUPTED = 130


_WRONG_SETTINGS = ("configuration", "settings", "secret", "url")
"""Kinds of failures in which nothing was asked, because the project names something that cannot be used."""


class CliError(Exception):
    """Ends the command with `status` after `message` was printed to standard error."""

    def __init__(self, message: str, status: int = WRONG_CALL) -> None:
        super().__init__(message)
        self.message = message
        self.status = status


def wrong_input(diagnostics: Sequence[Diagnostic]) -> CliError:
    """Return the error for an input file that is wrong: one line a diagnostic, each with its place."""
    errors = [d for d in diagnostics if d.severity == "error"] or list(diagnostics)
    return CliError("\n".join(d.one_line() + (f" ({d.hint})" if d.hint else "") for d in errors))


def guarded(run: Callable[[Any], int], call: Any) -> int:
    """Run one command; a failure of a model, the network, a secret or the history becomes a `CliError`.

    Raises:
        CliError: with status 3 where a model or the network failed, 2 where the call or the project is wrong.
    """
    try:
        return run(call)
    except CliError:
        raise
    except Exception as error:
        translated = _translated(error)
        if translated is None:
            raise
        raise translated from error


def _translated(error: Exception) -> CliError | None:
    # These modules are slow to import, and an error of theirs means that they are already here.
    from workbench.engine.decisions import DecisionError
    from workbench.engine.history import HistoryError
    from workbench.engine.http import HttpError
    from workbench.engine.language_models import LanguageModelError
    from workbench.engine.secrets import OriginNotAccepted, SecretError
    from workbench.engine.workflows import WorkflowError
    from workbench.engine.workflows.errors import UnfilledPromptError

    if isinstance(error, OriginNotAccepted):
        return CliError(f"{error} (accept it with --accept-origin URL)")
    if isinstance(error, UnfilledPromptError):
        return CliError(str(error), BAD_VERDICT)
    if isinstance(error, WorkflowError | HistoryError | SecretError):
        return CliError(str(error))
    if isinstance(error, DecisionError | LanguageModelError | HttpError):
        return CliError(str(error), WRONG_CALL if is_wrong_setting(error) else MODEL_FAILED)
    return None


def is_wrong_setting(error: DecisionError | LanguageModelError | HttpError) -> bool:
    """Tell whether a model was never asked, because of what the project says of it."""
    return error.kind in _WRONG_SETTINGS
