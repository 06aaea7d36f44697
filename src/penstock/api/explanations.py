"""A query explained, for a terminal or a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice

from pyoxigraph import Triple

from penstock.algebra import Settings
from penstock.algebra.inputs import Inputs
from penstock.explain import FORMATS, Document, describe
from penstock.optimizer import Sizes
from penstock.rdf.conversion import decode_oxigraph
from penstock.rdf.elements import Element
from penstock.relational.static_parts import KeptPart
from penstock.sources import Source
from penstock.sources.graphs import Graph, triples_of
from penstock.syntax import ast

MOST_ELEMENTS = 5000
"""How much of a stream is shown."""


@dataclass(frozen=True, slots=True, repr=False)
class Explanation:
    """Text in a terminal, a picture in a notebook; `html` is a page of its own."""

    document: Document

    @property
    def text(self) -> str:
        return FORMATS["text"](self.document)

    @property
    def svg(self) -> str:
        return FORMATS["svg"](self.document)

    @property
    def html(self) -> str:
        return FORMATS["html"](self.document)

    def __repr__(self) -> str:
        return self.text

    def _repr_svg_(self) -> str:
        return self.svg


def explained(
    query: ast.Query,
    text: str,
    settings: Settings,
    streams: Mapping[str, Source],
    graphs: Mapping[str | None, Graph],
    lateness: int,
    prefixes: Mapping[str, str],
    is_dialect_given: bool,
    *,
    is_optimized: bool,
    sizes: Sizes | None,
    kept: Sequence[KeptPart],
    evaluated_by: str | None,
) -> Explanation:
    """With the beginning of each of these streams."""
    elements = {iri: list(islice(_elements(source), MOST_ELEMENTS)) for iri, source in streams.items()}
    triples = {iri: list(dict.fromkeys(triples_of(graph))) for iri, graph in graphs.items()}
    inputs = Inputs(elements, triples, lateness)
    return Explanation(
        describe(
            query,
            text,
            settings,
            inputs,
            prefixes=prefixes,
            dialect_said_by_user=is_dialect_given,
            is_optimized=is_optimized,
            sizes=sizes,
            kept=kept,
            evaluated_by=evaluated_by,
        )
    )


def _elements(source: Source) -> Iterator[Element]:
    for batch in source.batches():
        for _, rows in groupby(batch.table.to_pylist(), key=lambda row: row["element"]):
            element = list(rows)
            terms = [[decode_oxigraph(row[name]) for name in "spo"] for row in element if row["s"] is not None]
            yield Element(element[0]["ts"], tuple(Triple(*triple) for triple in terms))  # type: ignore[arg-type]
