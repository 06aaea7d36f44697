"""Queries over complete streams, answered range by range.

The evaluation instants are cut into slices, a task each. Streams are ordered in time up to the lateness, so a slice
needs few ranges of a file: the survey finds them. No rows are exchanged between tasks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING
from uuid import uuid4

import numpy as np
from pyspark.sql import DataFrame, SparkSession

from penstock.algebra.model import ContinuousQuery
from penstock.algebra.operators import Operator
from penstock.engines.machine_memory import machine_memory
from penstock.engines.protocol import Slice
from penstock.engines.solutions import Solutions
from penstock.engines.spark.range_tasks import (
    NOTHING,
    Answer,
    RangeTask,
    TaskSlice,
    answer_instants,
    answer_intervals,
    schema_of,
)
from penstock.engines.spark.row_slices import StreamRows, answered
from penstock.engines.spark.session import checked_stack, is_local
from penstock.engines.spark.statements import SparkQuery
from penstock.engines.spark.survey import RangeSurvey
from penstock.optimizer import Knowledge
from penstock.relational.answers import Delivery
from penstock.relational.retention import oldest_needed
from penstock.relational.tables import Tables, reads
from penstock.sources.spark.ranges import Range, read_in_executors

if TYPE_CHECKING:
    from penstock.engines.spark.history import HistoryStore

_ROWS_PER_SLICE = 1_000_000
_MOST_SLICES = 500
"""The bounds of the slices of a DataFrame are part of an expression."""

_MOST_ROWS = 5_000_000
"""A slice that needs more rows is too large for one task."""


@dataclass(frozen=True, slots=True)
class StreamRanges:
    """A stream that is read in ranges."""

    ranges: Sequence[Range]
    surveys: Sequence[RangeSurvey]

    def between(self, oldest: int, last: int) -> list[tuple[Range, int | None]]:
        """The ranges with timestamps between the two, each with the greatest timestamp before it."""
        known = zip(self.ranges, self.surveys, strict=True)
        return [(part, survey.reached) for part, survey in known if survey.has_between(oldest, last)]


class HistoryQuery:
    """A query that is answered by ranges, or by Spark SQL if that is not possible."""

    joins_streams = False
    """All instants are answered at once."""

    def __init__(
        self,
        store: HistoryStore,
        query: ContinuousQuery,
        expression: Operator,
        delivery: Delivery,
        by_sql: SparkQuery,
        *,
        is_optimized: bool,
    ) -> None:
        self._store, self._query, self._expression, self._delivery = store, query, expression, delivery
        self._by_sql = by_sql
        self._is_optimized = is_optimized
        self._is_too_large = False
        """Whether a slice needs more rows than a task may have."""
        scope = Knowledge.of(query).scope(expression)
        self._in_scope = tuple(sorted(variable.name for variable in scope.possible if variable.is_visible))

    @property
    def variables(self) -> tuple[str, ...]:
        return self._by_sql.variables if self.reason_for_sql() is not None else self._in_scope

    def reason_for_sql(self) -> str | None:
        """The reason why Spark SQL answers it; None if ranges do."""
        if self._is_too_large:
            return f"a window has more than {_MOST_ROWS:,} triples"
        return self._store.reason_for_sql(self._query, self._delivery)

    def evaluate(self, part: Slice) -> Solutions:
        slices = self._slices(part)
        if slices is None:
            return self._by_sql.evaluate(part)
        with checked_stack():
            table = self._answered(slices, answer_intervals, "i bigint, j bigint").toArrow()
        return Solutions.over_intervals(table if self._in_scope else table.drop_columns("none"), part.instants)

    def frame(self, part: Slice) -> DataFrame:
        """The solutions, in no order: the variables are the first columns, and the last is the instant `t`."""
        slices = self._slices(part)
        return self._by_sql.frame(part) if slices is None else self._answered(slices, answer_instants, "t bigint")

    def _answered(self, slices: Sequence[TaskSlice], answer: Answer, numbers: str) -> DataFrame:
        schema = f"{schema_of(self._in_scope)}, {numbers}"
        session, task = self._store.session, self._shared_by_tasks()
        given = {iri: stream for iri, stream in self._read.items() if isinstance(stream, StreamRows)}
        if given:
            return answered(session, given, slices, answer, task, schema)
        return read_in_executors(session, slices, lambda slice_: answer(slice_, task, NOTHING), schema)

    @property
    def _read(self) -> Mapping[str, StreamRanges | StreamRows]:
        """The streams that the query reads."""
        store = self._store
        return {iri: known for iri, known in store.complete.items() if reads(self._query.dataset, iri, store.tables)}

    def _shared_by_tasks(self) -> RangeTask:
        return RangeTask(
            uuid4().hex,
            self._query,
            self._expression,
            self._delivery,
            self._is_optimized,
            self._in_scope,
            self._store.readers,
            self._store.shipped_graphs,
            self._store.lateness,
            _limits(self._store.session),
        )

    def _slices(self, part: Slice) -> list[TaskSlice] | None:
        """The instants cut into slices; None if Spark SQL has to answer."""
        if self.reason_for_sql() is not None:
            return None
        tables, read = self._store.tables, self._read
        triples = sum(survey.triples for stream in read.values() for survey in stream.surveys)
        cores = self._store.session.sparkContext.defaultParallelism
        count = max(cores, -(-triples // _ROWS_PER_SLICE))
        if any(isinstance(stream, StreamRows) for stream in read.values()):
            count = min(count, _MOST_SLICES)
        slices: list[TaskSlice] = []
        for first, last in pairwise(_bounds(part.instants, read.values(), count)):
            previous = part.instants[first - 1] if first else part.previous
            piece = Slice(part.instants[first:last], previous)
            oldest = {iri: self._oldest(iri, piece, tables) for iri in read}
            last = piece.instants[-1]
            shares = (s.share(oldest[iri], last) for iri, stream in read.items() for s in stream.surveys)
            if sum(shares) > _MOST_ROWS:
                self._is_too_large = True
                return None
            ranges = {iri: s.between(oldest[iri], last) for iri, s in read.items() if isinstance(s, StreamRanges)}
            slices.append(TaskSlice(first, piece, ranges, oldest))
        return slices

    def _oldest(self, stream: str, piece: Slice, tables: Tables) -> int:
        """The timestamp before which the slice needs no element of a stream."""
        first = piece.instants[0] if piece.previous is None else piece.previous
        oldest = oldest_needed(self._query, tables, stream, first)
        assert oldest is not None
        return oldest


def _bounds(instants: Sequence[int], streams: Iterable[StreamRanges | StreamRows], count: int) -> list[int]:
    """The bounds of slices of instants, so that all slices have about as many triples."""
    ends = [
        (survey.greatest, survey.triples)
        for stream in streams
        for survey in stream.surveys
        if survey.greatest is not None
    ]
    times, triples = (np.array(column, np.int64) for column in zip(*sorted(ends), strict=True)) if ends else _NOTHING
    before = np.concatenate([[0], np.cumsum(triples)])[np.searchsorted(times, instants, side="right")]
    # Within a range, triples are assumed to be spread evenly over the instants.
    share = before / max(1, triples.sum()) + np.arange(len(instants)) / len(instants)
    cuts = np.searchsorted(share, np.linspace(share[0], share[-1], count, endpoint=False)[1:])
    return sorted({0, *cuts.tolist(), len(instants)})


_NOTHING = np.zeros(0, np.int64), np.zeros(0, np.int64)


def _limits(spark: SparkSession) -> Mapping[str, int | str]:
    """A task has one core and a share of half the memory; only Spark knows the memory of an executor elsewhere."""
    if not is_local(spark):
        return {"threads": 1}
    share = machine_memory() // 2 // spark.sparkContext.defaultParallelism
    return {"threads": 1, "memory_limit": f"'{share >> 20}MB'"}
