"""Streams and graphs as a whole in memory, for the oracle and `penstock explain`.

These readers differ from those of the engines, so that `penstock verify` compares the readers, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from pyoxigraph import Triple

from penstock.algebra.inputs import GraphTriple, Inputs
from penstock.algebra.windows import Interval
from penstock.rdf.addresses import Address
from penstock.rdf.changes import Change, Validity, changes_of, is_changing, read_changes, validity
from penstock.rdf.credentials import ServiceAuth
from penstock.rdf.elements import Element, OnMalformed
from penstock.rdf.graphs import read_graph
from penstock.rdf.remote_graphs import is_remote, parse_remote
from penstock.rdf.stream_reader import read_stream
from penstock.sources import open_source
from penstock.sources.mirrors import mirror_of
from penstock.sources.tables import elements_of_table

Files = Iterable[tuple[str | None, str]]
"""Files or addresses of graphs by their IRIs; None is the default graph."""


def read_inputs(
    streams: Mapping[str, Address],
    graphs: Files,
    graph_updates: Files,
    lateness: int,
    on_malformed: OnMalformed,
    *,
    auth: ServiceAuth | None = None,
    most_elements: int | None = None,
) -> Inputs:
    """Read everything; `most_elements` truncates each stream.

    Graphs of endpoints do not change here. Raises SourceError if there is nothing to read.
    """
    elements: dict[str, Sequence[Element]] = {}
    for number, (iri, address) in enumerate(streams.items(), start=1):
        if address.has_messages:
            found = _elements_of_messages(address, f"s{number}", on_malformed, auth)
        else:
            found = read_stream(address.path, scope=f"s{number}", on_malformed=on_malformed, **address.read_options)
        elements[iri] = list(islice(found, most_elements))
    triples: dict[str | None, list[GraphTriple]] = {}
    mirrored: dict[str | None, list[GraphTriple]] = {}
    for number, (name, file) in enumerate(graphs, start=1):
        parts = triples if mirror_of(file, "") is None else mirrored
        parts.setdefault(name, []).extend(_graph_of_file(file, f"g{number}", auth))
    changes: dict[str | None, list[Change]] = {}
    for number, (name, file) in enumerate(graph_updates, start=1):
        changes.setdefault(name, []).extend(read_changes(file, scope=f"u{number}"))
    for name, said in changes.items():
        triples[name] = with_updates(triples.get(name, ()), said)
    names = {**triples, **mirrored}
    return Inputs(elements, {name: [*triples.get(name, ()), *mirrored.get(name, ())] for name in names}, lateness)


def _elements_of_messages(
    address: Address, scope: str, on_malformed: OnMalformed, auth: ServiceAuth | None
) -> Iterator[Element]:
    """The elements of a topic or event stream. There is one reader of messages, whose tables become elements here."""
    for batch in open_source(address, scope=scope, auth=auth).batches():
        for malformed in batch.malformed:
            on_malformed(malformed)
        yield from elements_of_table(batch.table)


def with_updates(triples: Sequence[GraphTriple], changes: Sequence[Change]) -> list[GraphTriple]:
    """A graph with changes applied: a triple that is removed is valid until then."""
    changed: dict[Triple, list[Interval]] = {change.triple: [] for change in changes}
    kept = [entry for entry in triples if entry.triple not in changed]
    for triple, valid in triples:
        if triple in changed:
            changed[triple].append(valid)
    before = [change for triple, intervals in changed.items() for change in changes_of(triple, intervals)]
    return kept + _graph_triples(validity([*before, *changes]))


def _graph_of_file(file: str, scope: str, auth: ServiceAuth | None) -> list[GraphTriple]:
    """The triples of a graph, and when they are valid; `scope` keeps its blank nodes apart from those of others."""
    if is_remote(file):
        return [GraphTriple(triple) for triple in parse_remote(file, auth).triples(scope)]
    if is_changing(Path(file)):
        return _graph_triples(validity(read_changes(file, scope=scope)))
    return [GraphTriple(triple) for triple in read_graph(file, scope=scope)]


def _graph_triples(found: Iterable[Validity]) -> list[GraphTriple]:
    return [GraphTriple(entry.triple, Interval(entry.start, entry.end)) for entry in found]
