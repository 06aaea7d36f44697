"""Static graphs: all triples of a file (semantics.md §4)."""

from __future__ import annotations

from pathlib import Path

from pyoxigraph import RdfFormat, Triple, parse

from penstock.rdf.blank_nodes import numbered
from penstock.rdf.compression import damage, is_damage, open_bytes, uncompressed_name
from penstock.rdf.errors import ReadingError, SourceError
from penstock.rdf.inputs import check_readable
from penstock.rdf.parsing import checked

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

    The ending says the format: `.ttl .nt .n3 .rdf .owl .jsonld .trig .nq`, and `.gz`, `.bz2` or `.zst` may follow. Of
    TriG, N-Quads and JSON-LD it is the default graph; their named graphs are not part of it. `scope` is the graph's own
    name: no blank node of this graph is one of a source with another scope.

    Raises `SourceError`: a graph that is only half right would give answers that are only half right.
    """
    path = Path(path)
    ending = uncompressed_name(path).suffix.lower()
    if ending not in _FORMATS:
        found = f"the ending {ending} is not one of a graph" if ending else "the file has no ending"
        raise SourceError(f"{path}: {found}: write the graph as {' '.join(_FORMATS)}; .gz, .bz2 or .zst may follow")
    check_readable(path)
    triples: dict[Triple, None] = {}
    has_named_graphs = False
    try:
        with open_bytes(path) as file:
            parser = parse(file, _FORMATS[ending], base_iri=path.resolve().as_uri())
            for graph, triple in checked(parser, numbered(scope, "1")):
                if graph is None:
                    triples[triple] = None
                else:
                    has_named_graphs = True
    except ReadingError as error:
        raise SourceError(f"{error.place(str(path))}: {error.reason}") from None
    except Exception as error:
        if not is_damage(error):
            raise
        raise SourceError(f"{path}: {damage(error)}") from None
    if has_named_graphs and not triples:
        raise SourceError(
            f"{path}: all triples of this file are in named graphs, and a static graph is a file's default graph: "
            "write each graph into a file of its own, and name it (IRI=FILE)"
        )
    return list(triples)
