"""Penstock's side: from the text of a query and the files to all evaluations, in this process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from penstock import parse
from penstock.algebra.inputs import GraphTriple
from penstock.engines.duckdb import DuckDBEngine
from penstock.rdf.graphs import read_graph
from penstock.rdf.results import Evaluation
from penstock.runtime.running import Run
from penstock.sources import open_source
from penstock.sources.batches import Source
from tollgate.data import STREAM


def evaluations(text: str, stream: Path, graph: Path) -> Iterator[Evaluation]:
    return run_over(text, open_source(stream, scope="tollgates"), graph).evaluations()


def run_over(text: str, source: Source, graph: Path) -> Run:
    """A run on an engine of its own."""
    engine = DuckDBEngine()
    engine.load_graph(None, [GraphTriple(triple) for triple in read_graph(graph, scope="districts")])
    return Run(engine, parse(text), {STREAM: source})
