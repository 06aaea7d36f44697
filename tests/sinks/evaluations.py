"""Evaluations of every form, and the forms of the queries that they answer."""

from __future__ import annotations

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from penstock.algebra.expressions import Constant, Variable
from penstock.algebra.model import AskForm, ConstructForm, DescribeForm, QueryForm, SelectForm
from penstock.algebra.operators import TriplePattern
from penstock.rdf.results import Evaluation
from penstock.rdf.terms import IRI
from penstock.rdf.vocabulary import XSD

DATE = 1_714_564_800_000
PREFIXES = {"ex": "http://ex.org/", "t": "http://linkedurbandata.org/traffic#", "xsd": XSD}

SELECT: QueryForm = SelectForm((Variable("gate"), Variable("cars")))
ASK: QueryForm = AskForm()
CONSTRUCT: QueryForm = ConstructForm(())
DESCRIBE: QueryForm = DescribeForm(())
PATTERN = TriplePattern(Variable("s"), Variable("p"), Variable("o"))
CONSTRUCT_GRAPHS: QueryForm = ConstructForm(((PATTERN, None), (PATTERN, Constant(IRI("http://ex.org/g")))))


def ex(name: str) -> NamedNode:
    return NamedNode(f"http://ex.org/{name}")


def typed(lexical: str, datatype: str) -> Literal:
    return Literal(lexical, datatype=NamedNode(XSD + datatype))


TERMS = (
    ex("gate1"),
    NamedNode("http://other.org/a,b"),
    BlankNode("s1.0.b"),
    Literal("plain"),
    Literal('a "quoted", long\nand\ttabbed word'),
    Literal("chat", language="fr"),
    typed("7", "integer"),
    typed("007", "integer"),
    typed("x", "integer"),
    typed("1.50", "decimal"),
    typed("1e3", "double"),
    typed("true", "boolean"),
    typed("2024-05-01", "date"),
    typed('P1"D', "duration"),
)

SELECTED = Evaluation("q", 8000, ("gate", "cars"), ((ex("gate1"), typed("3", "integer")), (None, Literal("a,b"))))
NOTHING = Evaluation("q", 9000, ("gate", "cars"), ())
ASKED = Evaluation("q", 8000, boolean=True)


def constructed(time: int, *objects: NamedNode | BlankNode | Literal) -> Evaluation:
    predicate = NamedNode("http://linkedurbandata.org/traffic#saw")
    return Evaluation("a query", time, triples=tuple(Triple(ex("gate1"), predicate, each) for each in objects))
