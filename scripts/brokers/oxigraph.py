"""A SPARQL endpoint over an Oxigraph store: queries at /query, updates at /update (SPARQL 1.1 Protocol)."""

from __future__ import annotations

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from urllib.parse import parse_qs, urlsplit

from servers import HOST, Addresses, Server, UnavailableError


class Oxigraph(Server):
    name = "oxigraph"
    ports = ("http",)

    def addresses(self) -> Addresses:
        address = f"http://{HOST}:{self.chosen_ports()['http']}"
        return {"query": f"{address}/query", "update": f"{address}/update"}

    def fetch(self) -> None:
        if find_spec("pyoxigraph") is None:
            raise UnavailableError("Oxigraph needs a package: pip install pyoxigraph")

    def command(self, ports: dict[str, int]) -> list[str]:
        return [sys.executable, __file__, str(ports["http"]), str(self.folder / "store")]


class _Endpoint(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer(parse_qs(urlsplit(self.path).query).get("query", [""])[0])

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if self.headers["Content-Type"].startswith("application/x-www-form-urlencoded"):
            content = next(iter(parse_qs(content).values()))[0]
        self._answer(content)

    def _answer(self, text: str) -> None:
        from pyoxigraph import QueryResultsFormat, QueryTriples, RdfFormat, Store

        store: Store = self.server.store  # type: ignore[attr-defined]
        try:
            if urlsplit(self.path).path == "/update":
                store.update(text)
                return self._reply(204, "text/plain", b"")
            found = store.query(text)
        except (SyntaxError, ValueError) as error:
            return self._reply(400, "text/plain", str(error).encode())
        if isinstance(found, QueryTriples):
            return self._reply(200, "application/n-triples", found.serialize(format=RdfFormat.N_TRIPLES))
        return self._reply(200, "application/sparql-results+json", found.serialize(format=QueryResultsFormat.JSON))

    def _reply(self, status: int, media_type: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None:
        """Nobody wants to know."""


def serve(port: int, folder: str) -> None:
    from pyoxigraph import Store

    server = ThreadingHTTPServer((HOST, port), _Endpoint)
    server.store = Store(folder)  # type: ignore[attr-defined]
    server.serve_forever()


if __name__ == "__main__":
    serve(int(sys.argv[1]), sys.argv[2])
