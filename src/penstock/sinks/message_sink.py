"""Answers as messages, to a broker or an endpoint."""

from __future__ import annotations

from types import TracebackType
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc

from penstock.rdf.result_batches import ResultBatch
from penstock.sinks.delivery import Delivery
from penstock.sinks.messages import MessageWriter
from penstock.sinks.outbox import Outbox, OutboxPosition

_MOST_BYTES = 4 << 20
"""Without an outbox, messages are sent when this many are waiting, and at the latest by `flush`."""


class MessageSink:
    """With an outbox, messages are sent when they have been committed; without one, at once."""

    def __init__(self, writer: MessageWriter, delivery: Delivery, outbox: Outbox | None) -> None:
        self._writer = writer
        self._delivery = delivery
        self._outbox = outbox
        self._pending: list[pa.Table] = []
        self._pending_bytes = 0

    def write(self, batch: ResultBatch, which: range | None = None) -> None:
        messages = self._writer.messages(batch, range(len(batch)) if which is None else which)
        if self._outbox is not None:
            self._outbox.append(messages)
            return
        self._pending.append(messages)
        self._pending_bytes += pc.sum(pc.binary_length(messages["value"])).as_py() or 0
        if self._pending_bytes > _MOST_BYTES:
            self.flush()

    def flush(self) -> None:
        if self._pending:
            self._delivery.send(pa.concat_tables(self._pending), self._delivery.sent)
        self._pending.clear()
        self._pending_bytes = 0

    def position(self) -> OutboxPosition | None:
        return None if self._outbox is None else self._outbox.position()

    def deliver(self) -> None:
        if self._outbox is None:
            return
        before = self._outbox.sent
        for messages in self._outbox.messages():
            self._delivery.send(messages, before)
            before += messages.num_rows
        self._outbox.clear()

    def close(self) -> None:
        self._delivery.close()
        if self._outbox is not None:
            self._outbox.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self.flush()
        finally:
            self.close()
