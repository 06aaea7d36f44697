"""Variables, IRIs and literals (SPARQL 1.1 §4.1)."""

from __future__ import annotations

import re
from typing import ClassVar

from penstock.rdf import vocabulary
from penstock.rdf.terms import IRI, Literal, quote
from penstock.syntax import ast
from penstock.syntax.recognition import TITLES
from penstock.syntax.tokens import VARIABLE

# Local names without escapes that cannot merge with the following text; narrower than PN_LOCAL on purpose.
_PLAIN_LOCAL_NAME = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9_-]*)?")
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_NOT_IN_IRIREF = re.compile(r'[\x00-\x20<>"{}|^`\\]')
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")

# Lexical forms that denote a literal of the datatype without quotes: INTEGER, DECIMAL, DOUBLE, BooleanLiteral.
_BARE_FORMS = {
    vocabulary.XSD_INTEGER: re.compile(r"[+-]?[0-9]+"),
    vocabulary.XSD_DECIMAL: re.compile(r"[+-]?[0-9]*\.[0-9]+"),
    vocabulary.XSD_DOUBLE: re.compile(r"[+-]?(?:[0-9]+\.[0-9]*|\.?[0-9]+)[eE][+-]?[0-9]+"),
    vocabulary.XSD_BOOLEAN: re.compile(r"true|false"),
}


class TermPrinter:
    """Prints terms with the prefixes that the query declares."""

    title: ClassVar[str] = TITLES["sparql"]
    variable_token: ClassVar[str] = VARIABLE

    def __init__(self, prologue: ast.Prologue) -> None:
        self._namespaces = _longest_first(prologue)

    def cannot(self, what: str) -> ValueError:
        """The error for a node that has no text in this dialect."""
        return ValueError(f"{self.title} cannot express {what}.")

    def variable(self, variable: ast.Variable) -> str:
        """Var"""
        text = f"?{variable.name}"
        if re.fullmatch(self.variable_token, text) is None:
            raise self.cannot(f"a variable named '{variable.name}'")
        return text

    def constant(self, constant: ast.Constant) -> str:
        """iri, RDFLiteral, NumericLiteral, BooleanLiteral"""
        match constant.term:
            case IRI(value):
                return self.iri(value)
            case Literal() as literal:
                return self.literal(literal)

    def var_or_iri(self, node: ast.Variable | ast.Constant) -> str:
        """VarOrIri"""
        return self.variable(node) if isinstance(node, ast.Variable) else self.constant(node)

    def iri(self, value: str) -> str:
        """iri: a prefixed name where a declared prefix fits, the longest namespace first"""
        for namespace, prefix in self._namespaces:
            if value.startswith(namespace) and _PLAIN_LOCAL_NAME.fullmatch(value, len(namespace)):
                return f"{prefix}:{value[len(namespace) :]}"
        return iri_reference(value)

    def literal(self, literal: Literal) -> str:
        """RDFLiteral, NumericLiteral, BooleanLiteral"""
        bare_form = _BARE_FORMS.get(literal.datatype)
        if bare_form is not None and bare_form.fullmatch(literal.lexical):
            return literal.lexical
        return self.quoted_literal(literal)

    def quoted_literal(self, literal: Literal) -> str:
        """RDFLiteral"""
        if literal.language is not None:
            return f"{string(literal.lexical)}@{literal.language}"
        if literal.datatype == vocabulary.XSD_STRING:
            return string(literal.lexical)
        return f"{string(literal.lexical)}^^{self.iri(literal.datatype)}"


def iri_reference(value: str) -> str:
    """IRIREF"""
    return f"<{_NOT_IN_IRIREF.sub(_code_point, value)}>"


def bare_name(name: ast.Constant) -> str:
    """The name of a registered query before the prologue, where prefixes are not known yet."""
    value = name.term[0]
    return value if _PLAIN_NAME.fullmatch(value) and value.upper() != "AS" else iri_reference(value)


def string(text: str) -> str:
    """STRING_LITERAL2; control characters are written as escapes, although they are allowed."""
    return _CONTROL.sub(_code_point, quote(text))


def _code_point(matched: re.Match[str]) -> str:
    return f"\\u{ord(matched[0]):04X}"


def _longest_first(prologue: ast.Prologue) -> tuple[tuple[str, str], ...]:
    """(namespace, prefix) pairs; the last declaration of a prefix counts."""
    in_force = {declaration.prefix: declaration.iri for declaration in prologue.prefixes}
    pairs = [(namespace, prefix) for prefix, namespace in in_force.items()]
    return tuple(sorted(pairs, key=lambda pair: len(pair[0]), reverse=True))
