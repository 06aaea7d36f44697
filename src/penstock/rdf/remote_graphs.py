"""Graphs at SPARQL endpoints: `sparql+http://host/sparql`, with options after a question mark."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote

from pyoxigraph import Triple

from penstock.rdf.addresses import option_duration
from penstock.rdf.blank_nodes import prefixed
from penstock.rdf.credentials import ServiceAuth, service_auth, without_credentials
from penstock.rdf.endpoints import DEFAULT_MAX_BYTES, DEFAULT_TIMEOUT, Endpoint
from penstock.rdf.errors import SourceError
from penstock.rdf.iris import is_absolute
from penstock.rdf.sizes import parse_size

_SCHEME = "sparql+"


@dataclass(frozen=True, slots=True)
class RemoteGraph:
    """The default graph of an endpoint, or a named graph; fetched once, or every `refresh` milliseconds."""

    endpoint: Endpoint
    graph: str | None = None
    refresh: int | None = None

    def triples(self, scope: str) -> list[Triple]:
        """All triples of the graph, as it is now. Raises EndpointError."""
        where = "{ ?s ?p ?o }" if self.graph is None else f"{{ GRAPH <{self.graph}> {{ ?s ?p ?o }} }}"
        return self.endpoint.triples(f"CONSTRUCT {{ ?s ?p ?o }} WHERE {where}", prefixed(scope))


def is_remote(source: str) -> bool:
    return source.startswith(_SCHEME)


def parse_remote(source: str, auth: ServiceAuth | None = None) -> RemoteGraph:
    """Parses `sparql+http://host/path?graph=IRI&refresh=30s&timeout=5s&max-size=1GB`; other parameters are passed on.

    Without `auth`, only the environment provides credentials.

    >>> parse_remote("sparql+http://ex.org/sparql?refresh=30s").refresh
    30000
    """
    address, _, query = source.removeprefix(_SCHEME).partition("?")
    if not address.startswith(("http://", "https://")):
        shown = without_credentials(source)
        raise SourceError(f"{shown}: an endpoint is sparql+http://HOST/PATH or sparql+https://HOST/PATH")
    graph, timeout, refresh, max_bytes = None, DEFAULT_TIMEOUT, None, DEFAULT_MAX_BYTES
    kept = []
    for pair in filter(None, query.split("&")):
        name, _, value = pair.partition("=")
        match name:
            case "graph":
                graph = _graph(source, unquote(value))
            case "refresh":
                refresh = option_duration(name, value)
            case "timeout":
                timeout = option_duration(name, value)
            case "max-size":
                max_bytes = _size(value)
            case _:
                kept.append(pair)
    address = f"{address}?{'&'.join(kept)}" if kept else address
    return RemoteGraph(Endpoint(address, timeout, max_bytes, service_auth() if auth is None else auth), graph, refresh)


def _size(text: str) -> int:
    size = parse_size(text)
    if not size:
        raise SourceError(f"max-size={text}: this is not a size: write bytes, or a number with kB, MB or GB")
    return size


def _graph(source: str, text: str) -> str:
    iri = text.removeprefix("<").removesuffix(">")
    if not is_absolute(iri) or any(character in iri for character in '<>"{}|\\^` '):
        shown = without_credentials(source)
        raise SourceError(f"{shown}: {text!r} is not the IRI of a graph: write graph=http://example.org/cities")
    return iri
