"""Report policies (semantics.md §5): the evaluation instants ET of a query, derived from its windows."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, islice
from typing import Protocol

from penstock.algebra.windows import multiples
from penstock.syntax import ast


class ReportingWindow(Protocol):
    """The properties of a window, over a finite part of a stream, that a policy uses."""

    def closing_instants(self, first: int, last: int) -> Iterable[int]: ...
    def is_empty(self, instant: int) -> bool: ...
    def has_changed(self, instant: int) -> bool:
        """Whether the content at `instant` differs from that at `instant - 1`."""

    def changes(self) -> Iterable[int]:
        """The instants at which elements enter or leave: the content changes at no other instant."""

    def arrivals(self) -> Iterable[int]:
        """The instants at which elements enter."""

    def occupied(self) -> Iterable[tuple[int, int | None]]:
        """Intervals `[start, end)`, in order; outside of them the content is empty. None as end means forever."""

    def stream_end(self) -> int | None: ...
    def origin(self) -> int: ...


class PolicyError(ValueError):
    """The policy triggers more evaluations than anyone can wait for."""


MOST_INSTANTS = 1_000_000


def instants(report: ast.Report, window: ReportingWindow, first: int, last: int) -> list[int]:
    """The instants in `[first, last]` at which the policy holds for the window, in order."""
    candidates = _candidates(report, window, [(first, last)])
    if candidates is None:
        if last - first > MOST_INSTANTS:
            raise PolicyError(
                f"this report policy may hold at every millisecond, and the input spans {last - first} of them; "
                "join it with window-close, content-change, arrival or periodic by &"
            )
        candidates = range(first, last + 1)
    distinct = {instant for instant in islice(candidates, MOST_INSTANTS + 1) if first <= instant <= last}
    if len(distinct) > MOST_INSTANTS:
        raise PolicyError(
            f"this report policy may hold at more than {MOST_INSTANTS} instants of the input; "
            "join it with non-empty by &, or take a longer step or period"
        )
    return [instant for instant in sorted(distinct) if _holds(report, window, instant)]


Stretches = list[tuple[int, int]]


def _candidates(report: ast.Report, window: ReportingWindow, stretches: Stretches) -> Iterable[int] | None:
    """A superset of the instants at which the policy holds; None means all instants."""
    match report:
        case ast.AllOf(reports):
            if ast.Strategy("non-empty") in reports:
                stretches = _occupied(window, *stretches[0])
            found = (_candidates(part, window, stretches) for part in reports)
            return next((candidates for candidates in found if candidates is not None), None)
        case ast.AnyOf(reports):
            parts = [part for part in (_candidates(part, window, stretches) for part in reports) if part is not None]
            return chain.from_iterable(parts) if len(parts) == len(reports) else None
        case ast.Strategy("window-close"):
            return chain.from_iterable(window.closing_instants(first, last) for first, last in stretches)
        case ast.Strategy("content-change"):
            return window.changes()
        case ast.Strategy("arrival"):
            return window.arrivals()
        case ast.Strategy("periodic", int(period)):
            return chain.from_iterable(multiples(window.origin(), period, *stretch) for stretch in stretches)
        case ast.Strategy("stream-end"):
            end = window.stream_end()
            return () if end is None else (end,)
    return None


def _occupied(window: ReportingWindow, first: int, last: int) -> Stretches:
    """Intervals of `[first, last]` with possible content: empty windows between the data are skipped."""
    bounded = ((max(first, start), last if end is None else min(last, end - 1)) for start, end in window.occupied())
    return [(start, end) for start, end in bounded if start <= end] or [(first, first)]


def _holds(report: ast.Report, window: ReportingWindow, instant: int) -> bool:
    match report:
        case ast.AllOf(reports):
            return all(_holds(part, window, instant) for part in reports)
        case ast.AnyOf(reports):
            return any(_holds(part, window, instant) for part in reports)
        case ast.NotReport(inner):
            return not _holds(inner, window, instant)
        case ast.Strategy("window-close"):
            return instant in window.closing_instants(instant, instant)
        case ast.Strategy("non-empty"):
            return not window.is_empty(instant)
        case ast.Strategy("content-change"):
            return window.has_changed(instant)
        case ast.Strategy("arrival"):
            return instant in window.arrivals()
        case ast.Strategy("periodic", int(period)):
            return instant >= window.origin() and (instant - window.origin()) % period == 0
        case ast.Strategy("stream-end"):
            return instant == window.stream_end()
    raise ValueError(f"a periodic report needs its period: {report}")
