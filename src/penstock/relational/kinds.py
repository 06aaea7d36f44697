"""The known kinds of the variables of a pattern, before there is data.

A subject is not a literal, a count is an integer: known kinds make comparisons cheaper. A variable that a solution may
leave unbound has its kind wherever it is bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from penstock.algebra import expressions
from penstock.algebra import operators as algebra
from penstock.algebra.expressions import Aggregate, Constant, Expression, Variable
from penstock.algebra.paths import Alternative, Inverse, Link, NegatedSet, Path, Repeat, Sequence
from penstock.rdf.terms import IRI, Literal
from penstock.relational.functions.families import INTEGER, NUMBER, RESOURCE, STRING, UNKNOWN, Kind, common, kind_of


@dataclass(frozen=True, slots=True)
class _Binding:
    kind: Kind
    is_certain: bool
    """Whether every solution binds the variable."""


_Bindings = Mapping[Variable, _Binding]


def kinds_of(pattern: algebra.Operator, *, is_asked: bool = False) -> dict[Variable, Kind]:
    """The kinds of the variables in the solutions of a pattern.

    `is_asked`: the pattern belongs to an EXISTS; a variable that it leaves unbound has the value of the outer row.
    """
    found = _bindings(pattern).items()
    return {variable: binding.kind for variable, binding in found if binding.is_certain or not is_asked}


def _bindings(operator: algebra.Operator) -> _Bindings:
    match operator:
        case algebra.BasicGraphPattern(patterns):
            terms = [
                (term, kind)
                for pattern in patterns
                for term, kind in (
                    (pattern.subject, RESOURCE),
                    (pattern.predicate, RESOURCE),
                    (pattern.object, UNKNOWN),
                )
            ]
            return _matched(terms)
        case algebra.PathPattern(subject, path, object_):
            return _matched(zip((subject, object_), _ends(path), strict=True))
        case algebra.Join(left, right):
            return _joined(_bindings(left), _bindings(right))
        case algebra.LeftJoin(left, right):
            return _left_joined(_bindings(left), _bindings(right))
        case algebra.Minus(left):
            return _bindings(left)
        case algebra.Union(left, right):
            return _either(_bindings(left), _bindings(right))
        case algebra.Extend(source, variable, expression):
            inner = _bindings(source)
            return {**inner, variable: _of_expression(expression, inner)}
        case algebra.Table(variables, rows):
            columns = {variable: [row[place] for row in rows] for place, variable in enumerate(variables)}
            return {variable: _listed(values) for variable, values in columns.items()}
        case algebra.Service(call=call) if call is not None:
            return {Variable(name): _Binding(UNKNOWN, False) for name in call.variables}
        case algebra.ReadGraph(name, source) | algebra.ReadWindow(name, source) | algebra.ReadElement(name, source):
            # A variable that the pattern leaves unbound may be bound by the window: the name of a stream.
            told = {variable: binding for variable, binding in _bindings(source).items() if binding.is_certain}
            return {**told, name: _Binding(RESOURCE, True)} if isinstance(name, Variable) else told
        case algebra.Group(source, keys, aggregates):
            inner = _bindings(source)
            grouped = {variable: _of_expression(expression, inner) for variable, expression in keys}
            return grouped | {variable: _aggregated(aggregate, inner) for variable, aggregate in aggregates}
        case algebra.Project(source, variables):
            return {variable: binding for variable, binding in _bindings(source).items() if variable in variables}
        case algebra.Filter(_, source) | algebra.OrderBy(source) | algebra.Slice(source):
            return _bindings(source)
        case algebra.Distinct(source) | algebra.Reduced(source):
            return _bindings(source)
    return {}


def _matched(terms: Iterable[tuple[algebra.PatternTerm, Kind]]) -> _Bindings:
    """For a variable at several places, the facts of each place are combined."""
    found: dict[Variable, _Binding] = {}
    for term, kind in terms:
        if isinstance(term, Variable) and (term not in found or kind is not UNKNOWN):
            found[term] = _Binding(kind, True)
    return found


def _ends(path: Path) -> tuple[Kind, Kind]:
    """The known facts about the two ends; a path of length zero may lead from a literal to itself."""
    match path:
        case Link() | NegatedSet(backward=None):
            return RESOURCE, UNKNOWN
        case NegatedSet(forward=None):
            return UNKNOWN, RESOURCE
        case Inverse(inner):
            start, end = _ends(inner)
            return end, start
        case Repeat(inner, "+"):
            return _ends(inner)
        case Sequence(paths):
            return _ends(paths[0])[0], _ends(paths[-1])[1]
        case Alternative(paths):
            starts, ends = zip(*map(_ends, paths), strict=True)
            return common(starts), common(ends)
    return UNKNOWN, UNKNOWN


def _joined(left: _Bindings, right: _Bindings) -> _Bindings:
    return {variable: _both(left.get(variable), right.get(variable)) for variable in {**left, **right}}


def _both(left: _Binding | None, right: _Binding | None) -> _Binding:
    """A variable bound on both sides has one value; else the value is that of either side."""
    if left is None or right is None:
        return left or right or _Binding(UNKNOWN, False)
    known = [side.kind for side in (left, right) if side.is_certain]
    informed = [kind for kind in known if kind is not UNKNOWN]
    if not known:
        return _Binding(common([left.kind, right.kind]), False)
    return _Binding(informed[0] if informed else UNKNOWN, True)


def _left_joined(left: _Bindings, right: _Bindings) -> _Bindings:
    found = {variable: _Binding(binding.kind, False) for variable, binding in right.items()}
    for variable, binding in left.items():
        is_open = variable in right and not binding.is_certain
        kind = common([binding.kind, right[variable].kind]) if is_open else binding.kind
        found[variable] = _Binding(kind, binding.is_certain)
    return found


def _either(left: _Bindings, right: _Bindings) -> _Bindings:
    found: dict[Variable, _Binding] = {}
    for variable in {**left, **right}:
        sides = [side[variable] for side in (left, right) if variable in side]
        is_certain = len(sides) == 2 and all(side.is_certain for side in sides)
        found[variable] = _Binding(common([side.kind for side in sides]), is_certain)
    return found


def _of_expression(expression: Expression, inner: _Bindings) -> _Binding:
    kinds = {variable: binding.kind for variable, binding in inner.items()}
    is_certain = isinstance(expression, Constant)
    if isinstance(expression, Variable):
        is_certain = expression in inner and inner[expression].is_certain
    return _Binding(kind_of(expression, kinds), is_certain)


def _listed(values: list[IRI | Literal | None]) -> _Binding:
    terms = [value for value in values if value is not None]
    return _Binding(common([kind_of(Constant(term), {}) for term in terms]), len(terms) == len(values))


def _aggregated(aggregate: Aggregate, inner: _Bindings) -> _Binding:
    match aggregate.name:
        case "COUNT":
            return _Binding(INTEGER, True)
        case "SUM" | "AVG" | expressions.SUM_OF_PARTIAL | expressions.AVG_OF_PARTIAL:
            return _Binding(NUMBER, False)
        case "GROUP_CONCAT":
            return _Binding(STRING, False)
    if aggregate.argument is None:
        return _Binding(UNKNOWN, False)
    return _Binding(_of_expression(aggregate.argument, inner).kind, False)
