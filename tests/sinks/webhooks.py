"""A webhook on loopback."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.sinks.brokers import Received


@dataclass
class Hook:
    """A server that takes POST requests. It answers `statuses`, and has `received` what it answered with 2xx."""

    address: str = ""
    statuses: list[int] = field(default_factory=list)
    received: list[Received] = field(default_factory=list)


@contextmanager
def webhook() -> Iterator[Hook]:
    hook = Hook()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            status = hook.statuses.pop(0) if hook.statuses else 202
            if status < 300:
                hook.received.append(Received(self.headers["Idempotency-Key"], content, dict(self.headers)))
            said = b"too many cars"
            self.send_response(status)
            self.send_header("Content-Type", "text/plain")
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, format: str, *arguments: object) -> None:
            """Nobody wants to know."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        hook.address = f"http://127.0.0.1:{server.server_port}/hook"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield hook
        server.shutdown()
        thread.join()
