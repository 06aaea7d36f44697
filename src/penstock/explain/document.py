"""The explanation of a query as data; every output format renders it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pyoxigraph import Triple

from penstock.algebra import ContinuousQuery, Settings, build
from penstock.algebra.inputs import InputError, Inputs
from penstock.algebra.windows import PastWindow, RangeWindow
from penstock.explain.aggregation import expression_to_show
from penstock.explain.dgraph import DGraph, denotational_graph
from penstock.explain.names import Names
from penstock.explain.plan import PlanDescription, describe_plan
from penstock.explain.settings import Setting, query_settings, setting_sources
from penstock.explain.sources import ActiveGraphs, window_labels
from penstock.explain.sql import EngineName, sql_of
from penstock.explain.timeline import Timeline, streams_read, timeline
from penstock.explain.times import TimeScale
from penstock.explain.tree import OperatorNode, operator_tree
from penstock.explain.windows import WindowDescription, describe_windows
from penstock.optimizer import Sizes
from penstock.oracle.datasets import Sources
from penstock.rdf.encoding import encode
from penstock.rdf.terms import IRI
from penstock.relational.static_parts import KeptPart
from penstock.syntax import ast
from penstock.syntax.ast.traversal import walk
from penstock.syntax.dialects import DIALECTS


@dataclass(frozen=True, slots=True)
class GraphDescription:
    """A graph that the query reads: named, or part of the default graph. `triples` is None if no graph is bound."""

    iri: str | None
    label: str
    is_named: bool
    triples: int | None


@dataclass(frozen=True, slots=True)
class Document:
    text: str
    dialect: ast.DialectName
    registered: str | None
    """The name under which the query is registered: an IRI or a plain word."""
    form: str
    settings: tuple[Setting, ...]
    windows: tuple[WindowDescription, ...]
    graphs: tuple[GraphDescription, ...]
    operators: OperatorNode
    plan: PlanDescription | None
    """The optimized plan, if the optimizer changed the operators."""
    dgraph: DGraph
    timeline: Timeline | None
    names: Names
    scale: TimeScale
    has_data: bool
    sql: str

    @property
    def name(self) -> str | None:
        """The registered name, shortened with prefixes."""
        return None if self.registered is None else self.names.iri(self.registered)

    @property
    def title(self) -> str:
        """`C-SPARQL`, `RSP-QL`, …"""
        return DIALECTS[self.dialect].title


def describe(
    query: ast.Query,
    text: str,
    settings: Settings | None = None,
    inputs: Inputs | None = None,
    *,
    prefixes: Mapping[str, str] | None = None,
    dialect_said_by_user: bool = False,
    is_optimized: bool = True,
    sizes: Sizes | None = None,
    kept: Sequence[KeptPart] = (),
    evaluated_by: str | None = None,
    way: str = "",
    engine: EngineName = "duckdb",
) -> Document:
    """Describes a query; `inputs` may bind all, some or none of its streams and graphs.

    `sizes` are the sizes that a run has observed; without them, the inputs are counted. `kept` are the static parts
    that a run keeps. `evaluated_by` is who evaluates its windows, `way` how it runs (architecture.md §14).
    `engine` selects whose SQL is shown.
    """
    given = inputs or Inputs({})
    user = settings or Settings()
    continuous = build(query, user)
    known = _all_bound(continuous, given)
    origin = _origin(continuous, user, known)
    resolved = replace(user, origin=origin)
    continuous = continuous.with_origin(origin)
    dataset = continuous.dataset
    names = _names(query, continuous, prefixes or {})
    times = {
        stream: sorted(element.time for element in elements)
        for stream, elements in streams_read(continuous, known).items()
        if elements
    }
    scale = _scale(continuous, times)
    labels = window_labels(dataset.windows, names, are_named=query.dialect == "rspql")
    sources = setting_sources(query, dataset.windows, user)
    windows = describe_windows(dataset.windows, labels, sources, times, scale)
    active_graphs = ActiveGraphs(dataset, labels, names, given.graphs)
    expression = expression_to_show(query, continuous, resolved)
    return Document(
        text=text,
        dialect=query.dialect,
        registered=continuous.name,
        form=type(query.form).__name__.upper(),
        settings=query_settings(
            query, continuous, labels, sources, user, scale,
            dialect_said_by_user=dialect_said_by_user, lateness=given.lateness,
            evaluated_by=evaluated_by, way=way,
        ),
        windows=windows,
        graphs=_graphs(continuous, given, names),
        operators=operator_tree(continuous, expression, active_graphs, names),
        plan=describe_plan(continuous, active_graphs, names, sizes or _sizes(given), kept) if is_optimized else None,
        dgraph=denotational_graph(continuous, expression, active_graphs, names),
        timeline=timeline(query, continuous, resolved, known, windows, names, scale) if times else None,
        names=names,
        scale=scale,
        has_data=bool(given.streams),
        sql=sql_of(continuous, given.graphs, is_optimized=is_optimized, engine=engine),
    )  # fmt: skip


def _all_bound(continuous: ContinuousQuery, inputs: Inputs) -> Inputs:
    """Binds every unbound stream and graph to empty data: the instants depend on the available streams only."""
    streams = {stream: inputs.streams.get(stream, ()) for stream in continuous.dataset.streams}
    return replace(inputs, streams=streams | dict(inputs.streams), graphs={None: (), **inputs.graphs})


def _origin(query: ContinuousQuery, user: Settings, inputs: Inputs) -> int:
    """t0; `first` is the instant before the first element of the query's streams."""
    if isinstance(user.origin, int):
        return user.origin
    first = Sources(query.dataset, inputs, {}).first
    if first is None:
        raise InputError("t0 = first is the instant before the first element, and no stream has one: bind the streams")
    return first - 1


def _sizes(inputs: Inputs) -> Sizes:
    """Counts the inputs if there is a stream: graphs alone say little about the streams they are joined with."""
    if not any(inputs.streams.values()):
        return Sizes()
    return Sizes(
        {iri: _counted(t for element in elements for t in element.triples) for iri, elements in inputs.streams.items()},
        {iri: _counted(entry.triple for entry in triples) for iri, triples in inputs.graphs.items()},
    )


def _counted(triples: Iterable[Triple]) -> Counter[str]:
    return Counter(encode(IRI(triple.predicate.value)) for triple in triples)


def _names(query: ast.Query, continuous: ContinuousQuery, prefixes: Mapping[str, str]) -> Names:
    declared = {declaration.prefix: declaration.iri for declaration in query.prologue.prefixes}
    constants = (node.term for node in walk(continuous.text) if isinstance(node, ast.Constant))
    return Names({**prefixes, **declared}, (term.value for term in constants if isinstance(term, IRI)))


def _scale(continuous: ContinuousQuery, times: Mapping[str, list[int]]) -> TimeScale:
    durations: list[int] = []
    for stream_window in continuous.dataset.windows:
        window = stream_window.window
        if isinstance(window, RangeWindow):
            durations += (window.width, window.step)
        elif isinstance(window, PastWindow):
            durations += (window.start, window.end, window.step or 0)
    return TimeScale.fitting(durations, [time for of_stream in times.values() for time in of_stream])


def _graphs(continuous: ContinuousQuery, inputs: Inputs, names: Names) -> tuple[GraphDescription, ...]:
    dataset = continuous.dataset
    pairs: list[tuple[str | None, bool]] = [(iri, False) for iri in dataset.default_graphs]
    pairs += [(iri, True) for iri in dataset.named_graphs]
    if not dataset.has_clauses:
        pairs += [(iri, True) for iri in inputs.graphs if iri is not None]
    if None in inputs.graphs:
        pairs.insert(0, (None, False))
    return tuple(
        GraphDescription(
            iri,
            "without a name" if iri is None else names.iri(iri),
            is_named,
            len(inputs.graphs[iri]) if iri in inputs.graphs else None,
        )
        for iri, is_named in pairs
    )
