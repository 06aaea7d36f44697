"""A look without Spark tells of lines what Spark tells."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession
from tests.rdf.collected import write
from tests.rdf.lines import LINE
from tests.sources.spark.test_history import EVERY_KIND, mutated

from penstock.sources.spark import looking
from penstock.sources.spark.history import open_history
from penstock.sources.spark.looking import Look, Steps, look_at

TENTHS = Steps(origin=-1, step=10)


def look(*paths: Path) -> Look | None:
    return look_at(paths, [TENTHS], 2)


def lines(*times: int, end: str = "\n") -> str:
    return "".join(f'<http://ex.org/s{time}> <urn:p> "{time}" "{time}" .{end}' for time in times)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("block", [1, 100, 1 << 22])
def test_times_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str, block: int) -> None:
    monkeypatch.setattr(looking, "_BLOCK", block)
    first = write(tmp_path / "a.tnt", lines(-25, -7, -7, 0, 12, 19, 11, end=end))
    second = write(tmp_path / "b.tnt", lines(14, 10**18 - 1, end=end).removesuffix(end))
    assert look(first, write(tmp_path / "empty.tnt", ""), second) == Look(
        9, -25, 10**18 - 1, behind=8, firsts={TENTHS: {-3: -25, -1: -7, 0: 0, 1: 11, 10**17 - 1: 10**18 - 1}}
    )


def test_files_that_are_behind_others(tmp_path: Path) -> None:
    files = [write(tmp_path / f"{name}.tnt", lines(*times)) for name, times in (("a", [5, 9]), ("b", [3]))]
    assert look(*files) == Look(3, 3, 9, behind=6, firsts={TENTHS: {0: 3}})


def test_nothing_to_look_at(tmp_path: Path) -> None:
    assert look(write(tmp_path / "a.tnt", "")) == Look(firsts={TENTHS: {}})


def test_what_is_ordinary_is_what_spark_says(spark: SparkSession, tmp_path: Path) -> None:
    draw = Random(1)
    told = [*EVERY_KIND, *('<http://ex.org/s> <http://ex.org/p#q> <http://ex.org/o> "1" .',) * 30, *[LINE] * 30]
    texts = [mutated(line, draw) for line in told * 3] + [line.encode() for line in told]
    path = write(tmp_path / "a.tnt", b"\n".join(texts))
    expected = [not row.is_odd for row in open_history(spark, path, scope="s").times().orderBy("arrival").collect()]
    found = [look(write(tmp_path / "one.tnt", text)) is not None for text in texts]
    assert 50 < sum(expected) < len(texts) - 50
    assert [text for text, mine, its in zip(texts, found, expected, strict=True) if text and mine != its] == []
