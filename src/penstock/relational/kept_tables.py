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
from penstock.relational.copies import copies_column
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


_COPIES = "copies"


def table_statement(statement: Statement, solutions: Relation, unread: frozenset[Variable] = frozenset()) -> exp.Select:
    """Only the solutions, in the order of their columns, without parameters.

    Without the `unread` variables, equal ones are one row, with their number.
    """
    columns = [col(solutions.name, name) for variable, name in solutions.columns.items() if variable not in unread]
    selected = select_from(solutions.name, columns)
    if unread:
        counted = aliased(exp.Count(this=exp.Star()), _COPIES)
        selected = selected.select(counted).group_by(*(column.copy() for column in columns))
    whole = statement.finish(selected)
    for placeholder in list(whole.find_all(exp.Placeholder)):
        placeholder.replace(exp.Literal.number(_PARAMETERS[placeholder.this]))
    return whole


def kept_relation(
    statement: Statement,
    table: KeptTable,
    solutions: Relation,
    keys: Iterable[Variable],
    unread: frozenset[Variable] = frozenset(),
) -> Relation:
    """The solutions, as another statement reads them."""
    own = {variable: name for variable, name in solutions.columns.items() if variable not in unread}
    columns = {variable: statement.column_name(variable) for variable in own}
    selected = [aliased(col(table.name, name), columns[variable]) for variable, name in own.items()]
    extra: tuple[str, ...] = ()
    if unread:
        extra = (copies_column(statement.next_name()),)
        selected.append(aliased(col(table.name, _COPIES), extra[0]))
    name = statement.add(select_from(table.name, [*selected, *always()]))
    looked_up = frozenset(keys) if table.has_index else frozenset()
    certain = solutions.certain - unread
    return Relation(name, columns, certain, extra, holds_always=True, looked_up=looked_up, narrow=table.narrow)


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
