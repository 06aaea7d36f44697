"""Out-of-order input (semantics.md §2): what is within the bound is put in order, what is later changes no past."""

from __future__ import annotations

import pytest
from tests.oracle.asking import ask, content, elements, shown

WINDOWS = [
    ("csparql", "RANGE 5ms TUMBLING"),
    ("csparql", "RANGE 10ms STEP 5ms"),
    ("csparql", "RANGE 2ms STEP 5ms"),
    ("csparql", "RANGE TRIPLES 2"),
    ("rspql", "ELEMENTS 2 STEP 2"),
    ("cqels", "NOW"),
    ("cqels", "RANGE 4ms"),
    ("cqels", "TRIPLES 1"),
    ("cqels", "TRIPLES 3"),
    ("cqels", "ALL"),
    ("sparqlstream", "NOW - 10 MS TO NOW - 2 MS SLIDE 3 MS"),
    ("streaming-sparql", "WINDOW RANGE 6 SLIDE 2"),
    ("streaming-sparql", "WINDOW ELEMS 2"),
]


class TestWithinTheBound:
    @pytest.mark.parametrize(("dialect", "window"), WINDOWS)
    def test_order_does_not_matter(self, dialect: str, window: str) -> None:
        in_order = content(dialect, window, "1a 4b 6c 8d 11e 15f")
        assert content(dialect, window, "4b 1a 8d 6c 11e 15f", lateness=3) == in_order

    def test_exactly_as_late_as_allowed_counts(self) -> None:
        """When 10 has come the watermark is 5: the instant 5 is not evaluated before the watermark is greater."""
        assert content("cqels", "NOW", "1a 10b 5c 12d", lateness=5) == {1: "a", 5: "c", 10: "b", 12: "d"}
        assert content("csparql", "RANGE 5ms TUMBLING", "1a 10b 5c 12d", lateness=5) == {5: "ac", 10: "b"}

    def test_a_bound_of_nothing(self) -> None:
        """The same timestamp as the newest one is not behind it."""
        assert content("cqels", "NOW", "1a 10b 10c") == {1: "a", 10: "bc"}

    def test_arrival_order_decides_at_one_timestamp(self) -> None:
        assert content("cqels", "TRIPLES 1", "5a 8b 5c 9d", lateness=3) == {5: "c", 8: "b", 9: "d"}


class TestBehindTheBound:
    def test_it_counts_where_nothing_has_been_evaluated_yet(self) -> None:
        """c, at 4, comes when the watermark is 5. (0, 10] closes at 10, which is yet to come."""
        assert content("csparql", "RANGE 10ms TUMBLING", "10b 4c 20d", lateness=5) == {10: "bc", 20: "d"}
        assert content("csparql", "RANGE 10ms TUMBLING", "9b 4c 20d") == {10: "bc", 20: "d"}

    def test_it_is_there_from_the_watermark_on(self) -> None:
        """At 4 nothing was known of it; at every later instant of its interval, [4, 11), it is part of the content."""
        found = content("rspql", "RANGE 10ms", "2a 10b 4c 12d", lateness=5, report="periodic 1", empty=True)
        expected = {2: "a", 3: "a", 4: "a", 5: "ac", 6: "ac", 7: "ac", 8: "ac", 9: "ac", 10: "abc", 11: "", 12: "d"}
        assert found == expected

    def test_it_does_not_arrive_at_another_time(self) -> None:
        """Arrival is an element with timestamp t that enters at t: for 4 that instant is over."""
        assert content("rspql", "RANGE 10ms", "2a 10b 4c 12d", lateness=5, report="arrival", empty=True) == {
            2: "a", 10: "abc", 12: "d",
        }  # fmt: skip

    def test_now_is_over(self) -> None:
        assert content("cqels", "NOW", "10a 4b 20c", lateness=5, empty=True) == {10: "a", 20: "c"}

    def test_its_window_has_been_evaluated(self) -> None:
        """(0, 5] was evaluated when 12 came."""
        assert content("csparql", "RANGE 5ms TUMBLING", "1a 12b 3c 20d") == {5: "a", 15: "b", 20: "d"}

    def test_a_watermark_never_goes_back(self) -> None:
        """b is behind, and so does not move it; c is behind what a has set."""
        assert content("cqels", "NOW", "10a 4b 5c 11d", lateness=4, empty=True) == {10: "a", 11: "d"}

    def test_a_count_window_that_is_still_to_be_evaluated(self) -> None:
        """15 comes when the watermark is 20: at 20 the last two are those of 15 and 20; at 10 there was a alone."""
        assert content("csparql", "RANGE TRIPLES 2", "10a 20b 15d 30e") == {10: "a", 20: "bd", 30: "be"}

    def test_late_ones_are_judged_as_they_come(self) -> None:
        """w comes when the watermark is 1 and counts there; v comes when it is 2, and does not push w out of 1."""
        assert content("cqels", "TRIPLES 2", "1a 0w 2c") == {1: "aw", 2: "ac"}
        assert content("cqels", "TRIPLES 2", "1a 0w 2c 0v") == {1: "aw", 2: "ac"}


LATE = [
    # (0, 5] is over; (0, 10] and (5, 15] are over; (0, 2] is over
    ("csparql", "RANGE 5ms TUMBLING", "1a 12b {3x} 20c 25d"),
    ("csparql", "RANGE 10ms STEP 5ms", "1a 22b {3x} 30c"),
    ("csparql", "RANGE 2ms STEP 5ms", "1a 12b {2x} 17c"),
    ("cqels", "NOW", "10a {4x} 20b"),
    ("cqels", "RANGE 4ms", "10a 20b {15x} 21c"),
    ("sparqlstream", "NOW - 10 MS TO NOW - 2 MS SLIDE 3 MS", "10a 20b {5x} 25c"),
    ("streaming-sparql", "WINDOW RANGE 6 SLIDE 2", "10a 20b {5x} 25c"),
    # [15, 30) for the one at 15: with 30 come, all of that has been evaluated
    ("csparql", "RANGE TRIPLES 2", "10a 20b 30c {15x} 40d"),
    ("cqels", "TRIPLES 1", "10a 20b {15x} 40d"),
    ("cqels", "TRIPLES 2", "10a 20b 30c {15x} 40d"),
    ("streaming-sparql", "WINDOW ELEMS 2", "10a 20b 30c {15x} 40d"),
    ("rspql", "ELEMENTS 2 STEP 2", "10a 20b 30c 40d {15x} 50e 60f"),
]


@pytest.mark.parametrize(("dialect", "window", "stream"), LATE)
@pytest.mark.parametrize("report", [None, "content-change", "arrival", "window-close"])
def test_what_can_count_nowhere_changes_nothing(dialect: str, window: str, stream: str, report: str | None) -> None:
    with_it = stream.replace("{", "").replace("}", "")
    without_it = " ".join(word for word in stream.split() if not word.startswith("{"))
    expected = content(dialect, window, without_it, report=report, empty=True)
    assert content(dialect, window, with_it, report=report, empty=True) == expected


def test_what_can_count_nowhere_is_not_the_first_element() -> None:
    """The instants before 10 are not visited, whatever comes late."""
    found = content("csparql", "RANGE 5ms TUMBLING", "10a 3x 20b", report="window-close", empty=True)
    assert found == {10: "a", 15: "", 20: "b"}


def test_each_stream_has_its_own_bound() -> None:
    """Of two streams each is put in order by itself."""
    query = "SELECT ?x { { STREAM :s [NOW] { ?x a :Thing } } UNION { STREAM :r [NOW] { ?x a :Thing } } }"
    streams = {"s": elements("1a 10b 8c"), "r": elements("5d 3e 11f")}
    expected = {1: ["a"], 3: ["e"], 5: ["d"], 8: ["c"], 10: ["b"], 11: ["f"]}
    assert shown(ask(query, streams, lateness=2)) == expected
