"""A small HTTP server on a thread of its own, for tests of what talks to servers from outside an event loop."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class JsonHandler(BaseHTTPRequestHandler):
    """Base of the handlers: reads and answers JSON, says nothing on stderr."""

    def read_json(self) -> Any:
        """Return the document that the request carries."""
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

    def answer(self, status: int, document: object) -> None:
        """Send a document as JSON."""
        self.answer_bytes(status, "application/json", json.dumps(document).encode())

    def answer_bytes(self, status: int, kind: str, data: bytes) -> None:
        """Send a body as it stands."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        # A client may end a call that it no longer wants, as one does that was stopped.
        with contextlib.suppress(ConnectionError):
            self.end_headers()
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Run a server on a free port of this computer and yield its base address; its threads have ended afterwards."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        # The default looks only every half second whether it is to end.
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
