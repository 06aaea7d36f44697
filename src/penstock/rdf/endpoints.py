"""SPARQL endpoints (SPARQL 1.1 Protocol): a query goes there, solutions or triples come back, or a sentence why not."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from typing import TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import HTTPRedirectHandler, Request, build_opener

from pyoxigraph import BlankNode, QueryBoolean, QueryResultsFormat, RdfFormat, Triple, parse, parse_query_results

from penstock.rdf.blank_nodes import Rename
from penstock.rdf.elements import Node, Row
from penstock.rdf.errors import ReadingError, SourceError
from penstock.rdf.parsing import TRIPLE_IN_TRIPLE, checked

DEFAULT_TIMEOUT = 30_000
"""So long, in milliseconds, an endpoint may take to answer."""

_ATTEMPTS = 3
_FIRST_PAUSE = 0.2
"""In seconds; each pause is twice as long as the one before."""

_PASSING = frozenset({429, 502, 503, 504})
"""Statuses that may be others in a moment."""

_SOLUTIONS = "application/sparql-results+json, application/sparql-results+xml;q=0.8, text/tab-separated-values;q=0.5"
_TRIPLES = "application/n-triples, text/turtle;q=0.8, application/rdf+xml;q=0.5"

_BLOCK = 1 << 16

Answer = TypeVar("Answer")


class EndpointError(SourceError):
    """An endpoint that does not answer, or not with what was asked for: the sentence names it, and what to do."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to ask, and how long to wait for an answer, in milliseconds.

    What may be well in a moment is tried again, a few times: a connection that fails, a server that is too busy.
    """

    address: str
    timeout: int = DEFAULT_TIMEOUT

    def solutions(self, query: str, variables: tuple[str, ...], rename: Rename) -> tuple[Row, ...]:
        """What a SELECT finds, in the order of the variables; blank nodes get new labels."""

        def read(content: bytes, media_type: str) -> tuple[Row, ...]:
            format = QueryResultsFormat.from_media_type(media_type)
            if format is None:
                raise self._not("SPARQL results", media_type)
            found = parse_query_results(content, format)
            if isinstance(found, QueryBoolean):
                raise EndpointError(f"{self.address} answered a SELECT with a boolean: is it a SPARQL endpoint?")
            known = [variable.value for variable in found.variables]
            places = [known.index(name) if name in known else None for name in variables]
            return tuple(
                tuple(None if place is None else _renamed(solution[place], rename) for place in places)
                for solution in found
            )

        return self._asked(query, _SOLUTIONS, read)

    def triples(self, query: str, rename: Rename) -> list[Triple]:
        """What a CONSTRUCT gives, each triple once."""

        def read(content: bytes, media_type: str) -> list[Triple]:
            format = RdfFormat.from_media_type(media_type)
            if format is None:
                raise self._not("RDF", media_type)
            statements = checked(parse(content, format, base_iri=self.address), rename)
            return list(dict.fromkeys(statement.triple for statement in statements))

        return self._asked(query, _TRIPLES, read)

    def _asked(self, query: str, accept: str, read: Callable[[bytes, str], Answer]) -> Answer:
        content, media_type = self._content(query, accept)
        try:
            return read(content, media_type)
        except (SyntaxError, ReadingError) as error:
            reason = error.reason if isinstance(error, ReadingError) else error.msg
            raise EndpointError(f"{self.address} answered with {media_type} that is none: {reason}") from None

    def _content(self, query: str, accept: str) -> tuple[bytes, str]:
        for attempt in range(_ATTEMPTS):
            if attempt:
                time.sleep(_FIRST_PAUSE * 2 ** (attempt - 1))
            try:
                return self._fetched(query, accept)
            except _PassingError as error:
                failure = error
        raise EndpointError(f"{failure.reason} (tried {_ATTEMPTS} times)")

    def _fetched(self, query: str, accept: str) -> tuple[bytes, str]:
        deadline = time.monotonic() + self.timeout / 1000
        form = urlencode({"query": query}).encode()
        try:
            request = Request(self.address, form, {"Accept": accept, "User-Agent": "penstock"})
            with _OPENER.open(request, timeout=self.timeout / 1000) as response:
                return self._read(response, deadline), response.headers.get_content_type()
        except HTTPError as error:
            raise self._refusal(error) from None
        except URLError as error:
            raise self._failure(error.reason) from None
        except (OSError, HTTPException, ValueError) as error:
            if isinstance(error, EndpointError):
                raise
            raise self._failure(error) from None

    def _read(self, response: HTTPResponse, deadline: float) -> bytes:
        """An answer that comes in drops is too late, too."""
        blocks: list[bytes] = []
        while block := response.read1(_BLOCK):
            blocks.append(block)
            if time.monotonic() > deadline:
                raise self._too_late()
        return b"".join(blocks)

    # What can go wrong

    def _too_late(self) -> EndpointError:
        return EndpointError(
            f"{self.address} has not answered within {self.timeout / 1000:g} s: ask for less, or give it more time"
        )

    def _failure(self, reason: object) -> EndpointError | _PassingError:
        if isinstance(reason, TimeoutError):
            return self._too_late()
        if isinstance(reason, socket.gaierror):
            return EndpointError(f"{self.address}: there is no such host: is the address right?")
        if isinstance(reason, ConnectionError):
            text = (reason.strerror or "the connection has broken off").lower()
            return _PassingError(f"{self.address} does not answer ({text}): is the endpoint running, and there?")
        if isinstance(reason, ValueError):
            return EndpointError(f"{self.address} is no address of an endpoint, such as http://host:7200/sparql")
        return EndpointError(f"{self.address} cannot be asked: {reason}")

    def _refusal(self, error: HTTPError) -> EndpointError | _PassingError:
        said = f"{self.address} answered {error.code} {error.reason}"
        if error.code in _PASSING:
            return _PassingError(said)
        if 300 <= error.code < 400:
            return EndpointError(f"{said}: it has moved, so write {error.headers.get('Location', 'where it is now')}")
        if error.code == 400:
            reason = " ".join(error.read(_BLOCK).decode(errors="replace").split())[:200]
            return EndpointError(f"{said}: it does not take the query{f' ({reason})' if reason else ''}")
        if error.code in (401, 403):
            return EndpointError(f"{said}: it asks for a password, and none can be given")
        if error.code in (404, 405):
            return EndpointError(f"{said}: is this the address of a SPARQL endpoint? Many end with /sparql or /query")
        return EndpointError(said)

    def _not(self, wanted: str, media_type: str) -> EndpointError:
        return EndpointError(
            f"{self.address} answered with {media_type}, and {wanted} were asked for: is it the page of an endpoint, "
            "and not the endpoint?"
        )


class _PassingError(Exception):
    """A failure that may be over in a moment."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class _NoRedirects(HTTPRedirectHandler):
    """A query that is sent on loses its text: who asks is told the new address instead."""

    def redirect_request(self, *arguments: object) -> None:
        return None


_OPENER = build_opener(_NoRedirects)


def _renamed(term: Node | Triple | None, rename: Rename) -> Node | None:
    if isinstance(term, Triple):
        raise ReadingError(TRIPLE_IN_TRIPLE)
    return rename(term) if isinstance(term, BlankNode) else term
