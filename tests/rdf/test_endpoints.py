"""SPARQL endpoints, asked over HTTP: a real one on loopback, which also fails in the ways that servers do."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode
from tests.endpoint import SparqlServer, dripping_server, sparql_server

from penstock.rdf import endpoints
from penstock.rdf.blank_nodes import prefixed
from penstock.rdf.credentials import Credentials, basic, is_for, service_auth
from penstock.rdf.endpoints import Endpoint, EndpointError
from penstock.rdf.errors import SourceError
from penstock.rdf.http_requests import RedirectError, moved

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
        assert refusal(server) == "E answered 400 Bad Request: it rejects the query (not now)"
        assert len(server.queries) == 1

    @pytest.mark.parametrize(
        ("status", "told"),
        [
            (
                401,
                "E answered 401 Unauthorized: it requires a user and password, or a token: pass them with "
                "--service-auth E=USER:PASSWORD, or in the environment (PENSTOCK_SERVICE_AUTH)",
            ),
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

    def test_an_endpoint_that_takes_too_long(self, server: SparqlServer) -> None:
        server.delay = 1
        assert refusal(server, 50) == "E did not answer within 0.05 s: request less data, or raise the timeout"
        assert len(server.queries) == 1

    def test_nobody_there(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        gone = SparqlServer(f"http://127.0.0.1:{port}/sparql")
        assert refusal(gone) == (
            "E does not answer (connection refused): is the endpoint running at this address? (tried 3 times)"
        )

    @pytest.mark.parametrize("address", ["ftp//no", "http://", "http://ex org/"])
    def test_what_is_no_address(self, address: str) -> None:
        refusal(SparqlServer(address))

    def test_a_page_instead_of_results(self, server: SparqlServer) -> None:
        server.says = "text/html", b"<html>"
        assert refusal(server).startswith("E returned text/html instead of SPARQL results")

    def test_results_that_are_broken_off(self, server: SparqlServer) -> None:
        server.says = "application/sparql-results+json", b'{"head":'
        assert refusal(server) == (
            "E returned invalid application/sparql-results+json (line 1): is it a SPARQL endpoint?"
        )

    def test_errors_do_not_quote_what_was_answered(self, server: SparqlServer) -> None:
        for media_type in (
            "application/sparql-results+json",
            "text/tab-separated-values",
            "application/sparql-results+xml",
        ):
            server.says = media_type, b"root:secret:0:0"
            assert "secret" not in refusal(server)
        server.says = "text/turtle", b"root:secret:0:0"
        with pytest.raises(EndpointError) as raised:
            Endpoint(server.address).triples(CONSTRUCT, RENAME)
        assert "secret" not in str(raised.value)

    def test_a_boolean(self, server: SparqlServer) -> None:
        server.says = "application/sparql-results+json", b'{"head": {}, "boolean": true}'
        assert "returned a boolean" in refusal(server)


class TestBounds:
    @pytest.mark.parametrize("is_compressed", [False, True])
    def test_the_size_of_an_answer(self, server: SparqlServer, is_compressed: bool) -> None:
        """What is compressed counts unpacked."""
        server.is_compressed = is_compressed
        server.says = "text/tab-separated-values", b"?s\t?o\n" + b"<http://ex.org/a>\t1\n" * 100_000
        endpoint = Endpoint(server.address, max_bytes=1_000_000)
        with pytest.raises(EndpointError, match="returned more than 1 MB: request less data, or raise the limit"):
            endpoint.solutions(ALL, ("s", "o"), RENAME)
        assert len(Endpoint(server.address).solutions(ALL, ("s",), RENAME)) == 100_000

    @pytest.mark.parametrize(
        "beginning",
        [b"", b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 200 OK\r\nContent-Type: text/tab-separated-values\r\n\r\n?s\n"],
        ids=["status", "headers", "content"],
    )
    def test_an_answer_that_comes_in_drops(self, beginning: bytes) -> None:
        start = time.monotonic()
        with dripping_server(beginning) as address, pytest.raises(EndpointError, match=r"not answer within 0\.2 s"):
            Endpoint(address, 200).solutions(ALL, ("s",), RENAME)
        assert time.monotonic() - start < 5

    def test_attempts_share_the_time(self, server: SparqlServer) -> None:
        server.statuses, server.delay = [503] * 3, 0.15
        assert "not answer within 0.2 s" in refusal(server, 200)
        assert len(server.queries) == 2


class TestOtherProtocols:
    @pytest.mark.parametrize("scheme", ["file://", "ftp://127.0.0.1", "data:text/plain,", "FILE:"])
    def test_are_refused(self, scheme: str, tmp_path: Path) -> None:
        file = tmp_path / "secret.tsv"
        file.write_text("?s\n<http://ex.org/secret>\n")
        with pytest.raises(EndpointError, match="write an http or https address") as raised:
            Endpoint(f"{scheme}{file}").solutions(ALL, ("s",), RENAME)
        assert "ex.org/secret" not in str(raised.value)

    @pytest.mark.parametrize("location", ["file:///etc/passwd", "ftp://ex.org/", "data:text/plain,x"])
    def test_nothing_leads_there(self, server: SparqlServer, location: str) -> None:
        server.statuses, server.location = [307], location
        assert refusal(server) == "E redirects to an address that is not http or https"
        assert len(server.queries) == 1


class TestRedirects:
    @pytest.fixture
    def old(self, server: SparqlServer) -> Iterator[SparqlServer]:
        """Another one, which redirects."""
        with sparql_server() as old:
            old.location = server.address
            yield old

    @pytest.mark.parametrize("status", [301, 302, 307, 308])
    def test_the_query_is_sent_there(self, old: SparqlServer, server: SparqlServer, status: int) -> None:
        old.statuses = [status]
        assert len(solutions(old)) == 2
        assert old.queries == server.queries == [ALL]

    def test_the_answer_is_elsewhere(self, old: SparqlServer, server: SparqlServer) -> None:
        old.statuses, old.location = [303], f"{server.address}?{urlencode({'query': ALL})}"
        assert len(solutions(old)) == 2

    def test_a_relative_address(self, old: SparqlServer) -> None:
        old.load(":a :p 1 .")
        old.statuses, old.location = [308, 308], "../sparql"
        assert len(solutions(old)) == 1
        assert len(old.queries) == 3

    def test_there_is_an_end(self, old: SparqlServer) -> None:
        old.statuses, old.location = [307] * 100, old.address
        assert refusal(old) == "E redirects more than 5 times"
        assert len(old.queries) == 6

    def test_they_share_the_time(self, old: SparqlServer) -> None:
        old.statuses, old.location, old.delay = [307] * 100, old.address, 0.15
        assert "not answer within 0.4 s" in refusal(old, 400)
        assert len(old.queries) < 5

    def test_an_answer_is_bounded_there_too(self, old: SparqlServer) -> None:
        old.statuses = [307]
        with pytest.raises(EndpointError, match="returned more than 10 bytes"):
            Endpoint(old.address, max_bytes=10).solutions(ALL, ("s",), RENAME)

    def test_a_refusal_there_says_where(self, old: SparqlServer, server: SparqlServer) -> None:
        old.statuses, server.statuses = [301], [500]
        assert refusal(old) == f"E redirects to {server.address}, which answered 500 Internal Server Error"

    def test_credentials_stay_with_their_host(self, old: SparqlServer, server: SparqlServer) -> None:
        old.statuses = [307]
        Endpoint(old.address.replace("://", "://ana:s3c@")).solutions(ALL, ("s",), RENAME)
        assert old.authorizations == [TestCredentials.ANA]
        assert server.authorizations == [None]

    def test_credentials_of_the_new_place(self, old: SparqlServer, server: SparqlServer) -> None:
        old.statuses = [307]
        auth = service_auth([f"{old.address}=ben:x", f"{server.address}=ana:s3c"])
        Endpoint(old.address, auth=auth).solutions(ALL, ("s",), RENAME)
        assert old.authorizations == [basic("ben", "x").authorization]
        assert server.authorizations == [TestCredentials.ANA]

    def test_credentials_go_on_to_the_same_host(self, old: SparqlServer) -> None:
        old.statuses, old.location = [307], old.address
        Endpoint(old.address.replace("://", "://ana:s3c@")).solutions(ALL, ("s",), RENAME)
        assert old.authorizations == [TestCredentials.ANA] * 2

    def test_nobody_is_led_to_send_others(self, old: SparqlServer, server: SparqlServer) -> None:
        old.statuses, old.location = [307], server.address.replace("://", "://eve:x@")
        assert len(solutions(old)) == 2
        assert server.authorizations == [None]

    @pytest.mark.parametrize(
        ("address", "other", "is_sent"),
        [
            ("http://ex.org/a", "https://ex.org/b", True),
            ("http://ex.org:80/a", "https://EX.org:443/a", True),
            ("http://ex.org:8080/a", "https://ex.org/a", False),
            ("https://ex.org/a", "http://ex.org/a", False),
            ("https://ex.org/a", "https://ex.org.evil/a", False),
            ("https://ex.org/a", "https://ex.org:444/a", False),
        ],
    )
    def test_which_host_is_the_same(self, address: str, other: str, is_sent: bool) -> None:
        assert is_for(address, other) == is_sent

    def test_nothing_goes_on_without_https(self) -> None:
        with pytest.raises(RedirectError, match=r"redirects from https to http://ex\.org/a, which is not encrypted"):
            moved("https://ex.org/a", "http://ana:s3c@ex.org/a#b")

    @pytest.mark.parametrize("location", ["", "//[", "http://ex.org/\u00e9", "http://ex.org/\x1b[2J", "javascript:x"])
    def test_what_is_no_address(self, location: str) -> None:
        with pytest.raises(RedirectError, match="to an address that is not http or https"):
            moved("http://ex.org/a", location)


class TestCredentials:
    ANA = "Basic YW5hOnMzYw=="

    def with_user(self, server: SparqlServer) -> str:
        return server.address.replace("://", "://ana:s3c@")

    def test_in_the_address(self, server: SparqlServer) -> None:
        assert len(Endpoint(self.with_user(server)).solutions(ALL, ("s",), RENAME)) == 2
        assert server.authorizations == [self.ANA]

    def test_are_in_no_message(self, server: SparqlServer) -> None:
        for status in (301, 400, 401, 404, 500):
            server.statuses, server.location = [status] * 9, self.with_user(server)
            with pytest.raises(EndpointError) as raised:
                Endpoint(self.with_user(server)).solutions(ALL, ("s",), RENAME)
            assert "s3c" not in str(raised.value)
        assert "s3c" not in repr(service_auth([f"{server.address}=ana:s3c"]))

    @pytest.mark.parametrize(("given", "sent"), [("ana:s3c", ANA), ("Bearer a=b", "Bearer a=b")])
    def test_for_an_address(self, server: SparqlServer, given: str, sent: str) -> None:
        endpoint = Endpoint(server.address, auth=service_auth([f"{server.address}={given}"]))
        assert len(endpoint.solutions(ALL, ("s",), RENAME)) == 2
        assert server.authorizations == [sent]

    def test_of_the_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PENSTOCK_SERVICE_AUTH", "http://ex.org=ana:s3c\n\n https://ex.org:8443/a = Bearer t\n")
        auth = service_auth(["http://ex.org/own=ben:x"])
        assert auth.of("http://ex.org:80/sparql") == basic("ana", "s3c")
        assert auth.of("http://ex.org/own/sparql") == basic("ben", "x")
        assert auth.of("http://ex.org/owner") == basic("ana", "s3c")
        assert auth.of("https://ex.org:8443/a?b") == Credentials("Bearer t")
        assert auth.of("https://ex.org:8443/") is None
        assert auth.of("http://ex.org.evil/sparql") is None

    @pytest.mark.parametrize("given", ["s3c", "http://ex.org=s3c", "ftp://ex.org=a:s3c", "http://ex.org=Bearer s3c\n"])
    def test_what_is_none(self, given: str) -> None:
        if given.endswith("\n"):
            assert service_auth([given]).of("http://ex.org") == Credentials("Bearer s3c")
            return
        with pytest.raises(SourceError) as raised:
            service_auth([given])
        assert "s3c" not in str(raised.value)
