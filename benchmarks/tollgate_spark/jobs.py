"""Hand-written PySpark jobs, one for each query.

They rely on the data: lines in time order, literals without spaces, and no empty windows. A window is identified by its
closing instant `time` and contains `(time - width, time]`. Its content is a set: duplicate triples count once.

Measurements led to these optimisations:

- a line is split once, at its spaces: regular expressions take several times as long;
- windows are numbered by integer arithmetic: `F.window` takes longer;
- rows are partitioned by a key of later steps, the window or the car, before duplicates are removed: this and the
  grouping then need one shuffle and no aggregate before it. A join on more columns than the car shuffles again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import Window as Rows
from pyspark.sql import functions as F  # noqa: N812

from penstock.bench.limits.data import PLACED_IN, REGISTERS
from penstock.bench.tollgates.data import NAMESPACE

_REGISTERS, _PAYS = (f"<{NAMESPACE}registers>", f"<{REGISTERS}>"), f"<{NAMESPACE}pays>"


@dataclass(frozen=True, slots=True)
class Windows:
    """RANGE `width` STEP `step` in milliseconds; only windows that close after `after` and up to `until` count."""

    width: int
    step: int
    after: int
    until: int

    def first_closing(self) -> Column:
        """Of the windows that hold an element."""
        return F.expr(f"ts + {self.step - 1} - (ts + {self.step - 1}) % {self.step}")

    def closings(self) -> Column:
        """All of them, one a row."""
        first = self.first_closing()
        if self.width == self.step:
            return first
        return F.explode(F.sequence(first, first + self.width - self.step, F.lit(self.step)))

    def between(self, first: str, end: str) -> Column:
        """The wanted closing instants from the first to before the end, one a row."""
        from_, to = f"greatest({first}, {self.after + self.step})", f"least({end} - {self.step}, {self.until})"
        return F.expr(f"explode(if({from_} <= {to}, sequence({from_}, {to}, {self.step}L), array()))")

    def wanted(self) -> Column:
        return (F.col("time") > self.after) & (F.col("time") <= self.until)


Job = Callable[[DataFrame, DataFrame, Windows], DataFrame]
"""From triples `s, p, o, ts` and districts `gate, district` to an answer: `time`, and the query's variables."""


def read_triples(lines: DataFrame) -> DataFrame:
    """Lines as triples with timestamps. Terms are as they are written in the text."""
    part = F.split("value", " ")
    timestamp = F.expr("CAST(substr(stamp, 2, length(stamp) - 2) AS BIGINT)")
    return lines.select(part[0].alias("s"), part[1].alias("p"), part[2].alias("o"), part[3].alias("stamp")).select(
        "s", "p", "o", timestamp.alias("ts")
    )


def read_districts(spark: SparkSession, graph: Path) -> DataFrame:
    """The gates' districts, perhaps by way of streets, which every executor gets as a whole."""
    lines = [line.split(" ") for line in graph.read_text().splitlines()]
    streets = {gate: street for gate, predicate, street, _ in lines if predicate == f"<{PLACED_IN}>"}
    if streets:
        containing = {street: district for district, predicate, street, _ in lines if predicate != f"<{PLACED_IN}>"}
        found = [(gate, containing[street]) for gate, street in streets.items()]
    else:
        found = [(gate, district) for gate, _, district, _ in lines]
    return spark.createDataFrame(found, "gate STRING, district STRING")


def count_passages(triples: DataFrame, districts: DataFrame, windows: Windows) -> DataFrame:
    """Over windows that do not overlap."""
    passages = _passages(triples).select("gate", "car", windows.closings().alias("time")).where(windows.wanted())
    content = passages.repartition("time").distinct()
    by_gate = content.groupBy("time", "gate").agg(F.count("*").alias("passages"))
    by_district = by_gate.join(F.broadcast(districts), "gate").groupBy("time", "district")
    return by_district.agg(F.sum("passages").alias("passages"))


def count_overlapping(triples: DataFrame, districts: DataFrame, windows: Windows) -> DataFrame:
    """Over windows that overlap: a triple counts until it leaves, or until it comes again.

    So it is known without a copy for each window which of them count it. Only counts are spread over windows.
    """
    passages = _passages(triples).select("gate", "car", windows.first_closing().alias("first"))
    again = F.lead("first").over(Rows.partitionBy(F.xxhash64("gate", "car"), "gate", "car").orderBy("first"))
    until = F.least(F.col("first") + windows.width, again)  # `again` may be NULL, which `least` leaves out
    counted = passages.select("gate", "first", until.alias("until")).where("until > first")
    by_gate = counted.groupBy("gate", "first", "until").agg(F.count("*").alias("passages"))
    by_district = by_gate.join(F.broadcast(districts), "gate").groupBy("district", "first", "until")
    counts = by_district.agg(F.sum("passages").alias("passages"))
    spread = counts.select("district", "passages", windows.between("first", "until").alias("time"))
    return spread.groupBy("time", "district").agg(F.sum("passages").alias("passages"))


def find_pairs(triples: DataFrame, districts: DataFrame, windows: Windows) -> DataFrame:
    """Cars at two gates of a district."""
    content = _in_windows(_passages(triples), windows, "gate").join(F.broadcast(districts), "gate")
    others = content.withColumnRenamed("gate", "other").hint("shuffle_hash")
    return content.join(others, ["time", "car", "district"]).where(F.col("gate") != F.col("other"))


def ordered_pairs(triples: DataFrame, districts: DataFrame, windows: Windows) -> DataFrame:
    """The same, each pair once, in the order of the gates' names."""
    content = _in_windows(_passages(triples), windows, "gate").join(F.broadcast(districts), "gate")
    others = content.withColumnRenamed("gate", "other").hint("shuffle_hash")
    name, other_name = (F.expr(f"substr({gate}, 2, length({gate}) - 2)") for gate in ("gate", "other"))
    return content.join(others, ["time", "car", "district"]).where(name < other_name)


def named(job: Job, names: Mapping[str, str]) -> Job:
    """The same job, with other names for some columns."""
    return lambda triples, districts, windows: job(triples, districts, windows).withColumnsRenamed({**names})


def find_tolls(triples: DataFrame, districts: DataFrame, windows: Windows) -> DataFrame:
    """Passages with their tolls, as far as they are new: what was there a step earlier, too, is left out."""
    before = Windows(windows.width, windows.step, windows.after - windows.step, windows.until)
    passages = _in_windows(_passages(triples), before, "gate")
    paid = triples.where(F.col("p") == _PAYS).select(F.col("s").alias("car"), F.col("o").alias("toll"), "ts")
    tolls = _in_windows(paid, before, "toll")
    solutions = passages.join(tolls.hint("shuffle_hash"), ["car", "time"], "left")
    previous = F.lag("time").over(Rows.partitionBy("car", "gate", "toll").orderBy("time"))
    stepped = solutions.withColumn("previous", previous).where(windows.wanted())
    is_new = F.col("previous").isNull() | (F.col("previous") < F.col("time") - windows.step)
    return stepped.where(is_new).select("time", "gate", "car", "toll")


def _passages(triples: DataFrame) -> DataFrame:
    return triples.where(F.col("p").isin(*_REGISTERS)).select(F.col("s").alias("gate"), F.col("o").alias("car"), "ts")


def _in_windows(rows: DataFrame, windows: Windows, other: str) -> DataFrame:
    """What each window holds of a car, all of it in one partition."""
    spread = rows.select("car", other, windows.closings().alias("time")).where(windows.wanted())
    return spread.repartition("car").distinct()
