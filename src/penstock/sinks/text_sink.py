"""Answers as one text (or one sequence of frames), in a file or on standard output."""

from __future__ import annotations

from types import TracebackType
from typing import Self
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa

from penstock.rdf.result_batches import ResultBatch
from penstock.sinks.lines import Writer
from penstock.sinks.targets import Target


class TextSink:
    """Writes answers, one after the other; `variables` are those of a SELECT query."""

    def __init__(self, target: Target, writer: Writer, variables: tuple[str, ...]) -> None:
        self._target = target
        self._writer = writer
        self._variables = variables
        self._texts: WeakKeyDictionary[ResultBatch, pa.Array] = WeakKeyDictionary()
        """Those of batches that are being written: a batch may be written in parts, between others."""

    def write(self, batch: ResultBatch, which: range | None = None) -> None:
        which = range(len(batch)) if which is None else which
        self._begin()
        if batch not in self._texts:
            self._texts[batch] = self._writer.texts(batch)
        texts = self._texts[batch]
        _, offsets, content = texts.buffers()
        if which and content is not None:
            bounds = np.frombuffer(offsets, np.int64)
            self._target.write(content[bounds[texts.offset + which.start] : bounds[texts.offset + which.stop]])

    def _begin(self) -> None:
        if self._target.is_empty:
            self._target.write(self._writer.beginning(self._variables).encode())

    def flush(self) -> None:
        self._target.flush()

    def position(self) -> int | None:
        """How many bytes there are, all of them safe on the disk; None where the target keeps nothing."""
        return self._target.position()

    def deliver(self) -> None:
        """Written output needs no delivery."""

    def close(self) -> None:
        self._target.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if not isinstance(error, Exception):  # an answer without solutions has a header, too, also after Ctrl-C
            self._begin()
        self.close()
