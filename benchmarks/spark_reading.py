"""How long Spark takes to read a stream: by a job written by hand, and by Penstock, checked and known to be ordinary.

    python benchmarks/spark_reading.py                       # a table
    python benchmarks/spark_reading.py --triples 200000      # sooner

How it is measured. The stream is one of tollgates, made by this program. For `--repeats` rounds all ways take turns;
the best round of each counts. Each reads the file on `local[2]` and makes all columns of all rows; nothing is kept. The
processor time is that of all threads of Spark's process: on a machine that is busy it says more than the clock.

What each way does. `lines` only reads the lines. `split by hand` cuts them at their spaces, without a look at what they
are; `regexp by hand` takes each column out with a regular expression. `checked` is a history of any kind: each line is
an element, however it is written, or malformed. `times` is the first look at a history: timestamps, and whether all
lines are ordinary. If they are, `ordinary` is how they are read.

`quads` is the same stream as N-Quads, a graph and a line with its time for each ten triples, as large files are read,
in SQL; `quads, whole file` is how small and compressed ones are, by the package's own reader in one task: the time that
Python takes for it is not that of Spark's process.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from penstock.sources.spark.nquads import nquads_rows
from penstock.sources.spark.whole import whole_rows
from pyoxigraph import NamedNode
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from penstock.engines.spark.session import session
from penstock.rdf.stream_reader import GENERATED_AT_TIME
from penstock.sources import open_source
from penstock.sources.spark.history import open_history
from penstock.sources.spark.lines import read_lines

_PATTERN = r'^<([^>]*)> <([^>]*)> <([^>]*)> "(-?\d+)" \.$'


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--triples", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    spark = session("local[2]")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "toll.tnt"
        write(path, arguments.triples)
        write_quads(path.with_suffix(".nq"), arguments.triples)
        measured: dict[str, list[tuple[float, float]]] = {}
        for _ in range(arguments.repeats + 1):  # the first round warms up
            for name, read in ways(spark, path).items():
                measured.setdefault(name, []).append(measure(spark, read()))
        report(measured, arguments.triples, path.stat().st_size)


def write(path: Path, triples: int) -> None:
    draw = random.Random(1)
    with path.open("w") as file:
        for time_ in range(triples):
            gate, car = draw.randrange(200), draw.randrange(50_000)
            file.write(f"<http://ex.org/gate{gate}> <http://linkedurbandata.org/traffic#registers> ")
            file.write(f'<http://ex.org/car{car}> "{time_}" .\n')


def write_quads(path: Path, triples: int) -> None:
    draw = random.Random(1)
    with path.open("w") as file:
        for time_ in range(triples):
            graph = f"<http://ex.org/graph{time_ // 10}>"
            if time_ % 10 == 0:
                file.write(f'{graph} <http://www.w3.org/ns/prov#generatedAtTime> "{time_}" .\n')
            gate, car = draw.randrange(200), draw.randrange(50_000)
            file.write(f"<http://ex.org/gate{gate}> <http://linkedurbandata.org/traffic#registers> ")
            file.write(f"<http://ex.org/car{car}> {graph} .\n")


def ways(spark: SparkSession, path: Path) -> dict[str, Callable[[], DataFrame]]:
    lines = spark.read.text(str(path))
    words = lines.select(sf.split("value", " ").alias("words"))
    columns = [sf.col("words")[place] for place in range(3)]
    history, quads = open_history(spark, path, scope="toll"), path.with_suffix(".nq")
    return {
        "lines": lambda: lines,
        "split by hand": lambda: words.select(*columns, sf.regexp_replace(sf.col("words")[3], '"', "").cast("bigint")),
        "regexp by hand": lambda: lines.select(*(sf.regexp_extract("value", _PATTERN, group) for group in range(1, 5))),
        "checked": history.rows,
        "times": lambda: history.times().agg(sf.min("ts"), sf.max("arrival"), sf.max("is_odd")),
        "ordinary": history.ordinary_rows,
        "quads": lambda: nquads_rows(read_lines(spark, {0: quads}), "toll", NamedNode(GENERATED_AT_TIME)),
        "quads, whole file": lambda: whole_rows(spark, {0: open_source(quads, scope="toll")}),
    }


def measure(spark: SparkSession, frame: DataFrame) -> tuple[float, float]:
    """Seconds by the clock, and of the processor."""
    wall, processor = time.perf_counter(), processor_time(spark)
    frame.write.format("noop").mode("overwrite").save()
    return time.perf_counter() - wall, processor_time(spark) - processor


def processor_time(spark: SparkSession) -> float:
    """Of Spark's process, as Linux tells it."""
    pid = spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid()
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def report(measured: dict[str, list[tuple[float, float]]], triples: int, size: int) -> None:
    print(f"{'':22}{'lines/s':>12}{'MB/s':>8}{'CPU µs/line':>14}")
    for name, rounds in measured.items():
        wall = min(wall for wall, _ in rounds[1:])
        processor = min(processor for _, processor in rounds[1:])
        print(f"{name:22}{triples / wall:>12,.0f}{size / wall / 1e6:>8.0f}{processor / triples * 1e6:>14.2f}")


if __name__ == "__main__":
    main()
