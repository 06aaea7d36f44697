"""From the syntax tree of any dialect to ⟨SE, SDS, ET, QF⟩.

By then `explicit` has written out in RSP-QL what the dialect implies, including Algorithm 1 of Streaming SPARQL (the
scope of FROM windows and group windows). This module translates the rest as SPARQL 1.1 §18.2 defines.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.algebra import windows
from penstock.algebra.expressions import Aggregate, Expression, Variable
from penstock.algebra.model import (
    AskForm,
    ConstructForm,
    ContinuousQuery,
    Dataset,
    DescribeForm,
    QueryForm,
    SelectForm,
    Settings,
    StreamWindow,
)
from penstock.algebra.operators import (
    Distinct,
    Extend,
    Filter,
    Group,
    Operator,
    OrderBy,
    PatternTerm,
    Project,
    Reduced,
    Slice,
    TriplePattern,
)
from penstock.algebra.patterns import PatternBuilder, join, table
from penstock.algebra.services import with_known_endpoints
from penstock.algebra.triples import named, term
from penstock.syntax import ast
from penstock.syntax.ast.traversal import rewrite, walk
from penstock.syntax.checks import in_scope
from penstock.syntax.translation import explicit

_DEFAULT_SETTINGS = Settings()


def build(query: ast.Query, settings: Settings = _DEFAULT_SETTINGS) -> ContinuousQuery:
    """Builds the continuous query of a syntax tree, with the user's settings.

    A query is built once. If t0 is known only later, `ContinuousQuery.with_origin` sets it.
    """
    text = with_known_endpoints(_with_settings(explicit(query), settings))
    builder = _Builder()
    origin = settings.origin if isinstance(settings.origin, int) else 0
    expression, form = builder.query(text)
    return ContinuousQuery(
        name=query.register.name.text if query.register is not None else None,
        dialect=query.dialect,
        form=form,
        expression=expression,
        operator=text.operator or "rstream",
        dataset=_dataset(text, origin, query.dialect),
        text=text,
    )


def build_expression(query: ast.Query) -> Operator:
    """Builds only the algebra expression of an explicit query."""
    return _Builder().query(query)[0]


def _with_settings(query: ast.Query, settings: Settings) -> ast.Query:
    """The explicit query with the user's settings applied."""
    if settings.report is None and settings.operator is None and settings.duplicates is None:
        return query

    def override(clause: ast.DatasetClause | ast.WindowClause) -> ast.DatasetClause | ast.WindowClause:
        if isinstance(clause, ast.DatasetClause):
            return clause
        said = clause.settings
        changed = replace(
            said, report=settings.report or said.report, duplicates=settings.duplicates or said.duplicates
        )  # fmt: skip
        return replace(clause, settings=changed)

    return replace(
        query,
        dataset=tuple(override(clause) for clause in query.dataset),
        operator=settings.operator or query.operator,
    )


# SDS


def _dataset(query: ast.Query, origin: int, dialect: ast.DialectName) -> Dataset:
    graphs = [clause for clause in query.dataset if isinstance(clause, ast.DatasetClause)]
    clauses = [clause for clause in query.dataset if isinstance(clause, ast.WindowClause)]
    return Dataset(
        tuple(clause.graph.text for clause in graphs if not clause.named),
        tuple(clause.graph.text for clause in graphs if clause.named),
        tuple(_stream_window(clause, origin, dialect) for clause in clauses),
    )


def _stream_window(clause: ast.WindowClause, origin: int, dialect: ast.DialectName) -> StreamWindow:
    settings = clause.settings
    own_origin = origin if settings.origin is None else settings.origin
    is_constant = isinstance(clause.stream, ast.Constant)
    return StreamWindow(
        window=_window(clause.window, own_origin, dialect),
        stream=clause.stream.text if isinstance(clause.stream, ast.Constant) else None,
        name=clause.name.text if clause.name is not None else None,
        is_named=clause.named,
        report=settings.report,
        duplicates=settings.duplicates or "set",
        origin=own_origin,
        is_origin_fixed=settings.origin is not None,
        stream_variable=None if is_constant else clause.stream.name,  # type: ignore[union-attr]
    )


def _window(window: ast.Window | None, origin: int, dialect: ast.DialectName) -> windows.Window:
    match window:
        case ast.RangeWindow(width, int(step)):
            return windows.RangeWindow(width, step, origin, begins=dialect != "streaming-sparql")
        case ast.RangeWindow(width, None):
            return windows.PastWindow(width, 0, None, origin)
        case ast.PastWindow(start, end, step):
            return windows.PastWindow(start, end, step, origin)
        case ast.NowWindow():
            return windows.NowWindow()
        case ast.CountWindow(size, step, matching):
            return windows.CountWindow(size, step or 1, matching)
        case _:
            return windows.AllWindow()


# SE and QF


class _Builder:
    """Translates a query, or a sub-select, with its modifiers (§18.2.4 and §18.2.5)."""

    def __init__(self) -> None:
        self.patterns = PatternBuilder(self.sub_select)
        self._hidden = 0

    def query(self, query: ast.Query) -> tuple[Operator, QueryForm]:
        where = query.where or ast.Group(())
        match query.form:
            case ast.Select():
                expression = self._select(query.form, where, query.modifiers, query.values)
                return expression, SelectForm(_projected(query.form, where, query.values))
            case ast.Construct(template):
                return self._solutions(where, query.modifiers, query.values), self._template(template or ())
            case ast.Ask():
                return self._solutions(where, query.modifiers, query.values), AskForm()
            case ast.Describe(resources):
                names: tuple[PatternTerm, ...] = (
                    tuple(named(name) for name in visible_variables(where, query.values))
                    if resources is None
                    else tuple(term(resource) for resource in resources)
                )
                return self._solutions(where, query.modifiers, query.values), DescribeForm(names)

    def sub_select(self, sub_select: ast.SubSelect) -> Operator:
        return self._select(sub_select.select, sub_select.where, sub_select.modifiers, sub_select.values)

    def _solutions(self, where: ast.Group, modifiers: ast.Modifiers, values: ast.InlineData | None) -> Operator:
        """The solutions that CONSTRUCT, ASK and DESCRIBE use; they are not projected."""
        solutions, order = self._grouped(where, (), modifiers, values)
        return _sliced(_ordered(solutions, order), modifiers)

    def _select(
        self, select: ast.Select, where: ast.Group, modifiers: ast.Modifiers, values: ast.InlineData | None
    ) -> Operator:
        solutions, order = self._grouped(where, select.projections or (), modifiers, values)
        result: Operator = Project(_ordered(solutions, order), _projected(select, where, values))
        if select.modifier == "DISTINCT":
            result = Distinct(result)
        elif select.modifier == "REDUCED":
            result = Reduced(result)
        return _sliced(result, modifiers)

    def _grouped(
        self,
        where: ast.Group,
        projections: tuple[ast.Projection, ...],
        modifiers: ast.Modifiers,
        values: ast.InlineData | None,
    ) -> tuple[Operator, list[tuple[Expression, bool]]]:
        """Returns the pattern, grouping, HAVING, VALUES and projected expressions; and the order conditions."""
        aggregates: dict[Aggregate, Variable] = {}
        having = [self._expression(condition, aggregates) for condition in modifiers.having]
        extensions = [
            (named(projection.variable.name), self._expression(projection.expression, aggregates))
            for projection in projections
            if projection.expression is not None
        ]
        order = [
            (self._expression(condition.expression, aggregates), condition.descending)
            for condition in modifiers.order_by
        ]
        solutions = self.patterns.group(where)
        if modifiers.group_by or aggregates:
            keys = tuple(self._key(condition) for condition in modifiers.group_by)
            solutions = Group(solutions, keys, tuple((variable, a) for a, variable in aggregates.items()))
        for condition in having:
            solutions = Filter(condition, solutions)
        if values is not None:
            solutions = join(solutions, table(values))
        for variable, expression in extensions:
            solutions = Extend(solutions, variable, expression)
        return solutions, order

    def _key(self, condition: ast.GroupCondition) -> tuple[Variable, Expression]:
        expression = self.patterns.expression(condition.expression)
        if condition.variable is not None:
            return Variable(condition.variable.name), expression
        return (expression if isinstance(expression, Variable) else self._new_variable("key")), expression

    def _expression(self, expression: ast.Expression, aggregates: dict[Aggregate, Variable]) -> Expression:
        """Replaces each aggregate in the expression by a new variable."""

        def take_out(node: ast.Node) -> ast.Node:
            if not isinstance(node, ast.Aggregate):
                return node
            argument = None if node.argument is None else self.patterns.expression(node.argument)
            aggregate = Aggregate(node.name, argument, node.distinct, node.separator)
            variable = aggregates.setdefault(aggregate, self._new_variable("aggregate"))
            return ast.Variable(variable.name)

        has_aggregate = any(isinstance(node, ast.Aggregate) for node in walk(expression))
        return self.patterns.expression(rewrite(expression, take_out) if has_aggregate else expression)

    def _new_variable(self, kind: str) -> Variable:
        self._hidden += 1
        return Variable(f".{kind}{self._hidden}")

    def _template(self, template: tuple[ast.Triples | ast.QuadTemplate, ...]) -> ConstructForm:
        quads: list[tuple[TriplePattern, PatternTerm | None]] = []
        for element in template:
            if isinstance(element, ast.Triples):
                quads += ((triple, None) for triple in self.patterns.triples.template([element]))
            else:
                graph = self.patterns.triples.template_graph(element.name)
                quads += ((triple, graph) for triple in self.patterns.triples.template(element.triples))
        return ConstructForm(tuple(quads))


def _projected(
    select: ast.Select, where: ast.Group, values: ast.InlineData | None
) -> tuple[Variable, ...]:  # fmt: skip
    if select.projections is None:
        return tuple(named(name) for name in visible_variables(where, values))
    return tuple(dict.fromkeys(named(projection.variable.name) for projection in select.projections))


def visible_variables(where: ast.Group, values: ast.InlineData | None) -> list[str]:
    """The variables of `SELECT *`: those in scope of the pattern, and those of a trailing VALUES."""
    trailing = [] if values is None else [variable.name for variable in values.variables]
    return list(dict.fromkeys([*in_scope(where), *trailing]))


def _ordered(solutions: Operator, order: list[tuple[Expression, bool]]) -> Operator:
    return OrderBy(solutions, tuple(order)) if order else solutions


def _sliced(solutions: Operator, modifiers: ast.Modifiers) -> Operator:
    if modifiers.limit is None and not modifiers.offset:
        return solutions
    return Slice(solutions, modifiers.offset or 0, modifiers.limit)
