"""The whole statement of a query for a slice: its solutions under the streaming operator (semantics.md §7)."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from penstock.algebra.model import ContinuousQuery
from penstock.relational.compiler import Compiler
from penstock.relational.intervals import INSTANTS, merge
from penstock.relational.relations import Relation, aliased, col, number, select_from
from penstock.relational.sources import Tables


@dataclass(frozen=True, slots=True)
class Plan:
    """A statement whose rows are an instant `t` and the values of `variables`, in the order of time."""

    statement: exp.Select
    variables: tuple[str, ...]


def compile_query(query: ContinuousQuery, tables: Tables) -> Plan:
    """RSTREAM spreads rows over their instants at the very end; ISTREAM and DSTREAM are ends of merged intervals.

    Instant number 0 of every slice but the first is the last one of the slice before, for comparison: it is not
    reported (the table `instants` says so in its column `is_reported`).
    """
    compiler = Compiler(query, tables)
    solutions = compiler.solutions(query.expression, keep_order=True)
    visible = {variable: name for variable, name in solutions.columns.items() if variable.is_visible}
    names = list(visible.values())
    if query.operator == "rstream":
        rows, condition = solutions.name, _covers(solutions, col(INSTANTS, "k"))
        query_text = select_from(rows, [col(rows, name) for name in names])
    else:
        changes = (
            merge(compiler.statement, solutions.name, names) if names else merge(compiler.statement, solutions.name, [])
        )
        query_text, condition = _changed(solutions, changes, names, is_new=query.operator == "istream")
    query_text = query_text.join(exp.to_table(INSTANTS), on=condition)
    query_text = query_text.select(aliased(col(INSTANTS, "t"), "t"), append=True)
    query_text = query_text.where(col(INSTANTS, "is_reported"))
    query_text = query_text.order_by(col(INSTANTS, "k"), *compiler.ordered(solutions))
    return Plan(compiler.statement.finish(query_text), tuple(variable.name for variable in visible))


def _covers(relation: Relation, instant: exp.Expr) -> exp.Expr:
    return exp.and_(
        exp.GTE(this=instant.copy(), expression=relation.start), exp.LT(this=instant.copy(), expression=relation.end)
    )


def _changed(solutions: Relation, changes: str, names: list[str], *, is_new: bool) -> tuple[exp.Select, exp.Expr]:
    """Solutions at an instant that were not there at the one before, or that are no more."""
    edge = col(changes, "i") if is_new else col(changes, "j")
    seen_at = edge if is_new else exp.Sub(this=edge, expression=number(1))
    same = [exp.NullSafeEQ(this=col(solutions.name, name), expression=col(changes, name)) for name in names]
    joined = select_from(solutions.name, [col(solutions.name, name) for name in names]).join(
        exp.to_table(changes), on=exp.and_(*same, _covers(solutions, seen_at))
    )
    return joined, col(INSTANTS, "k").eq(edge.copy())
