"""Client for SPARQL endpoints (SPARQL 1.1 Protocol): sends a query and returns solutions or triples."""

from __future__ import annotations

import socket
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlencode

from pyoxigraph import BlankNode, QueryBoolean, QueryResultsFormat, RdfFormat, Triple, parse_query_results

from penstock.rdf.blank_nodes import Rename
from penstock.rdf.credentials import VARIABLE, ServiceAuth, is_for, service_auth, without_credentials
from penstock.rdf.elements import Node, Row
from penstock.rdf.errors import ReadingError, SourceError
from penstock.rdf.parser import TRIPLE_IN_TRIPLE, checked, parsed
from penstock.rdf.sizes import size_text

if TYPE_CHECKING:
    from urllib.error import HTTPError

    from penstock.rdf.http_requests import Reply

DEFAULT_TIMEOUT = 30_000
"""The default timeout of an endpoint, in milliseconds."""

DEFAULT_MAX_BYTES = 100_000_000
"""The default limit for the size of a response, uncompressed."""

_ATTEMPTS = 3
_FIRST_PAUSE = 0.2
"""In seconds; each pause is twice as long as the previous one."""

_PASSING = frozenset({429, 502, 503, 504})
"""Status codes of temporary failures."""

_SOLUTIONS = "application/sparql-results+json, application/sparql-results+xml;q=0.8, text/tab-separated-values;q=0.5"
_TRIPLES = "application/n-triples, text/turtle;q=0.8, application/rdf+xml;q=0.5"

_EXPLANATIONS = frozenset({"text/plain", "application/json", "application/problem+json"})
_LONGEST_EXPLANATION = 200

Answer = TypeVar("Answer")


class EndpointError(SourceError):
    """An endpoint does not answer, or its response is invalid. The message names the endpoint and suggests a fix."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address of an endpoint, and the timeout in milliseconds.

    Temporary failures (a failed connection, a busy server) are retried a few times.
    """

    address: str
    timeout: int = DEFAULT_TIMEOUT
    max_bytes: int = DEFAULT_MAX_BYTES
    """The limit for the size of a response."""
    auth: ServiceAuth = field(default_factory=service_auth)
    """Credentials; credentials in the address take precedence."""

    @property
    def name(self) -> str:
        """The address for messages, without user and password."""
        return without_credentials(self.address)

    def solutions(self, query: str, variables: tuple[str, ...], rename: Rename) -> tuple[Row, ...]:
        """The solutions of a SELECT, with columns in the order of `variables`; blank nodes get new labels."""

        def read(content: bytes, media_type: str) -> tuple[Row, ...]:
            format = QueryResultsFormat.from_media_type(media_type)
            if format is None:
                raise self._not("SPARQL results", media_type)
            found = parse_query_results(content, format)
            if isinstance(found, QueryBoolean):
                raise EndpointError(f"{self.name} returned a boolean for a SELECT: is it a SPARQL endpoint?")
            known = [variable.value for variable in found.variables]
            places = [known.index(name) if name in known else None for name in variables]
            return tuple(
                tuple(None if place is None else _renamed(solution[place], rename) for place in places)
                for solution in found
            )

        return self._asked(query, _SOLUTIONS, read)

    def triples(self, query: str, rename: Rename) -> list[Triple]:
        """The triples of a CONSTRUCT, without duplicates."""

        def read(content: bytes, media_type: str) -> list[Triple]:
            format = RdfFormat.from_media_type(media_type)
            if format is None:
                raise self._not("RDF", media_type)
            statements = checked(parsed(content, format, self.name), rename)
            return list(dict.fromkeys(statement.triple for statement in statements))

        return self._asked(query, _TRIPLES, read)

    def _asked(self, query: str, accept: str, read: Callable[[bytes, str], Answer]) -> Answer:
        reply = self._reply(query, accept)
        try:
            return read(reply.content, reply.media_type)
        except (SyntaxError, ReadingError) as error:
            # The parser's message would quote the response.
            line = error.line if isinstance(error, ReadingError) else error.lineno
            place = "" if line is None else f" (line {line})"
            raise EndpointError(
                f"{self.name} returned invalid {reply.media_type}{place}: is it a SPARQL endpoint?"
            ) from None

    def _reply(self, query: str, accept: str) -> Reply:
        """The timeout applies to all attempts together."""
        deadline = time.monotonic() + self.timeout / 1000
        for attempt in range(_ATTEMPTS):
            if attempt:
                time.sleep(max(0, min(_FIRST_PAUSE * 2 ** (attempt - 1), deadline - time.monotonic())))
            try:
                return self._fetched(query, accept, deadline)
            except _PassingError as error:
                failure = error
        raise EndpointError(f"{failure.reason} (tried {_ATTEMPTS} times)")

    def _fetched(self, query: str, accept: str, deadline: float) -> Reply:
        # Slow to load, and most queries ask no endpoint.
        from http.client import HTTPException
        from urllib.error import HTTPError, URLError

        from penstock.rdf.http_requests import RedirectError, TooLargeError, post

        form = urlencode({"query": query}).encode()
        try:
            return post(self.name, form, accept, self._authorization, deadline, self.max_bytes)
        except RedirectError as error:
            raise EndpointError(f"{self.name} {error}") from None
        except HTTPError as error:
            with error:
                raise self._refusal(error) from None
        except URLError as error:
            raise self._failure(error.reason) from None
        except TooLargeError:
            raise EndpointError(
                f"{self.name} returned more than {size_text(self.max_bytes)}: request less data, or raise the limit "
                "(--service-max-size)"
            ) from None
        except zlib.error:
            raise EndpointError(f"{self.name} returned damaged compressed data") from None
        except (OSError, HTTPException, ValueError) as error:
            raise self._failure(error) from None

    def _authorization(self, address: str) -> str | None:
        """The authorization for this address or one that it redirects to. Credentials are valid for one host."""
        credentials = self.auth.of(self.address if is_for(self.name, address) else address)
        return None if credentials is None else credentials.authorization

    # Errors

    def _too_late(self) -> EndpointError:
        return EndpointError(
            f"{self.name} did not answer within {self.timeout / 1000:g} s: request less data, or raise the timeout"
        )

    def _failure(self, reason: object) -> EndpointError | _PassingError:
        if isinstance(reason, TimeoutError):
            return self._too_late()
        if isinstance(reason, socket.gaierror):
            return EndpointError(f"{self.name}: unknown host: is the address correct?")
        if isinstance(reason, ConnectionError):
            text = (reason.strerror or "the connection was closed").lower()
            return _PassingError(f"{self.name} does not answer ({text}): is the endpoint running at this address?")
        if isinstance(reason, ValueError):
            return EndpointError(
                f"{self.name} is not the address of an endpoint: write an http or https address, such as http://host:7200/sparql"
            )
        return EndpointError(f"{self.name} cannot be queried: {reason}")

    def _refusal(self, error: HTTPError) -> EndpointError | _PassingError:
        from http.client import responses

        asked = error.url or self.name
        who = self.name if asked == self.name else f"{self.name} redirects to {asked}, which"
        said = f"{who} answered {error.code} {responses.get(error.code, '')}".rstrip()
        if error.code in _PASSING:
            return _PassingError(said)
        if error.code == 400:
            return EndpointError(f"{said}: it rejects the query{_explanation(error)}")
        if error.code in (401, 403) and self.auth.of(self.address) is not None:
            return EndpointError(f"{said}: it rejects the user and password, or the token")
        if error.code in (401, 403):
            return EndpointError(
                f"{said}: it requires a user and password, or a token: pass them with --service-auth "
                f"{self.name}=USER:PASSWORD, or in the environment ({VARIABLE})"
            )
        if error.code in (404, 405):
            return EndpointError(f"{said}: is this the address of a SPARQL endpoint? Many end with /sparql or /query")
        return EndpointError(said)

    def _not(self, wanted: str, media_type: str) -> EndpointError:
        return EndpointError(
            f"{self.name} returned {media_type} instead of {wanted}: is it the web page of an endpoint, "
            "not the endpoint itself?"
        )


class _PassingError(Exception):
    """A temporary failure."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


def _explanation(error: HTTPError) -> str:
    """The endpoint's explanation for rejecting a query, if it is text; long text is cut."""
    from http.client import HTTPException

    if error.headers.get_content_type() not in _EXPLANATIONS:
        return ""
    try:
        text = " ".join(error.read(_LONGEST_EXPLANATION).decode(errors="replace").split())
    except (OSError, HTTPException):
        return ""
    shown = "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)
    return f" ({shown})" if shown else ""


def _renamed(term: Node | Triple | None, rename: Rename) -> Node | None:
    if isinstance(term, Triple):
        raise ReadingError(TRIPLE_IN_TRIPLE)
    return rename(term) if isinstance(term, BlankNode) else term
