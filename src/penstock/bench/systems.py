"""Penstock as a measured system: from the text of a query and the files to all evaluations."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.api.engine import Engine
from penstock.bench.answers import Answer, answer_of
from penstock.rdf.results import Evaluation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DUCKDB, SPARK = "Penstock on DuckDB", "Penstock on Spark"


def run_command(arguments: Sequence[str]) -> None:
    """`penstock run`, as a process of its own."""
    subprocess.run([sys.executable, "-m", "penstock", "run", *arguments, "--quiet"], check=True)


@dataclass(frozen=True, slots=True)
class DataFiles:
    """The files that a query reads: streams and graphs by name; the name of the default graph is None."""

    streams: Mapping[str, Path]
    graphs: Mapping[str | None, Path]


@dataclass(frozen=True, slots=True)
class Penstock:
    """Penstock with a new engine for each run; on Spark if there is a session."""

    spark: SparkSession | None = None

    @property
    def name(self) -> str:
        return DUCKDB if self.spark is None else SPARK

    def evaluations(self, text: str, inputs: DataFiles, **settings: Any) -> Iterator[Evaluation]:
        """`settings` are the settings of `Engine.register`."""
        return self._engine(inputs).register(text, **settings).results()

    def registered(self, texts: Sequence[str], inputs: DataFiles) -> Engine:
        """An engine with several queries, named by their positions."""
        engine = self._engine(inputs)
        for place, text in enumerate(texts):
            engine.register(text, name=str(place))
        return engine

    def _engine(self, inputs: DataFiles) -> Engine:
        engine = Engine(self.spark)
        for iri, stream in inputs.streams.items():
            engine.stream(iri, stream)
        for graph_iri, graph in inputs.graphs.items():
            engine.graph(graph, graph_iri)
        return engine

    def run(self, text: str, inputs: DataFiles, **settings: Any) -> int:
        """Computes all rows and returns their number."""
        return sum(len(evaluation.rows or ()) for evaluation in self.evaluations(text, inputs, **settings))

    def answer_in_columns(self, text: str, inputs: DataFiles) -> int:
        """Computes all rows, without a Python object for any, and returns their number."""
        return int(self._engine(inputs).register(text).to_arrow(terms=True).num_rows)

    def answer(self, text: str, inputs: DataFiles, **settings: Any) -> Answer:
        return answer_of(self.evaluations(text, inputs, **settings))
