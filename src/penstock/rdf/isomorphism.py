"""Decides whether two bags of rows are equal up to renaming blank nodes.

Colour refinement distinguishes blank nodes by the rows that contain them, repeatedly. A node with a unique colour has
only one possible partner and is treated like any other term from then on. The remaining nodes form groups that no row
connects. Isomorphic groups are interchangeable, so choices are tried only within a group.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import NamedTuple


class Blank(NamedTuple):
    """A blank node; its label is valid only in its own bag of rows."""

    label: str


Cells = tuple[Hashable, ...]
"""A row: blank nodes as `Blank`, everything else as any value that can be compared."""

Coloured = tuple["int | Blank", ...]
Colours = dict[Blank, int]
"""Nodes with the same colour are not yet distinguished."""


def are_isomorphic(left: Mapping[Cells, int], right: Mapping[Cells, int]) -> bool:
    """Whether a bijection of blank nodes turns one bag (rows with their multiplicities) into the other."""
    palette = _Palette()
    sides = palette.side(left), palette.side(right)
    return _match(*sides, palette)


class _Palette:
    """Numbers colours consistently on both sides."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}

    def number(self, thing: Hashable) -> int:
        return self._numbers.setdefault(thing, len(self._numbers))

    def fresh(self) -> int:
        return self.number(("fresh", len(self._numbers)))

    def side(self, bag: Mapping[Cells, int]) -> _Side:
        uncoloured = self.number("uncoloured")
        rows: Counter[Coloured] = Counter()
        for row, times in bag.items():
            rows[tuple(cell if isinstance(cell, Blank) else self.number(("term", cell)) for cell in row)] += times
        return _Side(rows, {node: uncoloured for row in rows for node in _blanks(row)})


class _Side(NamedTuple):
    """One of the two bags, or a group of its rows, with the colours of the blank nodes."""

    rows: Counter[Coloured]
    colours: Colours

    def refined(self, palette: _Palette) -> _Side:
        """Distinguishes nodes whose surrounding colours differ."""
        around: defaultdict[Blank, list[tuple[int, int, tuple[int, ...]]]] = defaultdict(list)
        for row, times in self.rows.items():
            for position, node in enumerate(row):
                if isinstance(node, Blank):
                    around[node].append((position, times, self._seen_from(node, row)))
        return _Side(
            self.rows,
            {node: palette.number((colour, *sorted(around[node]))) for node, colour in self.colours.items()},
        )

    def with_colour(self, node: Blank, colour: int) -> _Side:
        return _Side(self.rows, {**self.colours, node: colour})

    def fixed(self) -> _Side:
        """Replaces each node that has a unique colour by that colour."""
        sizes = self.classes()
        own = {node: colour for node, colour in self.colours.items() if sizes[colour] == 1}
        rows: Counter[Coloured] = Counter()
        for row, times in self.rows.items():
            rows[tuple(own.get(cell, cell) if isinstance(cell, Blank) else cell for cell in row)] += times
        return _Side(rows, {node: colour for node, colour in self.colours.items() if node not in own})

    def classes(self) -> Counter[int]:
        return Counter(self.colours.values())

    def ground_rows(self) -> Counter[Coloured]:
        return Counter({row: times for row, times in self.rows.items() if not any(_blanks(row))})

    def groups(self) -> Iterator[_Side]:
        """The rows with blank nodes, split into groups that no blank node connects."""
        leader = _connected(self.rows)
        rows: defaultdict[Blank, Counter[Coloured]] = defaultdict(Counter)
        for row, times in self.rows.items():
            node = next(_blanks(row), None)
            if node is not None:
                rows[leader[node]][row] = times
        for group in rows.values():
            yield _Side(group, {node: self.colours[node] for row in group for node in _blanks(row)})

    def signature(self) -> Hashable:
        """A value that is equal for isomorphic groups and rarely equal for others."""
        return tuple(sorted((self._seen_from(None, row), times) for row, times in self.rows.items()))

    def _seen_from(self, node: Blank | None, row: Coloured) -> tuple[int, ...]:
        return tuple(-1 if cell == node else self.colours[cell] if isinstance(cell, Blank) else cell for cell in row)


def _match(left: _Side, right: _Side, palette: _Palette) -> bool:
    while True:
        if left.classes() != right.classes():
            return False
        before = len(left.classes())
        left, right = left.refined(palette), right.refined(palette)
        if len(left.classes()) == before == len(right.classes()):
            break
    if left.classes() != right.classes():
        return False
    left_rest, right_rest = left.fixed(), right.fixed()
    if left_rest.ground_rows() != right_rest.ground_rows():
        return False
    left_groups, right_groups = list(left_rest.groups()), list(right_rest.groups())
    if len(left_groups) == len(right_groups) == 1 and len(left_rest.colours) == len(left.colours):
        return _try_a_pair(left_rest, right_rest, palette)
    return _pair_up(left_groups, right_groups, palette)


def _try_a_pair(left: _Side, right: _Side, palette: _Palette) -> bool:
    """Tries each possible partner for one node of the smallest class."""
    sizes = left.classes()
    node = min(left.colours, key=lambda candidate: sizes[left.colours[candidate]])
    colour = palette.fresh()
    partners = [partner for partner, other in right.colours.items() if other == left.colours[node]]
    return any(
        _match(left.with_colour(node, colour), right.with_colour(partner, colour), palette) for partner in partners
    )


def _pair_up(left: list[_Side], right: list[_Side], palette: _Palette) -> bool:
    """Finds a partner for each group; the first match is enough, because isomorphic groups are interchangeable."""
    candidates: defaultdict[Hashable, list[_Side]] = defaultdict(list)
    for group in right:
        candidates[group.signature()].append(group)
    for group in left:
        alike = candidates[group.signature()]
        fitting = next((index for index, other in enumerate(alike) if _match(group, other, palette)), None)
        if fitting is None:
            return False
        del alike[fitting]
    return not any(candidates.values())


def _blanks(row: Coloured) -> Iterator[Blank]:
    return (cell for cell in row if isinstance(cell, Blank))


def _connected(rows: Iterable[Coloured]) -> dict[Blank, Blank]:
    """Maps each node to the representative of its connected group (union-find)."""
    parent: dict[Blank, Blank] = {}

    def leader(node: Blank) -> Blank:
        parent.setdefault(node, node)
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for row in rows:
        nodes = [leader(node) for node in _blanks(row)]
        for node in nodes[1:]:
            parent[leader(node)] = leader(nodes[0])
    return {node: leader(node) for node in parent}
