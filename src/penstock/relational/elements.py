"""GRAPH inside of a window (semantics.md §4): the named elements of the window, all at once.

The pattern in a GRAPH block is matched in each named element by itself. So each of its solutions has one column more,
the name of the element, in which everything that is joined, compared or grouped has to be the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from penstock.algebra.expressions import Constant, Variable
from penstock.algebra.paths import Path
from penstock.relational.matching import TRIPLE, Asked
from penstock.relational.paths import PAIR, PathCompiler
from penstock.relational.relations import Relation, Statement, aliased, col, number, select_from
from penstock.relational.sources import ActiveGraph


@dataclass(frozen=True, slots=True)
class NamedElements:
    """What a GRAPH block reads: `variable`, which no query sees, is the name; `name` is it, where the query says so."""

    variable: Variable
    name: Constant | None


def names_of(graph: ActiveGraph, elements: NamedElements) -> Relation:
    """The names of the elements, when they are in the window."""
    columns = {elements.variable: graph.statement.column_name(elements.variable)}
    asked = Asked().in_element(elements.name)
    names = graph.names(columns[elements.variable], asked)
    return Relation(names, columns, frozenset(columns), is_momentary=graph.is_momentary(asked))


def told(statement: Statement, relation: Relation, elements: NamedElements, name: Variable | None) -> Relation:
    """The solutions without the hidden name; it is the value of the variable that GRAPH has, if it has one."""
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
"""Neither an IRI nor the label of a blank node has one, so that it ends the name of an element."""


def paths_in_elements(
    graph: ActiveGraph, path: Path, terms: Sequence[exp.Expr], elements: NamedElements, names: Relation
) -> str:
    """The pairs of nodes `(g, x, y, i, j)` that the path connects in an element, or in several of one name.

    A node is one of an element: the path goes over the names of elements with the terms behind them, and so from no
    element to another one.
    """
    statement = graph.statement
    triples = graph.scan({part: part for part in ("g", *TRIPLE)}, Asked().in_element(elements.name))
    ends = [aliased(_behind(col(triples, "g"), col(triples, part)), part) for part in ("s", "o")]
    bounds = [col(triples, "i"), col(triples, "j")]
    steps = statement.add(select_from(triples, [*ends, col(triples, "p"), *bounds]))
    always = select_from(names.name, [names.start, names.end])
    nodes = [_behind(names.column(elements.variable), term) for term in terms]
    pairs = PathCompiler(statement, steps, nodes, always).pairs(path)
    parted = [aliased(_term(col(pairs, name)), name) for name in PAIR]
    return statement.add(
        select_from(pairs, [aliased(_name(col(pairs, "x")), "g"), *parted, col(pairs, "i"), col(pairs, "j")])
    )


def _behind(name: exp.Expr, term: exp.Expr) -> exp.Expr:
    return exp.DPipe(this=exp.DPipe(this=name, expression=_SPACE.copy()), expression=term.copy())


def _name(node: exp.Expr) -> exp.Expr:
    length = exp.Sub(this=_place_of_space(node), expression=number(1))
    return exp.Substring(this=node, start=number(1), length=length)


def _term(node: exp.Expr) -> exp.Expr:
    return exp.Substring(this=node, start=exp.Add(this=_place_of_space(node), expression=number(1)))


def _place_of_space(node: exp.Expr) -> exp.Expr:
    return exp.StrPosition(this=node.copy(), substr=_SPACE.copy())
