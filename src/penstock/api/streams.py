"""The sources that a stream can be bound to: an address, a table, an iterable, a function, or a DataFrame."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.algebra.inputs import InputError
from penstock.api.terms import elements_of
from penstock.rdf.addresses import Address, parse_address
from penstock.rdf.blank_nodes import prefixed
from penstock.rdf.credentials import ServiceAuth
from penstock.sources import Source, open_source
from penstock.sources.batches import MOST_ELEMENTS, BoundStream, SparkStream, is_spark_object
from penstock.sources.files import ElementFile
from penstock.sources.kafka import KafkaTopic
from penstock.sources.live import LiveElements, ReadOnce
from penstock.sources.message_streams import MessageStream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ITERATOR_IS_READ = (
    "this stream is an iterator, and another run has read it: bind a list, or a function that returns a new iterator"
)


@dataclass(slots=True)
class StreamBinding:
    """A stream, and how each kind of run reads it; `scope` is that of its blank nodes."""

    stream: BoundStream
    scope: str
    address: Address | None = None
    """That of a file, folder, server or broker."""
    is_in_memory: bool = False
    is_frame: bool = False
    _on_spark: Source | None = None

    @property
    def name(self) -> str:
        return self.stream.name

    @property
    def sample(self) -> Source | None:
        """The stream, if reading it twice does no harm."""
        if isinstance(self.stream, SparkStream | KafkaTopic | MessageStream) or self.stream.is_live or self.is_frame:
            return None
        return self.stream

    def for_run(self, iri: str, spark: SparkSession | None, checkpoint: Path | None) -> BoundStream:
        """The stream as a run reads it; `iri` is its name there. Raises InputError where a checkpoint cannot continue
        it.
        """
        has_checkpoint = checkpoint is not None
        if checkpoint is not None and isinstance(self.stream, MessageStream):
            return self._with_spool(self.stream, checkpoint, iri, on_spark=spark is not None)
        if has_checkpoint:
            self._check_restart(on_spark=spark is not None)
        if spark is None or isinstance(self.stream, SparkStream | MessageStream) or self.stream.is_live:
            return self.stream
        if isinstance(self.stream, KafkaTopic):
            from penstock.sources.spark.binding import spark_stream, whole_topic

            if has_checkpoint:
                return spark_stream(self.stream.address, self.name, self.scope)
            return whole_topic(spark, self.stream.address, self.scope)
        if has_checkpoint and self.address is not None:
            from penstock.sources.spark.live import WholeSource

            return WholeSource(self.address, self.scope)
        if self.is_in_memory and self._on_spark is None:
            from penstock.sources.spark.frames import gathered

            self._on_spark = gathered(spark, self.stream)
        return self._on_spark or self.stream

    def _with_spool(self, stream: MessageStream, checkpoint: Path, iri: str, *, on_spark: bool) -> BoundStream:
        """The stream of a run with a checkpoint. The embedded engine can read members of an event stream again."""
        if on_spark:
            raise InputError(
                f"{self.name}: on Spark, a stream of messages has no checkpoint: use the embedded engine, or leave the "
                "checkpoint out"
            )
        return stream if stream.can_resume else stream.spooled(checkpoint, iri)

    def _check_restart(self, *, on_spark: bool) -> None:
        can_restart = self.stream.can_resume and (self.address is None or self.address.scheme != "tcp")
        if on_spark and not isinstance(self.stream, SparkStream):
            can_restart = can_restart and self.address is not None and not self.stream.is_live
        if not can_restart:
            raise InputError(
                f"{self.name} cannot be read again after a restart, so a checkpoint cannot continue it: write the "
                "stream to a file first, or run without a checkpoint"
            )


def bind(
    iri: str,
    source: Any,
    scope: str,
    *,
    on_spark: bool,
    retry_timeout: float | None = None,
    auth: ServiceAuth | None = None,
) -> StreamBinding:
    """Raises ValueError where there is nothing to read, or Spark is needed."""
    name = f"<{iri}>"
    is_frame = is_spark_object(source, "DataFrame")
    if isinstance(source, str | Path):
        source = parse_address(source)
    if is_frame and not on_spark:
        raise InputError("a DataFrame of Spark needs an engine on Spark: Engine(spark)")
    address = source if isinstance(source, Address) else None
    if on_spark and (is_frame or (address is not None and _is_for_spark(address))):
        from penstock.sources.spark.binding import spark_stream

        return StreamBinding(spark_stream(source, iri, scope), scope, address, is_frame=True)
    if address is not None:
        return StreamBinding(open_source(address, scope=scope, retry_timeout=retry_timeout, auth=auth), scope, address)
    from penstock.api.tables import TableSource, is_table, table_of_stream  # slow to load

    if is_table(source):
        return StreamBinding(TableSource(name, table_of_stream(source), scope), scope, is_in_memory=True)
    if isinstance(source, ElementFile):
        return StreamBinding(source, scope, is_in_memory=True)
    if isinstance(source, Iterable):
        reader = elements_of(lambda: source, name, prefixed(scope))
        if iter(source) is source:
            return StreamBinding(ReadOnce(LiveElements(name, reader, MOST_ELEMENTS), _ITERATOR_IS_READ), scope)
        return StreamBinding(ElementFile(name, reader, MOST_ELEMENTS), scope, is_in_memory=True)
    if callable(source):
        return StreamBinding(LiveElements(name, elements_of(source, name, prefixed(scope)), MOST_ELEMENTS), scope)
    raise InputError(f"a stream is a file, a table or an iterable of elements, but this is {source!r}")


def _is_for_spark(address: Address) -> bool:
    """Whether Spark streams it. This process receives what servers send by themselves."""
    return address.is_endless and (address.scheme == "kafka" or not address.has_messages)
