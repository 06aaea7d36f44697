"""Micro-batches that are too large for the driver: executors decode them, number them and write the segment."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from penstock.engines.protocol import Reached
from penstock.engines.spark.window_log import Share, WindowLog

_VIEW = "penstock_large_batch"

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
"""`known` contains, for each stream, the number of elements and triples so far, its greatest timestamp, and an instant
that its readers have reached. `begins` is 1 for the first row of an element.
"""

_SHARES = {
    "triples": "count(*)",
    "elements": "sum(begins)",
    "in_time": "sum(CASE WHEN since IS NULL THEN begins ELSE 0 END)",
    "least": "min(CASE WHEN since IS NULL THEN ts END)",
    "greatest": "max(ts)",
    "bytes": "sum(coalesce(length(s) + length(p) + length(o), 0) + 48)",
}


def write_large(
    log: WindowLog, number: int, rows: DataFrame, reached: Mapping[str, Reached], lateness: int
) -> tuple[str, dict[str, dict[str, int]]] | None:
    """Append the rows of a batch as one segment: its name, and the count of each predicate in each stream.

    None if there are no rows. Rows have the number of their stream (`stream`), s, p, o, ts, and numbers `element` and
    `arrival` that grow in the order of the input; and `g`, if names of elements are kept. A first job writes the
    segment, a second one counts its rows.
    """
    session, segment = rows.sparkSession, log.next_segment(number)
    path = str(log.path(segment))
    known: list[int | None] = []
    for iri, stream in log.streams.items():
        before = reached.get(iri, Reached())
        known += [stream.elements, stream.arrived, before.greatest, before.evaluated]
    values = ",".join("" if value is None else str(value) for value in known)
    rows.createOrReplaceTempView(_VIEW)
    text = _STAMPED.format(names=", g" if "g" in rows.columns else "")
    stamped = session.sql(text, {"batch": _VIEW, "known": values, "lateness": lateness})
    stamped.write.mode("overwrite").parquet(path)
    session.catalog.dropTempView(_VIEW)
    figures = [sf.expr(figure).alias(name) for name, figure in _SHARES.items()]
    found = session.read.parquet(path).groupBy("stream", "p").agg(*figures).collect()
    shares: dict[str, dict[str, int]] = {}
    parts: dict[str, list[Share]] = {}
    iris = list(log.streams)
    for place, predicate, *part in found:
        parts.setdefault(iris[place], []).append(Share(*part))
        counts = shares.setdefault(iris[place], {})
        if predicate is not None:
            counts[predicate] = part[0]
    if not parts:
        return None
    for iri, counts in shares.items():
        log.streams[iri].note(counts)
    log.count(segment, {iri: _together(of) for iri, of in parts.items()})
    return segment, shares


def _together(parts: list[Share]) -> Share:
    least = [part.least for part in parts if part.least is not None]
    triples, elements, in_time = (sum(getattr(p, n) for p in parts) for n in ("triples", "elements", "in_time"))
    greatest, size = max(part.greatest for part in parts), sum(part.bytes for part in parts)
    return Share(triples, elements, in_time, min(least, default=None), greatest, size)
