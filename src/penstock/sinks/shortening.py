"""Terms as a person writes them: IRIs by the query's prefixes, numbers without their datatypes."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc
from pyoxigraph import Literal

from penstock.rdf.term_columns import SHORT_ESCAPES, TEXT, Terms, escaped, joined, n_triples
from penstock.rdf.vocabulary import XSD

_LOCAL_NAME = r"(?:[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?)?"
_WITHOUT_QUOTES = {
    XSD + "integer": r"[+-]?[0-9]+",
    XSD + "decimal": r"[+-]?[0-9]*\.[0-9]+",
    XSD + "double": r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE][+-]?[0-9]+",
    XSD + "boolean": r"true|false",
}
"""What Turtle writes without quotes and datatype."""

_SHORT_ESCAPED = r'["\\\n\r\t\x08\x0c]'


class Shortening:
    """Terms in Turtle, where these prefixes are declared; of several that fit, the longest namespace counts."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        self._prefixes = sorted(prefixes.items(), key=lambda item: -len(item[1]))
        self._known: dict[str, str] = {}

    def turtle(self, terms: Terms) -> pa.Array:
        """A format of columns of terms."""
        if terms.tag == "I":
            return self.iris(terms.lexical)
        datatype = terms.datatype
        if datatype is None:
            return n_triples(terms)
        shortened = self.iri(datatype) if isinstance(datatype, str) else self.iris(datatype)
        quoted = joined('"', escaped(terms.lexical, SHORT_ESCAPES, _SHORT_ESCAPED), '"^^', shortened)
        pattern = _WITHOUT_QUOTES.get(datatype) if isinstance(datatype, str) else None
        if pattern is None:
            return quoted
        return pc.if_else(pc.match_substring_regex(terms.lexical, f"^(?:{pattern})$"), terms.lexical, quoted)

    def iris(self, iris: pa.Array) -> pa.Array:
        """IRIs of a column."""
        found = joined("<", iris, ">")
        for prefix, namespace in reversed(self._prefixes):
            fits = pc.match_substring_regex(iris, f"^{re.escape(namespace)}{_LOCAL_NAME}$")
            if fits.true_count:
                found = pc.if_else(fits, joined(f"{prefix}:", pc.utf8_slice_codeunits(iris, len(namespace))), found)
        return found

    def iri(self, iri: str) -> str:
        if iri not in self._known:
            (self._known[iri],) = self.iris(pa.array([iri], TEXT)).to_pylist()
        return self._known[iri]


def is_without_quotes(literal: Literal) -> bool:
    pattern = _WITHOUT_QUOTES.get(literal.datatype.value)
    return pattern is not None and re.fullmatch(pattern, literal.value) is not None
