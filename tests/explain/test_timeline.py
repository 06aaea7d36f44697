"""When the query is evaluated: the worked examples of the RSP-QL paper, and what the oracle says."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations, pairwise
from math import hypot

import pytest
from tests.explain.cases import COUPONS, SHOPS, TURBINES, document, stream

from penstock.algebra import Settings, build
from penstock.explain import timeline_picture
from penstock.explain.timeline import MOST_ELEMENTS, Timeline, sources_of
from penstock.explain.times import TimeScale
from penstock.oracle import Inputs
from penstock.oracle.answering import evaluation_instants
from penstock.rdf.elements import Element
from penstock.syntax.dialects import DIALECTS
from penstock.syntax.query_reader import read

EXAMPLE_13 = f"""
PREFIX : <{SHOPS}>
SELECT ?shopper FROM STREAM :nearby [RANGE 5ms STEP 2ms] WHERE {{ ?shopper :isNearby ?shop }}
"""


def example_13(t0: int = 1) -> Timeline:
    timeline = document(EXAMPLE_13, Settings(origin=t0), nearby=stream("nearby")).timeline
    assert timeline is not None
    return timeline


def instants(timeline: Timeline, dialect: str) -> list[int]:
    return next(list(row.instants) for row in timeline.policies if dialect in row.dialects)


def test_example_13_csparql_reports_as_windows_close_cqels_as_elements_come() -> None:
    timeline = example_13()
    assert instants(timeline, "C-SPARQL") == [6, 8, 10, 12]
    assert instants(timeline, "SPARQLstream") == [6, 8, 10, 12]
    assert instants(timeline, "CQELS-QL") == [2, 5, 7, 12]
    assert timeline.own.dialects == ("RSP-QL", "C-SPARQL", "SPARQLstream")


@pytest.mark.parametrize("dialect", [dialect for dialect in DIALECTS.values() if dialect.name != "sparql"])
def test_the_instants_are_the_oracles(dialect: object) -> None:
    query = read(EXAMPLE_13).query
    inputs = Inputs({f"{SHOPS}nearby": stream("nearby")}, {None: ()})
    settings = Settings(report=dialect.report, origin=1)  # type: ignore[attr-defined]
    expected = evaluation_instants(sources_of(build(query, settings), inputs, 12))
    assert instants(example_13(), dialect.title) == expected  # type: ignore[attr-defined]


@pytest.mark.parametrize(("t0", "first"), [(0, 3), (1, 3), (2, 2)])
def test_example_11_the_origin_decides_what_the_first_window_holds(t0: int, first: int) -> None:
    """The paper counts 2, 3 and 1: it leaves out the elements at 5 and 7, on which (0, 5] and (2, 7] close, though its
    Definition 12 has them in. semantics.md §3 goes by the definition."""
    assert example_13(t0).windows[0].spans[0].elements == first


def test_example_7_windows() -> None:
    spans = [(span.span.opens, span.span.closes) for span in example_13().windows[0].spans]
    assert spans[:3] == [(1, 6), (3, 8), (5, 10)]
    assert all(later[0] - earlier[0] == 2 for earlier, later in pairwise(spans))


def test_example_10_is_evaluated_at_8_alone_while_the_input_lasts() -> None:
    timeline = document(COUPONS).timeline
    assert timeline is not None
    assert timeline.own.instants == (8,)
    assert timeline.own.report == "window-close & non-empty of :w_2"
    assert timeline.own.dialects == ()


def test_streaming_sparql_reports_changes_of_the_content() -> None:
    timeline = document(TURBINES).timeline
    assert timeline is not None
    minutes = [instant // 60_000 for instant in timeline.own.instants]
    assert minutes == [2, 3, 4, 9, 17, 18, 26, 32, 33, 34, 39, 41]
    assert [bar.start // 60_000 for bar in timeline.windows[1].bars] == [4, 18, 41]


def many(count: int) -> list[Element]:
    triple = stream("nearby")[0].triples
    return [Element(10 * number, triple) for number in range(1, count + 1)]


def test_a_long_stream_is_cut_and_what_is_shown_stays_the_same() -> None:
    whole, cut = (
        document(EXAMPLE_13, nearby=many(count)).timeline for count in (MOST_ELEMENTS, 10 * MOST_ELEMENTS)
    )  # fmt: skip
    assert whole is not None
    assert cut is not None
    assert not whole.is_cut
    assert cut.is_cut
    assert (cut.shown, cut.elements) == (MOST_ELEMENTS, 10 * MOST_ELEMENTS)
    assert cut.own == whole.own
    assert (
        f"The first {MOST_ELEMENTS} of {10 * MOST_ELEMENTS} elements"
        in timeline_picture.picture(cut, document(EXAMPLE_13).scale).body
    )


def test_the_end_of_a_stream_that_is_cut_is_not_shown_as_its_end() -> None:
    text = EXAMPLE_13.replace("FROM STREAM :nearby [RANGE 5ms STEP 2ms]", "")
    settings = Settings(report=DIALECTS["sparql"].report.reports[1])  # type: ignore[union-attr]
    timelines = [document(text, settings, nearby=many(count)).timeline for count in (5, 500)]
    assert [timeline.own.instants for timeline in timelines if timeline is not None] == [(50,), ()]


def test_no_data_no_timeline() -> None:
    assert document(EXAMPLE_13).timeline is None
    assert document(EXAMPLE_13, nearby=[]).timeline is None


def test_elements_are_numbered_across_streams_and_described() -> None:
    timeline = document(COUPONS).timeline
    assert timeline is not None
    nearby, coupon = timeline.streams
    assert [element.number for element in nearby.elements] == [1, 2, 3, 4, 6]
    assert [element.number for element in coupon.elements] == [5, 7]
    assert nearby.elements[0].text == ":diana :isNearby :a"
    assert coupon.elements[0].text == ':alice :offers "10% discount on ..."'


def test_ticks_are_apart_and_within_the_plot() -> None:
    timeline = example_13()
    scale = document(EXAMPLE_13, nearby=stream("nearby")).scale
    for last in (13, 1_000, 100_000, 10**8, 10**12):
        axis = timeline_picture.axis_of(replace(timeline, last=last))
        ticks = axis.ticks(axis.step(scale))
        assert len(ticks) >= 2
        assert all(axis.x(tick) >= timeline_picture.GUTTER for tick in ticks)
        assert axis.x(ticks[1]) - axis.x(ticks[0]) > 20


def circles(timeline: Timeline) -> list[tuple[float, float]]:
    body = timeline_picture.picture(timeline, TimeScale(is_plain=True)).body
    return [(float(x), float(y)) for x, y in re.findall(r'<circle cx="(\S+)" cy="(\S+)"', body)]


@pytest.mark.parametrize("step", [1, 3, 10, 77])
def test_every_element_is_drawn_and_none_touches_another(step: int) -> None:
    triple = stream("nearby")[0].triples
    elements = [Element(1000 + number * step + number % 3, triple) for number in range(MOST_ELEMENTS)]
    timeline = document(EXAMPLE_13, nearby=elements).timeline
    assert timeline is not None
    discs = circles(timeline)
    assert len(discs) == MOST_ELEMENTS
    apart = [hypot(x - u, y - v) for (x, y), (u, v) in combinations(discs, 2)]
    assert min(apart) >= 2 * timeline_picture.RADIUS


def test_diamonds_that_would_touch_are_one_with_a_number() -> None:
    timeline = replace(example_13(), last=100_000)
    row = replace(timeline.own, instants=tuple(range(100, 100_000, 100)))
    body = timeline_picture.picture(replace(timeline, policies=(row,)), TimeScale(is_plain=True)).body
    diamonds = [float(x) for x in re.findall(r'<path d="M(\S+) [^"]+" class="own diamond"', body)]
    assert 50 < len(diamonds) < 130
    assert all(later - earlier >= timeline_picture.DIAMOND / 2 for earlier, later in pairwise(diamonds))
