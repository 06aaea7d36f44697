"""Graphs that are files: N-Triples and Parquet by columns, other formats by the parser, and those that change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
from pyoxigraph import Triple

from penstock.algebra.inputs import GraphTriple
from penstock.algebra.windows import Interval
from penstock.rdf import parquet
from penstock.rdf.blank_nodes import label_prefix, prefixed
from penstock.rdf.changes import is_changing, read_changes, validity
from penstock.rdf.compression import open_bytes
from penstock.rdf.credentials import ServiceAuth
from penstock.rdf.errors import SourceError
from penstock.rdf.format_advice import graph_advice
from penstock.rdf.graphs import graph_ending, iterate_graph
from penstock.rdf.inputs import check_readable
from penstock.rdf.remote_graphs import RemoteGraph, is_remote, parse_remote
from penstock.sources.blocks import blocks, pieces_of_file
from penstock.sources.columns import objects, predicates, subjects
from penstock.sources.graphs import MOST_TRIPLES, Graph, graph_of_triples, tables_of, with_odd
from penstock.sources.ntriples import decode_ntriples


def open_graph(path: str | Path, *, scope: str, auth: ServiceAuth | None = None) -> Graph:
    """The graph in a file, whose ending determines the format (rdf/graphs.py, and `.changes`), or at a SPARQL endpoint.

    It is not read yet. `scope` names the graph: blank nodes of sources with different scopes are different. `auth` has
    the credentials of endpoints.

    Raises `SourceError` if there is no such file, or it is not a graph.
    """
    if is_remote(str(path)):
        return EndpointGraph(parse_remote(str(path), auth), scope)
    path = Path(path)
    if is_changing(path):
        check_readable(path)
        return ChangesFile(path, scope)
    kind = _KINDS.get(graph_ending(path), ParsedFile)
    check_readable(path)
    return kind(path, scope)


@dataclass(frozen=True, slots=True)
class GraphFile:
    path: Path
    scope: str
    changes: bool = field(default=False, init=False)

    @property
    def name(self) -> str:
        return str(self.path)

    def tables(self) -> Iterator[pa.Table]:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class NTriplesFile(GraphFile):
    """Lines, compressed or not, block by block."""

    def tables(self) -> Iterator[pa.Table]:
        return self.tables_between(0, None)

    def tables_between(self, start: int, end: int | None) -> Iterator[pa.Table]:
        """The triples of the lines between two bytes of the file; errors count lines from the first of these bytes."""
        line = 1 if start == 0 else 2  # a byte order mark is before the first line of the file only
        for block in blocks(pieces_of_file(lambda: open_bytes(self.path), start, end)):
            if block.damage is not None:
                raise SourceError(f"{self.name}: {block.damage}{graph_advice(self.path)}")
            problem = block.problem(self.name, line)
            if problem is not None:
                raise SourceError(f"{problem.place}: {problem.reason}")
            try:
                table = decode_ntriples(block.lines, name=self.name, first_line=line, scope=self.scope)
            except SourceError as error:
                raise SourceError(f"{error}{graph_advice(self.path)}") from None
            yield table
            line += len(block.lines)


@dataclass(frozen=True, slots=True)
class TermsFile(GraphFile):
    """Parquet with terms as N-Triples in its columns."""

    def tables(self) -> Iterator[pa.Table]:
        prefix, rename = label_prefix(self.scope), prefixed(self.scope)
        before = 0
        for batch in parquet.batches_of_terms(self.path, MOST_TRIPLES):

            def read(odd: list[int], batch: pa.RecordBatch = batch, before: int = before) -> list[Triple]:
                rows = batch.take(odd).to_pydict()
                terms = zip(odd, *rows.values(), strict=True)
                return [parquet.triple_of_row(self.path, before + place + 1, row, rename) for place, *row in terms]

            subject, predicate, object_ = batch.columns
            yield with_odd([subjects(subject, prefix), predicates(predicate), objects(object_, prefix)], read)
            before += batch.num_rows


@dataclass(frozen=True, slots=True)
class ParsedFile(GraphFile):
    """Turtle and other formats that the parser reads."""

    def tables(self) -> Iterator[pa.Table]:
        return tables_of(iterate_graph(self.path, scope=self.scope))


@dataclass(frozen=True, slots=True)
class ChangesFile(GraphFile):
    """Additions and removals (rdf/changes.py)."""

    changes: bool = field(default=True, init=False)

    def tables(self) -> Iterator[pa.Table]:
        held = validity(read_changes(self.path, scope=self.scope))
        triples = [GraphTriple(entry.triple, Interval(entry.start, entry.end)) for entry in held]
        yield from graph_of_triples(triples, changes=True).tables()


@dataclass(frozen=True, slots=True)
class EndpointGraph:
    """The graph of a SPARQL endpoint, fetched when it is loaded."""

    remote: RemoteGraph
    scope: str
    changes: bool = field(default=False, init=False)

    @property
    def name(self) -> str:
        return self.remote.endpoint.name

    def tables(self) -> Iterator[pa.Table]:
        return tables_of(self.remote.triples(self.scope))


_KINDS: dict[str, type[NTriplesFile | TermsFile]] = {".nt": NTriplesFile, parquet.ENDING: TermsFile}
