"""Time windows of every dialect at their boundaries (semantics.md §3): an element on one, before it, after it."""

from __future__ import annotations

import pytest
from tests.oracle.asking import ask, content, shown

from penstock.syntax.errors import QuerySyntaxError

AROUND = "0z 1a 5b 6c 10d 11e 15f 16g 20h"


class TestRangeAndStep:
    """(t0 + iβ, t0 + iβ + α]: a boundary belongs to the window that closes there."""

    @pytest.mark.parametrize(
        ("dialect", "window"),
        [
            ("rspql", "RANGE 10ms STEP 5ms"),
            ("rspql", "RANGE PT0.010S SLIDE PT0.005S"),
            ("rspql", "RANGE 10 STEP 5"),
            ("csparql", "RANGE 10ms STEP 5ms"),
        ],
    )
    def test_sliding(self, dialect: str, window: str) -> None:
        assert content(dialect, window, AROUND) == {10: "abcd", 15: "cdef", 20: "efgh"}

    @pytest.mark.parametrize(
        ("dialect", "window"),
        [("rspql", "RANGE 10ms"), ("rspql", "RANGE 10ms STEP 10ms"), ("csparql", "RANGE 10ms TUMBLING")],
    )
    def test_tumbling(self, dialect: str, window: str) -> None:
        assert content(dialect, window, AROUND) == {10: "abcd", 20: "efgh"}

    @pytest.mark.parametrize("dialect", ["rspql", "csparql"])
    def test_a_step_wider_than_the_range_leaves_gaps(self, dialect: str) -> None:
        stream = "1a 2b 3c 5d 6e 7f 8g 12h 13i"  # (0, 2], (5, 7], (10, 12]
        assert content(dialect, "RANGE 2ms STEP 5ms", stream) == {2: "ab", 7: "ef", 12: "h"}

    def test_in_a_gap_the_window_is_empty(self) -> None:
        assert content("rspql", "RANGE 2ms STEP 5ms", "1a 2b 6c", report="periodic 1", empty=True) == {
            1: "a", 2: "ab", 3: "", 4: "", 5: "", 6: "c",
        }  # fmt: skip

    def test_between_two_closings_it_is_the_window_that_closes_next(self) -> None:
        """(1, 6] at 2 and 5, (3, 8] at 7, (7, 12] at 12: RSP-QL, Example 7."""
        window = "RANGE 5ms STEP 2ms ORIGIN 1 REPORT ARRIVAL"
        assert content("rspql", window, "2a 5b 7c 12d") == {2: "a", 5: "ab", 7: "bc", 12: "d"}

    def test_several_elements_at_one_timestamp(self) -> None:
        assert content("rspql", "RANGE 5ms STEP 5ms", "5a 5b 5c 6d 10e 10f") == {5: "abc", 10: "def"}

    def test_an_empty_stream(self) -> None:
        assert content("rspql", "RANGE 5ms STEP 5ms", "", empty=True) == {}

    @pytest.mark.parametrize(
        ("t0", "expected"),
        [
            (0, {10: "abc", 15: "cde"}),  # (0, 10], (5, 15]
            (3, {13: "bcd", 18: "def"}),  # (3, 13], (8, 18]
            (4, {14: "cde"}),  # (4, 14]
            (13, {}),
        ],
    )
    def test_an_origin_between_the_elements(self, t0: int, expected: dict[int, str]) -> None:
        assert content("csparql", "RANGE 10ms STEP 5ms", "3a 4b 8c 13d 14e 18f", t0=t0) == expected

    def test_an_origin_at_the_first_element(self) -> None:
        """`first` is the instant before it, so that it counts."""
        assert content("csparql", "RANGE 10ms TUMBLING", "7a 16b 17c 26d", t0="first") == {16: "ab", 26: "cd"}
        assert content("csparql", "RANGE 10ms TUMBLING", "7a 16b 17c 26d", t0=7) == {17: "bc"}

    def test_the_first_of_an_empty_stream(self) -> None:
        assert content("csparql", "RANGE 10ms TUMBLING", "", t0="first") == {}

    def test_an_origin_in_the_query_goes_before_the_one_from_outside(self) -> None:
        assert content("rspql", "RANGE 10ms STEP 5ms ORIGIN 3", "3a 4b 8c 13d 14e 18f", t0=0) == {13: "bcd", 18: "def"}

    def test_nothing_before_a_negative_origin(self) -> None:
        assert content("csparql", "RANGE 10ms TUMBLING", "-13a -12b -3c -2d 5e", t0=-13) == {-3: "bc"}


class TestCqels:
    def test_now(self) -> None:
        assert content("cqels", "NOW", "1a 2b 2c 4d") == {1: "a", 2: "bc", 4: "d"}

    def test_range_alone_is_half_open(self) -> None:
        """(t − 3, t]: at 4 the element of 1 is gone."""
        assert content("cqels", "RANGE 3ms", "1a 2b 4c 5d 6e") == {1: "a", 2: "ab", 4: "bc", 5: "cd", 6: "cde"}

    def test_all(self) -> None:
        assert content("cqels", "ALL", "1a 5b 5c 100d") == {1: "a", 5: "abc", 100: "abcd"}

    def test_range_and_slide(self) -> None:
        """Evaluated on arrival: in (0, 10] up to 10, then in (5, 15], then in (10, 20]."""
        assert content("cqels", "RANGE 10ms SLIDE 5ms", "1a 5b 6c 10d 11e 16f") == {
            1: "a", 5: "ab", 6: "abc", 10: "abcd", 11: "cde", 16: "ef",
        }  # fmt: skip

    def test_tumbling(self) -> None:
        assert content("cqels", "RANGE 10ms TUMBLING", "1a 10b 11c 20d") == {1: "a", 10: "ab", 11: "c", 20: "cd"}

    def test_durations_add_up(self) -> None:
        assert content("cqels", "RANGE 1s 500ms", "0a 1499b 1500c") == {0: "a", 1499: "ab", 1500: "bc"}

    def test_an_empty_stream(self) -> None:
        assert content("cqels", "RANGE 3ms", "", empty=True) == {}


class TestPast:
    """NOW − a TO NOW − b: [ts + b, ts + a), so at t the timestamps in (t − a, t − b]."""

    @pytest.mark.parametrize(
        ("dialect", "window"),
        [
            ("sparqlstream", "NOW - 10 MS TO NOW - 4 MS SLIDE 5 MS"),
            ("rspql", "FROM NOW-10ms TO NOW-4ms STEP 5ms"),
        ],
    )
    def test_boundaries(self, dialect: str, window: str) -> None:
        """At 5 (−5, 1], at 10 (0, 6], at 15 (5, 11], at 20 (10, 16]."""
        expected = {5: "a", 10: "ab", 15: "bc", 20: "d"}
        assert content(dialect, window, "1a 6b 10c 16d 17e 20f") == expected

    @pytest.mark.parametrize("window", ["NOW - 10 MS TO NOW SLIDE 5 MS", "NOW - 10 MS SLIDE 5 MS"])
    def test_up_to_now(self, window: str) -> None:
        """At 0 (−10, 0], at 5 (−5, 5], at 10 (0, 10], at 15 (5, 15]."""
        assert content("sparqlstream", window, "0z 1a 5b 6c 15d") == {0: "z", 5: "abz", 10: "abc", 15: "cd"}

    def test_closing_instants_count_from_the_origin(self) -> None:
        assert content("sparqlstream", "NOW - 10 MS TO NOW SLIDE 5 MS", "1a 4b 8c", t0=3) == {3: "a", 8: "abc"}

    def test_without_a_slide_it_is_evaluated_on_arrival(self) -> None:
        assert content("sparqlstream", "NOW - 3 MS TO NOW", "1a 2b 4c") == {1: "a", 2: "ab", 4: "bc"}

    def test_without_a_window_it_is_all(self) -> None:
        found = shown(ask("SELECT ?x FROM STREAM :s { ?x a :Thing }", "1a 3b 900c", "sparqlstream"))
        assert found == {1: ["a"], 3: ["a", "b"], 900: ["a", "b", "c"]}


class TestStreamingSparql:
    """[ts, ⌊ts/δ⌋·δ + w): a boundary belongs to the window that begins there."""

    def test_sliding(self) -> None:
        """Those of 0 and 4 up to 10, those of 5 and 9 up to 15."""
        assert content("streaming-sparql", "WINDOW RANGE 10 MS SLIDE 5 MS", "0a 4b 5c 9d 10e") == {
            0: "a", 4: "ab", 5: "abc", 9: "abcd", 10: "cde",
        }  # fmt: skip

    def test_fixed(self) -> None:
        assert content("streaming-sparql", "WINDOW RANGE 10 FIXED", "0a 9b 10c 19d 21e", empty=True) == {
            0: "a", 9: "ab", 10: "c", 19: "cd", 20: "", 21: "e",
        }  # fmt: skip

    @pytest.mark.parametrize(("window", "scale"), [("RANGE 3 SLIDE", 1), ("RANGE 3 S SLIDE", 1000)])
    def test_a_slide_without_a_value_is_one_of_the_unit(self, window: str, scale: int) -> None:
        stream = f"0a {scale}b {3 * scale}c"
        assert content("streaming-sparql", f"WINDOW {window}", stream) == {0: "a", scale: "ab", 3 * scale: "bc"}

    def test_it_has_no_origin(self) -> None:
        stream = "0a 4b 5c 10d"
        expected = content("streaming-sparql", "WINDOW RANGE 10 SLIDE 5", stream)
        assert content("streaming-sparql", "WINDOW RANGE 10 SLIDE 5", stream, t0=3) == expected
        assert expected == {0: "a", 4: "ab", 5: "abc", 10: "cd"}

    def test_time_before_1970(self) -> None:
        """⌊−3/10⌋ · 10 + 10 = 0."""
        window = "WINDOW RANGE 10 FIXED"
        assert content("streaming-sparql", window, "-3a 0b") == {-3: "a", 0: "b"}

    def test_in_a_group(self) -> None:
        """The group's window takes the place of FROM's for the patterns that stand in it."""
        query = "SELECT ?x FROM STREAM :s WINDOW RANGE 100 FIXED WHERE { ?x a :Thing WINDOW RANGE 3 SLIDE 1 }"
        assert shown(ask(query, "0a 2b 3c")) == {0: ["a"], 2: ["a", "b"], 3: ["b", "c"]}

    def test_a_slide_wider_than_the_range_is_an_error(self) -> None:
        with pytest.raises(QuerySyntaxError):
            content("streaming-sparql", "WINDOW RANGE 5 SLIDE 6", "0a")


class TestTheEndOfTheInput:
    def test_a_window_that_closes_with_the_last_element_is_reported(self) -> None:
        assert content("csparql", "RANGE 10ms TUMBLING", "1a 10b") == {10: "ab"}

    def test_later_ones_are_not(self) -> None:
        assert content("csparql", "RANGE 10ms TUMBLING", "1a 11b") == {10: "a"}

    def test_flush_reports_the_windows_still_open(self) -> None:
        assert content("csparql", "RANGE 10ms TUMBLING", "1a 11b", flush=True) == {10: "a", 20: "b"}
        assert content("csparql", "RANGE 10ms STEP 5ms", "1a 6b") == {}
        assert content("csparql", "RANGE 10ms STEP 5ms", "1a 6b", flush=True, empty=True) == {10: "ab", 15: "b"}

    def test_flush_of_a_window_in_the_past(self) -> None:
        """1 is in (t − 10, t − 4] on [5, 11), 6 on [10, 16)."""
        window = "NOW - 10 MS TO NOW - 4 MS SLIDE 5 MS"
        assert content("sparqlstream", window, "1a 6b", flush=True, empty=True) == {5: "a", 10: "ab", 15: "b"}

    def test_flush_where_content_changes(self) -> None:
        window = "WINDOW RANGE 3 SLIDE 1"
        assert content("streaming-sparql", window, "0a 1b", flush=True, empty=True) == {0: "a", 1: "ab", 3: "b", 4: ""}

    def test_flush_has_nothing_to_say_of_windows_that_never_close(self) -> None:
        for window in ("NOW", "ALL", "RANGE 3ms", "TRIPLES 2"):
            assert content("cqels", window, "1a 2b", flush=True) == content("cqels", window, "1a 2b")

    def test_instants_before_the_first_element_are_not_visited(self) -> None:
        assert content("csparql", "RANGE 5ms TUMBLING", "21b 25c", report="window-close", empty=True) == {25: "bc"}
        assert content("csparql", "RANGE 5ms TUMBLING", "20b 25c", report="window-close", empty=True) == {
            20: "b", 25: "c",
        }  # fmt: skip
