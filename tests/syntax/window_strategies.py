"""Hypothesis strategies for windows, as each dialect has them, and for report policies."""

from __future__ import annotations

from typing import get_args

from hypothesis import strategies as st

from penstock.syntax import ast
from penstock.syntax.ast.reports import StrategyName

durations = st.one_of(
    st.sampled_from([1, 500, 1000, 1500, 10_000, 60_000, 90_000, 3_600_000, 93_784_005, 86_400_000, 604_800_000]),
    st.integers(1, 10**14),
)
_counts = st.integers(1, 10**6)

_sliding = st.builds(ast.RangeWindow, durations, durations)
_tumbling = durations.map(lambda width: ast.RangeWindow(width, width))
_any_instant = st.builds(ast.RangeWindow, durations, st.none())
_overlapping = st.builds(
    lambda one, other: ast.RangeWindow(max(one, other), min(one, other)),
    durations,
    durations,
)
_counting = st.builds(ast.CountWindow, _counts)
_past = st.builds(
    lambda length, end, step: ast.PastWindow(end + length, end, step),
    durations,
    st.one_of(st.just(0), durations),
    st.one_of(st.none(), durations),
)

WINDOWS: dict[ast.DialectName, st.SearchStrategy[ast.Window]] = {
    "rspql": st.one_of(
        _sliding,
        _tumbling,
        _past,
        st.builds(ast.NowWindow),
        st.builds(ast.AllWindow),
        st.builds(ast.CountWindow, _counts, st.one_of(st.none(), _counts)),  # a MATCHING one takes no other block
    ),
    "csparql": st.one_of(_sliding, _tumbling, _counting),
    "cqels": st.one_of(
        st.builds(ast.NowWindow), st.builds(ast.AllWindow), _any_instant, _sliding, _tumbling, _counting
    ),
    "sparqlstream": st.one_of(_past, _counting, st.just(ast.NowWindow())),
    "streaming-sparql": st.one_of(_overlapping, _tumbling, _counting),
}

_STRATEGIES = st.one_of(
    st.builds(ast.Strategy, st.sampled_from([name for name in get_args(StrategyName) if name != "periodic"])),
    st.builds(ast.Strategy, st.just("periodic"), durations),
)
_POLICIES = st.recursive(
    _STRATEGIES,
    lambda inner: st.one_of(
        st.builds(ast.AllOf, st.lists(inner, min_size=2, max_size=3).map(tuple)),
        st.builds(ast.AnyOf, st.lists(inner, min_size=2, max_size=3).map(tuple)),
        st.builds(ast.NotReport, inner),
    ),
    max_leaves=5,
)
REPORTS: st.SearchStrategy[ast.Report | None] = st.one_of(
    st.none(),
    _STRATEGIES,
    st.builds(ast.AllOf, st.tuples(_STRATEGIES, _STRATEGIES)),
    st.builds(ast.AnyOf, st.tuples(_STRATEGIES, _STRATEGIES)),
    st.builds(ast.NotReport, _STRATEGIES),
    _POLICIES,
)
