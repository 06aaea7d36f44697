"""`auto` tells the dialects apart by what occurs in the text (dialects.md, "Telling them apart")."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from tests.syntax.strategies import queries

from penstock.syntax import ast, parse
from penstock.syntax.errors import QuerySyntaxError
from penstock.syntax.printer import to_text
from penstock.syntax.recognition import recognise
from penstock.syntax.tokens import tokenize

CLUES = {
    "SELECT * FROM NAMED WINDOW <w> ON STREAM <s> [RANGE 5s] { WINDOW <w> { ?s ?p ?o } }": "rspql",
    "SELECT * FROM NAMED WINDOW ON STREAM <s> [RANGE 5s SLIDE 1s] AS <w> { WINDOW <w> { ?s ?p ?o } }": "rspql",
    "SELECT * FROM WINDOW ON STREAM <s> [RANGE 5s] { ?s ?p ?o }": "rspql",
    "REGISTER ISTREAM <x> AS SELECT * { ?s ?p ?o }": "rspql",
    "PREFIX : <http://e/> REGISTER STREAM :x AS CONSTRUCT ISTREAM { ?s ?p ?o } FROM NAMED WINDOW :w ON :s [RANGE 5s] "
    "{ WINDOW :w { ?s ?p ?o } }": "rspql",
    "REGISTER STREAM <x> AS SELECT ISTREAM * { ?s ?p ?o }": "rspql",
    "REGISTER RSTREAM <x> AS SELECT * FROM STREAM <s> [RANGE 5s STEP 1s] { ?s ?p ?o }": "rspql",
    "SELECT ISTREAM * FROM STREAM <s> [RANGE 5s STEP 1s] { ?s ?p ?o }": "rspql",
    "REGISTER QUERY q COMPUTED EVERY 5s AS CONSTRUCT ISTREAM { ?s ?p ?o } { ?s ?p ?o }": "rspql",
    "SELECT * FROM STREAM <s> [RANGE 5s STEP 1s] { ?s ?p ?o }": "csparql",
    "select * from named stream <s> [range triples 5] { graph <s> { ?s ?p ?o } }": "csparql",
    "SELECT * { ?s ?p ?o } AGGREGATE { (?n, COUNT, {?s}) }": "csparql",
    "REGISTER QUERY q COMPUTED EVERY 5s AS SELECT * { ?s ?p ?o }": "csparql",
    "REGISTER QUERY q AS SELECT * { ?s ?p ?o }": "csparql",
    "SELECT * { ?s ?p ?o FILTER(timestamp(?o) > 1) }": "csparql",
    "SELECT * { STREAM <s> [NOW] { ?s ?p ?o } }": "cqels",
    "SELECT * { STREAM <s> [ALL] { ?s ?p ?o } }": "cqels",
    "SELECT * { STREAM <s> [RANGE 5s] { ?s ?p ?o } }": "cqels",
    "SELECT * { STREAM ?x [TRIPLES 5] { ?s ?p ?o } }": "cqels",
    "SELECT * { STREAM [NOW] <s> { ?s ?p ?o } }": "cqels",
    "REGISTER QUERY q AS SELECT * { STREAM <s> [NOW] { ?s ?p ?o } }": "cqels",
    "SELECT * FROM STREAM <s> [NOW - 5 S] { ?s ?p ?o }": "sparqlstream",
    "SELECT * FROM STREAM <s> [FROM NOW - 5 S TO NOW] { ?s ?p ?o }": "sparqlstream",
    "SELECT * FROM NAMED STREAM <s> [NOW - 5 S TO NOW SLIDE 1 S] { STREAM <s> { ?s ?p ?o } }": "sparqlstream",
    "SELECT * { STREAM <s> [NOW - 5 S] { ?s ?p ?o } }": "sparqlstream",
    "SELECT * { STREAM <s> { ?s ?p ?o } }": "sparqlstream",
    "SELECT * FROM STREAM <s> { ?s ?p ?o }": "sparqlstream",
    "SELECT ISTREAM * { ?s ?p ?o }": "sparqlstream",
    "SELECT * FROM STREAM <s> WINDOW RANGE 5 S FIXED { ?s ?p ?o }": "streaming-sparql",
    "SELECT * FROM STREAM <s> WINDOW ELEMS 5 { ?s ?p ?o }": "streaming-sparql",
    "SELECT * { ?s ?p ?o { ?o ?q ?r WINDOW ELEMS 5 } }": "streaming-sparql",
    "SELECT * { ?s ?p ?o }": "sparql",
    "ASK { ?stream <window> 'FROM STREAM <s> [RANGE 5s]' } # AGGREGATE { }": "sparql",
    "PREFIX stream: <http://e/> PREFIX window: <http://w/> ASK { stream:range window:aggregate ?register }": "sparql",
}

MIXTURES = {
    "SELECT * FROM STREAM <s> [RANGE 5s STEP 1s] FROM STREAM <t> [NOW - 5 S] { ?s ?p ?o }": (
        "C-SPARQL",
        "SPARQLstream",
    ),
    "SELECT * FROM STREAM <s> [RANGE 5s STEP 1s] { STREAM <t> [NOW] { ?s ?p ?o } }": ("C-SPARQL", "CQELS-QL"),
    "SELECT * FROM STREAM <s> WINDOW ELEMS 5 FROM STREAM <t> [RANGE 5s STEP 1s] { ?s ?p ?o }": (
        "Streaming SPARQL",
        "C-SPARQL",
    ),
    "SELECT * FROM NAMED WINDOW <w> ON <s> [RANGE 5s] { WINDOW <w> { STREAM <t> [NOW] { ?s ?p ?o } } }": (
        "RSP-QL",
        "CQELS-QL",
    ),
    "SELECT * { STREAM <t> [NOW] { ?s ?p ?o } } AGGREGATE { (?n, COUNT, {}) }": ("CQELS-QL", "C-SPARQL"),
}


@pytest.mark.parametrize("text", CLUES)
def test_a_query_is_recognised(text: str) -> None:
    assert parse(text).dialect == CLUES[text]


@pytest.mark.parametrize("text", CLUES)
def test_case_does_not_matter(text: str) -> None:
    assert recognise(tokenize(text.swapcase())) == CLUES[text]


@pytest.mark.parametrize("text", CLUES)
def test_it_is_read_as_if_the_dialect_had_been_given(text: str) -> None:
    assert parse(text) == parse(text, CLUES[text])


@pytest.mark.parametrize("text", MIXTURES)
def test_a_mixture_is_an_error_that_names_both_pieces(text: str) -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        parse(text)
    (problem,) = caught.value.problems
    first, second = MIXTURES[text]
    assert f"is {second}, but" in problem.message
    assert problem.message.endswith(f"before it is {first}")
    assert problem.span.start > 0


def _has_clue(query: ast.Query) -> bool:
    """Whether what is printed shows a window that only this dialect writes like that."""
    if query.dialect in ("rspql", "csparql", "streaming-sparql"):
        return any(isinstance(clause, ast.WindowClause) for clause in query.dataset)
    return query.dialect == "sparql"


@pytest.mark.parametrize("dialect", ["rspql", "csparql", "streaming-sparql", "sparql"])
def test_what_is_printed_is_recognised(dialect: ast.DialectName) -> None:
    @given(queries(dialect))
    def law(query: ast.Query) -> None:
        assume(_has_clue(query))
        assert parse(to_text(query)) == query

    law()
