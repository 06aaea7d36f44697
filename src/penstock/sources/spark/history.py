"""Bounded streams on Spark: files and folders of any size, read where Spark reads them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path

from pyoxigraph import NamedNode
from pyspark.sql import DataFrame, SparkSession

from penstock.rdf.errors import SourceError
from penstock.sources.batches import Source
from penstock.sources.files import OneAfterAnother, TntFile
from penstock.sources.opening import open_source
from penstock.sources.spark.lines import can_split, counted_lines, read_lines, with_inner_ends, with_places
from penstock.sources.spark.looking import Look, Steps, look_at
from penstock.sources.spark.nquads import malformed_graphs, malformed_lines, nquads_rows
from penstock.sources.spark.rows import named
from penstock.sources.spark.tnt import malformed_tnt, ordinary_rows, rows_if_ordinary, times_of_lines, tnt_rows
from penstock.sources.spark.whole import malformed_in_whole, whole_rows
from penstock.sources.timed_graphs import NQuadsFile


@dataclass(frozen=True, slots=True)
class History:
    """A stream that is all there. No rows are read before somebody asks for them."""

    spark: SparkSession
    scope: str
    by_lines: Mapping[int, Path]
    by_quads: Mapping[int, NQuadsFile]
    as_a_whole: Mapping[int, Source]
    _read: list[DataFrame] = field(default_factory=list, init=False)

    @property
    def _lines(self) -> DataFrame:
        """To find the files takes Spark some time."""
        if not self._read:
            self._read.append(read_lines(self.spark, self.by_lines))
        return self._read[0]

    def rows(self, *, is_named: bool = False) -> DataFrame:
        """A row for each triple (`rows.ROWS`), in no order of its own: `arrival` and `element` tell the order.

        `is_named`: with the names of elements (`rows.NAMED_ROWS`).
        """
        parts = []
        if self.by_lines:
            parts.append(named(tnt_rows(self._lines, self.scope), is_named))
        if self.by_quads:
            lines = read_lines(self.spark, _paths(self.by_quads))
            predicate = _time_predicate(self.by_quads)
            parts.append(nquads_rows(lines, self.scope, predicate, is_named=is_named))
        if self.as_a_whole:
            parts.append(whole_rows(self.spark, self.as_a_whole, is_named=is_named))
        return _together(parts)

    @property
    def is_of_lines(self) -> bool:
        return not self.by_quads and not self.as_a_whole

    def look(self, steps: Collection[Steps]) -> Look | None:
        """Of lines, all of which are ordinary: what is told without Spark, on the machine that has the files."""
        return look_at(self.by_lines.values(), steps, self.spark.sparkContext.defaultParallelism)

    def times(self) -> DataFrame:
        """Of lines: what is soon told of them (`tnt.times_of_lines`)."""
        return times_of_lines(self._lines)

    def ordinary_rows(self) -> DataFrame:
        """The rows of lines none of which is odd, sooner."""
        return ordinary_rows(self._lines)

    def counted_rows(self) -> DataFrame:
        """Of a few lines, none of which is odd: sooner still, and counted from 0."""
        return ordinary_rows(counted_lines(self.spark, self.by_lines.values()))

    def rows_if_ordinary(self) -> DataFrame:
        """Of lines: their rows, sooner, as long as each has a `ts`; where one has none, some line is odd."""
        return rows_if_ordinary(self._lines)

    def malformed(self) -> DataFrame:
        """What is not part of the stream (`rows.MALFORMED`): where it stands, the text, and the reason."""
        parts = []
        if self.by_lines:
            parts.append(malformed_tnt(with_places(self.spark, self.by_lines), self.scope))
        if self.by_quads:
            paths, predicate = _paths(self.by_quads), _time_predicate(self.by_quads)
            names = {place: file.name for place, file in self.by_quads.items()}
            parts.append(malformed_lines(with_places(self.spark, paths), self.scope))
            parts.append(malformed_graphs(read_lines(self.spark, paths), self.scope, predicate, names))
        if self.as_a_whole:
            parts.append(malformed_in_whole(self.spark, self.as_a_whole))
        return _together(parts)


def open_history(spark: SparkSession, text: str | Path, *, scope: str) -> History:
    """The bounded source that a text names, as `open_source` takes it: a file or a folder, in any format.

    Lines of `.tnt`, and of N-Quads where there are many, are read in parts, wherever Spark has room; other formats, and
    compressed files, each as a whole.

    Raises `SourceError` where there is nothing to read.
    """
    source = open_source(text, scope=scope)
    if source.is_live:
        raise SourceError(f"{text}: this is no history, for it comes as it comes: name a file or folder")
    return history_of(spark, source, scope=scope)


def history_of(spark: SparkSession, source: Source, *, scope: str) -> History:
    """A bounded source of files."""
    parts = [part for _, part in source.files] if isinstance(source, OneAfterAnother) else [source]
    places = dict(enumerate(parts))
    by_lines = {
        place: part.path for place, part in places.items() if isinstance(part, TntFile) and can_split(part.path)
    }
    by_quads = {place: part for place, part in places.items() if isinstance(part, NQuadsFile) and _is_large(part.path)}
    for place in with_inner_ends(spark, _paths(by_quads)) if by_quads else ():
        del by_quads[place]
    rest = {place: part for place, part in places.items() if place not in by_lines and place not in by_quads}
    return History(spark, scope, by_lines, by_quads, rest)


def _is_large(path: Path) -> bool:
    return can_split(path) and path.stat().st_size > _ONE_PART


_ONE_PART = 128 << 20
"""So many bytes Spark reads in one part. N-Quads that are not more are read sooner as a whole, by columns."""


def _paths(files: Mapping[int, NQuadsFile]) -> dict[int, Path]:
    return {place: file.path for place, file in files.items()}


def _time_predicate(files: Mapping[int, NQuadsFile]) -> NamedNode:
    """The same for all files of a source."""
    return next(iter(files.values())).time_predicate


def _together(parts: Sequence[DataFrame]) -> DataFrame:
    return reduce(DataFrame.unionAll, parts)
