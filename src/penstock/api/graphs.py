"""Graphs from files: static ones, and those that change with time."""

from __future__ import annotations

from pathlib import Path

from penstock.algebra.inputs import GraphTriple
from penstock.algebra.windows import Interval
from penstock.rdf.changes import read_changes, validity
from penstock.rdf.compression import uncompressed_name
from penstock.rdf.graphs import read_graph

CHANGES = ".changes"
"""The ending of a graph that changes: lines `A <s> <p> <o> "TS" .` and `D <s> <p> <o> "TS" .`."""


def graph_of_file(file: str | Path, scope: str) -> list[GraphTriple]:
    """The triples of a graph, and when they hold; `scope` keeps its blank nodes apart from those of other sources.

    Raises `SourceError`.
    """
    if uncompressed_name(Path(file)).suffix.lower() == CHANGES:
        held = validity(read_changes(file, scope=scope))
        return [GraphTriple(entry.triple, Interval(entry.start, entry.end)) for entry in held]
    return [GraphTriple(triple) for triple in read_graph(file, scope=scope)]
