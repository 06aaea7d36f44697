"""Report policies over a small made-up window (semantics.md §5)."""

from collections.abc import Iterable

import pytest

from penstock.algebra.reports import PolicyError, instants
from penstock.syntax.parser.reports import parse_report


class MadeUpWindow:
    """Content at 3, 4 and 8; closes at 4, 6 and 8; t0 is 1."""

    content = frozenset({3, 4, 8})

    def closing_instants(self, first: int, last: int) -> Iterable[int]:
        return [instant for instant in (4, 6, 8) if first <= instant <= last]

    def is_empty(self, instant: int) -> bool:
        return instant not in self.content

    def has_changed(self, instant: int) -> bool:
        return self.is_empty(instant) != self.is_empty(instant - 1)

    def changes(self) -> Iterable[int]:
        return [3, 5, 8, 9]

    def arrivals(self) -> Iterable[int]:
        return [3, 8]

    def occupied(self) -> Iterable[tuple[int, int | None]]:
        return [(3, 5), (8, 9)]

    def stream_end(self) -> int:
        return 10

    def origin(self) -> int:
        return 1


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("window-close", [4, 6, 8]),
        ("non-empty", [3, 4, 8]),
        ("content-change", [3, 5, 8, 9]),
        ("arrival", [3, 8]),
        ("periodic 3", [1, 4, 7, 10]),
        ("stream-end", [10]),
        ("window-close & non-empty", [4, 8]),
        ("non-empty & window-close", [4, 8]),
        ("periodic 3 & non-empty", [4]),
        ("arrival | stream-end", [3, 8, 10]),
        ("window-close & !non-empty", [6]),
        ("!content-change", [0, 1, 2, 4, 6, 7, 10]),
        ("(arrival | window-close) & non-empty", [3, 4, 8]),
    ],
)
def test_instants(policy: str, expected: list[int]) -> None:
    assert instants(parse_report(policy), MadeUpWindow(), 0, 10) == expected


def test_only_within_the_given_stretch() -> None:
    assert instants(parse_report("window-close"), MadeUpWindow(), 5, 7) == [6]


def test_a_policy_that_holds_at_every_millisecond_is_refused_over_long_input() -> None:
    with pytest.raises(PolicyError, match="join it with window-close"):
        instants(parse_report("non-empty"), MadeUpWindow(), 0, 10**9)


def test_a_long_gap_in_the_stream_is_not_visited() -> None:
    assert instants(parse_report("periodic 1 & non-empty"), MadeUpWindow(), 0, 10**12) == [3, 4, 8]
    with pytest.raises(PolicyError, match="join it with non-empty"):
        instants(parse_report("periodic 1"), MadeUpWindow(), 0, 10**12)
