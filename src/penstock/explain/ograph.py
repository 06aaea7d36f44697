"""C-SPARQL's operator graph (§3.4 of its paper): operators as boxes, data flowing upwards, streams and graphs below.

A scope with a name (GRAPH <g>, WINDOW <w>) moves no data. It has no box; its patterns are connected to their source.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal as OneOf

from penstock.explain import svg
from penstock.explain.document import Document
from penstock.explain.layout import Rectangle, Size, Tree, place_tree, spread
from penstock.explain.sources import Source
from penstock.explain.tree import OperatorNode, Part

GAP_X = 26.0
GAP_Y = 34.0
SOURCE_GAP = 58.0
"""Space between patterns and sources, where lines cross."""


@dataclass(frozen=True, slots=True)
class OBox:
    """An operator or a source of data."""

    key: str
    kind: OneOf["operator", "window", "graph", "service", "stream"]
    heading: str
    lines: tuple[str, ...]
    part: Part

    @property
    def label(self) -> svg.Label:
        return svg.Label(self.heading, self.lines)


@dataclass(frozen=True, slots=True)
class Flow:
    """Data flows from one box to another."""

    start: str
    end: str
    part: Part
    role: str | None = None


@dataclass(frozen=True, slots=True)
class OGraph:
    """`children` are the operators below each operator; flows can also start at sources and streams."""

    root: str
    boxes: Mapping[str, OBox]
    children: Mapping[str, tuple[str, ...]]
    flows: tuple[Flow, ...]

    def of_kind(self, *kinds: str) -> list[OBox]:
        return [box for box in self.boxes.values() if box.kind in kinds]


def operator_graph(document: Document, operators: OperatorNode | None = None) -> OGraph:
    """Builds the graph of `operators`; by default the operators of the query as written."""
    builder = _Builder(document)
    root = builder.operator(operators or document.operators)
    return OGraph(root, builder.boxes, builder.children, tuple(builder.flows))


class _Builder:
    def __init__(self, document: Document) -> None:
        self._document = document
        self.boxes: dict[str, OBox] = {}
        self.children: dict[str, tuple[str, ...]] = {}
        self.flows: list[Flow] = []

    def operator(self, node: OperatorNode) -> str:
        shown = _without_named_scopes(node)
        key = f"operator {shown.number}"
        self.boxes[key] = OBox(key, "operator", shown.operator, shown.details, shown.part)
        below = []
        for child in shown.children:
            start = self.operator(child)
            below.append(start)
            self.flows.append(Flow(start, key, self.boxes[start].part, child.role))
        self.children[key] = tuple(below)
        for source in shown.reads:
            self.flows.append(Flow(self._source(source), key, "static" if source.is_static else "streaming"))
        return key

    def _source(self, source: Source) -> str:
        key = str(source)
        if key in self.boxes:
            return key
        if source.number is None:
            kind: OneOf["graph", "service"] = "service" if source.kind == "service" else "graph"
            lines = (source.label,) if source.iri is not None else ()
            self.boxes[key] = OBox(key, kind, kind if lines else source.label, lines, "static")
            return key
        window = self._document.windows[source.number - 1]
        self.boxes[key] = OBox(key, "window", str(source), (window.rule,), "streaming")
        names = self._document.names
        stream = "every stream" if window.stream is None else names.iri(window.stream)
        stream_key = f"stream {stream}"
        self.boxes.setdefault(stream_key, OBox(stream_key, "stream", "stream", (stream,), "streaming"))
        self.flows.append(Flow(stream_key, key, "streaming"))
        return key


def _without_named_scopes(node: OperatorNode) -> OperatorNode:
    """The first operator that is not a scope with a constant name."""
    while node.is_scope and len(node.children) == 1 and not node.details[0].startswith("?"):
        node = node.children[0]
    return node


# The picture


@dataclass(frozen=True, slots=True)
class PlacedOGraph:
    graph: OGraph
    places: Mapping[str, Rectangle]
    size: Size
    source_line: float
    """Down to this height, lines to sources run straight, because only boxes of other columns are next to them."""


def place(graph: OGraph) -> PlacedOGraph:
    places = place_tree(_tree(graph, graph.root), GAP_X, GAP_Y)
    bottom = max(place.bottom for place in places.values())
    source_line = bottom + 10
    row_top = bottom + SOURCE_GAP
    sources = graph.of_kind("window", "graph", "service")
    places.update(_row(graph, sources, places, row_top))
    if streams := graph.of_kind("stream"):
        windows_bottom = max(places[box.key].bottom for box in sources)
        places.update(_row(graph, streams, places, windows_bottom + GAP_Y))
    left = min(place.left for place in places.values())
    moved = {key: place.moved(-left, 0) for key, place in places.items()}
    size = Size(max(p.right for p in moved.values()), max(p.bottom for p in moved.values()))
    return PlacedOGraph(graph, moved, size, source_line)


def _tree(graph: OGraph, key: str) -> Tree:
    return Tree(key, graph.boxes[key].label.size, tuple(_tree(graph, child) for child in graph.children[key]))


def _row(
    graph: OGraph, boxes: Sequence[OBox], places: Mapping[str, Rectangle], top: float
) -> dict[str, Rectangle]:  # fmt: skip
    """Places the boxes side by side, each as close as possible to the boxes above it."""
    wanted = {}
    for box in boxes:
        above = [places[flow.end].centre_x for flow in graph.flows if flow.start == box.key and flow.end in places]
        wanted[box.key] = sum(above) / len(above) if above else 0.0
    ordered = sorted(boxes, key=lambda box: wanted[box.key])
    sizes = [box.label.size for box in ordered]
    centres = spread([wanted[box.key] for box in ordered], [size.width for size in sizes], GAP_X)
    return {
        box.key: Rectangle(centre - size.width / 2, top, size.width, size.height)
        for box, size, centre in zip(ordered, sizes, centres, strict=True)
    }


def picture(document: Document, operators: OperatorNode | None = None) -> svg.Fragment:
    placed = place(operator_graph(document, operators))
    parts = [_flow(flow, placed) for flow in placed.graph.flows]
    for key, box in placed.graph.boxes.items():
        parts.append(svg.box(placed.places[key], box.label, box.part, 5 if box.kind == "operator" else 13))
    graph = svg.Fragment(placed.size, "\n".join(parts))
    return svg.stacked([graph, _legend(placed.graph)], 18)


def _flow(flow: Flow, placed: PlacedOGraph) -> str:
    start, end = placed.places[flow.start], placed.places[flow.end]
    x, y = _entry(flow, placed), end.bottom
    is_from_source = placed.graph.boxes[flow.start].kind in ("window", "graph", "service")
    points = [(start.centre_x, start.top), (x, y + 6)]
    if is_from_source:
        points = [(start.centre_x, start.top), (x, placed.source_line), (x, y + 6)]
    parts = [svg.curve(points, f"{flow.part} edge", vertical=True), svg.tip(x, y, "up", flow.part)]
    if flow.role is not None:
        parts.append(svg.text(start.centre_x + 8, start.top - 6, flow.role, "small note"))
    return "".join(parts)


def _entry(flow: Flow, placed: PlacedOGraph) -> float:
    """The point where an arrow meets the lower edge of its box; arrows are ordered by the positions they start at."""
    end = placed.places[flow.end]
    starts = [other.start for other in placed.graph.flows if other.end == flow.end]
    starts.sort(key=lambda key: placed.places[key].centre_x)
    apart = min(16.0, end.width / (len(starts) + 1))
    return end.centre_x + (starts.index(flow.start) - (len(starts) - 1) / 2) * apart


def _legend(graph: OGraph) -> svg.Fragment:
    parts: list[Part] = ["streaming", "static"]
    words = {"streaming": "streaming: depends on a window", "static": "static: depends on graphs alone"}
    shown = [part for part in parts if any(box.part == part for box in graph.boxes.values())]
    return legend([(part, words[part]) for part in shown])


def legend(entries: Sequence[tuple[str, str]]) -> svg.Fragment:
    """Small boxes of each class with their meanings."""
    parts, x = [], 0.0
    for classes, words in entries:
        parts.append(svg.rectangle(Rectangle(x, 2, 14, 14), f"{classes} box", 3))
        parts.append(svg.text(x + 21, 13, words, "quiet"))
        x += 21 + svg.width_of(words) + 24
    return svg.Fragment(Size(x, 18), "".join(parts))
