"""A SPARQL endpoint on loopback, for tests: the SPARQL 1.1 Protocol, with updates, over a store of pyoxigraph."""

from __future__ import annotations

import gzip
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pyoxigraph as ox


@dataclass
class SparqlServer:
    """What it holds, and how it behaves: `store` may change between queries, and so may the rest.

    `statuses` are given, one for each query, before it begins to answer; `delay` is in seconds.
    """

    address: str
    store: ox.Store = field(default_factory=ox.Store)
    statuses: list[int] = field(default_factory=list)
    delay: float = 0.0
    says: tuple[str, bytes] | None = None
    """A media type and a content that it gives whatever is asked."""
    location: str = ""
    is_compressed: bool = False
    authorizations: list[str | None] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    updates: list[str] = field(default_factory=list)

    def load(self, turtle: str, graph: str | None = None) -> None:
        prefixed = f"@prefix : <http://ex.org/> . {turtle}"
        to_graph = ox.DefaultGraph() if graph is None else ox.NamedNode(graph)
        self.store.load(prefixed, ox.RdfFormat.TURTLE, to_graph=to_graph)

    def change(self, update: str) -> None:
        self.store.update(f"PREFIX : <http://ex.org/> {update}")


@contextmanager
def sparql_server(turtle: str = "") -> Iterator[SparqlServer]:
    """Answers until the end of `with`; its store holds the triples, with the prefix `:`."""
    http = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server = SparqlServer(f"http://127.0.0.1:{http.server_port}/sparql")
    server.load(turtle)
    http.sparql = server  # type: ignore[attr-defined]
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


@contextmanager
def dripping_server(beginning: bytes) -> Iterator[str]:
    """The address of a server that begins to answer, and then sends a byte every 10 ms for ever."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def drip() -> None:
            with suppress(OSError):
                connected, _ = listening.accept()
                with connected:
                    connected.sendall(beginning)
                    while True:
                        time.sleep(0.01)
                        connected.sendall(b"x")

        threading.Thread(target=drip, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/sparql"


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._answer(urlsplit(self.path).query)

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if self.headers.get_content_type() == "application/sparql-update":
            self._update(content)
        else:
            self._answer(content)

    def _update(self, update: str) -> None:
        server: SparqlServer = self.server.sparql  # type: ignore[attr-defined]
        server.updates.append(update)
        server.authorizations.append(self.headers["Authorization"])
        if server.statuses and (status := server.statuses.pop(0)) != 204:
            return self._reply(status, "text/plain", b"not now")
        try:
            server.store.update(update)
        except SyntaxError as error:
            return self._reply(400, "text/plain", str(error).encode())
        return self._reply(204, "text/plain", b"")

    def _answer(self, form: str) -> None:
        server: SparqlServer = self.server.sparql  # type: ignore[attr-defined]
        query = parse_qs(form)["query"][0]
        server.queries.append(query)
        server.authorizations.append(self.headers["Authorization"])
        time.sleep(server.delay)
        if urlsplit(self.path).path != "/sparql":
            return self._reply(404, "text/plain", b"nothing here")
        if server.statuses:
            return self._reply(server.statuses.pop(0), "text/plain", b"not now")
        if server.says is not None:
            return self._reply(200, *server.says)
        try:
            found = server.store.query(query)
        except SyntaxError as error:
            return self._reply(400, "text/plain", str(error).encode())
        if isinstance(found, ox.QueryTriples):
            return self._reply(200, "application/n-triples", found.serialize(format=ox.RdfFormat.N_TRIPLES))
        content = found.serialize(format=ox.QueryResultsFormat.JSON)
        return self._reply(200, "application/sparql-results+json", content)

    def _reply(self, status: int, media_type: str, content: bytes | None) -> None:
        server: SparqlServer = self.server.sparql  # type: ignore[attr-defined]
        if server.is_compressed and content is not None:
            content = gzip.compress(content)
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(content or b"")))
        if server.is_compressed:
            self.send_header("Content-Encoding", "gzip")
        if server.location:
            self.send_header("Location", server.location)
        with suppress(ConnectionError):  # who asked may have given up
            self.end_headers()
            self.wfile.write(content or b"")

    def log_message(self, format: str, *arguments: object) -> None:
        """Nobody wants to know."""
