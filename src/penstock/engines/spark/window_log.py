"""The window log: the durable form of live windows on Spark, as Parquet segments, one or more for each batch.

A segment is named by its batch and a number within it: a batch that is repeated after a crash overwrites its segments.
The state of the run lists the segments that count, and it is written last. The driver writes small segments itself;
Spark writes those that it has decoded (`large_batches.py`). Evaluators read the log, so nothing else is needed for a
restart, or for a switch between evaluators.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, astuple, dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from penstock.engines import arrivals
from penstock.engines.protocol import Seen

_COLUMNS = pa.schema(
    [("stream", pa.int32()), *((name, pa.string()) for name in ("s", "p", "o"))]
    + [(name, pa.int64()) for name in ("ts", "element", "arrival", "since")]
    + [("g", pa.string())]
)
"""The columns of a segment; `g`, the names of elements, may be missing: then no element has a name."""

_SPARK_TYPES = {pa.int32(): "int", pa.int64(): "bigint", pa.string(): "string"}

_MOST_PREDICATES = 1000
"""The maximum number of predicates of a stream that are known by name."""


@dataclass(frozen=True, slots=True)
class Share:
    """The statistics of a stream in a segment.

    `in_time` counts the elements that were not late. `least` is the least timestamp in time, `greatest` the greatest of
    all.
    """

    triples: int
    elements: int
    in_time: int
    least: int | None
    greatest: int
    bytes: int

    @property
    def seen(self) -> Seen:
        return Seen(self.elements, self.least, self.greatest, self.in_time < self.elements)


@dataclass(slots=True)
class LoggedStream:
    """The state of a stream, without its rows."""

    is_produced: bool
    """Whether a query produces it."""
    is_named: bool
    """Whether the names of elements are kept."""
    elements: int = 0
    """The number of elements that have arrived."""
    arrived: int = 0
    """The number of triples that have arrived."""
    passed: int = 0
    """The number of evicted elements that were in time."""
    predicates: list[str] | None = None
    """All predicates that have arrived; None if there are too many."""

    def note(self, predicates: Iterable[str | None]) -> None:
        if self.predicates is not None:
            known = {*self.predicates, *filter(None, predicates)}
            self.predicates = sorted(known) if len(known) <= _MOST_PREDICATES else None


class WindowLog:
    """Segments in a folder, which executors have to reach; without a folder, in the memory of the driver."""

    def __init__(self, folder: Path, *, in_memory: bool = False) -> None:
        self.folder = folder
        self.streams: dict[str, LoggedStream] = {}
        self.segments: dict[str, dict[str, Share]] = {}
        self._in_memory: dict[str, pa.Table] | None = {} if in_memory else None
        self._batch = (-1, 0)
        self._passed_later: Counter[tuple[str, int]] = Counter()

    def add_stream(self, iri: str, *, is_produced: bool, is_named: bool) -> None:
        self.streams.setdefault(iri, LoggedStream(is_produced, is_named, predicates=[]))

    # Appending

    def write(self, number: int, iri: str, rows: pa.Table, seen: Seen) -> pa.Table:
        """Append the stamped rows of a stream as a segment; returns the same rows with their numbers."""
        known, segment = self.streams[iri], self.next_segment(number)
        rows = arrivals.numbered(rows, known.elements, known.arrived)
        names = [name for name in _COLUMNS.names[1:] if name in rows.column_names and (name != "g" or known.is_named)]
        place = pa.repeat(pa.scalar(self.place(iri), pa.int32()), rows.num_rows)
        self._put(segment, rows.select(names).add_column(0, "stream", place))
        assert seen.greatest is not None
        known.note(pc.unique(rows["p"]).to_pylist())
        in_time = arrivals.count_in_time(rows)
        self.count(segment, {iri: Share(rows.num_rows, seen.elements, in_time, seen.least, seen.greatest, rows.nbytes)})
        return rows

    def next_segment(self, number: int) -> str:
        """The name of another segment of a batch."""
        batch, written = self._batch
        self._batch = number, written + 1 if batch == number else 1
        return f"{number}-{self._batch[1]}"

    def _put(self, segment: str, rows: pa.Table) -> None:
        if self._in_memory is not None:
            self._in_memory[segment] = rows
            return
        path = self.path(segment)
        _remove(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(rows, path)

    def count(self, segment: str, shares: dict[str, Share]) -> None:
        """The segment counts from now on."""
        self.segments[segment] = shares
        for iri, share in shares.items():
            self.streams[iri].elements += share.elements
            self.streams[iri].arrived += share.triples

    # Reading

    @property
    def triples(self) -> int:
        return sum(share.triples for shares in self.segments.values() for share in shares.values())

    @property
    def bytes(self) -> int:
        """In memory, uncompressed."""
        return sum(share.bytes for shares in self.segments.values() for share in shares.values())

    def place(self, iri: str) -> int:
        return list(self.streams).index(iri)

    def path(self, segment: str) -> Path:
        return self.folder / segment

    def having(self, iri: str) -> list[str]:
        """The segments with rows of a stream."""
        return [segment for segment, shares in self.segments.items() if iri in shares]

    def has_all(self, iri: str) -> bool:
        """Whether all rows of a stream that have arrived are still there."""
        return self.streams[iri].arrived == sum(self.segments[name][iri].triples for name in self.having(iri))

    def tables(self, iri: str, segments: Iterable[str]) -> Iterator[pa.Table]:
        """The rows of a stream in segments, a table each."""
        place = self.place(iri)
        for segment in segments:
            if self._in_memory is not None and segment in self._in_memory:
                rows = self._in_memory[segment]
            else:
                rows = parquet.read_table(self.path(segment), partitioning=None)
            rows = rows.filter(pc.equal(rows["stream"], place))
            yield rows.select([name for name in _COLUMNS.names[1:] if name in rows.column_names])

    def frame(self, session: SparkSession, iri: str, segments: Iterable[str]) -> DataFrame:
        """The rows of a stream in segments, for Spark."""
        is_named = self.streams[iri].is_named
        fields = [field for field in _COLUMNS if field.name != "g" or is_named]
        held = self._in_memory or {}
        in_memory = [held[segment] for segment in segments if segment in held]
        paths = [str(self.path(segment)) for segment in segments if segment not in held]
        frames = []
        if paths:
            schema = ", ".join(f"{field.name} {_SPARK_TYPES[field.type]}" for field in fields)
            frames.append(session.read.schema(schema).parquet(*paths))
        if in_memory or not paths:
            whole = pa.concat_tables([_COLUMNS.empty_table(), *in_memory], promote_options="default")
            frames.append(session.createDataFrame(whole.select([field.name for field in fields])))
        return reduce(DataFrame.unionAll, frames).where(sf.col("stream") == self.place(iri)).drop("stream")

    # Evicting

    def evict(self, oldest: Mapping[str, int], instants: Iterable[int]) -> None:
        """Segments whose rows no query needs any more stop counting. Their files stay until `clean`.

        `oldest` is the timestamp of each stream from which rows are needed. Queries see streams after `instants`.
        """
        for segment, shares in list(self.segments.items()):
            if all(share.greatest < oldest[iri] for iri, share in shares.items()):
                for iri, share in shares.items():
                    self.streams[iri].passed += share.in_time
                    for after in instants:
                        self._passed_later[iri, after] += self._in_time_after(segment, iri, share, after)
                del self.segments[segment]
                if self._in_memory is not None:
                    self._in_memory.pop(segment, None)

    def passed_later(self) -> Iterator[tuple[str, int, int]]:
        """For streams after instants, the number of evicted elements that were in time."""
        for (iri, after), passed in self._passed_later.items():
            yield iri, after, passed

    def forget_later(self, instants: Collection[int | None]) -> None:
        """No query sees streams after other instants."""
        for key in [key for key in self._passed_later if key[1] not in instants]:
            del self._passed_later[key]

    def _in_time_after(self, segment: str, iri: str, share: Share, after: int) -> int:
        if share.least is None or share.greatest <= after:
            return 0
        if share.least > after:
            return share.in_time
        (rows,) = self.tables(iri, [segment])
        return arrivals.count_in_time(rows.filter(pc.greater(rows["ts"], after)))

    def clean(self) -> None:
        """Remove the files of all segments except those that count."""
        for path in self.folder.iterdir() if self.folder.is_dir() else ():
            if path.name not in self.segments:
                _remove(path)

    # Restarts

    @property
    def state(self) -> dict[str, Any]:
        streams = {iri: asdict(stream) for iri, stream in self.streams.items()}
        segments = {
            segment: {iri: astuple(share) for iri, share in shares.items()} for segment, shares in self.segments.items()
        }
        return {"streams": streams, "segments": segments}

    def restore(self, state: Mapping[str, Any]) -> None:
        self.streams = {iri: LoggedStream(**known) for iri, known in state["streams"].items()}
        self.segments = {
            segment: {iri: Share(*share) for iri, share in shares.items()}
            for segment, shares in state["segments"].items()
        }


def _remove(path: Path) -> None:
    """A file, or a folder that Spark has written."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
