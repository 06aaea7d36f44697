"""The checks after parsing. In a query, ⟦…⟧ marks what a problem must point at."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from penstock.rdf.terms import IRI
from penstock.syntax import ast, parse, read
from penstock.syntax.checks import certainly_bound, check, in_scope
from penstock.syntax.errors import Problem, QuerySyntaxError
from penstock.syntax.spans import Span

PREFIX = "PREFIX : <http://example.org/> "
MARKED = re.compile("⟦(.*?)⟧", re.DOTALL)


def problems_of(text: str, dialect: str) -> tuple[Problem, ...]:
    try:
        return read(text, dialect).warnings
    except QuerySyntaxError as error:
        return error.problems


def assert_problem(marked: str, severity: str, message: str, hint: str, dialect: str = "sparql") -> None:
    """Every marked piece has the problem, and nothing else has one."""
    text = PREFIX + MARKED.sub(r"\1", marked)
    expected = [(severity, piece, True, True) for piece in MARKED.findall(marked)]
    found = [
        (problem.severity, text[slice(*problem.span)], message in problem.message, hint in (problem.hint or ""))
        for problem in problems_of(text, dialect)
    ]
    assert found == expected, "\n".join(problem.render(text) for problem in problems_of(text, dialect))
    places = [match.start() - 2 * number for number, match in enumerate(MARKED.finditer(marked))]
    assert [problem.span.start - len(PREFIX) for problem in problems_of(text, dialect)] == places


def assert_error(marked: str, message: str, hint: str = "", dialect: str = "sparql") -> None:
    assert_problem(marked, "error", message, hint, dialect)


def assert_warning(marked: str, message: str, hint: str = "", dialect: str = "sparql") -> None:
    assert_problem(marked, "warning", message, hint, dialect)


def assert_fine(text: str, dialect: str = "sparql") -> None:
    found = problems_of(PREFIX + text, dialect)
    assert not found, "\n".join(problem.render(PREFIX + text) for problem in found)


GROUPED = "neither grouped nor aggregated"


@pytest.mark.parametrize(
    ("query", "message", "hint"),
    [
        ("SELECT ⟦?o⟧ { ?s ?p ?o } GROUP BY ?s", GROUPED, "GROUP BY ?s ?o, or aggregate it, as in SAMPLE(?o)"),
        ("SELECT ⟦?p⟧ (COUNT(?o) AS ?n) { ?s ?p ?o }", GROUPED, "GROUP BY ?p,"),
        ("SELECT ⟦?p⟧ { ?s ?p ?o } HAVING (COUNT(*) > 1)", GROUPED, "GROUP BY ?p,"),
        ("SELECT ⟦?p⟧ { ?s ?p ?o } ORDER BY COUNT(?o)", GROUPED, "GROUP BY ?p,"),
        ("SELECT (⟦?o⟧ + 1 AS ?n) (COUNT(?o) AS ?m) { ?s ?p ?o }", GROUPED, "SAMPLE(?o)"),
        ("SELECT (COUNT(?s) + ⟦?o⟧ AS ?n) { ?s ?p ?o } GROUP BY ?p", GROUPED, "GROUP BY ?p ?o,"),
        ("SELECT (⟦?a⟧ + ⟦?b⟧ AS ?c) { ?s :a ?a ; :b ?b } GROUP BY (?a + ?b)", GROUPED, "GROUP BY (… AS ?key)"),
        ("SELECT ?s { ?s ?p ?o } GROUP BY ?s HAVING (⟦?o⟧ > 1)", GROUPED, "SAMPLE(?o)"),
        ("SELECT ?s { ?s ?p ?o } GROUP BY ?s ORDER BY ⟦?o⟧", GROUPED, "SAMPLE(?o)"),
        ("SELECT ⟦?nmae⟧ (COUNT(*) AS ?n) { ?s :name ?name } GROUP BY ?name", GROUPED, "did you mean ?name?"),
        ("SELECT * { { SELECT ⟦?o⟧ { ?s ?p ?o } GROUP BY ?s } }", GROUPED, "GROUP BY ?s ?o"),
        ("SELECT ?s { ?s ?p ?o FILTER EXISTS { SELECT ⟦?x⟧ { ?x ?y ?z } GROUP BY ?y } }", GROUPED, "GROUP BY ?y ?x"),
        ("SELECT (⟦?n⟧ * 2 AS ?m) (COUNT(*) AS ?n) { ?s ?p ?o }", "before it is", "move (… AS ?n) to the front"),
        ("⟦SELECT *⟧ { ?s ?p ?o } GROUP BY ?s", "SELECT * cannot be used", "list what to project"),
    ],
)  # fmt: skip
def test_a_group_has_only_its_keys(query: str, message: str, hint: str) -> None:
    assert_error(query, message, hint)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT ?s (COUNT(*) AS ?n) (?n * 2 AS ?m) { ?s ?p ?o } GROUP BY ?s ORDER BY ?m ?s",
        "SELECT ?k (MAX(?o) AS ?m) { ?s ?p ?o } GROUP BY (STR(?s) AS ?k) HAVING (?k > 'a' && MIN(?o) > 1)",
        "SELECT (COUNT(?s) + COUNT(?o) AS ?n) { ?s ?p ?o }",
        "SELECT ?s { ?s ?p ?o } GROUP BY ?s ORDER BY DESC(COUNT(?o))",
        "SELECT ?s { ?s ?p ?o } GROUP BY ?s HAVING (NOT EXISTS { ?s :q ?x })",
        "SELECT ?s ?n { { SELECT ?s (COUNT(?o) AS ?n) { ?s ?p ?o } GROUP BY ?s } } ORDER BY ?n",
        "CONSTRUCT { ?s :p ?n } { { SELECT ?s (COUNT(?o) AS ?n) { ?s ?p ?o } GROUP BY ?s } }",
    ],
)
def test_grouping_that_is_fine(query: str) -> None:
    assert_fine(query)


@pytest.mark.parametrize(
    ("query", "place", "hint"),
    [
        ("SELECT * { ?s ?p ?o FILTER (⟦COUNT(?o)⟧ > 1) }", "FILTER", "HAVING"),
        ("SELECT * { ?s ?p ?o BIND (1 + ⟦SUM(?o)⟧ AS ?n) }", "BIND", "SELECT (SUM(…) AS ?x)"),
        ("SELECT (1 AS ?one) { ?s ?p ?o } GROUP BY (⟦MAX(?o)⟧ AS ?n)", "GROUP BY", "sub-select"),
        ("SELECT (SUM(1 + ⟦COUNT(?o)⟧) AS ?n) { ?s ?p ?o }", "SUM", "COUNT in a sub-select"),
        ("SELECT * { ?s ?p ?o FILTER EXISTS { ?s :q ?x FILTER (⟦AVG(?x)⟧ > 1) } }", "FILTER", "HAVING"),
    ],
)
def test_an_aggregate_needs_a_group(query: str, place: str, hint: str) -> None:
    assert_error(query, f"cannot stand in {place}", hint)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT (1 AS ⟦?s⟧) { ?s ?p ?o }", "already in scope"),
        ("SELECT (1 AS ⟦?x⟧) { SELECT (2 AS ?x) {} }", "already in scope"),
        ("SELECT (1 AS ⟦?x⟧) { } VALUES ?x { 1 }", "already in scope"),
        ("SELECT (1 AS ⟦?x⟧) { OPTIONAL { ?s ?p ?x } }", "already in scope"),
        ("SELECT (1 AS ⟦?g⟧) { GRAPH ?g { ?s ?p ?o } }", "already in scope"),
        ("SELECT (COUNT(*) AS ⟦?k⟧) { ?s ?p ?o } GROUP BY (STR(?s) AS ?k)", "already in scope"),
        ("SELECT (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY (STR(?o) AS ⟦?s⟧)", "already in scope"),
        ("SELECT (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY (STR(?o) AS ?x) (STR(?s) AS ⟦?x⟧)", "twice"),
        ("SELECT (1 AS ?x) (2 AS ⟦?x⟧) {}", "twice"),
        ("SELECT ?x (1 AS ⟦?x⟧) {}", "twice"),
        ("SELECT ?x (COUNT(*) AS ⟦?x⟧) {}", "twice"),
        ("SELECT (1 AS ?x) ⟦?x⟧ {}", "twice"),
        ("SELECT * { { SELECT (1 AS ?x) (2 AS ⟦?x⟧) {} } }", "twice"),
    ],
)
def test_a_projection_assigns_a_new_variable(query: str, message: str) -> None:
    assert_error(query, message, "another name")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT (1 AS ?x) { { SELECT ?s { ?s ?p ?x } } }",
        "SELECT (1 AS ?x) { ?s ?p ?o MINUS { ?s :p ?x } }",
        "SELECT (1 AS ?x) { ?s ?p ?o FILTER NOT EXISTS { ?s :p ?x } }",
        "SELECT (1 AS ?x) (?x + 1 AS ?y) {}",
        "SELECT ?s ?s { ?s ?p ?o }",
    ],
)
def test_projections_that_are_fine(query: str) -> None:
    assert_fine(query)


def test_a_projection_expression_sees_only_those_before_it() -> None:
    assert_warning("SELECT (⟦?x⟧ + 1 AS ?y) (1 AS ?x) {}", "used before it is assigned", "move (… AS ?x)")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * { :s :p ?o ; :q ?x . BIND (1 + ?o AS ⟦?x⟧) }",
        "SELECT * { { :s :p ?x } BIND (1 AS ⟦?x⟧) }",
        "SELECT * { { { :s :p ?x } UNION { :s :p ?y } } BIND (1 AS ⟦?x⟧) }",
        "SELECT * { OPTIONAL { :s :p ?x } FILTER (?x > 1) BIND (1 AS ⟦?x⟧) }",
        "SELECT * { VALUES ?x { 1 } BIND (1 AS ⟦?x⟧) }",
        "SELECT * { { SELECT ?x { ?x ?p ?o } } BIND (1 AS ⟦?x⟧) }",
        "SELECT * { GRAPH ?x { } BIND (1 AS ⟦?x⟧) }",
        "SELECT * { SERVICE ?x { } BIND (1 AS ⟦?x⟧) }",
        "SELECT * { BIND (1 AS ?x) BIND (2 AS ⟦?x⟧) }",
        "ASK { ?s ?p ?o FILTER EXISTS { ?s ?p ?x BIND (2 AS ⟦?x⟧) } }",
        "SELECT * { :s :p [ :q ( 1 [ ?x 2 ] ) ] . BIND (1 AS ⟦?x⟧) }",
    ],
)
def test_bind_assigns_a_new_variable(query: str) -> None:
    assert_error(query, "already in scope before this BIND", "give the result another name")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * { BIND (1 AS ?x) :s :p ?x }",
        "SELECT * { :s :p ?x . { BIND (1 AS ?x) } }",
        "SELECT * { { BIND (1 AS ?x) } UNION { BIND (2 AS ?x) } }",
        "SELECT * { FILTER (?x > 1) BIND (1 AS ?x) }",
        "SELECT * { ?s ?p ?o MINUS { ?s :p ?x } BIND (1 AS ?x) }",
        "SELECT * { { SELECT ?s { ?s :p ?x } } BIND (1 AS ?x) }",
    ],
)
def test_bind_that_is_fine(query: str) -> None:
    assert_fine(query)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * { _:a :p ?x . OPTIONAL { ⟦_:a⟧ :q ?y } }",
        "SELECT * { _:a :p ?x . BIND (1 AS ?y) ⟦_:a⟧ :q ?z }",
        "SELECT * { { _:a :p ?x } { ⟦_:a⟧ :q ?y } }",
        "SELECT * { _:a :p ?x FILTER EXISTS { ?x :q [ :r ( ⟦_:a⟧ ) ] } }",
        "SELECT * { { _:a :p ?x } UNION { ⟦_:a⟧ :q ⟦_:a⟧ } }",
        "SELECT * { _:a :p ?x . VALUES ?x { 1 } ⟦_:a⟧ :q ?y }",
    ],
)
def test_a_label_belongs_to_one_basic_graph_pattern(query: str) -> None:
    assert_error(query, "_:a", "such as ?a")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * { _:a :p ?x . FILTER (?x > 1) _:a :q ?y . _:a :p/:q ?z }",
        "SELECT * { [] :p ?x . OPTIONAL { [] :q ?y } }",
        "CONSTRUCT { _:a :p ?x . _:a :q ?x } { _:a :p ?x }",
        "SELECT * { _:a :p ?x . OPTIONAL { _:b :q ?y } }",
    ],
)
def test_labels_that_are_fine(query: str) -> None:
    assert_fine(query)


@pytest.mark.parametrize(
    ("query", "message", "hint"),
    [
        ("SELECT * { VALUES (?a ?b) { (1 2) (⟦3⟧) } }", "1 value for 2 variables", "UNDEF"),
        ("SELECT * { VALUES (?a ?b) { (1 2 ⟦3 4⟧) } }", "4 values for 2 variables", "drop"),
        ("SELECT * { VALUES (?a ?b ?c) { (⟦1⟧ UNDEF) } }", "2 values for 3 variables", "UNDEF"),
        ("SELECT * { VALUES (?a ?b ⟦?a⟧) { (1 2 3) } }", "?a twice", "a variable of its own"),
        ("SELECT * { } VALUES (?a ?b) { (⟦1⟧) }", "1 value for 2 variables", "UNDEF"),
    ],
)
def test_values_has_rows_of_one_length(query: str, message: str, hint: str) -> None:
    assert_error(query, message, hint)


@pytest.mark.parametrize(
    ("query", "message", "hint"),
    [
        ("SELECT * { ?s ?p ?o FILTER (⟦CONTAINS(?o)⟧) }", "2 arguments, not 1", "CONTAINS(text, part)"),
        ("SELECT * { ?s ?p ?o FILTER (STRLEN(?o, ⟦?s, ?p⟧) > 1) }", "1 argument, not 3", "STRLEN(text)"),
        ("SELECT * { ?s ?p ?o FILTER (⟦SUBSTR(?o)⟧ = '') }", "2 or 3 arguments, not 1", "[, length]"),
        ("SELECT * { BIND (⟦REPLACE('a', 'b')⟧ AS ?x) }", "3 or 4 arguments, not 2", "[, flags]"),
        ("SELECT (⟦IF(true, 1)⟧ AS ?x) { }", "3 arguments, not 2", "IF(condition, then, else)"),
        ("SELECT * { ?s ?p ?o } ORDER BY ⟦STRDT(?o)⟧", "2 arguments, not 1", "STRDT(text, datatype)"),
        ("SELECT (SUM(⟦STRAFTER(?o)⟧) AS ?n) { ?s ?p ?o }", "2 arguments, not 1", ""),
    ],
)
def test_functions_take_their_arguments(query: str, message: str, hint: str) -> None:
    assert_error(query, message, hint)


@pytest.mark.parametrize(
    "call",
    ["BNODE()", "BNODE('a')", "CONCAT()", "CONCAT('a', 'b', 'c')", "COALESCE(?x, 1)", "NOW()", "RAND()", "STRUUID()",
     "REGEX('a', 'b')", "REGEX('a', 'b', 'i')", "SUBSTR('a', 1, 1)", "sameTerm(1, 2)", "isIRI(?x)", "BOUND(?x)"],
)  # fmt: skip
def test_calls_that_are_fine(call: str) -> None:
    assert_fine(f"SELECT ?x {{ ?x ?y ?z FILTER ({call}) }}")


def test_a_timestamp_is_of_a_variable_or_a_triple() -> None:
    query = "SELECT ?s FROM STREAM :a [RANGE 5s STEP 1s] {{ ?s ?p ?o FILTER ({} > 1) }}"
    for call in ("timestamp(?s)", "timestamp(?s, :a)", "timestamp(?s, ?p, ?o)"):
        assert_fine(query.format(call), "csparql")
    assert_error(query.format("⟦timestamp()⟧"), "TIMESTAMP takes 1 to 3 arguments, not 0", dialect="csparql")


# Windows

RSPQL = "SELECT ?s FROM NAMED WINDOW :w ON :stream [{}] {{ WINDOW :w {{ ?s ?p ?o }} }}"
CSPARQL = "SELECT ?s FROM STREAM :a [{}] {{ ?s ?p ?o }}"
CQELS = "SELECT ?s {{ STREAM :a [{}] {{ ?s ?p ?o }} }}"
SPARQLSTREAM = "SELECT ?s FROM STREAM :a [{}] {{ ?s ?p ?o }}"
STREAMING = "SELECT ?s FROM STREAM :a {} {{ ?s ?p ?o }}"


@pytest.mark.parametrize(
    ("dialect", "query", "window", "message"),
    [
        ("rspql", RSPQL, "RANGE PT0S STEP PT1S", "the width"),
        ("rspql", RSPQL, "RANGE PT1S STEP PT0S", "the step"),
        ("rspql", RSPQL, "ELEMENTS 0", "the size"),
        ("csparql", CSPARQL, "RANGE TRIPLES 0", "the size"),
        ("csparql", CSPARQL, "RANGE 0s TUMBLING", "the width"),
        ("cqels", CQELS, "RANGE 0s", "the width"),
        ("cqels", CQELS, "TRIPLES 0", "the size"),
        ("sparqlstream", SPARQLSTREAM, "NOW - 5 S TO NOW - 10 S", "is empty"),
        ("sparqlstream", SPARQLSTREAM, "NOW - 5 S TO NOW - 5 S SLIDE 1 S", "is empty"),
        ("sparqlstream", SPARQLSTREAM, "NOW - 5 S TO NOW SLIDE 0 S", "the step"),
        ("streaming-sparql", STREAMING, "WINDOW ELEMS 0", "the size"),
        ("streaming-sparql", STREAMING, "WINDOW RANGE 5 S SLIDE 10 S", "δ ≤ w"),
        ("streaming-sparql", "SELECT ?s {{ ?s ?p ?o {} }}", "WINDOW RANGE 5 S SLIDE 10 S", "δ ≤ w"),
    ],
)
def test_windows_without_content(dialect: str, query: str, window: str, message: str) -> None:
    assert_error(query.format(f"⟦{window}⟧"), message, dialect=dialect)


@pytest.mark.parametrize(
    ("dialect", "query", "window"),
    [
        ("rspql", RSPQL, "RANGE PT5S STEP PT10S"),
        ("rspql", RSPQL, "ELEMENTS 5 STEP 6"),
        ("csparql", CSPARQL, "RANGE 5s STEP 10s"),
        ("cqels", CQELS, "RANGE 5s SLIDE 10s"),
        ("sparqlstream", SPARQLSTREAM, "NOW - 10 S TO NOW - 5 S SLIDE 6 S"),
    ],
)
def test_windows_with_gaps(dialect: str, query: str, window: str) -> None:
    assert_warning(query.format(f"⟦{window}⟧"), "never seen", dialect=dialect)


@pytest.mark.parametrize(
    ("dialect", "query", "window"),
    [
        ("rspql", RSPQL, "RANGE PT5S STEP PT5S"),
        ("rspql", RSPQL, "FROM NOW-PT2H TO NOW-PT1H STEP PT1H"),
        ("csparql", CSPARQL, "RANGE 5s TUMBLING"),
        ("cqels", CQELS, "NOW"),
        ("cqels", CQELS, "ALL"),
        ("cqels", CQELS, "RANGE 5s"),
        ("sparqlstream", SPARQLSTREAM, "NOW - 10 S TO NOW SLIDE 10 S"),
        ("streaming-sparql", STREAMING, "WINDOW RANGE 30 MINUTE SLIDE"),
        ("streaming-sparql", STREAMING, "WINDOW RANGE 30 MINUTE FIXED"),
    ],
)
def test_windows_that_are_fine(dialect: str, query: str, window: str) -> None:
    assert_fine(query.format(window), dialect)


W1 = "FROM NAMED WINDOW :w1 ON :stream [RANGE PT5S]"
W2 = "FROM NAMED WINDOW :w2 ON :stream [RANGE PT9S]"


@pytest.mark.parametrize(
    ("query", "message", "hint"),
    [
        (f"SELECT ?s {W1} {{ WINDOW :w1 {{ ?s ?p ?o }} WINDOW ⟦:other⟧ {{ ?s ?p ?o }} }}",
         "<http://example.org/other> is not declared", "declared: <http://example.org/w1>"),
        ("SELECT ?s FROM NAMED WINDOW :visits ON :stream [RANGE PT5S] { WINDOW ⟦:vists⟧ { ?s ?p ?o } }",
         "<http://example.org/vists> is not declared", "did you mean <http://example.org/visits>?"),
        (f"SELECT ?s {W1} {W1.replace(':w1', '⟦:w1⟧')} {{ WINDOW :w1 {{ ?s ?p ?o }} }}",
         "declared twice", "a name of its own"),
        ("SELECT ?s { WINDOW ⟦:w⟧ { ?s ?p ?o } }", "is not declared", "FROM NAMED WINDOW <http://example.org/w> ON"),
        ("SELECT ?s { WINDOW ⟦?w⟧ { ?s ?p ?o } }", "declares no window", "FROM NAMED WINDOW"),
    ],
)  # fmt: skip
def test_rspql_window_names(query: str, message: str, hint: str) -> None:
    assert_error(query, message, hint, "rspql")


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT ?s {W1} {W2} {{ WINDOW :w1 {{ ?s ?p ?o }} GRAPH :w2 {{ ?s ?p ?o }} }}",
        f"SELECT ?s {W1} {W2} {{ WINDOW ?w {{ ?s ?p ?o }} }}",
        f"SELECT ?s {W1} {{ ?s ?p ?o FILTER EXISTS {{ WINDOW :w1 {{ ?s ?p ?o }} }} }}",
        f"SELECT ?s {W1} {{ {{ SELECT ?s {{ WINDOW :w1 {{ ?s ?p ?o }} }} }} }}",
    ],
)
def test_rspql_window_names_that_are_fine(query: str) -> None:
    assert_fine(query, "rspql")


RANGE = "[RANGE 5s STEP 1s]"


def test_a_window_that_nothing_reads_is_odd() -> None:
    unread = W2.replace(":w2", "⟦:w2⟧")
    message, hint = "nothing reads the window <http://example.org/w2>", "WINDOW <http://example.org/w2> { … }; or write"
    assert_warning(f"SELECT ?s {W1} {unread} {{ WINDOW :w1 {{ ?s ?p ?o }} }}", message, hint, "rspql")
    assert_warning(f"SELECT ?s {unread} {{ ?s ?p ?o }}", message, "FROM WINDOW, without NAMED", "rspql")


def test_csparql_streams() -> None:
    named = f"FROM NAMED STREAM :a {RANGE}"
    unread = named.replace(":a", "⟦:a⟧")
    assert_warning(f"SELECT ?s {unread} {{ ?s ?p ?o }}", "nothing reads the stream", "FROM STREAM, without", "csparql")
    assert_warning(
        f"SELECT ?s {unread} {{ GRAPH :b {{ ?s ?p ?o }} }}", "nothing reads the stream", "GRAPH <http", "csparql"
    )
    assert_fine(f"SELECT ?s {named} {{ GRAPH :a {{ ?s ?p ?o }} }}", "csparql")
    assert_fine(f"SELECT ?s {named} {{ GRAPH ?g {{ ?s ?p ?o }} }}", "csparql")
    assert_error(
        f"SELECT ?s FROM STREAM :a {RANGE} FROM STREAM ⟦:a⟧ {RANGE} {{ ?s ?p ?o }}", "window already", "", "csparql"
    )


def test_sparqlstream_streams() -> None:
    named = "FROM NAMED STREAM :a [NOW - 5 S]"
    unread = named.replace(":a", "⟦:a⟧")
    assert_fine(f"SELECT ?s {named} {{ ?s ?p ?o }}", "sparqlstream")
    assert_fine(f"SELECT ?s {named} {{ ?s ?p ?o GRAPH ?g {{ ?s ?p ?o }} }}", "sparqlstream")
    assert_fine(f"SELECT ?s {named} {{ ?s ?p ?o STREAM :b [NOW] {{ ?s ?p ?o }} }}", "sparqlstream")
    assert_warning(
        f"SELECT ?s {unread} {{ STREAM :a [NOW - 9 S] {{ ?s ?p ?o }} }}", "has its own", "drop", "sparqlstream"
    )
    assert_fine(f"SELECT ?s {named} {{ STREAM :a {{ ?s ?p ?o }} }}", "sparqlstream")
    assert_fine(f"SELECT ?s {named} {{ GRAPH :a {{ ?s ?p ?o }} }}", "sparqlstream")
    assert_fine("SELECT ?s FROM NAMED STREAM :a { STREAM :a [NOW - 9 S] { ?s ?p ?o } }", "sparqlstream")


AGGREGATE = f"SELECT ?gate FROM STREAM :a {RANGE} {{ ?gate :registers ?car }} AGGREGATE {{ "


@pytest.mark.parametrize(
    ("clauses", "message", "hint"),
    [
        ("(⟦?car⟧, COUNT, {?gate})", "occurs in WHERE", "another name"),
        ("(?n, COUNT, {?gate}) (⟦?n⟧, COUNT, {?car})", "an earlier AGGREGATE clause", "another name"),
        ("(?n, COUNT, {⟦?gaet⟧})", "?gaet does not occur in WHERE", "did you mean ?gate?"),
        ("(?n, SUM(⟦?Car⟧), {?gate})", "?Car does not occur in WHERE", "did you mean ?car?"),
        ("(?n, COUNT, {?gate}) (?m, MAX(⟦?n⟧), {?gate})", "does not occur in WHERE", "do not see each other"),
        ("(?n, ⟦SUM⟧, {?gate})", "SUM needs an argument", "SUM(?x)"),
        ("(?n, COUNT, {?gate}) FILTER (⟦COUNT(?car)⟧ > 1)", "cannot stand in the FILTER of AGGREGATE", "(?x, COUNT(…)"),
    ],
)
def test_aggregate_clauses(clauses: str, message: str, hint: str) -> None:
    assert_error(AGGREGATE + clauses + " }", message, hint, "csparql")


def test_aggregate_clauses_that_are_fine() -> None:
    assert_fine(AGGREGATE + "(?n, COUNT, {?gate}) FILTER (?n > 5) (?m, SUM(?car), ?gate) }", "csparql")


def test_the_filter_of_aggregate_may_be_misspelt() -> None:
    clause = "(?total, COUNT, {?gate}) FILTER (⟦?totla⟧ > 5) }"
    assert_warning(AGGREGATE + clause, "?totla is never bound", "?total", "csparql")


def test_only_triples_make_an_rdf_stream() -> None:
    body = f"FROM STREAM :a {RANGE} {{ ?s ?p ?o }}"
    for form in ("SELECT ?s", "ASK"):
        text = f"REGISTER STREAM x AS {form} {body}"
        (problem,) = problems_of(PREFIX + text, "csparql")
        assert problem.severity == "warning"
        assert (PREFIX + text)[slice(*problem.span)].startswith("REGISTER STREAM")
        assert form.split()[0] in problem.message
    assert_fine(f"REGISTER STREAM x AS CONSTRUCT {{ ?s ?p ?o }} {body}", "csparql")
    assert_fine(f"REGISTER QUERY x AS SELECT ?s {body}", "csparql")
    assert_fine(f"REGISTER RSTREAM :out AS SELECT ?s {W1} {{ WINDOW :w1 {{ ?s ?p ?o }} }}", "rspql")


# Variables that nothing binds


@pytest.mark.parametrize(
    ("query", "message", "hint"),
    [
        ("SELECT ⟦?nmae⟧ { ?s :name ?name }", "?nmae is never bound", "did you mean ?name?"),
        ("SELECT ⟦?Name⟧ { ?s :name ?name }", "?Name is never bound", "did you mean ?name?"),
        ("SELECT ⟦?b⟧ { ?s :name ?a }", "?b is never bound", "bind ?b in WHERE"),
        ("CONSTRUCT { ?s :p ⟦?nmae⟧, ?nmae } { ?s :name ?name }", "?nmae is never bound", "?name"),
        ("DESCRIBE ?s ⟦?t⟧ { ?s :name ?name }", "?t is never bound", "bind ?t"),
        ("SELECT ⟦?x⟧ { { SELECT ?s { ?s ?p ?x } } }", "?x is not bound here", "sub-select"),
        ("SELECT ?s ⟦?x⟧ { ?s ?p ?o MINUS { ?s :p ?x } }", "?x is not bound here", "MINUS"),
        ("CONSTRUCT { ?s :p ⟦?o⟧ } { ?s ?p ?o } GROUP BY ?s", "no value after grouping", "add ?o to GROUP BY"),
        ("SELECT * { ?s :name ?name FILTER (⟦?nmae⟧ > 1 && ?nmae < 2) }", "?nmae is never bound", "?name"),
        ("SELECT * { ?s :name ?name BIND (⟦?nmae⟧ AS ?x) }", "?nmae is never bound", "did you mean ?name?"),
        ("SELECT * { ?s :name ?name } ORDER BY ⟦?nmae⟧", "?nmae is never bound", "did you mean ?name?"),
        ("SELECT (STR(⟦?nmae⟧) AS ?x) { ?s :name ?name }", "?nmae is never bound", "did you mean ?name?"),
        ("SELECT (COUNT(⟦?nmae⟧) AS ?x) { ?s :name ?name }", "?nmae is never bound", "did you mean ?name?"),
    ],
)
def test_unbound_variables(query: str, message: str, hint: str) -> None:
    assert_warning(query, message, hint)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * { }",
        "SELECT * { ?s ?p ?o FILTER (!BOUND(?price)) }",
        "SELECT * { ?s ?p ?a FILTER (COALESCE(?b, 1) = 1) }",
        "SELECT ?g ?e ?v ?x { GRAPH ?g { } SERVICE ?e { } VALUES ?v { 1 } BIND (1 AS ?x) }",
        "SELECT ?a ?b { { ?s :p ?a } UNION { ?s :q ?b } }",
        "SELECT ?x { ?x :p ?y FILTER EXISTS { ?y :q ?name FILTER (?name > ?x) } }",
        "SELECT ?v { } VALUES ?v { 1 }",
        "CONSTRUCT WHERE { ?s ?p ?o }",
        "DESCRIBE *  { ?s ?p ?o }",
        "DESCRIBE :s",
    ],
)
def test_bound_variables(query: str) -> None:
    assert_fine(query)


def test_where_there_is_an_error_no_warning_repeats_it() -> None:
    query = parse("SELECT (COUNT(*) AS ?n) { ?s <p> ?count } GROUP BY ?s", "sparql", base="http://example.org/")
    order = ast.OrderCondition(ast.Variable("cuont", span=Span(90, 96)))
    modifiers = ast.Modifiers(group_by=query.modifiers.group_by, order_by=(order,))
    problems = check(ast.Query("sparql", query.form, query.where, modifiers=modifiers))
    assert [problem.severity for problem in problems] == ["error"]


def test_problems_come_in_text_order() -> None:
    text = PREFIX + "SELECT (STRLEN() AS ?s) { ?s ?p ?o BIND (1 AS ?o) VALUES (?a ?b) { (1) } }"
    spans = [problem.span for problem in problems_of(text, "sparql")]
    assert len(spans) == 4
    assert spans == sorted(spans)


# Scope


def where(text: str) -> ast.Group:
    group = parse(f"{PREFIX} SELECT * {{ {text} }}", "sparql").where
    assert group is not None
    return group


@pytest.mark.parametrize(
    ("pattern", "scope", "certain"),
    [
        ("?s ?p ?o", "s p o", "s p o"),
        ("?s :p [ ?q ( ?a _:b ) ] . [] :p/:q* ?z", "s q a z", "s q a z"),
        ("?s :p ?o OPTIONAL { ?o :q ?x }", "s o x", "s o"),
        ("{ ?s :p ?a } UNION { ?s :q ?b }", "s a b", "s"),
        ("{ ?s :p ?a } UNION { ?s :q ?a } UNION { ?s ?a ?b }", "s a b", "s a"),
        ("?s :p ?o MINUS { ?o :q ?x }", "s o", "s o"),
        ("?s :p ?o FILTER (?x > 1) FILTER EXISTS { ?o ?y ?z }", "s o", "s o"),
        ("?s :p ?o BIND (?o + 1 AS ?x)", "s o x", "s o"),
        ("VALUES (?a ?b) { (1 UNDEF) (2 3) }", "a b", "a"),
        ("VALUES ?a { 1 2 }", "a", "a"),
        ("GRAPH ?g { ?s :p ?o }", "g s o", "g s o"),
        ("GRAPH :g { ?s :p ?o }", "s o", "s o"),
        ("SERVICE ?e { ?s :p ?o }", "e s o", "e s o"),
        ("SERVICE SILENT :e { ?s :p ?o }", "s o", ""),
        ("{ SELECT ?s ?x { ?s :p ?o OPTIONAL { ?s :q ?x } } }", "s x", "s"),
        ("{ SELECT * { ?s :p ?o OPTIONAL { ?s :q ?x } } }", "s o x", "s o"),
        ("{ SELECT ?s (COUNT(?o) AS ?n) (SUM(?o) AS ?m) { ?s :p ?o } GROUP BY ?s }", "s n m", "s n"),
        ("{ SELECT ?k (1 AS ?one) { ?s :p ?o } GROUP BY (STR(?s) AS ?k) }", "k one", ""),
        ("{ SELECT ?s ?v { ?s :p ?o } VALUES ?v { 1 } }", "s v", "s v"),
        ("{ SELECT * { ?s :p ?o } VALUES ?v { 1 UNDEF } }", "s o v", "s o"),
        ("", "", ""),
    ],
)
def test_scope(pattern: str, scope: str, certain: str) -> None:
    group = where(pattern)
    assert list(in_scope(group)) == scope.split()
    assert certainly_bound(group) == set(certain.split())


@pytest.mark.parametrize(
    "block",
    [
        ast.WindowBlock,
        lambda name, group: ast.StreamBlock(name, ast.NowWindow(), group),
    ],
)
def test_window_and_stream_blocks_are_like_graph(
    block: Callable[[ast.Variable | ast.Constant, ast.Group], ast.Element],
) -> None:
    inner = where("?s :p ?o")
    by_name = ast.Group((block(ast.Variable("w"), inner),))
    by_iri = ast.Group((block(ast.Constant(IRI("http://example.org/w")), inner),))
    assert list(in_scope(by_name)) == ["w", "s", "o"]
    assert certainly_bound(by_name) == {"w", "s", "o"}
    assert list(in_scope(by_iri)) == ["s", "o"]


# Depth

DEPTH = 150
INNERMOST = ast.Group((ast.Triples(ast.Variable("s"), (ast.Property(ast.Variable("p"), (ast.Variable("o"),)),)),))


def nested(wrap: Callable[[ast.Group], ast.Element]) -> ast.Group:
    group = INNERMOST
    for _ in range(DEPTH):
        group = ast.Group((wrap(group),))
    return group


@pytest.mark.parametrize(
    "wrap",
    [
        lambda group: ast.Group((group,)),
        ast.Optional,
        ast.Minus,
        lambda group: ast.Union((group, INNERMOST)),
        lambda group: ast.Graph(ast.Variable("g"), group),
        lambda group: ast.Filter(ast.Operation("!", (ast.Exists(group),))),
        lambda group: ast.SubSelect(ast.Select(None), group, ast.Modifiers()),
    ],
)
def test_deep_patterns(wrap: Callable[[ast.Group], ast.Element]) -> None:
    group = nested(wrap)
    assert check(ast.Query("sparql", ast.Select(None), group)) == []
    in_scope(group)
    certainly_bound(group)


def test_deep_nodes_and_expressions() -> None:
    node: ast.GraphNode = ast.Variable("x")
    for _ in range(DEPTH):
        node = ast.BlankNodePropertyList((ast.Property(ast.Variable("p"), (ast.Collection((node,)),)),))
    expression: ast.Expression = ast.Variable("x")
    for number in range(5000):  # ?x + NOW() - NOW() + …, which nests to the left
        expression = ast.Operation("+-"[number % 2], (expression, ast.Call("NOW", ())))
    group = ast.Group((ast.Triples(node, ()), ast.Filter(expression)))
    assert check(ast.Query("sparql", ast.Select(None), group)) == []
    assert certainly_bound(group) == {"p", "x"}
