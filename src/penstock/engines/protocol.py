"""What a run asks of a store of windows: keep rows, report instants, answer slices, forget what nobody needs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, TypeVar

import pyarrow as pa
from pyoxigraph import Triple

from penstock.algebra.inputs import GraphTriple
from penstock.algebra.model import ContinuousQuery
from penstock.algebra.operators import Operator
from penstock.algebra.services import ServiceAnswer, ServiceCall
from penstock.engines.solutions import Solutions
from penstock.optimizer import Sizes
from penstock.rdf.elements import Malformed
from penstock.relational.answers import Delivery
from penstock.relational.static_parts import KeptPart
from penstock.sources.batches import Source
from penstock.sources.graphs import Graph

Asked = tuple[str, str | None]
"""A predicate and, if that matters, an object, encoded: what a triple may have."""

Rows = TypeVar("Rows", covariant=True)
"""What an intake brings: tables by their streams, a micro-batch of Spark, or whole histories."""

TakenRows = TypeVar("TakenRows", contravariant=True)
"""What a store takes."""


Windows = Literal["auto", "driver", "cluster"]
"""Where the windows of a run on Spark are evaluated: Python beside the data, the driver, or Spark SQL."""


class StorageError(Exception):
    """A store cannot read or write its files: the message says why."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a store of windows can do beyond the methods of every store."""

    admits_queries: bool
    """Queries may join a run, and see what is after the instant that the run has reached (`Dataset.after`)."""
    restarts: bool
    """It is a `RestartableStore`."""
    answers_at_once: bool
    """It holds complete streams: all instants are one slice."""


@dataclass(frozen=True, slots=True)
class Slice:
    """Evaluation instants that are answered together; `previous` is the instant before them."""

    instants: Sequence[int]
    previous: int | None = None


@dataclass(frozen=True, slots=True)
class Need:
    """What a query needs of its streams: rows that count at or after the horizon; without a horizon, all rows."""

    query: ContinuousQuery
    horizon: int | None


@dataclass(frozen=True, slots=True)
class Reached:
    """What is known of a stream before rows are appended: its greatest timestamp, and how far its readers are."""

    greatest: int | None = None
    evaluated: int | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """Elements of a stream; `least` is the least timestamp of those in time, `greatest` the greatest of all."""

    elements: int
    least: int | None
    greatest: int | None
    has_late: bool


@dataclass(frozen=True, slots=True)
class IntakeBatch(Generic[Rows]):
    """What an intake brings at a time, numbered from 0; `rows` is None where only time has passed."""

    number: int
    rows: Rows | None = None
    malformed: Sequence[tuple[str, Malformed]] = ()
    """Malformed input, with its stream."""
    positions: Mapping[str, Any] | None = None
    """Where each source continues after the batch."""
    now: int | None = None
    """The time of arrival, where elements are stamped as they arrive."""


@dataclass(frozen=True, slots=True)
class WholeStream:
    """A stream that is all there; `queries` are its readers, None where one does not know its windows yet."""

    source: Source
    queries: Sequence[ContinuousQuery] | None


@dataclass(frozen=True, slots=True)
class Appended:
    """What a batch had of each stream, and what turned out to be malformed when it was read."""

    seen: Mapping[str, Seen]
    malformed: Iterable[tuple[str, Malformed]] = ()


class CompiledQuery(Protocol):
    """One delivery of one query, ready to be evaluated."""

    @property
    def variables(self) -> tuple[str, ...]: ...

    @property
    def joins_streams(self) -> bool:
        """Whether it joins rows of streams with each other: rows that never share a window are joined in vain."""

    def evaluate(self, part: Slice) -> Solutions:
        """The solutions; a row has the encoded values of the variables, in order."""


class CompiledReport(Protocol):
    def instants(self, first: int, last: int, end: int | None) -> list[int]:
        """The instants in `[first, last]` at which a window reports; `end` is where the streams end, if known."""

    def last_end(self, first: int) -> int | None:
        """Until when windows are open that hold something at or after `first`."""


class WindowStore(Protocol[TakenRows]):
    """The windows of a run: rows of streams as long as an instant may need them, graphs, and statements over both."""

    @property
    def capabilities(self) -> Capabilities: ...

    # Streams

    def add_stream(self, iri: str, *, is_given: bool = False, is_named: bool = False) -> None:
        """`is_given`: another query produces it. A query that reads every stream reads those from outside.

        `is_named`: a query reads the names of elements, which are not kept otherwise.
        """

    def keeps_names(self, stream: str) -> bool:
        """Whether the names of its elements are kept."""

    def append(
        self, batch: IntakeBatch[TakenRows], reached: Mapping[str, Reached], lateness: int
    ) -> Appended:  # fmt: skip
        """Keep the rows of a batch, each late one with the watermark that it is behind."""

    def give(self, number: int, stream: str, rows: pa.Table) -> Seen:
        """Keep rows `(s, p, o, ts, element)` that a query produced in a batch: in time and in order."""

    def elements(self, stream: str) -> int:
        """How many elements of a stream have arrived."""

    def arrived(self, stream: str) -> int:
        """How many triples of a stream have arrived."""

    def seen(self, stream: str, after: int | None, *, lately: bool = False) -> Seen:
        """The elements of a stream after an instant, or all; `lately`: among those appended last."""

    def uncounted(self, query: ContinuousQuery, stream: str) -> pa.Table:
        """Rows that arrived too late to count for the query, of all that are there."""

    def evict(self, needs: Sequence[Need], until: int | None) -> int:
        """Forget rows that no query needs; these are all queries. Returns how many triples are kept.

        Of a stream that nobody reads, rows after `until` are kept for queries that may join; None keeps all.
        """

    def forget(self, needs: Sequence[Need], until: int) -> None:
        """These are all queries: forget what was made for others, and what nobody reads up to an instant."""

    # Graphs and services

    def load_graph(self, iri: str | None, graph: Graph) -> None:
        """Set the graph of this name. Raises `SourceError` where it is malformed."""

    @property
    def graphs(self) -> Collection[str | None]:
        """The names of the graphs; None is the unnamed one."""

    @property
    def has_changing_graphs(self) -> bool:
        """Whether a graph, or the answer of a service, changes with time."""

    def held(self, iri: str | None, triples: Sequence[Triple]) -> list[GraphTriple]:
        """When the triples are in a graph, as far as they are."""

    def revise_graph(
        self, iri: str | None, triples: Sequence[Triple], held: Sequence[GraphTriple], needed: int
    ) -> None:  # fmt: skip
        """Set when triples are in a graph; intervals that end by `needed` may go."""

    @property
    def services(self) -> Collection[ServiceCall]:
        """The services whose answers are there."""

    def load_answers(self, call: ServiceCall, answers: Sequence[ServiceAnswer]) -> None:
        """Set the answers of a service."""

    def lacking(self, asked: Sequence[Asked]) -> set[Asked]:
        """Of these, what no triple of any stream or graph has had, as far as that is known."""

    # Answers

    def compile(
        self, query: ContinuousQuery, expression: Operator, delivery: Delivery, *, is_optimized: bool
    ) -> CompiledQuery: ...

    def compile_dataset(self, query: ContinuousQuery) -> CompiledQuery:
        """All triples of the dataset."""

    def compile_report(self, query: ContinuousQuery) -> CompiledReport: ...

    @property
    def sizes(self) -> Sizes:
        """How many triples of each predicate streams and graphs had lately, as far as they were counted."""

    @property
    def kept(self) -> Sequence[KeptPart]:
        """Static parts of queries that have been computed once."""

    @property
    def evaluated_by(self) -> str:
        """Who evaluates the windows now, and where, in a few words."""

    # The end

    def interrupt(self) -> None:
        """End the running statement, if there is one; any thread may call this."""

    def close(self) -> None:
        """Release what the store holds."""


class RestartableStore(WindowStore[TakenRows], Protocol[TakenRows]):
    """A store that another process can continue with."""

    @property
    def state(self) -> Mapping[str, Any]:
        """What it knows of its streams beside their rows; JSON can hold it."""

    def restore(self, state: Mapping[str, Any]) -> None: ...
