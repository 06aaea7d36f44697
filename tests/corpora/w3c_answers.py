"""The answers that come with the W3C tests: SPARQL results in XML, JSON, TSV, CSV and Turtle, and graphs."""

from __future__ import annotations

import csv
import re
from decimal import Decimal
from pathlib import Path

import pyoxigraph as ox

from penstock.rdf.elements import Node, Row
from penstock.rdf.results import Evaluation
from penstock.rdf.vocabulary import XSD

_DECIMAL, _FLOAT = ox.NamedNode(XSD + "decimal"), ox.NamedNode(XSD + "float")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_RESULT_SET = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#"
_SOLUTIONS = f"""
PREFIX rs: <{_RESULT_SET}>
SELECT ?solution ?variable ?value {{ ?solution rs:binding [ rs:variable ?variable ; rs:value ?value ] }}
"""


def read_answer(path: Path) -> Evaluation:
    """The answer in a file, as the one evaluation of a query."""
    if path.suffix == ".ttl":
        return _of_turtle(path)
    if path.suffix == ".csv":
        return _of_csv(path)
    results = ox.parse_query_results(path=str(path))
    if isinstance(results, ox.QueryBoolean):
        return Evaluation("query", 0, boolean=bool(results))
    variables = tuple(variable.value for variable in results.variables)
    return Evaluation("query", 0, variables, tuple(_row(solution, variables) for solution in results))


def _row(solution: ox.QuerySolution, variables: tuple[str, ...]) -> Row:
    return tuple(solution[name] for name in variables)  # type: ignore[misc]


def _of_turtle(path: Path) -> Evaluation:
    """A graph, or rows in the vocabulary for result sets."""
    triples = [quad.triple for quad in ox.parse(path=str(path), base_iri=path.as_uri())]
    if not any(triple.object == ox.NamedNode(_RESULT_SET + "ResultSet") for triple in triples):
        return Evaluation("query", 0, triples=tuple(triples))
    variables = tuple(t.object.value for t in triples if t.predicate.value == _RESULT_SET + "resultVariable")
    store = ox.Store()
    store.extend(ox.Quad(*triple) for triple in triples)
    found: dict[Node, dict[str, Node]] = {}
    for row in store.query(_SOLUTIONS):
        found.setdefault(row["solution"], {})[row["variable"].value] = row["value"]
    return Evaluation("query", 0, variables, tuple(tuple(map(row.get, variables)) for row in found.values()))


def _of_csv(path: Path) -> Evaluation:
    """CSV says neither what is an IRI nor what datatype a literal has: all are strings, but for blank nodes."""
    with path.open(newline="", encoding="utf-8") as file:
        variables, *rows = csv.reader(file)
    return Evaluation("query", 0, tuple(variables), tuple(tuple(map(_csv_term, row)) for row in rows))


def _csv_term(text: str) -> Node:
    return ox.BlankNode(text[2:]) if text.startswith("_:") else ox.Literal(text)


def in_csv(evaluation: Evaluation) -> Evaluation:
    """The evaluation with what CSV leaves of its terms; unbound is the empty string."""
    rows = [tuple(_without_type(term) for term in row) for row in evaluation.rows or ()]
    return Evaluation(evaluation.query, evaluation.time, evaluation.variables, tuple(rows))


def _without_type(term: Node | None) -> Node:
    return term if isinstance(term, ox.BlankNode) else ox.Literal("" if term is None else term.value)


def by_value(row: Row) -> Row:
    """The row with its decimals and floats in one form: the answers have 2.0, 0.0 and 1.5E0 for 2, 0E1 and 1.5."""
    return tuple(_by_value(term) for term in row)


def _by_value(term: Node | None) -> Node | None:
    if isinstance(term, ox.Literal) and term.datatype in (_DECIMAL, _FLOAT) and _NUMBER.fullmatch(term.value):
        value = float(term.value) if term.datatype == _FLOAT else Decimal(term.value).normalize() + 0
        return ox.Literal(str(value), datatype=term.datatype)
    return term
