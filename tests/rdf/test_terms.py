"""Terms are what they are made of, and are shown as N-Triples shows them."""

from __future__ import annotations

import pyoxigraph
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.rdf import IRI, BlankNode, Literal, vocabulary
from penstock.rdf.terms import quote


@pytest.mark.parametrize(
    ("term", "shown"),
    [
        (IRI("http://a/b"), "<http://a/b>"),
        (BlankNode("b"), "_:b"),
        (Literal("a"), '"a"'),
        (Literal("a", vocabulary.RDF_LANG_STRING, "en"), '"a"@en'),
        (Literal("01", vocabulary.XSD_INTEGER), '"01"^^<http://www.w3.org/2001/XMLSchema#integer>'),
        (Literal('"\\\n\r\t\b\f'), r'"\"\\\n\r\t\b\f"'),
        (Literal("é🜁"), '"é🜁"'),
    ],
)
def test_how_a_term_is_shown(term: IRI | BlankNode | Literal, shown: str) -> None:
    assert str(term) == shown


def test_a_literal_is_its_lexical_form() -> None:
    assert Literal("01", vocabulary.XSD_INTEGER) != Literal("1", vocabulary.XSD_INTEGER)
    assert Literal("a") == Literal("a", vocabulary.XSD_STRING)
    assert Literal("a", vocabulary.RDF_LANG_STRING, "en") != Literal("a", vocabulary.RDF_LANG_STRING, "de")


@given(st.text())
def test_others_read_what_is_quoted(text: str) -> None:
    """An independent N-Triples parser gives the text back."""
    line = f"<urn:s> <urn:p> {quote(text)} ."
    (triple,) = pyoxigraph.parse(line, format=pyoxigraph.RdfFormat.N_TRIPLES)
    assert triple.object.value == text
