"""Whether two answers are the same, up to the labels of blank nodes."""

from __future__ import annotations

import random
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple
from tests.rdf.collected import triples

from penstock.rdf.elements import Node, Row
from penstock.rdf.results import same_graph, same_rows
from penstock.rdf.vocabulary import XSD

P = NamedNode("a:p")


def row(text: str) -> Row:
    """`_a` is a blank node, `-` is unbound, everything else a string."""
    return tuple(_node(word) for word in text.split())


def rows(*texts: str) -> list[Row]:
    return [row(text) for text in texts]


def _node(word: str) -> Node | None:
    if word == "-":
        return None
    return BlankNode(word[1:]) if word.startswith("_") else Literal(word)


class TestWithoutBlankNodes:
    def test_a_bag_has_no_order(self) -> None:
        assert same_rows(rows("a b", "c -", "a b"), rows("a b", "a b", "c -"), ordered=False)

    def test_but_it_counts(self) -> None:
        assert not same_rows(rows("a", "a", "b"), rows("a", "b", "b"), ordered=False)
        assert not same_rows(rows("a"), rows("a", "a"), ordered=False)
        assert not same_rows(rows("a -"), rows("a b"), ordered=False)

    def test_order_counts_where_it_is_said_to(self) -> None:
        assert same_rows(rows("a", "b"), rows("a", "b"), ordered=True)
        assert not same_rows(rows("a", "b"), rows("b", "a"), ordered=True)
        assert not same_rows(rows("a"), rows("a b"), ordered=True)

    def test_no_rows_and_empty_rows(self) -> None:
        assert same_rows([], [], ordered=False)
        assert same_rows([()], [()], ordered=True)
        assert not same_rows([()], [], ordered=False)

    @pytest.mark.parametrize(
        ("left", "right"),
        [
            (Literal("a"), NamedNode("a:a")),
            (Literal("a"), Literal("a", language="en")),
            (Literal("1"), Literal("1", datatype=NamedNode(XSD + "integer"))),
            (Literal("1", datatype=NamedNode(XSD + "integer")), Literal("01", datatype=NamedNode(XSD + "integer"))),
            (Literal("1", datatype=NamedNode(XSD + "decimal")), Literal("1.0", datatype=NamedNode(XSD + "decimal"))),
            (Literal("1", datatype=NamedNode(XSD + "double")), Literal("1", datatype=NamedNode(XSD + "float"))),
        ],
    )
    def test_terms_are_compared_by_identity(self, left: Node, right: Node) -> None:
        assert not same_rows([(left,)], [(right,)], ordered=False)
        assert same_rows([(left,)], [(left,)], ordered=False)


class TestDoubles:
    @pytest.mark.parametrize(
        ("left", "right", "expected"),
        [
            ("1.0E1", "10", True),
            ("1.0E1", "10.0", True),
            (".1e+2", "1e1", True),
            ("0.1", "1.0E-1", True),
            ("INF", "+INF", True),
            ("1e999", "INF", True),
            ("NaN", "NaN", True),
            ("0.1", "0.1000000000000001", False),
            ("0", "-0", False),
            ("one", "one", True),
            ("one", "One", False),
            ("nan", "NaN", False),
            ("1_0", "10", False),
        ],
    )
    def test_the_same_value_is_the_same_double(self, left: str, right: str, expected: bool) -> None:
        double = NamedNode(XSD + "double")
        left_rows, right_rows = [(Literal(left, datatype=double),)], [(Literal(right, datatype=double),)]
        assert same_rows(left_rows, right_rows, ordered=False) is expected
        assert same_rows(left_rows, right_rows, ordered=True) is expected


class TestBlankNodes:
    @pytest.mark.parametrize(
        ("left", "right", "expected"),
        [
            (["_a x"], ["_b x"], True),
            (["_a x"], ["_a y"], False),
            (["_a _a"], ["_a _b"], False),
            (["_a _b"], ["_a _a"], False),
            (["_a x", "_b y"], ["_b x", "_a y"], True),
            (["_a x", "_a y"], ["_a x", "_b y"], False),
            (["_a x", "_a x"], ["_a x", "_b x"], False),
            (["_a _a", "_b _b"], ["_a _b", "_b _a"], False),
            (
                ["_a _b", "_b _c", "_c _a", "_d _e", "_e _f", "_f _d"],
                ["_a _b", "_b _c", "_c _d", "_d _e", "_e _f", "_f _a"],
                False,
            ),
            (["_a _b", "_b _c", "_c _a"], ["_x _z", "_z _y", "_y _x"], True),
            (["_a x"], ["a x"], False),
            (["_a -"], ["- _a"], False),
        ],
    )
    def test_one_node_is_one_node(self, left: list[str], right: list[str], expected: bool) -> None:
        assert same_rows(rows(*left), rows(*right), ordered=False) is expected
        assert same_rows(rows(*right), rows(*left), ordered=False) is expected

    def test_with_an_order(self) -> None:
        assert same_rows(rows("_a _b", "_b x"), rows("_c _a", "_a x"), ordered=True)
        assert not same_rows(rows("_a x", "_b x"), rows("_c x", "_c x"), ordered=True)
        assert not same_rows(rows("_c x", "_c x"), rows("_a x", "_b x"), ordered=True)
        assert not same_rows(rows("_a x"), rows("a x"), ordered=True)
        assert not same_rows(rows("a x"), rows("_a x"), ordered=True)

    @given(
        st.lists(
            st.tuples(st.sampled_from("_a _b _c _d x -".split()), st.sampled_from("_a _b _c _d x".split())), max_size=7
        ),
        st.randoms(use_true_random=False),
    )
    def test_it_finds_a_bijection_where_there_is_one(self, pairs: list[tuple[str, str]], chance: random.Random) -> None:
        left = rows(*(" ".join(pair) for pair in pairs))
        assert same_rows(left, _relabelled(left, chance), ordered=False)

    @given(
        st.lists(st.tuples(*[st.sampled_from("_a _b _c x".split())] * 2), max_size=5),
        st.lists(st.tuples(*[st.sampled_from("_a _b _c x".split())] * 2), max_size=5),
    )
    def test_it_agrees_with_trying_all_bijections(
        self, left: list[tuple[str, str]], right: list[tuple[str, str]]
    ) -> None:
        found = same_rows(rows(*map(" ".join, left)), rows(*map(" ".join, right)), ordered=False)
        assert found is any(
            sorted((renamed.get(s, s), renamed.get(o, o)) for s, o in left) == sorted(right)
            for labels in permutations(["_a", "_b", "_c"])
            for renamed in [dict(zip(["_a", "_b", "_c"], labels, strict=True))]
        )


class TestThousands:
    """None of these may take long, nor exhaust the stack."""

    def test_of_nodes_that_nothing_connects(self) -> None:
        left = rows(*(f"_a{number} x" for number in range(3000)))
        assert same_rows(left, _relabelled(left), ordered=False)
        assert not same_rows(left, [*left[:-1], left[0]], ordered=False)

    def test_of_nodes_around_one(self) -> None:
        left = rows(*(f"_hub _a{number}" for number in range(3000)))
        assert same_rows(left, _relabelled(left), ordered=False)

    def test_of_nodes_that_terms_tell_apart(self) -> None:
        left = rows(*(f"_a{number} {number} _a{number // 2}" for number in range(3000)))
        assert same_rows(left, _relabelled(left), ordered=False)
        assert not same_rows(left, [*_relabelled(left)[:-1], row("_a0 0 _a1")], ordered=False)

    def test_of_groups_that_look_alike(self) -> None:
        left = rows(*(f"_a{n} _b{n}" for n in range(1000)), *(f"_b{n} _a{n}" for n in range(1000)))
        assert same_rows(left, _relabelled(left), ordered=False)

    def test_of_a_chain_without_labels(self) -> None:
        left = rows(*(f"_a{number} _a{number + 1}" for number in range(400)))
        assert same_rows(left, _relabelled(left), ordered=False)

    def test_of_a_clique(self) -> None:
        left = rows(*(f"_a{one} _a{other}" for one in range(25) for other in range(25) if one != other))
        assert same_rows(left, _relabelled(left), ordered=False)
        assert not same_rows(left, [*_relabelled(left)[1:], row("_a0 _a0")], ordered=False)


class TestGraphs:
    def test_a_graph_is_a_set(self) -> None:
        one = triples(":a :p _:x . _:x :q [ :r 1.0e0 ] .")
        other = triples("_:y :q [ :r 1 ] , [ :r 10e-1 ] . :a :p _:y .")
        assert not same_graph(one, other)
        assert same_graph(one * 2, triples("_:y :q [ :r 10e-1 ] . :a :p _:y ."))

    def test_lists(self) -> None:
        assert same_graph(triples(":a :p ( 1 1 [] ) ."), triples(":a :p ( 1 1 _:b ) ."))
        assert not same_graph(triples(":a :p ( 1 2 ) ."), triples(":a :p ( 2 1 ) ."))

    def test_quads_know_their_graph(self) -> None:
        triple = Triple(BlankNode("a"), P, Literal("1"))
        in_graph = Quad(BlankNode("b"), P, Literal("1"), NamedNode("a:g"))
        assert same_graph([triple], [Quad(BlankNode("b"), P, Literal("1"))])
        assert same_graph([in_graph], [Quad(BlankNode("c"), P, Literal("1"), NamedNode("a:g"))])
        assert not same_graph([triple], [in_graph])
        assert not same_graph([in_graph], [Quad(BlankNode("b"), P, Literal("1"), BlankNode("b"))])

    def test_more_than_rdf_1_1_is_an_error(self) -> None:
        nested = Triple(NamedNode("a:s"), P, Triple(NamedNode("a:s"), P, Literal("1")))
        with pytest.raises(ValueError, match="RDF-star"):
            same_graph([nested], [])


def _relabelled(answer: list[Row], chance: random.Random | None = None) -> list[Row]:
    """The same rows in another order, with other labels."""
    chance = chance or random.Random(7)
    labels = sorted({node.value for row in answer for node in row if isinstance(node, BlankNode)})
    others = [f"r{number}" for number in range(len(labels))]
    chance.shuffle(others)
    renamed = dict(zip(labels, others, strict=True))
    shuffled = [
        tuple(BlankNode(renamed[node.value]) if isinstance(node, BlankNode) else node for node in row) for row in answer
    ]
    chance.shuffle(shuffled)
    return shuffled
