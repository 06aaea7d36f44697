"""Triple patterns as conditions on the rows of a table, and the patterns whose matches a window counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace

from sqlglot import exp

from penstock.algebra.certain import NEW_EACH_TIME
from penstock.algebra.expressions import Apply, Constant, Exists, Expression, Variable, parts_of, variables_of
from penstock.algebra.model import ContinuousQuery, StreamWindow
from penstock.algebra.operators import (
    BasicGraphPattern,
    Operator,
    PathPattern,
    PatternTerm,
    ReadWindow,
    Table,
    TriplePattern,
)
from penstock.algebra.paths import Link
from penstock.algebra.windows import CountWindow
from penstock.rdf.encoding import encode
from penstock.rdf.terms import IRI
from penstock.relational.functions.catalogue import compile_condition
from penstock.relational.functions.families import RESOURCE
from penstock.relational.functions.nesting import MOST_WEIGHT_DISTRIBUTED, is_deep
from penstock.relational.relations import col

TRIPLE = ("s", "p", "o")
_KINDS = {Variable("s"): RESOURCE, Variable("p"): RESOURCE}
_LOOKING_BEYOND = NEW_EACH_TIME | {"IRI", "TIMESTAMP", "URI"}
"""Functions whose value depends on more than a triple."""


def terms_of(pattern: TriplePattern) -> list[tuple[str, PatternTerm]]:
    """The columns of a triple with the terms of the pattern."""
    return list(zip(TRIPLE, (pattern.subject, pattern.predicate, pattern.object), strict=True))


@dataclass(frozen=True, slots=True)
class TripleConditions:
    """The conditions of a triple pattern on a triple, independent of the names of its variables: encoded constants in
    their places, places that contain the same term, and conditions, whose variables are the places.
    """

    constants: tuple[tuple[str, str], ...] = ()
    same: tuple[tuple[str, str], ...] = ()
    filters: tuple[Expression, ...] = ()
    is_named: bool = False
    """Whether the triple has to be part of a named element."""

    @property
    def predicate(self) -> str | None:
        return dict(self.constants).get("p")

    def conditions(self, table: str) -> list[exp.Expr]:
        return self._equalities(table) + self._filters(table)

    def conditions_on_stream(self, table: str) -> list[exp.Expr]:
        """An element without triples is a row without terms, which matches no pattern."""
        present = self._equalities(table) or [exp.not_(col(table, "s").is_(exp.null()))]
        if self.is_named:
            present.append(exp.not_(col(table, "g").is_(exp.null())))
        return present + self._filters(table)

    def in_element(self, name: Constant | None) -> TripleConditions:
        """The same for an element with this name, or with any name."""
        if name is None:
            return replace(self, is_named=True)
        return replace(self, constants=(*self.constants, ("g", encode(name.term))))

    def _equalities(self, table: str) -> list[exp.Expr]:
        equal: list[exp.Expr] = [col(table, part).eq(exp.Literal.string(text)) for part, text in self.constants]
        return equal + [col(table, first).eq(col(table, other)) for first, other in self.same]

    def _filters(self, table: str) -> list[exp.Expr]:
        return [compile_condition(f, lambda place: col(table, place.name), kinds=_KINDS) for f in self.filters]


def is_about(pattern: TriplePattern, condition: Expression) -> bool:
    """Whether the condition only reads terms of a triple that matches."""
    matched = {term for _, term in terms_of(pattern)}
    if is_deep(condition, MOST_WEIGHT_DISTRIBUTED):
        return False  # it may be evaluated in steps, and a scan has no columns for these
    return set(variables_of(condition)) <= matched and not any(
        isinstance(part, Exists) or (isinstance(part, Apply) and part.function in _LOOKING_BEYOND)
        for part in parts_of(condition)
    )


def asked_by(pattern: TriplePattern, filters: Sequence[Expression] = ()) -> TripleConditions:
    """`filters` are the conditions on the pattern."""
    constants = [(part, encode(term.term)) for part, term in terms_of(pattern) if isinstance(term, Constant)]
    places: dict[Variable, str] = {}
    same: list[tuple[str, str]] = []
    for part, term in terms_of(pattern):
        if isinstance(term, Variable) and places.setdefault(term, part) != part:
            same.append((places[term], part))
    return TripleConditions(
        tuple(constants), tuple(same), tuple(_about_places(condition, places) for condition in filters)
    )


def _about_places(expression: Expression, places: Mapping[Variable, str]) -> Expression:
    match expression:
        case Variable():
            return Variable(places[expression])
        case Apply(_, arguments):
            return replace(expression, arguments=tuple(_about_places(argument, places) for argument in arguments))
    return expression


def predicates_of(expression: Operator) -> frozenset[str]:
    """The encoded constant predicates of triple patterns and paths."""
    found: set[str] = set()
    for node in nodes_of(expression):
        match node:
            case TriplePattern(predicate=Constant(term)):
                found.add(encode(term))
            case Link(predicate):
                found.add(encode(IRI(predicate)))
    return frozenset(found)


def counted_patterns(query: ContinuousQuery, window: StreamWindow) -> list[TriplePattern | None]:
    """The patterns whose matches a window counts, or None for all elements."""
    if not (isinstance(window.window, CountWindow) and window.window.matching):
        return [None]
    found: list[TriplePattern | None] = []
    for node in nodes_of(query.expression):
        if isinstance(node, ReadWindow) and isinstance(node.name, Constant) and _iri(node.name) == window.name:
            for inner in nodes_of(node.source):
                if isinstance(inner, BasicGraphPattern):
                    found += inner.patterns
                elif isinstance(inner, PathPattern):
                    found.append(None)
    return list(dict.fromkeys(found))


def _iri(constant: Constant) -> str | None:
    return constant.term[0] if isinstance(constant.term, IRI) else None


def nodes_of(node: object) -> Iterator[object]:
    """Nested operators and expressions, without the rows of tables."""
    yield node
    if isinstance(node, Table):
        return
    if isinstance(node, tuple):
        for entry in node:
            yield from nodes_of(entry)
    elif is_dataclass(node):
        for field in fields(node):
            yield from nodes_of(getattr(node, field.name))
