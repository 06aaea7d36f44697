"""The survey of a complete stream before it is answered: when it begins and ends, and which elements are late.

Executors survey ranges of files, all at the same time, each as if it were the beginning of the stream. The results are
right unless an element in a range is late behind earlier ranges; such a range is surveyed again, with the greatest
timestamp before it.

The rows of a DataFrame have no such ranges. A late element counts from the watermark on that it was behind
(semantics.md §2). This makes no difference unless an evaluation instant lies between. So if a window that closes step
by step determines the instants, it is enough to check each step: the first and the last of its elements in order of
arrival. Otherwise the elements are sorted one by one.
"""

from __future__ import annotations

import pickle
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as sf

from penstock.algebra.windows import RangeWindow
from penstock.engines.arrivals import stamped
from penstock.engines.closings import Closings, content
from penstock.engines.protocol import Reached, Seen
from penstock.sources.spark.decoded import Keeping
from penstock.sources.spark.ranges import Range, numbered_tables, read_in_executors
from penstock.sources.spark.rows import NAMED_ROWS, ROWS


@dataclass(frozen=True, slots=True)
class Survey:
    """`seen` is in the form that stores report; an empty stream has no timestamps."""

    seen: Seen
    closings: Mapping[RangeWindow, Closings] = field(default_factory=dict)
    """The closing instants of windows with content, as far as they are known."""


@dataclass(slots=True)
class RangeSurvey:
    """The statistics of a range, if `reached` is the greatest timestamp before it."""

    reached: int | None
    closings: dict[RangeWindow, Closings]
    elements: int = 0
    triples: int = 0
    malformed: int = 0
    earliest: int | None = None
    """The least timestamp."""
    least: int | None = None
    """The least timestamp in time."""
    greatest: int | None = None
    has_late: bool = False

    def note(self, rows: pa.Table, seen: Seen) -> None:
        self.elements += seen.elements
        self.triples += rows.num_rows
        self.earliest = _least(self.earliest, pc.min(rows["ts"]).as_py())
        self.least = _least(self.least, seen.least)
        self.greatest = _greatest(self.greatest, seen.greatest)
        self.has_late = self.has_late or seen.has_late
        for closings in self.closings.values():
            closings.note(rows)

    def has_between(self, oldest: int, last: int) -> bool:
        """Whether the range may contain timestamps between the two."""
        if self.earliest is None or self.greatest is None:
            return False
        return self.greatest >= oldest and self.earliest <= last

    def share(self, oldest: int, last: int) -> float:
        """The estimated number of triples with timestamps between the two, if they are spread evenly."""
        if self.earliest is None or self.greatest is None or not self.has_between(oldest, last):
            return 0
        covered = min(last, self.greatest) - max(oldest, self.earliest) + 1
        return self.triples * max(0, covered) / (self.greatest - self.earliest + 1)

    def holds(self, reached: int | None, lateness: int) -> bool:
        """Whether the survey is right for another greatest timestamp before it: no element is late behind that."""
        return reached == self.reached or None in (reached, self.earliest) or self.earliest >= reached - lateness  # type: ignore[operator]


def survey_ranges(
    spark: SparkSession, ranges: Sequence[Range], windows: Collection[RangeWindow], lateness: int
) -> list[RangeSurvey]:
    """The surveys of ranges, in order; each has the greatest timestamp before it."""
    surveys = _surveyed(spark, [(part, None) for part in ranges], windows, lateness)
    reached = _reached(surveys)
    wrong = [n for n, survey in enumerate(surveys) if not survey.holds(reached[n], lateness)]
    again = _surveyed(spark, [(ranges[n], reached[n]) for n in wrong], windows, lateness) if wrong else []
    for number, survey in zip(wrong, again, strict=True):
        surveys[number] = survey
    for survey, before in zip(surveys, reached, strict=True):
        survey.reached = before
    return surveys


def survey_of(surveys: Sequence[RangeSurvey], windows: Collection[RangeWindow]) -> Survey:
    """The surveys of all ranges of a stream as one."""
    closings = {window: Closings(window) for window in windows}
    whole = Seen(0, None, None, False)
    for survey in surveys:
        whole = Seen(
            whole.elements + survey.elements,
            _least(whole.least, survey.least),
            _greatest(whole.greatest, survey.greatest),
            whole.has_late or survey.has_late,
        )
        for window, found in closings.items():
            found.add(survey.closings[window])
    return Survey(whole, closings)


_Part = tuple[Range, int | None]
"""A range, and the greatest timestamp before it."""


def surveyed_ranges(
    spark: SparkSession, parts: Sequence[_Part], windows: Collection[RangeWindow], lateness: int
) -> DataFrame:
    """A pickled `RangeSurvey` for each range.

    Pickle is safe here: executors receive the function that makes the surveys in the same form, and what they return is
    one object for each range, computed by this function; no content of a stream is ever unpickled.
    """
    read = partial(_survey, windows=list(windows), lateness=lateness)
    return read_in_executors(spark, parts, read, "survey binary")


def _surveyed(
    spark: SparkSession, parts: Sequence[_Part], windows: Collection[RangeWindow], lateness: int
) -> list[RangeSurvey]:
    found = surveyed_ranges(spark, parts, windows, lateness).toArrow()
    return [pickle.loads(survey) for survey in found["survey"].to_pylist()]


def _survey(part: _Part, windows: Sequence[RangeWindow], lateness: int) -> Iterator[pa.RecordBatch]:
    source, reached = part
    survey = RangeSurvey(reached, {window: Closings(window) for window in windows})
    with Keeping(source.decoded) as keeping:
        for batch in source.batches():
            survey.malformed += len(batch.malformed)
            if batch.table.num_rows:
                keeping.write(batch.table)
                survey.note(*stamped(batch.table, Reached(_greatest(reached, survey.greatest)), lateness))
    yield pa.record_batch({"survey": [pickle.dumps(survey)]})


def _reached(surveys: Sequence[RangeSurvey]) -> list[int | None]:
    """The greatest timestamp before each range."""
    reached: list[int | None] = [None]
    for survey in surveys:
        reached.append(_greatest(reached[-1], survey.greatest))
    return reached[:-1]


def stamped_rows(
    spark: SparkSession, ranges: Sequence[Range], surveys: Sequence[RangeSurvey], lateness: int, *, is_named: bool
) -> DataFrame:
    """The rows of ranges (`rows.ROWS`) with `since`: the watermark that a late row is behind, NULL for one in time."""
    parts = [(part, survey.reached) for part, survey in zip(ranges, surveys, strict=True) if survey.triples]
    schema = f"{NAMED_ROWS if is_named else ROWS}, since bigint"
    return read_in_executors(spark, parts, partial(_stamp, lateness=lateness, is_named=is_named), schema)


def _stamp(part: _Part, lateness: int, is_named: bool) -> Iterator[pa.RecordBatch]:
    source, reached = part
    for table in numbered_tables(source.batches(), source.first_number, is_named=is_named):
        if table.num_rows:
            rows, seen = stamped(table, Reached(reached), lateness)
            reached = _greatest(reached, seen.greatest)
            yield from rows.to_batches()


def _least(one: int | None, other: int | None) -> int | None:
    return min((time for time in (one, other) if time is not None), default=None)


def _greatest(one: int | None, other: int | None) -> int | None:
    return max((time for time in (one, other) if time is not None), default=None)


def survey_by_steps(rows: DataFrame, window: RangeWindow, lateness: int) -> Survey | None:
    """For rows with `s`, `ts` and `arrival`; None if an element may have arrived too late for an instant."""
    grouped = rows.groupBy(_period(sf.col("ts"), window).alias("period")).agg(
        sf.min("ts").alias("least"),
        sf.max("ts").alias("greatest"),
        sf.min("arrival").alias("first"),
        sf.max("arrival").alias("last"),
        sf.min(sf.when(sf.col("s").isNotNull(), sf.col("ts"))).alias("first_triple"),
        sf.count("*").alias("triples"),
    )
    found = grouped.toArrow().sort_by("period")
    closings = Closings(window)
    if not found.num_rows:
        return Survey(Seen(0, None, None, False), {window: closings})
    periods, first, last = (found[name].to_pylist() for name in ("period", "first", "last"))
    if _may_be_late(periods, first, last, max(1, lateness // window.step)):
        return None
    closings.note(content(found["first_triple"].drop_null().to_pylist()))
    triples, least, greatest = pc.sum(found["triples"]), pc.min(found["least"]), pc.max(found["greatest"])
    seen = Seen(triples.as_py(), least.as_py(), greatest.as_py(), False)
    return Survey(seen, {window: closings})


def _may_be_late(periods: Sequence[int], first: Sequence[int], last: Sequence[int], distance: int) -> bool:
    """Whether an element of a period arrived after an element of a period that is this far ahead."""
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
    """The number of the step of a time: the same instants see all elements of a step."""
    since_origin = time - sf.lit(window.origin + 1)
    step = sf.lit(window.step)
    return sf.call_function("div", since_origin - sf.pmod(since_origin, step), step)


def with_since(rows: DataFrame, lateness: int) -> DataFrame:
    """The rows with the watermarks that they are behind, `since`: NULL for rows in time."""
    before = Window.orderBy("element", "arrival").rowsBetween(Window.unboundedPreceding, -1)
    watermark = sf.max("ts").over(before) - sf.lit(lateness)
    return rows.withColumn("since", sf.when(sf.col("ts") < watermark, watermark))


def survey_one_by_one(rows: DataFrame) -> Survey:
    """For rows with `since`."""
    in_time = sf.col("since").isNull()
    ((elements, least, greatest, late),) = rows.agg(
        sf.count_distinct("element"),
        sf.min(sf.when(in_time, sf.col("ts"))),
        sf.max("ts"),
        sf.count_if(~in_time),
    ).collect()
    return Survey(Seen(elements, least, greatest, late > 0))
