"""What Penstock is measured beside, each with its own way of reading the data.

A peer answers a query over one window and a static graph. Each is driven in the best way that we know, and its answers
are compared with Penstock's before anything is timed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from penstock.bench.answers import Answer, answer_of
from penstock.rdf.results import Evaluation

SHORT = 10_500
"""Triples of a stream for slow peers: a window of 10 s, and a little more."""

Rows: TypeAlias = Sequence[tuple[Any, ...]]
"""Of terms as the peer has them, in the order of the query's variables."""


@dataclass(frozen=True, slots=True)
class WindowQuery:
    """A SELECT at each closing instant of RANGE `width` STEP `step`, in milliseconds; the origin is 0.

    `rspql` is the whole query; `sparql` asks the same of a store that holds a window's content and the static graph.
    """

    rspql: str
    sparql: str
    variables: tuple[str, ...]
    width: int
    step: int


class Peer(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def most_triples(self) -> int | None:
        """A longer stream would take it too long to wait for; None: any will do."""

    def evaluate(self, asked: WindowQuery, stream: Path, graph: Path) -> Iterator[tuple[int, Rows]]:
        """The rows at each closing instant up to the last timestamp, from the files."""

    def as_terms(self, rows: Rows) -> Rows:
        """The same rows, of pyoxigraph's terms."""

    def run(self, asked: WindowQuery, stream: Path, graph: Path) -> None:
        """What is timed: all rows are made."""


def answer_of_peer(peer: Peer, asked: WindowQuery, stream: Path, graph: Path) -> Answer:
    return answer_of(
        Evaluation(peer.name, time, asked.variables, tuple(peer.as_terms(rows)))
        for time, rows in peer.evaluate(asked, stream, graph)
    )
