"""Boxes never overlap and edges never run through a box, whatever the tree or graph."""

from __future__ import annotations

from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

from penstock.explain.layers import Layers, place_in_layers
from penstock.explain.layout import Rectangle, Size, Tree, place_tree, spread

sizes = st.builds(Size, st.floats(1, 300), st.floats(1, 80))
wanted = st.lists(st.tuples(st.floats(-1e4, 1e4), st.floats(0, 200)), max_size=12)


@given(wanted, st.floats(0, 50))
def test_spread_keeps_the_order_and_the_gaps(pairs: list[tuple[float, float]], gap: float) -> None:
    lengths = [length for _, length in pairs]
    centres = spread([centre for centre, _ in pairs], lengths, gap)
    for (one, first), (other, second) in pairwise(zip(centres, lengths, strict=True)):
        assert other - one >= (first + second) / 2 + gap - 1e-6


def test_spread_moves_nothing_that_has_room() -> None:
    assert spread([0, 100, 300], [20, 20, 20], 10) == [0, 100, 300]


def test_spread_shares_out_what_collides() -> None:
    assert spread([0, 0], [10, 10], 2) == [-6, 6]


@st.composite
def trees(draw: st.DrawFn, depth: int = 4) -> Tree:
    children = draw(st.lists(trees(depth - 1), max_size=3)) if depth else []
    return Tree("", draw(sizes), tuple(children))


def _numbered(tree: Tree, path: str = "0") -> Tree:
    children = (_numbered(child, f"{path}.{number}") for number, child in enumerate(tree.children))
    return Tree(path, tree.size, tuple(children))


def _overlapping(places: list[Rectangle]) -> list[tuple[Rectangle, Rectangle]]:
    # Rectangles that share an edge may seem to overlap by what floating point loses.
    inner = [Rectangle(p.left + 1e-6, p.top + 1e-6, p.width - 2e-6, p.height - 2e-6) for p in places]
    return [(one, other) for one, other in combinations(inner, 2) if one.overlaps(other)]


@given(trees())
def test_a_tree_has_no_overlapping_boxes_and_nothing_below_its_leaves(tree: Tree) -> None:
    numbered = _numbered(tree)
    places = place_tree(numbered, 20, 30)
    assert not _overlapping(list(places.values()))
    for key, place in places.items():
        is_leaf = not any(other.startswith(f"{key}.") for other in places)
        below = [other for other in places.values() if other.top > place.bottom]
        assert not is_leaf or all(not other.left < place.centre_x < other.right for other in below)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[dict[str, Size], list[tuple[str, str]]]:
    keys = [f"n{number}" for number in range(draw(st.integers(1, 9)))]
    ends = st.sampled_from(keys)
    edges = draw(st.lists(st.tuples(ends, ends).filter(lambda edge: edge[0] != edge[1]), max_size=14))
    return {key: draw(sizes) for key in keys}, edges


def _placed(graph: tuple[dict[str, Size], list[tuple[str, str]]]) -> Layers:
    return place_in_layers(*graph, lambda key: False, 30, 12)


@given(graphs())
def test_layers_have_no_overlapping_boxes(graph: tuple[dict[str, Size], list[tuple[str, str]]]) -> None:
    layers = _placed(graph)
    assert set(layers.places) == set(graph[0])
    assert not _overlapping(list(layers.places.values()))


@given(graphs())
def test_edges_join_their_nodes_and_run_through_no_other(
    graph: tuple[dict[str, Size], list[tuple[str, str]]],
) -> None:
    layers = _placed(graph)
    for (start, end), route in zip(graph[1], layers.routes, strict=True):
        assert route[0][0] in (layers.places[start].left, layers.places[start].right)
        assert route[-1][0] in (layers.places[end].left, layers.places[end].right)
        for key, place in layers.places.items():
            if key not in (start, end):
                inner = Rectangle(place.left + 1e-6, place.top + 1e-6, place.width - 2e-6, place.height - 2e-6)
                assert not any(_meets(one, other, inner) for one, other in pairwise(route))


def _meets(one: tuple[float, float], other: tuple[float, float], place: Rectangle) -> bool:
    """Whether the rectangle around two points of a route, within which the curve stays, meets the node."""
    left, right = sorted((one[0], other[0]))
    top, bottom = sorted((one[1], other[1]))
    return left < place.right and place.left < right and top < place.bottom and place.top < bottom
