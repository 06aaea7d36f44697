"""Queries over input in memory, answered by Spark as a history."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tests.bounded import graphs_of, sources_of

from penstock.algebra import Settings
from penstock.algebra.chaining import registered_name
from penstock.algebra.inputs import Inputs
from penstock.rdf.results import Evaluation
from penstock.runtime.history_intake import HistoryIntake
from penstock.runtime.queries import QuerySpec
from penstock.runtime.run import Run
from penstock.runtime.settings import RunSettings
from penstock.syntax import ast

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def run_on_spark(
    spark: SparkSession, query: ast.Query, inputs: Inputs, settings: Settings | None = None, *, flush: bool = False
) -> Iterator[Evaluation]:
    """What `run_bounded` is for the embedded engine."""
    from penstock.engines.spark.history import HistoryStore
    from penstock.sources.spark.frames import gathered

    engine = HistoryStore(spark)
    try:
        for iri, graph in graphs_of(inputs).items():
            engine.load_graph(iri, graph)
        for call, answers in inputs.services.items():
            engine.load_answers(call, answers)
        streams = {iri: gathered(spark, source) for iri, source in sources_of(inputs).items()}
        how = RunSettings(lateness=inputs.lateness, flush=flush, has_empty=True)
        standing = QuerySpec(query, registered_name(query) or "q", settings or Settings())
        yield from Run(engine, HistoryIntake(), [standing], streams, how).evaluations()
    finally:
        engine.close()
