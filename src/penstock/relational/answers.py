"""The whole statement of a query for a slice: its solutions under the streaming operator (semantics.md §7)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal as OneOf

from sqlglot import exp

from penstock.algebra.model import ContinuousQuery
from penstock.algebra.operators import Operator
from penstock.optimizer import RULES, Knowledge, optimize
from penstock.relational.compiler import Compiler
from penstock.relational.intervals import INSTANTS, partition_keys, spread
from penstock.relational.matching import TRIPLE, Asked, asked_by, counted_patterns
from penstock.relational.relations import Relation, Shape, Statement, aliased, col, select_from, united
from penstock.relational.sources import Sources, Tables
from penstock.relational.windows import FIRST

_Delivered = tuple[str, exp.Expr]
"""The relation that has what is to be delivered, and the condition under which a row of it comes at an instant."""

Delivery = OneOf["rstream", "istream", "dstream", "once"]
"""A streaming operator; or each solution once, when it begins, as befits patterns whose solutions never end."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A statement whose rows are the values of `variables` and an instant `t`, in the order of time.

    It reads the table `instants` and has the parameters `first`, `last`, `count` and `step`. Instant number 0 of every
    slice but the first is the last one of the slice before, for comparison: it is not reported (the table says so in
    its column `is_reported`). That of a snapshot has `first`, `last` and `count` alone.
    """

    statement: exp.Select
    variables: tuple[str, ...]
    stream_scans: int


def optimized(query: ContinuousQuery, expression: Operator, tables: Tables) -> Operator:
    """The expression under all rules, for what is known of the tables now."""
    return optimize(expression, Knowledge.of(query, tables.sizes), RULES).expression


def compile_query(
    query: ContinuousQuery,
    expression: Operator,
    delivery: Delivery,
    tables: Tables,
    shape: Shape,
) -> Plan:
    """RSTREAM spreads rows over their instants at the very end; ISTREAM and DSTREAM are ends of merged intervals."""
    compiler = Compiler(query, tables, shape)
    solutions = compiler.solutions(expression, keep_order=True)
    visible = {variable: name for variable, name in solutions.columns.items() if variable.is_visible}
    names = list(visible.values())
    rows, condition = _DELIVERIES[delivery](compiler.statement, solutions, names)
    order = [*compiler.ordered(replace(solutions, name=rows)), *(exp.Ordered(this=col(rows, name)) for name in names)]
    selected = select_from(rows, [col(rows, name) for name in names])
    variables = tuple(variable.name for variable in visible)
    return Plan(_reported(compiler.statement, selected, condition, order), variables, compiler.statement.stream_scans)


def compile_dataset(query: ContinuousQuery, tables: Tables, shape: Shape) -> Plan:
    """All triples that there are at each instant, in whatever graph: what DESCRIBE looks at.

    A window that counts matches holds, for each pattern, the last that match it.
    """
    statement = Statement(shape)
    sources = Sources(statement, query.dataset, tables)
    graphs = [(graph, Asked()) for graph in (sources.default, *(named.graph for named in sources.graphs()))]
    windows = [
        (named.graph, Asked() if pattern is None else asked_by(pattern))
        for named in sources.windows()
        for window, _ in named.graph.windows
        for pattern in counted_patterns(query, window)
    ]
    contents = [graph.triples(asked) for graph, asked in dict.fromkeys([*graphs, *windows])]
    whole = statement.add(united([select_from(name, [exp.Star()]) for name in contents]))
    columns = [aliased(exp.cast(col(whole, part), "text"), part) for part in TRIPLE]
    selected = select_from(whole, columns)
    return Plan(_reported(statement, selected, _covers(whole, col(INSTANTS, "k")), []), TRIPLE, statement.stream_scans)


def _reported(
    statement: Statement, selected: exp.Select, condition: exp.Expr, order: list[exp.Ordered]
) -> exp.Select:  # fmt: skip
    """Always in the same order, also where none is asked for: who runs a query twice gets the same lines."""
    if statement.shape.is_snapshot:
        query = selected.select(aliased(exp.cast(FIRST.copy(), "bigint"), "t"))
        return statement.finish(query.order_by(*order) if order else query)
    query = selected.join(exp.to_table(INSTANTS), on=condition)
    query = query.select(aliased(col(INSTANTS, "t"), "t"), append=True).where(col(INSTANTS, "is_reported"))
    return statement.finish(query.order_by(col(INSTANTS, "k"), *order))


def _covers(relation: str, instant: exp.Expr) -> exp.Expr:
    return exp.and_(
        exp.GTE(this=instant.copy(), expression=col(relation, "i")),
        exp.LT(this=instant.copy(), expression=col(relation, "j")),
    )


def _all(statement: Statement, solutions: Relation, names: list[str]) -> _Delivered:
    if statement.shape.is_distributed and not solutions.is_momentary:
        # A join by inequalities would compare all rows with all instants.
        snapshot = spread(statement, solutions.name, solutions.all_columns)
        solutions = replace(solutions, name=snapshot, is_momentary=True)
    if solutions.is_momentary:
        return _once(statement, solutions, names)
    return solutions.name, _covers(solutions.name, col(INSTANTS, "k"))


def _once(statement: Statement, solutions: Relation, names: list[str]) -> _Delivered:
    return solutions.name, col(INSTANTS, "k").eq(solutions.start)


def _new(statement: Statement, solutions: Relation, names: list[str]) -> _Delivered:
    """Solutions that begin at an instant where none that is equal goes on."""
    reached = _beside(statement, exp.Max(this=solutions.end), solutions, names, solutions.start, is_before=True)
    return _where_none_goes_on(statement, solutions, aliased(reached, "reached"), exp.LT, "i")


def _gone(statement: Statement, solutions: Relation, names: list[str]) -> _Delivered:
    """Solutions that end at an instant where none that is equal goes on."""
    returns = _beside(statement, exp.Min(this=solutions.start), solutions, names, solutions.end, is_before=False)
    return _where_none_goes_on(statement, solutions, aliased(returns, "reached"), exp.GT, "j")


def _where_none_goes_on(
    statement: Statement, solutions: Relation, reached: exp.Expr, is_beyond: type[exp.Binary], edge: str
) -> _Delivered:
    kept = [col(solutions.name, name) for name in solutions.all_columns]
    marked = statement.add(select_from(solutions.name, [*kept, solutions.start, solutions.end, reached]))
    is_alone = exp.or_(
        col(marked, "reached").is_(exp.null()),
        is_beyond(this=col(marked, "reached"), expression=col(marked, edge)),
    )
    return marked, exp.and_(col(INSTANTS, "k").eq(col(marked, edge)), is_alone)


def _beside(
    statement: Statement,
    function: exp.Expr,
    solutions: Relation,
    names: list[str],
    edge: exp.Expr,
    *,
    is_before: bool,
) -> exp.Window:
    """A function of the solutions that are equal, and begin before this one begins or end after it ends."""
    one = exp.Literal.number(1)
    bounds = {"start": "UNBOUNDED", "start_side": "PRECEDING", "end": one, "end_side": "PRECEDING"}
    if not is_before:
        bounds = {"start": one, "start_side": "FOLLOWING", "end": "UNBOUNDED", "end_side": "FOLLOWING"}
    return exp.Window(
        this=function,
        partition_by=partition_keys(statement, [col(solutions.name, name) for name in names]),
        order=exp.Order(expressions=[exp.Ordered(this=edge)]),
        spec=exp.WindowSpec(kind="RANGE", **bounds),
    )


_DELIVERIES: dict[Delivery, Callable[[Statement, Relation, list[str]], _Delivered]] = {
    "rstream": _all,
    "istream": _new,
    "dstream": _gone,
    "once": _once,
}
