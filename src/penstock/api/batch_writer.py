"""The results of each micro-batch as a DataFrame of Spark."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from penstock.algebra.model import QueryForm
from penstock.api.frames import columns_of, text_table
from penstock.engines.spark.result_frames import checked_types, typed
from penstock.rdf.result_batches import ResultBatch
from penstock.runtime.answers import Answer, contiguous
from penstock.runtime.outlets import Outlet, Written

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

OnBatch = Callable[["DataFrame", int], None]


@dataclass(frozen=True, slots=True)
class BatchWriter(Outlet):
    """Passes the results of each micro-batch to a function. Raises InputError for types that Spark does not have."""

    function: OnBatch
    spark: SparkSession
    form: QueryForm
    terms: bool
    types: Mapping[str, str]
    _waiting: list[Answer] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        checked_types(self.types, columns_of(self.form))

    def resume(self, written: Written) -> None:
        self._waiting.clear()

    def write(self, batch: ResultBatch, which: range) -> None:
        if batch.says_something(which):
            self._waiting.append((batch, which))

    def finish(self, number: int) -> None:
        if not self._waiting:
            return
        frame = self.spark.createDataFrame(text_table(contiguous(self._waiting), self.form, terms=self.terms))
        self.function(typed(frame, self.types), number)
        self._waiting.clear()
