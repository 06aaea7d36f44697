"""What has to be known of a stream's history before it is answered: when it begins and ends, and what came late.

A late element counts from the watermark on that it was behind (semantics.md §2). That makes no difference as long as
no evaluation instant lies between. So where a window that closes step by step tells the instants, a look at each step
is enough: which of its elements came first, and which last. Otherwise the elements are put in order one by one.

Lines in files on this machine are looked at without Spark first. As a rule they are ordinary and in time, and that is
all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from penstock.algebra.windows import RangeWindow
from penstock.engines.closings import content
from penstock.sources.spark.history import History
from penstock.sources.spark.looking import Steps


@dataclass(frozen=True, slots=True)
class Survey:
    """`least` is the first timestamp that was in time, `greatest` the last; an empty stream has none."""

    elements: int
    least: int | None
    greatest: int | None
    has_late: bool = False
    has_odd: bool = False
    """Whether there is anything in it that is more than its ordinary rows, or that is malformed."""
    told: pa.Table | None = None
    """Rows `(s, ts, since)` that tell as much as all of them of when the window closes over content."""


def survey_by_a_look(history: History, window: RangeWindow | None, lateness: int) -> Survey | None:
    """Of lines in files on this machine; None where something is behind, and perhaps too late for an instant."""
    steps = [] if window is None else [Steps(window.origin, window.step)]
    found = history.look(steps)
    if found is None:
        return Survey(0, None, None, has_odd=True)
    if found.behind > lateness:
        return None
    told = next((content([*firsts.values()]) for firsts in found.firsts.values()), None)
    return Survey(found.elements, found.least, found.greatest, told=told)


def survey_by_steps(rows: DataFrame, window: RangeWindow, lateness: int) -> Survey | None:
    """Of rows with `ts`, `arrival`, `is_odd` and `s`; None where something may have come too late for an instant."""
    grouped = rows.groupBy(_period(sf.col("ts"), window).alias("period")).agg(
        sf.min("ts").alias("least"),
        sf.max("ts").alias("greatest"),
        sf.min("arrival").alias("first"),
        sf.max("arrival").alias("last"),
        sf.min(sf.when(sf.col("s").isNotNull(), sf.col("ts"))).alias("first_triple"),
        sf.count("*").alias("triples"),
        sf.bool_or("is_odd").alias("is_odd"),
    )
    found = grouped.toArrow().sort_by("period")
    if pc.any(found["is_odd"]).as_py():
        return Survey(0, None, None, has_odd=True)
    if not found.num_rows:
        return Survey(0, None, None)
    periods, first, last = (found[name].to_pylist() for name in ("period", "first", "last"))
    if _may_be_late(periods, first, last, max(1, lateness // window.step)):
        return None
    least, greatest = (found[name].to_pylist() for name in ("least", "greatest"))
    told = content(found["first_triple"].drop_null().to_pylist())
    return Survey(sum(found["triples"].to_pylist()), min(least), max(greatest), told=told)


def _may_be_late(periods: Sequence[int], first: Sequence[int], last: Sequence[int], distance: int) -> bool:
    """Whether anything of a period came behind something of a period that is so far ahead."""
    ahead = len(periods)
    earliest: int | None = None
    for place in reversed(range(len(periods))):
        while periods[ahead - 1] >= periods[place] + distance:
            ahead -= 1
            earliest = first[ahead] if earliest is None else min(earliest, first[ahead])
        if earliest is not None and last[place] > earliest:
            return True
    return False


def _period(time: Column, window: RangeWindow) -> Column:
    """The number of the step that a time is in: the same instants see all that is in it."""
    since_origin = time - sf.lit(window.origin + 1)
    step = sf.lit(window.step)
    return sf.call_function("div", since_origin - sf.pmod(since_origin, step), step)


def with_since(rows: DataFrame, lateness: int) -> DataFrame:
    """The rows with the watermarks that they are behind, `since`: NULL of those that came in time."""
    before = Window.orderBy("element", "arrival").rowsBetween(Window.unboundedPreceding, -1)
    watermark = sf.max("ts").over(before) - sf.lit(lateness)
    return rows.withColumn("since", sf.when(sf.col("ts") < watermark, watermark))


def survey_one_by_one(rows: DataFrame) -> Survey:
    """Of rows with `since`."""
    in_time = sf.col("since").isNull()
    ((elements, least, greatest, late),) = rows.agg(
        sf.count_distinct("element"),
        sf.min(sf.when(in_time, sf.col("ts"))),
        sf.max("ts"),
        sf.count_if(~in_time),
    ).collect()
    return Survey(elements, least, greatest, late > 0)
