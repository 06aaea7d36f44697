"""Windows at their boundaries (semantics.md §3): an element on the boundary, one before it, one after it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.algebra.windows import (
    AllWindow,
    CountWindow,
    Interval,
    NowWindow,
    PastWindow,
    RangeWindow,
    Window,
)


def content(window: Window, times: list[int], instant: int) -> list[int]:
    """The timestamps of what is in the window at the instant."""
    validity = window.validity(times)
    return [t for t, valid in zip(times, validity, strict=True) if valid is not None and valid.holds(instant)]


def closings(window: Window, first: int, last: int, times: list[int] | None = None) -> list[int]:
    return list(window.closing_instants(times or [], first, last))


class TestRangeWindow:
    """RANGE α STEP β: the windows are (t0 + iβ, t0 + iβ + α]."""

    def test_boundaries_belong_to_the_window_that_closes_there(self) -> None:
        window = RangeWindow(10, 10)
        assert content(window, [0, 1, 9, 10, 11, 20], 10) == [1, 9, 10]
        assert content(window, [0, 1, 9, 10, 11, 20], 20) == [11, 20]

    def test_nothing_counts_up_to_the_origin(self) -> None:
        assert RangeWindow(10, 10, origin=5).interval(5) is None
        assert RangeWindow(10, 10, origin=5).interval(6) == Interval(6, 16)

    def test_sliding_element_lives_until_the_last_window_that_sees_it(self) -> None:
        window = RangeWindow(10, 5)
        assert window.interval(5) == Interval(5, 11)  # (0, 10] is the last
        assert window.interval(6) == Interval(6, 16)  # (5, 15] is the last
        assert content(window, [4, 5, 6, 15, 16], 15) == [6, 15]

    def test_between_closing_instants_the_present_window_closes_next(self) -> None:
        """Example 7: (α = 5, β = 2, t0 = 1) at 9 is (5, 10], which holds only what came at 7."""
        assert content(RangeWindow(5, 2, origin=1), [2, 2, 5, 7, 12], 9) == [7]

    def test_gaps_when_the_step_is_wider(self) -> None:
        window = RangeWindow(2, 5)  # (0, 2], (5, 7], (10, 12]
        assert [time for time in range(13) if window.interval(time) is not None] == [1, 2, 6, 7, 11, 12]
        assert window.interval(2) == Interval(2, 3)

    def test_closing_instants_start_a_width_behind_the_origin(self) -> None:
        assert closings(RangeWindow(10, 5, origin=3), 0, 30) == [13, 18, 23, 28]
        assert closings(RangeWindow(10, 5, origin=3), 18, 23) == [18, 23]
        assert closings(RangeWindow(10, 5, origin=3), 19, 22) == []

    def test_a_negative_origin_makes_windows_begin_at_the_multiples(self) -> None:
        """Streaming SPARQL's [ts, ⌊ts/δ⌋·δ + w) is an origin of -1."""
        window = RangeWindow(10, 5, origin=-1)
        for time in range(40):
            assert window.interval(time) == Interval(time, time // 5 * 5 + 10)

    @given(
        st.integers(1, 30), st.integers(1, 30), st.integers(-20, 20), st.integers(0, 100), st.lists(st.integers(0, 100))
    )
    def test_content_is_that_of_the_window_closing_next(
        self, width: int, step: int, origin: int, instant: int, times: list[int]
    ) -> None:
        """§3: at t the content is {ts : ceil(t) − α < ts ≤ t}, ceil(t) the first closing instant ≥ t."""
        closing = origin + width
        while closing < instant:
            closing += step
        expected = [time for time in times if closing - width < time <= instant and time > origin]
        assert content(RangeWindow(width, step, origin), times, instant) == expected

    @given(st.integers(1, 20), st.integers(1, 20), st.integers(0, 20), st.integers(0, 5), st.lists(st.integers(0, 150)))
    def test_theorem_1(self, width: int, step: int, origin: int, periods: int, times: list[int]) -> None:
        """Origins a and a + nβ agree from where the later one's first window is the present one for both.

        With the window that closes next as the present one (Examples 7 and 10), that is behind a + nβ + α − β, not yet
        at a + nβ as Theorem 1 says for the window that opened last.
        """
        early, late = RangeWindow(width, step, origin), RangeWindow(width, step, origin + periods * step)
        agree_from = origin + periods * step + max(0, width - step) + 1
        for instant in range(agree_from, 160):
            assert content(early, times, instant) == content(late, times, instant)


class TestPastWindow:
    def test_from_now_minus_a_to_now_minus_b(self) -> None:
        window = PastWindow(10, 4)
        assert window.validity([7]) == [Interval(11, 17)]
        assert content(window, [9, 10, 11, 15, 16, 17], 20) == [11, 15, 16]

    def test_cqels_range_alone_is_half_open(self) -> None:
        """(t − α, t]: CQELS Table 1."""
        assert content(PastWindow(3, 0), [2, 3, 4, 5, 6], 5) == [3, 4, 5]

    def test_closing_instants(self) -> None:
        assert closings(PastWindow(10, 0, 4, origin=1), 0, 13) == [1, 5, 9, 13]
        assert closings(PastWindow(10, 0), 0, 10, [3, 3, 7, 12]) == [3, 7]


class TestNowAndAll:
    def test_now_is_one_instant(self) -> None:
        assert NowWindow().validity([5]) == [Interval(5, 6)]
        assert content(NowWindow(), [4, 5, 5, 6], 5) == [5, 5]

    def test_all_keeps_everything(self) -> None:
        assert content(AllWindow(), [1, 5, 6], 5) == [1, 5]

    @pytest.mark.parametrize("window", [NowWindow(), AllWindow()])
    def test_what_never_closes_reports_on_arrival(self, window: Window) -> None:
        assert closings(window, 2, 6, [1, 2, 2, 6, 7]) == [2, 6]


class TestCountWindow:
    def test_the_last_n_elements(self) -> None:
        window = CountWindow(2)
        assert content(window, [1, 2, 3, 4], 3) == [2, 3]
        assert content(window, [1, 2, 3, 4], 100) == [3, 4]
        assert content(window, [1], 100) == [1]

    def test_several_at_one_timestamp(self) -> None:
        """What has gone before its instant is over was never there: [ts, ts′) is empty if ts′ = ts."""
        window = CountWindow(2)
        assert window.validity([5, 5, 5]) == [None, Interval(5, None), Interval(5, None)]
        assert content(window, [1, 5, 5], 5) == [5, 5]

    def test_moves_every_m_elements(self) -> None:
        window = CountWindow(3, step=2)
        times = [1, 2, 3, 4, 5, 6]
        assert content(window, times, 1) == []
        assert content(window, times, 2) == content(window, times, 3) == [1, 2]
        assert content(window, times, 4) == content(window, times, 5) == [2, 3, 4]
        assert content(window, times, 6) == [4, 5, 6]
        assert closings(window, 0, 10, times) == [2, 4, 6]

    def test_an_empty_stream(self) -> None:
        assert CountWindow(3).validity([]) == []
        assert closings(CountWindow(3), 0, 10, []) == []

    @given(st.integers(1, 6), st.integers(1, 4), st.lists(st.integers(0, 30)).map(sorted), st.integers(0, 30))
    def test_content_by_counting(self, size: int, step: int, times: list[int], instant: int) -> None:
        arrived = sum(1 for time in times if time <= instant)
        moved = arrived // step * step
        assert content(CountWindow(size, step), times, instant) == times[max(0, moved - size) : moved]
