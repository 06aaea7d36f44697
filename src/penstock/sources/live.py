"""Live sources: standard input, named pipes, and other open streams."""

from __future__ import annotations

import queue
import threading
import time
from _thread import LockType
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import BinaryIO, TypeAlias

from penstock.rdf.elements import Element, Malformed, OnMalformed
from penstock.rdf.errors import SourceError
from penstock.sources.batches import MOST_SECONDS, Batch, Position, WrappedSource
from penstock.sources.blocks import blocks, pieces_as_they_come
from penstock.sources.files import tnt_batches
from penstock.sources.tables import table_of

OpenStream: TypeAlias = Callable[[], AbstractContextManager[BinaryIO]]

_MOST_WAITING = 10_000
"""The number of elements that are read ahead."""


@dataclass(frozen=True, slots=True)
class LiveTnt:
    """Lines of `.tnt` as they arrive."""

    name: str
    open: OpenStream
    scope: str
    most_elements: int
    is_live: bool = field(default=True, init=False)
    can_resume: bool = field(default=False, init=False)

    def batches(self, position: Position | None = None) -> Iterator[Batch]:
        with self.open() as stream:
            yield from tnt_batches(blocks(pieces_as_they_come(stream)), self.name, self.scope, self.most_elements)


@dataclass(frozen=True, slots=True)
class LiveElements:
    """Elements of any other format as they arrive; a thread waits for them."""

    name: str
    read: Callable[[OnMalformed], Iterator[Element]]
    most_elements: int
    is_live: bool = field(default=True, init=False)
    can_resume: bool = field(default=False, init=False)

    def batches(self, position: Position | None = None) -> Iterator[Batch]:
        arrivals: queue.Queue[Element | Malformed | BaseException | None] = queue.Queue(_MOST_WAITING)
        threading.Thread(target=self._wait, args=(arrivals,), name=f"reading {self.name}", daemon=True).start()
        has_ended = False
        while not has_ended:
            elements: list[Element] = []
            malformed: list[Malformed] = []
            for arrived in _together(arrivals, self.most_elements):
                if isinstance(arrived, Element):
                    elements.append(arrived)
                elif isinstance(arrived, Malformed):
                    malformed.append(arrived)
                elif arrived is None:
                    has_ended = True
                else:
                    raise arrived
            if elements or malformed:
                yield Batch(table_of(elements), {}, tuple(malformed))

    def _wait(self, arrivals: queue.Queue[Element | Malformed | BaseException | None]) -> None:
        try:
            for element in self.read(arrivals.put):
                arrivals.put(element)
            arrivals.put(None)
        except BaseException as error:
            arrivals.put(error)


@dataclass(frozen=True)
class ReadOnce(WrappedSource):
    """A source that can be read only once, such as an iterator.

    Reading it again is an error, because an empty stream would lead to a wrong answer. `instead` says what to do.
    """

    instead: str
    _is_read: LockType = field(default_factory=threading.Lock, init=False)

    def batches(self, position: Position | None = None) -> Iterator[Batch]:
        """Raises `SourceError` the second time."""
        if not self._is_read.acquire(blocking=False):
            raise SourceError(f"{self.name}: {self.instead}")
        return self.source.batches(position)


def _together(
    arrivals: queue.Queue[Element | Malformed | BaseException | None], most: int
) -> Iterator[Element | Malformed | BaseException | None]:
    """The next arrival, and those with it or shortly after it."""
    arrived = arrivals.get()
    until = time.monotonic() + MOST_SECONDS
    count = 0
    while True:
        yield arrived
        count += 1
        if arrived is None or count >= most or time.monotonic() >= until:
            return
        try:
            arrived = arrivals.get_nowait()
        except queue.Empty:
            return
