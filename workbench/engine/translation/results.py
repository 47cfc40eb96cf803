"""What a translation, a validator or a hook gives back: a success with its data or a failure with its reason."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypeVar

from workbench.engine.diagnostics import Diagnostic

if TYPE_CHECKING:
    from workbench.engine.translation.record import Attempt, TranslationRecord

T = TypeVar("T")


class TranslationError(ValueError):
    """Raised by `get_data` for a failure; `failure` is the whole result."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


@dataclass(frozen=True, slots=True)
class Success(Generic[T]):
    """A result that holds.

    `data` is the final value: what `validate_instance` returned, or the validated JSON value. `attempts` are the
    model calls that led to it, `diagnostics` the warnings of the last one, `record` the folded events of the
    run. A validator or a hook leaves all but `data` at its default.
    """

    data: T
    attempts: tuple[Attempt, ...] = field(default=(), compare=False)
    diagnostics: tuple[Diagnostic, ...] = field(default=(), compare=False)
    record: TranslationRecord | None = field(default=None, compare=False, repr=False)

    success: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class Failure:
    """A result that does not hold, in words.

    `code` is an outcome such as `invalid`, `no_json` or `model_error`; `diagnostics` name the places. A hook
    may give several diagnostics, each with a pointer; with none, `message` speaks for the whole value.
    """

    message: str
    code: str = "invalid"
    diagnostics: tuple[Diagnostic, ...] = field(default=(), compare=False)
    attempts: tuple[Attempt, ...] = field(default=(), compare=False)
    record: TranslationRecord | None = field(default=None, compare=False, repr=False)

    success: ClassVar[bool] = False


Result: TypeAlias = Success[Any] | Failure


def get_data(result: Success[T] | Failure) -> T:
    """Return the data of a success.

    Raises:
        TranslationError: for a failure, with the failure's message.
    """
    if isinstance(result, Success):
        return result.data
    raise TranslationError(result)
