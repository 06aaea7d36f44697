"""The facts about a query that the checks use, collected in one walk.

One walk is enough for all checks, which run on every parse. Each check then reads a short list, often an empty one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.syntax import ast

Scope = dict[str, ast.Variable]
"""Names in scope in the order of their first occurrence, each with a variable that introduces it."""


@dataclass(slots=True)
class Mentions:
    """An expression: the variables outside its aggregates, and its outermost aggregates."""

    variables: list[ast.Variable]
    aggregates: list[ast.Aggregate]


@dataclass(slots=True)
class Level:
    """The query or one sub-select: a form, the scope of its pattern, and its solution modifiers.

    `scope` contains the variables of the pattern, of AGGREGATE and of the VALUES clause at the end.
    """

    form: ast.Form
    scope: Scope
    modifiers: ast.Modifiers
    projections: list[tuple[ast.Projection, Mentions | None]] = field(default_factory=list)
    keys: list[tuple[ast.GroupCondition, Mentions]] = field(default_factory=list)
    having: list[Mentions] = field(default_factory=list)
    order: list[Mentions] = field(default_factory=list)
    grouped: bool = False

    def key_names(self) -> set[str]:
        """The variables that have one value per group: `GROUP BY ?x` and `GROUP BY (… AS ?x)`."""
        variables = (condition.variable or condition.expression for condition, _ in self.keys)
        return {variable.name for variable in variables if isinstance(variable, ast.Variable)}


@dataclass(slots=True)
class Facts:
    levels: list[Level] = field(default_factory=list)
    where: Scope = field(default_factory=dict)
    """The scope of the query's own WHERE."""
    bound: Scope = field(default_factory=dict)
    """All variables that the query binds anywhere."""
    used: list[ast.Variable] = field(default_factory=list)
    """The variables of all expressions."""
    template: Scope = field(default_factory=dict)
    rebound: list[ast.Variable] = field(default_factory=list)
    """Variables of BIND that are already in scope before it."""
    reused_labels: list[ast.BlankNodeLabel] = field(default_factory=list)
    """Blank node labels that also occur in an earlier basic graph pattern."""
    labels: set[str] = field(default_factory=set)
    inline_data: list[ast.InlineData] = field(default_factory=list)
    calls: list[ast.Call] = field(default_factory=list)
    functions: list[ast.FunctionCall] = field(default_factory=list)
    """Functions called by IRI, except those that a service evaluates."""
    aggregates: list[ast.Aggregate] = field(default_factory=list)
    misplaced: list[tuple[ast.Aggregate, str]] = field(default_factory=list)
    """Aggregates in places where they are not allowed, with the name of the place."""
    blocks: list[ast.Graph | ast.WindowBlock | ast.StreamBlock] = field(default_factory=list)
    windows: list[ast.Window] = field(default_factory=list)
    """The windows inside the patterns."""
    exists: list[ast.Group] = field(default_factory=list)
    """The patterns of EXISTS, walked after the rest."""
    remote_exists: list[int] = field(default_factory=list)
    """The patterns of EXISTS, by identity, that a service evaluates."""
