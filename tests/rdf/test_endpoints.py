"""SPARQL endpoints, asked over HTTP: a real one on loopback, which also fails in the ways that servers do."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode
from tests.endpoint import SparqlServer, sparql_server

from penstock.rdf import endpoints
from penstock.rdf.blank_nodes import prefixed
from penstock.rdf.endpoints import Endpoint, EndpointError

RENAME = prefixed("e")
ALL = "SELECT ?s ?o WHERE { ?s <http://ex.org/p> ?o } ORDER BY ?o"
CONSTRUCT = "CONSTRUCT WHERE { ?s ?p ?o }"


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "_FIRST_PAUSE", 0.01)


@pytest.fixture
def server() -> Iterator[SparqlServer]:
    with sparql_server(":a :p 1 . :b :p 2 .") as server:
        yield server


def solutions(server: SparqlServer, timeout: int = 5000) -> tuple[tuple[object, ...], ...]:
    return Endpoint(server.address, timeout).solutions(ALL, ("s", "o"), RENAME)


def refusal(server: SparqlServer, timeout: int = 5000) -> str:
    with pytest.raises(EndpointError) as raised:
        solutions(server, timeout)
    assert server.address in str(raised.value)
    return str(raised.value).replace(server.address, "E")


class TestAnswers:
    def test_solutions_are_in_the_order_of_the_variables(self, server: SparqlServer) -> None:
        found = Endpoint(server.address).solutions(ALL, ("o", "nothing", "s"), RENAME)
        assert [str(row[0]) for row in found] == [str(Literal(1)), str(Literal(2))]
        assert found[0][1:] == (None, NamedNode("http://ex.org/a"))

    def test_blank_nodes_get_labels_of_their_own(self, server: SparqlServer) -> None:
        server.says = (
            "application/sparql-results+json",
            b'{"head":{"vars":["s"]},"results":{"bindings":[{"s":{"type":"bnode","value":"x"}}]}}',
        )
        assert solutions(server) == ((BlankNode("e.0.x"), None),)

    @pytest.mark.parametrize(
        ("media_type", "content"),
        [
            ("text/tab-separated-values; charset=utf-8", b"?s\t?o\n<http://ex.org/a>\t1\n"),
            (
                "application/sparql-results+xml",
                b'<sparql xmlns="http://www.w3.org/2005/sparql-results#"><head><variable name="s"/><variable name="o"/>'
                b'</head><results><result><binding name="s"><uri>http://ex.org/a</uri></binding><binding name="o">'
                b'<literal datatype="http://www.w3.org/2001/XMLSchema#integer">1</literal></binding></result></results>'
                b"</sparql>",
            ),
        ],
        ids=["tsv", "xml"],
    )
    def test_other_formats(self, server: SparqlServer, media_type: str, content: bytes) -> None:
        server.says = media_type, content
        assert solutions(server) == ((NamedNode("http://ex.org/a"), Literal(1)),)

    def test_triples(self, server: SparqlServer) -> None:
        assert {str(triple) for triple in Endpoint(server.address).triples(CONSTRUCT, RENAME)} == {
            '<http://ex.org/a> <http://ex.org/p> "1"^^<http://www.w3.org/2001/XMLSchema#integer>',
            '<http://ex.org/b> <http://ex.org/p> "2"^^<http://www.w3.org/2001/XMLSchema#integer>',
        }


class TestFailures:
    def test_a_server_that_is_busy_for_a_moment_is_asked_again(self, server: SparqlServer) -> None:
        server.statuses = [503, 429]
        assert len(solutions(server)) == 2
        assert len(server.queries) == 3

    def test_but_not_for_ever(self, server: SparqlServer) -> None:
        server.statuses = [503] * 5
        assert refusal(server) == "E answered 503 Service Unavailable (tried 3 times)"
        assert len(server.queries) == 3

    def test_what_is_wrong_with_the_query_is_not_tried_again(self, server: SparqlServer) -> None:
        server.statuses = [400]
        assert refusal(server) == "E answered 400 Bad Request: it does not take the query (not now)"
        assert len(server.queries) == 1

    @pytest.mark.parametrize(
        ("status", "told"),
        [
            (401, "E answered 401 Unauthorized: it asks for a password, and none can be given"),
            (
                404,
                "E answered 404 Not Found: is this the address of a SPARQL endpoint? Many end with /sparql or /query",
            ),
            (500, "E answered 500 Internal Server Error"),
        ],
    )
    def test_statuses(self, server: SparqlServer, status: int, told: str) -> None:
        server.statuses = [status]
        assert refusal(server) == told

    def test_an_endpoint_that_has_moved(self, server: SparqlServer) -> None:
        server.statuses, server.location = [301], "http://ex.org/new"
        assert refusal(server).endswith("it has moved, so write http://ex.org/new")

    def test_an_endpoint_that_takes_too_long(self, server: SparqlServer) -> None:
        server.delay = 1
        assert refusal(server, 50) == "E has not answered within 0.05 s: ask for less, or give it more time"
        assert len(server.queries) == 1

    def test_nobody_there(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        gone = SparqlServer(f"http://127.0.0.1:{port}/sparql")
        assert refusal(gone) == (
            "E does not answer (connection refused): is the endpoint running, and there? (tried 3 times)"
        )

    @pytest.mark.parametrize("address", ["ftp//no", "http://", "http://ex org/"])
    def test_what_is_no_address(self, address: str) -> None:
        refusal(SparqlServer(address))

    def test_a_page_instead_of_results(self, server: SparqlServer) -> None:
        server.says = "text/html", b"<html>"
        assert refusal(server).startswith("E answered with text/html, and SPARQL results were asked for")

    def test_results_that_are_broken_off(self, server: SparqlServer) -> None:
        server.says = "application/sparql-results+json", b'{"head":'
        assert refusal(server).startswith("E answered with application/sparql-results+json that is none: ")

    def test_a_boolean(self, server: SparqlServer) -> None:
        server.says = "application/sparql-results+json", b'{"head": {}, "boolean": true}'
        assert "with a boolean" in refusal(server)
