"""The sources of a pattern (semantics.md §4): the graphs and windows that form its active graph."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal as OneOf

from penstock.algebra.expressions import Constant, Variable
from penstock.algebra.model import Dataset, StreamWindow
from penstock.algebra.operators import PatternTerm
from penstock.explain.names import Names


@dataclass(frozen=True, slots=True)
class Source:
    """A graph, a window or a service; `number` is the position of a window in the query, from 1."""

    kind: OneOf["graph", "window", "service"]
    label: str
    number: int | None = None
    iri: str | None = None

    @property
    def is_static(self) -> bool:
        return self.kind != "window"

    def __str__(self) -> str:
        if self.kind == "window":
            return self.label if self.label.startswith("window") else f"window {self.label}"
        return f"{self.kind} {self.label}" if self.iri is not None else self.label


UNNAMED_GRAPH = Source("graph", "the default graph")
NAMED_GRAPHS = Source("graph", "the named graphs")


def window_labels(windows: Sequence[StreamWindow], names: Names, *, are_named: bool) -> list[str]:
    """The names of windows in RSP-QL; in other dialects, their numbers."""
    return [
        names.iri(window.name) if are_named and window.name is not None else f"window {number}"
        for number, window in enumerate(windows, start=1)
    ]


class ActiveGraphs:
    """Resolves the default graph, GRAPH, WINDOW and SERVICE to sources; `bound` are the graphs bound to the query."""

    def __init__(self, dataset: Dataset, labels: Sequence[str], names: Names, bound: Collection[str | None]) -> None:
        self._names = names
        self._windows = [
            (window, Source("window", label, number))
            for number, (window, label) in enumerate(zip(dataset.windows, labels, strict=True), start=1)
        ]
        self._named_graphs = [self._graph(iri) for iri in dataset.named_graphs]
        if not dataset.has_clauses:
            self._named_graphs += [self._graph(iri) for iri in bound if iri is not None]
        unnamed = [source for window, source in self._windows if not window.is_named]
        self._static_default = [self._graph(iri) for iri in dataset.default_graphs]
        if not self._static_default and (None in bound or not unnamed):
            self._static_default = [UNNAMED_GRAPH]
        self.default: tuple[Source, ...] = (*self._static_default, *unnamed)

    def _graph(self, iri: str) -> Source:
        return Source("graph", self._names.iri(iri), iri=iri)

    def graph(self, name: PatternTerm) -> tuple[Source, ...]:
        """GRAPH: the named graph or window of this name; for a variable, all of them."""
        windows = [(window, source) for window, source in self._windows if window.stream_variable is None]
        if isinstance(name, Variable):
            named = [source for window, source in windows if window.name is not None]
            return (*(self._named_graphs or ([] if named else [NAMED_GRAPHS])), *named)
        iri = _iri(name)
        for window, source in windows:
            if window.name == iri:
                return (source,) if window.is_named else (*self._static_default, source)
        return (self._graph(iri),)

    def window(self, name: PatternTerm) -> tuple[Source, ...]:
        """WINDOW: the window of this name; for a variable, all windows with names."""
        if isinstance(name, Variable):
            return tuple(source for window, source in self._windows if window.name is not None)
        return tuple(source for window, source in self._windows if window.name == _iri(name))

    def service(self, name: PatternTerm) -> tuple[Source, ...]:
        iri = None if isinstance(name, Variable) else _iri(name)
        return (Source("service", self._names.term(name), iri=iri),)


def _iri(name: Constant) -> str:
    return name.term[0]
