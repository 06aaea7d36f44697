"""The interface between a run and a store of windows: keep rows, report instants, evaluate slices, evict rows."""

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
"""A predicate and, if it matters, an object, encoded: the constants that a triple may have."""

Rows = TypeVar("Rows", covariant=True)
"""The input of a batch: tables by their streams, a micro-batch of Spark, or whole histories."""

TakenRows = TypeVar("TakenRows", contravariant=True)
"""The input that a store accepts."""


Windows = Literal["auto", "driver", "cluster"]
"""Where a run on Spark evaluates its windows: `driver` is DuckDB beside the driver, `cluster` is Spark SQL, and `auto`
is DuckDB as long as they fit.
"""


class StorageError(Exception):
    """A store cannot read or write its files: the message gives the reason."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Capabilities of a store of windows beyond the methods of every store."""

    admits_queries: bool
    """Queries may join a run, and see the input after the instant that the run has reached (`Dataset.after`)."""
    restarts: bool
    """It is a `RestartableStore`."""
    answers_at_once: bool
    """It contains complete streams: all instants are one slice."""


@dataclass(frozen=True, slots=True)
class Slice:
    """Evaluation instants that are evaluated together; `previous` is the instant before them."""

    instants: Sequence[int]
    previous: int | None = None


@dataclass(frozen=True, slots=True)
class Need:
    """The rows that a query needs of its streams: those that count at or after the horizon; without a horizon, all
    rows.
    """

    query: ContinuousQuery
    horizon: int | None


@dataclass(frozen=True, slots=True)
class Reached:
    """The state of a stream before rows are appended: its greatest timestamp, and the instant that its readers have
    reached.
    """

    greatest: int | None = None
    evaluated: int | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """The elements of a batch; `least` is the least timestamp of those in time, `greatest` the greatest of all."""

    elements: int
    least: int | None
    greatest: int | None
    has_late: bool


@dataclass(frozen=True, slots=True)
class IntakeBatch(Generic[Rows]):
    """A batch of an intake, numbered from 0; `rows` is None if only time has passed."""

    number: int
    rows: Rows | None = None
    malformed: Sequence[tuple[str, Malformed]] = ()
    """Malformed input, with its stream."""
    positions: Mapping[str, Any] | None = None
    """The position after the batch, for each source."""
    now: int | None = None
    """The time of arrival, if elements are stamped as they arrive."""


@dataclass(frozen=True, slots=True)
class WholeStream:
    """A complete stream; `queries` are its readers, None for a query whose windows are not known yet."""

    source: Source
    queries: Sequence[ContinuousQuery] | None


@dataclass(frozen=True, slots=True)
class Appended:
    """The elements of a batch in each stream, and the malformed input found when it was read."""

    seen: Mapping[str, Seen]
    malformed: Iterable[tuple[str, Malformed]] = ()


class CompiledQuery(Protocol):
    """One delivery of one query, ready to be evaluated."""

    @property
    def variables(self) -> tuple[str, ...]: ...

    @property
    def joins_streams(self) -> bool:
        """Whether it joins rows of streams with each other: pairs of rows that never share a window are wasted work."""

    def evaluate(self, part: Slice) -> Solutions:
        """The solutions; a row has the encoded values of the variables, in order."""


class CompiledReport(Protocol):
    def instants(self, first: int, last: int, end: int | None) -> list[int]:
        """The instants in `[first, last]` at which a window reports; `end` is the end of the streams, if known."""

    def last_end(self, first: int) -> int | None:
        """The time until which windows with content at or after `first` are open."""


class WindowStore(Protocol[TakenRows]):
    """The windows of a run: the rows of streams that an instant may need, graphs, and statements over both."""

    @property
    def capabilities(self) -> Capabilities: ...

    # Streams

    def add_stream(self, iri: str, *, is_produced: bool = False, is_named: bool = False) -> None:
        """`is_produced`: another query produces it. A query that reads every stream reads only streams from outside.

        `is_named`: a query reads the names of elements, which are not kept otherwise.
        """

    def keeps_names(self, stream: str) -> bool:
        """Whether the names of its elements are kept."""

    def append(
        self, batch: IntakeBatch[TakenRows], reached: Mapping[str, Reached], lateness: int
    ) -> Appended:  # fmt: skip
        """Keep the rows of a batch; each late row has the watermark that it is behind."""

    def append_produced(self, number: int, stream: str, rows: pa.Table) -> Seen:
        """Keep rows `(s, p, o, ts, element)` that a query produced in a batch: in time and in order."""

    def elements(self, stream: str) -> int:
        """The number of elements of a stream that have arrived."""

    def arrived(self, stream: str) -> int:
        """The number of triples of a stream that have arrived."""

    def seen(self, stream: str, after: int | None, *, lately: bool = False) -> Seen:
        """The elements of a stream after an instant, or all; `lately`: among those appended last."""

    def uncounted(self, query: ContinuousQuery, stream: str) -> pa.Table:
        """The rows that arrived too late to count for the query."""

    def evict(self, needs: Sequence[Need], until: int | None) -> int:
        """Evict rows that no query needs; these are all queries. Returns the number of triples that are kept.

        If no query reads a stream, its rows after `until` are kept for queries that may join; None keeps all.
        """

    def forget(self, needs: Sequence[Need], until: int) -> None:
        """These are all queries: drop everything made for others, and rows that no query reads, up to an instant."""

    # Graphs and services

    def load_graph(self, iri: str | None, graph: Graph) -> None:
        """Set the graph with this name. Raises `SourceError` if it is malformed."""

    @property
    def graphs(self) -> Collection[str | None]:
        """The names of the graphs; None is the unnamed one."""

    @property
    def has_changing_graphs(self) -> bool:
        """Whether a graph, or the answer of a service, changes with time."""

    def held(self, iri: str | None, triples: Sequence[Triple]) -> list[GraphTriple]:
        """The validity of those triples that are in a graph."""

    def revise_graph(
        self, iri: str | None, triples: Sequence[Triple], held: Sequence[GraphTriple], needed: int
    ) -> None:  # fmt: skip
        """Set the validity of triples in a graph; intervals that end by `needed` may be dropped."""

    @property
    def services(self) -> Collection[ServiceCall]:
        """The services whose answers have been set."""

    def load_answers(self, call: ServiceCall, answers: Sequence[ServiceAnswer]) -> None:
        """Set the answers of a service."""

    def lacking(self, asked: Sequence[Asked]) -> set[Asked]:
        """The constants among these that no triple of any stream or graph has had, as far as that is known."""

    # Answers

    def compile(
        self, query: ContinuousQuery, expression: Operator, delivery: Delivery, *, is_optimized: bool
    ) -> CompiledQuery: ...

    def compile_dataset(self, query: ContinuousQuery) -> CompiledQuery:
        """All triples of the dataset."""

    def compile_report(self, query: ContinuousQuery) -> CompiledReport: ...

    @property
    def sizes(self) -> Sizes:
        """The recent number of triples with each predicate in streams and graphs, as far as they were counted."""

    @property
    def kept(self) -> Sequence[KeptPart]:
        """The static parts of queries that have been computed."""

    @property
    def evaluated_by(self) -> str:
        """The current evaluator of the windows, and its place, in a few words."""

    # The end

    def interrupt(self) -> None:
        """End the running statement, if there is one; any thread may call this."""

    def close(self) -> None:
        """Release the resources of the store."""


class RestartableStore(WindowStore[TakenRows], Protocol[TakenRows]):
    """A store that another process can continue."""

    @property
    def state(self) -> Mapping[str, Any]:
        """Its knowledge of its streams, without their rows, as JSON."""

    def restore(self, state: Mapping[str, Any]) -> None: ...
