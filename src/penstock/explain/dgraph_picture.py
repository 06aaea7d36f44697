"""Draws the denotational graph.

Each group of edges has a dashed box; boxes are stacked vertically. A box contains the nodes that occur only in this
group, in layers, with the predicates as labels between them. Nodes that several groups share (the join variables) are
in a column to the right of all boxes, together with the aggregates. The results of aggregates are in a column further
right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal as OneOf

from penstock.explain import svg
from penstock.explain.dgraph import AggregateBox, DGraph, Edge, EdgeGroup, Vertex
from penstock.explain.layers import Layers, place_in_layers
from penstock.explain.layout import Point, Rectangle, Size, spread
from penstock.explain.ograph import legend

GAP_X = 30.0
GAP_Y = 12.0
GROUP_GAP = 26.0
INSET = 16.0
TITLE = 24.0
LANE_GAP = 84.0
RESULT_GAP = 64.0

At = OneOf["start", "end"]


@dataclass(frozen=True, slots=True)
class PlacedDGraph:
    """Places of vertices, labels (by edge number), groups and aggregates (by number), and the routes of lines."""

    graph: DGraph
    vertices: Mapping[str, Rectangle]
    labels: Mapping[int, Rectangle]
    groups: Mapping[int, Rectangle]
    aggregates: Mapping[int, Rectangle]
    links: tuple[Link, ...]
    size: Size


@dataclass(frozen=True, slots=True)
class Link:
    """A line; `arrow` is the direction of the arrow head at its end, if it has one."""

    points: tuple[Point, ...]
    classes: str
    arrow: str | None = None


def vertex_label(vertex: Vertex) -> svg.Label:
    return svg.Label(vertex.label, vertex.annotations, 4)


def aggregate_label(aggregate: AggregateBox) -> svg.Label:
    by = f"by {aggregate.by}" if aggregate.by else "over all solutions"
    return svg.Label(aggregate.function, (by, *aggregate.annotations), 4)


def edge_label(edge: Edge, vertices: Mapping[str, Vertex]) -> str:
    """The predicate; the whole triple if both ends are far away, because the subject would be hard to recognise."""
    subject, object_ = vertices[edge.subject], vertices[edge.object]
    if len(subject.groups) == 1 or len(object_.groups) == 1:
        return edge.predicate
    return f"{subject.label} {edge.predicate} {object_.label}"


def _edge_size(edge: Edge, label: str) -> Size:
    lines = [svg.cut(label)] + ([svg.cut(edge.tag)] if edge.tag else [])
    return Size(max(map(svg.width_of, lines)) + 12, 18.0 + 13.0 * bool(edge.tag))


def place(graph: DGraph) -> PlacedDGraph:
    return _Placement(graph).placed()


@dataclass(slots=True)
class _Placement:
    graph: DGraph
    vertices: dict[str, Rectangle] = field(default_factory=dict)
    labels: dict[int, Rectangle] = field(default_factory=dict)
    groups: dict[int, Rectangle] = field(default_factory=dict)
    aggregates: dict[int, Rectangle] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    ports: list[tuple[str, Point, str, bool]] = field(default_factory=list)
    """A line that leaves a group: its target, its start, its class, and whether it has an arrow head."""

    def placed(self) -> PlacedDGraph:
        top = 0.0
        for group in self.graph.groups:
            top = self._place_group(group, top) + GROUP_GAP
        self._widen_groups()
        self._place_lane()
        self._place_results()
        rectangles = [*self.vertices.values(), *self.groups.values(), *self.aggregates.values()]
        lowest = min((rectangle.top for rectangle in rectangles), default=0.0)
        if lowest < 0:
            self._move_down(-lowest)
            rectangles = [*self.vertices.values(), *self.groups.values(), *self.aggregates.values()]
        size = Size(max((r.right for r in rectangles), default=0.0), max((r.bottom for r in rectangles), default=0.0))
        links = tuple(self.links)
        return PlacedDGraph(self.graph, self.vertices, self.labels, self.groups, self.aggregates, links, size)

    def _is_local(self, vertex: Vertex) -> bool:
        return len(vertex.groups) == 1

    def _vertex(self, key: str) -> Vertex:
        return next(vertex for vertex in self.graph.vertices if vertex.key == key)

    # A group: a dashed box around a drawing in layers

    def _place_group(self, group: EdgeGroup, top: float) -> float:
        edges = {number: edge for number, edge in enumerate(self.graph.edges) if edge.group == group.number}
        local = {v.key: v for v in self.graph.vertices if self._is_local(v) and group.number in v.groups}
        vertices = {vertex.key: vertex for vertex in self.graph.vertices}
        drawing = _GroupDrawing(edges, local, self.graph.aggregates, vertices)
        layers = drawing.layers()
        x, y = INSET, top + TITLE + 6
        for key, place in layers.places.items():
            if key in local:
                self.vertices[key] = place.moved(x, y)
            elif key.startswith("label "):
                self.labels[int(key.split()[1])] = place.moved(x, y)
        for route, (classes, arrow, port) in zip(layers.routes, drawing.links, strict=True):
            points = tuple((px + x, py + y) for px, py in route)
            if port is not None:
                self.ports.append((port, points[-1], classes, arrow == "end"))
            elif arrow is not None:
                points = points if arrow == "end" else points[::-1]
                self.links.append(Link(points, classes, "right" if points[-1][0] > points[0][0] else "left"))
                continue
            self.links.append(Link(points, classes))
        title = svg.width_of(svg.cut(group.label, 60)) + 20
        width = max(layers.width + 2 * INSET, title + INSET)
        self.groups[group.number] = Rectangle(0, top, width, TITLE + 6 + layers.height + INSET)
        return self.groups[group.number].bottom

    def _widen_groups(self) -> None:
        """Gives all boxes the same width, so that lines leave all of them at the same edge."""
        right = max((group.right for group in self.groups.values()), default=0.0)
        for key, group in self.groups.items():
            self.groups[key] = Rectangle(group.left, group.top, right - group.left, group.height)
        extended = []
        for target, (x, y), classes, arrow in self.ports:
            self.links.append(Link(((x, y), (right, y)), classes))
            extended.append((target, (right, y), classes, arrow))
        self.ports = extended

    # The column of shared nodes

    def _place_lane(self) -> None:
        results = {key for aggregate in self.graph.aggregates for key in aggregate.results}
        shared = [v for v in self.graph.vertices if not self._is_local(v) and (v.groups or v.key not in results)]
        sizes = {v.key: vertex_label(v).size for v in shared}
        sizes |= {f"aggregate {n}": aggregate_label(a).size for n, a in enumerate(self.graph.aggregates)}
        if not sizes:
            return
        wanted = self._wanted(sizes)
        ordered = sorted(sizes, key=lambda key: wanted[key])
        centres = spread([wanted[key] for key in ordered], [sizes[key].height for key in ordered], 18)
        right = max((group.right for group in self.groups.values()), default=0.0)
        left = right + LANE_GAP if self.groups else 0.0
        width = max(size.width for size in sizes.values())
        for key, centre in zip(ordered, centres, strict=True):
            size = sizes[key]
            place = Rectangle(left + (width - size.width) / 2, centre - size.height / 2, size.width, size.height)
            if key.startswith("aggregate "):
                self.aggregates[int(key.split()[1])] = place
            else:
                self.vertices[key] = place
        for target, start, classes, arrow in self.ports:
            place = self._lane_place(target)
            points = (start, (left, place.centre_y), (place.left, place.centre_y))
            self.links.append(Link(points, classes, "right" if arrow else None))
        self._link_within_lane(left + width)

    def _wanted(self, sizes: Mapping[str, Size]) -> dict[str, float]:
        middle = max((group.bottom for group in self.groups.values()), default=0.0) / 2
        wanted = {}
        for key in sizes:
            near = [y for target, (_, y), _, _ in self.ports if target == key]
            wanted[key] = sum(near) / len(near) if near else middle
        return wanted

    def _lane_place(self, key: str) -> Rectangle:
        return self.aggregates[int(key.split()[1])] if key.startswith("aggregate ") else self.vertices[key]

    def _link_within_lane(self, right: float) -> None:
        """Routes lines from shared variables to the aggregates over them, around the right side of the column."""
        for number, aggregate in enumerate(self.graph.aggregates):
            for key in dict.fromkeys((*aggregate.parameters, *aggregate.group)):
                if not self._is_local(self._vertex(key)) and key in self.vertices:
                    start, end = self.vertices[key], self.aggregates[number]
                    bend = right + 22
                    middle = (start.centre_y + end.centre_y) / 2
                    points = (
                        (start.right, start.centre_y), (right, start.centre_y),
                        (bend, middle), (right, end.centre_y), (end.right, end.centre_y),
                    )  # fmt: skip
                    self.links.append(Link(points, "result edge dashed"))

    # The column of results

    def _place_results(self) -> None:
        pairs = [(key, number) for number, aggregate in enumerate(self.graph.aggregates) for key in aggregate.results]
        fresh = [key for key in dict.fromkeys(key for key, _ in pairs) if key not in self.vertices]
        lane = [
            *self.aggregates.values(),
            *(self.vertices[v.key] for v in self.graph.vertices if v.key in self.vertices),
        ]
        left = max((place.right for place in lane), default=0.0) + RESULT_GAP
        wanted = {
            key: sum(self.aggregates[n].centre_y for k, n in pairs if k == key) / sum(k == key for k, _ in pairs)
            for key in fresh
        }
        fresh.sort(key=lambda key: wanted[key])
        sizes = [vertex_label(self._vertex(key)).size for key in fresh]
        centres = spread([wanted[key] for key in fresh], [size.height for size in sizes], GAP_Y)
        for key, size, centre in zip(fresh, sizes, centres, strict=True):
            self.vertices[key] = Rectangle(left, centre - size.height / 2, size.width, size.height)
        for key, number in pairs:
            start, end = self.aggregates[number], self.vertices[key]
            if end.left > start.right:
                points: tuple[Point, ...] = ((start.right, start.centre_y), (end.left, end.centre_y))
                self.links.append(Link(points, "result edge", "right"))
            else:
                points = ((start.left, start.centre_y), (end.right, end.centre_y))
                self.links.append(Link(points, "result edge", "left"))

    def _move_down(self, distance: float) -> None:
        self.vertices = {key: place.moved(0, distance) for key, place in self.vertices.items()}
        self.labels = {key: place.moved(0, distance) for key, place in self.labels.items()}
        self.groups = {key: place.moved(0, distance) for key, place in self.groups.items()}
        self.aggregates = {key: place.moved(0, distance) for key, place in self.aggregates.items()}
        self.links = [
            Link(tuple((x, y + distance) for x, y in link.points), link.classes, link.arrow) for link in self.links
        ]  # fmt: skip


@dataclass(slots=True)
class _GroupDrawing:
    """The nodes and lines within one group: its own vertices, the labels of its edges, and ports to the outside."""

    edges: Mapping[int, Edge]
    local: Mapping[str, Vertex]
    aggregates: Sequence[AggregateBox]
    vertices: Mapping[str, Vertex]
    links: list[tuple[str, At | None, str | None]] = field(default_factory=list)
    """For each line: its class, the position of its arrow head, and the node that it leads to outside."""

    def layers(self) -> Layers:
        sizes = {key: vertex_label(vertex).size for key, vertex in self.local.items()}
        sizes |= {
            f"label {number}": _edge_size(edge, edge_label(edge, self.vertices)) for number, edge in self.edges.items()
        }
        lines: list[tuple[str, str]] = []
        for number, edge in self.edges.items():
            classes = "edge dashed" if edge.tag else "edge"
            for start, end, outside, arrow in self._pieces(number, edge):
                if outside is not None:
                    sizes[end] = Size(0.0, 12.0)
                lines.append((start, end))
                self.links.append((classes, arrow, outside))
        for number, aggregate in enumerate(self.aggregates):
            for key in dict.fromkeys((*aggregate.parameters, *aggregate.group)):
                if key in self.local:
                    port = f"port {key} to aggregate {number}"
                    sizes[port] = Size(0.0, 12.0)
                    lines.append((key, port))
                    self.links.append(("result edge dashed", None, f"aggregate {number}"))
        return place_in_layers(sizes, lines, lambda key: key.startswith("port "), GAP_X, GAP_Y)

    def _pieces(self, number: int, edge: Edge) -> list[tuple[str, str, str | None, At | None]]:
        """An edge as two lines through its label: from, to, the node outside, the position of the arrow head."""
        label, subject_port, object_port = f"label {number}", f"port {number} s", f"port {number} o"
        is_subject_here, is_object_here = edge.subject in self.local, edge.object in self.local
        if is_subject_here and is_object_here:
            return [(edge.subject, label, None, None), (label, edge.object, None, "end")]
        if is_subject_here:
            return [(edge.subject, label, None, None), (label, object_port, edge.object, "end")]
        if is_object_here:
            return [(edge.object, label, None, "start"), (label, subject_port, edge.subject, None)]
        return [(label, subject_port, edge.subject, None), (label, object_port, edge.object, "end")]


def picture(graph: DGraph) -> svg.Fragment:
    placed = place(graph)
    parts = [_group(group, placed.groups[group.number]) for group in graph.groups]
    parts += [_link(link) for link in placed.links]
    vertices = {vertex.key: vertex for vertex in graph.vertices}
    for number, edge in enumerate(graph.edges):
        parts.append(_edge_text(edge, edge_label(edge, vertices), placed.labels[number]))
    for vertex in graph.vertices:
        classes = "result" if vertex.is_projected else ""
        radius = 13.0 if vertex.kind in ("variable", "blank") else 2.0
        parts.append(svg.box(placed.vertices[vertex.key], vertex_label(vertex), classes, radius))
    for number, aggregate in enumerate(graph.aggregates):
        parts.append(svg.box(placed.aggregates[number], aggregate_label(aggregate), "aggregate", 0))
    drawing = svg.Fragment(placed.size, "\n".join(parts))
    entries = [("result", "filled: part of the result"), ("", "square: a constant, or an aggregate")]
    return svg.stacked([drawing, legend(entries)], 18)


def _group(group: EdgeGroup, place: Rectangle) -> str:
    shown = svg.cut(group.label, 60)
    title = svg.text(
        place.left + 10, place.top + 18, shown, f"{group.part} name", None if shown == group.label else group.label
    )
    return svg.rectangle(place, f"{group.part} group", 8) + title


def _link(link: Link) -> str:
    points = list(link.points)
    if link.arrow is None:
        return svg.curve(points, link.classes)
    x, y = points[-1]
    points[-1] = (x - 6 if link.arrow == "right" else x + 6, y)
    classes = "result" if "result" in link.classes else ""
    return svg.curve(points, link.classes) + svg.tip(x, y, link.arrow, classes)


def _edge_text(edge: Edge, label: str, place: Rectangle) -> str:
    shown = svg.cut(label)
    whole = None if shown == label else label
    classes = "middle result name" if edge.is_projected else "middle"
    parts = [svg.text(place.centre_x, place.top + 13, shown, classes, whole)]
    if edge.tag:
        parts.append(svg.text(place.centre_x, place.top + 26, svg.cut(edge.tag), "middle small quiet note"))
    return "".join(parts)
