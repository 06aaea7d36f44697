"""What the runtime asks of an engine: tables of input, instants, answers, and that it forgets what nobody needs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import pyarrow as pa
from pyoxigraph import Triple

from penstock.algebra.inputs import GraphTriple
from penstock.algebra.model import ContinuousQuery
from penstock.algebra.operators import Operator
from penstock.algebra.services import ServiceAnswer, ServiceCall
from penstock.engines.solutions import Solutions
from penstock.optimizer import Sizes
from penstock.relational.answers import Delivery
from penstock.relational.static_parts import KeptPart
from penstock.sources.graphs import Graph

Asked = tuple[str, str | None]
"""A predicate and, if that matters, an object, encoded: what a triple may have."""


class StorageError(Exception):
    """What an engine keeps on disk cannot be read or written: the message says why."""


@dataclass(frozen=True, slots=True)
class Slice:
    """Evaluation instants that are answered at a time; `previous` is the one before them."""

    instants: Sequence[int]
    previous: int | None = None


@dataclass(frozen=True, slots=True)
class Need:
    """What a query needs of its streams: what counts at instants from the horizon on; without one, all there is."""

    query: ContinuousQuery
    horizon: int | None


@dataclass(frozen=True, slots=True)
class Seen:
    """What there is of a stream: the least timestamp is that of what came in time."""

    elements: int
    least: int | None
    greatest: int | None
    has_late: bool


class CompiledQuery(Protocol):
    """One delivery of one query, ready to be evaluated."""

    @property
    def variables(self) -> tuple[str, ...]: ...

    @property
    def joins_streams(self) -> bool:
        """Whether it joins rows of streams with each other: what does not meet in time is joined in vain."""

    def evaluate(self, part: Slice) -> Solutions:
        """The solutions: rows are the values of the variables, encoded, in their order."""


class CompiledReport(Protocol):
    def instants(self, first: int, last: int, end: int | None) -> list[int]:
        """The instants in `[first, last]` at which a window reports; `end` is where the streams end, if known."""

    def last_end(self, first: int) -> int | None:
        """Until when windows are open that hold something at or after `first`."""


class Engine(Protocol):
    @property
    def state(self) -> Mapping[str, Mapping[str, Any]]:
        """What it knows of its streams beside their rows; JSON can hold it."""

    def restore(self, state: Mapping[str, Mapping[str, Any]]) -> None: ...

    @property
    def sizes(self) -> Sizes:
        """How much of each predicate streams and graphs lately had, as far as it was counted."""

    @property
    def kept(self) -> Sequence[KeptPart]:
        """What is static in queries and has been computed, once."""

    @property
    def has_changing_graphs(self) -> bool:
        """Whether a graph, or what a service answers, changes with time."""

    def close(self) -> None:
        """Nobody asks any more."""

    def add_stream(self, iri: str, *, is_given: bool = False, is_named: bool = False) -> None:
        """`is_given`: by another query. Where a query reads every stream, it means those from outside.

        `is_named`: a query reads the names of elements, which are not kept otherwise.
        """

    def keeps_names(self, stream: str) -> bool:
        """Whether the names of its elements are kept."""

    def arrived(self, stream: str) -> int:
        """How many triples of a stream there have been."""

    def load_graph(self, iri: str | None, graph: Graph) -> None:
        """The graph under this name, in place of what was there. Raises `SourceError` where it is malformed."""

    @property
    def graphs(self) -> Collection[str | None]:
        """The names of the graphs that are there; None is the unnamed one."""

    def lacking(self, asked: Sequence[Asked]) -> set[Asked]:
        """Of what is asked for, that which no triple of any stream or graph has had, as far as that is known."""

    def held(self, iri: str | None, triples: Sequence[Triple]) -> list[GraphTriple]:
        """When the triples are in a graph, as far as they are."""

    def revise_graph(
        self, iri: str | None, triples: Sequence[Triple], held: Sequence[GraphTriple], needed: int
    ) -> None:  # fmt: skip
        """Triples that are in a graph at other times than before, if at all; what has ended by `needed` may go."""

    @property
    def services(self) -> Collection[ServiceCall]:
        """The services whose answers are there."""

    def load_answers(self, call: ServiceCall, answers: Sequence[ServiceAnswer]) -> None:
        """All that a service has answered; what it answered before is no longer there."""

    def append(self, stream: str, rows: pa.Table) -> None:
        """Rows `(s, p, o, ts, element, since)` of a stream, as they came; `element` goes on from batch to batch."""

    def compile(
        self, query: ContinuousQuery, expression: Operator, delivery: Delivery, *, is_optimized: bool
    ) -> CompiledQuery: ...

    def compile_dataset(self, query: ContinuousQuery) -> CompiledQuery:
        """All triples there are."""

    def compile_report(self, query: ContinuousQuery) -> CompiledReport: ...

    def uncounted(self, query: ContinuousQuery, stream: str) -> pa.Table:
        """What came too late to count for the query, of all that is there."""

    def evict(self, needs: Sequence[Need]) -> int:
        """Forget what no query needs, these being all of them; how many triples are kept for them."""

    def interrupt(self) -> None:
        """End the statement that is running, if there is one; another thread may say so."""


@runtime_checkable
class OpenEngine(Engine, Protocol):
    """An engine to which queries can come while it answers others.

    What it keeps of a stream is all after the instants that it has been told to forget, so a query that comes then
    finds what is after them; its dataset says after which (`Dataset.after`).
    """

    def seen(self, stream: str, after: int | None) -> Seen:
        """What there is of a stream after an instant, or at all."""

    def forget(self, needs: Sequence[Need], until: int) -> None:
        """No other queries are left: what is made for others goes, and what nobody reads, up to an instant."""
