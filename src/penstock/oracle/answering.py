"""The answer of a continuous query: its evaluations, one per instant (Definition 24)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from penstock.algebra import ContinuousQuery, Settings, build
from penstock.algebra.certain import certain_part
from penstock.algebra.inputs import Inputs
from penstock.algebra.model import AskForm, DescribeForm
from penstock.algebra.reports import instants
from penstock.oracle.datasets import Sources
from penstock.oracle.evaluating import Solutions, evaluate, formed, no_solutions
from penstock.oracle.triples import SinglePattern, SinglePatterns
from penstock.rdf.results import Evaluation
from penstock.syntax import ast
from penstock.syntax.ast.traversal import walk


@dataclass(frozen=True, slots=True)
class Answer:
    """Every evaluation, also those without solutions, in time order."""

    query: ContinuousQuery
    evaluations: tuple[Evaluation, ...]

    def with_solutions(self) -> Iterator[Evaluation]:
        """The evaluations with a result. An ASK always has one."""
        return (evaluation for evaluation in self.evaluations if evaluation.says_something)


def answer(
    query: ast.Query, inputs: Inputs, settings: Settings | None = None, *, flush: bool = False, name: str = "query"
) -> Answer:
    """The reference answer. `flush` also reports the windows that are still open when the input ends."""
    continuous = _with_origin(query, settings or Settings(), inputs)
    sources = Sources(continuous.dataset, inputs, matched_patterns(continuous.text))
    times = evaluation_instants(sources, flush)
    stream = _certain_evaluations if continuous.waits_for_certainty else _streamed_evaluations
    evaluations = stream(continuous, sources, times, continuous.name or name)
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


def _with_origin(query: ast.Query, settings: Settings, inputs: Inputs) -> ContinuousQuery:
    """The query with its t0; `first` is the instant before the first element of the query's streams."""
    continuous = build(query, settings)
    if isinstance(settings.origin, int):
        return continuous
    first = Sources(continuous.dataset, inputs, {}).first
    return continuous if first is None else continuous.with_origin(first - 1)


def matched_patterns(query: ast.Query) -> dict[str, list[SinglePattern]]:
    """The triple patterns in each WINDOW block, by the window's name."""
    patterns = SinglePatterns()
    found: dict[str, list[SinglePattern]] = {}
    for node in walk(query):
        if isinstance(node, ast.WindowBlock) and isinstance(node.name, ast.Constant):
            triples = [element for element in node.pattern.elements if isinstance(element, ast.Triples)]
            found.setdefault(node.name.text, []).extend(single for t in triples for single in patterns.of(t))
    return found


# The streaming operators (semantics.md §7): they compare solutions, before the query form is applied


def _streamed_evaluations(
    query: ContinuousQuery, sources: Sources, times: Sequence[int], name: str
) -> Iterator[Evaluation | None]:
    previous: Solutions | None = None
    for time in times:
        dataset = sources.at(time)
        now = evaluate(query, query.text, dataset)
        yield formed(query, _apply(query.operator, now, previous), dataset, name, time)
        previous = now


def _apply(operator: ast.Operator, now: Solutions, previous: Solutions | None) -> Solutions:
    if operator == "rstream":
        return now
    if operator == "istream":
        return now if previous is None else now.without(previous)
    return now.nothing() if previous is None else previous.without(now)


# SPARQL over a stream: each solution once, as soon as no later input can remove it; a graph has each triple once


def _certain_evaluations(
    query: ContinuousQuery, sources: Sources, times: Sequence[int], name: str
) -> Iterator[Evaluation | None]:
    certain = certain_part(query.text)
    given: Counter[tuple[object, ...]] = Counter()
    given_triples: set[object] = set()
    for time in times:
        is_end = time == sources.last
        text = query.text if is_end else certain
        dataset = sources.at(time)
        now = no_solutions(query) if text is None else evaluate(query, text, dataset)
        if isinstance(query.form, AskForm) and (given or not now.rows or not (now.rows[0][0] or is_end)):
            now = now.nothing()
        fresh = now.beyond(given)
        given.update(fresh.rows)
        evaluation = formed(query, now if isinstance(query.form, DescribeForm) else fresh, dataset, name, time)
        if evaluation is not None and evaluation.triples is not None:
            new = tuple(triple for triple in evaluation.triples if triple not in given_triples)
            given_triples.update(new)
            evaluation = replace(evaluation, triples=new)
        yield evaluation
