"""Graphs from files, triple by triple, as the oracle reads them: static ones, and those that change with time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pyoxigraph import Triple

from penstock.algebra.inputs import GraphTriple
from penstock.algebra.windows import Interval
from penstock.rdf.changes import Change, changes_of, is_changing, read_changes, validity
from penstock.rdf.credentials import ServiceAuth
from penstock.rdf.graphs import read_graph
from penstock.rdf.remote_graphs import is_remote, parse_remote


def with_updates(triples: Sequence[GraphTriple], changes: Sequence[Change]) -> list[GraphTriple]:
    """A graph that changes on top of what it is: a triple of it that is removed holds until then."""
    changed: dict[Triple, list[Interval]] = {change.triple: [] for change in changes}
    kept = [entry for entry in triples if entry.triple not in changed]
    for triple, valid in triples:
        if triple in changed:
            changed[triple].append(valid)
    before = [change for triple, intervals in changed.items() for change in changes_of(triple, intervals)]
    held = validity([*before, *changes])
    return kept + [GraphTriple(entry.triple, Interval(entry.start, entry.end)) for entry in held]


def graph_of_file(file: str | Path, scope: str, auth: ServiceAuth | None = None) -> list[GraphTriple]:
    """The triples of a graph, and when they hold; `scope` keeps its blank nodes apart from those of other sources.

    Raises `SourceError`.
    """
    if is_remote(str(file)):
        return [GraphTriple(triple) for triple in parse_remote(str(file), auth).triples(scope)]
    if is_changing(Path(file)):
        held = validity(read_changes(file, scope=scope))
        return [GraphTriple(entry.triple, Interval(entry.start, entry.end)) for entry in held]
    return [GraphTriple(triple) for triple in read_graph(file, scope=scope)]
