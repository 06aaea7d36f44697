"""Count windows of every dialect (semantics.md §3): [ts, ts′), ts′ the timestamp of the element n places later."""

from __future__ import annotations

import pytest
from tests.oracle.asking import ask, content, shown

LAST_TWO = [
    ("rspql", "ELEMENTS 2"),
    ("csparql", "RANGE TRIPLES 2"),
    ("cqels", "TRIPLES 2"),
    ("sparqlstream", "TRIPLES 2"),
    ("streaming-sparql", "WINDOW ELEMS 2"),
]


@pytest.mark.parametrize(("dialect", "window"), LAST_TWO)
class TestTheLastTwo:
    def test_one_after_the_other(self, dialect: str, window: str) -> None:
        """Evaluated with every element, whatever the dialect: WC and CC and arrival are the same here."""
        assert content(dialect, window, "1a 2b 3c 7d") == {1: "a", 2: "ab", 3: "bc", 7: "cd"}

    def test_several_at_one_timestamp_are_one_instant(self, dialect: str, window: str) -> None:
        """What is pushed out at its own timestamp was never there, and the order of arrival decides which that is."""
        assert content(dialect, window, "1a 5b 5c 5d 6e") == {1: "a", 5: "cd", 6: "de"}
        assert content(dialect, window, "1a 5d 5c 5b 6e") == {1: "a", 5: "bc", 6: "be"}

    def test_an_empty_stream(self, dialect: str, window: str) -> None:
        assert content(dialect, window, "", empty=True) == {}

    def test_the_origin_does_not_matter(self, dialect: str, window: str) -> None:
        assert content(dialect, window, "1a 2b 3c", t0=2) == {1: "a", 2: "ab", 3: "bc"}


class TestDuplicates:
    """A triple that comes again is another element; in a set it counts once."""

    def test_as_a_set(self) -> None:
        assert content("csparql", "RANGE TRIPLES 2", "1a 2b 3b 4b") == {1: "a", 2: "ab", 3: "b", 4: "b"}

    def test_as_a_bag(self) -> None:
        assert content("cqels", "TRIPLES 2", "1a 2b 3b 4b") == {1: "a", 2: "ab", 3: "bb", 4: "bb"}

    def test_content_that_moves_and_stays_the_same(self) -> None:
        """A content change there is none, where the bag is the same."""
        assert content("streaming-sparql", "WINDOW ELEMS 2", "1a 2b 3b 4b") == {1: "a", 2: "ab", 3: "bb"}


class TestStep:
    """The content moves, and is evaluated, only when m new elements have arrived."""

    def test_moves(self) -> None:
        assert content("rspql", "ELEMENTS 3 STEP 2", "1a 2b 3c 4d 5e 6f 7g") == {2: "ab", 4: "bcd", 6: "def"}

    def test_between_two_moves_the_content_stays(self) -> None:
        assert content("rspql", "ELEMENTS 2 STEP 2", "1a 2b 3c 4d 5e", report="periodic 1", empty=True) == {
            1: "", 2: "ab", 3: "ab", 4: "cd", 5: "cd",
        }  # fmt: skip

    def test_a_move_in_the_middle_of_a_timestamp(self) -> None:
        """Three have come at 1: the content moved at the second of them. Two moves at 3: the second one counts."""
        assert content("rspql", "ELEMENTS 2 STEP 2", "1a 1b 1c 2d 3e 3f 3g 3h") == {1: "ab", 2: "cd", 3: "gh"}

    def test_a_step_wider_than_the_window(self) -> None:
        assert content("rspql", "ELEMENTS 1 STEP 3", "1a 2b 3c 4d 5e 6f") == {3: "c", 6: "f"}


class TestMatches:
    """A window in a Streaming SPARQL group counts the matches of each triple pattern."""

    QUERY = """
        SELECT ?x ?p ?q FROM STREAM :s WINDOW RANGE 100 FIXED
        WHERE { ?x a :Thing . { ?x :p ?p . ?x :q ?q WINDOW ELEMS 1 } }
    """

    def test_each_pattern_counts_its_own(self) -> None:
        """At 5 the last :p is that of 2, the last :q that of 5; the q of 3 is pushed out, and :Thing counts nowhere."""
        stream = "1 :a a :Thing \n 2 :a :p 2 \n 3 :a :q 3 \n 4 :b a :Thing \n 5 :a :q 5 \n 6 :b :p 6"
        assert shown(ask(self.QUERY, stream), empty=True) == {
            1: [], 2: [], 3: ["a 2 3"], 4: ["a 2 3"], 5: ["a 2 5"], 6: [],
        }  # fmt: skip

    def test_from_counts_all_triples(self) -> None:
        query = "SELECT ?x ?p FROM STREAM :s WINDOW ELEMS 2 WHERE { ?x :p ?p }"
        stream = "1 :a :p 1 \n 2 :a :q 2 \n 3 :a :q 3"
        assert shown(ask(query, stream), empty=True) == {1: ["a 1"], 2: ["a 1"], 3: []}

    def test_a_constant_in_the_pattern_counts_too(self) -> None:
        query = "SELECT ?x FROM STREAM :s WINDOW RANGE 100 FIXED WHERE { ?x :p 1 WINDOW ELEMS 1 }"
        stream = "1 :a :p 1 \n 2 :b :p 2 \n 3 :c :p 1"
        assert shown(ask(query, stream)) == {1: ["a"], 2: ["a"], 3: ["c"]}

    def test_a_variable_twice_in_the_pattern(self) -> None:
        query = "SELECT ?x FROM STREAM :s WINDOW RANGE 100 FIXED WHERE { ?x :p ?x WINDOW ELEMS 1 }"
        stream = "1 :a :p :a \n 2 :b :p :a \n 3 :c :p :c"
        assert shown(ask(query, stream)) == {1: ["a"], 2: ["a"], 3: ["c"]}

    def test_a_filter_does_not_count(self) -> None:
        """The window is over what the pattern matches, not over what the group then keeps of it."""
        query = "SELECT ?x FROM STREAM :s WINDOW RANGE 100 FIXED WHERE { ?x :p ?v FILTER (?v > 1) WINDOW ELEMS 1 }"
        assert shown(ask(query, "1 :a :p 2 \n 2 :b :p 1 \n 3 :c :p 3"), empty=True) == {1: ["a"], 2: [], 3: ["c"]}

    def test_the_same_pattern_in_two_windows(self) -> None:
        query = """
            SELECT ?x ?y FROM STREAM :s WINDOW RANGE 100 FIXED
            WHERE { { ?x :p ?v WINDOW ELEMS 1 } UNION { ?y :p ?v WINDOW ELEMS 2 } }
        """
        stream = "1 :a :p 1 \n 2 :b :p 2 \n 3 :c :p 3"
        assert shown(ask(query, stream))[3] == ["- b", "- c", "c -"]

    def test_groups_inside_have_the_window_of_from(self) -> None:
        """At 4 the :q of 2 has left FROM's window."""
        query = """
            SELECT ?x ?q FROM STREAM :s WINDOW RANGE 2 SLIDE WHERE { ?x :p ?p OPTIONAL { ?x :q ?q } WINDOW ELEMS 1 }
        """
        stream = "1 :a :p 1 \n 2 :a :q 2 \n 4 :b :r 3"
        assert shown(ask(query, stream)) == {1: ["a -"], 2: ["a 2"], 3: ["a 2"], 4: ["a -"]}

    @pytest.mark.parametrize("pattern", ["[ :q ?q ]", "_:b . _:b :q ?q"])
    @pytest.mark.parametrize("other", ["", "?y :r [ :q ?z ] .", "?y :r ?r FILTER EXISTS { ?r :q [] WINDOW ELEMS 9 }"])
    def test_blank_nodes(self, pattern: str, other: str) -> None:
        """They are variables, wherever they stand, and a triple that comes twice makes no difference to that."""
        query = f"""
            SELECT DISTINCT ?x ?q FROM STREAM :s WINDOW RANGE 100 FIXED
            WHERE {{ {other} {{ ?x :p {pattern} WINDOW ELEMS 1 }} }}
        """
        stream = "1 :a :p :b \n 2 :b :q 5 \n 3 :c :r :b \n 3 :c :r :b \n 3 :b :q :d \n 3 :b :q 5"
        assert shown(ask(query, stream))[3] == ["a 5"]
