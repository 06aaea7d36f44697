"""Terms, triples, paths and expressions of the algebra as short text with prefixes.

If the query declares no prefix for an IRI, the IRI gets a common prefix, or one generated from its namespace.
`Names.used_beside_the_declared` lists these prefixes, so that every short name can be expanded again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from penstock.algebra import paths
from penstock.algebra.expressions import Aggregate, Apply, Constant, Exists, Expression, Variable
from penstock.algebra.operators import PatternTerm, TriplePattern
from penstock.rdf.terms import IRI, Literal
from penstock.rdf.vocabulary import COMMON_PREFIXES, RDF_TYPE
from penstock.syntax import ast
from penstock.syntax.printer.terms import TermPrinter, iri_reference

_LOCAL_NAME = re.compile(r"(?:\w(?:[\w.-]*[\w-])?)?")
_NAMESPACE = re.compile(r"(?:.*[#/:])?", re.DOTALL)
_LAST_SEGMENT = re.compile(r"([A-Za-z][\w-]*)(?:\.\w+)?[/#:]*$", re.ASCII)

_LONGEST_PREFIX = 14

_BINDING = {"||": 1, "&&": 2, "+": 4, "-": 4, "*": 5, "/": 5}
_COMPARISON, _UNARY, _PRIMARY = 3, 6, 7
_COMPARISONS = frozenset(("=", "!=", "<", ">", "<=", ">=", "IN", "NOT IN"))


class Names:
    """`iris` are the IRIs that will be shown; an IRI without a declared or common prefix gets a generated one."""

    def __init__(self, prefixes: Mapping[str, str], iris: Iterable[str] = ()) -> None:
        self._declared = dict(prefixes)
        self._known = dict(self._declared)
        for prefix, namespace in COMMON_PREFIXES.items():
            if prefix not in self._known and namespace not in self._known.values():
                self._known[prefix] = namespace
        self._terms = TermPrinter(ast.Prologue(tuple(ast.PrefixDeclaration(*item) for item in self._known.items())))
        for iri in iris:
            self._make_up(iri)
        self._aggregates: dict[str, str] = {}

    def _make_up(self, iri: str) -> None:
        """Generates a prefix for the namespace of an IRI if it has none and the rest of the IRI is a valid name."""
        if self._prefixed(iri) is not None:
            return
        matched = _NAMESPACE.match(iri)
        namespace = matched[0] if matched is not None else ""
        if namespace.count("/") < 3 or not _LOCAL_NAME.fullmatch(iri[len(namespace) :]) or namespace == iri:
            return
        segment = _LAST_SEGMENT.search(namespace)
        base = "ns" if segment is None else _short(segment[1])
        prefix, number = base, 1
        while prefix in self._known:
            number += 1
            prefix = f"{base}{number}"
        self._known[prefix] = namespace

    def used_beside_the_declared(self, texts: Iterable[str]) -> dict[str, str]:
        """The prefixes that the query does not declare and that occur in `texts`."""
        joined = "\n".join(texts)
        others = {prefix: iri for prefix, iri in self._known.items() if prefix not in self._declared}
        return {p: iri for p, iri in others.items() if re.search(rf"(?<![\w:/-]){re.escape(p)}:\w", joined)}

    # Terms

    def iri(self, iri: str) -> str:
        """`t:registers`, or `<http://…>` where there is no prefix."""
        return self._prefixed(iri) or (iri_reference(iri) if ":" in iri else iri)

    def _prefixed(self, iri: str) -> str | None:
        fitting = [
            (len(namespace), f"{prefix}:{iri[len(namespace) :]}")
            for prefix, namespace in self._known.items()
            if iri.startswith(namespace) and _LOCAL_NAME.fullmatch(iri, len(namespace))
        ]
        return max(fitting)[1] if fitting else None

    def constant(self, term: IRI | Literal) -> str:
        return self.iri(term.value) if isinstance(term, IRI) else self._terms.literal(term)

    def variable(self, variable: Variable) -> str:
        """`?x`; the aggregate, if the variable stands for one; `_:1` for a blank node."""
        if variable.is_visible:
            return f"?{variable.name}"
        if variable.name in self._aggregates:
            return self._aggregates[variable.name]
        return "_:" + variable.name.removeprefix("_:").removeprefix(".")

    def term(self, term: PatternTerm) -> str:
        return self.variable(term) if isinstance(term, Variable) else self.constant(term.term)

    def predicate(self, term: PatternTerm) -> str:
        return "a" if term == Constant(IRI(RDF_TYPE)) else self.term(term)

    def triple(self, triple: TriplePattern) -> str:
        return f"{self.term(triple.subject)} {self.predicate(triple.predicate)} {self.term(triple.object)}"

    # Paths

    def path(self, path: paths.Path) -> str:
        match path:
            case paths.Link(predicate):
                return self.predicate(Constant(IRI(predicate)))
            case paths.Inverse(inner):
                return f"^{self.path(inner)}"
            case paths.Sequence(steps):
                return f"({'/'.join(map(self.path, steps))})"
            case paths.Alternative(choices):
                return f"({'|'.join(map(self.path, choices))})"
            case paths.Repeat(inner, times):
                return f"{self.path(inner)}{times}"
            case paths.NegatedSet(forward, backward):
                members = [self.iri(iri) for iri in forward or ()] + [f"^{self.iri(iri)}" for iri in backward or ()]
                return f"!({'|'.join(members)})"

    # Expressions

    def note_aggregates(self, aggregates: Iterable[tuple[Variable, Aggregate]]) -> None:
        """From now on, variables that stand for aggregates are shown as the aggregates."""
        for variable, aggregate in aggregates:
            self._aggregates[variable.name] = self.aggregate(aggregate)

    def aggregate(self, aggregate: Aggregate) -> str:
        distinct = "DISTINCT " if aggregate.distinct else ""
        argument = "*" if aggregate.argument is None else self.expression(aggregate.argument)
        separator = "" if aggregate.separator is None else f"; SEPARATOR = {Literal(aggregate.separator)}"
        return f"{aggregate.name}({distinct}{argument}{separator})"

    def expression(self, expression: Expression, loosest: int = 0) -> str:
        """Adds parentheses only where precedence requires them."""
        match expression:
            case Variable():
                return self.variable(expression)
            case Constant(term):
                return self.constant(term)
            case Exists(_, negated):
                return "NOT EXISTS {…}" if negated else "EXISTS {…}"
            case Apply(function, arguments):
                text, binding = self._applied(function, arguments)
                return f"({text})" if binding < loosest else text

    def _applied(self, function: str, arguments: tuple[Expression, ...]) -> tuple[str, int]:
        if function in ("IN", "NOT IN"):
            sought, *listed = arguments
            values = ", ".join(map(self.expression, listed))
            return f"{self.expression(sought, _COMPARISON + 1)} {function} ({values})", _COMPARISON
        if function in _COMPARISONS:
            left, right = (self.expression(argument, _COMPARISON + 1) for argument in arguments)
            return f"{left} {function} {right}", _COMPARISON
        if len(arguments) == 1 and function in ("!", "-", "+"):
            return f"{function}{self.expression(arguments[0], _UNARY)}", _UNARY
        if function in _BINDING:
            binding = _BINDING[function]
            operands = [self.expression(argument, binding + (number > 0)) for number, argument in enumerate(arguments)]
            return f" {function} ".join(operands), binding
        name = self.iri(function[1:-1]) if function.startswith("<") else function
        shown = "timestamp" if name == "TIMESTAMP" else name
        return f"{shown}({', '.join(map(self.expression, arguments))})", _PRIMARY


def _short(segment: str) -> str:
    """Shortens the last part of a namespace to a prefix: the whole part, the initials of its words, or its start."""
    if len(segment) <= _LONGEST_PREFIX:
        return segment.lower()
    initials = "".join(character for character in segment if character.isupper())
    return initials.lower() if len(initials) > 1 else segment[: _LONGEST_PREFIX // 2].lower()
