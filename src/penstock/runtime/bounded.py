"""A query over input that is in memory as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from penstock.algebra import Settings
from penstock.algebra.chaining import registered_name
from penstock.algebra.inputs import Inputs
from penstock.engines.duckdb import DuckDBEngine
from penstock.rdf.elements import Element, OnMalformed
from penstock.rdf.results import Evaluation
from penstock.runtime.registry import Registry
from penstock.runtime.running import RunSettings, Standing
from penstock.sources.batches import MOST_ELEMENTS, Source
from penstock.sources.files import ElementFile
from penstock.sources.graphs import Graph, graph_of_triples
from penstock.syntax import ast


def run_bounded(
    query: ast.Query,
    inputs: Inputs,
    settings: Settings | None = None,
    *,
    flush: bool = False,
    name: str = "query",
    engine: DuckDBEngine | None = None,
    batch_elements: int | None = None,
    instants_per_slice: int | None = None,
    is_optimized: bool = True,
) -> Iterator[Evaluation]:
    """All evaluations of a query over input that ends, in time order, also those without solutions.

    `batch_elements` cuts the input into batches, each of which is answered as far as it can be.
    """
    engine = engine or DuckDBEngine()
    engine.clear()
    for iri, graph in graphs_of(inputs).items():
        engine.load_graph(iri, graph)
    for call, answers in inputs.services.items():
        engine.load_answers(call, answers)
    streams = sources_of(inputs, batch_elements)
    how = RunSettings(
        lateness=inputs.lateness,
        flush=flush,
        is_prompt=batch_elements is not None,
        instants_per_slice=instants_per_slice,
        has_empty=True,
        is_optimized=is_optimized,
    )
    standing = Standing(query, registered_name(query) or name, settings or Settings())
    return Registry(engine, [standing], streams, how).evaluations()


def sources_of(inputs: Inputs, batch_elements: int | None = None) -> dict[str, Source]:
    """Streams in memory as sources of batches."""
    most = batch_elements or MOST_ELEMENTS
    return {iri: ElementFile(iri, _reader(elements), most) for iri, elements in inputs.streams.items()}


def graphs_of(inputs: Inputs) -> dict[str | None, Graph]:
    """Graphs in memory as engines load them."""
    return {iri: graph_of_triples(triples) for iri, triples in inputs.graphs.items()}


def _reader(elements: Sequence[Element]) -> Callable[[OnMalformed], Iterator[Element]]:
    return lambda report: iter(elements)
