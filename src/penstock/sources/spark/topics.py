"""Kafka topics on Spark, by Spark's own connector: as history, or streamed.

The messages are decoded by the reader of the embedded engine: by the driver, or by executors where a micro-batch is
too large for it, and for history. Partitions are merged by time, as `sources/partitions.py` does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as sf

from penstock.rdf.addresses import EARLIEST, LATEST, Address
from penstock.rdf.elements import Malformed, OnMalformed
from penstock.rdf.errors import SourceError
from penstock.rdf.kafka_settings import java_settings
from penstock.sources.batches import SCHEMA, SparkStream
from penstock.sources.messages import MessageColumns, MessageReader
from penstock.sources.partitions import MergedPartitions, places_in_messages
from penstock.sources.spark.rows import ARROW_MALFORMED, MALFORMED, batch_of

MESSAGE = "partition int, offset bigint, time bigint, type string, value binary, place string, error string"
"""A message of a topic or spool, as a struct in the column `message` of a micro-batch.

A message of a spool says where it is from and, if it cannot be read, why.
"""

_ELEMENTS = "s string, p string, o string, ts bigint, g string, partition int, offset bigint, nth bigint"
_ARROW_ELEMENTS = pa.schema(
    [
        *((name, pa.string()) for name in "spo"),
        ("ts", pa.int64()),
        ("g", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("nth", pa.int64()),
    ]
)

_SETTINGS = {
    "isolation.level": "read_committed",
    # With Kafka's default a record reaches Spark half a second later.
    "fetch.max.wait.ms": "5",
}
_OPTIONS = {
    "includeHeaders": "true",
    "failOnDataLoss": "true",
    # A broker may be away for long.
    "fetchOffset.numRetries": "1000000",
    "fetchOffset.retryIntervalMs": "1000",
    "kafkaConsumer.pollTimeoutMs": "600000",
}
_CLIENT = "org.apache.kafka.clients.consumer.KafkaConsumer"
_NO_CONNECTOR = (
    "this Spark session has no Kafka connector: start Spark with --packages "
    "org.apache.spark:spark-sql-kafka-0-10_2.13:VERSION (the version of Spark), or let Penstock start it"
)
_MILLISECONDS_TO_ANSWER = "20000"


@dataclass(frozen=True, slots=True)
class StreamedTopic(SparkStream):
    """A topic that Spark streams."""

    address: Address
    scope: str

    @property
    def name(self) -> str:
        return self.address.name

    def streamed(self, spark: SparkSession) -> DataFrame:
        """Raises SourceError where there is no such topic, or it may not be read."""
        ends_of_topic(spark, self.address)
        reader = spark.readStream.format("kafka").options(**_options(self.address), **_start(self.address))
        return reader.load().select(_message())

    @property
    def reader(self) -> MessageReader:
        return MessageReader(self.name, self.scope, self.address.format, self.address.time)

    def table(self, rows: pa.Table, report: OnMalformed) -> pa.Table:
        """The messages of a micro-batch on the driver, as a table of elements."""
        found = pa.Table.from_struct_array(rows["message"].combine_chunks())
        found = found.sort_by([("partition", "ascending"), ("offset", "ascending")])
        merged, reader = MergedPartitions(), self.reader
        for number in found["partition"].unique().to_pylist():
            part = found.filter(pc.equal(found["partition"], number))
            malformed: list[tuple[int, Malformed]] = []
            elements = reader.table(_messages(part, self.name), lambda n, entry: malformed.append((n, entry)))  # noqa: B023
            merged.begin(number, 0)
            merged.add(number, elements, malformed, part.num_rows)
        batch = merged.take(())
        for entry in () if batch is None else batch.malformed:
            report(entry)
        return SCHEMA.empty_table() if batch is None else batch.table


def messages_until_now(spark: SparkSession, address: Address) -> DataFrame:
    """The messages (`MESSAGE`) of a topic up to its present end, however often the frame is read.

    Raises SourceError where there is no such topic, or it may not be read.
    """
    ends = ends_of_topic(spark, address)
    if isinstance(address.start, int) or address.start == LATEST:
        starts: dict[str, str] = _start(address)
    else:
        starts = {"startingOffsets": EARLIEST}
    offsets = ", ".join(f'"{partition}": {offset}' for partition, offset in ends.items())
    ending = {"endingOffsets": f'{{"{address.path}": {{{offsets}}}}}'}
    reader = spark.read.format("kafka").options(**_options(address), **starts, **ending)
    return reader.load().select(_message()).select("message.*")


def decoded(messages: DataFrame, topic: StreamedTopic) -> DataFrame:
    """The elements of messages, decoded by executors (`rows.NAMED_ROWS`), numbered in the order of the stream."""
    rows = messages.mapInArrow(partial(_elements_of, topic=topic), _ELEMENTS)
    within = Window.partitionBy("partition").orderBy("offset", "nth")
    reached = sf.max("ts").over(within.rangeBetween(Window.unboundedPreceding, Window.currentRow))
    in_order = Window.orderBy("reached", "partition", "offset", "nth")
    of_element = Window.partitionBy("partition", "offset", "nth")
    numbered = rows.withColumn("reached", reached).withColumn("arrival", sf.row_number().over(in_order).cast("bigint"))
    return numbered.select(
        "s", "p", "o", "ts", sf.min("arrival").over(of_element).alias("element"), "arrival", "g"
    )  # fmt: skip


def refused(messages: DataFrame, topic: StreamedTopic) -> DataFrame:
    """Malformed messages (`rows.MALFORMED`)."""
    return messages.mapInArrow(partial(_malformed_of, topic=topic), MALFORMED)


def ends_of_topic(spark: SparkSession, address: Address) -> dict[int, int]:
    """The present end of each partition. Raises SourceError where there is no such topic, or it may not be read."""
    from py4j.protocol import Py4JJavaError

    jvm: Any = spark.sparkContext._jvm
    client = reduce(getattr, _CLIENT.split("."), jvm)
    if not isinstance(client, type(jvm.java.util.HashMap)):  # py4j takes an unknown class for a package
        raise SourceError(f"{address.name}: {_NO_CONNECTOR}")
    settings = jvm.java.util.HashMap()
    deserializer = "org.apache.kafka.common.serialization.ByteArrayDeserializer"
    for name, value in {
        **java_settings(address),
        **_SETTINGS,
        "key.deserializer": deserializer,
        "value.deserializer": deserializer,
        "default.api.timeout.ms": _MILLISECONDS_TO_ANSWER,
        "allow.auto.create.topics": "false",
    }.items():
        settings.put(name, value)
    try:
        consumer = client(settings)
        try:
            places = [
                jvm.org.apache.kafka.common.TopicPartition(address.path, info.partition())
                for info in consumer.partitionsFor(address.path) or ()
            ]
            if not places:
                raise SourceError(f"{address.name}: there is no such topic: create it, or check its name")
            ends = consumer.endOffsets(_java_list(jvm, places))
            return dict(sorted((place.partition(), int(ends[place])) for place in places))
        finally:
            consumer.close()
    except Py4JJavaError as error:
        raise SourceError(f"{address.name}: {_why(error.java_exception)}") from None


def _java_list(jvm: Any, items: list[Any]) -> Any:
    found = jvm.java.util.ArrayList()
    for item in items:
        found.add(item)
    return found


def _why(raised: Any) -> str:
    kinds = {raised.getClass().getSimpleName()}
    message = str(raised.getMessage()).partition("\n")[0]
    cause = raised.getCause()
    if cause is not None:
        kinds.add(cause.getClass().getSimpleName())
        message = str(cause.getMessage()).partition("\n")[0]
    if kinds & {"SaslAuthenticationException", "SslAuthenticationException", "UnsupportedSaslMechanismException"}:
        return (
            "the broker rejects the user or the password: check sasl.username, password-file, security.protocol and "
            "sasl.mechanism"
        )
    if "TopicAuthorizationException" in kinds:
        return "this user may not read the topic: ask for the permission (ACL)"
    if "InvalidTopicException" in kinds:
        return "this cannot be the name of a topic"
    if "TimeoutException" in kinds:
        return f"no broker answers ({message}): start it first, and check host and port"
    return message


def _options(address: Address) -> dict[str, str]:
    settings = {**_SETTINGS, **java_settings(address)}
    return {**_OPTIONS, "subscribe": address.path, **{f"kafka.{name}": value for name, value in settings.items()}}


def _start(address: Address) -> dict[str, str]:
    if isinstance(address.start, int):
        return {"startingTimestamp": str(address.start), "startingOffsetsByTimestampStrategy": "latest"}
    return {"startingOffsets": address.start or EARLIEST}


def _message() -> Column:
    content_type = sf.filter("headers", lambda header: sf.lower(header["key"]) == "content-type")[0]["value"]
    return sf.struct(
        sf.col("partition"),
        sf.col("offset"),
        sf.unix_millis("timestamp").alias("time"),
        content_type.cast("string").alias("type"),
        sf.col("value"),
        sf.lit(None).cast("string").alias("place"),
        sf.lit(None).cast("string").alias("error"),
    ).alias("message")


def _messages(part: pa.Table, name: str) -> MessageColumns:
    """Messages of columns `MESSAGE`."""
    columns = {column: part[column].combine_chunks() for column in part.column_names}
    partition, offset = columns["partition"], columns["offset"]
    labels = pc.binary_join_element_wise(pc.cast(partition, pa.string()), pc.cast(offset, pa.string()), ".")
    times = columns["time"]
    return MessageColumns(
        columns["value"].cast(pa.large_binary()),
        pc.if_else(pc.less(times, 0), None, times),
        columns["type"],
        labels,
        lambda number: (
            columns["place"][number].as_py()
            or f"{name}, partition {partition[number].as_py()}, offset {offset[number].as_py()}"
        ),
        columns["error"],
    )


def _parts(
    batches: Iterator[pa.RecordBatch], topic: StreamedTopic, report: Callable[[Malformed], None]
) -> Iterator[tuple[pa.Table, pa.Table]]:
    """The messages of each batch, and their elements; each message is in one batch."""
    reader = topic.reader
    for batch in batches:
        messages = pa.table(batch)
        yield messages, reader.table(_messages(messages, topic.name), lambda _, entry: report(entry))


def _elements_of(batches: Iterator[pa.RecordBatch], topic: StreamedTopic) -> Iterator[pa.RecordBatch]:
    for messages, found in _parts(batches, topic, lambda entry: None):
        place = found["message"].combine_chunks()
        columns = [found[name].combine_chunks() for name in ("s", "p", "o", "ts", "g")]
        columns += [messages["partition"].combine_chunks().take(place), messages["offset"].combine_chunks().take(place)]
        yield pa.record_batch([*columns, places_in_messages(found)], schema=_ARROW_ELEMENTS)


def _malformed_of(batches: Iterator[pa.RecordBatch], topic: StreamedTopic) -> Iterator[pa.RecordBatch]:
    malformed: list[Malformed] = []
    for _ in _parts(batches, topic, malformed.append):
        yield batch_of(malformed, ARROW_MALFORMED)
        malformed.clear()
