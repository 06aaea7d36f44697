"""Queries over input in memory, answered by Spark as a history."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tests.bounded import graphs_of, sources_of

from penstock.algebra import Settings
from penstock.algebra.chaining import registered_name
from penstock.algebra.inputs import Inputs
from penstock.rdf.elements import Element
from penstock.rdf.results import Evaluation
from penstock.runtime.history_intake import HistoryIntake
from penstock.runtime.queries import QuerySpec
from penstock.runtime.run import Run
from penstock.runtime.settings import RunSettings, Windows
from penstock.sources.batches import Source
from penstock.sources.files import OneAfterAnother
from penstock.syntax import ast

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def run_on_spark(
    spark: SparkSession,
    query: ast.Query,
    inputs: Inputs,
    settings: Settings | None = None,
    *,
    flush: bool = False,
    is_in_files: bool = False,
    windows: Windows = "cluster",
) -> Iterator[Evaluation]:
    """What `run_bounded` is for the embedded engine. Streams are rows of Spark, or files of a few elements each.

    Spark SQL answers, or with `windows="auto"` tasks.
    """
    from penstock.engines.spark.history import HistoryStore
    from penstock.sources.spark.frames import gathered

    engine = HistoryStore(spark, windows=windows)
    try:
        for iri, graph in graphs_of(inputs).items():
            engine.load_graph(iri, graph)
        for call, answers in inputs.services.items():
            engine.load_answers(call, answers)
        streams = _in_files(inputs) if is_in_files else sources_of(inputs)
        if not is_in_files:
            streams = {iri: gathered(spark, source) for iri, source in streams.items()}
        how = RunSettings(lateness=inputs.lateness, flush=flush, has_empty=True)
        standing = QuerySpec(query, registered_name(query) or "q", settings or Settings())
        yield from Run(engine, HistoryIntake(), [standing], streams, how).evaluations()
    finally:
        engine.close()


def _in_files(inputs: Inputs) -> dict[str, Source]:
    return {iri: _folder(iri, elements) for iri, elements in inputs.streams.items()}


def _folder(iri: str, elements: Sequence[Element]) -> OneAfterAnother:
    starts = range(0, max(1, len(elements)), _PER_FILE)
    files = [sources_of(Inputs({iri: elements[start : start + _PER_FILE]})) for start in starts]
    return OneAfterAnother(iri, [(str(number), file[iri]) for number, file in enumerate(files)])


_PER_FILE = 3
