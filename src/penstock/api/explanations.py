"""A query explained, for a terminal or a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from penstock.algebra.inputs import Inputs
from penstock.engines.protocol import WindowStore
from penstock.explain import FORMATS, Document, describe
from penstock.rdf.elements import Element
from penstock.runtime.ways import Way
from penstock.sources import Source
from penstock.sources.graphs import Graph, triples_of
from penstock.sources.tables import elements_of_table

if TYPE_CHECKING:
    from penstock.api.queries import RegisteredQuery

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
    query: RegisteredQuery,
    streams: Mapping[str, Source],
    graphs: Mapping[str | None, Graph],
    store: WindowStore[Any] | None,
    way: Way | None,
) -> Explanation:
    """A query with the beginning of these streams; `store` and `way` are those of its latest run."""
    how, options = query.options.how, query.options
    elements = {iri: list(islice(_elements(source), MOST_ELEMENTS)) for iri, source in streams.items()}
    triples = {iri: list(dict.fromkeys(triples_of(graph))) for iri, graph in graphs.items()}
    return Explanation(
        describe(
            query.syntax,
            query.text,
            options.settings,
            Inputs(elements, triples, how.lateness),
            prefixes=options.prefixes,
            dialect_said_by_user=options.is_dialect_given,
            is_optimized=how.is_optimized,
            sizes=None if store is None else store.sizes,
            kept=() if store is None else store.kept,
            evaluated_by=None if store is None else store.evaluated_by,
            way="" if way is None else way.description,
        )
    )


def _elements(source: Source) -> Iterator[Element]:
    return (element for batch in source.batches() for element in elements_of_table(batch.table))
