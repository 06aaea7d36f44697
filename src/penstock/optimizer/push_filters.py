"""Evaluates a condition where its variables are first bound (C-SPARQL §5.1).

σ_c(P ⋈ Q) = σ_c(P) ⋈ Q if every solution of P binds the variables of c, or if Q binds none of them. The same applies to
the left side of OPTIONAL and MINUS, to each side of a UNION, inside GRAPH and WINDOW, below BIND, and below a grouping
by those variables. The condition of an OPTIONAL moves to its right side if it only reads variables from there.
Conditions that depend on more than their solution stay: EXISTS on the active graph, NOW() on the instant, timestamp()
on all patterns; RAND() and BNODE() have a new value each time.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from penstock.algebra.expressions import Apply, Exists, Expression, Variable, conjuncts, parts_of, variables_of
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
    Project,
    ReadElement,
    ReadGraph,
    ReadWindow,
    Reduced,
    Service,
    Union,
)
from penstock.optimizer.knowledge import Knowledge, Scope
from penstock.optimizer.rewriting import (
    conjunction,
    filtered,
    joined,
    operands,
    with_children,
    with_expressions,
    with_patterns,
)

_STAYING = frozenset({"BNODE", "NOW", "RAND", "STRUUID", "TIMESTAMP", "UUID"})


def push_filters(operator: Operator, knowledge: Knowledge) -> Operator:
    return _Pushing(knowledge).into(operator, [])


class _Pushing:
    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge

    def into(self, operator: Operator, conditions: list[Expression]) -> Operator:
        """The operator under the conditions, each pushed down as far as possible."""
        match operator:
            case Filter(condition, source):
                own = list(conjuncts(condition))
                staying = [part for part in own if not can_move(part)]
                moving = [part for part in own if can_move(part)]
                return filtered(self.into(source, [*moving, *conditions]), map(self._inside, staying))
            case Join():
                return self._into_join(operands(operator), conditions)
            case BasicGraphPattern(patterns) if len(patterns) > 1 and conditions:
                return self._into_patterns(operator, conditions)
            case LeftJoin(left, right, condition):
                return self._into_left_join(left, right, condition, conditions)
            case Minus(left, right):
                return Minus(self.into(left, conditions), self.into(right, []))
            case Union(left, right):
                return Union(self.into(left, conditions), self.into(right, conditions))
            case Service():
                return filtered(operator, conditions)
        below = [condition for condition in conditions if self._goes_below(condition, operator)]
        above = [condition for condition in conditions if condition not in below]

        inner = with_children(operator, lambda child: self.into(child, below))
        return filtered(with_expressions(inner, self._inside), above)

    def _inside(self, expression: Expression) -> Expression:
        """Pushes the filters inside the pattern of an EXISTS."""
        return with_patterns(expression, lambda pattern: self.into(pattern, []))

    def _goes_below(self, condition: Expression, operator: Operator) -> bool:
        variables = set(variables_of(condition))
        match operator:
            case Extend():
                return variables.isdisjoint(_extensions(operator))
            case ReadGraph(name, source) | ReadWindow(name, source) | ReadElement(name, source):
                known = self._knowledge.scope(source)
                told = self._knowledge.told_by(name)
                return all(v in known.certain or (v in known.possible and v not in told) for v in variables)
            case Group(source, keys):
                plain = {variable for variable, expression in keys if variable == expression}
                return bool(variables) and variables <= plain & self._knowledge.scope(source).certain
            case Project(source, kept):
                return variables <= set(kept) & self._knowledge.scope(source).certain
            case Distinct(source) | Reduced(source) | OrderBy(source):
                return variables <= self._knowledge.scope(source).certain
        return False

    def _into_join(self, parts: list[Operator], conditions: list[Expression]) -> Operator:
        """Pushes a condition into every operand that binds all of its variables, to join fewer rows."""
        scopes = [self._knowledge.scope(part) for part in parts]
        given: list[list[Expression]] = [[] for _ in parts]
        left: list[Expression] = []
        for condition in conditions:
            variables = set(variables_of(condition))
            takers = [
                place
                for place, scope in enumerate(scopes)
                if variables
                and variables <= scope.possible
                and all(v in scope.certain or _is_only_in(v, place, scopes) for v in variables)
            ]
            for place in takers:
                given[place].append(condition)
            if not takers:
                left.append(condition)
        pushed = (operands(self.into(part, taken)) for part, taken in zip(parts, given, strict=True))
        return filtered(joined(chain.from_iterable(pushed)), left)

    def _into_patterns(self, block: BasicGraphPattern, conditions: list[Expression]) -> Operator:
        """A triple pattern with conditions of its own becomes a separate operand."""
        single = [BasicGraphPattern((pattern,)) for pattern in block.patterns]
        known = [self._knowledge.scope(pattern).certain for pattern in single]
        alone = [
            place
            for place, certain in enumerate(known)
            if any(variables_of(c) and set(variables_of(c)) <= certain for c in conditions)
        ]
        if not alone:
            return filtered(block, conditions)
        rest = BasicGraphPattern(tuple(p for place, p in enumerate(block.patterns) if place not in alone))
        parts: list[Operator] = [rest] if rest.patterns else []
        return self._into_join([*parts, *(single[place] for place in alone)], conditions)

    def _into_left_join(
        self, left: Operator, right: Operator, condition: Expression | None, conditions: list[Expression]
    ) -> Operator:
        kept, added = self._knowledge.scope(left), self._knowledge.scope(right)
        going = [c for c in conditions if all(v in kept.certain or v not in added.possible for v in variables_of(c))]
        above = [c for c in conditions if c not in going]
        own = [] if condition is None else list(conjuncts(condition))
        rightwards = [c for c in own if can_move(c) and variables_of(c) and set(variables_of(c)) <= added.certain]
        staying = [self._inside(c) for c in own if c not in rightwards]
        inner = LeftJoin(
            self.into(left, going), self.into(right, rightwards), conjunction(staying) if staying else None
        )  # fmt: skip
        return filtered(inner, above)


def can_move(condition: Expression) -> bool:
    """Whether the condition depends on nothing but the values of its variables."""
    return not any(
        isinstance(part, Exists) or (isinstance(part, Apply) and part.function in _STAYING)
        for part in parts_of(condition)
    )


def _extensions(operator: Operator) -> Iterator[Variable]:
    """The variables that adjacent BINDs bind: BNODE("x") is one node in all of them, so they stay together."""
    while isinstance(operator, Extend):
        yield operator.variable
        operator = operator.source


def _is_only_in(variable: Variable, place: int, scopes: list[Scope]) -> bool:
    return all(other == place or variable not in scope.possible for other, scope in enumerate(scopes))
