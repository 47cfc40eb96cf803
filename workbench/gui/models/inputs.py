"""Carries the inputs of a stored run from the history to the pane that can run them again."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal


class InputsChannel(QObject):
    """One per session. `opened` tells the kind of a run (`check`, `translate`, …) and the inputs it was started with."""

    opened = Signal(str, object)


def inputs_channel(session: QObject) -> InputsChannel:
    """Return the channel of a session, making it on first use."""
    found = session.findChild(InputsChannel)
    return found if isinstance(found, InputsChannel) else InputsChannel(session)
