"""A web server that passes on what is posted to it: by Server-Sent Events, WebSockets, Linked Data Event Streams.

    POST /sse/NAME                      an event, whose data is the body; GET reads the events from now on
    POST /ws/NAME                       a message for the clients of ws://HOST:PORT/NAME; the answer is their number
    POST /ldes/NAME?member=IRI&time=T   a member in Turtle; GET reads the pages of the event stream

Events have numbers as ids, and `Last-Event-ID` continues behind one; `?from=ID` does the same. What is posted to
/sse and /ldes is kept in the folder. The same paths below /protected want a user and password, or a token.
"""

from __future__ import annotations

import json
import sys
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from servers import HOST, Addresses, Server, UnavailableError

if TYPE_CHECKING:
    from websockets.sync.server import ServerConnection

USER, PASSWORD, TOKEN = "reader", "open sesame", "sesame-seed"
MEMBERS_OF_PAGE = 5
SECONDS_BETWEEN_COMMENTS = 0.5
LDES, TREE, GENERATED = "https://w3id.org/ldes#", "https://w3id.org/tree#", "http://www.w3.org/ns/prov#generatedAtTime"


class Web(Server):
    name = "web"
    ports = ("http", "ws")

    def addresses(self) -> Addresses:
        ports = self.chosen_ports()
        http, ws = f"{HOST}:{ports['http']}", f"{HOST}:{ports['ws']}"
        return {
            "http": f"http://{http}",
            "sse": f"sse+http://{http}/sse",
            "ws": f"ws://{ws}",
            "ldes": f"ldes+http://{http}/ldes",
            "user": USER,
            "password": PASSWORD,
            "token": TOKEN,
        }

    def fetch(self) -> None:
        if find_spec("websockets") is None:
            raise UnavailableError("the web server needs a package: pip install websockets")

    def command(self, ports: dict[str, int]) -> list[str]:
        return [sys.executable, __file__, str(ports["http"]), str(ports["ws"]), str(self.folder)]


class Streams:
    """What was posted, by the names of the streams."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.changed = threading.Condition()
        self._kept: dict[str, list[Any]] = {}
        self.clients: dict[str, set[ServerConnection]] = {}

    def add(self, name: str, entry: Any) -> int:
        """The number of the entry, from 1."""
        with self.changed:
            kept = self.of(name)
            kept.append(entry)
            with self._file(name).open("a") as file:
                file.write(json.dumps(entry) + "\n")
            self.changed.notify_all()
            return len(kept)

    def of(self, name: str) -> list[Any]:
        if name not in self._kept:
            file = self._file(name)
            self._kept[name] = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        return self._kept[name]

    def _file(self, name: str) -> Path:
        return self._folder / f"{name.replace('/', '.')}.jsonl"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def streams(self) -> Streams:
        found: Streams = self.server.streams  # type: ignore[attr-defined]
        return found

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        kind, name, options = self._asked()
        if not self._is_allowed():
            return
        if kind == "sse":
            self._give(200, "text/plain", str(self.streams.add(f"sse/{name}", body)))
        elif kind == "ws":
            self._give(200, "text/plain", str(self._sent_to_clients(name, body)))
        elif kind == "ldes":
            self._give(200, "text/plain", str(self.streams.add(f"ldes/{name}", {**options, "turtle": body})))
        else:
            self._give(404, "text/plain", "nothing is there")

    def _sent_to_clients(self, name: str, body: str) -> int:
        """How many clients of a WebSocket the message was sent to; one may leave at any time."""
        from websockets.exceptions import ConnectionClosed

        count = 0
        for client in list(self.streams.clients.get(name, ())):
            with suppress(ConnectionClosed):
                client.send(body)
                count += 1
        return count

    def do_GET(self) -> None:
        kind, name, options = self._asked()
        if not self._is_allowed():
            return
        if kind == "sse":
            self._send_events(f"sse/{name}", self.headers.get("Last-Event-ID") or options.get("from"))
        elif kind == "ldes":
            self._send_page(name, options)
        elif kind == "moved":
            self.send_response(307)
            self.send_header("Location", f"/{name}")
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self._give(404, "text/plain", "nothing is there")

    def _asked(self) -> tuple[str, str, dict[str, str]]:
        url = urlsplit(self.path)
        kind, _, name = url.path.removeprefix("/protected").removeprefix("/").partition("/")
        return kind, name, {key: values[0] for key, values in parse_qs(url.query).items()}

    def _is_allowed(self) -> bool:
        basic = b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        known = (f"Basic {basic}", f"Bearer {TOKEN}")
        if not self.path.startswith("/protected") or self.headers.get("Authorization") in known:
            return True
        self._give(401, "text/plain", "who are you?")
        return False

    def _give(self, status: int, media_type: str, text: str, **headers: str) -> None:
        content = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(content)))
        for header, value in headers.items():
            self.send_header(header.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)

    # Server-Sent Events

    def _send_events(self, name: str, after: str | None) -> None:
        streams = self.streams
        sent = int(after) if after is not None else len(streams.of(name))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        with suppress(OSError):
            self.wfile.write(b"retry: 100\n\n")
            while True:
                with streams.changed:
                    entries = streams.of(name)
                    if len(entries) <= sent:
                        streams.changed.wait(SECONDS_BETWEEN_COMMENTS)
                    fresh = entries[sent:]
                for number, text in enumerate(fresh, sent + 1):
                    data = "".join(f"data: {line}\n" for line in text.split("\n"))
                    self.wfile.write(f"id: {number}\n{data}\n".encode())
                if not fresh:
                    self.wfile.write(b": still here\n")
                self.wfile.flush()
                sent += len(fresh)

    # Linked Data Event Streams

    def _send_page(self, name: str, options: dict[str, str]) -> None:
        members = self.streams.of(f"ldes/{name}")
        number = int(options.get("page", 0))
        first = number * MEMBERS_OF_PAGE
        is_full = len(members) > first + MEMBERS_OF_PAGE
        url = f"http://{self.headers['Host']}{urlsplit(self.path).path}"
        text = "\n".join(_page(url, number, members[first : first + MEMBERS_OF_PAGE], members, is_full))
        tag = f'"{blake2b(text.encode(), digest_size=8).hexdigest()}"'
        if self.headers.get("If-None-Match") == tag:
            self._give(304, "text/turtle", "", ETag=tag)
        else:
            kept = "public, max-age=604800, immutable" if is_full else "no-cache"
            self._give(200, "text/turtle", text, ETag=tag, Cache_Control=kept)

    def log_message(self, format: str, *arguments: object) -> None:
        """Nobody wants to know."""


def _page(url: str, number: int, members: list[Any], every: list[Any], is_full: bool) -> Iterator[str]:
    """The members of a page in Turtle, and where the next one is."""
    page = url if number == 0 else f"{url}?page={number}"
    yield f"@prefix tree: <{TREE}> .\n@prefix xsd: <http://www.w3.org/2001/XMLSchema#> ."
    yield f"<{url}#stream> a <{LDES}EventStream> ; <{LDES}timestampPath> <{GENERATED}> ; tree:view <{url}> ."
    yield f"<{page}> a tree:Node ."
    for member in members:
        yield f"<{url}#stream> tree:member <{member['member']}> ."
        yield f'<{member["member"]}> <{GENERATED}> "{member["time"]}"^^xsd:dateTime .'
        yield member["turtle"]
    if is_full:
        least = every[(number + 1) * MEMBERS_OF_PAGE]["time"]
        yield (
            f"<{page}> tree:relation [ a tree:GreaterThanOrEqualToRelation ; tree:node <{url}?page={number + 1}> ; "
            f'tree:path <{GENERATED}> ; tree:value "{least}"^^xsd:dateTime ] .'
        )


def serve(http: int, ws: int, folder: str) -> None:
    from websockets.sync.server import serve as serve_websockets

    streams = Streams(Path(folder))

    def receive(client: ServerConnection) -> None:
        assert client.request is not None
        name = client.request.path.strip("/")
        authorization = client.request.headers.get("Authorization")
        if name.startswith("protected") and authorization != f"Bearer {TOKEN}":
            client.close(1008, "who are you?")
            return
        streams.clients.setdefault(name, set()).add(client)
        try:
            for _ in client:
                pass
        finally:
            streams.clients[name].discard(client)

    server = ThreadingHTTPServer((HOST, http), _Handler)
    server.daemon_threads = True
    server.streams = streams  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with serve_websockets(receive, HOST, ws) as websockets:
        websockets.serve_forever()


if __name__ == "__main__":
    serve(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
