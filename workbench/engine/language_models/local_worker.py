"""The worker program that runs a GGUF model, so that a crash of native code cannot take the window down.

Arguments: the path of the file and a JSON object with `n_ctx` (tokens), `n_threads` and `alias`. Methods:
`chat` (a chat completion as chunks, each an event; ends early when cancelled), `chat_completions`,
`completions` and `systemone` (one request, one answer, as llama.cpp's server gives them), `info`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from workbench.engine.workers import CallContext, run_worker


class Program:
    """The loaded model and its methods."""

    def __init__(self, path: str, options: dict[str, Any]) -> None:
        self._path = path
        self._options = options
        self._server: Any = None

    def load(self) -> None:
        """Load the weights. The listener that the library opens is on this computer only, on a free port."""
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = self._path
        params.hostnames = ["127.0.0.1"]
        params.port = 0
        params.n_parallel = 1
        params.n_ctx = int(self._options["n_ctx"])
        params.cpuparams.n_threads = int(self._options["n_threads"])
        params.model_alias = {str(self._options["alias"])}
        params.verbosity = 0
        params.warmup = False
        try:
            self._server = xllamacpp.Server(params)
        except RuntimeError as error:
            raise OSError(
                f"the model cannot be loaded; is its file complete? ({str(error).rstrip('.')})"
            ) from error

    def info(self, params: Any, context: CallContext) -> Any:
        """Return what was loaded."""
        return {"path": self._path, **self._options}

    def chat(self, params: Any, context: CallContext) -> Any:
        """Stream a chat completion; every chunk is an event."""

        def take(chunk: Any) -> bool:
            context.emit(chunk)
            return context.cancelled.is_set()  # True stops the generation

        body = {**params, "stream": True, "stream_options": {"include_usage": True}}
        self._server.handle_chat_completions(body, take)
        context.check()
        return None

    def once(self, handler: str) -> Callable[[Any, CallContext], Any]:
        """Return the method that gives one answer to one request."""

        def method(params: Any, context: CallContext) -> Any:
            return getattr(self._server, handler)(params)

        return method


def main(argv: list[str]) -> None:
    """Serve the model that the arguments name."""
    program = Program(argv[1], json.loads(argv[2]))
    methods = {
        "chat": program.chat,
        "chat_completions": program.once("handle_chat_completions"),
        "completions": program.once("handle_completions"),
        "systemone": program.once("handle_systemone"),
        "info": program.info,
    }
    run_worker(methods, setup=program.load)


if __name__ == "__main__":
    main(sys.argv)
