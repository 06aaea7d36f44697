"""The walk visits a query once, finds the variables in scope at each place, and notes the facts that the checks need.

Variable scope is SPARQL 1.1 §18.2.1: a group brings in scope what its elements bring; OPTIONAL and UNION all sides,
MINUS its left side only, FILTER nothing, a sub-select its projection. RSP-QL's WINDOW and the STREAM of CQELS and
SPARQLstream are like GRAPH.

Expressions are walked without recursion, and the pattern of an EXISTS is put off until its surroundings are done: so
the depth of the Python stack follows the nesting of groups alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.syntax import ast
from penstock.syntax.ast import (
    Aggregate,
    BlankNodeLabel,
    BlankNodePropertyList,
    Call,
    Collection,
    Constant,
    Exists,
    Filter,
    FunctionCall,
    Operation,
    Triples,
    Variable,
)
from penstock.syntax.checks.facts import Facts, Level, Mentions, Scope


def walk_query(query: ast.Query) -> Facts:
    facts = Facts()
    if query.where is not None:
        facts.where = walk_group(query.where, facts)
    scope = facts.where
    if query.aggregates:
        scope = dict(scope)
        for clause in query.aggregates:
            _walk_aggregate_clause(clause, scope, facts)
    _walk_level(query.form, scope, query.modifiers, query.values, facts)
    if isinstance(query.form, ast.Construct) and query.form.template is not None:
        _walk_template(query.form.template, facts.template)
    for pattern in facts.exists:  # which grows as patterns inside patterns turn up
        known, patterns = len(facts.functions), len(facts.exists)
        facts.bound.update(walk_group(pattern, facts))
        if id(pattern) in facts.remote_exists:
            del facts.functions[known:]
            facts.remote_exists += map(id, facts.exists[patterns:])
    return facts


def walk_group(group: ast.Group, facts: Facts) -> Scope:
    """The variables in scope of a group. Triples and the FILTERs among them are one basic graph pattern (§5.1.1)."""
    scope: Scope = {}
    labels: list[BlankNodeLabel] = []
    for element in group.elements:
        kind = type(element)
        if kind is Triples:
            _walk_triples(element, scope, labels)  # type: ignore[arg-type]
        else:
            if labels and kind is not Filter:
                _end_basic_graph_pattern(labels, facts)
            _WALKERS[kind](element, scope, facts)
    if labels:
        _end_basic_graph_pattern(labels, facts)
    if group.window is not None:
        facts.windows.append(group.window)
    return scope


def _end_basic_graph_pattern(labels: list[BlankNodeLabel], facts: Facts) -> None:
    facts.reused_labels += [node for node in labels if node.label in facts.labels]
    facts.labels.update(node.label for node in labels)
    labels.clear()


def _walk_triples(triples: ast.Triples, scope: Scope, labels: list[BlankNodeLabel]) -> None:
    subject = triples.subject
    if type(subject) is Variable:
        scope.setdefault(subject.name, subject)
    elif type(subject) is not Constant:
        _walk_node(subject, scope, labels)
    for property in triples.properties:
        _walk_property(property, scope, labels)


def _walk_property(property: ast.Property, scope: Scope, labels: list[BlankNodeLabel]) -> None:
    verb = property.verb
    if type(verb) is Variable:  # a path holds no variable
        scope.setdefault(verb.name, verb)
    for node in property.objects:
        if type(node) is Variable:
            scope.setdefault(node.name, node)
        elif type(node) is not Constant:
            _walk_node(node, scope, labels)


def _walk_node(node: ast.GraphNode, scope: Scope, labels: list[BlankNodeLabel]) -> None:
    if type(node) is Variable:
        scope.setdefault(node.name, node)
    elif type(node) is BlankNodeLabel:
        labels.append(node)
    elif type(node) is BlankNodePropertyList:
        for property in node.properties:
            _walk_property(property, scope, labels)
    elif type(node) is Collection:
        for item in node.items:
            _walk_node(item, scope, labels)


def _walk_template(template: tuple[ast.Triples | ast.QuadTemplate, ...], scope: Scope) -> None:
    """Labels in a template are its own: each solution gets new blank nodes (§16.2.1)."""
    labels: list[BlankNodeLabel] = []
    for part in template:
        if isinstance(part, ast.QuadTemplate):
            _walk_node(part.name, scope, labels)
            _walk_template(part.triples, scope)
        else:
            _walk_triples(part, scope, labels)


def _walk_nested_group(group: ast.Group, scope: Scope, facts: Facts) -> None:
    scope.update(walk_group(group, facts))


def _walk_optional(optional: ast.Optional, scope: Scope, facts: Facts) -> None:
    scope.update(walk_group(optional.pattern, facts))


def _walk_minus(minus: ast.Minus, scope: Scope, facts: Facts) -> None:
    facts.bound.update(walk_group(minus.pattern, facts))


def _walk_union(union: ast.Union, scope: Scope, facts: Facts) -> None:
    for pattern in union.patterns:
        scope.update(walk_group(pattern, facts))


def _walk_filter(filter: ast.Filter, scope: Scope, facts: Facts) -> None:
    _walk_row_expression(filter.condition, "FILTER", facts)


def _walk_bind(bind: ast.Bind, scope: Scope, facts: Facts) -> None:
    _walk_row_expression(bind.expression, "BIND", facts)
    if bind.variable.name in scope:
        facts.rebound.append(bind.variable)
    else:
        scope[bind.variable.name] = bind.variable


def _walk_inline_data(data: ast.InlineData, scope: Scope, facts: Facts) -> None:
    facts.inline_data.append(data)
    for variable in data.variables:
        scope.setdefault(variable.name, variable)


def _walk_graph(block: ast.Graph | ast.WindowBlock, scope: Scope, facts: Facts) -> None:
    facts.blocks.append(block)
    if isinstance(block, ast.WindowBlock) and block.stream is not None:
        scope.setdefault(block.stream.name, block.stream)
    _walk_named(block.name, block.pattern, scope, facts)


def _walk_service(service: ast.Service, scope: Scope, facts: Facts) -> None:
    """The endpoint evaluates the block, and may have functions of its own."""
    known, patterns = len(facts.functions), len(facts.exists)
    _walk_named(service.name, service.pattern, scope, facts)
    del facts.functions[known:]
    facts.remote_exists += map(id, facts.exists[patterns:])


def _walk_stream_block(block: ast.StreamBlock, scope: Scope, facts: Facts) -> None:
    facts.blocks.append(block)
    if block.window is not None:
        facts.windows.append(block.window)
    _walk_named(block.stream, block.pattern, scope, facts)


def _walk_named(name: Variable | Constant, pattern: ast.Group, scope: Scope, facts: Facts) -> None:
    if isinstance(name, Variable):
        scope.setdefault(name.name, name)
    scope.update(walk_group(pattern, facts))


def _walk_sub_select(query: ast.SubSelect, scope: Scope, facts: Facts) -> None:
    level = _walk_level(query.select, walk_group(query.where, facts), query.modifiers, query.values, facts)
    if query.select.projections is None:
        scope.update(level.scope)
    else:
        for projection in query.select.projections:
            scope.setdefault(projection.variable.name, projection.variable)


def _walk_level(
    form: ast.Form, scope: Scope, modifiers: ast.Modifiers, values: ast.InlineData | None, facts: Facts
) -> Level:
    if values is not None:
        scope = dict(scope)
        _walk_inline_data(values, scope, facts)
    level = Level(form, scope, modifiers)
    facts.levels.append(level)
    facts.bound.update(scope)
    if isinstance(form, ast.Select) and form.projections is not None:
        for projection in form.projections:
            mentions = None
            if projection.expression is not None:
                mentions = walk_expression(projection.expression, facts)
                facts.bound.setdefault(projection.variable.name, projection.variable)
                level.grouped |= bool(mentions.aggregates)
            level.projections.append((projection, mentions))
    _walk_modifiers(modifiers, level, facts)
    return level


def _walk_modifiers(modifiers: ast.Modifiers, level: Level, facts: Facts) -> None:
    for condition in modifiers.group_by:
        level.keys.append((condition, _walk_row_expression(condition.expression, "GROUP BY", facts)))
        if condition.variable is not None:
            facts.bound.setdefault(condition.variable.name, condition.variable)
    level.having = [walk_expression(condition, facts) for condition in modifiers.having]
    level.order = [walk_expression(condition.expression, facts) for condition in modifiers.order_by]
    if modifiers.group_by or modifiers.having or any(mentions.aggregates for mentions in level.order):
        level.grouped = True


def _walk_aggregate_clause(clause: ast.AggregateClause, scope: Scope, facts: Facts) -> None:
    """C-SPARQL's AGGREGATE adds a variable to every solution (semantics.md §8)."""
    scope.setdefault(clause.variable.name, clause.variable)
    walk_expression(clause.aggregate, facts)
    if clause.filter is not None:
        _walk_row_expression(clause.filter.condition, "the FILTER of AGGREGATE", facts)


def _walk_row_expression(expression: ast.Expression, place: str, facts: Facts) -> Mentions:
    """An expression over a single solution: aggregates are not allowed there."""
    mentions = walk_expression(expression, facts)
    facts.misplaced += [(aggregate, place) for aggregate in mentions.aggregates]
    return mentions


def walk_expression(expression: ast.Expression, facts: Facts) -> Mentions:
    mentions = Mentions([], [])
    rest: list[ast.Expression] = [expression]
    while rest:
        node = rest.pop()
        if type(node) is Variable:
            mentions.variables.append(node)
        elif type(node) is Operation:
            rest += node.operands[::-1]
        elif type(node) is Call:
            facts.calls.append(node)
            rest += node.arguments[::-1]
        elif type(node) is FunctionCall:
            facts.functions.append(node)
            rest += node.arguments[::-1]
        elif type(node) is Aggregate:
            mentions.aggregates.append(node)
            _walk_aggregate(node, facts)
        elif type(node) is Exists:
            facts.exists.append(node.pattern)
    facts.used += mentions.variables
    return mentions


def _walk_aggregate(aggregate: ast.Aggregate, facts: Facts) -> None:
    facts.aggregates.append(aggregate)
    if aggregate.argument is not None:
        _walk_row_expression(aggregate.argument, aggregate.name, facts)


_WALKERS: dict[type[ast.Node], Callable[[Any, Scope, Facts], None]] = {
    ast.Group: _walk_nested_group,
    ast.SubSelect: _walk_sub_select,
    ast.Optional: _walk_optional,
    ast.Minus: _walk_minus,
    ast.Union: _walk_union,
    ast.Filter: _walk_filter,
    ast.Bind: _walk_bind,
    ast.InlineData: _walk_inline_data,
    ast.Graph: _walk_graph,
    ast.WindowBlock: _walk_graph,
    ast.Service: _walk_service,
    ast.StreamBlock: _walk_stream_block,
}
