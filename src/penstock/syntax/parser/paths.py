"""Property paths (SPARQL 1.1 grammar rules 88 to 96)."""

from __future__ import annotations

from penstock.rdf import vocabulary
from penstock.rdf.terms import IRI
from penstock.syntax import ast
from penstock.syntax.parser.terms import TermRules

_PATH_OPERATORS = frozenset("/|*+?")
_TIMES = frozenset("?*+")
_RDF_TYPE = IRI(vocabulary.RDF_TYPE)
_EXPECTED = "a predicate: an IRI, a variable, `a`, or a path"


class PathRules(TermRules):
    def predicate(self) -> ast.Constant:
        """An IRI or `a`."""
        position = self.position
        if self.texts[position] == "a":
            self.position += 1
            return ast.Constant(_RDF_TYPE, span=self.tokens.span(position))
        return self.iri(_EXPECTED)

    def verb(self) -> ast.Verb:
        """Rules 84, 85, 88: VerbPath or VerbSimple."""
        kind = self.kinds[self.position]
        if kind == "var":
            return self.variable()
        if kind in ("pname", "iri", "A") and self.kinds[self.position + 1] not in _PATH_OPERATORS:
            return self.predicate()
        return self.path()

    def path(self) -> ast.Path:
        """Rule 89: PathAlternative."""
        start = self.position
        paths = [self._path_sequence()]
        while self.accept("|"):
            paths.append(self._path_sequence())
        return paths[0] if len(paths) == 1 else ast.PathAlternative(tuple(paths), span=self.span_from(start))

    def _path_sequence(self) -> ast.Path:
        """Rule 90."""
        start = self.position
        paths = [self._path_element()]
        while self.accept("/"):
            paths.append(self._path_element())
        return paths[0] if len(paths) == 1 else ast.PathSequence(tuple(paths), span=self.span_from(start))

    def _path_element(self) -> ast.Path:
        """Rules 91 to 93: PathEltOrInverse, PathElt, PathMod."""
        start = self.position
        inverse = self.accept("^")
        path = self._path_primary()
        if self.kind in _TIMES and not self.at_signed_number():
            path = ast.PathRepeat(path, self.advance(), span=self.span_from(start + inverse))  # type: ignore[arg-type]
        return ast.PathInverse(path, span=self.span_from(start)) if inverse else path

    def _path_primary(self) -> ast.Path:
        """Rule 94."""
        start = self.position
        if self.accept("!"):
            return ast.PathNegated(self._negated_set(), span=self.span_from(start))
        if self.kind == "(":
            self.enter()
            self.position += 1
            path = self.path()
            self.expect(")", "to close the path")
            self.leave()
            return path
        return self.predicate()

    def _negated_set(self) -> tuple[ast.Constant | ast.PathInverse, ...]:
        """Rule 95: PathNegatedPropertySet."""
        if not self.accept("("):
            return (self._negated_member(),)
        members: list[ast.Constant | ast.PathInverse] = []
        if self.kind != ")":
            members.append(self._negated_member())
            while self.accept("|"):
                members.append(self._negated_member())
        self.expect(")", "to close the set of predicates")
        return tuple(members)

    def _negated_member(self) -> ast.Constant | ast.PathInverse:
        """Rule 96: PathOneInPropertySet."""
        start = self.position
        if self.accept("^"):
            return ast.PathInverse(self.predicate(), span=self.span_from(start))
        return self.predicate()
