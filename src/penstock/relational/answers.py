"""The whole statement of a query for a slice: its solutions under the streaming operator (semantics.md §7)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal as OneOf

from sqlglot import exp

from penstock.algebra.expressions import Variable
from penstock.algebra.model import ConstructForm, ContinuousQuery, SelectForm
from penstock.algebra.operators import Operator
from penstock.relational.compiler import Compiler
from penstock.relational.copies import copies_of, repeated
from penstock.relational.dataset import DatasetGraphs
from penstock.relational.edges import edges_of
from penstock.relational.instants import COUNT
from penstock.relational.intervals import INSTANTS, beside, spread
from penstock.relational.matching import TRIPLE, TripleConditions, asked_by, counted_patterns
from penstock.relational.relations import Relation, Statement, aliased, col, number, select_from, united
from penstock.relational.shapes import Shape
from penstock.relational.tables import Tables

REPORTED = exp.Placeholder(this="reported")
"""The number of the first instant that is reported: 1 if instant number 0 is there for comparison."""


@dataclass(frozen=True, slots=True)
class _Delivered:
    """Compiles the relation of the emitted rows: each for an interval, or at one instant."""

    name: str
    start: exp.Expr
    end: exp.Expr | None = None
    condition: exp.Expr | None = None


Delivery = OneOf["rstream", "istream", "dstream", "once"]
"""A streaming operator; or emits each solution once, when it begins, for patterns whose solutions never end."""


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A statement whose rows are the values of `variables`, and their instants.

    The numbers `i` and `j` of instants mean that a row holds at i, i + 1, …, j − 1; the rows of an instant are in
    order. Distributed rows have one instant `t` each instead, and are in the order of time.

    It reads the table `instants` and has the parameters `first`, `last`, `count`, `step` and `reported`. Instant number
    0 of every slice but the first is the last one of the slice before, for comparison: it is not reported (for
    distributed rows the table marks it in its column `is_reported`). A snapshot has no `step`.
    """

    statement: exp.Select
    variables: tuple[str, ...]
    stream_scans: int


def compile_query(
    query: ContinuousQuery,
    expression: Operator,
    delivery: Delivery,
    tables: Tables,
    shape: Shape,
) -> Plan:
    """RSTREAM spreads rows over their instants at the very end; ISTREAM and DSTREAM are ends of merged intervals.

    The triples of CONSTRUCT are put in order later.
    """
    compiler = Compiler(query, tables, shape)
    compares = delivery in ("istream", "dstream")
    compiler.counts_copies = _is_local_slice(shape)
    if compares and _is_local_slice(shape):
        compiler.edges = edges_of(query, expression, "i" if delivery == "istream" else "j")
    solutions = compiler.solutions(expression, keep_order=True)
    visible = _in_order(query, solutions)
    names = list(visible.values())
    is_edge = None if compiler.edges is None else compiler.edges.condition(solutions)
    if is_edge is None:
        delivered = _DELIVERIES[delivery](compiler.statement, solutions, names)
    else:
        delivered = _Delivered(
            solutions.name, solutions.start if delivery == "istream" else solutions.end, condition=is_edge
        )
    copies = copies_of(replace(solutions, name=delivered.name))
    if copies:
        delivered = _repeated(compiler.statement, delivered, names, copies)
    rows = delivered.name
    order: list[exp.Ordered] = []
    if not (_is_local_slice(shape) and isinstance(query.form, ConstructForm) and not query.form.blank_nodes):
        each = (exp.Ordered(this=col(rows, name)) for name in names)
        order = [*compiler.ordered(replace(solutions, name=rows)), *each]
    selected = select_from(rows, [col(rows, name) for name in names])
    variables = tuple(variable.name for variable in visible)
    return Plan(_reported(compiler.statement, selected, delivered, order), variables, compiler.statement.stream_scans)


def _in_order(query: ContinuousQuery, solutions: Relation) -> dict[Variable, str]:
    """The visible variables in an order that the order of joins does not change, so that rows of plans compare."""
    selected = query.form.variables if isinstance(query.form, SelectForm) else ()
    places = {variable: place for place, variable in enumerate(selected)}
    visible = [variable for variable in solutions.columns if variable.is_visible]
    visible.sort(key=lambda variable: (places.get(variable, len(places)), variable.name))
    return {variable: solutions.columns[variable] for variable in visible}


def _repeated(
    statement: Statement, delivered: _Delivered, names: list[str], copies: list[exp.Expr]
) -> _Delivered:  # fmt: skip
    rows = statement.add(repeated(delivered.name, names, copies, delivered.condition))
    start, end = (None if edge is None else col(rows, edge.name) for edge in (delivered.start, delivered.end))
    assert start is not None
    return _Delivered(rows, start, end)


def _is_local_slice(shape: Shape) -> bool:
    return not shape.is_distributed and not shape.is_snapshot


def compile_dataset(query: ContinuousQuery, tables: Tables, shape: Shape) -> Plan:
    """All triples at each instant, of any graph: the input of DESCRIBE.

    A window that counts matches contains, for each pattern, the last elements that match it.
    """
    statement = Statement(shape)
    dataset = DatasetGraphs(statement, query.dataset, tables)
    graphs = [(graph, TripleConditions()) for graph in (dataset.default, *(named.graph for named in dataset.graphs()))]
    windows = [
        (named.graph, TripleConditions() if pattern is None else asked_by(pattern))
        for named in dataset.windows()
        for window, _ in named.graph.windows
        for pattern in counted_patterns(query, window)
    ]
    contents = [graph.triples(asked) for graph, asked in dict.fromkeys([*graphs, *windows])]
    whole = statement.add(united([select_from(name, [exp.Star()]) for name in contents]))
    columns = [aliased(exp.cast(col(whole, part), "text"), part) for part in TRIPLE]
    selected = select_from(whole, columns)
    delivered = _Delivered(whole, col(whole, "i"), col(whole, "j"))
    return Plan(_reported(statement, selected, delivered, []), TRIPLE, statement.stream_scans)


def _reported(
    statement: Statement, selected: exp.Select, delivered: _Delivered, order: list[exp.Ordered]
) -> exp.Select:  # fmt: skip
    """The order is always the same, also without ORDER BY: running a query twice returns the same lines."""
    if delivered.condition is not None:
        selected = selected.where(delivered.condition)
    if statement.shape.is_distributed:
        selected = selected.join(exp.to_table(INSTANTS), on=_is_there(delivered, col(INSTANTS, "k")))
        selected = selected.select(aliased(col(INSTANTS, "t"), "t")).where(col(INSTANTS, "is_reported"))
        return statement.finish(selected.order_by(col(INSTANTS, "k"), *order))
    start, end = delivered.start, delivered.end
    if end is None:
        end = exp.Add(this=start, expression=number(1))
        is_within = exp.and_(
            exp.GTE(this=start, expression=REPORTED.copy()), exp.LT(this=start, expression=COUNT.copy())
        )  # fmt: skip
        order = [exp.Ordered(this=start.copy()), *order] if order else []  # numbers are cheap to compare
    else:
        is_within = exp.GT(this=end, expression=REPORTED.copy())
    selected = selected.select(aliased(start.copy(), "i"), aliased(end.copy(), "j"))
    if not statement.shape.is_snapshot:
        selected = selected.where(is_within)
    return statement.finish(selected.order_by(*order) if order else selected)


def _is_there(delivered: _Delivered, instant: exp.Expr) -> exp.Expr:
    if delivered.end is None:
        return exp.EQ(this=instant, expression=delivered.start.copy())
    return exp.and_(
        exp.GTE(this=instant.copy(), expression=delivered.start.copy()),
        exp.LT(this=instant.copy(), expression=delivered.end.copy()),
    )


def _all(statement: Statement, solutions: Relation, names: list[str]) -> _Delivered:
    if statement.shape.is_distributed and not solutions.is_momentary:
        # A join by inequalities would compare all rows with all instants.
        snapshot = spread(statement, solutions.name, solutions.all_columns)
        solutions = replace(solutions, name=snapshot, is_momentary=True)
    if solutions.is_momentary:
        return _once(statement, solutions, names)
    return _Delivered(solutions.name, solutions.start, solutions.end)


def _once(statement: Statement, solutions: Relation, names: list[str]) -> _Delivered:
    return _Delivered(solutions.name, solutions.start)


def _new(statement: Statement, solutions: Relation, names: list[str]) -> _Delivered:
    """Solutions that begin at an instant at which no equal one continues."""
    reached = beside(statement, solutions.name, names, is_before=True)
    return _where_none_goes_on(statement, solutions, aliased(reached, "reached"), exp.LT, "i")


def _gone(statement: Statement, solutions: Relation, names: list[str]) -> _Delivered:
    """Solutions that end at an instant at which no equal one continues."""
    returns = beside(statement, solutions.name, names, is_before=False)
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
    return _Delivered(marked, col(marked, edge), condition=is_alone)


_DELIVERIES: dict[Delivery, Callable[[Statement, Relation, list[str]], _Delivered]] = {
    "rstream": _all,
    "istream": _new,
    "dstream": _gone,
    "once": _once,
}
