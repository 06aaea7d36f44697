"""Whatever a person types, Penstock answers with a tree or with a syntax error, and soon.

Queries are broken at random, but with fixed seeds, so that every run breaks them alike; PENSTOCK_FUZZ multiplies the
number of broken queries of the normal run.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from functools import cache

import pytest
from tests.corpora import citybench, csrbench, papers, w3c
from tests.corpora.samples import all_of

from penstock.syntax import ast, read
from penstock.syntax.errors import QuerySyntaxError
from penstock.syntax.tokens import tokenize

ROUNDS = 20
BROKEN_A_ROUND = 250 * int(os.environ.get("PENSTOCK_FUZZ", "1"))
MOST_SECONDS = 2.0

BUILT_IN = (
    """PREFIX ex: <http://e/> SELECT DISTINCT ?x (COUNT(*) AS ?n) FROM <g>
    { ?x a ex:C ; ex:p/^ex:q* ?o, [ ex:r (1 2.0 'a'@en) ]
      OPTIONAL { ?x ex:s ?z FILTER(?z > 1 && !BOUND(?y) || ?z IN (1, -2)) } } # so far
    GROUP BY ?x HAVING (COUNT(*) > 1) LIMIT 3""",
    """PREFIX ex: <http://e/> REGISTER RSTREAM ex:out AS CONSTRUCT { GRAPH ?g { ?s ?p ?o } }
    FROM NAMED WINDOW ex:w ON STREAM ex:s
      [RANGE PT10S STEP PT5S REPORT ON_WINDOW_CLOSE & (NON_EMPTY_CONTENT | !PERIODIC 5s) ORIGIN -1 DUPLICATES BAG]
    FROM NAMED WINDOW ex:v ON ?any [FROM NOW-PT1H TO NOW-10m STEP 1m]
    WHERE { WINDOW ex:w { ?s ?p ?o } WINDOW ?g { ?s ?q ?o } }""",
    """REGISTER STREAM q COMPUTED EVERY 5m AS PREFIX f: <http://f/> SELECT ?a-b, ?n
    FROM STREAM <s> [RANGE 1h30m STEP 5 MINUTES] FROM STREAM <t> [RANGE TRIPLES 10]
    { ?a-b f:p ?c FILTER(timestamp(?c) > f:timestamp(?a-b)) }
    AGGREGATE { (?n, SUM(?c), {?a-b}) FILTER(?n > 1) }""",
    """SELECT ?x count(distinct ?y) as ?n
    WHERE { STREAM <s> [RANGE 3s 500ms SLIDE 1s] { ?x ?p ?y } STREAM ?t [NOW] { ?y ?q ?z } GRAPH <g> { ?z ?r ?x } }
    GROUP BY ?x""",
    """SELECT ISTREAM ?x FROM STREAM <s> [NOW - 10 S TO NOW - 5 SLIDE 1 MIN] FROM NAMED STREAM <t>
    { ?x ?p ?y . STREAM <t> { } }""",
    """SELECT * FROM STREAM <s> WINDOW RANGE 30 MINUTE SLIDE
    WHERE { ?x ?p ?y { ?y ?q ?z WINDOW ELEMS 5 } } UNION { ?a ?b ?c }""",
)

CHARACTERS = (
    "{}[]()<>?$:.;,\"'\\|&^!=+-*/@#_ \t\r\n09azAZ" + "\x00\x1f\u00a0\u00b7\u2028\u200d“”`´\ufeff\ud800\uffff🜁ſıİßéﬁ"
)
WORDS = (
    *"SELECT WHERE { } FILTER ( ) OPTIONAL UNION GRAPH STREAM WINDOW [ ] RANGE STEP SLIDE NOW TRIPLES AGGREGATE "
    "REGISTER AS COMPUTED EVERY FROM NAMED ON REPORT ORIGIN PT5S 10s 5 1e5 -1 VALUES UNDEF BIND EXISTS NOT IN a true "
    "COUNT(*) < ?x _:b ex:y ^^ @en TIMESTAMP ELEMS TO PREFIX BASE GROUP BY LIMIT ſelect \\u0041 \" '''".split(),
    "9" * 5000,
)


@cache
def originals() -> tuple[str, ...]:
    samples = all_of(papers.listings, papers.misprints, citybench.queries, csrbench.queries, w3c.positive, w3c.negative)
    return (*BUILT_IN, *BUILT_IN, *(sample.text for sample in samples))


# Ways to break a query


def delete_characters(text: str, chance: random.Random) -> str:
    start = chance.randrange(len(text) + 1)
    return text[:start] + text[start + chance.randint(1, 8) :]


def insert_characters(text: str, chance: random.Random) -> str:
    start = chance.randrange(len(text) + 1)
    return text[:start] + "".join(chance.choices(CHARACTERS, k=chance.randint(1, 4))) + text[start:]


def replace_character(text: str, chance: random.Random) -> str:
    start = chance.randrange(len(text) + 1)
    return text[:start] + chance.choice(CHARACTERS) + text[start + 1 :]


def truncate(text: str, chance: random.Random) -> str:
    return text[: chance.randrange(len(text) + 1)]


def behead(text: str, chance: random.Random) -> str:
    return text[chance.randrange(len(text) + 1) :]


def splice(text: str, chance: random.Random) -> str:
    return truncate(text, chance) + behead(chance.choice(originals()), chance)


def delete_token(text: str, chance: random.Random) -> str:
    start, end = _some_token(text, chance)
    return text[:start] + text[end:]


def duplicate_token(text: str, chance: random.Random) -> str:
    start, end = _some_token(text, chance)
    return text[:end] + " " + text[start:end] * chance.randint(1, 3) + text[end:]


def swap_tokens(text: str, chance: random.Random) -> str:
    (start, end), (other_start, other_end) = sorted((_some_token(text, chance), _some_token(text, chance)))
    if end > other_start:
        return text
    middle = text[end:other_start]
    return text[:start] + text[other_start:other_end] + middle + text[start:end] + text[other_end:]


def insert_word(text: str, chance: random.Random) -> str:
    _, end = _some_token(text, chance)
    return f"{text[:end]} {chance.choice(WORDS)} {text[end:]}"


def replace_token(text: str, chance: random.Random) -> str:
    start, end = _some_token(text, chance)
    return text[:start] + chance.choice(WORDS) + text[end:]


def another_case(text: str, chance: random.Random) -> str:
    return chance.choice((str.upper, str.lower, str.swapcase, str.title))(text)


def random_bytes(text: str, chance: random.Random) -> str:
    return chance.randbytes(chance.randint(0, 200)).decode("latin-1")


def random_words(text: str, chance: random.Random) -> str:
    return " ".join(chance.choices(WORDS[:-1], k=chance.randint(0, 40)))


def random_unicode(text: str, chance: random.Random) -> str:
    return "".join(chr(chance.randrange(0x110000)) for _ in range(chance.randint(0, 60)))


def _some_token(text: str, chance: random.Random) -> tuple[int, int]:
    tokens = tokenize(text)
    return tokens.span(chance.randrange(len(tokens.kinds)))


BREAKERS: tuple[Callable[[str, random.Random], str], ...] = (
    delete_characters, insert_characters, replace_character, truncate, behead, splice, delete_token, duplicate_token,
    swap_tokens, insert_word, replace_token, another_case, random_bytes, random_words, random_unicode,
)  # fmt: skip
DIALECTS = ("auto", "rspql", "csparql", "cqels", "sparqlstream", "streaming-sparql", "sparql")


def assert_answered(text: str, dialect: str = "auto") -> ast.Query | None:
    """A tree or a syntax error, in time; every problem has its place in the text and can be shown."""
    begin = time.process_time()
    try:
        reading = read(text, dialect)
    except QuerySyntaxError as error:
        query, problems = None, error.problems
        rendered = error.render()
    else:
        query, problems = reading.query, reading.warnings
        rendered = "fine"
    seconds = time.process_time() - begin
    assert rendered
    assert problems or query is not None
    for problem in problems:
        assert 0 <= problem.span.start <= problem.span.end <= max(1, len(text)), (problem, text)
        assert problem.message in problem.render(text)
    assert seconds < MOST_SECONDS, f"{seconds:.1f} s for {len(text)} characters"
    return query


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_a_broken_query_gets_an_answer(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(BROKEN_A_ROUND):
        text = chance.choice(originals())
        for _ in range(chance.choice((1, 1, 1, 2, 4))):
            text = chance.choice(BREAKERS)(text, chance)
        dialect = chance.choice(DIALECTS) if chance.random() < 0.5 else "auto"
        try:
            assert_answered(text, dialect)
        except Exception as error:
            error.add_note(f"dialect {dialect}, text {text!r}")
            raise


@pytest.mark.parametrize("original", BUILT_IN)
def test_the_unbroken_ones_are_read(original: str) -> None:
    assert assert_answered(original) is not None


@pytest.mark.parametrize("original", BUILT_IN)
def test_every_beginning_of_a_query_gets_an_answer(original: str) -> None:
    for end in range(len(original)):
        assert_answered(original[:end])


# Deep nesting and great length


def nested(opening: str, inside: str, closing: str, times: int = 10_000) -> str:
    return opening * times + inside + closing * times


REPORT = "SELECT * FROM NAMED WINDOW <w> ON <s> [RANGE 5s REPORT {}] {{ WINDOW <w> {{ }} }}"
DEEP = {
    "brackets": f"ASK {{ FILTER {nested('(', '1', ')')} }}",
    "brackets that are never closed": "ASK { FILTER " + "(" * 10_000,
    "groups": f"ASK {nested('{', '', '}')}",
    "groups that are never closed": "ASK " + "{" * 10_000,
    "groups that are never opened": "ASK {" + "}" * 10_000,
    "blank nodes": f"ASK {{ ?s ?p {nested('[ ?p ', '1', ']')} }}",
    "blank nodes that are never closed": "ASK { ?s ?p " + "[ ?p " * 10_000,
    "lists": f"ASK {{ ?s ?p {nested('(', '1', ')')} }}",
    "negations": f"ASK {{ FILTER({'!' * 10_000}?x) }}",
    "negations of brackets": f"ASK {{ FILTER({nested('!(', '?x', ')')}) }}",
    "signs": f"ASK {{ FILTER({'-' * 10_000}?x) }}",
    "function calls": f"ASK {{ FILTER({nested('STR(', '?x', ')')}) }}",
    "calls by IRI": f"ASK {{ FILTER({nested('<f>(', '?x', ')')}) }}",
    "IN": f"ASK {{ FILTER({nested('1 IN (', '1', ')')}) }}",
    "aggregates": f"SELECT ({nested('SUM(', '?x', ')')} AS ?y) {{ ?s ?p ?x }}",
    "OPTIONAL": f"ASK {{ {nested('OPTIONAL {', '', '}')} }}",
    "MINUS": f"ASK {{ {nested('MINUS {', '', '}')} }}",
    "GRAPH": f"ASK {{ {nested('GRAPH ?g {', '', '}')} }}",
    "UNION": f"ASK {{ {nested('{} UNION {', '', '}')} }}",
    "EXISTS": f"ASK {{ {nested('FILTER EXISTS {', '', '}')} }}",
    "NOT EXISTS in brackets": f"ASK {{ {nested('FILTER (NOT EXISTS {', '', '})')} }}",
    "sub-selects": f"ASK {{ {nested('{ SELECT * {', '', '}}')} }}",
    "paths": f"ASK {{ ?s {nested('(', '<p>', ')')} ?o }}",
    "inverse paths": f"ASK {{ ?s {nested('(^', '<p>', ')')} ?o }}",
    "WINDOW": f"ASK FROM NAMED WINDOW <w> ON <s> [RANGE 5s] {{ {nested('WINDOW <w> {', '', '}')} }}",
    "STREAM": f"ASK {{ {nested('STREAM <s> [NOW] {', '', '}')} }}",
    "report policies": REPORT.format(nested("(", "ON_ARRIVAL", ")")),
    "negated report policies": REPORT.format("!" * 10_000 + "ON_ARRIVAL"),
    "template": f"CONSTRUCT {{ ?s ?p {nested('[ ?p ', '1', ']')} }} WHERE {{ ?s ?p ?o }}",
}
NO_NESTING_AT_ALL = {"negations", "signs", "groups that are never opened"}
"""`!!x` and `--x` are no SPARQL: what is wrong is the second sign, not the depth."""

LONG = {
    "sum": f"ASK {{ FILTER({' + '.join(['1'] * 5000)}) }}",
    "difference": f"ASK {{ FILTER({' - '.join(['?x'] * 5000)}) }}",
    "conjunction": f"ASK {{ FILTER({' && '.join(['?x'] * 5000)}) }}",
    "disjunction of conjunctions": f"ASK {{ FILTER({' || '.join(['?x && ?y'] * 5000)}) }}",
    "list of IN": f"ASK {{ FILTER(?x IN ({', '.join(['1'] * 5000)})) }}",
    "path": f"ASK {{ ?s {'/'.join(['<p>'] * 5000)} ?o }}",
    "alternatives": f"ASK {{ ?s {'|'.join(['<p>'] * 5000)} ?o }}",
    "list": f"ASK {{ ?s ?p ({'1 ' * 5000}) }}",
    "properties": f"ASK {{ ?s {'?p ?o ; ' * 5000} }}",
    "objects": f"ASK {{ ?s ?p {', '.join(['?o'] * 5000)} }}",
    "triples": f"ASK {{ {'?s ?p ?o . ' * 5000} }}",
    "union": f"ASK {{ {' UNION '.join(['{ }'] * 5000)} }}",
    "optionals": f"ASK {{ {'OPTIONAL { } ' * 5000} }}",
    "filters": f"ASK {{ {'FILTER(?x) ' * 5000} }}",
    "values": f"ASK {{ VALUES ?x {{ {'1 ' * 5000} }} }}",
    "string": f"ASK {{ ?s ?p '{'a' * 100_000}' }}",
    "IRI": f"ASK {{ ?s ?p <{'a' * 100_000}> }}",
    "comment": f"ASK {{ }} #{'a' * 100_000}",
    "white space": f"ASK {' ' * 100_000} {{ }}",
    "projection": f"SELECT {'?x ' * 5000} {{ ?x ?p ?o }}",
}

# What a machine or a cat on the keyboard makes: long, and wrong.
LONG_AND_WRONG = {
    "words with full stops": "ASK { " + "a." * 20_000 + " }",
    "one word": "a" * 100_000,
    "quotes": "ASK { ?s ?p " + '"' * 100_001,
    "open strings": "'\n" * 20_000,
    "open IRIs": "ASK { " + "<a " * 20_000 + "}",
    "backslashes": "ASK { ?s ?p '" + "\\" * 100_001,
    "digits": "ASK { } LIMIT " + "9" * 100_000,
    "digits of a duration": f"ASK FROM STREAM <s> [RANGE {'9' * 5000}s STEP 1s] {{ }}",
    "decimals of a duration": f"ASK FROM STREAM <s> [RANGE 1.{'9' * 5000}s STEP 1s] {{ }}",
    "durations": f"ASK FROM STREAM <s> [RANGE {'1s ' * 5000} STEP 1s] {{ }}",
    "a long prefix nearly declared": f"PREFIX {'a' * 5000}: <x> ASK {{ {'a' * 5001}:b ?p ?o }}",
    "mistakes": "ASK { " + "?x ?p . " * 5000 + "}",
    "undeclared prefixes": "ASK { " + " . ".join(f"p{i}:a p{i}:b p{i}:c" for i in range(2000)) + " }",
    "unknown variables": "SELECT "
    + " ".join(f"?out{letters}" for letters in map(str, range(100_000, 100_500)))
    + " { "
    + " . ".join(f"?in{i}x ?in{i}y ?in{i}z" for i in range(500))
    + " }",
    "stars": "ASK { ?s <p>" + "*" * 10_000 + " ?o }",
    "carets": "ASK { ?s " + "^" * 10_000 + "<p> ?o }",
    "semicolons": "ASK { ?s ?p ?o " + ";" * 100_000 + " }",
    "NULs": "\x00" * 10_000,
}


def called_from_depth(frames: int, action: Callable[[], object]) -> None:
    """Runs `action` with that many Python frames below it."""
    if frames == 0:
        action()
    else:
        called_from_depth(frames - 1, action)


@pytest.mark.parametrize("frames", [0, 600])
@pytest.mark.parametrize("name", DEEP)
def test_nesting_that_is_too_deep_is_said_so(name: str, frames: int) -> None:
    def check() -> None:
        with pytest.raises(QuerySyntaxError) as caught:
            read(DEEP[name])
        if name not in NO_NESTING_AT_ALL:
            assert "nests" in caught.value.problems[0].message
            assert len(caught.value.problems) == 1
        assert caught.value.render()

    called_from_depth(frames, check)
    assert_answered(DEEP[name])


LIMITED = ("sum", "difference", "conjunction", "disjunction of conjunctions", "union")
"""Of which a query may have only so many as the engines take (tests/syntax/test_limits.py)."""


@pytest.mark.parametrize("name", LIMITED)
def test_length_beyond_a_limit_is_said_so(name: str) -> None:
    def check() -> None:
        with pytest.raises(QuerySyntaxError) as caught:
            read(LONG[name])
        (problem,) = caught.value.problems
        assert "there are more than" in problem.message

    called_from_depth(600, check)
    assert_answered(LONG[name])


@pytest.mark.parametrize("name", [name for name in LONG if name not in LIMITED])
def test_length_is_no_obstacle(name: str) -> None:
    assert assert_answered(LONG[name]) is not None
    called_from_depth(600, lambda: assert_answered(LONG[name]))


@pytest.mark.parametrize("name", LONG_AND_WRONG)
def test_length_makes_no_mistake_take_long(name: str) -> None:
    assert_answered(LONG_AND_WRONG[name])


@pytest.mark.parametrize(("one", "other"), [("+", "-"), ("*", "/")])
def test_a_long_chain_of_two_operators_gets_an_answer(one: str, other: str) -> None:
    """It nests to the left in the tree, though not in the text."""
    assert_answered(f"ASK {{ FILTER(1 {f'{one} 1 {other} 1 ' * 2500}) }}")


@pytest.mark.parametrize(
    "text",
    [
        f"ASK {{ {nested('{', '', '}', 40)} }}",
        f"ASK {{ FILTER {nested('(', '1', ')', 40)} }}",
        f"ASK {{ {nested('FILTER EXISTS {', '', '}', 40)} }}",
        f"ASK {{ {nested('{ SELECT * {', '', '}}', 20)} }}",
    ],
)
def test_as_much_nesting_as_people_need_is_read(text: str) -> None:
    assert assert_answered(text) is not None
