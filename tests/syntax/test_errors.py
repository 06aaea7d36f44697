"""Common mistakes, and what Penstock says about them: where, how wide the carets are, what is wrong, what to write.

A row of the table is a query in which «…» marks what the carets should underline; the marks are not part of it. Where
the mistake is that something is missing, «» marks where one caret stands. A row without a hint does not care for one.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from penstock.syntax import parse, read
from penstock.syntax.errors import Problem, QuerySyntaxError, locate
from penstock.syntax.spans import Span


class Mistake(NamedTuple):
    marked: str
    message: str
    hint: str | None = None
    dialect: str = "auto"

    @property
    def text(self) -> str:
        return self.marked.replace("«", "").replace("»", "")

    @property
    def spans(self) -> list[Span]:
        """What is marked, as spans of `text`."""
        spans = []
        offset = 0
        for part in self.marked.split("«")[1:]:
            before = self.marked[: self.marked.index("«" + part, offset)]
            offset = len(before) + 1
            start = len(before.replace("«", "").replace("»", ""))
            spans.append(Span(start, start + part.index("»")))
        return spans


WORDS = [
    Mistake("«SELEC» ?x { ?x ?p ?o }", "expected SELECT, CONSTRUCT, ASK or DESCRIBE, found `SELEC`", "SELECT?"),
    Mistake("SELECT ?x «WHER» { ?x ?p ?o }", "expected WHERE", "did you mean WHERE?"),
    Mistake("SELECT ?x { ?x ?p ?o «FILTR»(?o > 1) }", "found `FILTR`", "did you mean FILTER?"),
    Mistake("SELECT ?x { ?x ?p ?o «OPTOINAL» { ?x ?q ?r } }", "found `OPTOINAL`", "did you mean OPTIONAL?"),
    Mistake("SELECT ?x { ?x ?p ?o } «LIMTI» 10", "expected the end of the query", "did you mean LIMIT?"),
    Mistake("SELECT ?x { ?x ?p ?o } ORDER BY «DES»(?x)", "ASC(…), DESC(…)", "did you mean DESC?"),
    Mistake("SELECT ?x { ?x ?p ?o } GROUP «?x»", "expected BY after GROUP"),
    Mistake("SELECT ?x { ?x ?p ?o } LIMIT «ten»", "expected a whole number after LIMIT, found `ten`"),
    Mistake("«INSERT» DATA { <a> <b> <c> }", "expected a query", "this is SPARQL Update"),
    Mistake("«»", "expected SELECT, CONSTRUCT, ASK or DESCRIBE, found the end of the query"),
    Mistake("SELECT ?x { ?x ?p ?o } ORDER BY «?x DESC» LIMIT 3", "DESC comes before", "write DESC(?x)"),
    Mistake("SELECT ?x { ?x ?p ?o } ORDER BY ?o «?x asc», ?p", "ASC comes before", "write ASC(?x)"),
    Mistake("SELECT ?x { ?x ?p ?o } ORDER BY ?x«,» ?p", "expected the end of the query", "no commas here"),
    Mistake("SELECT ?x { ?x ?p ?o }«;»", "expected the end of the query", "remove it"),
    Mistake("SELECT ?x { ?x ?p ?o } «FROM» <g>", "expected the end of the query", "FROM … stands before WHERE"),
    Mistake("«/»/ a comment\nSELECT ?x { ?x ?p ?o }", "expected SELECT", "comments begin with #"),
    Mistake("«-»- a comment\nSELECT ?x { ?x ?p ?o }", "expected SELECT", "comments begin with #"),
    Mistake(
        "«REGISTER» QUERY q AS SELECT ?x FROM STREAM <s> [NOW - 5 S] { ?x ?p ?o }",
        "expected SELECT",
        "SPARQLstream has no REGISTER",
    ),
]

BRACKETS = [
    Mistake("SELECT ?x WHERE «?x» ?p ?o }", "expected `{` to begin a graph pattern"),
    Mistake("SELECT ?x WHERE «{» ?x ?p ?o", "this group is never closed", "add `}`"),
    Mistake("SELECT ?x «{» { ?x ?p ?o }", "this group is never closed", "add `}`"),
    Mistake("SELECT ?x WHERE { ?x ?p ?o }«}»", "expected the end of the query", "a `}` too many"),
    Mistake("SELECT ?x { ?x ?p ?o FILTER(?o > 1 «}»", "expected `)` to close the expression"),
    Mistake("SELECT ?x { ?x ?p ?o FILTER «?o» > 1 }", "expected a condition", "write (…) around the condition"),
    Mistake("SELECT ?x { ?x ?p ?o } «UNION» { ?x ?q ?r }", "expected the end of the query", "one more pair of braces"),
    Mistake("SELECT ?x { ?x ?p ?o MINUS «?x» }", "expected `{`"),
    Mistake("SELECT ?x { { ?x ?p«»", "expected an object"),
]

TRIPLES = [
    Mistake("SELECT ?x { ?x ?p ?o «?y» ?q ?r }", "expected `.` or `;` between triples"),
    Mistake("SELECT ?x { ?x ?p ?o\n  «?y» ?q ?r }", "expected `.` or `;` between triples"),
    Mistake("SELECT ?x { ?x ?p «}»", "expected an object"),
    Mistake("SELECT ?x { ?x «}»", "expected a predicate"),
    Mistake("SELECT ?x { ?x ?p ?o, «}»", "expected an object after `,`"),
    Mistake("PREFIX : <http://e/> ASK { ?x :p«{»2} ?y }", "expected", "no counted paths; :p{2} is :p/:p"),
    Mistake("CONSTRUCT WHERE { ?x ?p ?o «FILTER»(?o) }", "expected a triple", "write CONSTRUCT {…} WHERE {…}"),
]

NAMES = [
    Mistake("SELECT * FROM STREAM «<»a b> [RANGE 5s STEP 1s] { }", "a stream's IRI", "an IRI contains no spaces"),
    Mistake("SELECT * FROM «STATIC» <g> { }", "expected a graph's IRI", "drop STATIC"),
    Mistake("SELECT * { «<»<<a> <b> <c>>> <d> <e> }", "expected a triple", "RDF-star"),
    Mistake("SELECT *«\u00a0»{ ?x ?p ?o }", "found the character", "this is no-break space: write a plain space"),
    Mistake("SELECT ?x { ?x ?p ?o FILTER «CONCATT»(?o, 'a') }", "there is no function CONCATT", "did you mean CONCAT?"),
    Mistake("SELECT (1 + «strstart»(?o) AS ?n) { ?x ?p ?o }", "there is no function strstart", "mean STRSTARTS?"),
    Mistake(
        "SELECT ?x { ?x ?p ?o FILTER(«nearest»(?o)) }",
        "there is no function nearest",
        "call other functions by their IRI",
    ),
    Mistake(
        "PREFIX foaf: <http://xmlns.com/foaf/0.1/>\nSELECT ?x { ?x «foa:»name ?o }",
        "the prefix foa: is not declared",
        "did you mean foaf:?",
    ),
    Mistake(
        "SELECT ?x { ?x «foaf:»name ?o }",
        "the prefix foaf: is not declared",
        "add at the top: PREFIX foaf: <http://xmlns.com/foaf/0.1/>",
    ),
    Mistake("SELECT ?x { ?x «nix:»name ?o }", "the prefix nix: is not declared", "add at the top: PREFIX nix: <…>"),
    Mistake("SELECT ?x { ?x «:»name ?o }", "the prefix : is not declared", "add at the top: PREFIX : <…>"),
    Mistake("PREFIX «ex» <http://e/> SELECT ?x { ?x ?p ?o }", "expected a prefix name", "write ex: with a colon"),
    Mistake("SELECT «x» { ?x ?p ?o }", "expected a variable", "did you mean the variable ?x?"),
    Mistake("SELECT ?x { «x» ?p ?o }", "found `x`", "did you mean the variable ?x?"),
    Mistake("SELECT ?x { ?x ?p ?o FILTER(«x» > 1) }", "expected an expression", "did you mean the variable ?x?"),
    Mistake("PREFIX : <http://e/> SELECT ?x { ?x «knows» ?o }", "expected a predicate", "or :knows"),
]

EXPRESSIONS = [
    Mistake(
        "ASK { ?x ?p ?o FILTER (?o = 'CH' «^^» ?x > 1) }", "`^^` is followed by a datatype IRI", "did you mean `&&`"
    ),
    Mistake("ASK { ?x ?p ?o FILTER (1 < ?o «<» 5) }", "comparisons cannot be chained", "join them with &&"),
    Mistake("ASK { ?x ?p ?o FILTER (STRLEN(?o, «1»)) }", "STRLEN takes 1 argument, not 2", "write STRLEN(text)"),
    Mistake("ASK { ?x ?p ?o FILTER («REGEX(?o)») }", "REGEX takes 2 or 3 arguments, not 1", "REGEX(text, pattern"),
    Mistake("ASK { ?x ?p ?o FILTER («COUNT(?o)» > 1) }", "the aggregate COUNT cannot stand in FILTER", "HAVING"),
    Mistake("SELECT «COUNT»(?x) { ?x ?p ?o }", "expected a variable", "write (… AS ?variable) around"),
    Mistake("SELECT (COUNT(?x)«)» { ?x ?p ?o }", "expected AS and a variable, as in (COUNT(?x) AS ?n)"),
]

TEXTS = [
    Mistake('ASK { ?x ?p «"abc }»', "an unterminated string", 'close the string with " on the same line'),
    Mistake('ASK { ?x ?p «"abc }»\nLIMIT 1', "an unterminated string", 'close the string with "'),
    Mistake("ASK { ?x ?p «'''abc }»", "an unterminated string", "close the string with '''"),
    Mistake("ASK { ?x ?p «“»abc” }", "the character `“`", "straight quotes"),
    Mistake("ASK { ?x ?p «‘»abc’ }", "the character `‘`", "straight quotes"),
    Mistake(r'ASK { ?x ?p "a«\q»b" }', r"there is no escape \q", r"write a backslash as \\"),
    Mistake("ASK { ?x «<http://a b>» ?o }", "expected a predicate", "an IRI contains no spaces"),
    Mistake("ASK { ?x ?p «<http://a» }", "expected an object", "ends with `>`"),
]

WINDOWS = [
    Mistake("SELECT * FROM STREAM <s> [RANGE 10s«]» { }", "expected STEP", "write [RANGE 10s TUMBLING]"),
    Mistake("SELECT * FROM STREAM <s> [RANGE 10s «EVERY» 5s] { }", "expected STEP", "did you mean STEP?"),
    Mistake("SELECT * FROM STREAM <s> [«ROWS» 10] { }", "expected RANGE", "write [RANGE TRIPLES 10]"),
    Mistake("SELECT * FROM WINDOW ON <s> [RANGE PT9S «EVERY» PT1S] { }", "expected STEP", "did you mean STEP?"),
    Mistake("SELECT * FROM WINDOW ON <s> [RANGE «PT1M1H»] { }", "expected a duration", "in the order of P1DT2H3M4S"),
    Mistake("SELECT * FROM WINDOW ON <s> [RANGE «'PT1M'»] { }", "expected a duration", "write PT1M, without quotes"),
    Mistake("«REGISTR» QUERY q AS SELECT * FROM STREAM <s> [RANGE 10s STEP 5s] { ?x ?p ?o }", "REGISTR", "REGISTER?"),
    Mistake("REGISTER «QUERRY» q AS SELECT * FROM STREAM <s> [RANGE 10s STEP 5s] { }", "QUERY or STREAM", "QUERY?"),
    Mistake("REGISTER QUERY q «SELECT» * FROM STREAM <s> [RANGE 10s STEP 5s] { }", "expected AS after the name"),
    Mistake("SELECT * FROM STREAM <s> [«RANG» 10s STEP 5s] { ?x ?p ?o }", "found `RANG`", "did you mean RANGE?"),
    Mistake("SELECT * FROM STREAM <s> [«RANG» 10s STEP 5s] { }", "expected RANGE", "did you mean RANGE?", "csparql"),
    Mistake("SELECT * { STREAM <s> [«RNAGE» 10s] { ?x ?p ?o } }", "found `RNAGE`", "did you mean RANGE?"),
    Mistake("SELECT * FROM STREAM <s> [RANGE «10» STEP 5] { }", "a duration such as 10s", "a unit, such as 10s"),
    Mistake("SELECT * FROM STREAM <s> [RANGE 10s STEP «5»] { }", "after STEP, found the number 5", "such as 5s"),
    Mistake("SELECT * FROM STREAM <s> [RANGE 10s «STP» 5s] { }", "STEP and a duration, or TUMBLING", "mean STEP?"),
    Mistake("SELECT * FROM STREAM <s> [RANGE 10s STEP 5s «{» }", "expected `]` after the window"),
    Mistake(
        "SELECT * FROM STREAM <s> [«RANGE 0s STEP 5s»] { }", "the width of a window must be more than 0", "positive"
    ),
    Mistake(
        "SELECT * FROM STREAM <s> [RANGE «0.5ms» STEP 5s] { }", "whole number of milliseconds", "the shortest is 1ms"
    ),
    Mistake("SELECT * FROM STREAM <s> [«NOW - 5 S TO NOW - 9 S»] { }", "this window is empty", "further back first"),
    Mistake("SELECT * FROM STREAM <s> «WINDOW RANGE 10 S SLIDE 20 S» { }", "moves further than it is wide", "FIXED"),
    Mistake("SELECT * FROM STREAM <s> WINDOW RANGE 10 S «SLID» { }", "expected SLIDE or FIXED", "did you mean SLIDE?"),
    Mistake(
        "SELECT * FROM NAMED WINDOW <http://e/left> ON <s> [RANGE 5s] { WINDOW «<http://e/letf>» { ?x ?p ?o } }",
        "the window <http://e/letf> is not declared",
        "did you mean <http://e/left>?",
    ),
    Mistake("SELECT * FROM NAMED WINDOW <w> ON <s> [RANGE 5s ORIGIN «now»] { WINDOW <w> { } }", "instant", "ORIGIN 0"),
    Mistake("SELECT * FROM NAMED WINDOW <w> ON <s> [RANGE 5s REPORT «OFTEN»] { WINDOW <w> { } }", "strategy OFTEN"),
    Mistake("SELECT * FROM STREAM <s> [RANGE 5s STEP 1s] { } AGGREGATE { (?n, «CONT», {?x}) }", "COUNT, SUM", "COUNT?"),
]

MIXTURES = [
    Mistake(
        "SELECT * FROM STREAM <s> [RANGE 10s] { «STREAM <s>» { ?x ?p ?o } }",
        "`STREAM <s>` is SPARQLstream",
        "in CQELS-QL, STREAM <iri> [RANGE 10s] { … } in WHERE has the window",
    ),
    Mistake(
        "SELECT * FROM STREAM <s> [RANGE 10s STEP 5s] { «STREAM <t> [NOW»] { ?x ?p ?o } }",
        "`STREAM <t> [NOW` is CQELS-QL, but `FROM STREAM <s> [RANGE` before it is C-SPARQL",
        "write the whole query in one dialect",
    ),
    Mistake(
        "SELECT * FROM NAMED WINDOW <w> ON <s> [RANGE 5s] { WINDOW <w> { } } «AGGREGATE {» (?n, COUNT, {}) }",
        "`AGGREGATE {` is C-SPARQL, but `FROM NAMED WINDOW <w>` before it is RSP-QL",
        "write the whole query in one dialect",
    ),
    Mistake(
        "SELECT * FROM STREAM <s> [NOW - 5 S] { ?x ?p ?o «WINDOW RANGE» 5 SLIDE }",
        "`WINDOW RANGE` is Streaming SPARQL, but `FROM STREAM <s> [NOW` before it is SPARQLstream",
        "write the whole query in one dialect",
    ),
]

MEANING = [
    Mistake("SELECT «?y» (COUNT(?z) AS ?n) { ?x ?y ?z }", "?y is neither grouped nor aggregated", "write GROUP BY ?y"),
    Mistake("SELECT ?x { ?x ?p ?o BIND(1 AS «?o») }", "?o is already in scope before this BIND", "another name"),
    Mistake("ASK { VALUES (?x ?y) { («1») } }", "this row of VALUES has 1 value for 2 variables", "write UNDEF"),
    Mistake("ASK { _:a ?p ?o OPTIONAL { «_:a» ?q ?r } }", "a label cannot join two", "such as ?a"),
    Mistake("«SELECT *» { ?x ?p ?o } GROUP BY ?x", "SELECT * cannot be used in a query that groups", "list what to"),
]

ALL = [*WORDS, *BRACKETS, *TRIPLES, *NAMES, *EXPRESSIONS, *TEXTS, *WINDOWS, *MIXTURES, *MEANING]


def problems_of(text: str, dialect: str = "auto") -> tuple[Problem, ...]:
    with pytest.raises(QuerySyntaxError) as caught:
        parse(text, dialect)
    return caught.value.problems


@pytest.mark.parametrize("mistake", ALL, ids=lambda mistake: mistake.marked)
def test_a_mistake_gets_one_error_at_its_place(mistake: Mistake) -> None:
    (problem,) = problems_of(mistake.text, mistake.dialect)
    assert mistake.message in problem.message
    assert problem.severity == "error"
    assert mistake.hint is None or mistake.hint in (problem.hint or "")
    (expected,) = mistake.spans
    assert carets(problem, mistake.text) == (*locate(mistake.text, expected.start)[:2], max(1, len_of(expected)))


def len_of(span: Span) -> int:
    return span.end - span.start


def carets(problem: Problem, text: str) -> tuple[int, int, int]:
    """Line, column and number of the carets, as a person sees them in what is printed."""
    place, line, pointer = problem.render(text).split("\n")[:3]
    _, line_number, column, _ = place.split(":", 3)
    assert pointer.count("^") == len(pointer.lstrip(" |\t"))
    assert line.index("|") == pointer.index("|")
    assert pointer.index("^") == line.index("|") + 1 + int(column)
    return int(line_number), int(column), pointer.count("^")


@pytest.mark.parametrize(
    "marked",
    [
        "SELECT ?x { ?x «foaf:»name ?o . ?x «geo:»lat ?l FILTER(«CONCATT»(?o)) }",
        "SELECT ?x { ?x ?p «.» ?y ?q ?r . FILTER(1 < 2 «<» 3) OPTIONAL { ?x «}» }",
        "SELECT «?y» (SUM(?z) AS ?n) { ?x ?y ?z BIND(1 AS «?x») VALUES (?v ?w) { («1») } }",
        "SELECT * FROM STREAM <s> [«RANGE 0s STEP 1s»] FROM STREAM <t> [«RANGE 5s STEP 0s»] { ?x «ex:»p ?o }",
    ],
)
def test_independent_mistakes_are_told_at_once_in_text_order(marked: str) -> None:
    mistake = Mistake(marked, "")
    assert [problem.span for problem in problems_of(mistake.text)] == mistake.spans


@pytest.mark.parametrize("text", ["SELECT * { { { ?s ?p", "SELECT * " + "{ " * 50, "SELECT * { OPTIONAL { ?s ?p } ?x"])
def test_no_mistake_is_told_twice(text: str) -> None:
    problems = problems_of(text)
    assert len(set(problems)) == len(problems)


def test_an_undeclared_prefix_is_told_once() -> None:
    assert len(problems_of("ASK { ex:a ex:b ex:c . ex:d ex:e ex:f }")) == 1


def test_a_query_with_very_many_mistakes_does_not_drown_its_author() -> None:
    assert len(problems_of("ASK { " + "?x ?p . " * 1000 + "}")) <= 20


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_lines_are_counted_whatever_ends_them(newline: str) -> None:
    text = newline.join(["SELECT ?x", "", "WHERE {", "  ?x foaf:name ?o", "}"])
    (problem,) = problems_of(text)
    assert problem.render(text) == (
        "query:4:6: error: the prefix foaf: is not declared\n"
        " 4 |   ?x foaf:name ?o\n"
        "   |      ^^^^^\n"
        "   = add at the top: PREFIX foaf: <http://xmlns.com/foaf/0.1/>"
    )


def test_a_tab_in_front_is_repeated_so_that_the_caret_stands_right() -> None:
    text = "ASK {\n\t?x\tfoaf:name ?o }"
    (problem,) = problems_of(text)
    assert problem.render(text).split("\n")[:3] == [
        "query:2:5: error: the prefix foaf: is not declared",
        " 2 | \t?x\tfoaf:name ?o }",
        "   | \t  \t^^^^^",
    ]


def test_carets_end_with_the_line() -> None:
    """What goes on over several lines is underlined on the first."""
    text = "SELECT * FROM NAMED WINDOW <w> ON <s> [RANGE\n0s] { WINDOW <w> { ?s ?p ?o } }"
    (problem,) = problems_of(text)
    assert carets(problem, text) == (1, 40, len("RANGE"))


def test_the_line_number_may_be_long() -> None:
    text = "\n" * 1233 + "ASK { ?x"
    (problem, *_) = problems_of(text)
    assert carets(problem, text)[0] == 1234


def test_the_file_is_named() -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        read("SELEC", filename="rooms.rq")
    assert str(caught.value).startswith("rooms.rq:1:1: error: ")


def test_all_problems_are_in_the_text_of_the_exception() -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        parse("SELECT ?x { ?x foaf:name ?o . ?x geo:lat ?l }")
    assert str(caught.value) == caught.value.render()
    assert str(caught.value).count("error:") == 2


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("SELECT ?nmae { ?x ?p ?name }", "?nmae is never bound", "did you mean ?name?"),
        ("SELECT * FROM STREAM <s> [RANGE 5s STEP 9s] { ?x ?p ?o }", "elements between the windows", "unless that is"),
        (
            "REGISTER STREAM s AS SELECT * FROM STREAM <t> [RANGE 5s STEP 1s] { ?x ?p ?o }",
            "SELECT produces a stream of solutions",
            "REGISTER QUERY",
        ),
    ],
)
def test_what_is_odd_but_allowed_gets_a_warning(text: str, message: str, hint: str) -> None:
    (warning,) = read(text).warnings
    assert warning.severity == "warning"
    assert message in warning.message
    assert warning.hint is not None
    assert hint in warning.hint
    assert ": warning: " in warning.render(text)


def test_an_unknown_dialect_is_the_caller_s_mistake_not_the_query_s() -> None:
    with pytest.raises(ValueError, match="there is no dialect 'sparkle'") as caught:
        parse("ASK {}", "sparkle")
    assert not isinstance(caught.value, QuerySyntaxError)
