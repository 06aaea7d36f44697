"""Spools on Spark: a Python data source that reads a spool, and those that also fill it.

    spark.readStream.format("penstock-mqtt").option("spool", "/data/spool").load("mqtt://HOST/TOPIC")

`register_sources` makes the formats `penstock-mqtt`, `penstock-sse`, `penstock-websocket` and `penstock-ldes` known to
a session; Penstock's own runs receive in the driver and use `penstock-spool`, which only reads. The driver's machine
reads the spool: tasks get the messages with their partitions, so executors need not see the folder. Segments are
removed when Spark has committed what is in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from penstock.rdf.addresses import parse_address
from penstock.rdf.credentials import service_auth
from penstock.rdf.errors import SourceError
from penstock.sources.message_streams import reader_of
from penstock.sources.messages import MessageReader
from penstock.sources.receiving import SpoolReceiver
from penstock.sources.spark.topics import StreamedTopic
from penstock.sources.spool import SpoolReader, release

SCHEMA = "offset bigint, time timestamp, place string, type string, value binary, error string"
"""The columns of these formats: the number of a message, when it has arrived, where it is from, its content type, its
content, and the reason why it cannot be read, if there is one."""

_ARROW = pa.schema(
    [
        ("offset", pa.int64()),
        ("time", pa.timestamp("us", tz="UTC")),
        ("place", pa.string()),
        ("type", pa.string()),
        ("value", pa.binary()),
        ("error", pa.string()),
    ]
)
_MOST_BYTES = 32 << 20
"""About how much a micro-batch has at most."""


@dataclass(frozen=True, slots=True)
class SpooledTopic(StreamedTopic):
    """The messages in the spool of a folder, which the driver fills."""

    folder: Path = Path()

    @property
    def reader(self) -> MessageReader:
        return reader_of(self.address, self.scope, is_spooled=True)

    def streamed(self, spark: SparkSession) -> DataFrame:
        spark.dataSource.register(SpoolFormat)
        read = spark.readStream.format(SpoolFormat.name()).option("spool", str(self.folder.resolve()))
        return read.load().select(_message())


def register_sources(spark: SparkSession) -> None:
    """Make `penstock-mqtt`, `penstock-sse`, `penstock-websocket` and `penstock-ldes` formats of `spark.readStream`.

    `load` takes an address, as `--stream` does. The option `spool` is a folder on the driver's machine: what arrives is
    written there before it is acknowledged, and removed when Spark has committed it. `retryTimeout`, in seconds, ends
    the waiting for a server that does not answer. The columns are `offset`, `time`, `place`, `type`, `value` and
    `error`.
    """
    for format in (MqttFormat, EventSourceFormat, WebSocketFormat, LdesFormat):
        spark.dataSource.register(format)


def _message() -> Column:
    return sf.struct(
        sf.lit(0).alias("partition"),
        sf.col("offset"),
        sf.unix_millis("time").alias("time"),
        sf.col("type"),
        sf.col("value"),
        sf.col("place"),
        sf.col("error"),
    ).alias("message")


class SpoolFormat(DataSource):
    """The messages of a spool that another process fills: option `spool`, a folder."""

    schemes: tuple[str, ...] = ()

    @classmethod
    def name(cls) -> str:
        return "penstock-spool"

    def schema(self) -> str:
        return SCHEMA

    def streamReader(self, schema: StructType) -> SpoolStreamReader:  # noqa: N802
        folder = self.options.get("spool")
        if not folder:
            raise SourceError(f'{self.name()} needs a folder for messages: .option("spool", "/FOLDER")')
        if not self.schemes:
            return SpoolStreamReader(Path(folder))
        text = self.options.get("path", "")
        if not text.startswith(tuple(f"{scheme}://" for scheme in self.schemes)):
            raise SourceError(f'{self.name()} reads {self.schemes[0]}://…, and the address is "{text}": .load(ADDRESS)')
        timeout = self.options.get("retryTimeout")
        return ReceivingStreamReader(Path(folder), text, None if timeout is None else float(timeout))


class MqttFormat(SpoolFormat):
    """Messages of an MQTT topic, received into a spool: each is there once."""

    schemes = ("mqtt", "mqtts")

    @classmethod
    def name(cls) -> str:
        return "penstock-mqtt"


class EventSourceFormat(SpoolFormat):
    """Server-Sent Events, received into a spool."""

    schemes = ("sse+http", "sse+https")

    @classmethod
    def name(cls) -> str:
        return "penstock-sse"


class WebSocketFormat(SpoolFormat):
    """Messages of a WebSocket, received into a spool."""

    schemes = ("ws", "wss")

    @classmethod
    def name(cls) -> str:
        return "penstock-websocket"


class LdesFormat(SpoolFormat):
    """Members of a Linked Data Event Stream as N-Quads, received into a spool."""

    schemes = ("ldes+http", "ldes+https")

    @classmethod
    def name(cls) -> str:
        return "penstock-ldes"


class SpoolStreamReader(DataSourceStreamReader):
    """Offsets are numbers of messages. Spark makes several of these; only one of them is asked for offsets."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._messages = SpoolReader(folder)

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        return {"message": 0}

    def latestOffset(self, *limits: Any) -> dict[str, int]:  # noqa: N802
        """Spark before 4.2 gives no start and no limit."""
        end = self._messages.end()
        most = getattr(limits[1], "max_bytes", None) if limits else None
        if most is not None:
            start = limits[0]["message"]
            end = min(end, start + self._messages.count(start, most))
        return {"message": end}

    def getDefaultReadLimit(self) -> Any:  # noqa: N802
        from pyspark.sql.streaming.datasource import ReadMaxBytes

        return ReadMaxBytes(_MOST_BYTES)

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        found: list[InputPartition] = []
        first = start["message"]
        while first < end["message"]:
            table = self._messages.read(first, end["message"])
            if not table.num_rows:
                raise SourceError(f"{self._folder}: messages from {first} on are missing: was the spool removed?")
            found.append(InputPartition((first, _as_bytes(table))))
            first += table.num_rows
        return found

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        first, content = partition.value
        table = pa.ipc.open_stream(content).read_all().combine_chunks()
        columns = {
            "offset": pa.arange(first, first + table.num_rows),
            "time": pc.multiply(table["time"], 1000).cast(pa.timestamp("us")).cast(_ARROW.field("time").type),
            "place": table["place"],
            "type": table["type"],
            "value": table["content"].cast(pa.binary()),
            "error": table["error"],
        }
        yield from pa.table(columns).cast(_ARROW).to_batches()

    def commit(self, end: dict[str, int]) -> None:
        release(self._folder, end["message"])
        self._messages.forget(end["message"])

    def stop(self) -> None:
        """Nothing is open between calls."""


class ReceivingStreamReader(SpoolStreamReader):
    """Fills the spool, from the first request for an offset on."""

    def __init__(self, folder: Path, address: str, retry_timeout: float | None) -> None:
        super().__init__(folder)
        self._address = address
        self._retry_timeout = retry_timeout
        self._receiver: SpoolReceiver | None = None

    def latestOffset(self, *limits: Any) -> dict[str, int]:  # noqa: N802
        if self._receiver is None:
            address = parse_address(self._address)
            self._receiver = SpoolReceiver(address, service_auth(), self._folder, self._retry_timeout)
        if self._receiver.failure is not None:
            raise self._receiver.failure
        return super().latestOffset(*limits)

    def stop(self) -> None:
        if self._receiver is not None:
            self._receiver.close()


def _as_bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    found: bytes = sink.getvalue().to_pybytes()
    return found
