"""Terms in DataFrames, which Spark SQL reads, are those of the readers of files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.rdf.collected import write
from tests.rdf.lines import ODD_TERMS, ORDINARY_TERMS, WRONG_TERMS, triples_with
from tests.sources.collected import read

from penstock.sources.spark.frames import encoded

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TRIPLES = [triple for term in ORDINARY_TERMS + ODD_TERMS + WRONG_TERMS for triple in triples_with(term)]


def test_terms_of_every_kind(spark: SparkSession, tmp_path: Path) -> None:
    rows = [(*triple, time) for time, triple in enumerate(TRIPLES)]
    frame = spark.createDataFrame(rows, "s string, p string, o string, ts bigint")
    found = [row for row in encoded(frame, "frame", "s").collect() if row.wrong is None]
    lines = [f'{subject} {predicate} {object_} "{time}" .' for subject, predicate, object_, time in rows]
    expected = read(write(tmp_path / "a.tnt", "\n".join(lines)), scope="s")
    right = [(row.ts, ((row.s, row.p, row.o),)) for row in found]
    assert {rows[time] for time, _ in set(right) ^ set(expected.elements)} == set()
    assert sorted(right) == expected.elements
    assert len(found) > 80
