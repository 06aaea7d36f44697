"""C-SPARQL's AGGREGATE as a sub-select, and back (semantics.md §8).

Every solution of the pattern P is extended with the aggregate over its group; the number of rows does not change:

    WHERE P AGGREGATE { (?v, SUM(?x), {?g}) FILTER (c) }
  = WHERE { P  { SELECT ?g (SUM(?x) AS ?v) WHERE P GROUP BY ?g }  FILTER (c) }

Solutions of P with unbound ?g form a group as well; in this case both sides are joined by COALESCE(?g, <urn:unbound>)
instead of ?g. Blank nodes in the copies of P get their own labels.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.rdf.terms import IRI
from penstock.syntax import ast
from penstock.syntax.ast.blank_nodes import relabelled
from penstock.syntax.ast.traversal import walk
from penstock.syntax.checks import certainly_bound, in_scope

_UNBOUND = ast.Constant(IRI("urn:unbound"))
_KEY_MARK = "_group"


def expand_aggregates(query: ast.Query) -> ast.Query:
    """The query with its AGGREGATE clauses as sub-selects."""
    if not query.aggregates:
        return query
    if query.where is None:
        query = replace(query, where=ast.Group(()))
    pattern = query.where
    assert pattern is not None
    keys = _keys(query)
    copies = (
        ast.Group((_sub_select(clause, relabelled(pattern, number), keys),))
        for number, clause in enumerate(query.aggregates, start=1)
    )
    filters = (clause.filter for clause in query.aggregates if clause.filter is not None)
    where = ast.Group((pattern, *_key_bindings(keys, keys), *copies, *filters))
    form = _without_star(query) if keys else query.form
    return replace(query, where=where, form=form, aggregates=())


def fold_aggregates(query: ast.Query) -> ast.Query:
    """The inverse of `expand_aggregates`; a query of any other form stays as it is."""
    if query.aggregates or query.where is None or len(query.where.elements) < 2:
        return query
    pattern, *rest = query.where.elements
    if not isinstance(pattern, ast.Group):
        return query
    clauses = [clause for element in rest if (clause := _aggregate_clause(element)) is not None]
    for element in rest:
        position = _owner(element, clauses) if isinstance(element, ast.Filter) else None
        if position is not None and isinstance(element, ast.Filter):
            clauses[position] = replace(clauses[position], filter=element)
    folded = replace(query, where=pattern, aggregates=tuple(clauses))
    return folded if clauses and expand_aggregates(folded) == query else query


def _keys(query: ast.Query) -> dict[str, ast.Variable]:
    """For each variable that may be unbound, the variable to group by instead."""
    assert query.where is not None
    certain = certainly_bound(query.where)
    names = (variable.name for clause in query.aggregates for variable in clause.group)
    return {name: ast.Variable(name + _KEY_MARK) for name in names if name not in certain}


def _key_bindings(keys: dict[str, ast.Variable], names: dict[str, ast.Variable] | list[str]) -> list[ast.Bind]:
    return [
        ast.Bind(ast.Call("COALESCE", (ast.Variable(name), _UNBOUND)), keys[name]) for name in names if name in keys
    ]  # fmt: skip


def _sub_select(clause: ast.AggregateClause, pattern: ast.Group, keys: dict[str, ast.Variable]) -> ast.SubSelect:
    group = tuple(keys.get(variable.name, variable) for variable in clause.group)
    bindings = _key_bindings(keys, list(dict.fromkeys(variable.name for variable in clause.group)))
    return ast.SubSelect(
        ast.Select((*(ast.Projection(key) for key in group), ast.Projection(clause.variable, clause.aggregate))),
        ast.Group((pattern, *bindings)) if bindings else pattern,
        ast.Modifiers(group_by=tuple(ast.GroupCondition(key) for key in group)),
    )


def _aggregate_clause(element: ast.Element) -> ast.AggregateClause | None:
    """The AGGREGATE clause that this sub-select may represent."""
    if not (isinstance(element, ast.Group) and len(element.elements) == 1):
        return None
    sub_select = element.elements[0]
    if not isinstance(sub_select, ast.SubSelect) or not sub_select.select.projections:
        return None
    *groups, last = sub_select.select.projections
    if not isinstance(last.expression, ast.Aggregate):
        return None
    group = tuple(replace(key.variable, name=key.variable.name.removesuffix(_KEY_MARK)) for key in groups)
    return ast.AggregateClause(last.variable, last.expression, group)


def _owner(element: ast.Filter, clauses: list[ast.AggregateClause]) -> int | None:
    """The clause that a filter after the sub-selects belongs to: the first free clause whose variable it mentions."""
    names = {node.name for node in walk(element) if isinstance(node, ast.Variable)}
    free = [i for i, clause in enumerate(clauses) if clause.filter is None]
    mentioned = [i for i in free if clauses[i].variable.name in names]
    return next(iter(mentioned or free), None)


def _without_star(query: ast.Query) -> ast.Form:
    """Expands `*`, so that helper variables for unbound ones do not appear in the result."""
    assert query.where is not None
    variables = [ast.Variable(name) for name in in_scope(query.where)]
    variables += [clause.variable for clause in query.aggregates]
    match query.form:
        case ast.Select(projections=None):
            return replace(query.form, projections=tuple(ast.Projection(variable) for variable in variables))
        case ast.Describe(resources=None):
            return replace(query.form, resources=tuple(variables))
        case form:
            return form
