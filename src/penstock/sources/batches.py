"""Batches: a source is read as tables of some thousand triples, with the malformed input between them.

How the input is cut into batches never changes an answer; it bounds the use of memory.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

import pyarrow as pa

from penstock.rdf.elements import Malformed

MOST_ELEMENTS = 100_000
"""The maximum number of elements of a batch."""

MOST_BYTES = 1 << 23
"""The approximate maximum size of the text of a batch, in bytes."""

MOST_SECONDS = 0.05
"""The maximum time that an element of a live source waits for others of the same batch, in seconds."""

SCHEMA = pa.schema(
    [("s", pa.string()), ("p", pa.string()), ("o", pa.string()), ("ts", pa.int64()), ("element", pa.int64())]
)
"""Encoded terms (rdf/encoding.py), the timestamp, and the element that the triple is part of: 0, 1, … within a batch.

An element without triples, which an empty snapshot is, is a row whose terms are NULL: only its timestamp counts.
Where elements have names there is a column `g` behind these: the name, encoded, NULL for an element without one.
"""

Position: TypeAlias = dict[str, Any]
"""The position at which reading continues after a batch, as JSON."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Elements in the order of their arrival, malformed input, and the position after them."""

    table: pa.Table
    position: Position
    malformed: tuple[Malformed, ...] = ()

    @property
    def elements(self) -> int:
        """The number of elements."""
        return count_elements(self.table)


def count_elements(table: pa.Table) -> int:
    return table["element"][-1].as_py() + 1 if table.num_rows else 0


class Source(Protocol):
    """A stream that is read in batches.

    A live source (standard input, a replay) waits for its input, and its end is not known. A source that can resume can
    be read again from a position; standard input cannot.
    """

    @property
    def name(self) -> str: ...
    @property
    def is_live(self) -> bool: ...
    @property
    def can_resume(self) -> bool: ...
    def batches(self, position: Position | None = None) -> Iterator[Batch]: ...


@runtime_checkable
class EndlessSource(Source, Protocol):
    """A source that waits for more input by itself, until an event is set."""

    def ended_by(self, stopped: threading.Event) -> Source:
        """The same source, which ends soon after the event is set."""


@runtime_checkable
class SpooledSource(Source, Protocol):
    """A source that keeps what it has read until the run has committed."""

    def release(self, position: Position) -> None:
        """What is before a position is not needed any more."""


@dataclass(frozen=True)
class WrappedSource:
    """Another source, read in another way."""

    source: Source

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def is_live(self) -> bool:
        return self.source.is_live

    @property
    def can_resume(self) -> bool:
        return self.source.can_resume


class SparkStream:
    """A stream that Structured Streaming reads (sources/spark/live.py); no other engine can."""

    __slots__ = ()
    is_live = True
    can_resume = True

    @property
    def name(self) -> str:
        raise NotImplementedError


def is_spark_object(given: object, name: str) -> bool:
    """Whether it is a `DataFrame` or a `SparkSession`; only its class is looked at, so PySpark is not needed."""
    return any(kind.__module__.startswith("pyspark.") and kind.__name__ == name for kind in type(given).mro())


BoundStream: TypeAlias = Source | SparkStream
"""The kinds of sources that a stream can be bound to."""
