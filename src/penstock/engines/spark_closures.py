"""What repeats in a property path, on Spark: step by step until nothing new is reached.

Spark's recursive queries keep what comes again (UNION ALL) and so never end on a cycle. A recursive part of a
statement is therefore computed beforehand, and the statement reads what came out.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame
from sqlglot import exp

from penstock.engines.spark_parts import Parts, parts_of, with_parts

_FEW = 50_000
"""So many pairs of nodes are few."""

Run = Callable[[exp.Query], DataFrame]


def without_recursion(statement: exp.Query, prefix: str, run: Run) -> exp.Query:
    """The statement with views, named from `prefix` on, in place of its recursive parts."""
    parts = parts_of(statement)
    if not any(_reads(query, name) for name, query in parts):
        return statement
    computed: list[tuple[str, exp.Query]] = []
    for name, query in parts:
        if _reads(query, name):
            query = _selected(_closure(query, name, computed, f"{prefix}_{name}", run))
        computed.append((name, query))
    return with_parts(statement, computed)


def _closure(query: exp.Query, name: str, before: Parts, view: str, run: Run) -> str:
    """The view of all that a recursive part reaches: `start UNION step`."""
    assert isinstance(query, exp.Union)
    start, step = query.left, query.right
    (steps,) = {table.name for table in step.find_all(exp.Table)} - {name}
    _kept(run(with_parts(_selected(steps), before))).createOrReplaceTempView(f"{view}_steps")
    known = [(steps, _selected(f"{view}_steps"))]
    reached = frontier = _kept(run(with_parts(start, known)).distinct())
    while not frontier.isEmpty():
        frontier.createOrReplaceTempView(view)
        further = run(with_parts(step, [*known, (name, _selected(view))]))
        frontier = _kept(further.distinct().exceptAll(reached))
        reached = _kept(reached.union(frontier))
    reached.createOrReplaceTempView(view)
    return view


def _kept(frame: DataFrame) -> DataFrame:
    """Computed once; what is small is planned and joined at once when the driver has it."""
    frame = frame.persist()
    few = frame.limit(_FEW + 1).toArrow()
    if few.num_rows > _FEW:
        return frame
    frame.unpersist()
    return frame.sparkSession.createDataFrame(few)


def _selected(name: str) -> exp.Select:
    return exp.select("*").from_(name)


def _reads(query: exp.Query, name: str) -> bool:
    return any(table.name == name for table in query.find_all(exp.Table))
