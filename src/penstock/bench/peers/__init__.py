"""The systems that Penstock is compared with, each with its own way of reading the data.

A peer answers a query over one window and a static graph. Each is used in the best way known, and its answers are
compared with Penstock's before any time is measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from penstock.bench.answers import Answer, answer_of
from penstock.rdf.results import Evaluation

SHORT = 10_500
"""The number of triples in a stream for slow peers: a window of 10 s, and slightly more."""

Rows: TypeAlias = Sequence[tuple[Any, ...]]
"""Rows of the peer's own terms, in the order of the query's variables."""


@dataclass(frozen=True, slots=True)
class WindowQuery:
    """A SELECT at each closing instant of RANGE `width` STEP `step`, in milliseconds; the origin is 0.

    `rspql` is the whole query; `sparql` is the same for a store with the content of a window and the static graph.
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
        """The longest stream that finishes in reasonable time; None means no limit."""

    def evaluate(self, asked: WindowQuery, stream: Path, graph: Path) -> Iterator[tuple[int, Rows]]:
        """The rows at each closing instant up to the last timestamp, from the files."""

    def as_terms(self, rows: Rows) -> Rows:
        """The same rows with pyoxigraph's terms."""

    def run(self, asked: WindowQuery, stream: Path, graph: Path) -> None:
        """Computes all rows; this is what is timed."""


def answer_of_peer(peer: Peer, asked: WindowQuery, stream: Path, graph: Path) -> Answer:
    return answer_of(
        Evaluation(peer.name, time, asked.variables, tuple(peer.as_terms(rows)))
        for time, rows in peer.evaluate(asked, stream, graph)
    )
