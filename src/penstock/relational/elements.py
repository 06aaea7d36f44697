"""GRAPH inside a window (semantics.md §4): the named elements of the window, all at once.

The pattern in a GRAPH block is matched in each named element separately. So each of its solutions has one more column,
the name of the element, which must be equal in every join, comparison and grouping.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from penstock.algebra.expressions import Constant, Variable
from penstock.relational.active_graphs import ActiveGraph
from penstock.relational.matching import TRIPLE, TripleConditions
from penstock.relational.paths import PAIR, PathCompiler
from penstock.relational.relations import Relation, Statement, aliased, col, number, select_from


@dataclass(frozen=True, slots=True)
class NamedElements:
    """The input of a GRAPH block: `variable`, an internal one, is the name; `name` is the constant name, if there is
    one.
    """

    variable: Variable
    name: Constant | None


def names_of(graph: ActiveGraph, elements: NamedElements) -> Relation:
    """The names of the elements, with the intervals of the elements."""
    columns = {elements.variable: graph.statement.column_name(elements.variable)}
    asked = TripleConditions().in_element(elements.name)
    names = graph.names(columns[elements.variable], asked)
    return Relation(names, columns, frozenset(columns), is_momentary=graph.is_momentary(asked))


def told(statement: Statement, relation: Relation, elements: NamedElements, name: Variable | None) -> Relation:
    """The solutions without the internal name; it becomes the value of the variable of GRAPH, if there is one."""
    value = relation.column(elements.variable)
    columns = {v: column for v, column in relation.columns.items() if v not in (elements.variable, name)}
    selected: list[exp.Expr] = [col(relation.name, column) for column in (*columns.values(), *relation.extra)]
    if name is not None:
        columns[name] = statement.column_name(name)
        selected.append(aliased(value.copy(), columns[name]))
    query = select_from(relation.name, [*selected, relation.start, relation.end])
    if name is not None and name in relation.columns:
        known = relation.column(name)
        agree = known.eq(value)
        query = query.where(agree if name in relation.certain else exp.or_(agree, known.copy().is_(exp.null())))
    certain = (relation.certain - {elements.variable}) | ({name} if name is not None else frozenset())
    return replace(relation, name=statement.add(query), columns=columns, certain=certain)


_SPACE = exp.Literal.string(" ")
"""No IRI and no blank node label contains this character, so it ends the name of an element."""


class _ElementNodes:
    """The triples of the elements. A node is the name of its element followed by the term, so no step leads from one
    element to another.
    """

    def __init__(self, graph: ActiveGraph, elements: NamedElements) -> None:
        self.graph = graph
        self.elements = elements

    @property
    def counts_matches(self) -> bool:
        return self.graph.counts_matches

    def holds_always(self, asked: TripleConditions) -> bool:
        """Elements enter and leave, even if none has the requested triples."""
        return False

    def triples(self) -> str:
        return self.scan({part: part for part in TRIPLE}, TripleConditions())

    def scan(self, columns: Mapping[str, str], asked: TripleConditions) -> str:
        triples = self.graph.scan({"g": "g", **{part: part for part in columns}}, asked.in_element(self.elements.name))
        nodes = {part: _behind(col(triples, "g"), col(triples, part)) for part in ("s", "o")}
        selected = [aliased(nodes.get(part, col(triples, part)), name) for part, name in columns.items()]
        return self.graph.statement.add(select_from(triples, [*selected, col(triples, "i"), col(triples, "j")]))


class ElementPaths(PathCompiler):
    """Paths in each named element separately, or in several of one name; `names` are the names with their intervals."""

    def __init__(self, graph: ActiveGraph, elements: NamedElements, names: Relation) -> None:
        super().__init__(graph.statement, _ElementNodes(graph, elements))
        self.name = elements.variable
        self.names = names

    def _constant(self, term: exp.Expr) -> exp.Select:
        node = aliased(_behind(self.names.column(self.name), term), "x")
        return select_from(self.names.name, [node, self.names.start, self.names.end])

    def _is_known(self, end: Variable, other: Relation) -> bool:
        return {end, self.name} <= other.certain

    def _node(self, end: Variable, other: Relation) -> exp.Expr:
        return _behind(other.column(self.name), other.column(end))

    def _terms(self, pairs: str) -> tuple[str, dict[Variable, str]]:
        columns = {self.name: self.statement.column_name(self.name)}
        terms = [aliased(_term(col(pairs, name)), name) for name in PAIR]
        selected = [aliased(_name(col(pairs, "x")), columns[self.name]), *terms, col(pairs, "i"), col(pairs, "j")]
        return self.statement.add(select_from(pairs, selected)), columns


def _behind(name: exp.Expr, term: exp.Expr) -> exp.Expr:
    return exp.DPipe(this=exp.DPipe(this=name, expression=_SPACE.copy()), expression=term.copy())


def _name(node: exp.Expr) -> exp.Expr:
    length = exp.Sub(this=_place_of_space(node), expression=number(1))
    return exp.Substring(this=node, start=number(1), length=length)


def _term(node: exp.Expr) -> exp.Expr:
    return exp.Substring(this=node, start=exp.Add(this=_place_of_space(node), expression=number(1)))


def _place_of_space(node: exp.Expr) -> exp.Expr:
    return exp.StrPosition(this=node.copy(), substr=_SPACE.copy())
