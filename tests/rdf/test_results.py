"""Result lines: what contract.md shows, and back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple
from tests.rdf.result_lines import to_json_line

from penstock.rdf.elements import Node
from penstock.rdf.results import Evaluation, ResultLineError, from_json_line
from penstock.rdf.vocabulary import XSD

SHOPPER = NamedNode("http://ex.org/ann")
P = NamedNode("http://ex.org/p")


def test_select() -> None:
    rows: tuple[tuple[Node | None, ...], ...] = (
        (SHOPPER, Literal('a\n"é')),
        (BlankNode("b1"), Literal("a", language="en")),
        (None, Literal("01", datatype=NamedNode(XSD + "integer"))),
    )
    evaluation = Evaluation("q", 8000, ("shopper", "shop"), rows)
    line = to_json_line(evaluation)
    assert line == (
        '{"query": "q", "time": 8000, "head": {"vars": ["shopper", "shop"]}, "results": {"bindings": ['
        '{"shopper": {"type": "uri", "value": "http://ex.org/ann"}, '
        '"shop": {"type": "literal", "value": "a\\n\\"é"}}, '
        '{"shopper": {"type": "bnode", "value": "b1"}, '
        '"shop": {"type": "literal", "value": "a", "xml:lang": "en"}}, '
        '{"shop": {"type": "literal", "value": "01", "datatype": "http://www.w3.org/2001/XMLSchema#integer"}}]}}'
    )
    assert from_json_line(line) == evaluation


def test_select_without_solutions_or_variables() -> None:
    for evaluation in (Evaluation("q", 0, ("x",), ()), Evaluation("q", 0, (), ((), ()))):
        assert from_json_line(to_json_line(evaluation)) == evaluation


def test_ask() -> None:
    for boolean, text in ((True, "true"), (False, "false")):
        evaluation = Evaluation("q", 8000, boolean=boolean)
        line = f'{{"query": "q", "time": 8000, "head": {{}}, "boolean": {text}}}'
        assert to_json_line(evaluation) == line
        assert from_json_line(line) == evaluation


def test_construct() -> None:
    triple = Triple(SHOPPER, P, Literal('a "b"'))
    quad = Quad(BlankNode("s.1.0"), P, SHOPPER, NamedNode("http://ex.org/g"))
    evaluation = Evaluation("q", 8000, triples=(triple, quad))
    line = to_json_line(evaluation)
    assert json.loads(line) == {
        "query": "q",
        "time": 8000,
        "triples": [
            '<http://ex.org/ann> <http://ex.org/p> "a \\"b\\"" .',
            "_:s.1.0 <http://ex.org/p> <http://ex.org/ann> <http://ex.org/g> .",
        ],
    }
    assert list(json.loads(line)) == ["query", "time", "triples"]
    assert from_json_line(line) == evaluation


def test_a_line_is_one_line() -> None:
    assert "\n" not in to_json_line(Evaluation("q", 1, ("x",), ((Literal("a\nb\r\u2028"),),)))


nodes = st.one_of(
    st.builds(Literal, st.text(st.characters(exclude_categories=["Cs"]))),
    st.builds(lambda text: Literal(text, language="en-gb"), st.text(st.characters(exclude_categories=["Cs"]))),
    st.builds(lambda number: NamedNode(f"a:{number}"), st.integers()),
    st.builds(lambda number: BlankNode(f"b{number}"), st.integers(0)),
)


@given(st.lists(st.tuples(st.none() | nodes, st.none() | nodes)))
def test_every_row_comes_back(rows: list[tuple[Node | None, ...]]) -> None:
    evaluation = Evaluation("q", 1, ("x", "y"), tuple(rows))
    assert from_json_line(to_json_line(evaluation)) == evaluation


@given(st.lists(nodes))
def test_every_triple_comes_back(objects: list[Node]) -> None:
    evaluation = Evaluation("q", 1, triples=tuple(Triple(SHOPPER, P, node) for node in objects))
    assert from_json_line(to_json_line(evaluation)) == evaluation


def test_what_others_write_is_read_as_well() -> None:
    line = (
        '{"query": "q", "time": 1, "head": {"vars": ["x"], "link": []}, "results": {"ordered": false, '
        '"bindings": [{"x": {"type": "typed-literal", "value": "a", "datatype": "a:d"}, "valid": [1, 5]}]}}'
    )
    assert from_json_line(line).rows == ((Literal("a", datatype=NamedNode("a:d")),),)


def binding(term: str) -> str:
    return f'{{"query": "q", "time": 1, "head": {{"vars": ["x"]}}, "results": {{"bindings": [{{"x": {term}}}]}}}}'


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "this is not a line of JSON"),
        ("nonsense", "this is not a line of JSON"),
        ("[]", "a result line is a JSON object"),
        ("{}", '"query" is missing: it should be a string'),
        ('{"query": 1}', '"query" should be a string, and it is 1'),
        ('{"query": "q"}', '"time" is missing: it should be a whole number'),
        ('{"query": "q", "time": true}', '"time" should be a whole number, and it is true'),
        ('{"query": "q", "time": 1.5}', '"time" should be a whole number, and it is 1.5'),
        ('{"query": "q", "time": 1}', 'a result line has "results", "boolean" or "triples"'),
        ('{"query": "q", "time": 1, "boolean": 1}', '"boolean" should be true or false, and it is 1'),
        ('{"query": "q", "time": 1, "results": {}}', '"head" is missing'),
        ('{"query": "q", "time": 1, "head": {"vars": [1]}, "results": {"bindings": []}}', '"vars" should be a list of'),
        ('{"query": "q", "time": 1, "head": {"vars": ["x", "x"]}, "results": {"bindings": []}}', '"vars" names a var'),
        ('{"query": "q", "time": 1, "head": {"vars": []}, "results": {"bindings": [1]}}', "a binding should be an ob"),
        (
            '{"query": "q", "time": 1, "head": {"vars": []}, "results": {"bindings": [{"y": 1}]}}',
            'the variable y is bound, but not in "vars"',
        ),
        (binding("1"), "the term of ?x is wrong: it should be an object, and it is 1"),
        (binding("{}"), 'the term of ?x is wrong: "type" is missing'),
        (binding('{"type": "iri", "value": "a:b"}'), 'the term of ?x is wrong: its type should be "uri", "literal"'),
        (binding('{"type": "uri", "value": "a b"}'), "the term of ?x is wrong: Invalid IRI"),
        (binding('{"type": "bnode", "value": "a b"}'), "the term of ?x is wrong: The blank node identifier is invalid"),
        (binding('{"type": "literal", "value": "a", "xml:lang": "e n"}'), "the term of ?x is wrong: "),
        (binding('{"type": "literal", "value": "\\ud800"}'), "the term of ?x is wrong: "),
        ('{"query": "q", "time": 1, "triples": ["<a:s> <a:p> ."]}', '<a:s> <a:p> . is not a triple "<s> <p> <o> ."'),
        ('{"query": "q", "time": 1, "triples": ["# none"]}', '# none is not a triple "<s> <p> <o> ."'),
        ('{"query": "q", "time": 1, "triples": [1]}', '1 is not a triple "<s> <p> <o> ."'),
        ('{"query": "q", "time": 1, "triples": ["\\ud800"]}', '\ud800 is not a triple "<s> <p> <o> ."'),
    ],
)
def test_what_is_wrong_is_said(line: str, message: str) -> None:
    with pytest.raises(ResultLineError) as caught:
        from_json_line(line)
    assert str(caught.value).startswith(message)


def test_an_evaluation_checks_itself() -> None:
    with pytest.raises(ValueError, match="give one of them"):
        Evaluation("q", 1)
    with pytest.raises(ValueError, match="give one of them"):
        Evaluation("q", 1, boolean=True, triples=())
    with pytest.raises(ValueError, match="give both or neither"):
        Evaluation("q", 1, rows=())
    with pytest.raises(ValueError, match="a row has 1 term for 2 variables"):
        Evaluation("q", 1, ("x", "y"), ((SHOPPER,),))
