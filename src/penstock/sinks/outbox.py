"""Messages that wait in the folder of a checkpoint until the state of their batch is committed.

A message must leave after the commit: if the run is killed before it, the batch is evaluated again, perhaps from other
pieces of the input, and messages that had left already might differ from the new ones. It must also survive a crash
after the commit. So the messages of a batch are in a file that is on the disk before the commit, and the committed
position counts them:

| killed | the next run |
|---|---|
| before the commit | finds the position before the batch, removes the file, and evaluates the batch again |
| between the commit and the end of the delivery | finds the file, and delivers it |
| after the delivery, before the file is removed | finds the file, and delivers it again: the receiver knows how many messages of the run it has (kafka.py), or takes the same graph again (sparql_update.py), or drops keys that it has seen |
| after that | finds no file: there is nothing to deliver |
"""  # noqa: E501

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TypedDict
from uuid import uuid4

import pyarrow as pa

from penstock.rdf.durability import sync_folder
from penstock.sinks.errors import told
from penstock.sinks.messages import SCHEMA

_MOST_BYTES = 4 << 20
"""About this many bytes are read at a time."""


class OutboxPosition(TypedDict):
    """A committed position: the name of the run, how many messages it has delivered, and how many wait in the file."""

    run: str
    sent: int
    waiting: int


class Outbox:
    """The messages of one sink; `number` distinguishes the sinks of a run."""

    def __init__(self, folder: Path, number: int, written: OutboxPosition | None = None) -> None:
        self.run = uuid4().hex if written is None else written["run"]
        self.sent = 0 if written is None else written["sent"]
        self._waiting = 0 if written is None else written["waiting"]
        self._prefix = folder / f"outbox-{number}"
        self._writer: pa.RecordBatchStreamWriter | None = None
        self._file: pa.NativeFile | None = None
        with told(str(folder)):
            for path in folder.glob(f"{self._prefix.name}.*"):
                if path != self._path or not self._waiting:
                    path.unlink()

    @property
    def _path(self) -> Path:
        """Messages after those that were sent."""
        return self._prefix.with_name(f"{self._prefix.name}.{self.sent}")

    def append(self, messages: pa.Table) -> None:
        with told(str(self._path)):
            if self._writer is None:
                self._file = self._path.open("wb")
                self._writer = pa.ipc.new_stream(self._file, SCHEMA)
            self._writer.write_table(messages)
        self._waiting += messages.num_rows

    def position(self) -> OutboxPosition:
        """The position to commit; the messages are on the disk."""
        if self._writer is not None and self._file is not None:
            with told(str(self._path)):
                self._writer.close()
                self._file.flush()
                os.fsync(self._file.fileno())
                self._file.close()
                sync_folder(self._path.parent)
            self._writer = self._file = None
        return {"run": self.run, "sent": self.sent, "waiting": self._waiting}

    @property
    def has_messages(self) -> bool:
        """Whether messages were committed and not delivered."""
        return bool(self._waiting) and self._path.exists()

    def messages(self) -> Iterator[pa.Table]:
        """The messages that were committed and not delivered, a few at a time."""
        if self.has_messages:
            with told(str(self._path)), self._path.open("rb") as file:
                read: list[pa.RecordBatch] = []
                for batch in pa.ipc.open_stream(file):
                    read.append(batch)
                    if sum(each.nbytes for each in read) > _MOST_BYTES:
                        yield pa.Table.from_batches(read)
                        read.clear()
                yield pa.Table.from_batches(read, SCHEMA)

    def clear(self) -> None:
        """All have been delivered."""
        self._path.unlink(missing_ok=True)
        self.sent += self._waiting
        self._waiting = 0

    def close(self) -> None:
        """Messages that no commit contains are lost."""
        if self._file is not None:
            self._file.close()
