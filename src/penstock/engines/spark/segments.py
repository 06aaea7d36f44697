"""What a micro-batch brings: its rows, numbered on, and figures of each stream, observed as the rows are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pyspark.sql import Column
from pyspark.sql import functions as sf

from penstock.algebra.windows import RangeWindow
from penstock.engines.closings import ClosingReport, content
from penstock.engines.protocol import Seen

_STAMPED = """
    SELECT
      CAST(stream AS INT) AS stream, s, p, o{names}, ts,
      element, arrival, CASE WHEN ts < watermark THEN watermark END AS since, begins
    FROM (
      SELECT
        stream, s, p, o{names}, ts, begins,
        try_cast(known[4 * stream] AS BIGINT) + elements - 1 AS element,
        try_cast(known[4 * stream + 1] AS BIGINT) + place - 1 AS arrival,
        greatest(
          greatest(reached, try_cast(known[4 * stream + 2] AS BIGINT)) - :lateness,
          try_cast(known[4 * stream + 3] AS BIGINT)
        ) AS watermark
      FROM (
        SELECT
          *,
          sum(begins) OVER (
            PARTITION BY stream ORDER BY of, came ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          ) AS elements,
          split(:known, ',') AS known
        FROM (
          SELECT
            stream, s, p, o{names}, ts, element AS of, arrival AS came,
            CAST(NOT (element <=> lag(element) OVER here) AS BIGINT) AS begins,
            max(ts) OVER (
              PARTITION BY stream ORDER BY element, arrival ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS reached,
            row_number() OVER here AS place
          FROM identifier(:batch)
          WINDOW here AS (PARTITION BY stream ORDER BY element, arrival)
        )
      )
    )
"""
"""`known` is of each stream how many elements and triples there were, its greatest timestamp, and an instant reached.

One text for all batches: Java keeps the code that it has compiled, for it holds nothing of what changes.
"""


def stamped(*, is_named: bool) -> str:
    """`is_named`: with the names of elements."""
    return _STAMPED.format(names=", g" if is_named else "")


@dataclass(frozen=True, slots=True)
class Share:
    """What a segment has of a stream: how much, how much of it in time, and when.

    `least` is the first timestamp that was in time, `greatest` the last of all.
    """

    triples: int
    elements: int
    in_time: int
    least: int | None
    greatest: int

    @property
    def has_late(self) -> bool:
        return self.in_time < self.elements

    @property
    def seen(self) -> Seen:
        return Seen(self.elements, self.least, self.greatest, self.has_late)


class Closing(NamedTuple):
    """A window over a stream whose closings are told by what comes, after an instant or at all."""

    stream: str
    window: RangeWindow
    after: int | None


def figures(streams: Sequence[str], closings: Sequence[Closing], asked: Sequence[str]) -> list[Column]:
    """What a `Share` tells, of each stream, what tells when windows close, and how much there is of some predicates."""
    texts = []
    for place in range(len(streams)):
        in_time = f"stream = {place} AND since IS NULL"
        texts += [
            f"count_if(stream = {place}) AS triples_{place}",
            f"sum(CASE WHEN stream = {place} THEN begins END) AS elements_{place}",
            f"sum(CASE WHEN {in_time} THEN begins END) AS in_time_{place}",
            f"min(CASE WHEN {in_time} THEN ts END) AS least_{place}",
            f"max(CASE WHEN stream = {place} THEN ts END) AS greatest_{place}",
        ]
    found = [sf.expr(text) for text in texts]
    for number, closing in enumerate(closings):
        here = sf.col("stream") == streams.index(closing.stream)
        found.append(sf.collect_set(sf.when(here, closings_of(closing))).alias(f"told_{number}"))
    return found + counts_of_predicates(len(streams), asked)


def counts_of_predicates(streams: int, asked: Sequence[str]) -> list[Column]:
    found = []
    for place in range(streams):
        counts = [sf.count_if((sf.col("stream") == place) & (sf.col("p") == predicate)) for predicate in asked]
        found += [count.alias(f"asked_{place}_{number}") for number, count in enumerate(counts)]
    return found


def shares_of(streams: Sequence[str], found: Mapping[str, Any]) -> dict[str, Share]:
    """What was observed."""
    names = ("triples", "elements", "in_time", "least", "greatest")
    shares = {}
    for place, iri in enumerate(streams):
        triples, elements, in_time, least, greatest = (found[f"{name}_{place}"] for name in names)
        if triples:
            shares[iri] = Share(triples, elements, in_time or 0, least, greatest)
    return shares


def closings_of(closing: Closing) -> Column:
    """Of a row, the first millisecond of its step and the first closing that sees it: all that reports depend on."""
    window = closing.window
    time, step = sf.col("ts"), sf.lit(window.step)
    first = sf.lit(window.origin + window.width)
    start = sf.greatest(time, sf.col("since"))
    seen = start + sf.pmod(first - start, step)
    counts = sf.col("s").isNotNull()
    if window.begins:
        seen = sf.greatest(seen, first)
        counts &= time > window.origin
    if closing.after is not None:
        counts &= time > closing.after
    return sf.when(counts, sf.struct(time - sf.pmod(time - sf.lit(window.origin + 1), step), seen))


def closings_in(report: ClosingReport) -> set[Closing]:
    return {Closing(stream, closings.window, report.after) for stream, closings in report.closings}


def note_closings(report: ClosingReport, closing: Closing, told: Sequence[Sequence[int]]) -> None:
    times, since = zip(*told, strict=True) if told else ((), ())
    rows = content(times, since)
    for stream, closings in report.closings:
        if closing == (stream, closings.window, report.after):
            closings.note(rows)
