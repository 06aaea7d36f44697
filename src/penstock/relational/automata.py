"""Property paths as automata: which steps may follow each other, from the start of a path to its end.

A path that repeats (`?`, `*`, `+`) connects two nodes if the automaton accepts a way between them. States with the same
continuation are merged, so that most paths have one or two.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from penstock.algebra import paths


@dataclass(frozen=True, slots=True)
class Edge:
    """One triple: with one of the predicates, or with one that is not in a list; backwards from object to subject."""

    predicates: tuple[str, ...]
    is_backward: bool
    is_negated: bool = False


@dataclass(frozen=True, slots=True)
class Transition:
    """A transition between two states by any of the steps."""

    source: int
    steps: tuple[Edge, ...]
    target: int


@dataclass(frozen=True, slots=True)
class Automaton:
    """`accepting` are the states in which a path of one or more steps may end."""

    start: int
    transitions: tuple[Transition, ...]
    accepting: frozenset[int]
    accepts_no_step: bool

    @property
    def states(self) -> frozenset[int]:
        """The states that a path reaches after one or more steps."""
        return frozenset(transition.target for transition in self.transitions)


def automaton_of(path: paths.Path, *, is_backward: bool) -> Automaton:
    """The automaton of a path; `is_backward`: it walks from the end of the path to its start."""
    places = _Places()
    whole = places.part(path, is_backward)
    reached = [_State(frozenset(after), place in whole.last) for place, after in enumerate(places.following)]
    start = _State(whole.first, whole.is_empty)
    if start not in reached and not whole.is_empty:  # a prefix is enough, because nothing ends there
        start = next((state for state in reached if state.following == start.following), start)
    numbers = {state: number for number, state in enumerate(dict.fromkeys([start, *reached]))}
    transitions: dict[tuple[int, int], list[Edge]] = {}
    for state, source in numbers.items():
        for place in sorted(state.following):
            transitions.setdefault((source, numbers[reached[place]]), []).extend(places.steps[place])
    return Automaton(
        numbers[start],
        tuple(Transition(source, tuple(dict.fromkeys(s)), target) for (source, target), s in transitions.items()),
        frozenset(number for state, number in numbers.items() if state.accepts),
        whole.is_empty,
    )


@dataclass(frozen=True, slots=True)
class _State:
    following: frozenset[int]
    """The positions that may follow a step."""
    accepts: bool


@dataclass(frozen=True, slots=True)
class _Subpath:
    """The positions where a part of a path may begin and end, and whether it may have length zero."""

    first: frozenset[int]
    last: frozenset[int]
    is_empty: bool = False


class _Places:
    """The steps of a path by position, and the positions that may follow each (Glushkov)."""

    def __init__(self) -> None:
        self.steps: list[tuple[Edge, ...]] = []
        self.following: list[set[int]] = []

    def part(self, path: paths.Path, is_backward: bool) -> _Subpath:
        steps = _steps(path, is_backward)
        if steps is not None:
            self.steps.append(steps)
            self.following.append(set())
            here = frozenset({len(self.steps) - 1})
            return _Subpath(here, here)
        match path:
            case paths.Inverse(inner):
                return self.part(inner, not is_backward)
            case paths.Sequence(steps_of):
                return self._sequence(reversed(steps_of) if is_backward else steps_of, is_backward)
            case paths.Alternative(choices):
                parts = [self.part(choice, is_backward) for choice in choices]
                first, last = (
                    frozenset().union(*ends) for ends in zip(*((p.first, p.last) for p in parts), strict=True)
                )
                return _Subpath(first, last, any(part.is_empty for part in parts))
            case paths.Repeat(inner, times):
                part = self.part(inner, is_backward)
                if times != "?":
                    self._follow(part.last, part.first)
                return _Subpath(part.first, part.last, part.is_empty or times != "+")
        raise TypeError(f"this path cannot be compiled: {path}")

    def _sequence(self, steps: Iterable[paths.Path], is_backward: bool) -> _Subpath:
        whole = _Subpath(frozenset(), frozenset(), True)
        for step in steps:
            part = self.part(step, is_backward)
            self._follow(whole.last, part.first)
            whole = _Subpath(
                whole.first | part.first if whole.is_empty else whole.first,
                whole.last | part.last if part.is_empty else part.last,
                whole.is_empty and part.is_empty,
            )
        return whole

    def _follow(self, places: frozenset[int], following: frozenset[int]) -> None:
        for place in places:
            self.following[place] |= following


def _steps(path: paths.Path, is_backward: bool) -> tuple[Edge, ...] | None:
    """The steps of a path of length one; None if it may have another length."""
    match path:
        case paths.Link(predicate):
            return (Edge((predicate,), is_backward),)
        case paths.Inverse(inner):
            return _steps(inner, not is_backward)
        case paths.NegatedSet(forward, backward):
            sides = ((forward, is_backward), (backward, not is_backward))
            return tuple(Edge(side, goes_back, True) for side, goes_back in sides if side is not None)
        case paths.Alternative(choices):
            found = [_steps(choice, is_backward) for choice in choices]
            several = [steps for steps in found if steps is not None]
            return tuple(step for steps in several for step in steps) if len(several) == len(found) else None
    return None
