"""Linked Data Event Streams read by this process, from a real server."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from tests.brokers import Broker, post
from tests.sources.collected import Read, joined
from tests.sources.test_kafka import live, wait_until
from tests.sources.test_mqtt import source

from penstock.rdf.credentials import service_auth
from penstock.rdf.errors import SourceError

START = 1_772_434_800_000
"""2026-03-02T07:00:00Z"""


def instant(second: int) -> str:
    return f"2026-03-02T07:{second // 60:02}:{second % 60:02}Z"


def add(web: dict[str, str], name: str, *seconds: int, twin: str = "") -> None:
    """A member for each second."""
    for second in seconds:
        iri = f"http://ex.org/m{second}{twin}"
        turtle = (
            f"<{iri}> <http://ex.org/celsius> {second} ; <http://ex.org/at> [ <http://ex.org/room> {second % 3} ] ."
        )
        post(f"{web['http']}/ldes/{name}?{urlencode({'member': iri, 'time': instant(second)})}", turtle)


def seconds_of(found: Read) -> list[float]:
    return [(time - START) / 1000 for time in found.times]


def test_members_as_history(web: dict[str, str]) -> None:
    name = uuid4().hex
    add(web, name, *range(23))
    address = f"{web['ldes']}/{name}?until=now"
    found = joined(source(address).batches())
    assert seconds_of(found) == [*range(23)]
    assert found.malformed == []
    triples = found.elements[4][1]
    assert {predicate for _, predicate, _ in triples} == {
        "Ihttp://ex.org/celsius",
        "Ihttp://ex.org/at",
        "Ihttp://ex.org/room",
        "Ihttp://www.w3.org/ns/prov#generatedAtTime",
    }
    assert {term for triple in triples for term in triple if "m4" in term} == {"Ihttp://ex.org/m4"}
    assert seconds_of(joined(source(f"{address}&start=2026-03-02T07:00:20Z").batches())) == [20, 21, 22]
    assert joined(source(f"{address}&start=latest").batches()).times == []
    assert not source(address).is_live


def test_it_continues_from_any_position(web: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.sources.ldes._MOST_MEMBERS", 3)
    name = uuid4().hex
    add(web, name, *range(8))
    add(web, name, *[7] * 6, twin="b")  # of the same time
    for twin in "cdef":
        add(web, name, 7, twin=twin)
    add(web, name, 9, 10)
    address = f"{web['ldes']}/{name}?until=now"
    whole = list(source(address).batches())
    expected = joined(whole)
    assert len(whole) > 4
    assert len(set(expected.elements)) == len(expected.elements) == 15
    for number in range(1, len(whole)):
        position = json.loads(json.dumps(whole[number - 1].position))
        rest = source(address).batches(position)
        assert joined([*whole[:number], *rest]).elements == expected.elements
    add(web, name, 10, 11, twin="late")
    rest = source(address).batches(json.loads(json.dumps(whole[-1].position)))
    assert seconds_of(joined(rest)) == [10, 11]


def test_a_live_stream_is_polled(web: dict[str, str]) -> None:
    name = uuid4().hex
    add(web, name, *range(7))
    with live(source(f"{web['ldes']}/{name}?poll=50ms")) as batches:
        wait_until(lambda: len(joined(batches).times) == 7)
        add(web, name, 7, 8, 9, 10, 11, 12)
        wait_until(lambda: len(joined(batches).times) >= 13)
        add(web, name, 3, twin="late")
        wait_until(lambda: bool(joined(batches).malformed))
        add(web, name, 13)
        wait_until(lambda: len(joined(batches).times) >= 14)
    assert seconds_of(joined(batches)) == [*range(14)]
    assert ["earlier than one that was added before it" in entry.reason for entry in joined(batches).malformed] == [
        True
    ]


def test_the_server_goes_away_and_comes_back(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    broker = Broker("web", tmp_path)
    web = broker.start()
    try:
        add(web, "t", *range(3))
        with caplog.at_level(logging.WARNING, "penstock"), live(source(f"{web['ldes']}/t?poll=50ms")) as batches:
            wait_until(lambda: len(joined(batches).times) == 3)
            broker.stop(kill=True)
            wait_until(lambda: "does not answer" in caplog.text)
            broker.start()
            add(web, "t", 3, 4)
            wait_until(lambda: len(joined(batches).times) == 5)
        assert "answers again" in caplog.text
        assert seconds_of(joined(batches)) == [*range(5)]
    finally:
        broker.stop(kill=True)


def test_credentials(web: dict[str, str], tmp_path: Path) -> None:
    name = uuid4().hex
    add(web, name, 1)
    protected = web["ldes"].replace("/ldes", "/protected/ldes")
    with pytest.raises(SourceError, match="answered 401 Unauthorized"):
        list(source(f"{protected}/{name}?until=now").batches())
    auth = service_auth({protected.removeprefix("ldes+"): f"Bearer {web['token']}"})
    assert seconds_of(joined(source(f"{protected}/{name}?until=now", auth=auth).batches())) == [1]


# Pages of other shapes


class _Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        server: Any = self.server
        server.asked.append(self.path)
        found = server.pages.get(self.path)
        content = b"" if found is None else found[1].replace("HERE", f"http://{self.headers['Host']}").encode()
        self.send_response(404 if found is None else 200)
        self.send_header("Content-Type", "text/plain" if found is None else found[0])
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None: ...


@contextmanager
def pages(given: Mapping[str, str | tuple[str, str]]) -> Iterator[tuple[str, list[str]]]:
    """The address of a server that has these pages, in TriG unless another type is given, and the pages asked for."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Pages)
    prefixes = (
        "PREFIX tree: <https://w3id.org/tree#> PREFIX ldes: <https://w3id.org/ldes#> PREFIX : <http://ex.org/> "
        "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "
    )
    typed = {
        path: ("application/trig", prefixes + page) if isinstance(page, str) else page for path, page in given.items()
    }
    asked: list[str] = []
    server.pages, server.asked = typed, asked  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"ldes+http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()


def relation(page: str, kind: str = "", value: int = 0) -> str:
    bound = f'; a tree:{kind}Relation ; tree:path :time ; tree:value "{instant(value)}"^^xsd:dateTime' if kind else ""
    return f"<> tree:relation [ tree:node <{page}> {bound} ] . "


def member(second: int, path: str = ":time") -> str:
    return f':s tree:member :m{second} . :m{second} {path} "{instant(second)}"^^xsd:dateTime ; :n {second} . '


def test_branches_are_read_in_the_order_of_time() -> None:
    root = ":s ldes:timestampPath :time . " + relation("/b", "GreaterThan", 9) + relation("/a", "LessThanOrEqualTo", 9)
    with pages({"/": root, "/a": member(5) + member(2), "/b": member(15) + member(12)}) as (address, asked):
        assert seconds_of(joined(source(f"{address}/?until=now").batches())) == [2, 5, 12, 15]
        assert asked == ["/", "/a", "/b"]
        asked.clear()
        assert seconds_of(joined(source(f"{address}/?until=now&start=2026-03-02T07:00:15Z").batches())) == [15]
        assert asked == ["/", "/b"]


def test_pages_without_bounds_are_read_before_anything_is_delivered() -> None:
    root = ":s ldes:timestampPath :time . " + member(5) + relation("/a") + relation("/")
    with pages({"/": root, "/a": member(3) + relation("/a")}) as (address, _):
        assert seconds_of(joined(source(f"{address}/?until=now").batches())) == [3, 5]


def test_a_description_leads_to_its_first_view() -> None:
    about = ":s ldes:timestampPath :time ; tree:view </a> . </a> a tree:Node ."
    with pages({"/": about, "/a": member(3)}) as (address, _):
        assert seconds_of(joined(source(f"{address}/?until=now").batches())) == [3]


def test_members_that_are_graphs_and_paths_of_several_steps() -> None:
    root = (
        ":s ldes:timestampPath (:about :time) ; tree:member :g . "
        f':g :about [ :time "{instant(4)}"^^xsd:dateTime ] . :g {{ :a :b :c }} :other {{ :x :y :z }}'
    )
    with pages({"/": root}) as (address, _):
        found = joined(source(f"{address}/?until=now").batches())
    assert seconds_of(found) == [4]
    assert found.names == ["Ihttp://ex.org/g"]
    assert found.elements[0][1] == (("Ihttp://ex.org/a", "Ihttp://ex.org/b", "Ihttp://ex.org/c"),)


def test_members_without_a_time_are_reported() -> None:
    root = (
        ":s ldes:timestampPath :time ; tree:member :m1 , [ :time 1 ] , :m2 . :m1 :n 1 . :m2 :time 'soon' . " + member(3)
    )
    with pages({"/": root}) as (address, _):
        found = joined(source(f"{address}/?until=now").batches())
    assert seconds_of(found) == [3]
    reasons = sorted(entry.reason for entry in found.malformed)
    assert [reason.split(":")[0] for reason in reasons] == [
        '"soon" is not a timestamp',
        "a member without an IRI cannot be told from others",
        "the member has no time",
    ]


@pytest.mark.parametrize(
    ("root", "message"),
    [
        (member(1), r"it has no ldes:timestampPath: name the predicate of the time of its members, \?time="),
        (":s ldes:timestampPath [ :inverse :p ] ." + member(1), "neither a predicate nor a list"),
        ("oops", "the page .* cannot be read"),
        (("text/plain", "x"), "sends text/plain: a page of an event stream is application/n-quads"),
        (relation("/none"), "answered 404 Not Found"),
    ],
)
def test_pages_that_cannot_be_read(root: str | tuple[str, str], message: str) -> None:
    with pages({"/": root}) as (address, _), pytest.raises(SourceError, match=message):
        list(source(f"{address}/?until=now").batches())


def test_the_predicate_of_the_time_may_be_named() -> None:
    with pages({"/": member(1, "<http://www.w3.org/ns/prov#generatedAtTime>")}) as (address, _):
        stream = source(f"{address}/?until=now&time=prov:generatedAtTime")
        assert seconds_of(joined(stream.batches())) == [1]
