"""Property paths that repeat, on Spark.

Spark's recursive queries keep duplicates (UNION ALL), so they never end on a cycle, and each round is a job. The
recursive part of a statement is therefore computed before the rest: Spark selects its input, and DuckDB runs it on the
driver. If the input is too large for the driver, Spark computes the part, a round at a time. The statement then reads
the result as a view.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from sqlglot import exp

from penstock.engines.duckdb.selections import selected_from
from penstock.engines.spark.parts import Parts, parts_of, with_parts

_MOST = 5_000_000
"""The driver takes at most this many rows of each relation that a recursive part reads."""

_FEW = 50_000
"""A relation of at most this many rows is planned and joined as local data."""

Run = Callable[[exp.Query], DataFrame]


class ClosureTooLargeError(Exception):
    """A recursive part has more rows than allowed."""


class Closures:
    """The recursive parts of a statement, as views whose names begin with `prefix`.

    The views are needed until Spark has analysed a statement that reads them (`drop_views`), and the `persisted` frames
    until the statement has been run. With `most`, a part with more rows raises `ClosureTooLargeError`.
    """

    def __init__(self, prefix: str, run: Run, most: int | None = None) -> None:
        self._prefix = prefix
        self._run = run
        self._most = most
        self._views: set[str] = set()
        self.persisted: list[DataFrame] = []

    def without_recursion(self, statement: exp.Query) -> exp.Query:
        """The statement with views in place of its recursive parts."""
        parts = parts_of(statement)
        if not any(_reads(query, name) for name, query in parts):
            return statement
        computed: list[tuple[str, exp.Query]] = []
        for name, query in parts:
            if _reads(query, name):
                query = _selected(self._closure(query, name, computed))
            computed.append((name, query))
        return with_parts(statement, computed)

    def drop_views(self, session: SparkSession) -> None:
        for view in self._views:
            session.catalog.dropTempView(view)
        self._views.clear()

    def _closure(self, query: exp.Query, name: str, before: Parts) -> str:
        """The view of all rows of a recursive part: `start UNION step`."""
        assert isinstance(query, exp.Union)
        view = f"{self._prefix}_{name}"
        read = sorted({table.name for table in query.find_all(exp.Table)} - {name})
        frames = {table: self._run(with_parts(_selected(table), before)).persist() for table in read}
        try:
            tables = {table: frame.limit(_MOST + 1).toArrow() for table, frame in frames.items()}
            if all(table.num_rows <= _MOST for table in tables.values()):
                session = next(iter(frames.values())).sparkSession
                self._show(session.createDataFrame(self._on_driver(query, name, tables)), view)
            else:
                for table, frame in frames.items():
                    self._show(self._kept(frame), f"{view}_{table}")
                self._show(self._by_rounds(query, name, [(t, _selected(f"{view}_{t}")) for t in read], view), view)
        finally:
            for frame in frames.values():
                frame.unpersist()
        return view

    def _on_driver(self, query: exp.Query, name: str, tables: dict[str, pa.Table]) -> pa.Table:
        whole = exp.select("*").from_(name).with_(name, as_=query, recursive=True)
        if self._most is not None:
            whole = whole.limit(self._most + 1)
        found = selected_from(tables, whole)
        self._check(found.num_rows)
        return found

    def _by_rounds(self, query: exp.Union, name: str, known: Parts, view: str) -> DataFrame:
        start, step = query.left, query.right
        reached = frontier = self._kept(self._run(with_parts(start, known)).distinct())
        while not frontier.isEmpty():
            self._show(frontier, view)
            further = self._run(with_parts(step, [*known, (name, _selected(view))]))
            frontier = self._kept(further.distinct().exceptAll(reached))
            reached = self._kept(reached.union(frontier))
            if self._most is not None:
                self._check(reached.limit(self._most + 1).count())
        return reached

    def _check(self, rows: int) -> None:
        if self._most is not None and rows > self._most:
            raise ClosureTooLargeError

    def _show(self, frame: DataFrame, view: str) -> None:
        frame.createOrReplaceTempView(view)
        self._views.add(view)

    def _kept(self, frame: DataFrame) -> DataFrame:
        """Computed once; a small result is planned and joined as local data on the driver."""
        frame = frame.persist()
        few = frame.limit(_FEW + 1).toArrow()
        if few.num_rows > _FEW:
            self.persisted.append(frame)
            return frame
        frame.unpersist()
        return frame.sparkSession.createDataFrame(few)


def _selected(name: str) -> exp.Select:
    return exp.select("*").from_(name)


def _reads(query: exp.Query, name: str) -> bool:
    return any(table.name == name for table in query.find_all(exp.Table))
