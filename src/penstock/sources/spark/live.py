"""Streams that go on, for Structured Streaming: folders that grow, and whatever rows Spark itself can stream.

Of a folder Spark streams the names of new files only. They are read batch by batch as histories are, so that every
format is read, in the order in which the files came.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial, reduce
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as sf

from penstock.rdf.elements import Malformed, OnMalformed
from penstock.rdf.errors import SourceError
from penstock.rdf.sources import parse_source
from penstock.sources.batches import Source, SparkStream
from penstock.sources.files import OneAfterAnother, TntFile
from penstock.sources.source_opener import open_source
from penstock.sources.spark.frames import element_of, name_of_graph, wrong_rows
from penstock.sources.spark.history import History, history_of
from penstock.sources.spark.lines import decoded_lines, malformed_lines
from penstock.sources.spark.relay import relayed
from penstock.sources.spark.rows import named
from penstock.sources.timed_graphs import NQuadsFile

_FILES = "path string, modificationTime timestamp, length bigint, content binary"
_GLOB = re.compile(r"[][*?{}\\]")
_ALWAYS = "36500d"
"""However much older than others a file is, it is read."""


@dataclass(frozen=True, slots=True)
class GrowingFolder(SparkStream):
    """The files of a folder, those that are there and those that will be, in the order of their modification times.

    A file is read once, as it is when it is first seen: write it elsewhere, and move it into the folder when it is
    complete. Names that begin with `_` or `.` are passed over. `options` are those of `open_source`, as in
    `format=trig`; `files_per_batch` is how many files are read at a time, at most.
    """

    path: Path
    scope: str
    options: str = ""
    files_per_batch: int = 100

    @property
    def name(self) -> str:
        return str(self.path)

    def streamed(self, spark: SparkSession) -> DataFrame:
        return _names_of_files(spark, self.path, {"maxFilesPerTrigger": str(self.files_per_batch)})

    def history(
        self, spark: SparkSession, files: Iterable[tuple[str, datetime]], report: OnMalformed
    ) -> History | None:  # fmt: skip
        """What is in some files, which Spark has streamed; what cannot be read at all is reported."""
        ordered = [_path(file) for file, _ in sorted(files, key=lambda file: (file[1], file[0]))]
        sources = list(self._sources(ordered, report))
        return history_of(spark, OneAfterAnother(str(self.path), sources)) if sources else None

    def _sources(self, files: Iterable[Path], report: OnMalformed) -> Iterator[tuple[str, Source]]:
        for file in files:
            text = f"{file}?{self.options}" if self.options else str(file)
            try:
                source = open_source(text, scope=self.scope)
                if not isinstance(source, TntFile | NQuadsFile):  # a document each, with blank nodes of its own
                    source = open_source(text, scope=f"{self.scope} {file.name}")
            except SourceError as error:
                report(Malformed(str(file), "", str(error)))
            else:
                yield file.name, source


@dataclass(frozen=True, slots=True)
class WholeSource(SparkStream):
    """A file or folder that is all there: one batch, in the order of `open_source`."""

    text: str
    scope: str

    @property
    def name(self) -> str:
        return self.text

    def streamed(self, spark: SparkSession) -> DataFrame:
        """Raises `SourceError` where there is nothing to read."""
        open_source(self.text, scope=self.scope)
        return _names_of_files(spark, Path(parse_source(self.text).path), {})

    def history(self, spark: SparkSession, files: Iterable[tuple[str, datetime]], report: OnMalformed) -> History:
        """What was there when the batch was first read."""
        source = open_source(self.text, scope=self.scope)
        if isinstance(source, OneAfterAnother):
            names = {_path(file).name for file, _ in files}
            source = replace(source, files=[(name, part) for name, part in source.files if name in names])
        return history_of(spark, source)


@dataclass(frozen=True, slots=True)
class StreamedRows(SparkStream):
    """Rows that Spark streams: columns s, p and o, encoded, and ts, in milliseconds.

    Those that Spark brings together count in the order of their timestamps: its partitions know of no other order.
    With `is_named` there is a column `g` (`frames.encoded`), the name of the graph that a triple is in: what comes
    together with the same name and timestamp is one element. There may be a column `line`: what is no element, as text.
    With `scope` these are lines of `.tnt`.
    """

    rows: Callable[[SparkSession], DataFrame]
    address: str = "rows of Spark"
    scope: str | None = None
    is_named: bool = False

    @property
    def name(self) -> str:
        return self.address

    def streamed(self, spark: SparkSession) -> DataFrame:
        rows = self.rows(spark)
        has_lines = "line" in rows.columns
        time = sf.when(sf.col("line").isNull(), sf.col("ts")) if has_lines else sf.col("ts")
        return rows.select(
            *(sf.col(name).cast("string") for name in "spo"),
            time.cast("bigint").alias("ts"),
            sf.col("g") if self.is_named else _no_text("g"),
            sf.col("line") if has_lines else _no_text("line"),
            _no_text("file"),
            sf.lit(None).cast("timestamp").alias("modified"),
        )


Files = GrowingFolder | WholeSource
LiveStream = Files | StreamedRows


def growing_folder(text: str, *, scope: str) -> GrowingFolder:
    """The folder that a text names, as in `toll/` or `toll/?format=nq`; nothing of it is read yet.

    Raises `SourceError` where there is no such folder, or the options are wrong.
    """
    parse_source(text)
    path, _, options = text.partition("?")
    if not Path(path).is_dir():
        raise SourceError(f"{path}: there is no such folder to follow")
    return GrowingFolder(Path(path), scope, options)


def socket_lines(host: str, port: int, *, scope: str) -> StreamedRows:
    """Lines of `.tnt` from a server. What was read is gone: a run over them cannot be gone on with after a crash.

    Raises SourceError, when Spark is to stream them, where the server cannot be reached.
    """

    def rows(spark: SparkSession) -> DataFrame:
        at = {"host": "127.0.0.1", "port": str(relayed(host, port))}
        lines = spark.readStream.format("socket").options(**at).load()
        return decoded_lines(lines, scope)

    return StreamedRows(rows, f"tcp://{host}:{port}", scope)


@dataclass(frozen=True, slots=True)
class LiveInput:
    """Several streams as one that Spark streams: each row tells by `stream` the place of its stream among them.

    With `has_ticks` there is a row of no stream each second, so that there are micro-batches where nothing comes.
    """

    streams: Sequence[LiveStream]
    has_ticks: bool = False
    is_named: bool = False
    """Whether somebody asks for the names of elements."""

    def streamed(self, spark: SparkSession) -> DataFrame:
        parts = [_placed(stream.streamed(spark), place) for place, stream in enumerate(self.streams)]
        return _together([*parts, _ticks(spark, parts[0])] if self.has_ticks else parts)

    def batch(
        self, batch: DataFrame, report: Callable[[int, Malformed], None], now: int | None = None
    ) -> LiveBatch:  # fmt: skip
        """What is in a micro-batch; `now` is its time, if given.

        A job tells which files there are. A file that cannot be read is reported, with the place of its stream.
        """
        folders = {place: stream for place, stream in enumerate(self.streams) if isinstance(stream, Files)}
        of_rows = {place: stream for place, stream in enumerate(self.streams) if isinstance(stream, StreamedRows)}
        if not folders:
            return LiveBatch(batch, {}, now, of_rows, self.is_named)
        streamed = batch if of_rows else None
        files: dict[int, list[tuple[str, datetime]]] = {}
        for place, file, modified in batch.where("file IS NOT NULL").select("stream", "file", "modified").collect():
            files.setdefault(place, []).append((file, modified))
        found = {
            place: folders[place].history(batch.sparkSession, files[place], partial(report, place))
            for place in sorted(files)
        }
        histories = {place: history for place, history in found.items() if history is not None}
        return LiveBatch(streamed, histories, now, of_rows, self.is_named)


@dataclass(frozen=True, slots=True)
class LiveBatch:
    """A micro-batch: rows that are streamed, and what is in files, by the places of the streams; `of_rows` are those of
    the streams that are streamed as rows."""

    streamed: DataFrame | None
    histories: Mapping[int, History]
    now: int | None
    of_rows: Mapping[int, StreamedRows]
    is_named: bool = False
    """Whether rows have the names of elements."""

    @property
    def is_empty(self) -> bool:
        return self.streamed is None and not self.histories

    def rows(self) -> DataFrame:
        """All rows (`rows.ROWS` or `rows.NAMED_ROWS`, and `stream`)."""
        parts = []
        if self.streamed is not None:
            parts.append(named(_numbered(self.streamed.where("ts IS NOT NULL")), self.is_named))
        parts += [_placed(found.rows(is_named=self.is_named), place) for place, found in self.histories.items()]
        rows = _together(parts)
        return rows if self.now is None else rows.withColumn("ts", sf.lit(self.now).cast("bigint"))

    def malformed(self) -> Iterator[tuple[int, Malformed]]:
        """Malformed input, with the place of its stream; a job looks for it."""
        frames = [(place, history.malformed()) for place, history in self.histories.items()]
        if self.streamed is not None:
            streamed = self.streamed
            frames = [*((place, _left(streamed, place, stream)) for place, stream in self.of_rows.items()), *frames]
        for place, frame in frames:
            yield from ((place, Malformed(*row)) for row in frame.collect())


def _left(batch: DataFrame, place: int, stream: StreamedRows) -> DataFrame:
    """What a stream has that is no element."""
    left = batch.where((sf.col("stream") == place) & sf.col("line").isNotNull())
    if stream.scope is None:
        return wrong_rows(left, "line", stream.name)
    return malformed_lines(left.select(sf.col("line").alias("value")), stream.scope, stream.name)


def _no_text(name: str) -> Column:
    return sf.lit(None).cast("string").alias(name)


def _names_of_files(spark: SparkSession, path: Path, options: Mapping[str, str]) -> DataFrame:
    reader = spark.readStream.format("binaryFile").schema(_FILES).option("maxFileAge", _ALWAYS)
    found = path.resolve()
    if found.is_file():  # Spark streams folders
        reader, found = reader.option("pathGlobFilter", _GLOB.sub(r"\\\g<0>", found.name)), found.parent
    files = reader.options(**options).load(found.as_uri())
    return files.select(
        *(_no_text(name) for name in "spo"),
        sf.lit(None).cast("bigint").alias("ts"),
        _no_text("g"),
        _no_text("line"),
        sf.col("path").alias("file"),
        sf.col("modificationTime").alias("modified"),
    )


def _ticks(spark: SparkSession, like: DataFrame) -> DataFrame:
    """Rows with nothing in them, in the columns of another frame."""
    rate = spark.readStream.format("rate").option("rowsPerSecond", 1).load()
    return rate.select(*(sf.lit(None).cast(field.dataType).alias(field.name) for field in like.schema.fields))


def _placed(frame: DataFrame, place: int) -> DataFrame:
    return frame.select(sf.lit(place).alias("stream"), "*")


def _numbered(batch: DataFrame) -> DataFrame:
    """Each row is an element, or part of one that is a graph."""
    placed = batch.withColumn("place", sf.monotonically_increasing_id())
    number = sf.row_number().over(Window.partitionBy("stream").orderBy("ts", "place")).cast("bigint")
    numbered = placed.withColumn("arrival", number)
    element = element_of("stream").alias("element")
    return numbered.select("stream", "s", "p", "o", "ts", element, "arrival", name_of_graph())


def _together(frames: Sequence[DataFrame]) -> DataFrame:
    return reduce(DataFrame.unionAll, frames)


def _path(file: str) -> Path:
    """Spark writes `file:/folder/name`, with nothing escaped."""
    return Path("/" + file.removeprefix("file:").lstrip("/"))
