"""From solutions to answers in the form of the query: SELECT, ASK, CONSTRUCT, DESCRIBE."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from pyoxigraph import Triple

from penstock.algebra.building import build_expression
from penstock.algebra.certain import certain_part
from penstock.algebra.model import AskForm, ConstructForm, ContinuousQuery, DescribeForm, SelectForm
from penstock.algebra.operators import Distinct, Operator, Project
from penstock.algebra.templates import described
from penstock.engines.protocol import CompiledQuery, Slice, WindowStore
from penstock.engines.solutions import Solutions
from penstock.optimizer import Knowledge
from penstock.rdf.result_batches import EncodedRow, Kind, ResultBatch, decoded
from penstock.rdf.results import Evaluation
from penstock.rdf.term_columns import TEXT, n_triples, statements
from penstock.relational.answers import Delivery
from penstock.runtime.graph_templates import instantiated
from penstock.runtime.operators import beyond, streamed

State = dict[str, Any]
"""The state that an answer depends on besides the streams, as JSON."""


def evaluator_for(
    store: WindowStore[Any], query: ContinuousQuery, name: str, is_optimized: bool = True, *, has_empty: bool = True
) -> Evaluator:
    """Evaluates a query; `has_empty`: also returns evaluations without solutions."""
    kind = AskEvaluator if isinstance(query.form, AskForm) else Evaluator
    if query.waits_for_certainty:
        kind = CertainEvaluator
    return kind(store, query, name, is_optimized, has_empty=has_empty)


class Evaluator:
    """Each instant is answered separately, after SQL has applied the streaming operator."""

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
        """The number of evaluations without solutions that have been skipped."""
        self._is_optimized = is_optimized
        self._has_empty = has_empty
        self._dataset = store.compile_dataset(query) if isinstance(query.form, DescribeForm) else None
        self._prepare()

    def _prepare(self) -> None:
        self._solutions = self._compiled(self.query.expression, self.query.operator)

    @property
    def solutions(self) -> CompiledQuery:
        """The evaluation of the solutions at each instant."""
        return self._solutions

    @property
    def joins_streams(self) -> bool:
        """Whether rows of streams are joined with each other."""
        return self._solutions.joins_streams

    def _compiled(self, expression: Operator, delivery: Delivery) -> CompiledQuery:
        return self.store.compile(self.query, expression, delivery, is_optimized=self._is_optimized)

    def answers(self, part: Slice, end: int | None) -> Iterator[ResultBatch]:
        """The answers for the instants of a slice; `end` is the instant at which the streams end, if known."""
        solutions = self._evaluated(self._solutions, part)
        if not self._has_empty:
            solutions = solutions.with_solutions()
            self.left_out += len(part.instants) - len(solutions.instants)
        for portion in solutions.portions():
            yield self._delivered(self._formed(portion))

    def _delivered(self, batch: ResultBatch) -> ResultBatch:
        """The evaluations that are returned."""
        if self._has_empty:
            return batch
        delivered = batch.with_solutions()
        self.left_out += len(batch) - len(delivered)
        return delivered

    def _evaluated(self, compiled: CompiledQuery, part: Slice) -> Solutions:
        """The solutions, with the original variables of the query."""
        solutions = compiled.evaluate(part)
        known = dict(zip(compiled.variables, solutions.rows.columns, strict=True)) if solutions.rows.num_columns else {}
        unbound = pa.nulls(solutions.rows.num_rows, TEXT)
        rows = pa.table({name: known.get(name, unbound) for name in self.variables})
        return replace(solutions, rows=rows)

    def _formed(self, solutions: Solutions) -> ResultBatch:
        form = self.query.form
        if isinstance(form, SelectForm):
            return _batch(self.name, solutions)
        if isinstance(form, ConstructForm):
            return _batch(self.name, instantiated(form, solutions), "triples")
        return ResultBatch.together([ResultBatch.of(self._described(*each)) for each in solutions.at_each_instant()])

    def _described(self, time: int, rows: list[EncodedRow]) -> Evaluation:
        assert self._dataset is not None
        assert isinstance(self.query.form, DescribeForm)
        there = next(self._dataset.evaluate(Slice([time])).at_each_instant())[1] if rows else []
        solutions = [
            {name: None if text is None else decoded(text) for name, text in zip(self.variables, row, strict=True)}
            for row in rows
        ]
        return Evaluation(self.name, time, triples=described(self.query.form, solutions, [*map(_triple, there)]))

    @property
    def state(self) -> State:
        return {}

    @state.setter
    def state(self, state: State) -> None:
        """Restores the state."""


class AskEvaluator(Evaluator):
    """The streaming operator compares booleans; without a new one, there is no evaluation."""

    before: list[bool] | None = None

    def _prepare(self) -> None:
        self._solutions = self._compiled(_any_of(self.query.expression), "rstream")

    def answers(self, part: Slice, end: int | None) -> Iterator[ResultBatch]:
        solutions = self._evaluated(self._solutions, part)
        times: list[int] = []
        booleans: list[bool] = []
        for time, boolean in zip(solutions.instants.tolist(), (solutions.sizes > 0).tolist(), strict=True):
            for streamed_out in streamed(self.query.operator, [boolean], self.before):
                times.append(time)
                booleans.append(streamed_out)
            self.before = [boolean]
        if times:
            yield ResultBatch.booleans(self.name, times, np.array(booleans))

    @property
    def state(self) -> State:
        return {"before": self.before}

    @state.setter
    def state(self, state: State) -> None:
        self.before = state["before"]


class CertainEvaluator(Evaluator):
    """SPARQL over a stream: each solution once, as soon as no later input can take it back (semantics.md §8)."""

    def _prepare(self) -> None:
        self._emitted: Counter[EncodedRow] = Counter()
        self._emitted_triples: set[str] = set()
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

    def answers(self, part: Slice, end: int | None) -> Iterator[ResultBatch]:
        if self._is_monotonic and self.store.has_changing_graphs:  # since a moment ago
            self._compile()
        before = [time for time in part.instants if time != end]
        if before:
            certain = replace(part, instants=before)
            found = Solutions.none(before) if self._certain is None else self._evaluated(self._certain, certain)
            yield from self._new(found, is_end=False)
        if end is not None and end in part.instants:
            yield from self._new(self._evaluated(self._whole, Slice([end])), is_end=True)

    def _new(self, solutions: Solutions, *, is_end: bool) -> Iterator[ResultBatch]:
        """The new solutions of some instants."""
        if isinstance(self.query.form, AskForm):
            for time, size in zip(solutions.instants.tolist(), solutions.sizes.tolist(), strict=True):
                if not self._emitted and (size or is_end):
                    self._emitted[()] += 1
                    yield ResultBatch.booleans(self.name, [time], np.array([size > 0]))
            return
        new = self._not_emitted(solutions, is_certain=self._is_monotonic and not is_end)
        if not self._has_empty:
            self.left_out += len(new.instants)
            new = new.with_solutions()
            self.left_out -= len(new.instants)
        if len(new.instants):
            batch = self._formed(new)
            yield self._delivered(self._without_emitted_triples(batch) if batch.kind == "triples" else batch)

    def _not_emitted(self, solutions: Solutions, *, is_certain: bool) -> Solutions:
        """`is_certain`: no such solution has been emitted before."""
        rows = solutions.python_rows
        kept: list[int] = []
        bounds = [0]
        for places in np.split(solutions.places, solutions.bounds[1:-1]):
            found = places.tolist()
            if not is_certain:
                found = beyond(found, self._emitted, rows.__getitem__)
            if not isinstance(self.query.form, DescribeForm):
                self._emitted.update(rows[place] for place in found)
            kept += found
            bounds.append(len(kept))
        return replace(solutions, places=np.array(kept, np.int64), bounds=np.array(bounds))

    def _without_emitted_triples(self, batch: ResultBatch) -> ResultBatch:
        texts = statements(batch.rows, n_triples).to_pylist()
        is_new = np.ones(len(batch.places), np.bool_)
        for number, place in enumerate(batch.places.tolist()):
            is_new[number] = texts[place] not in self._emitted_triples
            self._emitted_triples.add(texts[place])
        bounds = np.concatenate([[0], np.cumsum(is_new)])[batch.bounds]
        return ResultBatch(batch.kind, batch.queries, batch.times, batch.rows, batch.places[is_new], bounds)

    @property
    def state(self) -> State:
        return {"emitted": [[*entry] for entry in self._emitted.items()], "triples": sorted(self._emitted_triples)}

    @state.setter
    def state(self, state: State) -> None:
        self._emitted = Counter({tuple(row): count for row, count in state["emitted"]})
        self._emitted_triples = set(state["triples"])


def _variables_of(query: ContinuousQuery) -> tuple[str, ...]:
    """The variables of a row, independent of rewrites of the expression."""
    if isinstance(query.form, SelectForm):
        return tuple(variable.name for variable in query.form.variables)
    scope = Knowledge.of(query).scope(query.expression)
    return tuple(sorted(variable.name for variable in scope.possible if variable.is_visible))


def _any_of(expression: Operator) -> Operator:
    """One empty solution if there is any: ASK needs no more."""
    return Distinct(Project(expression, ()))


def _batch(name: str, solutions: Solutions, kind: Kind = "rows") -> ResultBatch:
    return ResultBatch(kind, [name], solutions.instants, solutions.rows, solutions.places, solutions.bounds)


def _triple(row: EncodedRow) -> Triple:
    return Triple(*(decoded(text) for text in row if text is not None))  # type: ignore[arg-type]
