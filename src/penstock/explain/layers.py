"""Places boxes in layers from left to right and routes the edges between them (Sugiyama's method)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from penstock.explain.layout import Point, Rectangle, Size, spread


@dataclass(frozen=True, slots=True)
class Layers:
    """The place of each node, and the route of each edge from its first node to its second."""

    places: Mapping[str, Rectangle]
    routes: tuple[tuple[Point, ...], ...]
    width: float
    height: float


Slot = str
"""A node, or (with `PASS` in front) a point where an edge crosses a layer."""

PASS = "\0"


def place_in_layers(
    sizes: Mapping[str, Size],
    edges: Sequence[tuple[str, str]],
    last: Callable[[str], bool],
    gap_x: float,
    gap_y: float,
) -> Layers:
    """`sizes` contains all nodes; the nodes in `last` go to the last layer.

    Edges lead from one layer to the next. A longer edge reserves a slot in each layer between, so that no edge runs
    through a node.
    """
    forward = _without_cycles(list(sizes), edges)
    layer_of = _layers_of(list(sizes), forward, last)
    chains = [_chain(number, edge, layer_of) for number, edge in enumerate(forward)]
    layers: list[list[Slot]] = [[] for _ in range(max(layer_of.values(), default=-1) + 1)]
    for key in sizes:
        layers[layer_of[key]].append(key)
    for chain in chains:
        for step, slot in enumerate(chain[1:-1], start=1):
            layers[layer_of[chain[0]] + step].append(slot)
    before, after = _neighbours(chains)
    _reorder(layers, before, after)
    heights = {slot: _slot_size(slot, sizes).height for layer in layers for slot in layer}
    centres = _centres(layers, before, after, heights, gap_y)
    return _drawn(layers, centres, sizes, edges, forward, chains, gap_x)


def _slot_size(slot: Slot, sizes: Mapping[str, Size]) -> Size:
    return Size(0.0, 6.0) if slot.startswith(PASS) else sizes[slot]


def _without_cycles(keys: Sequence[str], edges: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The edges without cycles: edges that lead back are reversed."""
    following: dict[str, list[int]] = {key: [] for key in keys}
    for number, (start, _) in enumerate(edges):
        following[start].append(number)
    turned: set[int] = set()
    state: dict[str, str] = {}

    def visit(key: str) -> None:
        state[key] = "open"
        for number in following[key]:
            end = edges[number][1]
            if state.get(end) == "open":
                turned.add(number)
            elif end not in state:
                visit(end)
        state[key] = "done"

    for key in keys:
        if key not in state:
            visit(key)
    return [(end, start) if number in turned else (start, end) for number, (start, end) in enumerate(edges)]


def _layers_of(
    keys: Sequence[str], edges: Sequence[tuple[str, str]], last: Callable[[str], bool]
) -> dict[str, int]:  # fmt: skip
    """A node's layer is the length of the longest path to it; a node without incoming edges is placed next to its
    first target."""
    layer = dict.fromkeys(keys, 0)
    for _ in keys:
        for start, end in edges:
            if start != end:
                layer[end] = max(layer[end], layer[start] + 1)
    ends = {end for start, end in edges if start != end}
    for key in keys:
        following = [layer[end] for start, end in edges if start == key and end != key]
        if key not in ends and following:
            layer[key] = min(following) - 1
    others = [layer[key] for key in keys if not last(key)]
    final = max(others, default=-1) + 1
    return {key: final if last(key) else layer[key] for key in keys}


def _chain(number: int, edge: tuple[str, str], layer_of: Mapping[str, int]) -> list[Slot]:
    start, end = edge
    between = range(layer_of[start] + 1, layer_of[end])
    return [start, *(f"{PASS}{number}:{layer}" for layer in between), end]


def _neighbours(chains: Sequence[Sequence[Slot]]) -> tuple[dict[Slot, list[Slot]], dict[Slot, list[Slot]]]:
    before: dict[Slot, list[Slot]] = {}
    after: dict[Slot, list[Slot]] = {}
    for chain in chains:
        for left, right in itertools.pairwise(chain):
            before.setdefault(right, []).append(left)
            after.setdefault(left, []).append(right)
    return before, after


SWEEPS = 12
MANY = 400
"""With more lines than this between two layers, crossings are not counted: the difference would not be visible."""


def _reorder(
    layers: list[list[Slot]], before: Mapping[Slot, list[Slot]], after: Mapping[Slot, list[Slot]]
) -> None:  # fmt: skip
    """Orders each layer by the average position of its neighbours, sweep by sweep, and keeps the best order."""
    best, fewest = [list(layer) for layer in layers], _crossings(layers, after)
    for sweep in range(SWEEPS):
        backwards = sweep % 2 == 1
        neighbours = after if backwards else before
        for number in reversed(range(len(layers))) if backwards else range(len(layers)):
            beside = number + 1 if backwards else number - 1
            if not 0 <= beside < len(layers):
                continue
            place = {slot: position for position, slot in enumerate(layers[beside])}
            current = {slot: position for position, slot in enumerate(layers[number])}

            def mean(slot: Slot, place: dict[Slot, int] = place, current: dict[Slot, int] = current) -> float:
                near = [place[other] for other in neighbours.get(slot, ()) if other in place]  # noqa: B023
                return sum(near) / len(near) if near else current[slot]

            layers[number].sort(key=mean)
        crossings = _crossings(layers, after)
        if crossings < fewest:
            best, fewest = [list(layer) for layer in layers], crossings
    layers[:] = best


def _crossings(layers: Sequence[Sequence[Slot]], after: Mapping[Slot, list[Slot]]) -> int:
    total = 0
    for left, right in itertools.pairwise(layers):
        place = {slot: position for position, slot in enumerate(right)}
        ends = [(start, place[end]) for start, slot in enumerate(left) for end in after.get(slot, ()) if end in place]
        if len(ends) < MANY:
            total += sum(a < c and b > d for a, b in ends for c, d in ends)
    return total


def _centres(
    layers: Sequence[Sequence[Slot]],
    before: Mapping[Slot, list[Slot]],
    after: Mapping[Slot, list[Slot]],
    heights: Mapping[Slot, float],
    gap_y: float,
) -> dict[Slot, float]:
    """Finds heights that make edges as straight as possible, by adjusting the layers to each other repeatedly."""
    centres: dict[Slot, float] = {}
    for layer in layers:
        placed = spread([0.0] * len(layer), [heights[slot] for slot in layer], gap_y)
        centres.update(zip(layer, placed, strict=True))
    for sweep in range(2 * SWEEPS):
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            wanted = []
            for slot in layer:
                near = [centres[other] for other in (*before.get(slot, ()), *after.get(slot, ()))]
                wanted.append(sum(near) / len(near) if near else centres[slot])
            placed = spread(wanted, [heights[slot] for slot in layer], gap_y)
            centres.update(zip(layer, placed, strict=True))
    top = min((centres[slot] - heights[slot] / 2 for layer in layers for slot in layer), default=0.0)
    return {slot: centre - top for slot, centre in centres.items()}


def _drawn(
    layers: Sequence[Sequence[Slot]],
    centres: Mapping[Slot, float],
    sizes: Mapping[str, Size],
    edges: Sequence[tuple[str, str]],
    forward: Sequence[tuple[str, str]],
    chains: Sequence[Sequence[Slot]],
    gap_x: float,
) -> Layers:
    places: dict[str, Rectangle] = {}
    columns: dict[Slot, tuple[float, float]] = {}
    left = 0.0
    for layer in layers:
        width = max((_slot_size(slot, sizes).width for slot in layer), default=0.0)
        for slot in layer:
            columns[slot] = left, left + width
            if not slot.startswith(PASS):
                size = sizes[slot]
                top = centres[slot] - size.height / 2
                places[slot] = Rectangle(left + (width - size.width) / 2, top, size.width, size.height)
        left += width + gap_x
    routes = []
    for edge, turned, chain in zip(edges, forward, chains, strict=True):
        route = _route(chain, centres, columns, places)
        routes.append(tuple(route if edge == turned else reversed(route)))
    height = max((place.bottom for place in places.values()), default=0.0)
    lowest = max((centres[slot] for slot in centres), default=0.0)
    return Layers(places, tuple(routes), max(0.0, left - gap_x), max(height, lowest))


def _route(
    chain: Sequence[Slot],
    centres: Mapping[Slot, float],
    columns: Mapping[Slot, tuple[float, float]],
    places: Mapping[str, Rectangle],
) -> list[Point]:
    """From the first node to the edge of its layer, straight through the layers between, to the last node."""
    first, *between, end = chain
    start_place, end_place = places[first], places[end]
    points = [(start_place.right, centres[first]), (columns[first][1], centres[first])]
    for slot in between:
        points += [(columns[slot][0], centres[slot]), (columns[slot][1], centres[slot])]
    return [*points, (columns[end][0], centres[end]), (end_place.left, centres[end])]
