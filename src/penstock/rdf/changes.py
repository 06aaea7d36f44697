"""Graphs that change (semantics.md §4): additions, deletions, and the validity of triples that follows from them."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from pyoxigraph import Triple

from penstock.rdf.blank_nodes import prefixed
from penstock.rdf.compression import uncompressed_name
from penstock.rdf.elements import Malformed
from penstock.rdf.errors import ReadingError, SourceError
from penstock.rdf.formats.tnt import decode_line, parse_timed_triple
from penstock.rdf.inputs import check_readable, file_input

ENDING = ".changes"
"""The file ending of changes."""

_CHANGE = re.compile(r"([AD])\s+(.*)")


class Change(NamedTuple):
    """A triple that was added to (or removed from, if not `added`) a part of a graph at an instant."""

    time: int
    added: bool
    triple: Triple
    part: Hashable = None


class Validity(NamedTuple):
    """A triple that is valid during `[start, end)`; if `end` is None, it stays valid."""

    triple: Triple
    start: int
    end: int | None


def is_changing(path: Path) -> bool:
    """Whether a file contains changes, judged by its name."""
    return uncompressed_name(path).suffix.lower() == ENDING


def read_changes(path: str | Path, *, scope: str) -> list[Change]:
    """The changes in a file of lines `A <s> <p> <o> "TS" .` (added at TS) and `D <s> <p> <o> "TS" .` (deleted at TS).

    The order is that of the file. Comments (`#`) and empty lines are allowed. Raises `SourceError` at the first line
    that is invalid.
    """
    path = Path(path)
    check_readable(path)
    return list(_changes(path, scope))


def validity(changes: Iterable[Change]) -> list[Validity]:
    """The merged validity intervals of each triple; triples are in the order of their first change.

    Adding a triple that is present has no effect, and neither has removing one that is absent. Changes at the same
    instant apply in their order. A graph is the merge of its parts: a triple is valid while any part contains it.
    """
    intervals: dict[Triple, list[Validity]] = {}
    holders: dict[Triple, set[Hashable]] = {}
    for time, added, triple, part in sorted(changes, key=lambda change: change.time):
        held = intervals.setdefault(triple, [])
        having = holders.setdefault(triple, set())
        held_before = bool(having)
        (having.add if added else having.discard)(part)
        if bool(having) == held_before:
            continue
        if added:
            resumes = bool(held) and held[-1].end == time
            held.append(Validity(triple, held.pop().start if resumes else time, None))
        elif (start := held.pop().start) < time:
            held.append(Validity(triple, start, time))
    return [interval for held in intervals.values() for interval in held]


def changes_of(triple: Triple, intervals: Iterable[tuple[int, int | None]], part: Hashable = None) -> list[Change]:
    """The changes to a part that contains a triple during these intervals, which may overlap."""
    merged: list[tuple[int, int | None]] = []
    for start, end in sorted(intervals, key=lambda interval: interval[0]):
        before = merged[-1][1] if merged else start - 1
        if before is not None and start > before:
            merged.append((start, end))
        else:
            ends = None if before is None or end is None else max(before, end)
            merged[-1] = (merged[-1][0], ends)
    added = [Change(start, True, triple, part) for start, _ in merged]
    return added + [Change(end, False, triple, part) for _, end in merged if end is not None]


def _changes(path: Path, scope: str) -> Iterator[Change]:
    rename = prefixed(scope)
    for number, line in file_input(path).lines(_refuse):
        try:
            text = decode_line(line)
            if not text or text.startswith("#"):
                continue
            matched = _CHANGE.fullmatch(text)
            if matched is None:
                raise ReadingError(
                    "this line is not a change: write A (add) or D (delete) before the triple and its time, as in "
                    'A <http://ex.org/s> <http://ex.org/p> "o" "1000" .'
                )
            time, triple = parse_timed_triple(matched[2], rename)
        except ReadingError as error:
            raise SourceError(f"{path}:{number}: {error.reason}") from None
        yield Change(time, matched[1] == "A", triple)


def _refuse(malformed: Malformed) -> None:
    raise SourceError(f"{malformed.place}: {malformed.reason}")
