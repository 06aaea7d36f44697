"""Texts that other engines read and the standard writes in another way: they are read, with a warning that shows it."""

from __future__ import annotations

import re

import pytest

from penstock import check, translate
from penstock.syntax import ast, parse, read
from penstock.syntax.errors import QuerySyntaxError
from penstock.syntax.printer import to_text
from penstock.syntax.translation import explicit

PREFIX = "PREFIX : <http://example.org/> "
WINDOW = "WINDOW :w { ?s :p ?v }"

STANDARD_FORMS = [
    (
        f"SELECT * FROM NAMED WINDOW :w [RANGE 5s, SLIDE 1s] ON STREAM :s {{ {WINDOW} }}",
        f"SELECT * FROM NAMED WINDOW :w ON STREAM :s [RANGE 5s STEP 1s] {{ {WINDOW} }}",
        ["write FROM NAMED WINDOW :w ON STREAM :s [RANGE 5s STEP 1s]"],
    ),
    (
        "SELECT * FROM  WINDOW  [RANGE 1h , SLIDE 15m]  ON STREAM :s { ?s :p ?v }",
        "SELECT * FROM WINDOW ON STREAM :s [RANGE 1h STEP 15m] { ?s :p ?v }",
        ["write FROM WINDOW ON STREAM :s [RANGE 1h STEP 15m]"],
    ),
    (
        f"SELECT * FROM NAMED WINDOW :w ON :s [RANGE PT5S, STEP PT1S] {{ {WINDOW} }}",
        f"SELECT * FROM NAMED WINDOW :w ON :s [RANGE PT5S STEP PT1S] {{ {WINDOW} }}",
        ["drop it"],
    ),
    (
        f"SELECT AVG(?v) AS ?x, ?s FROM NAMED WINDOW :w ON :s [RANGE 5s] {{ {WINDOW} }} GROUP BY ?s",
        f"SELECT (AVG(?v) AS ?x) ?s FROM NAMED WINDOW :w ON :s [RANGE 5s] {{ {WINDOW} }} GROUP BY ?s",
        ["write (AVG(?v) AS ?x)", "drop the comma"],
    ),
    (
        "SELECT ?s, COUNT(DISTINCT ?v)  AS ?x FROM STREAM :s [RANGE 5s, STEP 1s] { ?s :p ?v } GROUP BY ?s",
        "SELECT ?s (COUNT(DISTINCT ?v) AS ?x) FROM STREAM :s [RANGE 5s STEP 1s] { ?s :p ?v } GROUP BY ?s",
        ["write (COUNT(DISTINCT ?v) AS ?x)", "drop it"],
    ),
    (
        "SELECT MAX(?v) AS ?x FROM NAMED STREAM :s [NOW - 1 HOURS] { ?s :p ?v }",
        "SELECT (MAX(?v) AS ?x) FROM NAMED STREAM :s [NOW - 1 HOURS] { ?s :p ?v }",
        ["write (MAX(?v) AS ?x)"],
    ),
    (
        "SELECT SUM(?v) AS ?x FROM STREAM :s WINDOW ELEMS 5 { ?s :p ?v }",
        "SELECT (SUM(?v) AS ?x) FROM STREAM :s WINDOW ELEMS 5 { ?s :p ?v }",
        ["write (SUM(?v) AS ?x)"],
    ),
    (
        f"SELECT * FROM NAMED WINDOW :w ON :s [ITEM 10 STEP 2] {{ {WINDOW} }}",
        f"SELECT * FROM NAMED WINDOW :w ON :s [ELEMENTS 10 STEP 2] {{ {WINDOW} }}",
        ["write ELEMENTS"],
    ),
    (
        f"SELECT * FROM NAMED WINDOW :w ON :s [RANGE PT10M TUMBLING] {{ {WINDOW} }}",
        f"SELECT * FROM NAMED WINDOW :w ON :s [RANGE PT10M] {{ {WINDOW} }}",
        ["drop it"],
    ),
    (
        "REGISTER RSTREAM :out AS SELECT * FROM STREAM :s  [RANGE PT10S STEP PT5S] { ?s :p ?v }",
        "REGISTER RSTREAM :out AS SELECT * FROM WINDOW ON STREAM :s [RANGE PT10S STEP PT5S] { ?s :p ?v }",
        ["write FROM WINDOW ON STREAM :s [RANGE PT10S STEP PT5S]"],
    ),
    (
        "SELECT ISTREAM ?v FROM NAMED STREAM :s [RANGE 10s STEP 5s] { WINDOW :s { ?s :p ?v } }",
        "SELECT ISTREAM ?v FROM NAMED WINDOW :s ON STREAM :s [RANGE 10s STEP 5s] { WINDOW :s { ?s :p ?v } }",
        ["write FROM NAMED WINDOW :s ON STREAM :s [RANGE 10s STEP 5s]"],
    ),
    ("SELECT COUNT(*) AS ?x { ?s :p ?v }", "SELECT (COUNT(*) AS ?x) { ?s :p ?v }", ["write (COUNT(*) AS ?x)"]),
    (
        "SELECT ?s (AVG(?v) AS ?x) (?x + 1 AS ?y) { ?s :p ?v } GROUP BY ?s HAVING (?x > 2) (?s != :a && ?y < 9)",
        "SELECT ?s (AVG(?v) AS ?x) (?x + 1 AS ?y) { ?s :p ?v } GROUP BY ?s "
        "HAVING (AVG(?v) > 2) (?s != :a && AVG(?v) + 1 < 9)",
        ["write AVG(?v) here", "write ?x + 1 here"],
    ),
    (
        "SELECT ?s { { SELECT ?s (COUNT(?v) AS ?n) { ?s :p ?v } GROUP BY ?s HAVING (?n > 2) } }",
        "SELECT ?s { { SELECT ?s (COUNT(?v) AS ?n) { ?s :p ?v } GROUP BY ?s HAVING (COUNT(?v) > 2) } }",
        ["write COUNT(?v) here"],
    ),
]


@pytest.mark.parametrize(("text", "standard", "hints"), STANDARD_FORMS)
def test_it_is_read_as_the_standard_form(text: str, standard: str, hints: list[str]) -> None:
    reading = read(PREFIX + text)
    assert reading.query == read(PREFIX + standard).query
    assert not read(PREFIX + standard).warnings
    assert [problem.hint for problem in reading.warnings] == hints
    assert all(problem.severity == "warning" for problem in reading.warnings)


def test_a_bare_aggregate_is_part_of_cqels() -> None:
    assert not read(PREFIX + "SELECT COUNT(?s) AS ?n { STREAM :s [NOW] { ?s :p ?v } }").warnings


def test_a_bare_aggregate_needs_a_name() -> None:
    with pytest.raises(QuerySyntaxError, match="write \\(… AS \\?variable\\) around an expression"):
        read(PREFIX + "SELECT COUNT(?s) FROM STREAM :s [RANGE 5s STEP 1s] { ?s :p ?v }")


def test_a_name_of_select_stays_in_exists_and_where_it_is_a_key() -> None:
    text = "SELECT ?s (COUNT(?v) AS ?n) { ?s :p ?v } GROUP BY ?s HAVING (EXISTS { ?s :q ?n })"
    assert not read(PREFIX + text).warnings


def test_an_error_behind_the_window_is_kept() -> None:
    with pytest.raises(QuerySyntaxError, match="the prefix ex: is not declared"):
        read(PREFIX + f"SELECT * FROM NAMED WINDOW :w [RANGE 5s, SLIDE 1s] ON STREAM ex:s {{ {WINDOW} }}")


@pytest.mark.parametrize("kind", ["RSTREAM", "STREAM", "QUERY"])
def test_computed_every_in_rspql(kind: str) -> None:
    clause = "FROM NAMED WINDOW :w ON :s [RANGE PT5S]"
    text = f"{PREFIX} REGISTER {kind} :q COMPUTED EVERY PT1S AS SELECT * {clause} {{ {WINDOW} }}"
    query = parse(text)
    assert query.dialect == "rspql"
    assert query.register is not None
    assert query.register.every == 1000
    assert parse(to_text(query)) == query
    written = text.replace("COMPUTED EVERY PT1S", "").replace("5S]", "5S REPORT PERIODIC 1s & NON_EMPTY_CONTENT]")
    assert explicit(query) == explicit(parse(written))


def test_a_blank_node_names_a_graph_of_a_template() -> None:
    text = f"CONSTRUCT {{ GRAPH _:g {{ ?s :q ?v }} }} FROM NAMED WINDOW :w ON :s [RANGE 5s] {{ {WINDOW} }}"
    reading = read(PREFIX + text)
    assert isinstance(reading.query.form, ast.Construct)
    assert reading.query.form.template is not None
    (quads,) = reading.query.form.template
    assert isinstance(quads, ast.QuadTemplate)
    assert quads.name == ast.BlankNodeLabel("g")
    (warning,) = reading.warnings
    assert warning.hint == "write GRAPH ?g { … }, and BIND(BNODE() AS ?g) at the end of WHERE"
    assert parse(to_text(reading.query)) == reading.query


NOW_WINDOWS = [
    ("[NOW]", ast.NowWindow()),
    ("[NOW TO NOW]", ast.NowWindow()),
    ("[FROM NOW]", ast.NowWindow()),
    ("[NOW SLIDE 2 S]", ast.PastWindow(1, 0, 2000)),
    ("[NOW - 30 S]", ast.PastWindow(30_000, 0)),
    ("[NOW - 30S SLIDE 10S]", ast.PastWindow(30_000, 0, 10_000)),
    ("[NOW - 500 MS SLIDE 500 MS]", ast.PastWindow(500, 0, 500)),
    ("[NOW - 10 MINUTES TO NOW - 5 MINUTES SLIDE 3 MINUTES]", ast.PastWindow(600_000, 300_000, 180_000)),
]


@pytest.mark.parametrize(("window", "expected"), NOW_WINDOWS)
def test_windows_of_sparqlstream(window: str, expected: ast.Window) -> None:
    query = parse(f"{PREFIX} SELECT ?s FROM NAMED STREAM :s {window} WHERE {{ ?s :p ?v }}")
    assert query.dialect == "sparqlstream"
    assert query.dataset == (ast.WindowClause(query.dataset[0].stream, expected, named=True),)  # type: ignore[union-attr]
    assert parse(to_text(query)) == query


@pytest.mark.parametrize("window", ["[NOW]", "[TRIPLES 3]"])
def test_a_block_that_two_dialects_have_goes_with_the_rest_of_the_query(window: str) -> None:
    block = f"STREAM :t {window} {{ ?s :p ?v }}"
    assert parse(f"{PREFIX} SELECT * {{ {block} }}").dialect == "cqels"
    assert parse(f"{PREFIX} REGISTER QUERY q AS SELECT * {{ {block} }}").dialect == "cqels"
    assert parse(f"{PREFIX} SELECT * FROM STREAM :s [NOW - 5 S] {{ {block} }}").dialect == "sparqlstream"


NO_FUNCTIONS = [
    ("FILTER (⟦<http://www.opengis.net/def/function/geosparql/distance>⟧(?s, ?v) < 3)", "no extension functions"),
    ("BIND (⟦<http://www.w3.org/2005/xpath-functions#contains>⟧(?v, 'x') AS ?x)", "CONTAINS(text, part)"),
    ("FILTER (⟦<http://www.w3.org/2001/XMLSchema#int>⟧(?v) < 3)", "did you mean xsd:integer?"),
    ("FILTER (⟦<http://www.w3.org/2001/XMLSchema#integer>(?v, 1)⟧ < 3)", "only the value"),
    ("FILTER EXISTS { ?s :q ?x FILTER (⟦:near⟧(?x)) }", "no extension functions"),
]


@pytest.mark.parametrize(("marked", "hint"), NO_FUNCTIONS)
def test_a_function_that_is_not_there(marked: str, hint: str) -> None:
    before, called, behind = re.split("[⟦⟧]", marked)
    text = f"{PREFIX} SELECT * {{ ?s :p ?v {before}{called}{behind} }}"
    (problem,) = check(text)
    assert problem.severity == "error"
    assert text[slice(*problem.span)] == called
    assert hint in (problem.hint or "")
    with pytest.raises(QuerySyntaxError, match=re.escape(problem.message)):
        read(text)
    assert parse(text) == parse(to_text(parse(text)))  # other engines may have it
    assert translate(text, to="rspql")


def test_an_endpoint_may_have_functions_of_its_own() -> None:
    inside = "?s :p ?v FILTER (:near(?v) || EXISTS { ?s :q ?x FILTER (:near(?x)) })"
    assert not check(f"{PREFIX} SELECT * {{ SERVICE :endpoint {{ {inside} }} }}")
    outside = "FILTER EXISTS { ?s :p :x FILTER (:far(?v)) }"
    (problem,) = check(f"{PREFIX} SELECT * {{ SERVICE :endpoint {{ {inside} }} {outside} }}")
    assert "far" in problem.message


BARE_NAMES = [
    "SELECT * FROM STREAM sensors [RANGE 10s STEP 1s] { ?s ?p ?v }",
    "SELECT * FROM NAMED STREAM sensors [NOW - 10 S] { ?s ?p ?v }",
    "SELECT * { STREAM sensors [RANGE 10s] { ?s ?p ?v } }",
    "SELECT * FROM NAMED WINDOW <w> ON STREAM sensors [RANGE 10s] { WINDOW <w> { ?s ?p ?v } }",
    "SELECT * FROM NAMED WINDOW sensors ON STREAM <s> [RANGE 10s] { WINDOW <w> { ?s ?p ?v } }",
]


@pytest.mark.parametrize("text", BARE_NAMES)
def test_a_name_needs_brackets_or_a_prefix(text: str) -> None:
    (problem,) = check(text)
    assert text[slice(*problem.span)] == "sensors"
    assert problem.hint == "a name needs <…> or a prefix: write <sensors>, or ex:sensors with a PREFIX for it"


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_a_byte_order_mark_and_any_line_ends(line_end: str) -> None:
    lines = [
        PREFIX + "# prefixes",
        "SELECT ?s # a comment",
        "FROM STREAM :s [RANGE 10s # wide",
        "STEP 5s] { ?s :p ?v }",
    ]
    plain = PREFIX + "SELECT ?s FROM STREAM :s [RANGE 10s STEP 5s] { ?s :p ?v }"
    assert parse("\ufeff" + line_end.join(lines)) == parse(plain)


def test_a_byte_order_mark_moves_no_error() -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        parse("\ufeffSELECT ?s WHRE { ?s ?p ?o }")
    (problem,) = caught.value.problems
    assert (problem.span.start, problem.span.end) == (11, 15)


_SELECT = f"SELECT * FROM NAMED WINDOW :w ON STREAM :s [RANGE PT10S STEP PT5S] {{ {WINDOW} }}"

MISPLACED = [
    (
        _SELECT.replace("[", "").replace("]", ""),
        "RANGE",
        "write a window in brackets, such as [RANGE PT10S STEP PT5S]",
    ),
    (
        "SELECT * FROM WINDOW ON STREAM :s TRIPLES 10 { ?s :p ?v }",
        "TRIPLES",
        "write a window in brackets, such as [RANGE PT10S STEP PT5S]",
    ),
    (
        f"{_SELECT} REPORT ON WINDOW CLOSE",
        "REPORT",
        "a window has its REPORT part in its brackets: [RANGE … STEP … REPORT …]",
    ),
    (
        f"CONSTRUCT {{ GRAPH [] {{ ?s :q ?v }} }} FROM NAMED WINDOW :w ON :s [RANGE 5s] {{ {WINDOW} }}",
        "[",
        "write GRAPH ?g { … }, and BIND(BNODE() AS ?g) in WHERE",
    ),
]


@pytest.mark.parametrize(("text", "found", "hint"), MISPLACED)
def test_a_part_in_the_wrong_place_is_explained(text: str, found: str, hint: str) -> None:
    text = PREFIX + text
    (problem,) = check(text)
    assert text[slice(*problem.span)] == found
    assert problem.hint == hint
