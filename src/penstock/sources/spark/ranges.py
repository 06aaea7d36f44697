"""Sources that executors read in Python, with the readers of the embedded engine.

A file of lines is cut into ranges of whole lines. Compressed files and other formats are one range each. A DataFrame
reads its ranges when Spark runs it; a task reads some of them.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TypeGuard, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from penstock.rdf.compression import uncompressed_name
from penstock.sources.batches import Batch, Source
from penstock.sources.files import TntFile
from penstock.sources.spark.decoded import kept_tables, with_numbered_terms
from penstock.sources.spark.rows import ARROW_NAMED_ROWS, ARROW_ROWS, NUMBERS_PER_FILE

_TASKS_PER_CORE, _PARTS_PER_TASK, _MOST_TASKS = 4, 4, 1000
"""A task takes a third of the time of reading a range to start, so it reads some. More cores may join later."""

_LEAST_BYTES = 4 << 20
"""A range of fewer bytes takes longer to start than to read."""

_MOST_BYTES = 32 << 20
"""A slice of instants reads whole ranges: of larger ones it would read much that it does not need."""

_COUNTED_BYTES = 1 << 24

Part = TypeVar("Part")


@dataclass(frozen=True, slots=True)
class Range:
    """A part of a source, with the number of its file: the lines between two bytes, or the whole file.

    `line` is the number of the first line, which only messages about malformed lines need (`with_line_numbers`).
    `decoded` is the file for its decoded rows (`decoded.py`).
    """

    place: int
    source: Source
    start: int = 0
    end: int | None = None
    line: int = 1
    decoded: Path | None = None

    def tables(self) -> Iterator[pa.Table]:
        """Its rows with numbered terms (`decoded.py`), which are decoded if they have not been kept."""
        kept = kept_tables(self.decoded)
        return (with_numbered_terms(batch.table) for batch in self.batches()) if kept is None else kept

    def batches(self) -> Iterator[Batch]:
        if self.end is None:
            return self.source.batches()
        assert isinstance(self.source, TntFile)
        return self.source.batches({"offset": self.start, "line": self.line}, self.end)

    @property
    def first_number(self) -> int:
        """Greater than any number of an earlier range: a range has fewer elements and triples than bytes."""
        return self.place * NUMBERS_PER_FILE + self.start


def cut_sources(spark: SparkSession, sources: Mapping[int, Source]) -> list[Range]:
    """The ranges of sources, in order; the keys are the numbers of the sources."""
    lines = {place: source.path for place, source in sources.items() if _has_lines(source)}
    most = bytes_per_range(spark, lines.values())
    ranges: list[Range] = []
    for place, source in sources.items():
        if place in lines:
            # A byte order mark is only before the first line
            ranges += (Range(place, source, *ends, 1 + bool(ends[0])) for ends in cut_lines(lines[place], most))
        else:
            ranges.append(Range(place, source))
    return ranges


def with_decoded(ranges: Sequence[Range], folder: Path) -> list[Range]:
    """The same ranges of a stream, with files in a folder of its own for their decoded rows."""
    return [replace(part, decoded=folder / f"{number}.arrow") for number, part in enumerate(ranges)]


def _has_lines(source: Source) -> TypeGuard[TntFile]:
    return isinstance(source, TntFile) and is_plain(source.path)


def is_plain(path: Path) -> bool:
    """Whether a file is not compressed."""
    return uncompressed_name(path) == path


def bytes_per_range(spark: SparkSession, files: Iterable[Path]) -> int:
    """A range for each core, but neither too large nor too small, nor larger than Spark's own."""
    size = sum(file.stat().st_size for file in files)
    most: int = spark._jsparkSession.sessionState().conf().filesMaxPartitionBytes()
    return min(most, _MOST_BYTES, max(_LEAST_BYTES, size // spark.sparkContext.defaultParallelism))


def cut_lines(path: Path, size: int) -> Iterator[tuple[int, int]]:
    """The bounds of ranges of about this size, each with whole lines."""
    whole = path.stat().st_size
    if not whole:
        return
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as text:
        start = 0
        while start < whole:
            end = text.find(b"\n", start + size - 1) + 1 or whole
            yield start, end
            start = end


def with_line_numbers(ranges: Iterable[Range]) -> list[Range]:
    """The same ranges, with the number of lines before each."""
    of_files: dict[int, list[Range]] = defaultdict(list)
    for part in ranges:
        of_files[part.place].append(part)
    return [counted for parts in of_files.values() for counted in _counted(parts)]


def _counted(parts: Sequence[Range]) -> Iterator[Range]:
    source, line, counted = parts[0].source, 1, 0
    if not isinstance(source, TntFile):
        yield from parts
        return
    with source.path.open("rb") as file:
        for part in parts:
            while counted < part.start and (text := file.read(min(_COUNTED_BYTES, part.start - counted))):
                line += int(np.count_nonzero(np.frombuffer(text, np.uint8) == ord("\n")))
                counted += len(text)
            yield replace(part, line=line)


def read_in_executors(
    spark: SparkSession, parts: Sequence[Part], read: Callable[[Part], Iterable[pa.RecordBatch]], schema: str
) -> DataFrame:
    """The results of `read` for each part, in order, computed by executors.

    Spark sends the parts with the function; the rows contain only their numbers.
    """
    folder = Path.cwd()

    def read_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if folder.is_dir():  # a file may have another name there
            os.chdir(folder)
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from read(parts[number])

    tasks = count_tasks(len(parts), spark.sparkContext.defaultParallelism)
    return spark.range(0, len(parts), 1, tasks).mapInArrow(read_batches, schema)


def count_tasks(parts: int, cores: int) -> int:
    """The number of tasks for some parts: a few for each core, and each with a few parts if there are many."""
    return max(1, min(parts, _MOST_TASKS, max(_TASKS_PER_CORE * cores, -(-parts // _PARTS_PER_TASK))))


def numbered_tables(
    batches: Iterable[Batch], first: int = 0, *, is_named: bool = False
) -> Iterator[pa.Table]:  # fmt: skip
    """The rows of batches, with numbers from the first one on."""
    element = arrival = first
    for batch in batches:
        table = batch.table
        numbers = pa.arange(arrival, arrival + table.num_rows)
        columns = [*table.columns[:4], pc.add(table["element"], element), numbers]
        if is_named:
            has_names = "g" in table.column_names
            columns.append(table["g"] if has_names else pa.nulls(table.num_rows, pa.string()))
        yield pa.table(columns, schema=ARROW_NAMED_ROWS if is_named else ARROW_ROWS)
        element += batch.elements
        arrival += table.num_rows
