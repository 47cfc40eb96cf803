"""What goes wrong when a decision model is asked, told apart so that nothing is mistaken for an answer."""

from __future__ import annotations

from typing import Literal

ErrorKind = Literal[
    "configuration",
    "connect",
    "timeout",
    "status",
    "body",
    "envelope",
    "limit",
    "unavailable",
    "crashed",
    "cancelled",
]


class DecisionError(Exception):
    """A call failed as a whole, so that no check has an answer.

    `kind` says where: the settings, the connection, a time limit, the server's status, its body, the form
    of its answer (`envelope`), a limit of the provider, or a model that is not on this machine.
    `status` is the HTTP status where there was one, `hint` says what to do about it. Whoever had asked fills
    in `found`, what is known all the same of the text without a model, and `findings`, the same in words.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: ErrorKind = "envelope",
        status: int | None = None,
        url: str | None = None,
        server_message: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.kind: ErrorKind = kind
        self.status = status
        self.url = url
        self.server_message = server_message
        self.hint = hint
        self.found: tuple[object, ...] = ()
        self.findings = ""

    def __str__(self) -> str:
        words = f"{self.message} ({self.hint})" if self.hint else self.message
        return f"{words}. {self.findings}" if self.findings else words


class InvalidDecisionResponse(DecisionError):  # noqa: N818 - the public name, after the reference system's
    """An answer that was asked for is missing or is not what it must be."""


class DecisionRefused(DecisionError):  # noqa: N818 - a state of one answer, not a failure of ours
    """The decision model refused to answer the question whose answer was read."""
