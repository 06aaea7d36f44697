"""N-Quads with timestamped graphs, `.nq`. Invalid lines are skipped."""

from __future__ import annotations

from collections.abc import Iterator

from pyoxigraph import RdfFormat

from penstock.rdf.blank_nodes import prefixed
from penstock.rdf.elements import Element, OnMalformed, Statement
from penstock.rdf.formats.lines import parse_lines
from penstock.rdf.formats.read_options import ReadOptions
from penstock.rdf.formats.timed_graphs import graphs_in_passing, graphs_of_document
from penstock.rdf.inputs import Input


def read_nquads(source: Input, options: ReadOptions) -> Iterator[Element]:
    def statements(on_malformed: OnMalformed) -> Iterator[Statement]:
        return parse_lines(source, RdfFormat.N_QUADS, prefixed(options.scope), on_malformed)

    if source.is_live:
        return graphs_in_passing(statements(options.on_malformed), source.name, options)
    return graphs_of_document(statements, source.name, options)
