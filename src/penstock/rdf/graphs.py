"""Reads static graphs: all triples of a file, one by one (semantics.md §4)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pyoxigraph import RdfFormat, Triple

from penstock.rdf import parquet
from penstock.rdf.blank_nodes import Rename, numbered
from penstock.rdf.compression import damage, is_damage, open_bytes, uncompressed_name
from penstock.rdf.errors import ReadingError, SourceError
from penstock.rdf.format_advice import graph_advice
from penstock.rdf.inputs import check_readable
from penstock.rdf.parser import checked, parsed

_FORMATS = {
    ".ttl": RdfFormat.TURTLE,
    ".nt": RdfFormat.N_TRIPLES,
    ".n3": RdfFormat.N3,
    ".rdf": RdfFormat.RDF_XML,
    ".owl": RdfFormat.RDF_XML,
    ".jsonld": RdfFormat.JSON_LD,
    ".trig": RdfFormat.TRIG,
    ".nq": RdfFormat.N_QUADS,
}


def read_graph(path: str | Path, *, scope: str) -> list[Triple]:
    """The triples of a graph, each once, in the order of the file.

    The file ending determines the format: `.ttl .nt .n3 .rdf .owl .jsonld .trig .nq`, optionally followed by `.gz`,
    `.bz2` or `.zst`; or `.parquet`. TriG, N-Quads and JSON-LD files contribute their default graph only. `scope` names
    the graph; blank nodes of sources with different scopes are different.

    Raises `SourceError` at the first error: a partly read graph would lead to wrong answers.
    """
    return list(dict.fromkeys(iterate_graph(path, scope=scope)))


def iterate_graph(path: str | Path, *, scope: str) -> Iterator[Triple]:
    """The triples in the order of the file, possibly with duplicates. Raises `SourceError`, as `read_graph` does."""
    path = Path(path)
    ending = graph_ending(path)
    check_readable(path)
    rename = numbered(scope, "1")
    return _rows_of_parquet(path, rename) if ending == parquet.ENDING else _parsed(path, _FORMATS[ending], rename)


def graph_ending(path: Path) -> str:
    """The ending that determines the format. Raises `SourceError` if no graph format has it."""
    ending = uncompressed_name(path).suffix.lower()
    if ending in _FORMATS or path.suffix.lower() == parquet.ENDING:
        return ending
    found = f"no graph format has the ending {ending}" if ending else "the file has no ending"
    endings = f"{' '.join(_FORMATS)}, optionally followed by .gz, .bz2 or .zst, or as {parquet.ENDING}"
    raise SourceError(f"{path}: {found}: write the graph as {endings}")


def _parsed(path: Path, format: RdfFormat, rename: Rename) -> Iterator[Triple]:
    has_triples = has_named_graphs = False
    try:
        with open_bytes(path) as file:
            for graph, triple in checked(parsed(file, format, path.resolve().as_uri()), rename):
                if graph is None:
                    has_triples = True
                    yield triple
                else:
                    has_named_graphs = True
    except ReadingError as error:
        raise SourceError(f"{error.place(str(path))}: {error.reason}{graph_advice(path)}") from None
    except Exception as error:
        if not is_damage(error):
            raise
        raise SourceError(f"{path}: {damage(error)}{graph_advice(path)}") from None
    if has_named_graphs and not has_triples:
        raise SourceError(
            f"{path}: all triples of this file are in named graphs, but a static graph is the default graph of a file: "
            "write each graph to its own file, and name it (IRI=FILE)"
        )


def _rows_of_parquet(path: Path, rename: Rename) -> Iterator[Triple]:
    number = 0
    for batch in parquet.batches_of_terms(path, _ROWS):
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            number += 1
            yield parquet.triple_of_row(path, number, row, rename)


_ROWS = 10_000
