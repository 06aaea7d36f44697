"""Trees made by hand and the text that a careful person would have written for them.

Every text is also read again: the law of the printer is that this gives the same tree.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from penstock.rdf import vocabulary
from penstock.rdf.terms import IRI, Literal
from penstock.syntax import ast, parse
from penstock.syntax.ast.queries import DialectName
from penstock.syntax.dialects import DIALECTS
from penstock.syntax.parser.reports import parse_report
from penstock.syntax.printer import report_text, to_text
from penstock.syntax.tokens import tokenize

EX = "http://example.org/"
PROLOGUE = ast.Prologue((ast.PrefixDeclaration("ex", EX), ast.PrefixDeclaration("xsd", vocabulary.XSD)))


def var(name: str) -> ast.Variable:
    return ast.Variable(name)


def iri(local: str) -> ast.Constant:
    return ast.Constant(IRI(EX + local))


def value(lexical: str, datatype: str = vocabulary.XSD_INTEGER) -> ast.Constant:
    return ast.Constant(Literal(lexical, datatype))


def op(operator: str, *operands: ast.Expression) -> ast.Operation:
    return ast.Operation(operator, operands)


def call(name: str, *arguments: ast.Expression) -> ast.Call:
    return ast.Call(name, arguments)


def triple(subject: ast.GraphNode, verb: ast.Verb, *objects: ast.GraphNode) -> ast.Triples:
    return ast.Triples(subject, (ast.Property(verb, objects),))


A, B, C, D = var("a"), var("b"), var("c"), var("d")
P, Q, R = iri("p"), iri("q"), iri("r")
ONE = value("1")
TYPE = ast.Constant(IRI(vocabulary.RDF_TYPE))
GROUP = ast.Group((triple(A, P, B),))
SELECT_ALL = ast.Select(None)


def query(*elements: ast.Element, dialect: DialectName = "sparql") -> ast.Query:
    return ast.Query(dialect, SELECT_ALL, ast.Group(elements), PROLOGUE)


def printed(query: ast.Query) -> str:
    """The text of a query, after a look at the law. The parser alone reads it: these trees need not make sense."""
    text = to_text(query)
    dialect = DIALECTS[query.dialect]
    parser = dialect.parser(tokenize(text, dialect.variable))
    assert (parser.query(), parser.problems) == (query, [])
    return text


def text_of_element(element: ast.Element, dialect: DialectName = "sparql") -> str:
    """What stands between the braces of WHERE, without its indentation."""
    text = printed(query(element, dialect=dialect))
    start, end = text.index("WHERE {\n") + len("WHERE {\n"), text.rindex("\n}")
    return dedent(text[start:end])


def text_of_expression(expression: ast.Expression) -> str:
    text = text_of_element(ast.Bind(expression, var("x")))
    return text.removeprefix("BIND (").removesuffix(" AS ?x)")


def after_prologue(query: ast.Query) -> str:
    return printed(query).partition("\n\n")[2]


# Terms


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (IRI(EX + "a-b_1"), "ex:a-b_1"),
        (IRI(EX + "42"), "ex:42"),
        (IRI(EX), "ex:"),
        (IRI(EX + "a/b"), "<http://example.org/a/b>"),
        (IRI(EX + "a.b"), "<http://example.org/a.b>"),
        (IRI("http://other.org/é"), "<http://other.org/é>"),
        (IRI(vocabulary.RDF_TYPE), f"<{vocabulary.RDF_TYPE}>"),
        (Literal("1", vocabulary.XSD_INTEGER), "1"),
        (Literal("-01", vocabulary.XSD_INTEGER), "-01"),
        (Literal("+7", vocabulary.XSD_INTEGER), "+7"),
        (Literal("one", vocabulary.XSD_INTEGER), '"one"^^xsd:integer'),
        (Literal("1.50", vocabulary.XSD_DECIMAL), "1.50"),
        (Literal(".5", vocabulary.XSD_DECIMAL), ".5"),
        (Literal("1", vocabulary.XSD_DECIMAL), '"1"^^xsd:decimal'),
        (Literal("1.", vocabulary.XSD_DECIMAL), '"1."^^xsd:decimal'),
        (Literal("1e6", vocabulary.XSD_DOUBLE), "1e6"),
        (Literal("-1.E-6", vocabulary.XSD_DOUBLE), "-1.E-6"),
        (Literal("1.5", vocabulary.XSD_DOUBLE), '"1.5"^^xsd:double'),
        (Literal("true", vocabulary.XSD_BOOLEAN), "true"),
        (Literal("1", vocabulary.XSD_BOOLEAN), '"1"^^xsd:boolean'),
        (Literal("1", "http://other.org/t"), '"1"^^<http://other.org/t>'),
        (Literal("chat", vocabulary.RDF_LANG_STRING, "fr-BE"), '"chat"@fr-BE'),
        (Literal('say "hi"\n\\o/'), '"say \\"hi\\"\\n\\\\o/"'),
        (Literal("\x00\x7f"), '"\\u0000\\u007F"'),
        (Literal("Zoë 🦆"), '"Zoë 🦆"'),
        (Literal(""), '""'),
    ],
)
def test_terms(term: IRI | Literal, expected: str) -> None:
    assert text_of_expression(ast.Constant(term)) == expected


def test_the_longest_namespace_and_the_latest_declaration_win() -> None:
    prefixes = (("a", "http://a/"), ("b", "http://a/b/"), ("c", "http://old/"), ("c", "http://new/"))
    prologue = ast.Prologue(tuple(ast.PrefixDeclaration(*pair) for pair in prefixes))
    triples = triple(
        ast.Constant(IRI("http://a/b/x")), ast.Constant(IRI("http://old/x")), ast.Constant(IRI("http://new/x"))
    )
    assert printed(replace(query(triples), prologue=prologue)) == (
        "PREFIX a: <http://a/>\nPREFIX b: <http://a/b/>\nPREFIX c: <http://old/>\nPREFIX c: <http://new/>\n\n"
        "SELECT *\nWHERE {\n  b:x <http://old/x> c:x .\n}\n"
    )


def test_what_an_iri_cannot_hold_is_escaped() -> None:
    whole = ast.Query("sparql", ast.Describe((ast.Constant(IRI("http://other.org/a b<")),)), None)
    assert to_text(whole) == "DESCRIBE <http://other.org/a\\u0020b\\u003C>\n"


def test_a_name_that_is_no_variable_of_the_dialect() -> None:
    with pytest.raises(ValueError, match="SPARQL cannot express a variable named 'a-b'"):
        text_of_expression(var("a-b"))


# Expressions


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (op("||", A, op("&&", B, C), D), "?a || ?b && ?c || ?d"),
        (op("&&", op("||", A, B), C), "(?a || ?b) && ?c"),
        (op("||", op("||", A, B), C), "(?a || ?b) || ?c"),
        (op("=", op("+", A, B), op("*", C, D)), "?a + ?b = ?c * ?d"),
        (op("=", op("<", A, B), C), "(?a < ?b) = ?c"),
        (op("!=", A, op("IN", B, C)), "?a != (?b IN (?c))"),
        (op("+", A, B, C), "?a + ?b + ?c"),
        (op("-", op("+", A, B), C), "?a + ?b - ?c"),
        (op("+", op("+", A, B), C), "(?a + ?b) + ?c"),
        (op("-", A, op("-", B, C)), "?a - (?b - ?c)"),
        (op("-", A, op("+", B, C)), "?a - (?b + ?c)"),
        (op("+", op("*", A, B), op("/", C, D)), "?a * ?b + ?c / ?d"),
        (op("*", op("+", A, B), C), "(?a + ?b) * ?c"),
        (op("*", op("/", A, B), C), "?a / ?b * ?c"),
        (op("!", A), "!?a"),
        (op("!", op("!", A)), "!(!?a)"),
        (op("!", op("=", A, B)), "!(?a = ?b)"),
        (op("!", call("BOUND", A)), "!BOUND(?a)"),
        (op("-", A), "-?a"),
        (op("-", ONE), "-(1)"),
        (op("+", value("-1")), "+(-1)"),
        (value("-1"), "-1"),
        (op("-", A, value("-1")), "?a - -1"),
        (op("-", op("-", A), B), "-?a - ?b"),
        (op("*", A, op("-", B)), "?a * -?b"),
        (op("IN", A, ONE, op("||", B, C)), "?a IN (1, ?b || ?c)"),
        (op("NOT IN", op("+", A, B)), "?a + ?b NOT IN ()"),
        (op("&&", op("IN", A, B), C), "?a IN (?b) && ?c"),
        (call("RAND"), "RAND()"),
        (call("IF", A, B, op("+", C, D)), "IF(?a, ?b, ?c + ?d)"),
        (call("ISIRI", A), "isIRI(?a)"),
        (ast.FunctionCall(ast.Constant(IRI(vocabulary.XSD_INTEGER)), (A,)), "xsd:integer(?a)"),
        (ast.FunctionCall(P, ()), "ex:p()"),
        (ast.FunctionCall(P, (A, B), distinct=True), "ex:p(DISTINCT ?a, ?b)"),
        (ast.Aggregate("COUNT", None), "COUNT(*)"),
        (ast.Aggregate("COUNT", None, distinct=True), "COUNT(DISTINCT *)"),
        (ast.Aggregate("SUM", op("+", A, B)), "SUM(?a + ?b)"),
        (ast.Aggregate("GROUP_CONCAT", A), "GROUP_CONCAT(?a)"),
        (ast.Aggregate("GROUP_CONCAT", A, True, ", "), 'GROUP_CONCAT(DISTINCT ?a ; SEPARATOR = ", ")'),
        (ast.Aggregate("GROUP_CONCAT", A, separator=""), 'GROUP_CONCAT(?a ; SEPARATOR = "")'),
        (op("&&", A, ast.Exists(GROUP)), "?a && EXISTS {\n  ?a ex:p ?b .\n}"),
    ],
)
def test_expressions(expression: ast.Expression, expected: str) -> None:
    assert text_of_expression(expression) == expected


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (op(">", A, ONE), "FILTER (?a > 1)"),
        (A, "FILTER (?a)"),
        (call("REGEX", A, ast.Constant(Literal("^x"))), 'FILTER REGEX(?a, "^x")'),
        (ast.FunctionCall(P, (A,)), "FILTER ex:p(?a)"),
        (ast.Exists(GROUP, negated=True), "FILTER NOT EXISTS {\n  ?a ex:p ?b .\n}"),
    ],
)
def test_filters(condition: ast.Expression, expected: str) -> None:
    assert text_of_element(ast.Filter(condition)) == expected


# Paths


@pytest.mark.parametrize(
    ("verb", "expected"),
    [
        (A, "?a"),
        (TYPE, "a"),
        (ast.PathSequence((TYPE, ast.PathRepeat(P, "*"))), "a/ex:p*"),
        (ast.PathAlternative((ast.PathSequence((P, Q)), ast.PathInverse(R))), "ex:p/ex:q|^ex:r"),
        (ast.PathSequence((ast.PathAlternative((P, Q)), R)), "(ex:p|ex:q)/ex:r"),
        (ast.PathAlternative((ast.PathAlternative((P, Q)), R)), "(ex:p|ex:q)|ex:r"),
        (ast.PathSequence((P, ast.PathSequence((Q, R)))), "ex:p/(ex:q/ex:r)"),
        (ast.PathInverse(ast.PathRepeat(P, "*")), "^ex:p*"),
        (ast.PathRepeat(ast.PathInverse(P), "*"), "(^ex:p)*"),
        (ast.PathInverse(ast.PathInverse(P)), "^(^ex:p)"),
        (ast.PathInverse(ast.PathSequence((P, Q))), "^(ex:p/ex:q)"),
        (ast.PathRepeat(ast.PathRepeat(P, "+"), "?"), "(ex:p+)?"),
        (ast.PathNegated((P,)), "!ex:p"),
        (ast.PathNegated((ast.PathInverse(TYPE),)), "!^a"),
        (ast.PathNegated((P, ast.PathInverse(Q))), "!(ex:p|^ex:q)"),
        (ast.PathNegated(()), "!()"),
        (ast.PathRepeat(ast.PathNegated((P,)), "*"), "(!ex:p)*"),
        (ast.PathInverse(ast.PathNegated((P,))), "^!ex:p"),
    ],
)
def test_paths(verb: ast.Verb, expected: str) -> None:
    assert text_of_element(triple(A, verb, B)) == f"?a {expected} ?b ."


# Patterns

NIL = ast.Constant(IRI(vocabulary.RDF_NIL))
NAMELESS = ast.BlankNodePropertyList((ast.Property(P, (A, B)), ast.Property(Q, (ast.BlankNodeLabel("n"),))))


@pytest.mark.parametrize(
    ("element", "expected"),
    [
        (
            ast.Triples(A, (ast.Property(TYPE, (P,)), ast.Property(Q, (B, ONE)), ast.Property(R, (C,)))),
            "?a a ex:p ;\n  ex:q ?b, 1 ;\n  ex:r ?c .",
        ),
        (ast.Triples(NAMELESS, ()), "[ ex:p ?a, ?b ; ex:q _:n ] ."),
        (triple(ast.BlankNodePropertyList(()), P, NAMELESS), "[] ex:p [ ex:p ?a, ?b ; ex:q _:n ] ."),
        (ast.Triples(ast.Collection((A, ast.Collection((ONE,)))), ()), "( ?a ( 1 ) ) ."),
        (triple(NIL, P, NIL), "() ex:p () ."),
        (triple(A, P, value("+1"), value("-1")), '?a ex:p "+1"^^xsd:integer, -1 .'),
        (triple(A, P, ast.Constant(Literal("+1"))), '?a ex:p "+1" .'),
        (ast.Group(()), "{ }"),
        (GROUP, "{\n  ?a ex:p ?b .\n}"),
        (ast.Optional(GROUP), "OPTIONAL {\n  ?a ex:p ?b .\n}"),
        (ast.Minus(GROUP), "MINUS {\n  ?a ex:p ?b .\n}"),
        (ast.Union((GROUP, ast.Group(()))), "{\n  ?a ex:p ?b .\n} UNION { }"),
        (ast.Bind(op("+", A, ONE), B), "BIND (?a + 1 AS ?b)"),
        (ast.Graph(A, GROUP), "GRAPH ?a {\n  ?a ex:p ?b .\n}"),
        (ast.Graph(P, ast.Group((ast.Optional(GROUP),))), "GRAPH ex:p {\n  OPTIONAL {\n    ?a ex:p ?b .\n  }\n}"),
        (ast.Service(P, GROUP, silent=True), "SERVICE SILENT ex:p {\n  ?a ex:p ?b .\n}"),
        (ast.InlineData((A,), ((ONE,), (None,), (P,))), "VALUES ?a { 1 UNDEF ex:p }"),
        (ast.InlineData((A,), ()), "VALUES ?a { }"),
        (ast.InlineData((A, B), ((ONE, None), (P, Q))), "VALUES (?a ?b) {\n  (1 UNDEF)\n  (ex:p ex:q)\n}"),
        (ast.InlineData((), ((), ())), "VALUES () { () () }"),
        (
            ast.Group(
                (
                    ast.SubSelect(
                        ast.Select((ast.Projection(A),), "DISTINCT"),
                        GROUP,
                        ast.Modifiers(limit=3),
                        ast.InlineData((A,), ((ONE,),)),
                    ),
                )
            ),
            "{\n  SELECT DISTINCT ?a\n  WHERE {\n    ?a ex:p ?b .\n  }\n  LIMIT 3\n  VALUES ?a { 1 }\n}",
        ),
    ],
)
def test_patterns(element: ast.Element, expected: str) -> None:
    assert text_of_element(element) == expected


@pytest.mark.parametrize(
    ("element", "complaint"),
    [
        (ast.Triples(A, ()), "a subject without properties"),
        (ast.Triples(ast.BlankNodePropertyList(()), ()), "a subject without properties"),
        (ast.Union((GROUP,)), "fewer than two groups"),
        (
            ast.Group((ast.SubSelect(SELECT_ALL, GROUP, ast.Modifiers()), triple(A, P, B))),
            "a sub-select next to other elements",
        ),
        (ast.Group((), ast.CountWindow(1)), "a window at the end of a group"),
        (ast.WindowBlock(P, GROUP), "a WINDOW block"),
        (ast.StreamBlock(P, ast.NowWindow(), GROUP), "a STREAM block"),
        (ast.Filter(ast.FunctionCall(P, (), distinct=True)), "DISTINCT but no arguments"),
        (ast.Filter(call("TIMESTAMP", A)), "timestamp"),
    ],
)
def test_patterns_that_sparql_cannot_say(element: ast.Element, complaint: str) -> None:
    with pytest.raises(ValueError, match=f"SPARQL cannot express .*{complaint}"):
        text_of_element(element)


# Queries


def test_a_whole_select() -> None:
    select = ast.Select((ast.Projection(A), ast.Projection(var("n"), ast.Aggregate("COUNT", None))), "DISTINCT")
    modifiers = ast.Modifiers(
        group_by=(
            ast.GroupCondition(A),
            ast.GroupCondition(call("STR", B)),
            ast.GroupCondition(op("+", A, ONE)),
            ast.GroupCondition(C, D),
        ),
        having=(op(">", ast.Aggregate("COUNT", None), ONE), call("BOUND", A), ast.Aggregate("MAX", B)),
        order_by=(
            ast.OrderCondition(A),
            ast.OrderCondition(B, descending=True),
            ast.OrderCondition(call("STR", C)),
            ast.OrderCondition(op("-", A)),
        ),
        limit=10,
        offset=0,
    )
    dataset = (ast.DatasetClause(P), ast.DatasetClause(Q, named=True))
    whole = ast.Query(
        "sparql", select, GROUP, PROLOGUE, None, None, dataset, modifiers, (), ast.InlineData((A,), ((P,),))
    )
    assert printed(whole) == dedent("""\
        PREFIX ex: <http://example.org/>
        PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>

        SELECT DISTINCT ?a (COUNT(*) AS ?n)
        FROM ex:p
        FROM NAMED ex:q
        WHERE {
          ?a ex:p ?b .
        }
        GROUP BY ?a STR(?b) (?a + 1) (?c AS ?d)
        HAVING (COUNT(*) > 1) BOUND(?a) (MAX(?b))
        ORDER BY ?a DESC(?b) STR(?c) ASC(-?a)
        LIMIT 10
        OFFSET 0
        VALUES ?a { ex:p }
        """)


def test_no_prologue_no_blank_line() -> None:
    assert printed(ast.Query("sparql", SELECT_ALL, ast.Group(()))) == "SELECT *\nWHERE { }\n"


PATTERN_TEXT = "WHERE {\n  ?a ex:p ?b .\n}\n"


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        (ast.Select((ast.Projection(A),), "REDUCED"), "SELECT REDUCED ?a\n" + PATTERN_TEXT),
        (ast.Construct(()), "CONSTRUCT { }\n" + PATTERN_TEXT),
        (ast.Construct((triple(A, TYPE, B),)), "CONSTRUCT {\n  ?a a ?b .\n}\n" + PATTERN_TEXT),
        (ast.Construct(None), "CONSTRUCT " + PATTERN_TEXT),
        (ast.Ask(), "ASK " + PATTERN_TEXT),
        (ast.Describe(None), "DESCRIBE *\n" + PATTERN_TEXT),
        (ast.Describe((A, P)), "DESCRIBE ?a ex:p\n" + PATTERN_TEXT),
    ],
)
def test_forms(form: ast.Form, expected: str) -> None:
    assert after_prologue(ast.Query("sparql", form, GROUP, PROLOGUE)) == expected


def test_dataset_clauses_stand_before_where() -> None:
    short = ast.Query("sparql", ast.Construct(None), GROUP, PROLOGUE, dataset=(ast.DatasetClause(P),))
    assert after_prologue(short) == "CONSTRUCT\nFROM ex:p\n" + PATTERN_TEXT


def test_describe_without_a_pattern() -> None:
    describe = ast.Query("sparql", ast.Describe((P,)), None, PROLOGUE, dataset=(ast.DatasetClause(Q),))
    assert after_prologue(describe) == "DESCRIBE ex:p\nFROM ex:q\n"
    with pytest.raises(ValueError, match="without a pattern"):
        to_text(replace(describe, form=ast.Ask()))


# Dialects

NAME = ast.Constant(IRI("PassagesPerTollgate"))
SECOND, MINUTE, HOUR, DAY = 1_000, 60_000, 3_600_000, 86_400_000
TUMBLING = ast.RangeWindow(5 * SECOND, 5 * SECOND)
SLIDING = ast.RangeWindow(10 * SECOND, 5 * SECOND)


def with_clause(dialect: DialectName, clause: ast.WindowClause) -> ast.Query:
    return replace(ast.Query(dialect, SELECT_ALL, GROUP, PROLOGUE), dataset=(clause,))


def text_of_window(dialect: DialectName, window: ast.Window | None) -> str:
    """The window as it stands in the FROM clause or STREAM block of the dialect."""
    if dialect == "cqels":
        line = text_of_element(ast.StreamBlock(P, window, ast.Group(())), dialect)
        return line.removeprefix("STREAM ex:p ").removesuffix(" { }")
    line = after_prologue(with_clause(dialect, ast.WindowClause(P, window))).split("\n")[1]
    return line.partition("STREAM ex:p")[2].strip()


@pytest.mark.parametrize(
    ("dialect", "window", "expected"),
    [
        ("rspql", SLIDING, "[RANGE PT10S STEP PT5S]"),
        ("rspql", TUMBLING, "[RANGE PT5S STEP PT5S]"),
        ("rspql", ast.PastWindow(10 * SECOND, 0, 5 * SECOND), "[FROM NOW-PT10S TO NOW-PT0S STEP PT5S]"),
        ("rspql", ast.PastWindow(10 * SECOND, 500), "[FROM NOW-PT10S TO NOW-PT0.5S]"),
        ("rspql", ast.NowWindow(), "[NOW]"),
        ("rspql", ast.AllWindow(), "[ALL]"),
        ("rspql", ast.CountWindow(5), "[ELEMENTS 5]"),
        ("rspql", ast.CountWindow(5, 2), "[ELEMENTS 5 STEP 2]"),
        ("rspql", ast.CountWindow(5, matching=True), "[ELEMENTS 5 MATCHING]"),
        ("rspql", ast.CountWindow(5, 2, True), "[ELEMENTS 5 MATCHING STEP 2]"),
        ("csparql", ast.RangeWindow(10 * MINUTE, MINUTE), "[RANGE 10m STEP 1m]"),
        ("csparql", TUMBLING, "[RANGE 5s TUMBLING]"),
        ("csparql", ast.CountWindow(10), "[RANGE TRIPLES 10]"),
        ("cqels", ast.NowWindow(), "[NOW]"),
        ("cqels", ast.AllWindow(), "[ALL]"),
        ("cqels", ast.RangeWindow(3 * SECOND, None), "[RANGE 3s]"),
        ("cqels", ast.RangeWindow(20 * SECOND, SECOND), "[RANGE 20s SLIDE 1s]"),
        ("cqels", TUMBLING, "[RANGE 5s TUMBLING]"),
        ("cqels", ast.CountWindow(5), "[TRIPLES 5]"),
        ("sparqlstream", None, ""),
        ("sparqlstream", ast.PastWindow(10 * SECOND, 5 * SECOND, SECOND), "[NOW - 10 S TO NOW - 5 S SLIDE 1 S]"),
        ("sparqlstream", ast.PastWindow(10 * MINUTE, 0), "[NOW - 10 MINUTES TO NOW]"),
        ("sparqlstream", ast.CountWindow(3), "[TRIPLES 3]"),
        ("streaming-sparql", ast.RangeWindow(30 * MINUTE, MINUTE), "WINDOW RANGE 30 MINUTE SLIDE 1 MINUTE"),
        ("streaming-sparql", ast.RangeWindow(7 * DAY, 7 * DAY), "WINDOW RANGE 1 WEEK FIXED"),
        ("streaming-sparql", ast.CountWindow(1500), "WINDOW ELEMS 1500"),
    ],
)
def test_windows(dialect: DialectName, window: ast.Window | None, expected: str) -> None:
    assert text_of_window(dialect, window) == expected


@pytest.mark.parametrize(
    ("dialect", "windows"),
    [
        ("sparql", [SLIDING, None]),
        ("rspql", [ast.RangeWindow(3, None), None]),
        (
            "csparql",
            [ast.RangeWindow(3, None), ast.CountWindow(3, 1), ast.CountWindow(3, matching=True), ast.NowWindow(), None],
        ),
        ("cqels", [ast.PastWindow(3, 2), ast.CountWindow(3, 1), None]),
        ("sparqlstream", [SLIDING, ast.AllWindow(), ast.CountWindow(3, 1)]),
        (
            "streaming-sparql",
            [ast.RangeWindow(3, None), ast.CountWindow(3, matching=True), ast.PastWindow(3, 2), ast.AllWindow(), None],
        ),
    ],
)
def test_windows_that_a_dialect_cannot_say(dialect: DialectName, windows: list[ast.Window | None]) -> None:
    for window in windows:
        with pytest.raises(ValueError, match="cannot express"):
            text_of_window(dialect, window)


W, S = iri("w"), iri("s")
WINDOW_CLOSE, NON_EMPTY = ast.Strategy("window-close"), ast.Strategy("non-empty")
SETTINGS = ast.WindowSettings(ast.AllOf((WINDOW_CLOSE, NON_EMPTY)), -1, "bag")


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        (ast.WindowClause(S, TUMBLING, True, W), "FROM NAMED WINDOW ex:w ON STREAM ex:s [RANGE PT5S STEP PT5S]"),
        (ast.WindowClause(S, ast.NowWindow()), "FROM WINDOW ON STREAM ex:s [NOW]"),
        (ast.WindowClause(var("s"), ast.NowWindow(), False, W), "FROM WINDOW ex:w ON STREAM ?s [NOW]"),
        (
            ast.WindowClause(S, ast.AllWindow(), settings=SETTINGS),
            "FROM WINDOW ON STREAM ex:s [ALL REPORT ON_WINDOW_CLOSE & NON_EMPTY_CONTENT ORIGIN -1 DUPLICATES BAG]",
        ),
    ],
)
def test_rspql_windows_in_the_dataset(clause: ast.WindowClause, expected: str) -> None:
    assert after_prologue(with_clause("rspql", clause)).split("\n")[1] == expected


def test_an_rspql_window_block_and_a_template_with_graphs() -> None:
    template = (triple(A, P, B), ast.QuadTemplate(C, (triple(A, Q, B),)))
    whole = ast.Query("rspql", ast.Construct(template), ast.Group((ast.WindowBlock(W, GROUP),)), PROLOGUE)
    assert after_prologue(whole) == dedent("""\
        CONSTRUCT {
          ?a ex:p ?b .
          GRAPH ?c {
            ?a ex:q ?b .
          }
        }
        WHERE {
          WINDOW ex:w {
            ?a ex:p ?b .
          }
        }
        """)


@pytest.mark.parametrize(
    ("register", "operator", "form", "expected"),
    [
        (ast.Register("stream", S), "rstream", ast.Ask(), "REGISTER RSTREAM ex:s AS\nASK "),
        (ast.Register("stream", S), None, ast.Ask(), "REGISTER STREAM ex:s AS\nASK "),
        (ast.Register("query", S), None, ast.Ask(), "REGISTER QUERY ex:s AS\nASK "),
        (ast.Register("query", S), "dstream", ast.Ask(), "REGISTER QUERY ex:s AS\nASK DSTREAM "),
        (None, "istream", ast.Select((ast.Projection(A),), "DISTINCT"), "SELECT ISTREAM DISTINCT ?a\n"),
        (None, "istream", ast.Construct(()), "CONSTRUCT ISTREAM { }\n"),
        (None, "istream", ast.Describe((A,)), "DESCRIBE ISTREAM ?a\n"),
    ],
)
def test_rspql_registration_and_operators(
    register: ast.Register | None, operator: ast.Operator | None, form: ast.Form, expected: str
) -> None:
    whole = ast.Query("rspql", form, GROUP, PROLOGUE, register, operator)
    assert after_prologue(whole) == expected + PATTERN_TEXT


def test_a_whole_csparql_query() -> None:
    total = var("total-cars")
    aggregates = (
        ast.AggregateClause(total, ast.Aggregate("COUNT", None), (A,)),
        ast.AggregateClause(C, ast.Aggregate("SUM", B), (A, B), ast.Filter(op(">", C, ONE))),
        ast.AggregateClause(D, ast.Aggregate("COUNT", B, distinct=True), (A,)),
        ast.AggregateClause(B, ast.Aggregate("COUNT", None, distinct=True), ()),
    )
    whole = ast.Query(
        "csparql",
        ast.Select((ast.Projection(A), ast.Projection(total))),
        GROUP,
        PROLOGUE,
        ast.Register("query", NAME, 5 * MINUTE),
        dataset=(ast.WindowClause(S, SLIDING), ast.WindowClause(W, TUMBLING, named=True)),
        modifiers=ast.Modifiers(limit=1),
        aggregates=aggregates,
    )
    assert printed(whole) == dedent("""\
        REGISTER QUERY PassagesPerTollgate COMPUTED EVERY 5m AS
        PREFIX ex: <http://example.org/>
        PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>

        SELECT ?a ?total-cars
        FROM STREAM ex:s [RANGE 10s STEP 5s]
        FROM NAMED STREAM ex:w [RANGE 5s TUMBLING]
        WHERE {
          ?a ex:p ?b .
        }
        AGGREGATE {
          (?total-cars, COUNT, {?a})
          (?c, SUM(?b), {?a, ?b}) FILTER (?c > 1)
          (?d, COUNT(DISTINCT ?b), {?a})
          (?b, COUNT(DISTINCT *), {})
        }
        LIMIT 1
        """)


def test_a_registered_name_before_the_prologue_takes_no_prefix() -> None:
    whole = ast.Query("csparql", ast.Ask(), GROUP, PROLOGUE, ast.Register("stream", S))
    assert printed(whole).split("\n")[0] == "REGISTER STREAM <http://example.org/s> AS"


def test_a_registered_name_that_is_the_next_keyword() -> None:
    whole = ast.Query("cqels", ast.Ask(), GROUP, PROLOGUE, ast.Register("query", ast.Constant(IRI("As"))))
    assert printed(whole).split("\n")[0] == "REGISTER QUERY <As> AS"


@pytest.mark.parametrize("dialect", ["rspql", "csparql", "cqels", "sparqlstream", "streaming-sparql"])
def test_the_stream_dialects_have_timestamps(dialect: DialectName) -> None:
    assert text_of_element(ast.Filter(call("TIMESTAMP", A)), dialect) == "FILTER timestamp(?a)"


def test_a_whole_cqels_query() -> None:
    block = ast.StreamBlock(var("s"), ast.NowWindow(), GROUP)
    whole = ast.Query("cqels", SELECT_ALL, ast.Group((block,)), register=ast.Register("query", NAME))
    assert printed(whole) == dedent("""\
        REGISTER QUERY PassagesPerTollgate AS
        SELECT *
        WHERE {
          STREAM ?s [NOW] {
            ?a <http://example.org/p> ?b .
          }
        }
        """)


def test_a_whole_sparqlstream_query() -> None:
    whole = ast.Query(
        "sparqlstream",
        ast.Select((ast.Projection(A),), "DISTINCT"),
        ast.Group((ast.StreamBlock(S, None, GROUP),)),
        PROLOGUE,
        operator="istream",
        dataset=(ast.WindowClause(S, None), ast.WindowClause(W, ast.PastWindow(HOUR, 0, 500), named=True)),
    )
    assert after_prologue(whole) == dedent("""\
        SELECT ISTREAM DISTINCT ?a
        FROM STREAM ex:s
        FROM NAMED STREAM ex:w [NOW - 1 HOURS TO NOW SLIDE 500 MS]
        WHERE {
          STREAM ex:s {
            ?a ex:p ?b .
          }
        }
        """)


def test_a_streaming_sparql_group_ends_with_its_window() -> None:
    inner = ast.Group((triple(A, P, B),), ast.CountWindow(1500))
    whole = query(ast.Optional(inner), ast.Group((), TUMBLING), dialect="streaming-sparql")
    assert after_prologue(whole) == dedent("""\
        SELECT *
        WHERE {
          OPTIONAL {
            ?a ex:p ?b .
            WINDOW ELEMS 1500
          }
          {
            WINDOW RANGE 5 S FIXED
          }
        }
        """)


ASK = ast.Query("sparql", ast.Ask(), GROUP)
REGISTERED = ast.Register("query", NAME)
CLAUSE = ast.WindowClause(S, TUMBLING)
PAST_CLAUSE = ast.WindowClause(S, ast.PastWindow(2, 1))


@pytest.mark.parametrize(
    "refused",
    [
        replace(ASK, register=REGISTERED),
        replace(ASK, operator="rstream"),
        replace(ASK, aggregates=(ast.AggregateClause(A, ast.Aggregate("COUNT", None), (B,)),)),
        replace(ASK, form=ast.Construct((ast.QuadTemplate(A, ()),))),
        replace(ASK, form=ast.Construct(None), where=ast.Group((ast.Optional(GROUP),))),
        replace(ASK, dialect="rspql", dataset=(replace(CLAUSE, named=True),)),
        replace(ASK, dialect="csparql", operator="rstream"),
        replace(ASK, dialect="csparql", dataset=(replace(CLAUSE, stream=A),)),
        replace(ASK, dialect="csparql", dataset=(replace(CLAUSE, name=W),)),
        replace(ASK, dialect="csparql", dataset=(replace(CLAUSE, settings=SETTINGS),)),
        replace(ASK, dialect="cqels", register=ast.Register("query", NAME, 5)),
        replace(ASK, dialect="cqels", dataset=(CLAUSE,)),
        replace(ASK, dialect="sparqlstream", register=REGISTERED),
        replace(ASK, dialect="sparqlstream", dataset=(replace(PAST_CLAUSE, name=W),)),
        replace(ASK, dialect="streaming-sparql", operator="rstream"),
        replace(ASK, dialect="streaming-sparql", register=REGISTERED),
        replace(ASK, dialect="streaming-sparql", where=ast.Group((), ast.NowWindow())),
    ],
)
def test_what_a_dialect_cannot_say(refused: ast.Query) -> None:
    with pytest.raises(ValueError, match=r"cannot express .*\.$"):
        to_text(refused)


# Durations and reports


@pytest.mark.parametrize(
    ("milliseconds", "iso", "compact", "words", "word"),
    [
        (0, "PT0S", "0s", "0 S", "0 S"),
        (1, "PT0.001S", "1ms", "1 MS", "1 MS"),
        (500, "PT0.5S", "500ms", "500 MS", "500 MS"),
        (10 * SECOND, "PT10S", "10s", "10 S", "10 S"),
        (90 * SECOND, "PT1M30S", "90s", "90 S", "90 S"),
        (90 * MINUTE, "PT1H30M", "90m", "90 MINUTES", "90 MINUTE"),
        (2 * HOUR, "PT2H", "2h", "2 HOURS", "2 HOUR"),
        (DAY, "P1D", "1d", "1 DAYS", "1 DAY"),
        (26 * HOUR, "P1DT2H", "26h", "26 HOURS", "26 HOUR"),
        (14 * DAY, "P14D", "14d", "14 DAYS", "2 WEEK"),
    ],
)
def test_durations(milliseconds: int, iso: str, compact: str, words: str, word: str) -> None:
    window = ast.RangeWindow(milliseconds, 7)
    past = ast.PastWindow(milliseconds, 7)
    assert text_of_window("rspql", window) == f"[RANGE {iso} STEP PT0.007S]"
    assert text_of_window("csparql", window) == f"[RANGE {compact} STEP 7ms]"
    assert text_of_window("sparqlstream", past) == f"[NOW - {words} TO NOW - 7 MS]"
    assert text_of_window("streaming-sparql", window) == f"WINDOW RANGE {word} SLIDE 7 MS"


def test_a_negative_duration_has_no_text() -> None:
    with pytest.raises(ValueError, match="-5 ms"):
        text_of_window("rspql", ast.RangeWindow(-5, 1))


CHANGE, ARRIVAL, END = ast.Strategy("content-change"), ast.Strategy("arrival"), ast.Strategy("stream-end")
PERIODIC = ast.Strategy("periodic", 5 * SECOND)


@pytest.mark.parametrize(
    ("report", "rspql", "option"),
    [
        (CHANGE, "ON_CONTENT_CHANGE", "content-change"),
        (PERIODIC, "PERIODIC PT5S", "periodic 5s"),
        (ast.AllOf((WINDOW_CLOSE, NON_EMPTY)), "ON_WINDOW_CLOSE & NON_EMPTY_CONTENT", "window-close & non-empty"),
        (ast.AnyOf((ARRIVAL, END)), "ON_ARRIVAL | ON_STREAM_END", "arrival | stream-end"),
        (ast.AnyOf((ast.AllOf((END, CHANGE)), END)), None, "stream-end & content-change | stream-end"),
        (ast.AllOf((ast.AnyOf((END, CHANGE)), END)), None, "(stream-end | content-change) & stream-end"),
        (ast.AllOf((ast.AllOf((END, CHANGE)), END)), None, "(stream-end & content-change) & stream-end"),
        (ast.AnyOf((END, ast.AnyOf((END, CHANGE)))), None, "stream-end | (stream-end | content-change)"),
        (ast.AllOf((ast.NotReport(END), ARRIVAL)), "!ON_STREAM_END & ON_ARRIVAL", "!stream-end & arrival"),
        (ast.NotReport(ast.AllOf((END, ARRIVAL))), None, "!(stream-end & arrival)"),
        (ast.NotReport(ast.NotReport(PERIODIC)), "!(!PERIODIC PT5S)", "!(!periodic 5s)"),
    ],
)
def test_reports(report: ast.Report, rspql: str | None, option: str) -> None:
    assert report_text(report, spelling="option") == option
    assert rspql is None or report_text(report) == rspql
    assert parse_report(report_text(report)) == parse_report(option) == report


# The listings of the papers

PAPERS = Path(__file__).parents[1] / "papers"
LISTINGS = sorted(path for path in PAPERS.glob("*/*.rq") if ".misprint" not in path.suffixes)


@pytest.mark.parametrize("listing", LISTINGS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_listings_of_the_papers_survive_printing(listing: Path) -> None:
    dialect = "streaming-sparql" if listing.parent.name == "streaming-sparql" else "auto"
    prefixes = json.loads((listing.parent / "prefixes.json").read_text())
    read = parse(listing.read_text(), dialect, prefixes=prefixes)
    assert parse(to_text(read), read.dialect) == read
