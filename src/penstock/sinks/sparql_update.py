"""Answers to a SPARQL Update endpoint: a named graph for each evaluation, `urn:penstock:QUERY:INSTANT`.

The default graph states the instant: `<urn:penstock:QUERY:INSTANT> prov:generatedAtTime TIME`. A request first drops
the graphs that it writes. So a request that is sent twice, because a crash or a lost connection left open whether it
arrived, has the effect of one: the store contains every answer once.
"""

from __future__ import annotations

import pyarrow as pa

from penstock.rdf.credentials import ServiceAuth
from penstock.rdf.result_batches import ResultBatch
from penstock.rdf.stream_reader import GENERATED_AT_TIME
from penstock.rdf.term_columns import formatted, joined, n_triples, statements
from penstock.sinks.http import Posts
from penstock.sinks.lines import dates, graph_name, graph_names, grouped

_MEDIA_TYPE = "application/sparql-update; charset=utf-8"


class UpdateGraphs:
    """The part of an update that contains an evaluation: its time, and its graph."""

    def beginning(self, variables: tuple[str, ...]) -> str:
        return ""

    def texts(self, batch: ResultBatch) -> pa.Array:
        triples = joined(statements(batch.rows, n_triples), " .\n").take(pa.array(batch.places))
        graphs = joined("<", graph_names(batch), ">")
        dated = joined(graphs, f" <{GENERATED_AT_TIME}> ", formatted(dates(batch), n_triples), " .\n")
        return joined(dated, "GRAPH ", graphs, " {\n", grouped(triples, batch.bounds), "}\n")


class UpdateEndpoint:
    """An endpoint for SPARQL 1.1 Update."""

    def __init__(self, address: str, auth: ServiceAuth) -> None:
        self._posts = Posts(address, auth)

    @property
    def name(self) -> str:
        return self._posts.name

    def connect(self) -> None:
        """Each request has its own connection."""

    def send(self, messages: pa.Table, before: int) -> None:
        """One update, which a store applies as a whole."""
        names = map(graph_name, messages["query"].to_pylist(), messages["time"].to_pylist())
        dropped = "".join(f"DROP SILENT GRAPH <{name}> ;\n" for name in dict.fromkeys(names))
        graphs = b"\n".join(messages["value"].to_pylist())
        self._posts.post(dropped.encode() + b"INSERT DATA {\n" + graphs + b"\n}\n", {"Content-Type": _MEDIA_TYPE})

    def close(self) -> None:
        """Nothing is open."""
