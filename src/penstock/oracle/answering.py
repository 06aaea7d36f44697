"""The answer of a continuous query: its evaluations, one per instant (Definition 24)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal as OneOf

from penstock.algebra import ContinuousQuery, Settings, build
from penstock.algebra.certain import certain_part
from penstock.algebra.reports import instants
from penstock.oracle.datasets import InstantaneousDataset, Sources
from penstock.oracle.evaluating import Result, evaluate
from penstock.oracle.inputs import Inputs
from penstock.oracle.triples import SinglePattern, SinglePatterns
from penstock.rdf.results import Evaluation
from penstock.syntax import ast
from penstock.syntax.ast.rewriting import walk


@dataclass(frozen=True, slots=True)
class Answer:
    """Every evaluation, also those without solutions, in time order."""

    query: ContinuousQuery
    evaluations: tuple[Evaluation, ...]

    def with_solutions(self) -> Iterator[Evaluation]:
        """The evaluations that say something: an ASK always does."""
        return (e for e in self.evaluations if e.boolean is not None or e.rows or e.triples)


def answer(
    query: ast.Query, inputs: Inputs, settings: Settings | None = None, *, flush: bool = False, name: str = "query"
) -> Answer:
    """The reference answer. `flush` also reports the windows that are still open when the input ends."""
    settings = _with_origin(settings or Settings(), query, inputs)
    continuous = build(query, settings)
    sources = Sources(continuous.dataset, inputs, _matched_patterns(continuous.text))
    times = evaluation_instants(sources, flush)
    label = continuous.name or name
    if _waits_for_the_end(continuous):
        results = _certain_results(continuous, sources, times)
    else:
        results = _streamed_results(continuous, sources, times)
    evaluations = (result.evaluation(label, time) for time, result in zip(times, results, strict=True))
    return Answer(continuous, tuple(evaluation for evaluation in evaluations if evaluation is not None))


def evaluation_instants(sources: Sources, flush: bool = False) -> list[int]:
    """ET: the instants at which the policy of any window holds, from the first element of the streams to the last."""
    first, last = sources.first, sources.last
    if first is None or last is None:
        return []
    if flush:
        ends = (o.valid.end for contents in sources.reporting for o in contents.occurrences)
        last = max([last, *(end for end in ends if end is not None)])
    found: set[int] = set()
    for contents in sources.reporting:
        assert contents.window.report is not None
        found.update(instants(contents.window.report, contents, first, last))
    return sorted(found)


def _with_origin(settings: Settings, query: ast.Query, inputs: Inputs) -> Settings:
    """`first`: the origin is the instant before the first element of the query's streams."""
    if isinstance(settings.origin, int):
        return settings
    sources = Sources(build(query, replace(settings, origin=0)).dataset, inputs, {})
    return replace(settings, origin=0 if sources.first is None else sources.first - 1)


def _matched_patterns(query: ast.Query) -> dict[str, list[SinglePattern]]:
    """The triple patterns in each WINDOW block, by the window's name."""
    patterns = SinglePatterns()
    found: dict[str, list[SinglePattern]] = {}
    for node in walk(query):
        if isinstance(node, ast.WindowBlock) and isinstance(node.name, ast.Constant):
            triples = [element for element in node.pattern.elements if isinstance(element, ast.Triples)]
            found.setdefault(node.name.text, []).extend(single for t in triples for single in patterns.of(t))
    return found


# The streaming operators (semantics.md §7)


def _streamed_results(query: ContinuousQuery, sources: Sources, times: Sequence[int]) -> Iterator[Result]:
    previous: Result | None = None
    for time in times:
        now = evaluate(query, query.text, sources.at(time))
        yield _apply(query.operator, now, previous)
        previous = now


def _apply(operator: OneOf["rstream", "istream", "dstream"], now: Result, previous: Result | None) -> Result:
    if operator == "rstream":
        return now
    if operator == "istream":
        return now if previous is None else now.without(previous)
    return now.nothing() if previous is None else previous.without(now)


# SPARQL over a stream: each solution once, as soon as nothing can take it back


def _waits_for_the_end(query: ContinuousQuery) -> bool:
    reports = [window.report for window in query.dataset.windows if window.report is not None]
    strategies = {node.name for report in reports for node in walk(report) if isinstance(node, ast.Strategy)}
    return "stream-end" in strategies and query.operator == "istream"


def _certain_results(query: ContinuousQuery, sources: Sources, times: Sequence[int]) -> Iterator[Result]:
    certain = certain_part(query.text)
    given: Counter[object] = Counter()
    for time in times:
        is_end = time == sources.last
        text = query.text if is_end else certain
        result = _at(query, text, sources.at(time), is_end, given)
        given.update(result.items)
        yield result


def _at(
    query: ContinuousQuery, text: ast.Query | None, dataset: InstantaneousDataset, is_end: bool, given: Counter[object]
) -> Result:
    if text is None:
        return Result.empty(query)
    result = evaluate(query, text, dataset)
    if result.boolean is False and not is_end:
        return Result.empty(query)
    return result.beyond(given)
