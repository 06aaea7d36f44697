"""Lines of text files, numbered in the order of the input, whatever partitions Spark makes of the files."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import reduce
from mmap import ACCESS_READ, mmap
from pathlib import Path
from urllib.parse import unquote, urlparse

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from penstock.rdf.limits import LONGEST_LINE
from penstock.sources.spark.rows import NUMBERS_PER_FILE
from penstock.sources.spark.terms import map_of

_WITHIN_PARTITION = (1 << 33) - 1
"""The bits of `monotonically_increasing_id` that count the rows of a partition."""

_WITHIN = f"(monotonically_increasing_id() & {_WITHIN_PARTITION})"

_WITHIN_FILE = f"(input_file_block_start() + {_WITHIN})"
"""A number that grows from line to line of a file.

Spark packs parts of files into partitions in an order of its own. The lines of a part are fewer than its bytes, so
where the part begins in its file plus how many lines came before in its partition grows along the file.
"""

_PLAIN = re.compile(r"[A-Za-z0-9/.-][A-Za-z0-9_/.-]*")


def can_split(path: Path) -> bool:
    """Whether Spark reads the file by its name and in parts: it takes `*`, `[`, `{` for patterns, and `_` for hidden.

    What is compressed is read as a whole, wherever it is read; and so is what has a line that is too long, of which
    Spark would make a text.
    """
    is_plain = path.suffix.lower() not in (".gz", ".bz2", ".zst") and all(_PLAIN.fullmatch(part) for part in path.parts)
    return is_plain and not _has_long_line(path)


def _has_long_line(path: Path) -> bool:
    """Only the bytes before each line end that is looked for are read."""
    size = path.stat().st_size
    if size <= LONGEST_LINE:
        return False
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as text:
        start = 0
        while size - start > LONGEST_LINE:
            end = text.rfind(b"\n", start, start + LONGEST_LINE + 1)
            if end < 0:
                return True
            start = end + 1
    return False


def read_lines(spark: SparkSession, files: Mapping[int, Path]) -> DataFrame:
    """`value`, `number` and `file` of each line of some files, which are given by their places in the source."""
    lines = _texts(spark, files.values())
    if len(files) == 1:  # one text for Java, where columns would be dozens of calls
        number = f"{next(iter(files)) * NUMBERS_PER_FILE}L + {_WITHIN_FILE}"
        return lines.selectExpr("value", f"{number} AS number", "input_file_name() AS file")
    return lines.select("value", _number(lines, files).alias("number"), sf.input_file_name().alias("file"))


def counted_lines(spark: SparkSession, files: Collection[Path]) -> DataFrame:
    """`value` of each line of a few small files, all in one part, counted from 0 (`number`) in the order of the files.

    Read together, Spark would begin with the largest of them.
    """
    lines = reduce(DataFrame.unionAll, (_texts(spark, [file]) for file in files)).coalesce(1)
    return lines.selectExpr("value", f"{_WITHIN} AS number")


def with_places(spark: SparkSession, files: Mapping[int, Path]) -> DataFrame:
    """`value` of each line, and its `place`: `file:line`, as the files are named. A first job counts the lines."""
    lines = _texts(spark, files.values())
    parts = lines.selectExpr(
        "value", "input_file_name() AS file", "input_file_block_start() AS start", f"{_WITHIN} AS within"
    )
    counted = (
        parts.groupBy("file", "start").agg(sf.count("*").alias("lines"), sf.min("within").alias("first")).collect()
    )
    name_of = {path.resolve(): str(path) for path in files.values()}
    before: dict[str, int] = {}
    offsets = []
    for file, start, count, first in sorted(map(tuple, counted)):
        offsets.append((file, start, name_of[_path(file)], before.get(file, 0) - first + 1))
        before[file] = before.get(file, 0) + count
    known = spark.createDataFrame(offsets, "file string, start bigint, name string, first bigint")
    numbered = parts.join(sf.broadcast(known), ["file", "start"])
    return numbered.select("value", sf.concat("name", sf.lit(":"), sf.col("first") + sf.col("within")).alias("place"))


def with_inner_ends(spark: SparkSession, files: Mapping[int, Path]) -> set[int]:
    """The files in which a line has a carriage return that is not at its end: to N-Quads it ends a line as well."""
    lines = read_lines(spark, files).where(sf.rtrim(sf.col("value"), sf.lit("\r")).contains("\r"))
    ((found,),) = lines.agg(sf.collect_set(place_of_number())).collect()
    return set(found)


def _texts(spark: SparkSession, files: Collection[Path]) -> DataFrame:
    """Only a newline ends a line: other characters that Java takes for one may stand in literals."""
    return spark.read.option("lineSep", "\n").text([path.resolve().as_uri() for path in files])


def place_of_number() -> Column:
    """The place of the file that a numbered line is in."""
    return sf.shiftright("number", NUMBERS_PER_FILE.bit_length() - 1)


def _number(lines: DataFrame, files: Mapping[int, Path]) -> Column:
    """A number that grows from line to line of several files."""
    place_of = {path.resolve(): place for place, path in files.items()}
    starts = {name: place_of[_path(name)] * NUMBERS_PER_FILE for name in lines.inputFiles()}
    start = map_of({name: str(number) for name, number in starts.items()})[sf.input_file_name()]
    return start.cast("bigint") + sf.expr(_WITHIN_FILE)


def _path(name: str) -> Path:
    return Path(unquote(urlparse(name).path))
