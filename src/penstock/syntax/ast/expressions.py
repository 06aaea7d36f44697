"""Expressions: FILTER, BIND, projections, GROUP BY, HAVING, ORDER BY."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.syntax.ast.nodes import Constant, Node, Variable

if TYPE_CHECKING:
    from penstock.syntax.ast.patterns import Group


@dataclass(frozen=True, slots=True)
class Operation(Node):
    """An operator and its operands.

    `||` and `&&` take two or more, `+ - * /` two or more from left to right, comparisons two, `!` and the unary `+ -`
    one; `IN` and `NOT IN` take what is sought and then the list, which may be empty.
    """

    operator: str
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Call(Node):
    """A built-in function by its upper-case name: `STRLEN(?x)`, `BOUND(?x)`, `IF(…)`, `TIMESTAMP(?x)`."""

    name: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class FunctionCall(Node):
    """A function named by an IRI: casts such as `xsd:integer(?x)`, and extensions."""

    function: Constant
    arguments: tuple[Expression, ...]
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class Aggregate(Node):
    """`COUNT(DISTINCT ?x)`, `GROUP_CONCAT(?x ; SEPARATOR = ", ")`; `COUNT(*)` has no argument."""

    name: str
    argument: Expression | None
    distinct: bool = False
    separator: str | None = None


@dataclass(frozen=True, slots=True)
class Exists(Node):
    """`EXISTS { … }` and, negated, `NOT EXISTS { … }`."""

    pattern: Group
    negated: bool = False


Expression = Variable | Constant | Operation | Call | FunctionCall | Aggregate | Exists
