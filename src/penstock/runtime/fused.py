"""Queries that are equal up to constants, answered by one statement (algebra/fusing.py), each with its evaluations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Any

from penstock.algebra import ContinuousQuery
from penstock.algebra.fusing import NUMBER, Fused, Template, fused
from penstock.algebra.model import ConstructForm, QueryForm
from penstock.algebra.templates import instantiate
from penstock.engines.protocol import Slice, WindowStore
from penstock.engines.solutions import Row
from penstock.rdf.encoding import decode
from penstock.rdf.results import Evaluation
from penstock.rdf.terms import Literal
from penstock.runtime.evaluators import Evaluator, Terms
from penstock.runtime.queries import Late, QuerySpec, RunningQuery
from penstock.runtime.reference_data import ReferenceData
from penstock.runtime.settings import RunSettings


class FusedQuery(RunningQuery):
    """Several queries with one clock: they have the same windows. `names` are what they go by, in order."""

    def __init__(
        self,
        store: WindowStore[Any],
        specs: Mapping[str, QuerySpec],
        query: ContinuousQuery,
        templates: Sequence[Template],
        streams: Mapping[str, int],
        how: RunSettings,
        reference_data: ReferenceData,
        *,
        after: int | None = None,
    ) -> None:
        names = tuple(specs)
        self._templates = templates
        told = tuple(dict.fromkeys(member.on_late for member in specs.values()))

        def on_late(late: Late) -> None:
            for function in told:
                function(late)

        first = replace(next(iter(specs.values())), on_late=on_late)
        super().__init__(store, first, query, streams, how, name=names[0], reference_data=reference_data, after=after)
        self.names = names

    def _prepared(self, origin: int) -> tuple[ContinuousQuery, Evaluator]:
        one = fused(self._query.with_origin(origin), self._templates)
        forms = {name: template.form for name, template in zip(self.names, self._templates, strict=True)}
        return one.query, FusedEvaluator(self.store, one, forms, self.how)


class FusedEvaluator(Evaluator):
    """Solutions handed back to the queries that they are of; there are no evaluations without solutions."""

    def __init__(self, store: WindowStore[Any], one: Fused, forms: Mapping[str, QueryForm], how: RunSettings) -> None:
        names = list(forms)
        self._members = [[(names[place], forms[names[place]]) for place in group] for group in one.groups]
        super().__init__(store, one.query, names[0], is_optimized=how.is_optimized)
        self._place = self.variables.index(NUMBER.name) if one.has_numbers else None
        self._names = tuple(name for name in self.variables if name != NUMBER.name)
        self._numbers: dict[str, int] = {}

    def evaluations(self, part: Slice, end: int | None) -> Iterator[Evaluation]:
        solutions, rows = self._evaluated(self._solutions, part)
        numbered = list(zip(self._numbers_of(rows), self._terms(self._own(rows)), strict=True))
        for time, there in solutions.at_each_instant(numbered, has_empty=False):
            by_number: dict[int, list[Terms]] = {}
            for number, terms in there:
                by_number.setdefault(number, []).append(terms)
            for number, own in sorted(by_number.items()):
                yield from self._handed_back(number, time, tuple(own))

    def _numbers_of(self, rows: list[Row]) -> Iterator[int]:
        """Which query each row is of."""
        place = self._place
        return repeat(0, len(rows)) if place is None else (self._number(row[place]) for row in rows)

    def _own(self, rows: list[Row]) -> list[Row]:
        place = self._place
        return rows if place is None else [(*row[:place], *row[place + 1 :]) for row in rows]

    def _number(self, text: str | None) -> int:
        assert text is not None
        number = self._numbers.get(text)
        if number is None:
            term = decode(text)
            assert isinstance(term, Literal)
            number = self._numbers[text] = int(term.lexical)
        return number

    def _handed_back(self, number: int, time: int, terms: tuple[Terms, ...]) -> Iterator[Evaluation]:
        for name, form in self._members[number]:
            if isinstance(form, ConstructForm):
                solutions = [dict(zip(self._names, row, strict=True)) for row in terms]
                yield Evaluation(name, time, triples=instantiate(form, solutions))
            else:
                yield Evaluation(name, time, self._names, terms)
