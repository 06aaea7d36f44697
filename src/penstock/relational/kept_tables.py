"""Static parts of a query are computed once and kept as tables, which statements read (optimizer/static_split.py).

The table has a column for each variable. An engine that can look up rows by the values of a column learns the variables
by which the rest of the query is joined with it (CQELS's index).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from sqlglot import exp

from penstock.algebra.expressions import Constant, Variable
from penstock.algebra.operators import Operator, PathPattern, PatternTerm, TriplePattern
from penstock.rdf.terms import IRI
from penstock.relational.active_graphs import ActiveGraph
from penstock.relational.dataset import NamedGraph
from penstock.relational.instants import always
from penstock.relational.matching import asked_by, nodes_of
from penstock.relational.relations import Relation, Statement, aliased, col, select_from
from penstock.relational.static_parts import KeptTable

_PARAMETERS = {"first": 0, "last": 0, "count": 1}
"""Static rows are the same at every instant."""


@dataclass(frozen=True, slots=True)
class Place:
    """An active graph, and the input of GRAPH there (`Reading` of the optimizer)."""

    graph: ActiveGraph
    named: Callable[[], Iterable[NamedGraph]]

    def is_static_for(self, pattern: TriplePattern) -> bool:
        return self.graph.is_static_for(asked_by(pattern))

    @property
    def is_static(self) -> bool:
        return bool(self.graph.static) and not self.graph.windows and not self.graph.changing

    def within(self, name: PatternTerm) -> Place | None:
        among = [named for named in self.named() if isinstance(name, Constant) and name.term == IRI(named.name)]
        return Place(among[0].graph, self.named) if len(among) == 1 else None


def table_statement(statement: Statement, solutions: Relation) -> exp.Select:
    """Only the solutions, in the order of their columns, without parameters."""
    columns = [col(solutions.name, name) for name in solutions.columns.values()]
    whole = statement.finish(select_from(solutions.name, columns))
    for placeholder in list(whole.find_all(exp.Placeholder)):
        placeholder.replace(exp.Literal.number(_PARAMETERS[placeholder.this]))
    return whole


def kept_relation(
    statement: Statement, table: KeptTable, solutions: Relation, keys: Iterable[Variable]
) -> Relation:  # fmt: skip
    """The solutions, as another statement reads them."""
    columns = {variable: statement.column_name(variable) for variable in solutions.columns}
    selected = [aliased(col(table.name, own), columns[variable]) for variable, own in solutions.columns.items()]
    name = statement.add(select_from(table.name, [*selected, *always()]))
    looked_up = frozenset(keys) if table.has_index else frozenset()
    return Relation(name, columns, solutions.certain, holds_always=True, looked_up=looked_up, narrow=table.narrow)


def outer_variables(whole: Operator, part: Operator) -> frozenset[Variable]:
    """The variables of a part that patterns outside of it share."""
    everywhere, inside = Counter(_mentioned(whole)), Counter(_mentioned(part))
    return frozenset(variable for variable, times in inside.items() if everywhere[variable] > times)


def _mentioned(operator: Operator) -> Iterator[Variable]:
    for node in nodes_of(operator):
        if isinstance(node, TriplePattern | PathPattern):
            terms: tuple[object, ...] = (node.subject, node.object)
            if isinstance(node, TriplePattern):
                terms = (*terms, node.predicate)
            yield from {term: None for term in terms if isinstance(term, Variable)}


def looked_up(solutions: Relation, shared: frozenset[Variable]) -> dict[Variable, str]:
    """The variables by which the rest of the query is joined, with their columns."""
    certain = shared & solutions.certain
    return {variable: name for variable, name in solutions.columns.items() if variable in certain}
