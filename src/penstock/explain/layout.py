"""Layout without overlaps: boxes in a row, boxes in a tree.

Sizes and places are in pixels; y grows downwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Size:
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Rectangle:
    left: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.left + self.width

    @property
    def bottom(self) -> float:
        return self.top + self.height

    @property
    def centre_x(self) -> float:
        return self.left + self.width / 2

    @property
    def centre_y(self) -> float:
        return self.top + self.height / 2

    def moved(self, x: float, y: float) -> Rectangle:
        return Rectangle(self.left + x, self.top + y, self.width, self.height)

    def overlaps(self, other: Rectangle) -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )  # fmt: skip


def spread(wanted: Sequence[float], sizes: Sequence[float], gap: float) -> list[float]:
    """Centres in the given order, at least `gap` apart, and as close as possible to the wanted positions.

    Least squares under an order is isotonic regression: neighbours that would overlap form a block, which is placed at
    the average of the positions that its members want.
    """
    offsets: list[float] = []
    offset = 0.0
    for position, size in enumerate(sizes):
        if position:
            offset += sizes[position - 1] / 2 + gap + size / 2
        offsets.append(offset)
    blocks: list[tuple[float, int]] = []
    for centre, offset in zip(wanted, offsets, strict=True):
        mean, count = centre - offset, 1
        while blocks and blocks[-1][0] > mean:
            earlier, members = blocks.pop()
            mean, count = (earlier * members + mean * count) / (members + count), members + count
        blocks.append((mean, count))
    means = [mean for mean, count in blocks for _ in range(count)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]


# A tree, its root on top


@dataclass(frozen=True, slots=True)
class Tree:
    key: str
    size: Size
    children: tuple[Tree, ...] = ()


def place_tree(tree: Tree, gap_x: float, gap_y: float) -> dict[str, Rectangle]:
    """Gives each subtree its own column, so that the space below a leaf is free."""
    heights: list[float] = []
    _collect_heights(tree, 0, heights)
    tops = [sum(heights[:depth]) + depth * gap_y for depth in range(len(heights))]
    places: dict[str, Rectangle] = {}
    _place_subtree(tree, 0.0, 0, tops, gap_x, places)
    return places


def _collect_heights(tree: Tree, depth: int, heights: list[float]) -> None:
    if depth == len(heights):
        heights.append(0.0)
    heights[depth] = max(heights[depth], tree.size.height)
    for child in tree.children:
        _collect_heights(child, depth + 1, heights)


def _column(tree: Tree, gap_x: float) -> float:
    below = sum(_column(child, gap_x) for child in tree.children) + gap_x * max(0, len(tree.children) - 1)
    return max(tree.size.width, below)


def _place_subtree(
    tree: Tree, left: float, depth: int, tops: Sequence[float], gap_x: float, places: dict[str, Rectangle]
) -> None:
    column = _column(tree, gap_x)
    widths = [_column(child, gap_x) for child in tree.children]
    start = left + (column - sum(widths) - gap_x * max(0, len(widths) - 1)) / 2
    for child, width in zip(tree.children, widths, strict=True):
        _place_subtree(child, start, depth + 1, tops, gap_x, places)
        start += width + gap_x
    below = [places[child.key].centre_x for child in tree.children]
    wanted = (below[0] + below[-1]) / 2 if below else left + column / 2
    half = tree.size.width / 2
    centre = min(max(wanted, left + half), left + column - half)
    places[tree.key] = Rectangle(centre - half, tops[depth], tree.size.width, tree.size.height)
