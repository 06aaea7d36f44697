"""The operators of the SPARQL 1.1 algebra (§18.2), and two for windows, which correspond to GRAPH.

`ReadWindow` is WINDOW, and `ReadElement` is GRAPH inside a WINDOW block.

All operators are immutable. At an instant, an operator returns a bag of solutions; `children` are its inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from penstock.algebra.expressions import Aggregate, Constant, Expression, Variable
from penstock.algebra.paths import Path
from penstock.rdf.terms import IRI, Literal

if TYPE_CHECKING:
    from penstock.algebra.services import ServiceCall

PatternTerm = Variable | Constant


@dataclass(frozen=True, slots=True)
class Operator:
    @property
    def children(self) -> tuple[Operator, ...]:
        kind = type(self)
        names = _FIELDS.get(kind)
        if names is None:
            names = _FIELDS[kind] = tuple(field.name for field in fields(self))
        values = [getattr(self, name) for name in names]
        return tuple([value for value in values if isinstance(value, Operator)])


_FIELDS: dict[type[Operator], tuple[str, ...]] = {}


@dataclass(frozen=True, slots=True)
class TriplePattern:
    subject: PatternTerm
    predicate: PatternTerm
    object: PatternTerm

    def __str__(self) -> str:
        return f"{self.subject} {self.predicate} {self.object}"


@dataclass(frozen=True, slots=True)
class BasicGraphPattern(Operator):
    """The triples of the active graph that match all the patterns; without patterns, the empty solution."""

    patterns: tuple[TriplePattern, ...]


@dataclass(frozen=True, slots=True)
class PathPattern(Operator):
    """Pairs of nodes that a path connects (`?`, `*`, `+` and negated sets; other paths become joins and unions)."""

    subject: PatternTerm
    path: Path
    object: PatternTerm


@dataclass(frozen=True, slots=True)
class Join(Operator):
    left: Operator
    right: Operator


@dataclass(frozen=True, slots=True)
class LeftJoin(Operator):
    """OPTIONAL. A left solution stays if no partner satisfies the condition, which is part of it (Definition 12)."""

    left: Operator
    right: Operator
    condition: Expression | None = None


@dataclass(frozen=True, slots=True)
class Minus(Operator):
    """Left solutions with no compatible right solution that shares a variable with them."""

    left: Operator
    right: Operator


@dataclass(frozen=True, slots=True)
class Union(Operator):
    left: Operator
    right: Operator

    @staticmethod
    def of(sides: Sequence[Operator]) -> Operator:
        """A union of one or more operators, as a tree of minimal height."""
        if len(sides) == 1:
            return sides[0]
        half = (len(sides) + 1) // 2
        return Union(Union.of(sides[:half]), Union.of(sides[half:]))


@dataclass(frozen=True, slots=True)
class Filter(Operator):
    condition: Expression
    source: Operator


@dataclass(frozen=True, slots=True)
class Extend(Operator):
    """BIND, and expressions of a projection: a new variable, unbound where the expression is an error."""

    source: Operator
    variable: Variable
    expression: Expression


@dataclass(frozen=True, slots=True)
class Table(Operator):
    """VALUES; None is UNDEF."""

    variables: tuple[Variable, ...]
    rows: tuple[tuple[IRI | Literal | None, ...], ...]


@dataclass(frozen=True, slots=True)
class ReadGraph(Operator):
    """GRAPH: a named graph, or a window by its name, is the active graph; a variable ranges over all of them."""

    name: PatternTerm
    source: Operator


@dataclass(frozen=True, slots=True)
class ReadWindow(Operator):
    """WINDOW: the content of a window is the active graph; a variable ranges over the named windows."""

    name: PatternTerm
    source: Operator


@dataclass(frozen=True, slots=True)
class ReadElement(Operator):
    """GRAPH inside WINDOW: the elements of the window with this name are the active graph (semantics.md §4).

    A variable ranges over the names of the valid elements. Elements without a name are not read.
    """

    name: PatternTerm
    source: Operator


@dataclass(frozen=True, slots=True)
class Service(Operator):
    """SERVICE: the answer of an endpoint to `call`; None if the endpoint is not known in advance.

    `source` is the pattern for display: changes to it do not reach the endpoint.
    """

    name: PatternTerm
    source: Operator
    silent: bool = False
    call: ServiceCall | None = None


@dataclass(frozen=True, slots=True)
class Group(Operator):
    """Solutions grouped by the keys, and the aggregates of each group; without keys there is one group."""

    source: Operator
    keys: tuple[tuple[Variable, Expression], ...]
    aggregates: tuple[tuple[Variable, Aggregate], ...]


@dataclass(frozen=True, slots=True)
class Project(Operator):
    source: Operator
    variables: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class Distinct(Operator):
    source: Operator


@dataclass(frozen=True, slots=True)
class Reduced(Operator):
    source: Operator


@dataclass(frozen=True, slots=True)
class OrderBy(Operator):
    source: Operator
    conditions: tuple[tuple[Expression, bool], ...]
    """Each expression, and whether it is descending."""


@dataclass(frozen=True, slots=True)
class Slice(Operator):
    """OFFSET and LIMIT."""

    source: Operator
    offset: int
    limit: int | None
