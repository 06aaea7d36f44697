"""Verbs and property paths (SPARQL 1.1 §9)."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from penstock.rdf import vocabulary
from penstock.rdf.terms import IRI
from penstock.syntax import ast
from penstock.syntax.printer.terms import TermPrinter

_RDF_TYPE = IRI(vocabulary.RDF_TYPE)


class PathPrecedence(IntEnum):
    """The precedence of paths, lowest first (the order of the productions)."""

    ALTERNATIVE = 1
    SEQUENCE = 2
    INVERSE = 3
    ELEMENT = 4
    PRIMARY = 5


_PRECEDENCES: dict[type[ast.Path], PathPrecedence] = {
    ast.PathAlternative: PathPrecedence.ALTERNATIVE,
    ast.PathSequence: PathPrecedence.SEQUENCE,
    ast.PathInverse: PathPrecedence.INVERSE,
    ast.PathRepeat: PathPrecedence.ELEMENT,
    # `!a` is a PathPrimary, yet `!a*` reads as if the star came first; `(!a)*` says the same to everyone.
    ast.PathNegated: PathPrecedence.ELEMENT,
    ast.Constant: PathPrecedence.PRIMARY,
}


class PathPrinter(TermPrinter):
    def verb(self, verb: ast.Verb) -> str:
        """Verb, VerbPath, VerbSimple"""
        return self.variable(verb) if isinstance(verb, ast.Variable) else self.path(verb)

    def path(self, path: ast.Path, loosest: PathPrecedence = PathPrecedence.ALTERNATIVE) -> str:
        """Path, in parentheses if its precedence is lower than `loosest`"""
        text = self._bare_path(path)
        return text if _PRECEDENCES[type(path)] >= loosest else f"({text})"

    def _bare_path(self, path: ast.Path) -> str:
        match path:
            case ast.PathAlternative(paths):
                return self._joined(paths, "|", PathPrecedence.SEQUENCE)
            case ast.PathSequence(paths):
                return self._joined(paths, "/", PathPrecedence.INVERSE)
            case ast.PathInverse(inner):
                return f"^{self.path(inner, PathPrecedence.ELEMENT)}"
            case ast.PathRepeat(inner, times):
                return f"{self.path(inner, PathPrecedence.PRIMARY)}{times}"
            case ast.PathNegated(predicates):
                return self._negated_property_set(predicates)
            case ast.Constant(term):
                return "a" if term == _RDF_TYPE else self.constant(path)

    def _joined(self, paths: Sequence[ast.Path], separator: str, loosest: PathPrecedence) -> str:
        """PathAlternative, PathSequence; a nested path of the same kind keeps its parentheses"""
        return separator.join(self.path(path, loosest) for path in paths)

    def _negated_property_set(self, predicates: Sequence[ast.Constant | ast.PathInverse]) -> str:
        """PathNegatedPropertySet"""
        members = self._joined(predicates, "|", PathPrecedence.INVERSE)
        return f"!{members}" if len(predicates) == 1 else f"!({members})"
