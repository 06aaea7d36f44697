"""Whether two bags of rows become equal by renaming blank nodes.

Blank nodes are told apart by the rows that they occur in, over and over (colour refinement). A node with a colour of
its own has only one possible partner, and is as good as any other term from then on. The rest falls into groups that no
row connects. Isomorphic groups may be paired in any way; so only within a group is a choice ever tried.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import NamedTuple


class Blank(NamedTuple):
    """A blank node: its label means nothing outside of its own bag of rows."""

    label: str


Cells = tuple[Hashable, ...]
"""A row: blank nodes as `Blank`, everything else as any value that can be compared."""

Coloured = tuple["int | Blank", ...]
Colours = dict[Blank, int]
"""The same colour: not yet told apart."""


def are_isomorphic(left: Mapping[Cells, int], right: Mapping[Cells, int]) -> bool:
    """Whether some bijection of blank nodes turns one bag (rows, and how often each is there) into the other."""
    palette = _Palette()
    sides = palette.side(left), palette.side(right)
    return _match(*sides, palette)


class _Palette:
    """A number for each thing that is told apart from the others, on both sides alike."""

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
    """One of the two bags, or a group of it, and the colours of its blank nodes."""

    rows: Counter[Coloured]
    colours: Colours

    def refined(self, palette: _Palette) -> _Side:
        """Tell apart what differs in the colours around it."""
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
        """Nodes with a colour of their own replaced by it."""
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
        """The rows with blank nodes, apart where no blank node connects them."""
        leader = _connected(self.rows)
        rows: defaultdict[Blank, Counter[Coloured]] = defaultdict(Counter)
        for row, times in self.rows.items():
            node = next(_blanks(row), None)
            if node is not None:
                rows[leader[node]][row] = times
        for group in rows.values():
            yield _Side(group, {node: self.colours[node] for row in group for node in _blanks(row)})

    def signature(self) -> Hashable:
        """Equal for isomorphic groups; seldom for others."""
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
    """Give one node, of the smallest class, each possible partner in turn."""
    sizes = left.classes()
    node = min(left.colours, key=lambda candidate: sizes[left.colours[candidate]])
    colour = palette.fresh()
    partners = [partner for partner, other in right.colours.items() if other == left.colours[node]]
    return any(
        _match(left.with_colour(node, colour), right.with_colour(partner, colour), palette) for partner in partners
    )


def _pair_up(left: list[_Side], right: list[_Side], palette: _Palette) -> bool:
    """Find a partner for each group; the first that fits will do, for isomorphic groups are interchangeable."""
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
    """For each node the one that stands for all that rows connect it with (union-find)."""
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
