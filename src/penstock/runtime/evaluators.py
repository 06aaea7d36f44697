"""From solutions to evaluations in the form of the query: SELECT, ASK, CONSTRUCT, DESCRIBE."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from pyoxigraph import Triple

from penstock.algebra.building import build_expression
from penstock.algebra.certain import certain_part
from penstock.algebra.model import AskForm, ConstructForm, ContinuousQuery, DescribeForm, SelectForm
from penstock.algebra.operators import Distinct, Operator, Project
from penstock.algebra.templates import described, instantiate
from penstock.engines.protocol import CompiledQuery, Slice, WindowStore
from penstock.engines.solutions import Row, Solutions
from penstock.optimizer import Knowledge
from penstock.rdf.conversion import decode_oxigraph
from penstock.rdf.elements import Node
from penstock.rdf.results import Evaluation
from penstock.relational.answers import Delivery
from penstock.runtime.operators import beyond, streamed

Terms = tuple[Node | None, ...]
"""A solution."""

State = dict[str, Any]
"""What an answer depends on besides the streams; JSON can hold it."""


def evaluator_for(
    store: WindowStore[Any], query: ContinuousQuery, name: str, is_optimized: bool = True, *, has_empty: bool = True
) -> Evaluator:
    """What answers a query; `has_empty`: also with evaluations that have no solutions."""
    kind = AskEvaluator if isinstance(query.form, AskForm) else Evaluator
    if query.waits_for_certainty:
        kind = CertainEvaluator
    return kind(store, query, name, is_optimized, has_empty=has_empty)


class Evaluator:
    """Each instant answered by itself, under the streaming operator that SQL has applied."""

    def __init__(
        self,
        store: WindowStore[Any],
        query: ContinuousQuery,
        name: str,
        is_optimized: bool = True,
        *,
        has_empty: bool = True,
    ) -> None:
        self.store = store
        self.query = query
        self.name = name
        self.variables = _variables_of(query)
        self.left_out = 0
        """How many evaluations without solutions have not been made."""
        self._is_optimized = is_optimized
        self._has_empty = has_empty
        self._dataset = store.compile_dataset(query) if isinstance(query.form, DescribeForm) else None
        self._prepare()

    def _prepare(self) -> None:
        self._solutions = self._compiled(self.query.expression, self.query.operator)

    @property
    def solutions(self) -> CompiledQuery:
        """What gives the solutions of each instant."""
        return self._solutions

    @property
    def joins_streams(self) -> bool:
        """Whether rows of streams are joined with each other."""
        return self._solutions.joins_streams

    def _compiled(self, expression: Operator, delivery: Delivery) -> CompiledQuery:
        return self.store.compile(self.query, expression, delivery, is_optimized=self._is_optimized)

    def evaluations(self, part: Slice, end: int | None) -> Iterator[Evaluation]:
        """The evaluations at the instants of a slice; `end` is the instant with which the streams end, if known."""
        solutions, rows = self._evaluated(self._solutions, part)
        self.left_out += 0 if self._has_empty else solutions.empty_instants
        for time, terms in solutions.at_each_instant(self._terms(rows), has_empty=self._has_empty):
            yield self._formed(time, tuple(terms))

    def _rows(self, compiled: CompiledQuery, part: Slice) -> Iterator[tuple[int, list[Row]]]:
        """The solutions of each instant."""
        solutions, rows = self._evaluated(compiled, part)
        yield from solutions.at_each_instant(rows)

    def _evaluated(self, compiled: CompiledQuery, part: Slice) -> tuple[Solutions, list[Row]]:
        """The solutions, and their rows as rows of the query's own variables."""
        solutions = compiled.evaluate(part)
        known = compiled.variables if solutions.rows else self.variables
        if known == self.variables:
            return solutions, solutions.rows
        places = [known.index(name) if name in known else None for name in self.variables]
        return solutions, [tuple([None if place is None else row[place] for place in places]) for row in solutions.rows]

    def _terms(self, rows: Sequence[Row]) -> tuple[Terms, ...]:
        return tuple([tuple([None if text is None else _decoded(text) for text in row]) for row in rows])

    def _formed(self, time: int, terms: tuple[Terms, ...]) -> Evaluation:
        variables = self.variables
        if isinstance(self.query.form, SelectForm):
            return Evaluation(self.name, time, variables, terms)
        solutions = [dict(zip(variables, row, strict=True)) for row in terms]
        if isinstance(self.query.form, ConstructForm):
            return Evaluation(self.name, time, triples=instantiate(self.query.form, solutions))
        assert self._dataset is not None
        there = self._dataset.evaluate(Slice([time])).rows if solutions else []
        return Evaluation(self.name, time, triples=described(self.query.form, solutions, [*map(_triple, there)]))

    @property
    def state(self) -> State:
        return {}

    @state.setter
    def state(self, state: State) -> None:
        """As it was."""


class AskEvaluator(Evaluator):
    """The streaming operator compares booleans; where there is nothing new, there is no evaluation to tell of."""

    before: list[bool] | None = None

    def _prepare(self) -> None:
        self._solutions = self._compiled(_any_of(self.query.expression), "rstream")

    def evaluations(self, part: Slice, end: int | None) -> Iterator[Evaluation]:
        for time, rows in self._rows(self._solutions, part):
            now = [bool(rows)]
            for boolean in streamed(self.query.operator, now, self.before):
                yield Evaluation(self.name, time, boolean=boolean)
            self.before = now

    @property
    def state(self) -> State:
        return {"before": self.before}

    @state.setter
    def state(self, state: State) -> None:
        self.before = state["before"]


class CertainEvaluator(Evaluator):
    """SPARQL over a stream: each solution once, as soon as no later input can take it back (semantics.md §8)."""

    def _prepare(self) -> None:
        self._given: Counter[Row] = Counter()
        self._given_triples: set[str] = set()
        self._compile()

    def _compile(self) -> None:
        certain = certain_part(self.query.text)
        expression = None if certain is None else build_expression(certain)
        self._is_monotonic = not isinstance(self.query.form, DescribeForm) and not self.store.has_changing_graphs
        delivery: Delivery = "once" if self._is_monotonic else "rstream"
        self._certain = None if expression is None else self._compiled(self._asked(expression), delivery)
        self._whole = self._compiled(self._asked(self.query.expression), "rstream")
        self._solutions = self._whole

    def _asked(self, expression: Operator) -> Operator:
        return _any_of(expression) if isinstance(self.query.form, AskForm) else expression

    def evaluations(self, part: Slice, end: int | None) -> Iterator[Evaluation]:
        if self._is_monotonic and self.store.has_changing_graphs:  # since a moment ago
            self._compile()
        before = [time for time in part.instants if time != end]
        if before and self._certain is not None:
            for time, rows in self._rows(self._certain, replace(part, instants=before)):
                yield from self._told(time, rows, is_end=False)
        else:
            for time in before:
                yield from self._told(time, [], is_end=False)
        if end is not None and end in part.instants:
            for time, rows in self._rows(self._whole, Slice([end])):
                yield from self._told(time, rows, is_end=True)

    def _told(self, time: int, rows: list[Row], *, is_end: bool) -> Iterator[Evaluation]:
        if isinstance(self.query.form, AskForm):
            if not self._given and (rows or is_end):
                self._given[()] += 1
                yield Evaluation(self.name, time, boolean=bool(rows))
            return
        if is_end or not self._is_monotonic:
            rows = beyond(rows, self._given)
        if not isinstance(self.query.form, DescribeForm):
            self._given.update(rows)
        evaluation = self._formed(time, self._terms(rows))
        if evaluation.triples is not None:
            new = tuple(triple for triple in evaluation.triples if str(triple) not in self._given_triples)
            self._given_triples.update(map(str, new))
            evaluation = replace(evaluation, triples=new)
        yield evaluation

    @property
    def state(self) -> State:
        return {"given": [[*entry] for entry in self._given.items()], "triples": sorted(self._given_triples)}

    @state.setter
    def state(self, state: State) -> None:
        self._given = Counter({tuple(row): count for row, count in state["given"]})
        self._given_triples = set(state["triples"])


def _variables_of(query: ContinuousQuery) -> tuple[str, ...]:
    """What a row is made of, whatever becomes of the expression."""
    if isinstance(query.form, SelectForm):
        return tuple(variable.name for variable in query.form.variables)
    scope = Knowledge.of(query).scope(query.expression)
    return tuple(sorted(variable.name for variable in scope.possible if variable.is_visible))


def _any_of(expression: Operator) -> Operator:
    """One empty solution where there is any: all that ASK asks."""
    return Distinct(Project(expression, ()))


@lru_cache(maxsize=1 << 16)
def _decoded(text: str) -> Node:
    return decode_oxigraph(text)


def _triple(row: Row) -> Triple:
    return Triple(*(_decoded(text) for text in row if text is not None))  # type: ignore[arg-type]
