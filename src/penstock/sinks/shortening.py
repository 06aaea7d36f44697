"""Terms as a person writes them: IRIs by the query's prefixes, numbers without their datatypes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyoxigraph import Literal, NamedNode, Triple

from penstock.rdf.elements import Node
from penstock.rdf.terms import quote
from penstock.rdf.vocabulary import XSD, XSD_STRING

_LOCAL_NAME = re.compile(r"(?:[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?)?")
_WITHOUT_QUOTES = {
    XSD + "integer": re.compile(r"[+-]?[0-9]+"),
    XSD + "decimal": re.compile(r"[+-]?[0-9]*\.[0-9]+"),
    XSD + "double": re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE][+-]?[0-9]+"),
    XSD + "boolean": re.compile(r"true|false"),
}
"""What Turtle writes without quotes and datatype."""


class Shortening:
    """Terms in Turtle, where these prefixes are declared; of several that fit, the longest namespace counts."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        self._prefixes = sorted(prefixes.items(), key=lambda item: -len(item[1]))

    def term(self, term: Node | Triple) -> str:
        if isinstance(term, NamedNode):
            return self.iri(term.value)
        if not isinstance(term, Literal) or term.language is not None or term.datatype.value == XSD_STRING:
            return str(term)
        if is_without_quotes(term):
            return term.value
        return f"{quote(term.value)}^^{self.iri(term.datatype.value)}"

    def iri(self, iri: str) -> str:
        for prefix, namespace in self._prefixes:
            if iri.startswith(namespace) and _LOCAL_NAME.fullmatch(iri, len(namespace)):
                return f"{prefix}:{iri[len(namespace) :]}"
        return f"<{iri}>"


def is_without_quotes(literal: Literal) -> bool:
    pattern = _WITHOUT_QUOTES.get(literal.datatype.value)
    return pattern is not None and pattern.fullmatch(literal.value) is not None
