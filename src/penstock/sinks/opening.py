"""Sinks by what people write: a file, a folder, `-`, or the address of a broker or an endpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self
from uuid import uuid4

from penstock.algebra.model import QueryForm
from penstock.rdf.addresses import Address
from penstock.rdf.credentials import ServiceAuth, service_auth
from penstock.rdf.result_batches import ResultBatch
from penstock.sinks import formats
from penstock.sinks.addresses import EndpointAddress, SinkAddress, sink_address, takes_messages
from penstock.sinks.delivery import Delivery, Receiver, Retries
from penstock.sinks.errors import SinkError
from penstock.sinks.formats import FormatOptions, check_fits
from penstock.sinks.message_sink import MessageSink
from penstock.sinks.messages import MessageWriter
from penstock.sinks.outbox import Outbox
from penstock.sinks.parquet_folder import ParquetFolder
from penstock.sinks.targets import open_target
from penstock.sinks.text_sink import TextSink


class Sink(Protocol):
    """Takes answers."""

    def write(self, batch: ResultBatch, which: range | None = None) -> None:
        """Write some evaluations of a batch, which follow each other, or all."""

    def flush(self) -> None:
        """Make the output visible to readers, except what waits for a commit."""

    def position(self) -> Any:
        """The position to commit, to continue from here, as JSON; None if the sink keeps none."""

    def deliver(self) -> None:
        """The position has been committed: let readers see it."""

    def close(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...


@dataclass(frozen=True, slots=True)
class SinkSettings:
    """`outbox`: the folder of the checkpoint, and the number of the sink in its run. `auth` is for http addresses."""

    outbox: tuple[Path, int] | None = None
    retries: Retries = field(default_factory=Retries)
    auth: ServiceAuth = field(default_factory=service_auth)


def open_sink(
    target: str | Path,
    format: str,
    *forms: QueryForm,
    prefixes: Mapping[str, str] | None = None,
    position: Any = None,
    settings: SinkSettings | None = None,
) -> Sink:
    """Answers of queries to a file, to standard output (`-`), or to an address; `forms` are those of the queries.

    `format` is one of `FORMATS`; `prefixes` shorten IRIs where the format can. With a `position`, which an earlier sink
    returned, the file is truncated there, and writing continues.

    >>> sink = open_sink("answer.csv", "csv", query.form)  # doctest: +SKIP

    Raises `SinkError` where the format does not fit the query, or the target cannot be written.
    """
    address, settings = sink_address(target), settings or SinkSettings()
    format = format_of(address, format)
    check_fits(format, *forms, are_messages=takes_messages(address))
    if isinstance(address, EndpointAddress) or address.is_broker:
        return _message_sink(address, format, forms, prefixes or {}, position, settings)
    if format == formats.PARQUET:
        return ParquetFolder(Path(address.path), keeps=settings.outbox is not None, written=position)
    opened = open_target(address.path, position)
    options = FormatOptions(prefixes or {}, opened.is_terminal, len(forms) > 1)
    return TextSink(opened, formats.writer(format, options), formats.variables_of(forms))


def is_delivered(target: str | Path, position: Any, settings: SinkSettings) -> bool:
    """Whether all that a commit contains has left."""
    address = sink_address(target)
    if takes_messages(address):
        assert settings.outbox is not None
        return not Outbox(*settings.outbox, position).has_messages
    return not isinstance(position, dict) or not position["waiting"]


def format_of(address: SinkAddress, format: str) -> str:
    """The format of an address: its own, or `format`."""
    if isinstance(address, EndpointAddress) and address.is_for_updates:
        if address.format is not None:
            raise SinkError(f"{address.name}: a SPARQL Update endpoint takes no format: remove format={address.format}")
        return formats.UPDATE
    chosen = address.format or format
    if chosen == formats.PARQUET and isinstance(address, Address) and address.is_standard_input:
        raise SinkError("parquet is written to a folder: name one, as in --out answers/")
    return chosen


def _message_sink(
    address: SinkAddress,
    format: str,
    forms: Sequence[QueryForm],
    prefixes: Mapping[str, str],
    position: Any,
    settings: SinkSettings,
) -> MessageSink:
    writer = formats.writer(format, FormatOptions(prefixes, are_messages=True))
    outbox = None if settings.outbox is None else Outbox(*settings.outbox, position)
    run = uuid4().hex if outbox is None else outbox.run
    receiver = _receiver(address, formats.media_type(format), run, settings.auth)
    messages = MessageWriter(writer, formats.variables_of(forms), _most_bytes(address))
    delivery = Delivery(receiver, settings.retries, 0 if outbox is None else outbox.sent)
    sink = MessageSink(messages, delivery, outbox)
    try:
        delivery.connect()
        sink.deliver()
    except BaseException:
        sink.close()
        raise
    return sink


# Receivers


def _receiver(address: SinkAddress, media_type: str, run: str, auth: ServiceAuth) -> Receiver:
    if isinstance(address, EndpointAddress):
        from penstock.sinks.sparql_update import UpdateEndpoint
        from penstock.sinks.webhook import Webhook

        return UpdateEndpoint(address.url, auth) if address.is_for_updates else Webhook(address.url, media_type, auth)
    return _kafka(address, media_type, run) if address.scheme == "kafka" else _mqtt(address, media_type)


def _kafka(address: Address, media_type: str, run: str) -> Receiver:
    try:
        from penstock.sinks.kafka import KafkaReceiver
    except ImportError:
        raise SinkError("kafka:// needs a package that is not installed: pip install 'penstock[kafka]'") from None
    return KafkaReceiver(address, run, media_type)


def _mqtt(address: Address, media_type: str) -> Receiver:
    try:
        from penstock.sinks.mqtt import MqttReceiver
    except ImportError:
        raise SinkError("mqtt:// needs a package that is not installed: pip install 'penstock[mqtt]'") from None
    return MqttReceiver(address, media_type)


def _most_bytes(address: SinkAddress) -> int | None:
    """The size above which an evaluation is divided. Kafka's limit includes the key and the headers."""
    if isinstance(address, EndpointAddress) or address.scheme != "kafka":
        return None
    limit = address.settings.get("message.max.bytes", "1000000")
    if not limit.isdecimal():
        raise SinkError(f"message.max.bytes={limit}: this is not a number of bytes")
    return int(0.9 * int(limit))
