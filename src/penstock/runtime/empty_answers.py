"""Explains why a query returned no results: its input, the number of evaluations, and likely causes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.algebra.expressions import Constant
from penstock.algebra.model import ContinuousQuery, Dataset
from penstock.algebra.operators import (
    BasicGraphPattern,
    Group,
    Join,
    LeftJoin,
    Minus,
    Operator,
    PathPattern,
    ReadGraph,
    Service,
    TriplePattern,
    Union,
)
from penstock.algebra.paths import Alternative, Inverse, Link, Path, Repeat
from penstock.algebra.paths import Sequence as Steps
from penstock.algebra.windows import PastWindow, RangeWindow
from penstock.engines.protocol import Asked, WindowStore
from penstock.optimizer import Sizes
from penstock.rdf.encoding import decode, encode
from penstock.rdf.instants import instant_text
from penstock.rdf.plurals import are, counted
from penstock.rdf.terms import IRI
from penstock.rdf.vocabulary import RDF_TYPE
from penstock.runtime.queries import RunningQuery
from penstock.syntax.suggestions import did_you_mean

_SECONDS = range(300_000_000, 5_000_000_000)
"""In seconds 1979 to 2128, in milliseconds the first two months of 1970."""

_MICROSECONDS = range(300_000_000_000_000, 5_000_000_000_000_000)
"""In microseconds the same years, in milliseconds the years from 11476 on."""


@dataclass(frozen=True, slots=True)
class EmptyAnswer:
    """The explanation for a run over `elements` without results; `str` returns it as text.

    `first` and `last` are the timestamps of the elements; `windows` is the number of windows that have closed, None if
    no window of the query closes by time; `evaluations` is None if several queries were evaluated as one.
    """

    elements: int
    malformed: int
    first: int | None
    last: int | None
    windows: int | None
    evaluations: int | None
    hints: tuple[str, ...]

    @property
    def sentence(self) -> str:
        facts = [f"{counted(self.elements, 'element')} read"]
        if self.first is not None and self.last is not None:
            facts[0] += f", from {instant_text(self.first)} to {instant_text(self.last)}"
        if self.windows is not None:
            facts.append(f"{counted(self.windows, 'window')} closed")
        if self.evaluations is not None:
            facts.append(counted(self.evaluations, "evaluation"))
        return f"the answer is empty: {'; '.join(facts)}"

    def __str__(self) -> str:
        return "\n".join([self.sentence, *(f"  - {hint}" for hint in self.hints)])


def empty_answer(
    queries: Iterable[RunningQuery], name: str, meaning: ContinuousQuery, store: WindowStore[Any] | None
) -> EmptyAnswer | None:
    """The explanation for the query with this name; None if it has returned a result.

    With a `store`, it is asked for predicates that never occurred: this may take a Spark job.
    """
    asked = next((query for query in queries if name in query.names), None)
    if asked is None or name in asked.answered:
        return None
    dataset, counts = asked.need.query.dataset, asked.counts
    first, last = asked.clock.first, asked.clock.last
    windows = None if first is None or last is None else _windows_closed(dataset, first, last)
    hints = [] if counts.elements else [_nothing_read(counts.malformed)]
    if first is not None and last is not None:
        hints += _about_time(dataset, first, last, has_closed=windows != 0 or asked.how.flush)
    if store is not None:
        hints += _missing_graphs(meaning, store)
        if counts.elements:
            hints += _lacking(meaning.expression, store)
    evaluations = counts.evaluations if len(asked.names) == 1 else None
    return EmptyAnswer(counts.elements, counts.malformed, first, last, windows, evaluations, tuple(hints))


def _nothing_read(malformed: int) -> str:
    if malformed:
        return f"{counted(malformed, 'element')} {are(malformed)} malformed, and there are no others"
    return "no element was read: is the stream empty, or is it the wrong stream?"


# Time


def _windows_closed(dataset: Dataset, first: int, last: int) -> int | None:
    """The number of windows closed by time up to the last instant."""
    found = None
    for each in dataset.windows:
        window = each.window
        if isinstance(window, RangeWindow | PastWindow) and window.step is not None:
            closing = next(window.closing_instants((), first, last), None)
            found = (found or 0) + (0 if closing is None else (last - closing) // window.step + 1)
    return found


def _about_time(dataset: Dataset, first: int, last: int, *, has_closed: bool) -> Iterator[str]:
    for unit, known, milliseconds, repair in (
        ("seconds", _SECONDS, first * 1000, "multiply"),
        ("microseconds", _MICROSECONDS, first // 1000, "divide"),
    ):
        if first in known and last in known:
            yield (
                f"timestamps are milliseconds, and these look like {unit}: {first} {unit} are "
                f"{instant_text(milliseconds)}; {repair} them by 1000"
            )
            return
    ranges = [each.window for each in dataset.windows if isinstance(each.window, RangeWindow)]
    if ranges and all(window.begins and last <= window.origin for window in ranges):
        origin = instant_text(max(window.origin for window in ranges))
        yield f"all elements are before the first window, which opens at {origin}: see --t0 (t0= in Python)"
    elif not has_closed:
        ends = [next(window.closing_instants((), first, last + window.width + window.step), None) for window in ranges]
        closings = [end for end in ends if end is not None]
        when = f": the first one closes at {instant_text(min(closings))}" if closings else ""
        yield f"no window has closed{when}; --flush (flush=True in Python) also reports windows that are still open"


# Graphs


def _missing_graphs(meaning: ContinuousQuery, store: WindowStore[Any]) -> Iterator[str]:
    dataset = meaning.dataset
    windows = {name for window in dataset.windows for name in (window.name, window.stream)}
    read = [*dataset.default_graphs, *dataset.named_graphs, *_graphs_read(meaning.expression)]
    for iri in dict.fromkeys(read):
        if iri not in store.graphs and iri not in windows:
            yield (
                f"the query reads the graph <{iri}>, which is not bound: bind it with --graph {iri}=FILE "
                f"(engine.graph(FILE, {iri!r}) in Python)"
            )


def _graphs_read(operator: Operator) -> Iterator[str]:
    if isinstance(operator, ReadGraph) and isinstance(operator.name, Constant) and isinstance(operator.name.term, IRI):
        yield operator.name.term.value
    if not isinstance(operator, Service):
        for child in operator.children:
            yield from _graphs_read(child)


# Predicates and classes


def _lacking(expression: Operator, store: WindowStore[Any]) -> Iterator[str]:
    asked = dict.fromkeys(_needed(expression, lambda asked: True))
    lacking = store.lacking(list(asked))
    for predicate, target in dict.fromkeys(_needed(expression, lacking.__contains__)):
        if target is None:
            iri = _value(predicate)
            near = did_you_mean(iri, _known_predicates(store.sizes))
            yield f"the query needs the predicate <{iri}>, which no triple has" + (f"; {near}" if near else "")
        else:
            yield f"the query needs instances of the class <{_value(target)}>, and there are none"


def _needed(operator: Operator, of: Callable[[Asked], bool]) -> list[Asked]:
    """The predicates and classes that the operator needs; for a union, those needed if neither side can match."""
    match operator:
        case BasicGraphPattern(patterns):
            return [each for pattern in patterns for each in _needed_by_pattern(pattern, of)]
        case PathPattern(_, path, _):
            return _needed_by_path(path, of)
        case Join(left, right):
            return _needed(left, of) + _needed(right, of)
        case Union(left, right):
            return _either([_needed(left, of), _needed(right, of)])
        case LeftJoin(left) | Minus(left):
            return _needed(left, of)
        case Service() | Group(_, ()):  # a grouping without keys has a solution anyway
            return []
    return [each for child in operator.children for each in _needed(child, of)]


def _needed_by_pattern(pattern: TriplePattern, of: Callable[[Asked], bool]) -> list[Asked]:
    if not isinstance(pattern.predicate, Constant):
        return []
    predicate = encode(pattern.predicate.term)
    target = pattern.object.term if isinstance(pattern.object, Constant) else None
    is_class = predicate == encode(IRI(RDF_TYPE)) and isinstance(target, IRI)
    needed = [(predicate, None), *([(predicate, encode(target))] if is_class and target is not None else [])]
    return list(filter(of, needed))


def _needed_by_path(path: Path, of: Callable[[Asked], bool]) -> list[Asked]:
    match path:
        case Link(predicate):
            return list(filter(of, [(encode(IRI(predicate)), None)]))
        case Inverse(inner) | Repeat(inner, "+"):
            return _needed_by_path(inner, of)
        case Steps(paths):
            return [each for inner in paths for each in _needed_by_path(inner, of)]
        case Alternative(paths):
            return _either([_needed_by_path(inner, of) for inner in paths])
    return []


def _either(each: Sequence[list[Asked]]) -> list[Asked]:
    return [needed for side in each for needed in side] if all(each) else []


def _known_predicates(sizes: Sizes) -> list[str]:
    counts = [*sizes.streams.values(), *sizes.graphs.values()]
    return [_value(predicate) for known in counts for predicate in known if predicate]


def _value(encoded: str) -> str:
    term = decode(encoded)
    assert isinstance(term, IRI)
    return term.value
