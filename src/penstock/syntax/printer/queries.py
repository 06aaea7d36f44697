"""Whole queries (SPARQL 1.1 §15 and §16, productions Query to LimitOffsetClauses).

This printer prints plain SPARQL. Extensions of dialects have their own methods, which raise an error here.
"""

from __future__ import annotations

from typing import ClassVar

from penstock.syntax import ast
from penstock.syntax.printer.layout import block
from penstock.syntax.printer.patterns import PatternPrinter
from penstock.syntax.printer.terms import iri_reference


class QueryPrinter(PatternPrinter):
    registers_before_prologue: ClassVar[bool] = False

    def query(self, query: ast.Query) -> str:
        """QueryUnit, Query; a blank line separates the prologue from the rest"""
        base = query.prologue.base
        prologue = [] if base is None else [f"BASE {iri_reference(base)}"]
        prologue += [f"PREFIX {prefix.prefix}: {iri_reference(prefix.iri)}" for prefix in query.prologue.prefixes]
        gap = [""] if prologue else []
        if self.registers_before_prologue:
            opening = [*self.registration(query), *prologue, *gap]
        else:
            opening = [*prologue, *gap, *self.registration(query)]
        return "\n".join([*opening, *self.body(query)]) + "\n"

    def body(self, query: ast.Query) -> list[str]:
        """SelectQuery, ConstructQuery, DescribeQuery, AskQuery, and the ValuesClause"""
        return [
            *self.form_and_where(query),
            *self.aggregates(query.aggregates),
            *self.modifiers(query.modifiers),
            *self._values(query.values),
        ]

    def form_and_where(self, query: ast.Query) -> list[str]:
        """SelectQuery and its like up to the WhereClause; a form of one word shares its line with WHERE"""
        form = self.form(query.form, self.form_operator(query))
        dataset = [self.dataset_clause(clause) for clause in query.dataset]
        if query.where is None:
            if not isinstance(query.form, ast.Describe):
                raise self.cannot("a query without a pattern, unless it is a DESCRIBE")
            return [form, *dataset]
        is_short_construct = query.form == ast.Construct(None)
        if is_short_construct and not all(isinstance(element, ast.Triples) for element in query.where.elements):
            raise self.cannot("CONSTRUCT WHERE with anything but triples")
        is_one_word = is_short_construct or isinstance(query.form, ast.Ask)
        if is_one_word and not dataset:
            return [self.group(f"{form} WHERE", query.where)]
        return [form, *dataset, self.group("WHERE", query.where)]

    def form(self, form: ast.Form, operator: str) -> str:
        """SelectClause, CONSTRUCT and its ConstructTemplate, DESCRIBE, ASK; `operator` is '' or follows the keyword"""
        match form:
            case ast.Select():
                return self.select_clause(form, operator)
            case ast.Construct(None):
                return _words("CONSTRUCT", operator)
            case ast.Construct(template):
                assert template is not None
                return block(_words("CONSTRUCT", operator), [self._template_element(part) for part in template])
            case ast.Describe(None):
                return _words("DESCRIBE", operator, "*")
            case ast.Describe(resources):
                assert resources is not None
                return _words("DESCRIBE", operator, *map(self.var_or_iri, resources))
            case ast.Ask():
                return _words("ASK", operator)

    def select_clause(self, select: ast.Select, operator: str = "") -> str:
        """SelectClause"""
        projections = ["*"] if select.projections is None else map(self._projection, select.projections)
        return _words("SELECT", operator, select.modifier or "", *projections)

    def _projection(self, projection: ast.Projection) -> str:
        if projection.expression is None:
            return self.variable(projection.variable)
        return self.named_expression(projection.expression, projection.variable)

    def _template_element(self, element: ast.Triples | ast.QuadTemplate) -> str:
        """ConstructTriples"""
        return self.triples(element) if isinstance(element, ast.Triples) else self.quad_template(element)

    def sub_select(self, query: ast.SubSelect) -> str:
        """SubSelect"""
        clauses = [self.select_clause(query.select), self.group("WHERE", query.where)]
        return "\n".join([*clauses, *self.modifiers(query.modifiers), *self._values(query.values)])

    def dataset_clause(self, clause: ast.DatasetClause | ast.WindowClause) -> str:
        """DatasetClause"""
        match clause:
            case ast.DatasetClause(graph, named):
                return f"FROM {'NAMED ' if named else ''}{self.constant(graph)}"
            case ast.WindowClause():
                return self.window_clause(clause)

    def modifiers(self, modifiers: ast.Modifiers) -> list[str]:
        """SolutionModifier"""
        clauses = []
        if modifiers.group_by:
            clauses.append(_words("GROUP BY", *map(self._group_condition, modifiers.group_by)))
        if modifiers.having:
            clauses.append(_words("HAVING", *map(self.constraint, modifiers.having)))
        if modifiers.order_by:
            clauses.append(_words("ORDER BY", *map(self._order_condition, modifiers.order_by)))
        if modifiers.limit is not None:
            clauses.append(f"LIMIT {modifiers.limit}")
        if modifiers.offset is not None:
            clauses.append(f"OFFSET {modifiers.offset}")
        return clauses

    def _group_condition(self, condition: ast.GroupCondition) -> str:
        """GroupCondition"""
        if condition.variable is not None:
            return self.named_expression(condition.expression, condition.variable)
        match condition.expression:
            case ast.Variable() | ast.Call() | ast.FunctionCall():
                return self.expression(condition.expression)
            case _:
                return f"({self.expression(condition.expression)})"

    def _order_condition(self, condition: ast.OrderCondition) -> str:
        """OrderCondition; ascending by default"""
        text = self.expression(condition.expression)
        if condition.descending:
            return f"DESC({text})"
        match condition.expression:
            case ast.Variable() | ast.Call() | ast.FunctionCall():
                return text
            case _:
                return f"ASC({text})"

    def _values(self, data: ast.InlineData | None) -> list[str]:
        """ValuesClause"""
        return [] if data is None else [self.inline_data(data)]

    def registration(self, query: ast.Query) -> list[str]:
        """The line of REGISTER … AS, if there is one"""
        if query.register is not None:
            raise self.cannot("REGISTER")
        return []

    def form_operator(self, query: ast.Query) -> str:
        """The streaming operator after the keyword of the form, or ''"""
        if query.operator is not None:
            raise self.cannot(query.operator.upper())
        return ""

    def quad_template(self, template: ast.QuadTemplate) -> str:
        raise self.cannot("GRAPH in a CONSTRUCT template")

    def window_clause(self, clause: ast.WindowClause) -> str:
        raise self.cannot("a window over a stream among the FROM clauses")

    def aggregates(self, clauses: tuple[ast.AggregateClause, ...]) -> list[str]:
        if clauses:
            raise self.cannot("AGGREGATE { … }")
        return []


def _words(*words: str) -> str:
    return " ".join(filter(None, words))
