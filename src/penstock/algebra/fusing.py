"""Queries that are equal up to constants run as one query over a table of their constants.

Join(Table(number, c1, c2, …), expression) returns the solutions of all these queries, each with the number of its
query, as long as every operator keeps solutions of different numbers apart. The table is joined at the bottom, so that
filters can read its constants. Grouping uses the number as a key. Queries with an operator that does not keep numbers
apart are not fused: LIMIT, grouping without keys (it has a group even without rows), and constants inside EXISTS,
MINUS, paths and services.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from penstock.algebra.expressions import Apply, Constant, Expression, Variable
from penstock.algebra.model import ConstructForm, ContinuousQuery, QueryForm, SelectForm
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
    Table,
    TriplePattern,
    Union,
)
from penstock.algebra.windows import CountWindow
from penstock.rdf.terms import IRI, Literal
from penstock.rdf.vocabulary import XSD

NUMBER = Variable("number of the query")
"""The number of the query that a solution belongs to; no variable of a query has this name."""

Term = IRI | Literal
OnConstant = Callable[[Term], Variable | Constant]


class _NotFusableError(Exception):
    pass


@dataclass(frozen=True, slots=True)
class Template:
    """A query without its constants; queries with equal `key` can be fused."""

    key: Hashable
    constants: tuple[Term, ...]
    form: QueryForm


def template_of(query: ContinuousQuery) -> Template | None:
    """None if the query cannot be fused with any other."""
    if not isinstance(query.form, SelectForm | ConstructForm) or query.waits_for_certainty:
        return None
    if any(isinstance(w.window, CountWindow) and w.window.matching for w in query.dataset.windows):
        return None
    constants: list[Term] = []

    def take_out(term: Term) -> Variable:
        constants.append(term)
        return _parameter(len(constants) - 1)

    try:
        expression = _rewritten(query.expression, take_out)
        _check(query.expression)
    except _NotFusableError:
        return None
    variables = query.form.variables if isinstance(query.form, SelectForm) else None
    base = query.text.prologue.base
    key = _known((expression, variables, query.operator, query.dataset, base))
    return Template(key, tuple(constants), query.form)


@lru_cache(1024)
def _known(key: Hashable) -> Hashable:
    """Equal keys share one object, so that many queries need no more memory than one."""
    return key


@dataclass(frozen=True, slots=True)
class Fused:
    """One query for several; `groups` are the positions of the queries of each number. A single group has no number."""

    query: ContinuousQuery
    groups: tuple[tuple[int, ...], ...]

    @property
    def has_numbers(self) -> bool:
        return len(self.groups) > 1


def fused(first: ContinuousQuery, templates: Sequence[Template]) -> Fused:
    """Fuses queries whose templates have equal keys; `first` is the first of them, unchanged."""
    groups: dict[tuple[Term, ...], list[int]] = {}
    for place, template in enumerate(templates):
        groups.setdefault(template.constants, []).append(place)
    places = tuple(map(tuple, groups.values()))
    if len(groups) == 1:
        return Fused(first, places)
    differing = [n for n, terms in enumerate(zip(*groups, strict=True)) if len(set(terms)) > 1]
    numbers = iter(range(len(templates[0].constants)))

    def put_in(term: Term) -> Variable | Constant:
        number = next(numbers)
        return _parameter(number) if number in differing else Constant(term)

    expression = _rewritten(first.expression, put_in)
    rows = tuple(
        (Literal(str(number), f"{XSD}integer"), *(terms[n] for n in differing)) for number, terms in enumerate(groups)
    )
    table = Table((NUMBER, *map(_parameter, differing)), rows)
    form = first.form
    if isinstance(form, SelectForm):
        form = SelectForm((NUMBER, *form.variables))
    query = replace(first, expression=_Infusion(table).top(expression), form=form)
    return Fused(query, places)


def _parameter(number: int) -> Variable:
    return Variable(f".constant{number}")


# Constants


def _rewritten(operator: Operator, on_constant: OnConstant) -> Operator:
    """Replaces each constant in which queries may differ, always in the same order."""

    def again(source: Operator) -> Operator:
        return _rewritten(source, on_constant)

    match operator:
        case BasicGraphPattern(patterns):
            return BasicGraphPattern(tuple(_pattern(pattern, on_constant) for pattern in patterns))
        case PathPattern() | Table():
            return operator
        case Join(left, right):
            return Join(again(left), again(right))
        case Union(left, right):
            return Union(again(left), again(right))
        case Minus(left, right):
            return Minus(again(left), right)
        case LeftJoin(left, right, condition):
            changed = None if condition is None else _expression(condition, on_constant)
            return LeftJoin(again(left), again(right), changed)
        case Filter(condition, source):
            return Filter(_expression(condition, on_constant), again(source))
        case Extend(source, variable, expression):
            return Extend(again(source), variable, _expression(expression, on_constant))
        case ReadGraph(Constant(), source) | ReadWindow(Constant(), source):
            return replace(operator, source=again(source))
        case Group() | Project() | Distinct() | Reduced() | OrderBy():
            return replace(operator, source=again(operator.source))
        case _:
            raise _NotFusableError


def _pattern(pattern: TriplePattern, on_constant: OnConstant) -> TriplePattern:
    """Replaces subject and object; patterns with different predicates are not fused."""

    def changed(term: PatternTerm) -> PatternTerm:
        return on_constant(term.term) if isinstance(term, Constant) else term

    return TriplePattern(changed(pattern.subject), pattern.predicate, changed(pattern.object))


_STATIC = frozenset(("REGEX", "REPLACE"))
"""Functions whose patterns are compiled in advance."""


def _expression(expression: Expression, on_constant: OnConstant) -> Expression:
    match expression:
        case Constant(term):
            return on_constant(term)
        case Apply(function, arguments) if function not in _STATIC:
            return Apply(function, tuple(_expression(argument, on_constant) for argument in arguments))
        case _:
            return expression


def _check(operator: Operator) -> None:
    """Operators that never keep numbers apart, or that need more than solutions."""
    match operator:
        case Group(keys=()):
            raise _NotFusableError
        case Filter(condition=expression) | Extend(expression=expression) | LeftJoin(condition=expression):
            if _asks_for_time(expression):
                raise _NotFusableError
    for child in operator.children:
        _check(child)


def _asks_for_time(expression: Expression | None) -> bool:
    if not isinstance(expression, Apply):
        return False
    return expression.function == "TIMESTAMP" or any(map(_asks_for_time, expression.arguments))


# The table


@dataclass(frozen=True, slots=True)
class _Infusion:
    """Joins the table into an expression, so that each solution has a number and constants."""

    table: Table

    def top(self, operator: Operator) -> Operator:
        """The result needs the number, but no longer the constants."""
        match operator:
            case Project(source, variables):
                return Project(self.into(source), (NUMBER, *variables))
            case Distinct() | Reduced():
                return replace(operator, source=self.top(operator.source))
            case _:
                return self.into(operator)

    def into(self, operator: Operator) -> Operator:
        match operator:
            case Join(left, right):
                return Join(self.into(left), self._beside(right))
            case LeftJoin(left, right, condition):
                return LeftJoin(self.into(left), self._beside(right), condition)
            case Union(left, right):
                return Union(self.into(left), self.into(right))
            case Minus(left, right):
                return Minus(self.into(left), right)
            case Group(source, keys, aggregates):
                kept = tuple((variable, variable) for variable in self.table.variables)
                return Group(self.into(source), (*kept, *keys), aggregates)
            case Project(source, variables):
                return Project(self.into(source), (*self.table.variables, *variables))
            case Filter() | Extend() | ReadGraph() | ReadWindow() | Distinct() | Reduced() | OrderBy():
                return replace(operator, source=self.into(operator.source))
            case _:
                return Join(self.table, operator)

    def _beside(self, operator: Operator) -> Operator:
        """The other side of a join; if only patterns use the constants, they are joined unchanged."""
        return operator if _has_patterns_only(operator) else self.into(operator)


def _has_patterns_only(operator: Operator) -> bool:
    match operator:
        case BasicGraphPattern() | PathPattern() | Table():
            return True
        case Join() | ReadGraph() | ReadWindow():
            return all(map(_has_patterns_only, operator.children))
        case _:
            return False
