"""Where the solutions of a join begin and end, known from the rows that it joins.

ISTREAM asks for the solutions that begin at an instant: no equal one holds at the instant before. A solution of a join
that keeps all variables holds wherever all rows hold that it consists of. So it begins where one of them does, and none
of its rows need be compared: those of the operands are fewer, and narrower. DSTREAM is the same with ends.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal as OneOf

from sqlglot import exp

from penstock.algebra.expressions import Constant
from penstock.algebra.model import ConstructForm, ContinuousQuery
from penstock.algebra.operators import BasicGraphPattern, Filter, Join, Operator, ReadGraph, ReadWindow
from penstock.optimizer.push_filters import can_move
from penstock.relational.intervals import beside, once
from penstock.relational.relations import Relation, Statement, aliased, col, select_from


@dataclass(slots=True)
class Edges:
    """Marks the rows that are joined with the instants at which they begin (`i`) or end (`j`), if they do.

    `is_set`: how often a solution is there does not matter.
    """

    edge: OneOf["i", "j"]
    is_set: bool
    marks: list[str] = field(default_factory=list)
    """The columns of the last join with such instants; none if its rows have to be compared."""
    _made: int = 0

    def marked(self, statement: Statement, relations: list[Relation]) -> list[Relation]:
        """The operands of a join. There is nothing to gain unless rows of streams are joined with each other."""
        self.marks = []
        passing = [relation for relation in relations if not relation.holds_always]
        are_bound = all(relation.certain == relation.columns.keys() for relation in relations)
        if len(passing) < 2 or not are_bound:
            return relations
        return [relation if relation.holds_always else self._marked(statement, relation) for relation in relations]

    def _marked(self, statement: Statement, relation: Relation) -> Relation:
        self._made += 1
        mark = f"edge{self._made}"
        self.marks.append(mark)
        keys = [*relation.columns.values()]
        name = relation.name
        if self.is_set and not relation.extra:
            if self.edge == "i":
                return replace(relation, name=once(statement, name, keys, begins=mark), extra=(mark,))
            name = once(statement, name, keys)
        edge = col(name, self.edge)
        other = beside(statement, name, keys, is_before=self.edge == "i")
        beyond = exp.LT if self.edge == "i" else exp.GT
        is_edge = exp.or_(beyond(this=other, expression=edge.copy()), exp.paren(other.copy()).is_(exp.null()))
        at = exp.case().when(is_edge, edge.copy())
        kept = [col(name, column) for column in relation.all_columns]
        query = select_from(name, [*kept, aliased(at, mark), col(name, "i"), col(name, "j")])
        return replace(relation, name=statement.add(query), extra=(*relation.extra, mark))

    def condition(self, relation: Relation) -> exp.Expr | None:
        """Whether a row of the last join is a solution that begins, or ends; None if its rows have to be compared."""
        if not self.marks or not all(variable.is_visible for variable in relation.columns):
            return None
        return exp.or_(*(col(relation.name, mark).eq(col(relation.name, self.edge)) for mark in self.marks))


def edges_of(query: ContinuousQuery, expression: Operator, edge: OneOf["i", "j"]) -> Edges | None:
    """None if solutions are no joins, or lack a variable of the rows that are joined."""
    form = query.form
    is_set = isinstance(form, ConstructForm) and not form.blank_nodes
    return Edges(edge, is_set) if is_join(expression) else None


def is_join(operator: Operator) -> bool:
    """Whether it joins patterns, and keeps all of their variables."""
    match operator:
        case BasicGraphPattern():
            return True
        case Join(left, right):
            return is_join(left) and is_join(right)
        case Filter(condition, source):
            return can_move(condition) and is_join(source)
        case ReadWindow(Constant(), source) | ReadGraph(Constant(), source):
            return is_join(source)
    return False
