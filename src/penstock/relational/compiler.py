"""Algebra to SQL over intervals: one statement answers all evaluation instants of a slice."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise

from sqlglot import exp

from penstock.algebra.expressions import Aggregate, Apply, Constant, Exists, Expression, Variable
from penstock.algebra.model import ContinuousQuery
from penstock.algebra.operators import (
    BasicGraphPattern,
    Distinct,
    Extend,
    Filter,
    Group,
    Join,
    LeftJoin,
    Minus,
    Operator,
    OrderBy,
    PathPattern,
    PatternTerm,
    Project,
    ReadGraph,
    ReadWindow,
    Reduced,
    Slice,
    Table,
    TriplePattern,
    Union,
)
from penstock.rdf.encoding import encode
from penstock.rdf.terms import IRI
from penstock.relational.functions.aggregates import compile_aggregate
from penstock.relational.functions.catalogue import compile_condition, compile_expression
from penstock.relational.functions.ordering import order_key
from penstock.relational.intervals import INSTANTS, gaps, merge, running_sums, spread
from penstock.relational.matching import pattern_conditions, terms_of
from penstock.relational.paths import PathCompiler
from penstock.relational.relations import (
    Relation,
    Statement,
    aliased,
    col,
    greatest,
    least,
    number,
    select_from,
)
from penstock.relational.sources import ActiveGraph, NotYetError, Sources, Tables, always


@dataclass(frozen=True, slots=True)
class Context:
    """Where triple patterns look (`graph`), and the rows that an EXISTS is asked about."""

    graph: ActiveGraph
    seed: Relation | None = None


class Compiler:
    def __init__(self, query: ContinuousQuery, tables: Tables) -> None:
        self.query = query
        self.statement = Statement()
        self.sources = Sources(self.statement, query.dataset, tables)

    def _operator(self, operator: Operator, context: Context) -> Relation:
        match operator:
            case BasicGraphPattern(patterns):
                return self._basic_graph_pattern(patterns, context)
            case Join(left, right):
                return self.join([self._operator(left, context), self._operator(right, context)])
            case LeftJoin(left, right, condition):
                return self._left_join(self._operator(left, context), right, condition, context)
            case Minus(left, right):
                return self._minus(self._operator(left, context), self._operator(right, Context(context.graph)))
            case Union(left, right):
                return self.union([self._operator(left, context), self._operator(right, context)])
            case Filter(condition, source):
                return self._filter(self._operator(source, context), condition, context)
            case Extend(source, variable, expression):
                return self._extend(self._operator(source, context), variable, expression, context)
            case Table():
                return self._seeded([self._table(operator)], context)
            case ReadGraph(name, source):
                return self._read(name, source, self.sources.graph_names, self.sources.graph, context)
            case ReadWindow(name, source):
                return self._read(name, source, self.sources.window_names, self.sources.window, context)
            case Group():
                return self._group(operator, context)
            case Project() | Distinct() | Reduced() | OrderBy() | Slice():
                return self._seeded([self.solutions(operator, context)], context)
            case PathPattern():
                return self._seeded([self._path(operator, context.graph)], context)
            case _:
                raise NotYetError(type(operator).__name__.lower())

    # Patterns

    def _basic_graph_pattern(self, patterns: tuple[TriplePattern, ...], context: Context) -> Relation:
        return self._seeded([self._scan(pattern, context.graph) for pattern in patterns], context)

    def _seeded(self, relations: list[Relation], context: Context) -> Relation:
        """Joined with the rows that an EXISTS is asked about, if it is one."""
        if context.seed is not None:
            relations = [context.seed, *relations]
        return self.join(relations) if relations else self._once()

    def _once(self) -> Relation:
        """The empty solution, at every instant."""
        return self.statement.relation(exp.select(*always()), {}, ())

    def _scan(self, pattern: TriplePattern, graph: ActiveGraph) -> Relation:
        columns: dict[Variable, str] = {}
        wanted: dict[str, str] = {}
        for part, term in terms_of(pattern):
            if isinstance(term, Variable) and term not in columns:
                wanted[part] = columns[term] = self.statement.column_name(term)
        return Relation(graph.scan(wanted, pattern_conditions(pattern)), columns, frozenset(columns))

    def _path(self, pattern: PathPattern, graph: ActiveGraph) -> Relation:
        """The pairs that the path connects, with the ends of the pattern in place of x and y."""
        ends = {"x": pattern.subject, "y": pattern.object}
        terms = [encode(end.term) for end in ends.values() if isinstance(end, Constant)]
        pairs = PathCompiler(self.statement, graph.triples(), terms, always()).pairs(pattern.path)
        columns: dict[Variable, str] = {}
        selected: list[exp.Expr] = []
        conditions: list[exp.Expr] = []
        for name, end in ends.items():
            if isinstance(end, Constant):
                conditions.append(col(pairs, name).eq(exp.Literal.string(encode(end.term))))
            elif end in columns:
                conditions.append(col(pairs, "x").eq(col(pairs, "y")))
            else:
                columns[end] = self.statement.column_name(end)
                selected.append(aliased(col(pairs, name), columns[end]))
        query = select_from(pairs, [*selected, col(pairs, "i"), col(pairs, "j")])
        return self.statement.relation(query.where(*conditions) if conditions else query, columns, columns)

    def join(self, relations: list[Relation]) -> Relation:
        """Equal shared variables, overlapping intervals. A variable that may be unbound joins by compatibility."""
        if len(relations) == 1:
            return relations[0]
        holders: dict[Variable, list[Relation]] = {}
        for relation in relations:
            for variable in relation.columns:
                holders.setdefault(variable, []).append(relation)
        conditions: list[exp.Expr] = []
        selected: list[exp.Expr] = []
        certain = frozenset().union(*(relation.certain for relation in relations))
        for variable, having in holders.items():
            value, more = _shared(variable, having)
            conditions += more
            selected.append(aliased(value, self.statement.column_name(variable)))
        extra = tuple(name for relation in relations for name in relation.extra)
        selected += [aliased(col(r.name, name), name) for r in relations for name in r.extra]
        start, end = greatest([r.start for r in relations]), least([r.end for r in relations])
        conditions.append(exp.LT(this=start.copy(), expression=end.copy()))
        query = select_from(relations[0].name, [*selected, aliased(start, "i"), aliased(end, "j")])
        for relation in relations[1:]:
            query = query.join(exp.to_table(relation.name), join_type="cross")
        columns = {variable: self.statement.column_name(variable) for variable in holders}
        return self.statement.relation(query.where(*conditions), columns, certain, extra)

    def union(self, relations: list[Relation]) -> Relation:
        columns = {v: self.statement.column_name(v) for relation in relations for v in relation.columns}
        extra = relations[0].extra
        parts = [self._aligned(relation, columns, extra) for relation in relations]
        united: exp.Query = parts[0]
        for part in parts[1:]:
            united = exp.union(united, part, distinct=False)
        certain = frozenset.intersection(*(relation.certain for relation in relations))
        return self.statement.relation(united, columns, certain, extra)

    def _aligned(self, relation: Relation, columns: dict[Variable, str], extra: tuple[str, ...]) -> exp.Select:
        selected = [aliased(_text(relation.column(v)), name) for v, name in columns.items()]
        selected += [col(relation.name, name) for name in extra]
        return select_from(relation.name, [*selected, relation.start, relation.end])

    def _table(self, table: Table) -> Relation:
        columns = {variable: self.statement.column_name(variable) for variable in table.variables}
        bound = [
            variable
            for position, variable in enumerate(table.variables)
            if all(row[position] is not None for row in table.rows)
        ]
        rows = [
            exp.select(
                *(
                    aliased(
                        _text(exp.null() if value is None else exp.Literal.string(encode(value))), columns[variable]
                    )
                    for variable, value in zip(table.variables, row, strict=True)
                ),
                *always(),
            )
            for row in table.rows
        ]
        if not rows:
            nothing = [aliased(_text(exp.null()), name) for name in columns.values()]
            return self.statement.relation(exp.select(*nothing, *always()).where(exp.false()), columns, columns)
        united: exp.Query = rows[0]
        for row in rows[1:]:
            united = exp.union(united, row, distinct=False)
        return self.statement.relation(united, columns, bound)

    def _read(
        self,
        name: PatternTerm,
        source: Operator,
        names: Iterable[str],
        graph: Callable[[str], ActiveGraph],
        context: Context,
    ) -> Relation:
        """GRAPH and WINDOW; a variable is the union over all names (SPARQL 1.1 §18.6)."""
        if isinstance(name, Constant):
            iri = name.term[0]
            return self._operator(source, Context(graph(iri), context.seed))
        parts = []
        for iri in dict.fromkeys(names):
            inner = self._operator(source, Context(graph(iri), context.seed))
            parts.append(self.join([inner, self._table(Table((name,), ((IRI(iri),),)))]))
        return self.union(parts) if parts else self._seeded([self._table(Table((name,), ()))], context)

    # Left joins, MINUS, EXISTS: the pieces of a row with a partner, and those without one

    def _numbered(self, relation: Relation) -> Relation:
        """The relation with a number for each row."""
        row = aliased(exp.Window(this=exp.RowNumber(), partition_by=[]), "row")
        kept = [col(relation.name, name) for name in relation.all_columns if name != "row"]
        query = select_from(relation.name, [*kept, row, relation.start, relation.end])
        extra = (*(name for name in relation.extra if name != "row"), "row")
        return self.statement.relation(query, relation.columns, relation.certain, extra, materialized=True)

    def _left_join(self, left: Relation, right: Operator, condition: Expression | None, context: Context) -> Relation:
        rows = self._numbered(left)
        matched = self.join([rows, self._operator(right, Context(context.graph))])
        if condition is not None:
            matched = self._filter(matched, condition, context)
        unmatched = self._without(rows, matched)
        return self._drop_extra(self.union([matched, unmatched]), left.extra)

    def _minus(self, left: Relation, right: Relation) -> Relation:
        """Compatible, and with at least one variable bound on both sides."""
        shared = [variable for variable in left.columns if variable in right.columns]
        if not shared:
            return left
        rows = self._numbered(left)
        matched = self.join([rows, right])
        if not any(variable in left.certain and variable in right.certain for variable in shared):
            both = [
                exp.and_(rows.column(v).is_(exp.null()).not_(), right.column(v).is_(exp.null()).not_()) for v in shared
            ]
            matched = self._join_where(rows, right, exp.or_(*both))
        return self._drop_extra(self._without(rows, matched), left.extra)

    def _join_where(self, left: Relation, right: Relation, condition: exp.Expr) -> Relation:
        joined = self.join([left, right])
        name, query, materialized = self.statement.parts[-1]
        assert isinstance(query, exp.Select)
        self.statement.parts[-1] = (name, query.where(condition), materialized)
        return joined

    def _without(self, rows: Relation, matched: Relation) -> Relation:
        """The pieces of the rows that `matched` does not cover."""
        covered = merge(self.statement, matched.name, ["row"])
        left_over = gaps(self.statement, rows.name, rows.all_columns, covered)
        return Relation(left_over, rows.columns, rows.certain, rows.extra)

    def _drop_extra(self, relation: Relation, kept: tuple[str, ...]) -> Relation:
        columns = [col(relation.name, name) for name in [*relation.columns.values(), *kept]]
        query = select_from(relation.name, [*columns, relation.start, relation.end])
        return self.statement.relation(query, relation.columns, relation.certain, kept)

    def _with_exists(
        self, relation: Relation, expression: Expression, context: Context
    ) -> tuple[Relation, dict[Exists, str]]:
        """The rows cut into pieces on which each EXISTS of the expression is either true or false: a flag column."""
        flags: dict[Exists, str] = {}
        for exists in _exists_in(expression):
            if exists in flags:
                continue
            flag = f"exists{len(self.statement.parts)}"
            rows = self._numbered(relation)
            found = self._operator(exists.pattern, Context(context.graph, rows))
            covered = merge(self.statement, found.name, ["row"])
            kept = [col(rows.name, name) for name in rows.all_columns]
            inside = (
                select_from(rows.name, [*kept, aliased(exp.convert(not exists.negated), flag)])
                .select(col(covered, "i"), col(covered, "j"))
                .join(exp.to_table(covered), on=col(rows.name, "row").eq(col(covered, "row")))
            )
            outside = gaps(self.statement, rows.name, rows.all_columns, covered)
            free = select_from(outside, [col(outside, name) for name in rows.all_columns])
            free = free.select(aliased(exp.convert(exists.negated), flag), col(outside, "i"), col(outside, "j"))
            extra = (*rows.extra, flag)
            united = exp.union(inside, free, distinct=False)
            relation = self.statement.relation(united, rows.columns, rows.certain, extra)
            flags[exists] = flag
        return relation, flags

    def _filter(self, relation: Relation, condition: Expression, context: Context) -> Relation:
        before = relation.extra
        _require_known(condition)
        relation, flags = self._with_exists(relation, condition, context)
        compiled = compile_condition(condition, relation.column, exists=lambda e: col(relation.name, flags[e]))
        kept = [col(relation.name, name) for name in [*relation.columns.values(), *before]]
        query = select_from(relation.name, [*kept, relation.start, relation.end]).where(compiled)
        return self.statement.relation(query, relation.columns, relation.certain, before)

    def _extend(self, relation: Relation, variable: Variable, expression: Expression, context: Context) -> Relation:
        before = relation.extra
        _require_known(expression)
        relation, flags = self._with_exists(relation, expression, context)
        value = compile_expression(expression, relation.column, exists=lambda e: col(relation.name, flags[e]))
        name = self.statement.column_name(variable)
        kept = [col(relation.name, column) for column in [*relation.columns.values(), *before]]
        query = select_from(relation.name, [*kept, aliased(_text(value), name), relation.start, relation.end])
        columns = {**relation.columns, variable: name}
        certain = relation.certain | ({variable} if isinstance(expression, Constant) else set())
        return self.statement.relation(query, columns, certain, before)

    # Grouping and modifiers

    def _group(self, group: Group, context: Context) -> Relation:
        """A snapshot per instant, grouped by the keys and the instant."""
        source = self._operator(group.source, Context(context.graph))
        keyed = source
        for variable, expression in group.keys:
            if variable != expression:
                keyed = self._extend(keyed, variable, expression, context)
        keys = [variable for variable, _ in group.keys]
        if keys and all(_is_plain_count(aggregate) for _, aggregate in group.aggregates):
            return self._counted(keyed, keys, group)
        snapshot = spread(self.statement, keyed.name, keyed.all_columns)
        rows = Relation(snapshot, keyed.columns, keyed.certain, keyed.extra)
        columns = {variable: self.statement.column_name(variable) for variable in keys}
        columns |= {variable: self.statement.column_name(variable) for variable, _ in group.aggregates}
        selected: list[exp.Expr] = [aliased(_text(rows.column(key)), columns[key]) for key in keys]
        for variable, aggregate in group.aggregates:
            if aggregate.argument is not None:
                _require_known(aggregate.argument)
            argument = (
                None
                if aggregate.argument is None
                else compile_expression(aggregate.argument, rows.column, exists=_no_exists)
            )
            all_columns = [rows.column(v) for v in rows.columns]
            present = None if keys else rows.start
            value = compile_aggregate(aggregate, argument, all_columns, present=present)
            selected.append(aliased(_text(value), columns[variable]))
        instant = col(INSTANTS, "k")
        if keys:
            query = select_from(snapshot, [*selected, rows.start, rows.end]).group_by(
                *(rows.column(key) for key in keys), rows.start, rows.end
            )
        else:  # one group, also where nothing matched
            bounds = [aliased(instant, "i"), aliased(exp.Add(this=instant.copy(), expression=number(1)), "j")]
            query = (
                select_from(INSTANTS, [*selected, *bounds])
                .join(exp.to_table(snapshot), on=instant.copy().eq(rows.start), join_type="left")
                .group_by(instant.copy())
            )
        certain = {key for key in keys if key in keyed.certain}
        certain |= {variable for variable, aggregate in group.aggregates if aggregate.name == "COUNT"}
        return self.statement.relation(query, columns, certain)

    def _counted(self, rows: Relation, keys: list[Variable], group: Group) -> Relation:
        """Counts by sweeping: +1 where an interval begins, −1 where it ends, and a running sum per group.

        A slide costs nothing that way: a row counts twice, however many instants it holds at.
        """
        names = {key: self.statement.column_name(key) for key in keys}
        counted: dict[str, exp.Expr] = {"rows": number(1)}
        for variable, aggregate in group.aggregates:
            if aggregate.argument is not None:
                _require_known(aggregate.argument)
                value = compile_expression(aggregate.argument, rows.column, exists=_no_exists)
                is_bound = exp.case().when(value.is_(exp.null()), number(0)).else_(number(1))
                counted[self.statement.column_name(variable)] = is_bound
        events: exp.Query | None = None
        for edge, sign in ((rows.start, 1), (rows.end, -1)):
            selected: list[exp.Expr] = [aliased(_text(rows.column(key)), names[key]) for key in keys]
            selected += [
                aliased(exp.Mul(this=exp.Paren(this=value.copy()), expression=number(sign)), name)
                for name, value in counted.items()
            ]
            side = select_from(rows.name, [*selected, aliased(edge, "i")])
            events = side if events is None else exp.union(events, side, distinct=False)
        assert events is not None
        levels = running_sums(self.statement, self.statement.add(events), list(names.values()), list(counted))
        columns = dict(names)
        results: list[exp.Expr] = [col(levels, name) for name in names.values()]
        for variable, aggregate in group.aggregates:
            columns[variable] = self.statement.column_name(variable)
            source = columns[variable] if aggregate.argument is not None else "rows"
            results.append(aliased(_integer_term(col(levels, source)), columns[variable]))
        query = select_from(levels, [*results, col(levels, "i"), col(levels, "j")])
        is_there = exp.GT(this=col(levels, "rows"), expression=number(0))
        certain = {key for key in keys if key in rows.certain} | {variable for variable, _ in group.aggregates}
        return self.statement.relation(query.where(is_there), columns, certain)

    def solutions(self, operator: Operator, context: Context | None = None, *, keep_order: bool = False) -> Relation:
        """A pattern with its modifiers: Slice, Distinct, Project, OrderBy from the outside, as far as they are there.

        `keep_order`: the columns to order by stay, as `order1`, `order2`, …
        """
        context = context or Context(self.sources.default)
        chain = _Modifiers.of(operator)
        relation = self._operator(chain.source, Context(context.graph))
        relation = self._with_order(relation, chain.order)
        if chain.projected is not None:
            relation = self._project(relation, chain.projected)
        if chain.is_distinct:
            relation = self._distinct(relation)
        if chain.slice is not None:
            relation = self._slice(relation, chain.slice)
        return relation if keep_order or not relation.extra else self._drop_extra(relation, ())

    def _with_order(self, relation: Relation, conditions: tuple[tuple[Expression, bool], ...]) -> Relation:
        if not conditions:
            return relation
        keys: list[exp.Expr] = []
        self.descending: list[bool] = []
        for expression, descending in conditions:
            _require_known(expression)
            value = compile_expression(expression, relation.column, exists=_no_exists)
            for key in order_key(value):
                keys.append(key)
                self.descending.append(descending)
        names = tuple(f"order{n}" for n in range(1, len(keys) + 1))
        kept = [col(relation.name, name) for name in relation.all_columns]
        added = [aliased(key, name) for key, name in zip(keys, names, strict=True)]
        query = select_from(relation.name, [*kept, *added, relation.start, relation.end])
        return self.statement.relation(query, relation.columns, relation.certain, (*relation.extra, *names))

    def ordered(self, relation: Relation) -> list[exp.Ordered]:
        """The order that the relation's order columns stand for; unbound comes first, or last when descending."""
        names = [name for name in relation.extra if name.startswith("order")]
        return [
            exp.Ordered(this=col(relation.name, name), desc=descending, nulls_first=not descending)
            for name, descending in zip(names, self.descending if names else (), strict=True)
        ]

    def _project(self, relation: Relation, variables: tuple[Variable, ...]) -> Relation:
        columns = {variable: self.statement.column_name(variable) for variable in dict.fromkeys(variables)}
        query = self._aligned(relation, columns, relation.extra)
        return self.statement.relation(query, columns, relation.certain & columns.keys(), relation.extra)

    def _distinct(self, relation: Relation) -> Relation:
        merged = merge(self.statement, relation.name, relation.all_columns)
        return Relation(merged, relation.columns, relation.certain, relation.extra)

    def _slice(self, source: Relation, limits: Slice) -> Relation:
        """The first rows of each instant."""
        snapshot = spread(self.statement, source.name, source.all_columns)
        rows = Relation(snapshot, source.columns, source.certain, source.extra)
        order = self.ordered(rows)
        rank = exp.Window(
            this=exp.RowNumber(),
            partition_by=[rows.start],
            order=exp.Order(expressions=order) if order else None,
        )
        kept = [col(snapshot, name) for name in rows.all_columns]
        ranked = self.statement.add(select_from(snapshot, [*kept, rows.start, rows.end, aliased(rank, "rank")]))
        conditions: list[exp.Expr] = [exp.GT(this=col(ranked, "rank"), expression=number(limits.offset))]
        if limits.limit is not None:
            last = number(limits.offset + limits.limit)
            conditions.append(exp.LTE(this=col(ranked, "rank"), expression=last))
        query = select_from(ranked, [col(ranked, name) for name in [*rows.all_columns, "i", "j"]])
        return self.statement.relation(query.where(*conditions), rows.columns, rows.certain, rows.extra)


@dataclass(frozen=True, slots=True)
class _Modifiers:
    """What stands on top of a pattern."""

    source: Operator
    order: tuple[tuple[Expression, bool], ...] = ()
    projected: tuple[Variable, ...] | None = None
    is_distinct: bool = False
    slice: Slice | None = None

    @staticmethod
    def of(operator: Operator) -> _Modifiers:
        sliced = operator if isinstance(operator, Slice) else None
        node = operator.source if isinstance(operator, Slice) else operator
        is_distinct = isinstance(node, Distinct)
        if isinstance(node, (Distinct, Reduced)):
            node = node.source
        projected = node.variables if isinstance(node, Project) else None
        if isinstance(node, Project):
            node = node.source
        order = node.conditions if isinstance(node, OrderBy) else ()
        if isinstance(node, OrderBy):
            node = node.source
        return _Modifiers(node, order, projected, is_distinct, sliced)


def _shared(variable: Variable, having: list[Relation]) -> tuple[exp.Expr, list[exp.Expr]]:
    """The value of a variable that several relations have, and the conditions under which they agree on it."""
    values = [relation.column(variable) for relation in having]
    certain = [relation.column(variable) for relation in having if variable in relation.certain]
    conditions: list[exp.Expr] = []
    for one, other in pairwise(having):
        left, right = one.column(variable), other.column(variable)
        agree: exp.Expr = left.eq(right)
        unbound = [c.is_(exp.null()) for r, c in ((one, left), (other, right)) if variable not in r.certain]
        conditions.append(exp.or_(agree, *(u.copy() for u in unbound)) if unbound else agree)
    if len(having) > 2 and len(certain) < len(having):
        for position, one in enumerate(having):
            for other in having[position + 2 :]:
                left, right = one.column(variable), other.column(variable)
                conditions.append(exp.or_(left.eq(right), left.is_(exp.null()), right.is_(exp.null())))
    if certain:
        return certain[0], conditions
    return (values[0] if len(values) == 1 else exp.Coalesce(this=values[0], expressions=values[1:])), conditions


def _is_plain_count(aggregate: Aggregate) -> bool:
    return aggregate.name == "COUNT" and not aggregate.distinct


def _exists_in(expression: Expression) -> list[Exists]:
    match expression:
        case Exists():
            return [expression]
        case Apply(arguments=arguments):
            return [exists for argument in arguments for exists in _exists_in(argument)]
        case _:
            return []


def _require_known(expression: Expression) -> None:
    """timestamp() asks when a triple came, NOW() at which instant this is: neither is part of a row yet."""
    match expression:
        case Apply("TIMESTAMP"):
            raise NotYetError("timestamp()")
        case Apply("NOW"):
            raise NotYetError("NOW()")
        case Apply(arguments=arguments):
            for argument in arguments:
                _require_known(argument)


def _no_exists(exists: Exists) -> exp.Expr:
    raise NotYetError("EXISTS in an aggregate or in ORDER BY")


def _integer_term(value: exp.Expr) -> exp.Expr:
    return exp.DPipe(this=exp.Literal.string("i"), expression=_text(value))


def _text(expression: exp.Expr) -> exp.Expr:
    return exp.cast(expression, "text")
