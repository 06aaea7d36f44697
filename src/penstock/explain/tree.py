"""The operator tree: SPARQL's algebra, the sources of each pattern, and which parts are static.

A part is static if it depends on graphs only: its solutions are the same at every instant, so they are computed once.
Everything else is streaming: it depends on a window, or on the instant itself (NOW, RAND, UUID).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import Literal as OneOf

from penstock.algebra import operators as algebra
from penstock.algebra.expressions import Apply, Exists, Expression, Variable
from penstock.algebra.model import AskForm, ConstructForm, ContinuousQuery, DescribeForm
from penstock.algebra.operators import Operator
from penstock.explain.aggregation import Aggregation
from penstock.explain.names import Names
from penstock.explain.phrases import OPERATOR_NAMES
from penstock.explain.sources import ActiveGraphs, Source
from penstock.rdf.plurals import counted

Part = OneOf["static", "streaming"]

_NEW_AT_EACH_INSTANT = frozenset(("NOW", "RAND", "UUID", "STRUUID"))


@dataclass(frozen=True, slots=True)
class OperatorNode:
    """An operator with its name in SPARQL's algebra; `number` counts from the top, in the order of the text.

    `details` are lines of text, `reads` are the sources of a pattern. A `scope` is a GRAPH, WINDOW or SERVICE around a
    pattern: it moves no data, but determines what the operators below read. `role` separates EXISTS patterns from
    operands.
    """

    number: int
    operator: str
    details: tuple[str, ...]
    part: Part
    reads: tuple[Source, ...] = ()
    children: tuple[OperatorNode, ...] = ()
    is_scope: bool = False
    role: str | None = None

    def walk(self) -> Iterator[OperatorNode]:
        yield self
        for child in self.children:
            yield from child.walk()


def operator_tree(
    query: ContinuousQuery, expression: Operator, active_graphs: ActiveGraphs, names: Names
) -> OperatorNode:
    """The tree of `expression` below the query's streaming operator and form."""
    _note_aggregates(expression, names)
    top = _Builder(active_graphs, names).node(expression, active_graphs.default)
    top = OperatorNode(0, OPERATOR_NAMES[query.operator], (), top.part, children=(top,))
    match query.form:
        case ConstructForm(template):
            lines = tuple(
                names.triple(triple) if graph is None else f"GRAPH {names.term(graph)} {{ {names.triple(triple)} }}"
                for triple, graph in template
            )
            top = OperatorNode(0, "Construct", lines, top.part, children=(top,))
        case AskForm():
            top = OperatorNode(0, "Ask", (), top.part, children=(top,))
        case DescribeForm(resources):
            described = (" ".join(names.term(resource) for resource in resources),)
            top = OperatorNode(0, "Describe", described, top.part, children=(top,))
    return _numbered(top, count(1))


def _numbered(node: OperatorNode, numbers: Iterator[int]) -> OperatorNode:
    number = next(numbers)
    return replace(node, number=number, children=tuple(_numbered(child, numbers) for child in node.children))


def _note_aggregates(operator: Operator, names: Names) -> None:
    for child in operands(operator):
        _note_aggregates(child, names)
    if isinstance(operator, algebra.Group):
        names.note_aggregates(operator.aggregates)


class _Builder:
    def __init__(self, active_graphs: ActiveGraphs, names: Names) -> None:
        self._active_graphs = active_graphs
        self._names = names

    def node(self, operator: Operator, active: tuple[Source, ...]) -> OperatorNode:
        name, described = self._described(operator)
        details = [detail for detail in described if detail]
        inner = self._active(operator, active)
        children = [self.node(child, inner) for child in operands(operator)]
        expressions = list(expressions_of(operator))
        for exists in (found for expression in expressions for found in exists_in(expression)):
            role = "NOT EXISTS" if exists.negated else "EXISTS"
            children.append(replace(self.node(exists.pattern, active), role=role))
        is_pattern = isinstance(operator, algebra.BasicGraphPattern | algebra.PathPattern)
        reads = active if is_pattern and details else ()
        is_static = (
            all(child.part == "static" for child in children)
            and all(source.is_static for source in reads)
            and not any(_is_new_at_each_instant(expression) for expression in expressions)
        )
        is_scope = isinstance(operator, algebra.ReadGraph | algebra.ReadWindow | algebra.ReadElement | algebra.Service)
        part: Part = "static" if is_static else "streaming"
        return OperatorNode(0, name, tuple(details), part, reads, tuple(children), is_scope)

    def _active(self, operator: Operator, active: tuple[Source, ...]) -> tuple[Source, ...]:
        match operator:
            case algebra.ReadGraph(name):
                return self._active_graphs.graph(name)
            case algebra.ReadWindow(name):
                return self._active_graphs.window(name)
            case algebra.Service(name):
                return self._active_graphs.service(name)
            case _:
                return active

    def _described(self, operator: Operator) -> tuple[str, list[str]]:
        names = self._names
        match operator:
            case algebra.BasicGraphPattern(patterns):
                return "BGP", [names.triple(pattern) for pattern in patterns]
            case algebra.PathPattern(subject, path, object_):
                return "Path", [f"{names.term(subject)} {names.path(path)} {names.term(object_)}"]
            case algebra.LeftJoin(condition=condition) if condition is not None:
                return "LeftJoin", [f"if {names.expression(condition)}"]
            case algebra.Filter(condition):
                return "Filter", [names.expression(condition)]
            case algebra.Extend(_, variable, expression):
                return "Extend", [f"{names.variable(variable)} = {names.expression(expression)}"]
            case algebra.Table(variables, rows):
                shown = " ".join(names.variable(variable) for variable in variables)
                return "Table", [f"{shown}: {counted(len(rows), 'row')}"]
            case algebra.ReadGraph(name):
                return "Graph", [self._scope(name, self._active_graphs.graph(name))]
            case algebra.ReadWindow(name):
                return "Window", [self._scope(name, self._active_graphs.window(name))]
            case algebra.ReadElement(name):
                return "Graph", [f"{names.term(name)} of the elements"]
            case algebra.Service(name, _, silent):
                return "Service", [f"{names.term(name)}{' (silent)' if silent else ''}"]
            case algebra.Group(_, keys, aggregates):
                return "Group", self._grouping(keys, [names.aggregate(aggregate) for _, aggregate in aggregates])
            case Aggregation(_, variable, aggregate, group):
                by = " ".join(names.variable(key) for key in group)
                return "Aggregate", [f"{names.variable(variable)} = {names.aggregate(aggregate)} by {by}"]
            case algebra.Project(_, variables):
                return "Project", [" ".join(names.variable(variable) for variable in variables)]
            case algebra.OrderBy(_, conditions):
                order = (f"DESC({names.expression(e)})" if down else names.expression(e) for e, down in conditions)
                return "OrderBy", [", ".join(order)]
            case algebra.Slice(_, offset, limit):
                parts = [f"LIMIT {limit}"] if limit is not None else []
                return "Slice", [" ".join([*parts, *([f"OFFSET {offset}"] if offset else [])])]
            case _:
                return type(operator).__name__, []

    def _scope(self, name: algebra.PatternTerm, sources: tuple[Source, ...]) -> str:
        """The label of the window, if the translation generated its name."""
        if isinstance(name, Variable):
            return self._names.variable(name)
        windows = [source for source in sources if source.kind == "window"]
        return windows[0].label.removeprefix("window ") if windows else self._names.term(name)

    def _grouping(self, keys: tuple[tuple[Variable, Expression], ...], aggregates: list[str]) -> list[str]:
        names = self._names
        shown = [
            names.variable(variable) if variable == expression else names.expression(expression)
            for variable, expression in keys
        ]
        return [f"by {', '.join(shown)}" if shown else "all in one group", *dict.fromkeys(aggregates)]


def operands(operator: Operator) -> tuple[Operator, ...]:
    """The operands of an operator; a UNION of several sides nests to the left, and this returns all of them."""
    if not isinstance(operator, algebra.Union):
        return operator.children
    sides: list[Operator] = [operator]
    while isinstance(sides[0], algebra.Union):
        sides[:1] = [sides[0].left, sides[0].right]
    return tuple(sides)


def expressions_of(operator: Operator) -> Iterator[Expression]:
    """The expressions that an operator evaluates."""
    match operator:
        case algebra.LeftJoin(condition=condition) if condition is not None:
            yield condition
        case algebra.Filter(condition):
            yield condition
        case algebra.Extend(_, _, expression):
            yield expression
        case algebra.Group(_, keys, aggregates):
            yield from (expression for _, expression in keys)
            yield from (aggregate.argument for _, aggregate in aggregates if aggregate.argument is not None)
        case Aggregation(_, _, aggregate) if aggregate.argument is not None:
            yield aggregate.argument
        case algebra.OrderBy(_, conditions):
            yield from (expression for expression, _ in conditions)


def exists_in(expression: Expression) -> Iterator[Exists]:
    match expression:
        case Exists():
            yield expression
        case Apply(_, arguments):
            for argument in arguments:
                yield from exists_in(argument)


def _is_new_at_each_instant(expression: Expression) -> bool:
    if not isinstance(expression, Apply):
        return False
    return expression.function in _NEW_AT_EACH_INSTANT or any(map(_is_new_at_each_instant, expression.arguments))
