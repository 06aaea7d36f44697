"""Is a recorded answer right? Definition 26 of the RSP-QL paper (semantics.md §9).

An engine does not report where its windows begin. Its answer is right if it equals the oracle's for some origin t0 in
`{a, …, a + β − 1}` per window, compared from the greatest of these on. Few origins have to be tried: between two
neighbouring points at which an element would enter or leave a window, or a window would close at a recorded instant,
all origins lead to the same contents.

Some engines have windows [o, c), closed on the left, where these are (o, c]. Time is in whole milliseconds, so [o, c)
is the window (o - 1, c - 1], and the engine's answer at c is the oracle's at c - 1 for an origin one earlier.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from math import prod
from typing import Literal, NamedTuple

from penstock.algebra import Settings, build
from penstock.algebra.inputs import InputError, Inputs
from penstock.algebra.windows import PastWindow, RangeWindow
from penstock.oracle.answering import answer
from penstock.oracle.matching import matched
from penstock.oracle.numbers import with_numbers_by_value
from penstock.rdf.elements import Row
from penstock.rdf.results import Evaluation, same_graph, same_rows
from penstock.syntax import ast
from penstock.syntax.ast.traversal import walk
from penstock.syntax.translation import explicit

MOST_COMBINATIONS = 100_000
FEW_ORIGINS = 100
"""Up to this many origins, each is tried."""


class OriginRange(NamedTuple):
    """Origins `first … last`, which all lead to the same contents."""

    first: int
    last: int

    def __str__(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}…{self.last}"


class Difference(NamedTuple):
    """Where an answer differs. A later difference, or one at a right instant, means a closer answer."""

    time: int
    is_about_content: bool
    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The origins for which an answer is right: `right_for` has one range per window, and is empty for a wrong answer.

    The comparison starts at `compared_from`. `difference` describes the first difference for the origins that match
    best. `closed` is the side on which windows are closed if the answer is right.
    """

    right_for: tuple[tuple[OriginRange, ...], ...]
    compared_from: int
    difference: str | None = None
    closed: Literal["right", "left"] = "right"

    @property
    def is_right(self) -> bool:
        return bool(self.right_for)


def judge(
    query: ast.Query,
    inputs: Inputs,
    recorded: Sequence[Evaluation],
    settings: Settings | None = None,
    *,
    flush: bool = False,
    numbers_by_value: bool = False,
) -> Verdict:
    """Whether `recorded` is a right answer of the query, and for which origins; `settings.origin` is a.

    With `flush` an answer also has the windows that were still open when the input ended. With `numbers_by_value` the
    datatypes and forms of numbers do not count. An answer that is wrong for windows closed on the right is compared
    with windows closed on the left, unless NOW() would reveal the side.
    """
    settings = settings or Settings()
    verdict = _judge(query, inputs, recorded, settings, flush, numbers_by_value)
    if verdict.is_right or not _has_boundaries(query, settings):
        return verdict
    origin = settings.origin - 1 if isinstance(settings.origin, int) else -1
    earlier = [replace(evaluation, time=evaluation.time - 1) for evaluation in recorded]
    left = _judge(_moved(query, -1), inputs, earlier, replace(settings, origin=origin), flush, numbers_by_value)
    if not left.is_right:
        return verdict
    right_for = tuple(tuple(OriginRange(one.first + 1, one.last + 1) for one in ranges) for ranges in left.right_for)
    return Verdict(right_for, left.compared_from + 1, closed="left")


def _has_boundaries(query: ast.Query, settings: Settings) -> bool:
    """Whether the query is evaluated when windows close, so that their content at that instant matters."""
    if any(isinstance(node, ast.Call) and node.name == "NOW" for node in walk(query)):
        return False
    return any(
        isinstance(window.window, (RangeWindow, PastWindow))
        and window.window.step is not None
        and window.report is not None
        and any(isinstance(n, ast.Strategy) and n.name in ("window-close", "periodic") for n in walk(window.report))
        for window in build(query, settings).dataset.windows
    )


def _moved(query: ast.Query, by: int) -> ast.Query:
    """The explicit query with its ORIGIN clauses moved."""
    written = explicit(query)
    return replace(
        written,
        dataset=tuple(
            replace(clause, settings=replace(clause.settings, origin=clause.settings.origin + by))
            if isinstance(clause, ast.WindowClause) and clause.settings.origin is not None
            else clause
            for clause in written.dataset
        ),
    )


def _judge(
    query: ast.Query,
    inputs: Inputs,
    recorded: Sequence[Evaluation],
    settings: Settings,
    flush: bool,
    numbers_by_value: bool,
) -> Verdict:
    """The verdict for windows closed on the right."""
    form = with_numbers_by_value if numbers_by_value else _as_it_is
    earliest = settings.origin if isinstance(settings.origin, int) else 0
    written = explicit(query)
    choices = list(_choices(query, inputs, recorded, settings, earliest))
    if prod(map(len, choices)) > MOST_COMBINATIONS:
        raise InputError(
            f"there are {prod(map(len, choices))} combinations of window origins to try, which is too many; "
            "set the ORIGIN of each window for which it is known"
        )
    compared_from = max((choice[-1].last for choice in choices), default=earliest)
    expected = [form(e) for e in recorded if e.time >= compared_from and e.says_something]
    right: list[tuple[OriginRange, ...]] = []
    differences: list[Difference] = []
    for origins in product(*choices):
        chosen = _with_origins(written, [origin.first for origin in origins])
        answered = answer(chosen, inputs, settings, flush=flush).with_solutions()
        found = [form(evaluation) for evaluation in answered if evaluation.time >= compared_from]
        same = matched(expected, found, query)
        difference = first_difference(same.evaluations, same.reference, is_ordered(query))
        if difference is None:
            right.append(origins)
        else:
            differences.append(difference)
    nearest = max(differences, default=None) if not right else None
    return Verdict(tuple(right), compared_from, None if nearest is None else nearest.text)


def _as_it_is(evaluation: Evaluation) -> Evaluation:
    return evaluation


def is_ordered(query: ast.Query) -> bool:
    return bool(query.modifiers.order_by)


def _choices(
    query: ast.Query, inputs: Inputs, recorded: Sequence[Evaluation], settings: Settings, earliest: int
) -> Iterator[list[OriginRange]]:
    """The ranges of origins to try for each window; a single range if the origin is known."""
    dataset = build(query, replace(settings, origin=earliest)).dataset
    clauses = [clause for clause in explicit(query).dataset if isinstance(clause, ast.WindowClause)]
    for clause, window in zip(clauses, dataset.windows, strict=True):
        step = window.window.step if isinstance(window.window, (RangeWindow, PastWindow)) else None
        if clause.settings.origin is not None or step is None:
            yield [OriginRange(window.origin, window.origin)]
            continue
        if step <= FEW_ORIGINS or window.report is None or _is_periodic(window.report):
            yield [OriginRange(origin, origin) for origin in range(earliest, earliest + step)]
            continue
        width = window.window.width if isinstance(window.window, RangeWindow) else 0
        if isinstance(window.window, PastWindow):
            width = window.window.start
        streams = [window.stream] if window.stream is not None else list(inputs.streams)
        times = [element.time for stream in streams for element in inputs.streams.get(stream, ())]
        points = {point for time in times for point in (time, time - width, time + width)}
        for evaluation in recorded:
            points |= {evaluation.time, evaluation.time - width, evaluation.time - width - 1}
        yield list(_ranges(points, step, earliest))


def _is_periodic(report: ast.Report) -> bool:
    return any(isinstance(node, ast.Strategy) and node.name == "periodic" for node in walk(report))


def _ranges(points: Iterable[int], step: int, earliest: int) -> Iterator[OriginRange]:
    """`earliest … earliest + step − 1`, cut before and after the position of each point in it."""
    cuts = {earliest, earliest + step}
    for point in points:
        place = earliest + (point - earliest) % step
        cuts |= {place, min(place + 1, earliest + step)}
    ordered = sorted(cuts)
    for first, behind in pairwise(ordered):
        yield OriginRange(first, behind - 1)


def _with_origins(query: ast.Query, origins: Sequence[int]) -> ast.Query:
    remaining = iter(origins)
    return replace(
        query,
        dataset=tuple(
            replace(clause, settings=replace(clause.settings, origin=next(remaining)))
            if isinstance(clause, ast.WindowClause)
            else clause
            for clause in query.dataset
        ),
    )


def first_difference(expected: Sequence[Evaluation], found: Sequence[Evaluation], ordered: bool) -> Difference | None:
    """The first difference between two answers; None if they are the same."""
    for one, other in zip(expected, found, strict=False):
        if one.time != other.time:
            time = min(one.time, other.time)
            who = "the answer" if one.time < other.time else "the oracle"
            return Difference(time, False, f"at {time} only {who} has an evaluation with solutions")
        if not _same(one, other, ordered):
            return Difference(one.time, True, f"at {one.time} {_told_difference(one, other)}")
    if len(expected) != len(found):
        rest, who = (expected, "the answer") if len(expected) > len(found) else (found, "the oracle")
        time = rest[min(len(expected), len(found))].time
        return Difference(time, False, f"at {time} only {who} has an evaluation with solutions")
    return None


def _same(one: Evaluation, other: Evaluation, ordered: bool) -> bool:
    if one.rows is not None and other.rows is not None:
        return _columns(one) == _columns(other) and same_rows(_aligned(one), _aligned(other), ordered=ordered)
    if one.triples is not None and other.triples is not None:
        return same_graph(one.triples, other.triples)
    return one.boolean is not None and one.boolean == other.boolean


def _columns(evaluation: Evaluation) -> list[str]:
    return sorted(evaluation.variables or ())


def _aligned(evaluation: Evaluation) -> tuple[Row, ...]:
    """The rows with their columns in the order of the variables' names."""
    names = evaluation.variables or ()
    order = sorted(range(len(names)), key=lambda position: names[position])
    return tuple(tuple(row[position] for position in order) for row in evaluation.rows or ())


def _told_difference(one: Evaluation, other: Evaluation) -> str:
    """The first item that only one of the two evaluations has."""
    sides = [(_shown_items(one), _shown_items(other), "answer"), (_shown_items(other), _shown_items(one), "oracle")]
    for mine, others, who in sides:
        only = Counter(mine) - Counter(others)
        if only:
            return f"only the {who} has {next(iter(only))}"
    return "the two have the same solutions in another order"


def _shown_items(evaluation: Evaluation) -> list[str]:
    if evaluation.rows is not None:
        names = evaluation.variables or ()
        pairs = [sorted(zip(names, row, strict=True), key=lambda pair: pair[0]) for row in evaluation.rows]
        return [", ".join(f"?{name} = {term}" for name, term in row if term is not None) or "()" for row in pairs]
    if evaluation.triples is not None:
        return [str(triple) for triple in evaluation.triples]
    return [str(evaluation.boolean).lower()]
