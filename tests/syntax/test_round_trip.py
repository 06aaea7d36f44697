"""Two laws about trees, for queries that people wrote and for made-up ones.

Parsing what is printed gives the same tree again; and what is translated to another dialect means the same there, and
again when it comes back.
"""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from tests.corpora import citybench, csrbench, papers, w3c
from tests.corpora.samples import Sample, all_of, each
from tests.syntax.strategies import expressions, paths, queries

from penstock.syntax import ast, parse
from penstock.syntax.ast.traversal import walk
from penstock.syntax.errors import TranslationError
from penstock.syntax.printer import to_text
from penstock.syntax.translation import normal_form, translate

DIALECTS: tuple[ast.DialectName, ...] = get_args(ast.DialectName)
SAMPLES = all_of(papers.listings, citybench.queries, csrbench.queries, w3c.positive)

_each_dialect = pytest.mark.parametrize("dialect", DIALECTS)


def assert_same_after_printing(query: ast.Query) -> None:
    printed = to_text(query)
    again = parse(printed, query.dialect)
    assert again == query, printed
    assert to_text(again) == printed


def assert_same_after_translating(query: ast.Query, target: ast.DialectName) -> None:
    """To RSP-QL every query can be translated; elsewhere it may be refused, but never changed."""
    try:
        there = translate(query, target).query
    except TranslationError as error:
        if target == "rspql" or not error.reasons:
            raise
        return
    assert there.dialect == target
    assert_same_after_printing(there)
    assert normal_form(there) == normal_form(query), to_text(there)
    back = translate(there, query.dialect).query
    assert back.dialect == query.dialect
    assert normal_form(back) == normal_form(query), to_text(there)


@each(SAMPLES)
def test_printing_what_someone_wrote(sample: Sample) -> None:
    assert_same_after_printing(parse(sample.text, sample.dialect, prefixes=sample.prefixes))


@_each_dialect
def test_printing_made_up_queries(dialect: ast.DialectName) -> None:
    @given(queries(dialect))
    def law(query: ast.Query) -> None:
        assert_same_after_printing(query)

    law()


@pytest.mark.parametrize("name", ["q", "my-query", "<http://e/q>", "größe"])
def test_printing_the_name_of_a_query(name: str) -> None:
    assert_same_after_printing(parse(f"REGISTER QUERY {name} AS SELECT * {{ ?s ?p ?o }}", "csparql"))


@given(expressions())
def test_printing_expressions(expression: ast.Expression) -> None:
    """Deeper than whole queries have them, for the sake of precedence."""
    assert_same_after_printing(ast.Query("sparql", ast.Ask(), ast.Group((ast.Filter(expression),))))


@given(paths())
def test_printing_paths(path: ast.Path) -> None:
    x = ast.Variable("x")
    triples = ast.Triples(x, (ast.Property(path, (x,)),))
    assert_same_after_printing(ast.Query("sparql", ast.Ask(), ast.Group((triples,))))


@pytest.mark.parametrize("target", DIALECTS)
@each(SAMPLES)
def test_translating_what_someone_wrote(sample: Sample, target: ast.DialectName) -> None:
    assert_same_after_translating(parse(sample.text, sample.dialect, prefixes=sample.prefixes), target)


TURNING_POINTS: list[tuple[ast.DialectName, str]] = [
    # Streams read in an expression, outside WHERE.
    ("sparqlstream", "SELECT ?s { ?s ?p ?o } ORDER BY EXISTS { STREAM <s> { } }"),
    ("sparqlstream", "SELECT (EXISTS { STREAM <s> [NOW - 5 S] { } } AS ?e) { ?s ?p ?o }"),
    ("cqels", "SELECT ?s { ?s ?p ?o } GROUP BY ?s HAVING (EXISTS { STREAM <s> [NOW] { ?s ?p ?o } })"),
    # Streams and windows that a variable ranges over.
    ("sparqlstream", "DESCRIBE * { STREAM ?s { } }"),
    ("sparqlstream", "SELECT * FROM NAMED STREAM <s> FROM NAMED STREAM <t> [NOW - 5 S] { STREAM ?s { ?x ?p ?o } }"),
    ("cqels", "SELECT * { STREAM ?s [NOW] { ?x ?p ?o } STREAM ?s [ALL] { ?x ?q ?r } }"),
    ("rspql", "DESCRIBE ?s FROM NAMED WINDOW <w> ON STREAM ?s [ALL] { WINDOW <w> { } }"),
    ("csparql", "SELECT * FROM STREAM <s> [RANGE TRIPLES 1] { ?s ?p ?o GRAPH ?g { ?s ?p ?o } }"),
    # GRAPH inside of a window, which reads its elements, and inside of GRAPH, which does not.
    ("rspql", "SELECT * FROM NAMED WINDOW <w> ON STREAM <s> [RANGE PT5S] { WINDOW <w> { GRAPH ?g { ?s ?p ?o } } }"),
    ("rspql", "SELECT * FROM NAMED WINDOW <w> ON STREAM <s> [NOW] { WINDOW <w> { GRAPH <w> { ?s ?p ?o } } }"),
    ("cqels", "SELECT * { STREAM <s> [NOW] { GRAPH ?g { ?x ?p ?o } } GRAPH ?h { ?x ?p ?o } }"),
    ("sparqlstream", "SELECT * FROM NAMED STREAM <s> [NOW - 5 S] { STREAM <s> { GRAPH <s> { ?x ?p ?o } } }"),
    ("csparql", "SELECT * FROM NAMED STREAM <s> [RANGE 5s TUMBLING] { GRAPH <s> { ?x ?p ?o GRAPH ?g { ?x ?p ?o } } }"),
    # Streams without a FROM clause, and without a window.
    ("sparqlstream", "ASK { { STREAM <s> { ?x ?p ?o } } }"),
    ("sparqlstream", "ASK { STREAM <s> { ?x ?p ?o } STREAM <s> [NOW - 5 S] { ?x ?q ?r } }"),
    # Windows of groups.
    ("streaming-sparql", "SELECT * FROM STREAM <s> WINDOW RANGE 5 S FIXED { WINDOW RANGE 1 S FIXED }"),
    ("streaming-sparql", "SELECT * FROM STREAM <s> WINDOW RANGE 5 S FIXED { ?s ?p ?o { ?o ?q ?r WINDOW ELEMS 5 } }"),
    ("streaming-sparql", "SELECT * FROM NAMED STREAM <s> WINDOW ELEMS 1 { GRAPH <s> { ?x ?p ?o } }"),
    # Names that nothing reads.
    ("rspql", "SELECT * FROM WINDOW <w> ON STREAM <s> [RANGE PT1S] { ?s ?p ?o }"),
    # What is said though it goes without saying; and an order that means nothing.
    ("rspql", "SELECT * FROM WINDOW ON STREAM <s> [RANGE PT1S ORIGIN 0] { ?s ?p ?o }"),
    ("rspql", "SELECT ?x FROM NAMED WINDOW <w> ON STREAM ?s [ALL] FROM <g> { ?x ?p ?o WINDOW <w> { ?x ?q ?r } }"),
    # AGGREGATE.
    ("csparql", "SELECT ?s { ?s ?p ?o } AGGREGATE { (?n, COUNT, {?s, ?s}) }"),
    ("csparql", "SELECT ?s { ?s ?p ?o } AGGREGATE { (?n, COUNT, {}) (?m, SUM(?o), {?s}) FILTER(?m > 1) }"),
    ("csparql", "DESCRIBE <x> AGGREGATE { (?n, COUNT, {}) }"),
    ("csparql", "SELECT ?total-n { ?s ?p ?o } AGGREGATE { (?total-n, COUNT, {?s}) }"),
]
"""Queries that are easily translated wrong."""


@pytest.mark.parametrize("target", DIALECTS)
@pytest.mark.parametrize(("dialect", "text"), TURNING_POINTS)
def test_translating_what_is_easily_translated_wrong(
    dialect: ast.DialectName, text: str, target: ast.DialectName
) -> None:
    query = parse(text, dialect)
    assert_same_after_printing(query)
    assert_same_after_translating(query, target)


@_each_dialect
def test_translating_made_up_queries(dialect: ast.DialectName) -> None:
    @given(queries(dialect))
    def law(query: ast.Query) -> None:
        for target in DIALECTS:
            assert_same_after_translating(query, target)

    law()


def test_made_up_queries_have_nodes_of_every_kind() -> None:
    kinds: set[type[ast.Node]] = set()
    for dialect in DIALECTS:

        @settings(max_examples=200)
        @given(queries(dialect))
        def note(query: ast.Query) -> None:
            kinds.update(type(node) for node in walk(query))

        note()
    concrete = {kind for name in ast.__all__ if isinstance(kind := getattr(ast, name), type)} - {ast.Node}
    assert kinds <= concrete
    for kind in concrete - kinds:  # one that is rare: it has to be found when it is looked for
        find(
            st.one_of(*map(queries, DIALECTS)),
            lambda query, kind=kind: any(isinstance(node, kind) for node in walk(query)),
            settings=settings(max_examples=10_000, phases=[Phase.generate]),
        )
