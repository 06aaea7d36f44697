"""The dataset of a query: which graphs its patterns, GRAPH and WINDOW read (semantics.md §4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.algebra.expressions import Variable
from penstock.algebra.model import Dataset, StreamWindow
from penstock.algebra.services import ServiceCall
from penstock.algebra.windows import RangeWindow
from penstock.relational.active_graphs import ActiveGraph, counts_matches
from penstock.relational.instants import always, numbered
from penstock.relational.relations import Relation, Statement, aliased, col, select_from
from penstock.relational.tables import Tables, answer_column, streams_of
from penstock.syntax import ast


@dataclass(frozen=True, slots=True)
class NamedGraph:
    """A graph with its name; and its stream, with the variable bound to the stream, if the name is not enough."""

    name: str
    graph: ActiveGraph
    stream_variable: str | None = None
    stream: str | None = None
    counts_matches: bool = False
    """A window that counts matches is read only by a WINDOW block of its own."""


class DatasetGraphs:
    """The active graphs of a query."""

    def __init__(self, statement: Statement, dataset: Dataset, tables: Tables) -> None:
        self.statement = statement
        self.dataset = dataset
        self.tables = tables
        self._known: dict[object, ActiveGraph] = {}

    @property
    def default(self) -> ActiveGraph:
        unnamed = [window for window in self.dataset.windows if not window.is_named]
        return self._once("default", self._static_default, unnamed)

    def graphs(self) -> list[NamedGraph]:
        """The graphs that GRAPH can read; a window of the default graph is merged with the static default graph."""
        dataset = self.dataset
        names = dataset.named_graphs if dataset.has_clauses else [g for g in self.tables.graphs if g is not None]
        static = [NamedGraph(name, self._once(("graph", name), [name], [])) for name in names]
        windows = [w for w in dataset.windows if w.stream_variable is None and not counts_matches(w)]
        return [*static, *(named for window in windows for named in self._named(window, is_merged=not window.is_named))]

    def windows(self) -> list[NamedGraph]:
        """The windows that WINDOW can read; a window over every stream is split into one for each stream."""
        return [named for window in self.dataset.windows for named in self._named(window, is_merged=False)]

    def _named(self, window: StreamWindow, *, is_merged: bool) -> list[NamedGraph]:
        if window.name is None:
            return []
        static = self._static_default if is_merged else []
        found: list[NamedGraph] = []
        for stream in streams_of(window, self.tables):
            graph = self._once((window, stream, is_merged), static, [window], stream)
            found.append(NamedGraph(window.name, graph, window.stream_variable, stream, counts_matches(window)))
        return found

    def answers(self, call: ServiceCall) -> Relation:
        """The answer of a service."""
        table = self.tables.services[call]
        columns = {Variable(name): self.statement.column_name(Variable(name)) for name in call.variables}
        names = list(columns.values())
        rows = select_from(
            table.name, [aliased(col(table.name, answer_column(p)), name) for p, name in enumerate(names)]
        )
        if table.changes:
            timed = rows.select(col(table.name, "starts"), col(table.name, "ends"))
            found = numbered(self.statement, timed, names)
        else:
            found = rows.select(*always())
        certain = frozenset(variable for variable in columns if variable.name in table.certain)
        return Relation(self.statement.add(found), columns, certain, holds_always=not table.changes)

    @property
    def _static_default(self) -> list[str | None]:
        return [None, *self.dataset.default_graphs]

    def _once(
        self, key: object, graphs: Sequence[str | None], windows: Sequence[StreamWindow], stream: str | None = None
    ) -> ActiveGraph:
        if key not in self._known:
            bound = [graph for graph in graphs if graph in self.tables.graphs]
            self._known[key] = ActiveGraph(
                self.statement,
                self.tables,
                [self.tables.graphs[graph] for graph in bound if graph not in self.tables.changing],
                [
                    *(self.tables.graphs[graph] for graph in bound if graph in self.tables.changing),
                    *(self.tables.changed[graph] for graph in bound if graph in self.tables.changed),
                ],
                [
                    (window, self.tables.streams[source])
                    for window in windows
                    for source in streams_of(window, self.tables)
                    if stream is None or source == stream
                ],
                _only_closing(self.dataset),
            )
        return self._known[key]


def _only_closing(dataset: Dataset) -> RangeWindow | None:
    reporting = [window for window in dataset.windows if window.report is not None]
    kinds = {window.window for window in reporting}
    (kind,) = kinds if len(kinds) == 1 else (None,)
    is_it = isinstance(kind, RangeWindow) and all(_reports_when_closing(window.report) for window in reporting)
    return kind if is_it and isinstance(kind, RangeWindow) else None


def _reports_when_closing(report: ast.Report | None) -> bool:
    closing = ast.Strategy("window-close")
    return report == closing or (isinstance(report, ast.AllOf) and closing in report.reports)
