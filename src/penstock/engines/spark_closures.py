"""What repeats in a property path, on Spark: step by step until nothing new is reached.

Spark's recursive queries keep what comes again (UNION ALL) and so never end on a cycle. A recursive part of a
statement is therefore computed beforehand, and the statement reads what came out.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame, SparkSession
from sqlglot import exp

from penstock.engines.spark_parts import Parts, parts_of, with_parts

_FEW = 50_000
"""So many pairs of nodes are few."""

Run = Callable[[exp.Query], DataFrame]


class Closures:
    """Recursive parts of a statement, as views that are named from `prefix` on.

    The views are of use until a statement that reads them has been looked at by Spark (`drop_views`); `persisted` is
    what has been computed for them, until the statement has been run.
    """

    def __init__(self, prefix: str, run: Run) -> None:
        self._prefix = prefix
        self._run = run
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
        """The view of all that a recursive part reaches: `start UNION step`."""
        assert isinstance(query, exp.Union)
        start, step = query.left, query.right
        (steps,) = {table.name for table in step.find_all(exp.Table)} - {name}
        view = f"{self._prefix}_{name}"
        self._show(self._kept(self._run(with_parts(_selected(steps), before))), f"{view}_steps")
        known = [(steps, _selected(f"{view}_steps"))]
        reached = frontier = self._kept(self._run(with_parts(start, known)).distinct())
        while not frontier.isEmpty():
            self._show(frontier, view)
            further = self._run(with_parts(step, [*known, (name, _selected(view))]))
            frontier = self._kept(further.distinct().exceptAll(reached))
            reached = self._kept(reached.union(frontier))
        self._show(reached, view)
        return view

    def _show(self, frame: DataFrame, view: str) -> None:
        frame.createOrReplaceTempView(view)
        self._views.add(view)

    def _kept(self, frame: DataFrame) -> DataFrame:
        """Computed once; what is small is planned and joined at once when the driver has it."""
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
