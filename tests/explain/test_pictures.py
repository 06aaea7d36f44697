"""The pictures: well-formed, nothing overlapping, no text cut without a tooltip, nothing fetched from elsewhere."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.explain.cases import COUPONS, FULL_STREETS, QUERIES, TOLLGATES, document

from penstock.explain import dgraph_picture, ograph
from penstock.explain.dot import as_dot
from penstock.explain.layout import Rectangle
from penstock.explain.page import as_html
from penstock.explain.picture import as_svg
from penstock.explain.svg import Label, cut, width_of

each_query = pytest.mark.parametrize("query", QUERIES, ids=lambda path: f"{path.parent.name}-{path.stem}")

SVG = "{http://www.w3.org/2000/svg}"


def assert_apart(places: list[Rectangle]) -> None:
    for one, other in combinations(places, 2):
        assert not one.overlaps(other)


def assert_within(inner: Rectangle, outer: Rectangle) -> None:
    assert outer.left <= inner.left
    assert inner.right <= outer.right
    assert outer.top <= inner.top
    assert inner.bottom <= outer.bottom


@each_query
def test_boxes_of_the_operator_graph_are_apart_and_hold_their_text(query: Path) -> None:
    placed = ograph.place(ograph.operator_graph(document(query)))
    assert_apart(list(placed.places.values()))
    for key, box in placed.graph.boxes.items():
        texts = [box.label.shown_heading, *box.label.shown_lines]
        assert max(map(width_of, texts)) < placed.places[key].width


@each_query
def test_the_denotational_graph_has_nothing_overlapping(query: Path) -> None:
    graph = document(query).dgraph
    placed = dgraph_picture.place(graph)
    assert_apart([*placed.vertices.values(), *placed.labels.values(), *placed.aggregates.values()])
    assert_apart(list(placed.groups.values()))
    for vertex in graph.vertices:
        if len(vertex.groups) == 1:
            assert_within(placed.vertices[vertex.key], placed.groups[vertex.groups[0]])
        else:
            assert_apart([placed.vertices[vertex.key], *placed.groups.values()])
    for number, edge in enumerate(graph.edges):
        assert_within(placed.labels[number], placed.groups[edge.group])


@each_query
def test_the_svg_is_well_formed_and_nothing_lies_outside(query: Path) -> None:
    picture = ElementTree.fromstring(as_svg(document(query)))
    width = float(picture.attrib["width"])
    for group in picture.iter(f"{SVG}g"):
        moved = re.fullmatch(r"translate\((\S+) (\S+)\)", group.attrib.get("transform", "translate(0 0)"))
        assert moved is not None
        for rectangle in group.iterfind(f"./{SVG}rect"):
            assert float(rectangle.attrib["x"]) + float(rectangle.attrib["width"]) <= width


def test_a_text_that_is_cut_has_all_of_it_in_a_tooltip() -> None:
    label = Label("BGP", ("?s " + "very" * 20 + " ?o", "?s ?p ?o"))
    assert label.shown_lines[0].endswith("…")
    assert label.tooltip is not None
    assert "very" * 20 in label.tooltip
    assert Label("BGP", ("?s ?p ?o",)).tooltip is None
    many = Label("BGP", tuple(f"?s ?p{number} ?o" for number in range(20)))
    assert many.shown_lines[-1] == "… 13 more"
    assert many.tooltip is not None
    assert "?p19" in many.tooltip


def test_cutting_counts_wide_characters_twice() -> None:
    assert cut("流" * 10, 20) == "流" * 10
    assert cut("流" * 11, 20) == "流" * 9 + "…"


def test_full_streets_shares_its_sources() -> None:
    graph = ograph.operator_graph(document(FULL_STREETS))
    assert len(graph.of_kind("window")) == 2
    assert len(graph.of_kind("stream")) == 2
    assert len([flow for flow in graph.flows if flow.start == "window 1"]) == 2


def test_the_groups_of_the_denotational_graph_tell_static_from_streaming() -> None:
    graph = document(COUPONS).dgraph
    assert [(group.label, group.part) for group in graph.groups] == [
        ("window :w_1", "streaming"),
        ("window :w_2", "streaming"),
        ("graph :shops", "static"),
    ]
    shared = {vertex.label for vertex in graph.vertices if len(vertex.groups) > 1}
    assert shared == {"?shop", "?shop_owner"}
    assert all(vertex.is_projected for vertex in graph.vertices if vertex.kind == "variable")


def test_aggregates_and_filters_of_the_denotational_graph() -> None:
    graph = document(FULL_STREETS).dgraph
    (aggregate,) = graph.aggregates
    assert (aggregate.function, aggregate.group, aggregate.results) == ("COUNT(*)", ("?street",), ("?passages",))
    (passages,) = (vertex for vertex in graph.vertices if vertex.key == "?passages")
    assert passages.annotations == ("?passages > 0.8 * ?capacity",)
    assert {edge.tag for edge in graph.edges} == {"", "union, side 1", "union, side 2"}


def test_a_variable_that_a_sub_select_hides_is_another_one() -> None:
    graph = document("SELECT * { ?s ?p ?o { SELECT ?s { ?s ?p ?x } } }").dgraph
    assert sorted(vertex.label for vertex in graph.vertices) == ["?o", "?s", "?x"]
    graph = document("SELECT * { ?s <http://e/p> ?o { SELECT ?s { ?s <http://e/p> ?o } } }").dgraph
    assert sorted(vertex.label for vertex in graph.vertices) == ["?o", "?o", "?s"]


@each_query
def test_dot(query: Path) -> None:
    text = as_dot(document(query))
    assert text.startswith("digraph ")
    assert text.count("{") - text.count("}") == sum(line.count("{") - line.count("}") for line in _labels(text))
    assert "subgraph cluster_1" in text


def _labels(text: str) -> list[str]:
    return re.findall(r'"(?:[^"\\]|\\.)*"', text)


class Resources(HTMLParser):
    """What a page refers to, and whether its elements are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.references: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.references += [value or "" for name, value in attrs if name in ("src", "href", "data", "action")]
        self.references += [tag] if tag in ("script", "link", "iframe", "object", "image", "use") else []
        if tag not in ("meta", "br", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.references += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@each_query
def test_the_page_needs_nothing_else(query: Path) -> None:
    page = as_html(document(query))
    resources = Resources()
    resources.feed(page)
    resources.close()
    assert resources.open == []
    assert resources.references == []
    assert "url(" not in page
    assert "@import" not in page


def test_the_page_has_every_part() -> None:
    page = as_html(document(COUPONS))
    for part in ("The query", "Settings", "Windows", "Operators", "Sources of the patterns", "Timeline"):
        assert f"<h2>{part}</h2>" in page
    assert "prefers-color-scheme: dark" in page
    assert '<span class="v">?shopper</span>' in page
    assert '<span class="k">SELECT</span>' in page


def test_a_query_cannot_break_out_of_the_page() -> None:
    page = as_html(document('SELECT * { ?s ?p "</pre><script>alert(1)</script>" # </pre><script>\n}'))
    assert "<script" not in page


def test_the_own_policy_stands_out_in_the_picture() -> None:
    picture = as_svg(document(TOLLGATES))
    assert picture.count('class="own diamond"') == 12
    assert picture.count("this query: ") == 1
