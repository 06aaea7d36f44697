"""Suggests the name that the user probably meant."""

from __future__ import annotations

from collections.abc import Iterable

_MOST_EDITS = 3
_LONGEST = 200
_SIGNS = "?$"
_DIGITS = "0123456789"


def closest(name: str, candidates: Iterable[str], *, cutoff: float = 0.66) -> str | None:
    """The candidate most similar to `name`, or None if none is similar.

    Similar means that the share of unchanged characters is at least `cutoff`. Case and the mark of a variable do not
    count. In short names only case and a missing or swapped letter count as typos; `?v1` is never a typo for `?v2`. The
    name itself is never suggested.
    """
    wanted = name.lstrip(_SIGNS).casefold()
    if len(wanted) > _LONGEST:
        return None
    best: tuple[int, int, str] | None = None
    for candidate in candidates:
        offered = candidate.lstrip(_SIGNS).casefold()
        most = min(_MOST_EDITS, int((1 - cutoff) * max(len(wanted), len(offered))))
        if candidate == name or abs(len(wanted) - len(offered)) > most or _counts_on(wanted, offered):
            continue
        distance = _edits(wanted, offered)
        if distance > most or (distance and _is_another_short_name(wanted, offered)):
            continue
        rank = (distance, _edits(name, candidate), candidate)
        if best is None or rank < best:
            best = rank
    return None if best is None else best[2]


def did_you_mean(name: str, candidates: Iterable[str]) -> str | None:
    """The closest candidate as a hint: `did you mean ?name?`."""
    near = closest(name, candidates)
    return None if near is None else f"did you mean {near}?"


def _counts_on(left: str, right: str) -> bool:
    """Whether two names differ only in their numbers: `v1` and `v2` are different on purpose."""
    stem = left.rstrip(_DIGITS)
    return left != right and stem == right.rstrip(_DIGITS) and len(stem) < min(len(left), len(right))


def _is_another_short_name(left: str, right: str) -> bool:
    """Whether names of three letters differ in one letter: `sum` and `num` are both words."""
    return len(left) == len(right) < 4 and sorted(left) != sorted(right)


def _edits(left: str, right: str) -> int:
    """The number of letters to insert, drop, replace or swap with a neighbour (optimal string alignment)."""
    before: list[int] = []
    above = list(range(len(right) + 1))
    for row, letter in enumerate(left, 1):
        current = [row]
        for column, other in enumerate(right, 1):
            edits = min(above[column] + 1, current[-1] + 1, above[column - 1] + (letter != other))
            if row > 1 and column > 1 and letter == right[column - 2] and left[row - 2] == other:
                edits = min(edits, before[column - 2] + 1)
            current.append(edits)
        before, above = above, current
    return above[-1]
