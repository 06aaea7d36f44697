"""RDF 1.1 terms: IRIs, blank nodes and literals, compared by identity of their parts (RDF Concepts §3)."""

from __future__ import annotations

from typing import NamedTuple

from penstock.rdf import vocabulary


class IRI(NamedTuple):
    value: str

    def __str__(self) -> str:
        return f"<{self.value}>"


class BlankNode(NamedTuple):
    label: str

    def __str__(self) -> str:
        return f"_:{self.label}"


class Literal(NamedTuple):
    """A literal keeps its lexical form as written: `01` and `1` are two terms with one value."""

    lexical: str
    datatype: str = vocabulary.XSD_STRING
    language: str | None = None

    def __str__(self) -> str:
        quoted = quote(self.lexical)
        if self.language is not None:
            return f"{quoted}@{self.language}"
        if self.datatype == vocabulary.XSD_STRING:
            return quoted
        return f"{quoted}^^<{self.datatype}>"


Term = IRI | BlankNode | Literal

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
_ESCAPE_TABLE = str.maketrans(_ESCAPES)


def quote(text: str) -> str:
    """`text` in double quotes, escaped for N-Triples, Turtle and SPARQL."""
    return f'"{text.translate(_ESCAPE_TABLE)}"'
