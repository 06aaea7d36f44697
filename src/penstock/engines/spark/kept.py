"""Static parts of queries, computed once and kept on Spark.

The driver holds small parts, and Spark broadcasts them to all executors (a broadcast join): the size of the underlying
graphs does not matter any more. Large parts stay on the executors: persisted, and partitioned by the first join
variable, so that rows of streams move to them and the part does not move.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from pyspark.sql import DataFrame, SparkSession
from sqlglot import exp

from penstock.engines.spark.closures import ClosureTooLargeError
from penstock.engines.spark.session import checked_stack
from penstock.optimizer.sizes import Spread
from penstock.relational.static_parts import KeptPart, KeptTable, StaticPart

_LARGE = 100_000
"""For graphs with fewer triples a single triple pattern is matched each time, and only small parts are kept."""

_MOST = 20_000
"""The maximum number of rows on the driver."""

_TIMES, _MORE = 4, 100_000
"""Of large graphs a part is kept if its rows are at most this many times the number of triples, plus a constant. The
same limit applies to the pairs of paths.
"""


_MANY = 100
"""The maximum number of predicates of a graph that are known by name."""


class StatementRunner(Protocol):
    session: SparkSession

    def selected(self, statement: exp.Query, most: int) -> DataFrame:
        """The result of a statement without parameters over graphs, not yet computed.

        Raises `ClosureTooLargeError` where paths connect more pairs than `most`.
        """

    def to_persist(self, statement: exp.Query, most: int) -> DataFrame | None:
        """The same, in a form that Spark recognises when it has been persisted; None if the text would be too long."""


@dataclass(frozen=True, slots=True)
class _View:
    name: str
    frame: DataFrame
    part: KeptPart


class KeptFrames:
    """The views of kept parts; their names begin with the prefix."""

    def __init__(self, runner: StatementRunner, prefix: str) -> None:
        self._runner = runner
        self._prefix = prefix
        self._views: dict[str, _View | None] = {}
        self._made = 0
        self._spread: dict[str, Mapping[str, Spread]] = {}
        self._before: tuple[KeptPart, ...] = ()
        self.revisions = 0
        """The number of times that the graphs have changed."""

    def note(self, graph: str, spread: Mapping[str, Spread]) -> None:
        """A graph has been loaded, with these counts of triples by predicate."""
        self._spread[graph] = spread
        self._forget()

    def predicates(self, graphs: Iterable[str]) -> dict[str, frozenset[str]]:
        """All predicates of graphs that do not change, by their views, if there are not too many."""
        return {graph: frozenset(spread) for graph, spread in self.spread(graphs).items()}

    def spread(self, graphs: Iterable[str]) -> dict[str, Mapping[str, Spread]]:
        return {graph: self._spread[graph] for graph in graphs if len(self._spread[graph]) <= _MANY}

    @property
    def parts(self) -> tuple[KeptPart, ...]:
        """The kept parts; after they were dropped, the former ones, until there are new ones."""
        return tuple(view.part for view in self._views.values() if view is not None) or self._before

    def clear(self) -> None:
        self._spread.clear()
        self._forget()

    def _forget(self) -> None:
        """The graphs have changed."""
        self.revisions += 1
        self._before = self.parts
        for view in self._views.values():
            if view is not None:
                self._runner.session.catalog.dropTempView(view.name)
                view.frame.unpersist()
        self._views.clear()

    @checked_stack()
    def keep(self, part: StaticPart) -> KeptTable | None:
        """The view of a part; None if it is not faster."""
        triples = sum(known.triples for spread in self._spread.values() for known in spread.values())
        if part.is_pattern and triples < _LARGE:
            return None
        text = part.statement.sql("spark")
        self._before = ()
        if text not in self._views:
            try:
                self._views[text] = self._with_driver(part, triples) or self._with_executors(part, triples)
            except ClosureTooLargeError:
                self._views[text] = None
        view = self._views[text]
        return None if view is None else KeptTable(view.name)

    def _with_driver(self, part: StaticPart, triples: int) -> _View | None:
        found = self._runner.selected(part.statement.limit(_MOST + 1), _TIMES * triples + _MORE).toArrow()
        if found.num_rows > _MOST:
            return None
        return self._shown(part, self._runner.session.createDataFrame(found), found.num_rows)

    def _with_executors(self, part: StaticPart, triples: int) -> _View | None:
        """Rows are counted before they are kept, up to a limit: a join may have more rows than fit anywhere."""
        frame = None if triples < _LARGE else self._runner.to_persist(part.statement, _TIMES * triples + _MORE)
        if frame is None:
            return None
        rows = None
        if not part.is_pattern:
            rows = frame.limit(_TIMES * triples + 1).count()
            if rows > _TIMES * triples:
                return None
        if part.keys:
            frame = frame.repartition(next(iter(part.keys.values())))
        return self._shown(part, frame.persist(), rows)

    def _shown(self, part: StaticPart, frame: DataFrame, rows: int | None) -> _View:
        self._made += 1
        name = f"{self._prefix}_static_{self._made}"
        frame.createOrReplaceTempView(name)
        return _View(name, frame, KeptPart(part.operator, tuple(part.keys), rows))
