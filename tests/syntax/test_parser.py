"""What the parser makes of the text: the trees of each production, and where each node stands.

That all of SPARQL 1.1 is read is shown by the W3C tests; here is what a tree looks like.
"""

from __future__ import annotations

from dataclasses import fields
from typing import cast

import pytest
from tests.corpora import citybench, csrbench, papers, w3c
from tests.corpora.samples import Sample, all_of, each

from penstock.rdf import vocabulary
from penstock.rdf.terms import IRI, Literal
from penstock.syntax import ast, parse
from penstock.syntax.ast.traversal import walk
from penstock.syntax.spans import NOWHERE

EX = "http://example.org/"
PROLOGUE = f"PREFIX ex: <{EX}> PREFIX xsd: <{vocabulary.XSD}> "
SAMPLES = all_of(papers.listings, citybench.queries, csrbench.queries, w3c.positive)


def iri(local: str) -> ast.Constant:
    return ast.Constant(IRI(EX + local))


def integer(lexical: str) -> ast.Constant:
    return ast.Constant(Literal(lexical, vocabulary.XSD_INTEGER))


def operation(operator: str, *operands: ast.Expression) -> ast.Operation:
    return ast.Operation(operator, operands)


X, Y, Z = map(ast.Variable, "xyz")


def read_elements(pattern: str, dialect: str = "sparql") -> tuple[ast.Element, ...]:
    query = parse(f"{PROLOGUE} ASK {{ {pattern} }}", dialect)
    assert query.where is not None
    return query.where.elements


def read_expression(text: str) -> ast.Expression:
    (element,) = read_elements(f"FILTER ({text})")
    return cast(ast.Filter, element).condition


def read_verb(text: str) -> ast.Verb:
    (element,) = read_elements(f"?x {text} ?y")
    return cast(ast.Triples, element).properties[0].verb


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("?x || ?y || ?z", operation("||", X, Y, Z)),
        ("?x || ?y && ?z", operation("||", X, operation("&&", Y, Z))),
        ("(?x || ?y) && ?z", operation("&&", operation("||", X, Y), Z)),
        ("(?x || ?y) || ?z", operation("||", operation("||", X, Y), Z)),
        ("?x + ?y - ?z", operation("-", operation("+", X, Y), Z)),
        ("?x - ?y - ?z", operation("-", X, Y, Z)),
        ("?x - (?y - ?z)", operation("-", X, operation("-", Y, Z))),
        ("?x + ?y * ?z", operation("+", X, operation("*", Y, Z))),
        ("?x * ?y / ?z", operation("/", operation("*", X, Y), Z)),
        ("?x = ?y + 1", operation("=", X, operation("+", Y, integer("1")))),
        ("!?x = ?y", operation("=", operation("!", X), Y)),
        ("!(?x = ?y)", operation("!", operation("=", X, Y))),
        ("-?x * ?y", operation("*", operation("-", X), Y)),
        ("?x -1", operation("-", X, integer("1"))),
        ("?x - -1", operation("-", X, integer("-1"))),
        ("-1", integer("-1")),
        ("- 1", operation("-", integer("1"))),
        ("?x +1*?y", operation("+", X, operation("*", integer("1"), Y))),
        ("?x IN ()", operation("IN", X)),
        ("?x NOT IN (1, ?y)", operation("NOT IN", X, integer("1"), Y)),
        ("strlen(?x)", ast.Call("STRLEN", (X,))),
        ("uri(?x)", ast.Call("IRI", (X,))),
        ("isUri(?x)", ast.Call("ISIRI", (X,))),
        ("NOW()", ast.Call("NOW", ())),
        ("xsd:integer(?x)", ast.FunctionCall(ast.Constant(IRI(vocabulary.XSD_INTEGER)), (X,))),
        ("ex:f(DISTINCT ?x, ?y)", ast.FunctionCall(iri("f"), (X, Y), distinct=True)),
        ("ex:f", iri("f")),
        ("not exists { }", ast.Exists(ast.Group(()), negated=True)),
        ("TRUE", ast.Constant(Literal("true", vocabulary.XSD_BOOLEAN))),
        ("1.", None),
    ],
)
def test_expressions(text: str, expected: ast.Expression | None) -> None:
    if expected is None:
        with pytest.raises(ValueError, match="expected"):
            read_expression(text)
    else:
        assert read_expression(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", ast.Constant(IRI(vocabulary.RDF_TYPE))),
        ("ex:a/ex:b/ex:c", ast.PathSequence((iri("a"), iri("b"), iri("c")))),
        ("ex:a|ex:b/ex:c", ast.PathAlternative((iri("a"), ast.PathSequence((iri("b"), iri("c")))))),
        ("(ex:a|ex:b)/ex:c", ast.PathSequence((ast.PathAlternative((iri("a"), iri("b"))), iri("c")))),
        ("(ex:a/ex:b)/ex:c", ast.PathSequence((ast.PathSequence((iri("a"), iri("b"))), iri("c")))),
        ("^ex:a*", ast.PathInverse(ast.PathRepeat(iri("a"), "*"))),
        ("(^ex:a)*", ast.PathRepeat(ast.PathInverse(iri("a")), "*")),
        ("ex:a?", ast.PathRepeat(iri("a"), "?")),
        ("!a", ast.PathNegated((ast.Constant(IRI(vocabulary.RDF_TYPE)),))),
        ("!(ex:a|^ex:b)", ast.PathNegated((iri("a"), ast.PathInverse(iri("b"))))),
        ("!()", ast.PathNegated(())),
        ("!^ex:a+", ast.PathRepeat(ast.PathNegated((ast.PathInverse(iri("a")),)), "+")),
    ],
)
def test_paths(text: str, expected: ast.Path) -> None:
    assert read_verb(text) == expected


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("'a'", Literal("a")),
        ('"""a"b\n"""', Literal('a"b\n')),
        ("''''a'''", Literal("'a")),
        (r'"\t\"\\\u00e9\U0001F701"', Literal('\t"\\é🜁')),
        ("'a'@EN-gb", Literal("a", vocabulary.RDF_LANG_STRING, "EN-gb")),
        ("'a'^^ex:t", Literal("a", EX + "t")),
        ("'a' ^^ xsd:string", Literal("a")),
        ("007", Literal("007", vocabulary.XSD_INTEGER)),
        ("+1.50", Literal("+1.50", vocabulary.XSD_DECIMAL)),
        ("-.5E-1", Literal("-.5E-1", vocabulary.XSD_DOUBLE)),
        ("FaLsE", Literal("false", vocabulary.XSD_BOOLEAN)),
        ("()", IRI(vocabulary.RDF_NIL)),
        ("ex:", IRI(EX)),
        ("ex:a.b", IRI(EX + "a.b")),
        (r"ex:a\~b\.", IRI(EX + "a~b.")),
        ("ex:%41:b", IRI(EX + "%41:b")),
        (r"<\u00e9>", IRI("é")),
    ],
)
def test_terms(text: str, term: IRI | Literal) -> None:
    (element,) = read_elements(f"?x ?y {text}")
    assert cast(ast.Triples, element).properties[0].objects == (ast.Constant(term),)


def test_abbreviated_triples_stay_visible() -> None:
    assert read_elements("?x ex:p ?y, ?z ; a [ ex:q ( ?y [] ) ] ; . [ ex:p _:b ] .") == (
        ast.Triples(
            X,
            (
                ast.Property(iri("p"), (Y, Z)),
                ast.Property(
                    ast.Constant(IRI(vocabulary.RDF_TYPE)),
                    (
                        ast.BlankNodePropertyList(
                            (ast.Property(iri("q"), (ast.Collection((Y, ast.BlankNodePropertyList(()))),)),)
                        ),
                    ),
                ),
            ),
        ),
        ast.Triples(ast.BlankNodePropertyList((ast.Property(iri("p"), (ast.BlankNodeLabel("b"),)),)), ()),
    )


def test_elements_of_a_group() -> None:
    empty = ast.Group(())
    assert read_elements(
        "{ } OPTIONAL { } MINUS { } { } UNION { } UNION { } GRAPH ?x { } SERVICE SILENT ex:s { } BIND(1 AS ?y) "
        "VALUES ?z { 1 UNDEF } VALUES (?x ?z) { (1 2) } { SELECT * { } }"
    ) == (
        empty,
        ast.Optional(empty),
        ast.Minus(empty),
        ast.Union((empty, empty, empty)),
        ast.Graph(X, empty),
        ast.Service(iri("s"), empty, silent=True),
        ast.Bind(integer("1"), Y),
        ast.InlineData((Z,), ((integer("1"),), (None,))),
        ast.InlineData((X, Z), ((integer("1"), integer("2")),)),
        ast.Group((ast.SubSelect(ast.Select(None), empty, ast.Modifiers()),)),
    )


def test_prefixes_and_base() -> None:
    text = "BASE <http://b/c/> PREFIX p: <d#> BASE <e/> PREFIX p: <f#> ASK { <g> p:h <#i> }"
    (element,) = cast(ast.Group, parse(text).where).elements
    triples = cast(ast.Triples, element)
    assert triples.subject == ast.Constant(IRI("http://b/c/e/g"))
    assert triples.properties[0].verb == ast.Constant(IRI("http://b/c/e/f#h"))
    assert triples.properties[0].objects == (ast.Constant(IRI("http://b/c/e/#i")),)
    assert [declared.iri for declared in parse(text).prologue.prefixes] == ["http://b/c/d#", "http://b/c/e/f#"]


def test_prefixes_and_base_of_the_caller() -> None:
    query = parse("ASK { <a> p:b q:c }", prefixes={"p": "http://p/", "q": "http://q/"}, base="http://base/")
    terms = {node.term for node in walk(query) if isinstance(node, ast.Constant)}
    assert terms == {IRI("http://base/a"), IRI("http://p/b"), IRI("http://q/c")}
    assert query.prologue.prefixes == ()


def test_a_prefix_of_the_query_goes_before_one_of_the_caller() -> None:
    query = parse("PREFIX p: <http://query/> ASK { p:a p:a p:a }", prefixes={"p": "http://caller/"})
    assert {node.term for node in walk(query) if isinstance(node, ast.Constant)} == {IRI("http://query/a")}


def test_solution_modifiers() -> None:
    query = parse(
        "SELECT ?x { } GROUP BY ?x (1 AS ?y) STR(?z) HAVING (?x) BOUND(?y) ORDER BY ?x DESC(?y) OFFSET 2 LIMIT 1"
    )
    assert query.modifiers == ast.Modifiers(
        (
            ast.GroupCondition(X),
            ast.GroupCondition(integer("1"), Y),
            ast.GroupCondition(ast.Call("STR", (Z,))),
        ),
        (X, ast.Call("BOUND", (Y,))),
        (ast.OrderCondition(X), ast.OrderCondition(Y, descending=True)),
        limit=1,
        offset=2,
    )


S = ast.Constant(IRI("s"))
W = ast.Constant(IRI("w"))


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        ("RANGE PT10S STEP PT5S", ast.RangeWindow(10_000, 5000)),
        ("RANGE 10s SLIDE 5s", ast.RangeWindow(10_000, 5000)),
        ("RANGE 10 STEP 5", ast.RangeWindow(10, 5)),
        ("RANGE PT10S", ast.RangeWindow(10_000, 10_000)),
        ("ELEMENTS 5", ast.CountWindow(5)),
        ("ELEMENTS 5 STEP 2", ast.CountWindow(5, 2)),
        ("ELEMENTS 5 MATCHING", ast.CountWindow(5, matching=True)),
        ("FROM NOW-PT10S TO NOW-PT5S STEP PT1S", ast.PastWindow(10_000, 5000, 1000)),
        ("FROM NOW - 10s TO NOW", ast.PastWindow(10_000, 0)),
        ("NOW", ast.NowWindow()),
        ("ALL", ast.AllWindow()),
    ],
)
def test_windows_of_rspql(window: str, expected: ast.Window) -> None:
    query = parse(f"ASK FROM NAMED WINDOW <w> ON STREAM <s> [{window}] {{ WINDOW <w> {{ }} }}", "rspql")
    assert query.dataset == (ast.WindowClause(S, expected, named=True, name=W),)
    assert query.where == ast.Group((ast.WindowBlock(W, ast.Group(())),))


def test_settings_of_a_window_in_rspql() -> None:
    text = "ASK FROM WINDOW ON ?any [RANGE 5s {}] {{ }}"
    policy = ast.AnyOf(
        (
            ast.AllOf((ast.Strategy("window-close"), ast.NotReport(ast.Strategy("non-empty")))),
            ast.Strategy("periodic", 5000),
        )
    )
    settings = ast.WindowSettings(policy, -1, "bag")
    for written in (
        "REPORT ON_WINDOW_CLOSE & !NON_EMPTY_CONTENT | PERIODIC PT5S ORIGIN -1 DUPLICATES BAG",
        "duplicates bag origin -1 report (window-close && ! non-empty) || periodic 5s",
        'ORIGIN "1969-12-31T23:59:59.999Z"^^xsd:dateTime DUPLICATES BAG REPORT window-close&!non_empty | periodic(5s)',
    ):
        clause = ast.WindowClause(ast.Variable("any"), ast.RangeWindow(5000, 5000), settings=settings)
        assert parse(text.format(written), "rspql").dataset == (clause,), written


@pytest.mark.parametrize(
    ("head", "register", "operator"),
    [
        ("REGISTER ISTREAM <s> AS SELECT *", ast.Register("stream", S), "istream"),
        ("REGISTER STREAM <s> AS SELECT DSTREAM *", ast.Register("stream", S), "dstream"),
        ("REGISTER QUERY s AS SELECT *", ast.Register("query", S), None),
        ("SELECT RSTREAM DISTINCT *", None, "rstream"),
        ("CONSTRUCT ISTREAM { }", None, "istream"),
    ],
)
def test_registration_in_rspql(head: str, register: ast.Register | None, operator: str | None) -> None:
    query = parse(f"{head} {{ }}", "rspql")
    assert (query.register, query.operator) == (register, operator)


def test_graphs_in_a_template_of_rspql() -> None:
    query = parse("CONSTRUCT { ?x ?y ?z . GRAPH ?x { ?y ?y ?y } ?z ?z ?z } { }", "rspql")
    one, two, three = (ast.Triples(v, (ast.Property(p, (o,)),)) for v, p, o in ((X, Y, Z), (Y, Y, Y), (Z, Z, Z)))
    assert query.form == ast.Construct((one, ast.QuadTemplate(X, (two,)), three))


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        ("RANGE 10s STEP 5s", ast.RangeWindow(10_000, 5000)),
        ("RANGE 24 hours TUMBLING", ast.RangeWindow(86_400_000, 86_400_000)),
        ("RANGE 10m STEP 1m", ast.RangeWindow(600_000, 60_000)),
        ("RANGE TRIPLES 5", ast.CountWindow(5)),
    ],
)
def test_windows_of_csparql(window: str, expected: ast.Window) -> None:
    query = parse(f"ASK FROM STREAM <s> [{window}] {{ }}", "csparql")
    assert query.dataset == (ast.WindowClause(S, expected),)


def test_csparql_allows_what_its_listings_have() -> None:
    query = parse(
        "REGISTER STREAM s COMPUTED EVERY 5m AS PREFIX f: <http://f/> FROM <s> "
        "SELECT ?x, ?total-n WHERE { ?x ?y ?z FILTER(?x-1 > timestamp(?x) && f:timestamp(?x, ?y, ?z) > ?x-?y) } "
        "AGGREGATE { (?total-n, SUM(?z), {?x, ?y}) FILTER(?total-n > 1) (?n, COUNT, ?x) }",
        "csparql",
    )
    total = ast.Variable("total-n")
    assert query.register == ast.Register("stream", S, 300_000)
    assert query.dataset == (ast.DatasetClause(S),)
    assert query.form == ast.Select((ast.Projection(X), ast.Projection(total)))
    assert query.aggregates == (
        ast.AggregateClause(total, ast.Aggregate("SUM", Z), (X, Y), ast.Filter(operation(">", total, integer("1")))),
        ast.AggregateClause(ast.Variable("n"), ast.Aggregate("COUNT", None), (X,)),
    )
    condition = cast(ast.Filter, cast(ast.Group, query.where).elements[1]).condition
    assert condition == operation(
        "&&",
        operation(">", operation("-", X, integer("1")), ast.Call("TIMESTAMP", (X,))),
        operation(">", ast.Call("TIMESTAMP", (X, Y, Z)), operation("-", X, Y)),
    )


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        ("NOW", ast.NowWindow()),
        ("ALL", ast.AllWindow()),
        ("RANGE 3s", ast.RangeWindow(3000, None)),
        ("RANGE 1m 30s SLIDE 10s", ast.RangeWindow(90_000, 10_000)),
        ("RANGE 3s TUMBLING", ast.RangeWindow(3000, 3000)),
        ("TRIPLES 5", ast.CountWindow(5)),
    ],
)
def test_windows_of_cqels(window: str, expected: ast.Window) -> None:
    block = ast.StreamBlock(S, expected, ast.Group(()))
    assert read_elements(f"STREAM <s> [{window}] {{ }}", "cqels") == (block,)
    assert read_elements(f"STREAM [{window}] <s> {{ }}", "cqels") == (block,)


def test_a_bare_aggregate_in_cqels() -> None:
    query = parse("SELECT ?x count(distinct ?y) as ?z { ?x ?y ?w } GROUP BY ?x", "cqels")
    assert query.form == ast.Select((ast.Projection(X), ast.Projection(Z, ast.Aggregate("COUNT", Y, distinct=True))))


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        ("", None),
        ("[NOW - 10 S]", ast.PastWindow(10_000, 0)),
        ("[NOW - 10 S TO NOW SLIDE 5 S]", ast.PastWindow(10_000, 0, 5000)),
        ("[NOW - 10 TO NOW - 5 SLIDE]", ast.PastWindow(10_000, 5000, 1000)),
        ("[FROM NOW - 2 HOURS TO NOW STEP 1 MIN]", ast.PastWindow(7_200_000, 0, 60_000)),
        ("[NOW - 1 MONTH]", ast.PastWindow(30 * 86_400_000, 0)),
        ("[TRIPLES 5]", ast.CountWindow(5)),
    ],
)
def test_windows_of_sparqlstream(window: str, expected: ast.Window | None) -> None:
    query = parse(f"ASK FROM STREAM <s> {window} {{ STREAM <s> {window} {{ }} }}", "sparqlstream")
    assert query.dataset == (ast.WindowClause(S, expected),)
    assert query.where == ast.Group((ast.StreamBlock(S, expected, ast.Group(())),))


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        ("WINDOW RANGE 1000 SLIDE", ast.RangeWindow(1000, 1)),
        ("WINDOW RANGE 30 MINUTE SLIDE", ast.RangeWindow(1_800_000, 60_000)),
        ("WINDOW RANGE 30 MINUTE SLIDE 5 MINUTE", ast.RangeWindow(1_800_000, 300_000)),
        ("WINDOW RANGE 1 WEEK SLIDE 5", ast.RangeWindow(604_800_000, 5)),
        ("WINDOW RANGE 2 HOUR FIXED", ast.RangeWindow(7_200_000, 7_200_000)),
        ("WINDOW ELEMS 5", ast.CountWindow(5)),
    ],
)
def test_windows_of_streaming_sparql(window: str, expected: ast.Window) -> None:
    query = parse(f"ASK FROM STREAM <s> {window} {{ ?x ?y ?z {window} }}", "streaming-sparql")
    assert query.dataset == (ast.WindowClause(S, expected),)
    assert cast(ast.Group, query.where).window == expected


def test_a_union_without_braces_in_streaming_sparql() -> None:
    empty = ast.Group(())
    assert parse("ASK { } UNION { }", "streaming-sparql").where == ast.Group((ast.Union((empty, empty)),))


@pytest.mark.parametrize("word", ["ſELECT", "SELEKT", "ＳＥＬＥＣＴ", "SELECT\u0301"])
def test_only_a_keyword_is_a_keyword(word: str) -> None:
    with pytest.raises(ValueError, match="expected SELECT"):
        parse(f"{word} * {{ ?s ?p ?o }}")


@pytest.mark.parametrize(
    "window", ["10s_x STEP 5s", "10s:x STEP 5s", "10s STEP 5sé", "PT10S:x STEP PT5S", "10s STEP 5s.", "10s STEP 5s-1"]
)
@pytest.mark.parametrize("dialect", ["csparql", "rspql"])
def test_nothing_behind_a_duration_is_overlooked(window: str, dialect: str) -> None:
    clause = "STREAM <s>" if dialect == "csparql" else "WINDOW ON STREAM <s>"
    with pytest.raises(ValueError, match="error"):
        parse(f"ASK FROM {clause} [RANGE {window}] {{ }}", dialect)


# Where nodes stand


@each(SAMPLES)
def test_every_node_knows_its_place(sample: Sample) -> None:
    """A node lies within its parent. What was not written is nowhere; a prologue may be in two places, so it is too."""
    query = parse(sample.text, sample.dialect, prefixes=sample.prefixes)
    pending: list[tuple[ast.Node, ast.Node]] = [(query, query)]
    while pending:
        parent, node = pending.pop()
        if node.span == NOWHERE:
            assert node in (query.prologue, ast.Modifiers(), ast.WindowSettings())
        else:
            assert parent.span.start <= node.span.start < node.span.end <= parent.span.end, (parent, node)
            parent = node
        pending += [(parent, child) for child in _children(node)]


def _children(node: ast.Node) -> list[ast.Node]:
    children: list[ast.Node] = []
    values = [getattr(node, field.name) for field in fields(node)]
    while values:
        value = values.pop()
        if isinstance(value, ast.Node):
            children.append(value)
        elif type(value) is tuple:
            values += value
    return children


def test_the_place_of_each_kind_of_node() -> None:
    text = (
        "SELECT (COUNT(?x) AS ?n) { ?x <p>/<q> 'a'@en , ( 1 -2 ) FILTER(?x + 1 > STRLEN('b') && !EXISTS { }) } LIMIT 5"
    )
    shown = {text[node.span.start : node.span.end] for node in walk(parse(text)) if node.span != NOWHERE}
    assert shown >= {
        "SELECT (COUNT(?x) AS ?n)",
        "(COUNT(?x) AS ?n)",
        "COUNT(?x)",
        "?x <p>/<q> 'a'@en , ( 1 -2 )",
        "<p>/<q> 'a'@en , ( 1 -2 )",
        "<p>/<q>",
        "'a'@en",
        "( 1 -2 )",
        "-2",
        "FILTER(?x + 1 > STRLEN('b') && !EXISTS { })",
        "?x + 1 > STRLEN('b') && !EXISTS { }",
        "?x + 1 > STRLEN('b')",
        "?x + 1",
        "STRLEN('b')",
        "!EXISTS { }",
        "EXISTS { }",
        "{ }",
        "LIMIT 5",
        text,
    }
