"""A query over bounded input: all its evaluation instants, slice by slice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pyoxigraph import Triple

from penstock.algebra import ContinuousQuery, Settings, build
from penstock.algebra.building import build_expression
from penstock.algebra.certain import certain_part
from penstock.algebra.inputs import GraphTriple, InputError, Inputs, in_time_order
from penstock.algebra.model import AskForm, ConstructForm, DescribeForm, SelectForm
from penstock.algebra.templates import instantiate
from penstock.engines.duckdb import DuckDBEngine, GraphRow, StreamRow
from penstock.rdf.conversion import decode_oxigraph, encode_oxigraph
from penstock.rdf.elements import Element, Node
from penstock.rdf.results import Evaluation
from penstock.relational.answers import Plan
from penstock.relational.sources import FOREVER, NotYetError
from penstock.runtime.operators import beyond, streamed
from penstock.syntax import ast

INSTANTS_PER_SLICE = 256

Row = tuple[str | None, ...]


def run_bounded(
    query: ast.Query, inputs: Inputs, settings: Settings | None = None, *, flush: bool = False, name: str = "query"
) -> Iterator[Evaluation]:
    """All evaluations of a query over input that ends, in time order, also those without solutions."""
    engine = DuckDBEngine()
    load(engine, inputs)
    return BoundedRun(engine, query, settings or Settings(), flush=flush, name=name).evaluations()


def load(engine: DuckDBEngine, inputs: Inputs) -> None:
    """Puts streams and graphs into the engine's tables."""
    for iri, elements in inputs.streams.items():
        engine.load_stream(iri, _stream_rows(elements, inputs.lateness))
    for graph, triples in inputs.graphs.items():
        engine.load_graph(graph, _graph_rows(triples))


def _stream_rows(elements: Sequence[Element], lateness: int) -> list[StreamRow]:
    """Each triple with its timestamp, its element's number, and from when on it counts (it may have come late)."""
    return [
        (*_encoded(triple), element.time, number, -FOREVER if known_from is None else known_from)
        for number, (element, known_from) in enumerate(in_time_order(elements, lateness), start=1)
        for triple in element.triples
    ]


def _graph_rows(triples: Sequence[GraphTriple]) -> list[GraphRow]:
    return [
        (*_encoded(triple), valid.start, FOREVER if valid.end is None else valid.end) for triple, valid in triples
    ]  # fmt: skip


def _encoded(triple: Triple) -> tuple[str, str, str]:
    return encode_oxigraph(triple.subject), encode_oxigraph(triple.predicate), encode_oxigraph(triple.object)


class BoundedRun:
    """One query over an engine whose streams and graphs are loaded."""

    def __init__(
        self,
        engine: DuckDBEngine,
        query: ast.Query,
        settings: Settings,
        *,
        flush: bool = False,
        name: str = "query",
        instants_per_slice: int = INSTANTS_PER_SLICE,
    ) -> None:
        self.engine = engine
        self.flush = flush
        self.instants_per_slice = instants_per_slice
        streams = _streams(build(query, replace(settings, origin=0)), engine)
        self.span = engine.time_span(streams)
        if settings.origin == "first":
            settings = replace(settings, origin=0 if self.span is None else self.span[0] - 1)
        self.query = build(query, settings)
        self.name = self.query.name or name
        if isinstance(self.query.form, DescribeForm):
            raise NotYetError("DESCRIBE")
        form = self.query.form
        self.variables = tuple(v.name for v in form.variables) if isinstance(form, SelectForm) else ()

    def evaluations(self) -> Iterator[Evaluation]:
        """Every evaluation in time order, also those without solutions."""
        if self.span is None:
            return
        instants = self.engine.instants(self.query, *self.span, flush=self.flush)
        if self.query.waits_for_certainty:
            yield from self._certain(instants)
        elif isinstance(self.query.form, AskForm):
            yield from self._asked(instants)
        else:
            for time, rows in self._evaluate(self.engine.compile(self.query), instants):
                yield self._evaluation(time, rows)

    def _evaluate(self, plan: Plan, instants: Sequence[int]) -> Iterator[tuple[int, list[Row]]]:
        if not isinstance(self.query.form, SelectForm):
            self.variables = plan.variables
        wanted = [plan.variables.index(name) if name in plan.variables else None for name in self.variables]
        previous = None
        for start in range(0, len(instants), self.instants_per_slice):
            part = instants[start : start + self.instants_per_slice]
            for time, rows in self.engine.evaluate(plan, part, previous):
                yield time, [tuple(None if p is None else row[p] for p in wanted) for row in rows]
            previous = part[-1]

    def _asked(self, instants: Sequence[int]) -> Iterator[Evaluation]:
        """The streaming operator compares booleans; where there is nothing new, there is no evaluation to tell of."""
        plan = self.engine.compile(replace(self.query, operator="rstream"))
        before: list[bool] | None = None
        for time, rows in self._evaluate(plan, instants):
            now = [bool(rows)]
            for boolean in streamed(self.query.operator, now, before):
                yield Evaluation(self.name, time, boolean=boolean)
            before = now

    def _certain(self, instants: Sequence[int]) -> Iterator[Evaluation]:
        """SPARQL over a stream: each solution once, as soon as no later input can take it back."""
        assert self.span is not None
        certain = certain_part(self.query.text)
        sure = iter(()) if certain is None else self._sure(certain, instants)
        given: Counter[Row] = Counter()
        given_triples: set[object] = set()
        for time in instants:
            rows: list[Row] = next(sure, [])
            if time == self.span[1]:
                whole = self.engine.compile(replace(self.query, operator="rstream"))
                rows = next(iter(self._evaluate(whole, [time])))[1]
            if isinstance(self.query.form, AskForm):
                if not given and (rows or time == self.span[1]):
                    given[()] += 1
                    yield Evaluation(self.name, time, boolean=bool(rows))
                continue
            fresh = beyond(rows, given)
            given.update(fresh)
            evaluation = self._evaluation(time, fresh)
            if evaluation.triples is not None:
                new = tuple(triple for triple in evaluation.triples if triple not in given_triples)
                given_triples.update(new)
                evaluation = replace(evaluation, triples=new)
            yield evaluation

    def _sure(self, certain: ast.Query, instants: Sequence[int]) -> Iterator[list[Row]]:
        query = replace(self.query, expression=build_expression(certain), operator="rstream")
        for _, rows in self._evaluate(self.engine.compile(query), instants):
            yield rows

    def _evaluation(self, time: int, rows: Sequence[Row]) -> Evaluation:
        terms = tuple(tuple(map(_term, row)) for row in rows)
        if isinstance(self.query.form, ConstructForm):
            solutions = [dict(zip(self.variables, row, strict=True)) for row in terms]
            return Evaluation(self.name, time, triples=instantiate(self.query.form, solutions))
        return Evaluation(self.name, time, self.variables, terms)


def _streams(query: ContinuousQuery, engine: DuckDBEngine) -> list[str]:
    if any(window.stream is None for window in query.dataset.windows):
        return list(engine.tables.streams)
    for stream in query.dataset.streams:
        if stream not in engine.tables.streams:
            raise InputError(f"the query reads the stream <{stream}>, which is not bound")
    return list(query.dataset.streams)


def _term(text: str | None) -> Node | None:
    return None if text is None else decode_oxigraph(text)
