"""Random streams and graphs, as text that `tests.oracle.asking` reads: a line is an element, or a triple of a graph.

The vocabulary is small, so that triples join, come twice, and leave windows together. Some values are written in two
ways, or have a derived datatype: they are equal and not the same term.
"""

from __future__ import annotations

from hypothesis import strategies as st

from penstock.rdf.vocabulary import XSD

NODES = (":a", ":b", ":c")
BLANK_NODES = ("_:x", "_:y")
LINKS = (":p", ":q")
"""From node to node; `:n` leads to numbers, and `:l` to literals of all kinds."""

NUMBERS = (
    "0", "1", "2", "5", "-3", "1.5", "-0.5", f'"0.25"^^<{XSD}double>', f'"2.5"^^<{XSD}float>',
    f'"01"^^<{XSD}integer>', f'"2"^^<{XSD}int>', f'"05"^^<{XSD}byte>', "1.50", "2.5e-1",
)  # fmt: skip
ORDERED_LITERALS = (
    *NUMBERS, '"a"', '"b"', '""', '"Ab"', '"2"', '"a"@en', '"a"@de', '"b"@en', "true", "false",
    f'"2020-01-01T00:00:00Z"^^<{XSD}dateTime>', f'"2020-01-01T01:30:00+02:00"^^<{XSD}dateTime>',
    f'"2020-01-01T00:00:00"^^<{XSD}dateTime>', f'"2020-02-29"^^<{XSD}date>',
    f'"2020-01-01T00:00:00.00+00:00"^^<{XSD}dateTime>', f'"1"^^<{XSD}boolean>', f'"NaN"^^<{XSD}double>',
)  # fmt: skip
LITERALS = (*ORDERED_LITERALS, f'"x"^^<{XSD}integer>', f'"y"^^<{XSD}dateTime>', '"a"^^:other', f'"300"^^<{XSD}byte>')

_SUBJECTS = (":a", ":a", ":b", ":b", ":c", "_:x")
_TARGETS = (*_SUBJECTS, ":d", "_:y")
_FEW = [f"{subject} {link} {target}" for subject in _SUBJECTS for link in LINKS for target in _TARGETS]
_NUMBERED = [f"{subject} :n {number}" for subject in _SUBJECTS for number in NUMBERS]
_LABELLED = [f"{subject} :l {literal}" for subject in _SUBJECTS for literal in LITERALS]


@st.composite
def _any_triple(draw: st.DrawFn) -> str:
    """A strategy with a name, so that statistics do not list all triples."""
    return draw(st.sampled_from(draw(st.sampled_from((_FEW, _FEW, _FEW, _NUMBERED, _LABELLED)))))


triples = _any_triple()
_contents = st.one_of(triples, triples, st.lists(triples, min_size=2, max_size=4, unique=True).map(" . ".join))

_gaps = st.sampled_from((1, 0, 0, 1, 1, 2, 3, 7))
_delays = st.sampled_from((0, 0, 0, 0, 0, 1, 2, 4, 9))


@st.composite
def streams(draw: st.DrawFn) -> str:
    """Lines `TIME TRIPLES` in the order of arrival: equal timestamps, gaps, duplicates, and some out of order."""
    time = draw(st.sampled_from((1, 0, -4, 6, 13)))
    is_in_order = draw(st.booleans())
    lines: list[str] = []
    least = draw(st.sampled_from((0, 3, 8, 12)))
    for gap, delay, content in draw(st.lists(st.tuples(_gaps, _delays, _contents), min_size=least, max_size=20)):
        time += gap
        lines.append(f"{time - (0 if is_in_order else delay)} {content}")
    return "\n".join(lines)


@st.composite
def graphs(draw: st.DrawFn, *, may_shrink: bool = True) -> str:
    """Lines `START END TRIPLE`, as of a graph that changes; `- -` is always, as all of a graph is that is static."""
    lines: list[str] = []
    least = draw(st.sampled_from((0, 4)))
    is_static = draw(st.booleans())
    for triple in draw(st.lists(triples, min_size=least, max_size=8, unique=True)):
        if is_static:
            lines.append(f"- - {triple}")
            continue
        start = draw(st.sampled_from((-1000, -1000, -1000, 2, 5, 11)))
        length = draw(st.sampled_from((None, None, None, 1, 4, 10))) if may_shrink else None
        lines.append(f"{start} {'-' if length is None else max(0, start) + length} {triple}")
    return "\n".join(lines)
