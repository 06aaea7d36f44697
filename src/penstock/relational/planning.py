"""The path of a query, arrow by arrow: text ─▶ syntax tree ─▶ algebra ─▶ optimized algebra ─▶ SQL.

Each arrow is one function. The engines call the last two themselves, because both depend on the run: the best order of
joins changes with the sizes of tables, and slices have different shapes.
"""

from __future__ import annotations

from penstock.algebra import ContinuousQuery, Settings, build
from penstock.algebra.operators import Operator
from penstock.optimizer import RULES, Knowledge, optimize
from penstock.relational.answers import Plan, compile_query
from penstock.relational.shapes import Shape
from penstock.relational.tables import Tables
from penstock.syntax import parse


def plan(text: str, tables: Tables, shape: Shape, settings: Settings | None = None) -> Plan:
    """The SQL statement that answers a query at all instants of a slice."""
    tree = parse(text)  # text ─▶ syntax tree, in the words of its dialect (syntax/)
    query = build(tree, settings or Settings())  # ─▶ algebra, in the words of RSP-QL (algebra/building.py)
    return plan_query(query, tables, shape)


def plan_query(query: ContinuousQuery, tables: Tables, shape: Shape, *, is_optimized: bool = True) -> Plan:
    """The SQL statement of a built query."""
    expression = query.expression
    if is_optimized:
        expression = optimized(query, expression, tables)  # ─▶ optimized algebra (optimizer/)
    return compile_query(query, expression, query.operator, tables, shape)  # ─▶ SQL over intervals (relational/)


def optimized(query: ContinuousQuery, expression: Operator, tables: Tables) -> Operator:
    """The expression after all rules (optimizer/), for the current sizes of tables."""
    return optimize(expression, Knowledge.of(query, tables.sizes), RULES).expression
