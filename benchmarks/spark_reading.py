"""The time to read a stream on Spark: by a hand-written job, and by Penstock.

    python benchmarks/spark_reading.py                       # a table
    python benchmarks/spark_reading.py --triples 200000      # faster

How it is measured. The program generates a stream of tollgates. All ways take turns for `--repeats` rounds; the best
round of each counts. Each reads the file on `local[2]` and computes all columns of all rows; nothing is stored. The
processor time is that of all threads of the Spark process, which is more reliable on a busy machine.

`lines` only reads the lines. `split by hand` splits them at spaces; `regexp by hand` extracts each column with a
regular expression. `rows` is a history: executors read ranges of the file in Python, check every line, and pass the
rows to Spark. `survey` is the first pass over a history: timestamps, and whether anything is late or malformed; no row
leaves the executors.

`quads` is the same stream as N-Quads, with a graph and a line for its time for each ten triples, read by one task.

The processor time of the Spark process does not include the time of Python workers.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from penstock.engines.spark.session import session
from penstock.engines.spark.survey import surveyed_ranges
from penstock.sources import open_source
from penstock.sources.spark.history import history_of

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
    history, quads = history_of(spark, open_source(path, scope="toll")), path.with_suffix(".nq")
    return {
        "lines": lambda: lines,
        "split by hand": lambda: words.select(*columns, sf.regexp_replace(sf.col("words")[3], '"', "").cast("bigint")),
        "regexp by hand": lambda: lines.select(*(sf.regexp_extract("value", _PATTERN, group) for group in range(1, 5))),
        "rows": history.rows,
        "survey": lambda: surveyed_ranges(spark, [(part, None) for part in history.ranges], [], 0),
        "quads": history_of(spark, open_source(quads, scope="toll")).rows,
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
