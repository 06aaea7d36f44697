"""Server-Sent Events and WebSockets read by this process, from a real server."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from tests.brokers import Broker, post
from tests.sources.collected import joined
from tests.sources.test_kafka import line, live, wait_until
from tests.sources.test_mqtt import source

from penstock.rdf.addresses import parse_address
from penstock.rdf.credentials import service_auth
from penstock.rdf.errors import SourceError
from penstock.rdf.limits import LARGEST_DOCUMENT
from penstock.sources.batches import Batch
from penstock.sources.server_sent_events import EventLines

NAMES = ("sse", "ws")


def poster(web: dict[str, str], kind: str, name: str) -> Callable[[str], str]:
    return lambda content: post(f"{web['http']}/{kind}/{name}", content)


@contextmanager
def heard(web: dict[str, str], kind: str, name: str, **options: Any) -> Iterator[list[Batch]]:
    """A stream to which the client listens: it has received an element with the time 0."""
    with live(source(f"{web[kind]}/{name}", **options)) as batches:

        def is_heard() -> bool:
            poster(web, kind, name)(line(0))
            return bool(batches)

        wait_until(is_heard)
        yield batches


@pytest.mark.parametrize("kind", NAMES)
def test_messages_in_their_order(web: dict[str, str], kind: str) -> None:
    name = uuid4().hex
    with heard(web, kind, name) as batches:
        send = poster(web, kind, name)
        for time in (1, 2, 3):
            send(line(time))
        send("oops")
        send(f"{line(4)}\n{line(5)}")
        send(line(6, "ö"))
        wait_until(lambda: 6 in joined(batches).times)
    found = joined(batches)
    assert [time for time in found.times if time] == [1, 2, 3, 4, 5, 6]
    assert found.elements[-1][1][0][2] == "Ia:ö"
    (malformed,) = found.malformed
    assert malformed.text == "oops"
    assert malformed.place.startswith(f"{web[kind]}/{name}")


@pytest.mark.parametrize("kind", NAMES)
def test_the_server_goes_away_and_comes_back(tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture) -> None:
    broker = Broker("web", tmp_path)
    web = broker.start()
    try:
        with caplog.at_level(logging.WARNING, "penstock"), heard(web, kind, "t") as batches:
            broker.stop(kill=True)
            wait_until(lambda: "does not answer" in caplog.text)
            broker.start()

            def is_heard_again() -> bool:
                poster(web, kind, "t")(line(2))
                return 2 in joined(batches).times

            wait_until(is_heard_again)
            wait_until(lambda: "answers again" in caplog.text)
    finally:
        broker.stop(kill=True)


def test_events_that_were_missed_are_sent_after_the_last_id(tmp_path: Path) -> None:
    broker = Broker("web", tmp_path)
    web = broker.start()
    try:
        with heard(web, "sse", "t") as batches:
            broker.stop(kill=True)
            broker.start()
            send = poster(web, "sse", "t")
            for time in range(1, 50):
                send(line(time))
            wait_until(lambda: 49 in joined(batches).times)
        assert [time for time in joined(batches).times if time] == [*range(1, 50)]
    finally:
        broker.stop(kill=True)


def test_credentials(web: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "right").write_text(web["password"])
    (tmp_path / "wrong").write_text("friend")
    (tmp_path / "token").write_text(web["token"])
    sse = web["sse"].replace("/sse", "/protected/sse")
    at = sse.removeprefix("sse+http://")
    with pytest.raises(SourceError, match="answered 401 Unauthorized: it needs the right user") as caught:
        list(source(f"sse+http://{web['user']}@{at}/t?password-file={tmp_path}/wrong").batches())
    assert "friend" not in str(caught.value)
    auth = service_auth({sse.removeprefix("sse+"): f"Bearer {web['token']}"})
    known = [
        source(f"sse+http://{web['user']}@{at}/p?from=0&password-file={tmp_path}/right"),
        source(f"{sse}/p?from=0&token-file={tmp_path}/token"),
        source(f"{sse}/p?from=0", auth=auth),
    ]
    post(f"{web['http']}/sse/p", line(7))
    for stream in known:
        with live(stream) as batches:
            wait_until(lambda: bool(batches))
        assert joined(batches).times[0] == 7
    name = f"protected/{uuid4().hex}"
    with live(source(f"{web['ws']}/{name}?token-file={tmp_path}/token")) as batches:
        wait_until(lambda: post(f"{web['http']}/ws/{name}", line(7)) != "0")
        wait_until(lambda: bool(batches))


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("sse+{http}/nothing", r"answered 404 Not Found: is this the right address\?"),
        ("sse+{http}/ldes/none", r"sends text/turtle, and not Server-Sent Events"),
        ("sse+http://127.0.0.1:1/t", r"127.0.0.1:1/t does not answer \(connection refused\); tried for 0.3 s"),
        ("ws://127.0.0.1:1/t", r"127.0.0.1:1/t does not answer \(connection refused\); tried for 0.3 s"),
        ("ws{http}/nothing", r"answered 404 Not Found"),
    ],
)
def test_servers_that_do_not_have_it(web: dict[str, str], address: str, message: str) -> None:
    text = address.format(http=web["http"]).replace("wshttp", "ws")
    with pytest.raises(SourceError, match=message):
        list(source(text, retry_timeout=0.3).batches())


def test_it_follows_a_redirect(web: dict[str, str]) -> None:
    name = uuid4().hex
    post(f"{web['http']}/sse/{name}", line(1))
    with live(source(f"sse+{web['http']}/moved/sse/{name}?from=0")) as batches:
        wait_until(lambda: post(f"{web['http']}/sse/{name}", line(2)) and bool(batches))


class _Once(BaseHTTPRequestHandler):
    """Sends what it has once; then it wants no more connections."""

    def do_GET(self) -> None:
        answer = self.server.answers.pop(0) if self.server.answers else None  # type: ignore[attr-defined]
        self.send_response(204 if answer is None else 200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.end_headers()
        for block in answer or ():
            self.wfile.write(block)

    def log_message(self, format: str, *arguments: object) -> None: ...


@contextmanager
def answers(*given: list[bytes]) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Once)
    server.answers = list(given)  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"sse+http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


def test_a_server_ends_the_stream() -> None:
    with answers([b"data: " + line(1).encode() + b"\n\n"], [b"data: " + line(2).encode() + b"\n\n"]) as address:
        assert joined(source(address).batches()).times == [1, 2]


def test_an_event_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.sources.server_sent_events.LARGEST_DOCUMENT", 1000)
    large = [b"data: ", b"x" * 600, b"\ndata: ", b"x" * 600, b"\n\n", b"data: " + line(1).encode() + b"\n\n"]
    with answers(large) as address:
        found = joined(source(address).batches())
    assert found.times == [1]
    assert "larger than" in found.malformed[0].reason
    assert LARGEST_DOCUMENT > 1000


def test_a_message_that_is_too_large(web: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.sources.websocket.LARGEST_DOCUMENT", 1000)
    name = uuid4().hex
    with heard(web, "ws", name) as batches:
        poster(web, "ws", name)("x" * 2000)
        wait_until(lambda: bool(joined(batches).malformed))
        wait_until(lambda: poster(web, "ws", name)(line(5)) != "0" and 5 in joined(batches).times)
    assert "larger than" in joined(batches).malformed[0].reason


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_lines_of_events(size: int) -> None:
    text = b"\xef\xbb\xbfa\rb\r\nc\n\r\n\rd: e\n"
    lines = EventLines()
    found = [line for start in range(0, len(text), size) for line in lines.feed(text[start : start + size])]
    assert found == [b"a", b"b", b"c", b"", b"", b"d: e"]


def test_the_parameters_of_the_server_are_not_ours() -> None:
    address = parse_address("sse+https://ana@ex.org:8443/a%20b?room=1&format=turtle&x.y=%26")
    assert address.url == "https://ex.org:8443/a%20b?room=1&x.y=%26"
    assert (address.format, address.user, address.name) == ("turtle", "ana", "sse+https://ex.org:8443/a%20b")
    assert "room" not in repr(address)
    with pytest.raises(SourceError, match="a secret does not belong into an address"):
        parse_address("wss://ex.org/?token=sesame")
