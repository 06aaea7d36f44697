"""Expressions over the rows of a relation, and the changes that they need to these rows.

EXISTS may hold for a part of a row's interval, so the row is cut into pieces, with a flag. NOW() has another value at
each instant, so the row is spread over its instants. BNODE(…) depends on the solution, so rows are numbered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from penstock.algebra.expressions import Apply, Exists, Expression, Variable, conjuncts, parts_of
from penstock.algebra.operators import Operator
from penstock.relational.functions.calls import call, text
from penstock.relational.functions.catalogue import compile_condition, compile_expression, needs_python
from penstock.relational.functions.families import Kinds, kind_of
from penstock.relational.functions.nesting import MOST_WEIGHT, MOST_WEIGHT_DISTRIBUTED, is_deep, with_columns
from penstock.relational.functions.ordering import order_key
from penstock.relational.intervals import INSTANTS, gaps, once, spread
from penstock.relational.joining import numbered, within, without
from penstock.relational.relations import Relation, Statement, aliased, col, select_from, united
from penstock.relational.timestamps import TIMESTAMP, Timestamps, greatest_of
from penstock.relational.windows import FIRST

Asking = Callable[[Operator, Relation], Relation]
"""The solutions of a pattern for each row that it is evaluated for, with the columns of that row."""

NOW = "now"
"""The column of the evaluation instant."""


@dataclass(frozen=True, slots=True)
class Rows:
    """A relation on each row of which some expressions have one value."""

    relation: Relation
    flags: Mapping[Exists, str]
    base: str | None
    row: str | None
    kinds: Kinds
    columns: Mapping[Expression, Variable]
    """The variables that replace parts of the expressions: calls of timestamp(), and regular expressions in deep ones.
    """
    most_weight: int
    """Expressions of more weight are evaluated in steps."""

    def term(self, expression: Expression) -> exp.Expr:
        """The value, a term; NULL where there is none."""
        return compile_expression(
            self._told(expression),
            self.relation.column,
            exists=self._flag,
            now=self._now,
            base=self.base,
            solution=self._solution,
            kinds=self.kinds,
            most_weight=self.most_weight,
        )

    def condition(self, expression: Expression) -> exp.Expr:
        """Whether the expression holds."""
        return compile_condition(
            self._told(expression),
            self.relation.column,
            exists=self._flag,
            now=self._now,
            base=self.base,
            solution=self._solution,
            kinds=self.kinds,
            most_weight=self.most_weight,
        )

    def order_key(self, expression: Expression) -> list[exp.Expr]:
        """The columns to sort by, for the order of the expression's values."""
        return order_key(self.term(expression), kind_of(expression, self.kinds))

    def _told(self, expression: Expression) -> Expression:
        """Replaces the parts that are columns by variables."""
        return with_columns(expression, self.columns) if self.columns else expression

    def _flag(self, exists: Exists) -> exp.Expr:
        return col(self.relation.name, self.flags[exists])

    @property
    def _now(self) -> exp.Expr:
        return col(self.relation.name, NOW)

    @property
    def _solution(self) -> exp.Expr | None:
        if self.row is None:
            return None
        return exp.DPipe(this=text(f"{self.row} "), expression=exp.cast(col(self.relation.name, self.row), "text"))


@dataclass(frozen=True, slots=True)
class Expressions:
    """Evaluates expressions; `asking` is the place of patterns inside EXISTS, and `base` resolves relative IRIs.

    `kinds` are the known kinds of the variables of the rows.
    """

    statement: Statement
    asking: Asking
    base: str | None
    kinds: Kinds
    timestamps: Timestamps

    def rows(self, relation: Relation, expressions: Iterable[Expression]) -> Rows:
        """The rows of the relation, cut and spread as the expressions need them."""
        expressions = list(expressions)
        parts = [part for expression in expressions for part in parts_of(expression)]
        calls = {(part.function, len(part.arguments)) for part in parts if isinstance(part, Apply)}
        stamps = dict.fromkeys(part for part in parts if isinstance(part, Apply) and part.function == TIMESTAMP)
        told: Mapping[Expression, Variable] = {}
        if stamps:
            relation, told = self._with_timestamps(relation, stamps)
        row = None
        if ("BNODE", 1) in calls:
            relation, row = numbered(self.statement, relation)
        flags: dict[Exists, str] = {}
        for exists in dict.fromkeys(part for part in parts if isinstance(part, Exists)):
            relation, flags[exists] = self._flagged(relation, exists)
        if ("NOW", 0) in calls:
            relation = self._at_instants(relation)
        most_weight = MOST_WEIGHT_DISTRIBUTED if self.statement.shape.is_distributed else MOST_WEIGHT
        rows = Rows(relation, flags, self.base, row, self.kinds, told, most_weight)
        return self._with_matches(rows, [expression for expression in expressions if is_deep(expression, most_weight)])

    def _with_matches(self, rows: Rows, expressions: Iterable[Expression]) -> Rows:
        """The rows with columns for the regular expressions that Spark matches with a UDF in deep expressions: a lambda
        must not contain a UDF.
        """
        left = [with_columns(expression, rows.columns) for expression in expressions]
        while matches := dict.fromkeys(found for expression in left for found in _innermost_matches(expression)):
            relation = rows.relation
            variables = {match: Variable(f".match{len(rows.columns) + place}") for place, match in enumerate(matches)}
            names = {variable: self.statement.column_name(variable) for variable in variables.values()}
            kept = [col(relation.name, name) for name in relation.all_columns]
            added = [
                aliased(exp.cast(rows.term(match), "text"), names[variable]) for match, variable in variables.items()
            ]
            query = select_from(relation.name, [*kept, *added, relation.start, relation.end])
            rows = replace(
                rows,
                relation=replace(
                    relation,
                    name=self.statement.add(query, materialized=True),
                    columns={**relation.columns, **names},
                ),
                kinds={**rows.kinds, **{variable: kind_of(match, rows.kinds) for match, variable in variables.items()}},
                columns={**rows.columns, **variables},
            )
            left = [with_columns(expression, variables) for expression in left]
        return rows

    def _with_timestamps(
        self, relation: Relation, calls: Iterable[Apply]
    ) -> tuple[Relation, Mapping[Expression, Variable]]:
        """The rows with a variable for each call of timestamp()."""
        told: dict[Expression, Variable] = {call: Variable(f"_:{call}") for call in calls}
        names = {variable: self.statement.column_name(variable) for variable in told.values()}
        kept = [col(relation.name, name) for name in relation.all_columns]
        values = [
            aliased(greatest_of(map(relation.column, self.timestamps.candidates(call, relation))), names[variable])
            for call, variable in zip(calls, told.values(), strict=True)
        ]
        query = select_from(relation.name, [*kept, *values, relation.start, relation.end])
        columns = {**relation.columns, **names}
        return self.statement.relation(query, columns, relation.certain, relation.extra), told

    def filtered(self, relation: Relation, condition: Expression) -> Relation:
        """The rows, or the pieces of them, for which the condition is true."""
        extra = relation.extra
        conditions = list(conjuncts(condition))
        others = [part for part in conditions if not isinstance(part, Exists)]
        if others:
            rows = self.rows(relation, others)
            kept = [col(rows.relation.name, name) for name in [*relation.columns.values(), *extra]]
            query = select_from(rows.relation.name, [*kept, rows.relation.start, rows.relation.end])
            query = query.where(*(rows.condition(part) for part in others))
            holds_always = relation.holds_always and rows.relation.holds_always
            relation = replace(relation, name=self.statement.add(query), holds_always=holds_always)
        for exists in dict.fromkeys(part for part in conditions if isinstance(part, Exists)):
            given, row = numbered(self.statement, relation)
            found = self.asking(exists.pattern, given)
            pieces = without if exists.negated else within
            relation = pieces(self.statement, given, found, row)
            relation = Relation(relation.name, relation.columns, relation.certain, extra)
        return relation

    def extended(self, relation: Relation, values: Mapping[Variable, Expression]) -> Relation:
        """The rows with a value for each of the variables; the expressions read none of these variables."""
        extra = relation.extra
        rows = self.rows(relation, values.values())
        names = {variable: self.statement.column_name(variable) for variable in values}
        kept = [col(rows.relation.name, name) for name in [*relation.columns.values(), *extra]]
        added = [aliased(exp.cast(rows.term(value), "text"), names[variable]) for variable, value in values.items()]
        query = select_from(rows.relation.name, [*kept, *added, rows.relation.start, rows.relation.end])
        bound = {v for v, value in values.items() if not isinstance(value, Apply | Variable | Exists)}
        bound |= {v for v, value in values.items() if isinstance(value, Variable) and value in relation.certain}
        columns, certain = {**relation.columns, **names}, relation.certain | bound
        return self.statement.relation(query, columns, certain, extra, is_momentary=relation.is_momentary)

    def _flagged(self, relation: Relation, exists: Exists) -> tuple[Relation, str]:
        """The rows cut into pieces for which the EXISTS is either true or false, and the column with this flag."""
        rows, row = numbered(self.statement, relation)
        found = self.asking(exists.pattern, rows)
        flag = f"exists{len(self.statement.parts)}"
        covered = once(self.statement, found.name, [row])
        free = gaps(self.statement, rows.name, rows.all_columns, covered, row)
        inside = (
            select_from(rows.name, [col(rows.name, name) for name in relation.all_columns])
            .select(aliased(exp.convert(not exists.negated), flag), col(covered, "i"), col(covered, "j"))
            .join(exp.to_table(covered), on=col(rows.name, row).eq(col(covered, row)))
        )
        outside = select_from(free, [col(free, name) for name in relation.all_columns])
        outside = outside.select(aliased(exp.convert(exists.negated), flag), col(free, "i"), col(free, "j"))
        pieces = united([inside, outside])
        return self.statement.relation(pieces, relation.columns, relation.certain, (*relation.extra, flag)), flag

    def _at_instants(self, relation: Relation) -> Relation:
        snapshot = spread(self.statement, relation.name, relation.all_columns)
        kept = [col(snapshot, name) for name in [*relation.all_columns, "i", "j"]]
        if self.statement.shape.is_snapshot:
            now = aliased(call("sparql_instant_term", exp.cast(FIRST.copy(), "bigint")), NOW)
            query = select_from(snapshot, [*kept, now])
            return self.statement.relation(query, relation.columns, relation.certain, (*relation.extra, NOW))
        now = aliased(call("sparql_instant_term", col(INSTANTS, "t")), NOW)
        is_then = col(INSTANTS, "k").eq(col(snapshot, "i"))
        query = select_from(snapshot, [*kept, now]).join(exp.to_table(INSTANTS), on=is_then)
        return self.statement.relation(query, relation.columns, relation.certain, (*relation.extra, NOW))


def _innermost_matches(expression: Expression) -> Iterator[Expression]:
    """The innermost parts that Spark matches with a UDF."""
    if isinstance(expression, Apply):
        inner = [match for argument in expression.arguments for match in _innermost_matches(argument)]
        if inner:
            yield from inner
        elif needs_python(expression):
            yield expression
