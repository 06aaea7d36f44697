"""C-SPARQL's denotational graph (§4 of its paper): the query's patterns as a graph, grouped by source.

Variables, IRIs and literals are vertices; each triple pattern is an edge. Edges are grouped by the source they are read
from, which separates static from streaming data. Filters annotate vertices, aggregates have their own boxes, and the
variables of the result are marked.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as OneOf

from penstock.algebra import ContinuousQuery
from penstock.algebra import operators as algebra
from penstock.algebra.expressions import Aggregate, Expression, Variable, conjuncts, variables_of
from penstock.algebra.model import ConstructForm, DescribeForm, SelectForm
from penstock.algebra.operators import Operator, PatternTerm
from penstock.explain.aggregation import Aggregation
from penstock.explain.names import Names
from penstock.explain.sources import ActiveGraphs, Source
from penstock.explain.tree import Part, exists_in, expressions_of, operands
from penstock.rdf.terms import IRI

VertexKind = OneOf["variable", "iri", "literal", "blank"]


@dataclass(frozen=True, slots=True)
class Vertex:
    """`annotations` are the conditions and expressions about the vertex; `groups` are the groups of its edges."""

    key: str
    label: str
    kind: VertexKind
    is_projected: bool
    annotations: tuple[str, ...]
    groups: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Edge:
    """A triple pattern. `tag` is the block that contains it, if any: `optional`, `minus`, `union 1`, …"""

    subject: str
    predicate: str
    object: str
    group: int
    tag: str
    is_projected: bool = False


@dataclass(frozen=True, slots=True)
class EdgeGroup:
    """Edges that are read from the same sources; `number` is the position of the group."""

    number: int
    label: str
    part: Part
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class AggregateBox:
    """An aggregate: its parameters, the variables it groups by, and the variables that contain its value."""

    function: str
    parameters: tuple[str, ...]
    group: tuple[str, ...]
    by: str
    results: tuple[str, ...]
    annotations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DGraph:
    vertices: tuple[Vertex, ...]
    edges: tuple[Edge, ...]
    groups: tuple[EdgeGroup, ...]
    aggregates: tuple[AggregateBox, ...]


def denotational_graph(
    query: ContinuousQuery, expression: Operator, active_graphs: ActiveGraphs, names: Names
) -> DGraph:
    collector = _Collector(active_graphs, names, _projected(query))
    collector.operator(expression, _Place(active_graphs.default))
    return collector.graph()


def _projected(query: ContinuousQuery) -> set[str]:
    """The variables in the result."""
    match query.form:
        case SelectForm(variables):
            return {variable.name for variable in variables}
        case ConstructForm(template):
            terms = [t for triple, _ in template for t in (triple.subject, triple.predicate, triple.object)]
            return {term.name for term in terms if isinstance(term, Variable) and term.is_visible}
        case DescribeForm(resources):
            return {resource.name for resource in resources if isinstance(resource, Variable)}
        case _:
            return set()


@dataclass(frozen=True, slots=True)
class _Place:
    """The context of an operator: the graph it reads, the blocks around it, and the renamed variables."""

    active: tuple[Source, ...]
    tags: tuple[str, ...] = ()
    hidden: dict[str, str] = field(default_factory=dict)
    graph: Variable | None = None
    is_outermost: bool = True

    def under(self, tag: str) -> _Place:
        return _Place(self.active, (*self.tags, tag), self.hidden, self.graph, False)

    def reading(self, active: tuple[Source, ...], name: PatternTerm) -> _Place:
        return _Place(active, self.tags, self.hidden, name if isinstance(name, Variable) else None, False)


@dataclass(slots=True)
class _Collected:
    """A vertex while it is being built."""

    label: str
    kind: VertexKind
    is_projected: bool
    annotations: dict[str, None] = field(default_factory=dict)
    groups: dict[int, None] = field(default_factory=dict)


@dataclass(slots=True)
class _CollectedAggregate:
    function: str
    parameters: list[str]
    group: list[str]
    by: str
    results: dict[str, None] = field(default_factory=dict)
    annotations: dict[str, None] = field(default_factory=dict)


class _Collector:
    def __init__(self, active_graphs: ActiveGraphs, names: Names, projected: set[str]) -> None:
        self._active_graphs = active_graphs
        self._names = names
        self._projected = projected
        self._vertices: dict[str, _Collected] = {}
        self._edges: dict[Edge, None] = {}
        self._groups: dict[tuple[tuple[Source, ...], Variable | None], int] = {}
        self._aggregates: dict[str, _CollectedAggregate] = {}
        self._sub_selects = 0
        self._unions = 0

    def graph(self) -> DGraph:
        vertices = tuple(
            Vertex(key, v.label, v.kind, v.is_projected, tuple(v.annotations), tuple(v.groups))
            for key, v in self._vertices.items()
        )
        groups = tuple(self._group(number, *key) for key, number in self._groups.items())
        aggregates = tuple(
            AggregateBox(a.function, tuple(a.parameters), tuple(a.group), a.by, tuple(a.results), tuple(a.annotations))
            for a in self._aggregates.values()
        )
        return DGraph(vertices, tuple(self._edges), groups, aggregates)

    def _group(self, number: int, sources: tuple[Source, ...], graph: Variable | None) -> EdgeGroup:
        label = " + ".join(map(str, sources)) or "nothing"
        if graph is not None:
            label = f"each of {label}, as {self._names.variable(graph)}"
        part: Part = "static" if all(source.is_static for source in sources) else "streaming"
        return EdgeGroup(number, label, part, sources)

    # Vertices and edges

    def _variable(self, variable: Variable, place: _Place) -> str:
        name = place.hidden.get(variable.name, variable.name)
        key = f"?{name}"
        if key not in self._vertices:
            is_projected = name in self._projected
            kind: VertexKind = "variable" if variable.is_visible else "blank"
            self._vertices[key] = _Collected(self._names.variable(variable), kind, is_projected)
        return key

    def _term(self, term: PatternTerm, group: int, place: _Place) -> str:
        if isinstance(term, Variable):
            key = self._variable(term, place)
        else:
            label = self._names.constant(term.term)
            key = f"{group}:{label}"
            kind: VertexKind = "iri" if isinstance(term.term, IRI) else "literal"
            self._vertices.setdefault(key, _Collected(label, kind, False))
        self._vertices[key].groups[group] = None
        return key

    def _edge(self, subject: PatternTerm, predicate: str, object_: PatternTerm, place: _Place, mark: bool) -> None:
        group = self._groups.setdefault((place.active, place.graph), len(self._groups))
        ends = self._term(subject, group, place), self._term(object_, group, place)
        self._edges[Edge(ends[0], predicate, ends[1], group, ", ".join(place.tags), mark)] = None
        if place.graph is not None:
            key = self._variable(place.graph, place)
            self._vertices[key].annotations["which graph or window"] = None

    # Operators

    def operator(self, operator: Operator, place: _Place) -> None:
        match operator:
            case algebra.BasicGraphPattern(patterns):
                for pattern in patterns:
                    predicate = pattern.predicate
                    is_projected = isinstance(predicate, Variable) and predicate.name in self._projected
                    self._edge(pattern.subject, self._names.predicate(predicate), pattern.object, place, is_projected)
            case algebra.PathPattern(subject, path, object_):
                self._edge(subject, self._names.path(path), object_, place, False)
            case algebra.LeftJoin(left, right):
                self.operator(left, place)
                self.operator(right, place.under("optional"))
            case algebra.Minus(left, right):
                self.operator(left, place)
                self.operator(right, place.under("minus"))
            case algebra.Union():
                self._union(operator, place)
            case algebra.ReadGraph(name, source):
                self.operator(source, place.reading(self._active_graphs.graph(name), name))
            case algebra.ReadWindow(name, source):
                self.operator(source, place.reading(self._active_graphs.window(name), name))
            case algebra.ReadElement(name, source):
                self.operator(source, place.reading(place.active, name))
            case algebra.Service(name, source):
                self.operator(source, place.reading(self._active_graphs.service(name), name))
            case algebra.Project(source, variables):
                self.operator(source, self._inside(source, variables, place))
            case _:
                for child in operator.children:
                    self.operator(child, place)
        self._notes(operator, place)

    def _union(self, union: algebra.Union, place: _Place) -> None:
        """Numbers the sides consecutively."""
        self._unions += 1
        mark = "union" if self._unions == 1 else f"union {self._unions}"
        for number, side in enumerate(operands(union), start=1):
            self.operator(side, place.under(f"{mark}, side {number}"))

    def _inside(self, source: Operator, variables: tuple[Variable, ...], place: _Place) -> _Place:
        """A sub-select: a variable that it does not project differs from a variable of the same name outside."""
        if place.is_outermost:
            return _Place(place.active, place.tags, place.hidden, place.graph, False)
        self._sub_selects += 1
        kept = {variable.name: place.hidden.get(variable.name, variable.name) for variable in variables}
        inner = {name: f"{name} in sub-select {self._sub_selects}" for name in _names_in(source)}
        return _Place(place.active, place.tags, {**inner, **kept}, place.graph, False)

    # Filters, expressions, aggregates

    def _notes(self, operator: Operator, place: _Place) -> None:
        for expression in expressions_of(operator):
            for exists in exists_in(expression):
                self.operator(exists.pattern, place.under("not exists" if exists.negated else "exists"))
        match operator:
            case algebra.Filter(condition):
                self._condition(condition, place)
            case algebra.LeftJoin(condition=condition) if condition is not None:
                self._condition(condition, place)
            case algebra.Extend(_, variable, expression):
                self._extension(variable, expression, place)
            case algebra.Table(variables, rows):
                for column, variable in enumerate(variables):
                    values = {row[column] for row in rows}
                    shown = sorted("UNDEF" if v is None else self._names.constant(v) for v in values)
                    self._annotate(variable, f"in {{ {' '.join(shown)} }}", place)
            case algebra.Group(_, keys, aggregates):
                for key, expression in keys:
                    if key != expression and key.is_visible:
                        self._annotate(key, f"= {self._names.expression(expression)}", place)
                grouped = [v for key, e in keys for v in ([key] if key.is_visible else variables_of(e))]
                for variable, aggregate in aggregates:
                    self._aggregate(variable.name, aggregate, grouped, place)
            case Aggregation(_, variable, aggregate, group):
                self._aggregate(variable.name, aggregate, list(group), place)
                self._aggregates[variable.name].results[self._variable(variable, place)] = None

    def _aggregate(self, key: str, aggregate: Aggregate, group: list[Variable], place: _Place) -> None:
        argument = aggregate.argument
        self._aggregates[key] = _CollectedAggregate(
            self._names.aggregate(aggregate),
            [] if argument is None else [self._variable(v, place) for v in variables_of(argument)],
            [self._variable(variable, place) for variable in group],
            ", ".join(self._names.variable(variable) for variable in group),
        )

    def _condition(self, condition: Expression, place: _Place) -> None:
        """Annotates, for each part of a conjunction, the first variable that it mentions."""
        for part in conjuncts(condition):
            text = self._names.expression(part)
            mentioned = variables_of(part)
            hidden = [v for v in mentioned if v.name in self._aggregates and not v.is_visible]
            if hidden:
                self._aggregates[hidden[0].name].annotations[f"having {text}"] = None
            elif mentioned:
                self._annotate(mentioned[0], text, place)

    def _extension(self, variable: Variable, expression: Expression, place: _Place) -> None:
        aggregates = [v for v in variables_of(expression) if v.name in self._aggregates and not v.is_visible]
        key = self._variable(variable, place)
        for aggregate in aggregates:
            self._aggregates[aggregate.name].results[key] = None
        if not isinstance(expression, Variable):
            self._annotate(variable, f"= {self._names.expression(expression)}", place)

    def _annotate(self, variable: Variable, text: str, place: _Place) -> None:
        self._vertices[self._variable(variable, place)].annotations[text] = None


def _names_in(operator: Operator) -> set[str]:
    """The variables of all patterns below, including hidden ones."""
    found: set[str] = set()
    match operator:
        case algebra.BasicGraphPattern(patterns):
            terms = [t for p in patterns for t in (p.subject, p.predicate, p.object)]
            found |= {term.name for term in terms if isinstance(term, Variable)}
        case algebra.PathPattern(subject, _, object_):
            found |= {term.name for term in (subject, object_) if isinstance(term, Variable)}
        case algebra.Extend(_, variable, _):
            found.add(variable.name)
        case algebra.Table(variables):
            found |= {variable.name for variable in variables}
        case (
            algebra.ReadGraph(Variable(name)) | algebra.ReadWindow(Variable(name)) | algebra.ReadElement(Variable(name))
        ):
            found.add(name)
    return found.union(*(_names_in(child) for child in operands(operator)))
