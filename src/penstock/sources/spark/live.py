"""Live streams for Structured Streaming: folders that grow, and any rows that Spark itself can stream.

For a folder, Spark streams only the names of new files. The driver decodes a micro-batch with the readers of the
embedded engine; executors read a micro-batch that is too large for it, as they read histories.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as sf

from penstock.rdf.addresses import FILE, Address
from penstock.rdf.elements import Malformed, OnMalformed
from penstock.rdf.errors import SourceError
from penstock.sources.batches import Source, SparkStream
from penstock.sources.files import OneAfterAnother
from penstock.sources.growing_folders import check_folder, open_part
from penstock.sources.receiving import SpoolReceiver
from penstock.sources.source_opener import open_source
from penstock.sources.spark.batch_tables import table_of_rows, table_of_source
from penstock.sources.spark.bounds import BATCH
from penstock.sources.spark.frames import NO_TRIPLE, element_of, name_of_graph, wrong_rows
from penstock.sources.spark.history import History, history_of
from penstock.sources.spark.relay import read_relayed, relayed
from penstock.sources.spark.rows import named
from penstock.sources.spark.topics import MESSAGE, StreamedTopic, decoded, refused

_FILES_AS_THEY_ARE = Address(FILE)
_COLUMNS = {
    **dict.fromkeys("spo", "string"),
    "ts": "bigint",
    **dict.fromkeys(("g", "line", "file"), "string"),
    "modified": "bigint",
    "message": f"struct<{MESSAGE}>",
}
_FILES = "path string, modificationTime timestamp, length bigint, content binary"
_GLOB = re.compile(r"[][*?{}\\]")
_ALWAYS = "36500d"
"""A file is read however old it is in comparison with others."""


@dataclass(frozen=True, slots=True)
class GrowingFolder(SparkStream):
    """The files of a folder, present and future, in the order of their modification times.

    A file is read once, when it is first seen: write it elsewhere, and move it into the folder when it is complete.
    Files whose names begin with `_` or `.` are ignored. `options` are those of an address of files;
    `files_per_batch` is the maximum number of files read at a time.
    """

    path: Path
    scope: str
    options: Address = _FILES_AS_THEY_ARE
    files_per_batch: int = 100

    @property
    def name(self) -> str:
        return str(self.path)

    def streamed(self, spark: SparkSession) -> DataFrame:
        return _names_of_files(spark, self.path, {"maxFilesPerTrigger": str(self.files_per_batch)})

    def source(self, files: Sequence[str], report: OnMalformed) -> Source | None:
        """The content of files that Spark has streamed in this order; a file that cannot be read is reported."""
        sources = list(self._sources(map(_path, files), report))
        return OneAfterAnother(str(self.path), sources) if sources else None

    def _sources(self, files: Iterable[Path], report: OnMalformed) -> Iterator[tuple[str, Source]]:
        for file in files:
            source = open_part(file, self.options, self.scope, report)
            if source is not None:
                yield file.name, source


@dataclass(frozen=True, slots=True)
class WholeSource(SparkStream):
    """A complete file or folder: one batch, in the order of `open_source`."""

    address: Address
    scope: str

    @property
    def name(self) -> str:
        return self.address.name

    def streamed(self, spark: SparkSession) -> DataFrame:
        """Raises `SourceError` if there is nothing to read."""
        open_source(self.address, scope=self.scope)
        path = Path(self.address.path)
        if path.is_file() and path.name.startswith(("_", ".")):
            raise SourceError(f"{path}: Spark ignores files whose names begin with _ or a dot: rename it")
        return _names_of_files(spark, path, {})

    def source(self, files: Sequence[str], report: OnMalformed) -> Source:
        """The files that existed when the batch was first read."""
        source = open_source(self.address, scope=self.scope)
        if isinstance(source, OneAfterAnother):
            names = {_path(file).name for file in files}
            source = replace(source, files=[(name, part) for name, part in source.files if name in names])
        return source


@dataclass(frozen=True, slots=True)
class StreamedRows(SparkStream):
    """Rows that Spark streams: columns s, p and o, encoded, and ts, in milliseconds.

    Rows of one micro-batch are ordered by timestamp, because Spark's partitions have no other order. With `is_named`
    there is a column `g` (`frames.encoded`), the name of the graph of a triple: rows of one micro-batch with the same
    name and timestamp are one element. A column `line` may contain the text of malformed input. With `scope` all rows
    are lines of `.tnt`, in the column `line`.
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
        given = {name: sf.col(name) for name in (*"spo", "ts")}
        if self.is_named:
            given["g"] = sf.col("g")
        if "line" in rows.columns:
            given |= {"line": sf.col("line"), "ts": sf.when(sf.col("line").isNull(), sf.col("ts"))}
        return rows.select(*_columns(given))

    def table(self, rows: pa.Table, report: OnMalformed) -> pa.Table:
        """The rows of a micro-batch on the driver, as a table of elements."""
        lines = rows["line"].drop_null()
        if self.scope is not None:
            return read_relayed(lines, self.name, self.scope, report)
        for line in lines.to_pylist():
            report(Malformed(self.name, line, NO_TRIPLE))
        return table_of_rows(rows.filter(rows["ts"].is_valid()))


@dataclass(frozen=True, slots=True)
class StreamedMessages(SparkStream):
    """The messages of a topic. `receive` starts to fill its spool, if it has one."""

    topic: StreamedTopic
    receive: Callable[[OnFailure], SpoolReceiver] | None = None

    @property
    def name(self) -> str:
        return self.topic.name

    def streamed(self, spark: SparkSession) -> DataFrame:
        return self.topic.streamed(spark).select(*_columns({"message": sf.col("message")}))

    def table(self, rows: pa.Table, report: OnMalformed) -> pa.Table:
        """The messages of a micro-batch on the driver, as a table of elements."""
        return self.topic.table(rows, report)


OnFailure = Callable[[BaseException], None]
Files = GrowingFolder | WholeSource
LiveStream = Files | StreamedRows | StreamedMessages


def growing_folder(address: Address, *, scope: str) -> GrowingFolder:
    """A folder, as in `toll/?follow` or `toll/?follow&format=nq`; it is not read yet.

    Raises `SourceError` if the folder does not exist.
    """
    check_folder(address)
    return GrowingFolder(Path(address.path), scope, address)


def socket_lines(host: str, port: int, *, scope: str) -> StreamedRows:
    """Lines of `.tnt` from a server. They can be read only once: a run over them cannot continue after a crash.

    Raises SourceError, when Spark starts the stream, if the server cannot be reached.
    """

    def rows(spark: SparkSession) -> DataFrame:
        at = {"host": "127.0.0.1", "port": str(relayed(host, port))}
        lines = spark.readStream.format("socket").options(**at).load()
        return lines.select(*_columns({"line": sf.col("value")}))

    return StreamedRows(rows, f"tcp://{host}:{port}", scope)


@dataclass(frozen=True, slots=True)
class LiveInput:
    """Several streams as one stream of Spark: the column `stream` is the number of a row's stream.

    With `has_ticks` there is a row of no stream each second, so that there are micro-batches without input.
    """

    streams: Sequence[LiveStream]
    has_ticks: bool = False
    is_named: bool = False
    """Whether a query needs the names of elements."""

    def receive(self, on_failure: OnFailure) -> list[SpoolReceiver]:
        """Start to fill the spools; one that has an end is filled before this returns.

        `on_failure` is called, in a thread, with an error that ends a receiver.
        """
        found = [
            stream.receive(on_failure)
            for stream in self.streams
            if isinstance(stream, StreamedMessages) and stream.receive is not None
        ]
        for receiver in found:
            if receiver.address.is_until_now:
                receiver.join()
        return found

    def streamed(self, spark: SparkSession) -> DataFrame:
        parts = [_placed(stream.streamed(spark), place) for place, stream in enumerate(self.streams)]
        return reduce(DataFrame.unionAll, [*parts, _ticks(spark, parts[0])] if self.has_ticks else parts)

    def read(
        self, batch: DataFrame, report: Callable[[int, Malformed], None], now: int | None = None
    ) -> dict[int, pa.Table] | LargeBatch:  # fmt: skip
        """The rows of a micro-batch, by the numbers of their streams: tables, if it is not too large for the driver.

        `now` is its time, if elements are stamped as they arrive. Malformed input is reported with the number of its
        stream.
        """
        session = batch.sparkSession
        bound = BATCH.set_by(session, "batch")
        found = self._collected(batch, bound.rows)
        is_large = found.num_rows > bound.rows
        names = found if not is_large else _files_of(batch).toArrow()
        sources: dict[int, Source] = {}
        size = 0
        for place, stream in enumerate(self.streams):
            if isinstance(stream, Files) and (files := _in_order(names, place)):
                source = stream.source(files, partial(report, place))
                if source is not None:
                    sources[place] = source
                    size += sum(map(_size, files))
        if is_large or size > bound.bytes:
            return LargeBatch(batch, self.streams, sources, now, self.is_named)
        tables = {place: table_of_source(source, partial(report, place)) for place, source in sources.items()}
        for place, stream in enumerate(self.streams):
            if not isinstance(stream, Files):
                tables[place] = stream.table(found.filter(pc.equal(found["stream"], place)), partial(report, place))
        return {place: _at(table, now) for place, table in tables.items() if table.num_rows}

    def _collected(self, batch: DataFrame, most: int) -> pa.Table:
        """The rows of a micro-batch, up to one more than the maximum, by one job.

        Rows that are names of files are few: Spark plans nothing that is quicker than to send them as they are.
        """
        if all(isinstance(stream, Files) for stream in self.streams):
            return batch.toArrow()
        placed = batch.where("stream IS NOT NULL").withColumn("place", sf.monotonically_increasing_id())
        return placed.limit(most + 1).toArrow()


@dataclass(frozen=True, slots=True)
class LargeBatch:
    """A micro-batch that executors decode: rows that Spark streams, and sources that are files."""

    batch: DataFrame
    streams: Sequence[LiveStream]
    sources: Mapping[int, Source]
    now: int | None
    is_named: bool
    """Whether rows have the names of elements."""

    def rows(self) -> DataFrame:
        """All rows (`rows.ROWS` or `rows.NAMED_ROWS`, and `stream`)."""
        parts = [] if self._has_files_alone else [named(_numbered(self.batch.where("ts IS NOT NULL")), self.is_named)]
        parts += [_placed(found.rows(is_named=self.is_named), place) for place, found in self._histories]
        parts += [_placed(self._lines(place, _ignore), place) for place in self._of_lines]
        for place, topic, messages in self._of_topics:
            parts.append(_placed(named(decoded(messages, topic), self.is_named), place))
        rows = reduce(DataFrame.unionAll, parts)
        if self.now is None:
            return rows
        return rows.withColumn("ts", sf.when(sf.col("ts").isNotNull(), sf.lit(self.now).cast("bigint")))

    def malformed(self) -> Iterator[tuple[int, Malformed]]:
        """Malformed input, with the number of its stream; this takes jobs."""
        for place, history in self._histories:
            yield from ((place, Malformed(*row)) for row in history.malformed().collect())
        for place, stream in enumerate(self.streams):
            if isinstance(stream, StreamedRows) and stream.scope is None:
                left = self.batch.where((sf.col("stream") == place) & sf.col("line").isNotNull())
                rows = wrong_rows(left, "line", stream.name).collect()
                yield from ((place, Malformed(*row)) for row in rows)
        for place in self._of_lines:
            found: list[Malformed] = []
            self._lines(place, found.append)
            yield from ((place, malformed) for malformed in found)
        for place, topic, messages in self._of_topics:
            for row in refused(messages, topic).collect():
                yield place, Malformed(*row)

    @property
    def _of_topics(self) -> Iterator[tuple[int, StreamedTopic, DataFrame]]:
        """Topics, with their numbers and their messages."""
        for place, stream in enumerate(self.streams):
            if isinstance(stream, StreamedMessages):
                yield place, stream.topic, self.batch.where(sf.col("stream") == place).select("message.*")

    @property
    def _has_files_alone(self) -> bool:
        return all(isinstance(stream, Files) for stream in self.streams)

    @property
    def _histories(self) -> Iterator[tuple[int, History]]:
        for place, source in self.sources.items():
            yield place, history_of(self.batch.sparkSession, source)

    @property
    def _of_lines(self) -> list[int]:
        """The streams of servers, whose lines the driver has passed on: it decodes them itself."""
        return [n for n, one in enumerate(self.streams) if isinstance(one, StreamedRows) and one.scope is not None]

    def _lines(self, place: int, report: OnMalformed) -> DataFrame:
        stream = self.streams[place]
        assert isinstance(stream, StreamedRows)
        table = stream.table(self.batch.where(sf.col("stream") == place).toArrow(), report)
        table = table.append_column("arrival", table["element"])
        return named(self.batch.sparkSession.createDataFrame(table), self.is_named)


def _ignore(malformed: Malformed) -> None:
    """It is reported when the malformed input is requested."""


def _files_of(batch: DataFrame) -> DataFrame:
    return batch.where("file IS NOT NULL").select("stream", "file", "modified")


def _in_order(names: pa.Table, place: int) -> list[str]:
    """The files of a stream, in the order of their modification times."""
    of_stream = pc.and_(pc.equal(names["stream"], place), names["file"].is_valid())
    found: list[str] = (
        names.filter(of_stream).sort_by([("modified", "ascending"), ("file", "ascending")])["file"].to_pylist()
    )
    return found


def _at(table: pa.Table, now: int | None) -> pa.Table:
    return table if now is None else table.set_column(3, "ts", pa.repeat(pa.scalar(now, pa.int64()), table.num_rows))


def _columns(given: Mapping[str, Column]) -> list[Column]:
    """The columns of a micro-batch; those that are not given are NULL."""
    return [given.get(name, sf.lit(None)).cast(kind).alias(name) for name, kind in _COLUMNS.items()]


def _names_of_files(spark: SparkSession, path: Path, options: Mapping[str, str]) -> DataFrame:
    reader = spark.readStream.format("binaryFile").schema(_FILES).option("maxFileAge", _ALWAYS)
    found = path.resolve()
    if found.is_file():  # Spark streams folders
        reader, found = reader.option("pathGlobFilter", _GLOB.sub(r"\\\g<0>", found.name)), found.parent
    files = reader.options(**options).load(found.as_uri())
    return files.select(*_columns({"file": sf.col("path"), "modified": sf.unix_millis("modificationTime")}))


def _ticks(spark: SparkSession, like: DataFrame) -> DataFrame:
    """Rows with nothing in them, in the columns of another frame."""
    rate = spark.readStream.format("rate").option("rowsPerSecond", 1).load()
    return rate.select(*(sf.lit(None).cast(field.dataType).alias(field.name) for field in like.schema.fields))


def _placed(frame: DataFrame, place: int) -> DataFrame:
    return frame.select(sf.lit(place).alias("stream"), "*")


def _numbered(batch: DataFrame) -> DataFrame:
    """Each row is an element, or part of an element that is a graph."""
    placed = batch.withColumn("place", sf.monotonically_increasing_id())
    number = sf.row_number().over(Window.partitionBy("stream").orderBy("ts", "place")).cast("bigint")
    numbered = placed.withColumn("arrival", number)
    element = element_of("stream").alias("element")
    return numbered.select("stream", "s", "p", "o", "ts", element, "arrival", name_of_graph())


def _path(file: str) -> Path:
    """Spark writes `file:/folder/name`, without escapes."""
    return Path("/" + file.removeprefix("file:").lstrip("/"))


def _size(file: str) -> int:
    """In bytes; 0 if the file was removed after Spark found it, which the stream reports."""
    try:
        return _path(file).stat().st_size
    except FileNotFoundError:
        return 0
