"""Report policies from outside and in the query (semantics.md §5)."""

from __future__ import annotations

import pytest
from tests.oracle.asking import ask, content, elements, shown

from penstock.algebra.reports import PolicyError


class TestFromOutside:
    """RANGE 5 TUMBLING from 1, (1, 6] and (6, 11]: a is there on [3, 7), b on [8, 12); the input is [3, 8]."""

    @pytest.mark.parametrize(
        ("report", "expected"),
        [
            ("window-close", {6: "a"}),
            ("non-empty", {3: "a", 4: "a", 5: "a", 6: "a", 8: "b"}),
            ("content-change", {3: "a", 7: "", 8: "b"}),
            ("arrival", {3: "a", 8: "b"}),
            ("periodic 3ms", {4: "a", 7: ""}),
            ("periodic 3ms & non-empty", {4: "a"}),
            ("window-close & non-empty", {6: "a"}),
            ("window-close | arrival", {3: "a", 6: "a", 8: "b"}),
            ("content-change & non-empty", {3: "a", 8: "b"}),
            ("!non-empty", {7: ""}),
            ("content-change & !arrival", {7: ""}),
            ("(arrival | periodic 3) & non-empty", {3: "a", 4: "a", 8: "b"}),
        ],
    )
    @pytest.mark.parametrize("dialect", ["rspql", "csparql"])
    def test_a_policy(self, dialect: str, report: str, expected: dict[int, str]) -> None:
        window = "RANGE 5ms" if dialect == "rspql" else "RANGE 5ms TUMBLING"
        assert content(dialect, window, "3a 8b", t0=1, report=report, empty=True) == expected

    @pytest.mark.parametrize(
        ("report", "expected"),
        [
            ("window-close", {6: "a", 11: "b"}),
            ("content-change", {3: "a", 7: "", 8: "b", 12: ""}),
            ("arrival", {3: "a", 8: "b"}),
        ],
    )
    def test_flushed(self, report: str, expected: dict[int, str]) -> None:
        found = content("csparql", "RANGE 5ms TUMBLING", "3a 8b", t0=1, report=report, flush=True, empty=True)
        assert found == expected

    def test_a_policy_that_holds_always_is_refused_over_long_input(self) -> None:
        with pytest.raises(PolicyError, match="every millisecond"):
            content("csparql", "RANGE 5ms TUMBLING", "1a 9000000b", report="non-empty")


class TestWhatTheDialectsImply:
    def test_empty_windows_are_not_reported(self) -> None:
        for dialect, window in [("rspql", "RANGE 5ms"), ("csparql", "RANGE 5ms TUMBLING")]:
            assert content(dialect, window, "1a 21b 25c", empty=True) == {5: "a", 25: "bc"}
        assert content("sparqlstream", "NOW - 5 MS TO NOW SLIDE 5 MS", "1a 21b 25c", empty=True) == {5: "a", 25: "bc"}

    def test_window_close_alone_reports_them(self) -> None:
        assert content("csparql", "RANGE 5ms TUMBLING", "1a 11b 15c", report="window-close", empty=True) == {
            5: "a", 10: "", 15: "bc",
        }  # fmt: skip

    def test_cqels_does_not_report_what_expires(self) -> None:
        assert content("cqels", "RANGE 3ms", "1a 9b", empty=True) == {1: "a", 9: "b"}

    def test_streaming_sparql_does(self) -> None:
        window = "WINDOW RANGE 3 SLIDE 1"
        assert content("streaming-sparql", window, "1a 2b 9c", empty=True) == {1: "a", 2: "ab", 4: "b", 5: "", 9: "c"}

    def test_cqels_reports_what_changes_nothing(self) -> None:
        """As a set the content is the same when a comes again; its arrival counts all the same."""
        assert content("cqels", "RANGE 9ms", "1a 2a", duplicates="set") == {1: "a", 2: "a"}
        assert content("cqels", "RANGE 9ms", "1a 2a", duplicates="set", report="content-change") == {1: "a"}

    def test_for_windows_that_never_close_closing_is_arrival(self) -> None:
        for window in ("NOW", "ALL", "RANGE 3ms"):
            by_arrival = content("cqels", window, "1a 2b 2c 9d")
            assert content("cqels", window, "1a 2b 2c 9d", report="window-close") == by_arrival

    @pytest.mark.parametrize("t0", [0, 1])
    def test_computed_every(self, t0: int) -> None:
        """Every 2 ms from t0 on while there is content: a is there up to the end of (t0, t0 + 5]."""
        query = "REGISTER QUERY q COMPUTED EVERY 2ms AS SELECT ?x FROM STREAM :s [RANGE 5ms TUMBLING] { ?x a :Thing }"
        found = shown(ask(query, "3a 12b", t0=t0), empty=True)
        assert found == {0: {4: ["a"], 12: ["b"]}, 1: {3: ["a"], 5: ["a"]}}[t0]


class TestInTheQuery:
    TWO = """
        SELECT ?x ?y
        FROM NAMED WINDOW :v ON STREAM :s [RANGE 2ms {first}]
        FROM NAMED WINDOW :w ON STREAM :s [RANGE 3ms {second}]
        WHERE {{ {{ WINDOW :v {{ ?x a :Thing }} }} UNION {{ WINDOW :w {{ ?y a :Thing }} }} }}
    """

    def answer(self, first: str = "", second: str = "", **settings: object) -> dict[int, list[str]]:
        query = self.TWO.format(first=first, second=second)
        return shown(ask(query, "1a 3b 6c", **settings), empty=True)  # type: ignore[arg-type]

    def test_any_window_is_enough(self) -> None:
        """:v closes at 2, 4, 6, :w at 3 and 6; at 3 the present window of :v is (2, 4]."""
        expected = {2: ["- a", "a -"], 3: ["- a", "- b", "b -"], 4: ["b -"], 6: ["- c", "c -"]}
        assert self.answer() == expected
        assert self.answer(report="window-close & non-empty") == expected

    def test_a_report_in_one_window_silences_the_other(self) -> None:
        assert self.answer(second="REPORT ON_WINDOW_CLOSE") == {3: ["- a", "- b", "b -"], 6: ["- c", "c -"]}

    def test_a_report_each(self) -> None:
        found = self.answer(first="REPORT ON_WINDOW_CLOSE & NON_EMPTY_CONTENT", second="REPORT PERIODIC 5ms")
        assert found == {2: ["- a", "a -"], 4: ["b -"], 5: [], 6: ["- c", "c -"]}

    def test_one_from_outside_is_for_all(self) -> None:
        assert list(self.answer(second="REPORT PERIODIC 100ms", report="arrival")) == [1, 3, 6]


def test_one_evaluation_per_instant() -> None:
    """Several windows, several streams, several elements at one timestamp: evaluated once."""
    query = "SELECT ?x { { STREAM :s [NOW] { ?x a :Thing } } UNION { STREAM :r [RANGE 5ms] { ?x a :Thing } } }"
    found = ask(query, {"s": elements("1a 1b 2c"), "r": elements("1d 2e 2f")}, "cqels")
    assert [evaluation.time for evaluation in found.evaluations] == [1, 2]
