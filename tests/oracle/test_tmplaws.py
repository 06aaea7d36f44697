"""What holds for any stream and any window: properties of the oracle's answers."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Triple
from tests.oracle.asking import EX, ask, shown, triples

from penstock.oracle import Answer
from penstock.rdf.elements import Element
from penstock.rdf.results import Evaluation

TRIPLES = [triples(f":{s} :{p} :{o} .") for s in "ab" for p in "pq" for o in "bc"]

elements = st.builds(lambda time, found: Element(time, found), st.integers(0, 40), st.sampled_from(TRIPLES))
streams = st.lists(elements, max_size=12).map(lambda found: sorted(found, key=lambda element: element.time))
widths = st.integers(1, 12)

PATTERNS = [
    "?x :p ?y",
    "?x :p ?y . ?y :q ?z",
    "?x :p ?y OPTIONAL { ?y :q ?z }",
    "?x ?r ?y MINUS { ?x :q :c }",
    "?x :p ?y FILTER NOT EXISTS { ?y :q ?z }",
    "{ ?x :p ?y } UNION { ?y :q ?x }",
    "?x :p/:q ?y",
    "?x (:p|:q)+ ?y",
]
patterns = st.sampled_from(PATTERNS)


def rows(evaluation: Evaluation) -> Counter[object]:
    return Counter(evaluation.rows or ())


def by_time(answer: Answer) -> dict[int, Counter[object]]:
    return {evaluation.time: rows(evaluation) for evaluation in answer.with_solutions()}


class TestTheorem1:
    """Origins a and a + nβ agree from where the first window of the later one is the present window for both.

    RSP-QL says: from a + nβ on, which is true of the window that opened last. Of the window that closes next
    (semantics.md §3) it is true behind a + nβ + α − β: before that the present window of the earlier origin is one that
    the later origin does not have.
    """

    @given(streams, patterns, widths, widths, st.integers(0, 8), st.integers(0, 4), st.sampled_from(["arrival", None]))
    def test_origins_a_whole_number_of_steps_apart(
        self, stream: list[Element], pattern: str, width: int, step: int, origin: int, steps: int, report: str | None
    ) -> None:
        query = f"SELECT * FROM STREAM :s [RANGE {width}ms STEP {step}ms] {{ {pattern} }}"
        early, late = origin, origin + steps * step
        agree_from = late + max(0, width - step) + 1
        answers = [by_time(ask(query, stream, t0=t0, report=report, flush=True)) for t0 in (early, late)]
        first, second = ({time: rows for time, rows in found.items() if time >= agree_from} for found in answers)
        assert first == second

    @given(streams, widths, widths, st.integers(0, 8))
    def test_at_closing_instants_of_the_later_origin_they_agree_at_once(
        self, stream: list[Element], width: int, step: int, origin: int
    ) -> None:
        query = f"SELECT * FROM STREAM :s [RANGE {width}ms STEP {step}ms] {{ ?x ?p ?y }}"
        early = by_time(ask(query, stream, t0=origin, flush=True))
        late = by_time(ask(query, stream, t0=origin + step, flush=True))
        assert late == {time: found for time, found in early.items() if time >= origin + step + width}


class TestStreamingOperators:
    @given(streams, patterns, widths, widths, st.sampled_from(["window-close", "arrival", "content-change", None]))
    def test_they_fit_together(
        self, stream: list[Element], pattern: str, width: int, step: int, report: str | None
    ) -> None:
        """RSTREAM at t = RSTREAM at t′ − DSTREAM at t + ISTREAM at t, as sets."""
        query = f"SELECT * FROM STREAM :s [RANGE {width}ms STEP {step}ms] {{ {pattern} }}"
        answers = [
            ask(query, stream, operator=operator, report=report).evaluations
            for operator in ("rstream", "istream", "dstream")
        ]
        before: set[object] = set()
        for whole, new, gone in zip(*answers, strict=True):
            assert whole.time == new.time == gone.time
            now = set(rows(whole))
            assert now == before - set(rows(gone)) | set(rows(new))
            assert not before & set(rows(new))
            assert not now & set(rows(gone))
            before = now


class TestSetsAndBags:
    @given(patterns, streams, widths)
    def test_the_distinct_rows_of_a_bag_are_those_of_the_set(
        self, pattern: str, stream: list[Element], width: int
    ) -> None:
        query = f"SELECT * {{ STREAM :s [RANGE {width}ms] {{ {pattern} }} }}"
        as_set, as_bag = (
            by_time(ask(query, stream, operator="rstream", duplicates=duplicates)) for duplicates in ("set", "bag")
        )
        assert {time: set(found) for time, found in as_bag.items()} == {t: set(found) for t, found in as_set.items()}

    @given(streams, patterns, widths)
    def test_without_a_triple_that_comes_twice_they_are_the_same(
        self, stream: list[Element], pattern: str, width: int
    ) -> None:
        once = list({element.triples: element for element in reversed(stream)}.values())
        once.sort(key=lambda element: element.time)
        query = f"SELECT * {{ STREAM :s [RANGE {width}ms] {{ {pattern} }} }}"
        assert by_time(ask(query, once, duplicates="set")) == by_time(ask(query, once, duplicates="bag"))

    @given(streams, widths)
    def test_a_bag_counts_elements(self, stream: list[Element], width: int) -> None:
        query = f"SELECT (COUNT(*) AS ?n) {{ STREAM :s [RANGE {width}ms] {{ ?x ?p ?y }} }}"
        for time, found in shown(ask(query, stream, operator="rstream")).items():
            assert found == [str(sum(time - width < element.time <= time for element in stream))]


TIME_WINDOWS = [
    "SELECT * FROM STREAM :s [RANGE {}ms STEP {}ms] {{ ?x ?p ?y }}",
    "SELECT * {{ STREAM :s [RANGE {}ms SLIDE {}ms] {{ ?x ?p ?y }} }}",
    "SELECT * FROM STREAM :s [NOW - {} MS TO NOW SLIDE {} MS] {{ ?x ?p ?y }}",
    "SELECT * FROM NAMED WINDOW :v ON STREAM :s [RANGE {}ms] FROM NAMED WINDOW :w ON STREAM :s [RANGE {}ms] "
    "{{ WINDOW :v {{ ?x ?p ?y }} WINDOW :w {{ ?x ?q ?z }} }}",
]
WINDOWS = [
    *TIME_WINDOWS,
    "SELECT * {{ STREAM :s [TRIPLES {}] {{ ?x ?p ?y }} }} # {}",
    "SELECT * FROM NAMED WINDOW :w ON STREAM :s [ELEMENTS {} STEP {}] {{ WINDOW :w {{ ?x ?p ?y }} }}",
]

POLICIES = [None, "arrival", "content-change", "window-close", "periodic 3"]


class TestOrderOfTheInput:
    @given(st.sampled_from(TIME_WINDOWS), streams, widths, widths, st.data())
    def test_within_a_timestamp_it_does_not_matter_to_time_windows(
        self, query: str, stream: list[Element], width: int, step: int, data: st.DataObject
    ) -> None:
        shuffled = data.draw(st.permutations(stream))
        shuffled.sort(key=lambda element: element.time)
        text = query.format(width, step)
        assert by_time(ask(text, shuffled)) == by_time(ask(text, stream))

    @given(st.sampled_from(WINDOWS), streams, widths, widths, st.integers(0, 10), st.data())
    def test_within_the_lateness_it_does_not_matter(
        self, query: str, stream: list[Element], width: int, step: int, lateness: int, data: st.DataObject
    ) -> None:
        """Each element is delayed by up to `lateness`, those of one timestamp alike: count windows tell them apart."""
        delay = {time: data.draw(st.integers(0, lateness)) for time in {element.time for element in stream}}
        delayed = sorted(stream, key=lambda element: element.time + delay[element.time])
        text = query.format(width, step)
        expected = ask(text, stream, lateness=lateness)
        assert by_time(ask(text, delayed, lateness=lateness)) == by_time(expected) == by_time(ask(text, stream))

    @settings(max_examples=1500, derandomize=False)
    @given(
        st.sampled_from(TIME_WINDOWS),
        st.lists(elements, min_size=1, max_size=10),
        widths,
        widths,
        st.integers(0, 10),
        st.sampled_from(POLICIES),
        st.data(),
    )
    def test_what_has_been_evaluated_never_changes(
        self,
        query: str,
        stream: list[Element],
        width: int,
        step: int,
        lateness: int,
        report: str | None,
        data: st.DataObject,
    ) -> None:
        """In whatever order the elements come: what is below the watermark at some time stays as it is then."""
        known = data.draw(st.integers(1, len(stream)))
        watermark = max(element.time for element in stream[:known]) - lateness
        text = query.format(width, step)
        then, now = (
            [
                (evaluation.time, rows(evaluation))
                for evaluation in ask(text, found, lateness=lateness, report=report).evaluations
                if evaluation.time < watermark
            ]
            for found in (stream[:known], stream)
        )
        assert then == now


class TestSparqlOverAStream:
    @given(
        st.sampled_from(["SELECT *", "SELECT ?x", "SELECT DISTINCT ?x ?y"]),
        st.sampled_from([*PATTERNS, "?x :p ?y OPTIONAL { ?y :q ?z FILTER (?x != ?z) }"]),
        streams.filter(bool),
    )
    def test_all_that_comes_out_is_the_answer_over_the_whole_stream(
        self, head: str, pattern: str, stream: list[Element]
    ) -> None:
        query = f"{head} {{ {pattern} }}"
        piecemeal = sum((rows(evaluation) for evaluation in ask(query, stream, "sparql").evaluations), Counter())
        at_once = ask(query, stream, "sparql", operator="rstream").evaluations[-1]
        assert piecemeal == rows(at_once)


def test_the_triples_are_what_they_seem() -> None:
    """The laws above are about something: the patterns do match."""
    assert all(isinstance(triple, Triple) and triple.subject.value.startswith(EX) for (triple,) in TRIPLES)
    stream = [Element(time, found) for time, found in enumerate(TRIPLES, start=1)]
    for pattern in PATTERNS:
        assert shown(ask(f"SELECT * {{ STREAM :s [ALL] {{ {pattern} }} }}", stream, operator="rstream")), pattern
