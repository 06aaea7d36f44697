"""Queries over input that is in memory as a whole, on DuckDB or on another store of windows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from penstock.algebra import Settings
from penstock.algebra.chaining import registered_name
from penstock.algebra.inputs import Inputs
from penstock.engines.duckdb.store import DuckDBStore
from penstock.engines.protocol import WindowStore
from penstock.rdf.elements import Element, OnMalformed
from penstock.rdf.results import Evaluation
from penstock.runtime.queries import QuerySpec
from penstock.runtime.run import Run
from penstock.runtime.settings import RunSettings
from penstock.runtime.source_intake import SourceIntake
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
    store: DuckDBStore | None = None,
    batch_elements: int | None = None,
    instants_per_slice: int | None = None,
    is_optimized: bool = True,
) -> Iterator[Evaluation]:
    """All evaluations of a query over input that ends, in time order, also those without solutions.

    `batch_elements` cuts the input into batches, each of which is answered as far as it can be.
    """
    store = store or DuckDBStore()
    store.clear()
    return run_in(
        store,
        query,
        inputs,
        settings,
        flush=flush,
        name=name,
        batch_elements=batch_elements,
        instants_per_slice=instants_per_slice,
        is_optimized=is_optimized,
    )


def run_in(
    store: WindowStore[Any],
    query: ast.Query,
    inputs: Inputs,
    settings: Settings | None = None,
    *,
    flush: bool = False,
    name: str = "query",
    batch_elements: int | None = None,
    instants_per_slice: int | None = None,
    is_optimized: bool = True,
) -> Iterator[Evaluation]:
    """The same in a store that is empty."""
    spec = QuerySpec(query, registered_name(query) or name, settings or Settings())
    how = RunSettings(instants_per_slice=instants_per_slice, is_optimized=is_optimized)
    return run_together(store, [spec], inputs, how, flush=flush, batch_elements=batch_elements)


def run_together(
    store: WindowStore[Any],
    queries: Sequence[QuerySpec],
    inputs: Inputs,
    how: RunSettings | None = None,
    *,
    flush: bool = False,
    batch_elements: int | None = None,
) -> Iterator[Evaluation]:
    """The evaluations of several queries, in a store that is empty."""
    for iri, graph in graphs_of(inputs).items():
        store.load_graph(iri, graph)
    for call, answers in inputs.services.items():
        store.load_answers(call, answers)
    run_settings = replace(
        how or RunSettings(),
        lateness=inputs.lateness,
        flush=flush,
        is_prompt=batch_elements is not None,
        has_empty=True,
    )
    return Run(store, SourceIntake(), queries, sources_of(inputs, batch_elements), run_settings).evaluations()


def sources_of(inputs: Inputs, batch_elements: int | None = None) -> dict[str, Source]:
    """Streams in memory as sources of batches."""
    most = batch_elements or MOST_ELEMENTS
    return {iri: ElementFile(iri, _reader(elements), most) for iri, elements in inputs.streams.items()}


def graphs_of(inputs: Inputs) -> dict[str | None, Graph]:
    """Graphs in memory as engines load them."""
    return {iri: graph_of_triples(triples) for iri, triples in inputs.graphs.items()}


def _reader(elements: Sequence[Element]) -> Callable[[OnMalformed], Iterator[Element]]:
    return lambda report: iter(elements)
