"""The process in which a GGUF model answers decisions: `python -m … MODEL`, on the `xllamacpp` runtime."""

from __future__ import annotations

import json
import socket
import sys
from typing import Any

from workbench.engine.workers import CallContext, run_worker


class GgufService:
    """Answers `about`, `systemone` and `chat`; the bodies are those of the HTTP endpoints of these names."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._server: Any = None
        self._decides = False

    def load(self) -> None:
        """Load the model and find out whether it is a decision model."""
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = self._path
        params.n_ctx = 4096
        params.n_parallel = 1
        params.warmup = False
        # The runtime opens a listener whatever one does: on this machine only, at a port nobody knows.
        params.hostnames = ["127.0.0.1"]
        params.port = _free_port()
        self._server = xllamacpp.Server(params)
        question = {"probe": {"type": "noul", "instructions": "Is this a text?"}}
        reply = self._plain(
            self._server.handle_systemone({"model": "probe", "state": "text", "questions": question})
        )
        self._decides = isinstance(reply, dict) and "error" not in reply

    def about(self, params: Any, context: CallContext) -> dict[str, bool]:
        """Tell whether the model answers decisions itself."""
        return {"decides": self._decides}

    def systemone(self, params: Any, context: CallContext) -> Any:
        """Answer a System One body."""
        return self._plain(self._server.handle_systemone(params))

    def chat(self, params: Any, context: CallContext) -> Any:
        """Answer a chat completion."""
        return self._plain(self._server.handle_chat_completions(params))

    @staticmethod
    def _plain(reply: Any) -> Any:
        return json.loads(reply) if isinstance(reply, (str, bytes)) else reply


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def main() -> None:
    """Serve until the input ends."""
    service = GgufService(sys.argv[1])
    run_worker(
        {"about": service.about, "systemone": service.systemone, "chat": service.chat}, setup=service.load
    )


if __name__ == "__main__":
    main()
