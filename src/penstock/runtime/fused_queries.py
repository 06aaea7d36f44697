"""Queries that are equal up to constants, answered by one statement (algebra/fusing.py), with separate evaluations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.algebra import ContinuousQuery
from penstock.algebra.fusing import NUMBER, Fused, Template, fused
from penstock.algebra.model import ConstructForm, QueryForm, SelectForm
from penstock.engines.protocol import Slice, WindowStore
from penstock.engines.solutions import Solutions
from penstock.rdf.result_batches import Kind, Numbers, ResultBatch
from penstock.rdf.term_columns import text_array
from penstock.runtime.evaluators import Evaluator
from penstock.runtime.graph_templates import instantiated
from penstock.runtime.queries import Late, QuerySpec, RunningQuery
from penstock.runtime.reference_data import ReferenceData
from penstock.runtime.settings import RunSettings


class FusedQuery(RunningQuery):
    """Several queries with one clock: they have the same windows. `names` are their names, in order."""

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
    """Assigns solutions to their queries; evaluations without solutions are left out."""

    def __init__(self, store: WindowStore[Any], one: Fused, forms: Mapping[str, QueryForm], how: RunSettings) -> None:
        self._names, self._forms = list(forms), list(forms.values())
        self._groups = [np.array(group, np.int64) for group in one.groups]
        self._has_numbers = one.has_numbers
        super().__init__(store, one.query, self._names[0], how.is_optimized, has_empty=False)

    def answers(self, part: Slice, end: int | None) -> Iterator[ResultBatch]:
        for portion in self._evaluated(self._solutions, part).with_solutions().portions():
            apart, members = self._by_member(portion)
            yield self._delivered(self._in_form(apart, members))

    def _by_member(self, solutions: Solutions) -> tuple[Solutions, Numbers]:
        """The solutions as if each query had instants of its own, and the query of each."""
        instants = np.repeat(np.arange(len(solutions.instants)), solutions.sizes)
        groups = self._numbers(solutions)[solutions.places]
        order = np.lexsort((groups, instants))
        instants, groups = instants[order], groups[order]
        is_first = np.ones(len(order), np.bool_)
        is_first[1:] = (np.diff(instants) != 0) | (np.diff(groups) != 0)
        starts = np.flatnonzero(is_first)
        there = [self._groups[group] for group in groups[starts].tolist()]
        copies = np.array([len(members) for members in there], np.int64)
        bounds = np.append(starts, len(order))
        one_each = Solutions(solutions.instants[instants[starts]], solutions.rows, solutions.places[order], bounds)
        members = np.concatenate([*there, np.zeros(0, np.int64)])
        rows = solutions.rows.drop_columns(NUMBER.name) if self._has_numbers else solutions.rows
        return replace(one_each.chosen(np.repeat(np.arange(len(starts)), copies)), rows=rows), members

    def _numbers(self, solutions: Solutions) -> Numbers:
        """The query of each row."""
        if not self._has_numbers:
            return np.zeros(int(solutions.places.max(initial=-1)) + 1, np.int64)
        lexical = pc.utf8_slice_codeunits(text_array(solutions.rows[NUMBER.name]), 1)
        found: Numbers = lexical.cast(pa.int64()).to_numpy()
        return found

    def _in_form(self, solutions: Solutions, members: Numbers) -> ResultBatch:
        if isinstance(self._forms[0], SelectForm):
            return self._batch(solutions, members, "rows")
        found: list[ResultBatch] = []
        chosen: list[Numbers] = []
        for form in dict.fromkeys(self._forms):
            assert isinstance(form, ConstructForm)
            own = np.array([other == form for other in self._forms])
            chosen.append(np.flatnonzero(own[members]))
            of_form = solutions.chosen(chosen[-1])
            found.append(self._batch(instantiated(form, of_form), members[chosen[-1]], "triples"))
        return ResultBatch.together(found, np.argsort(np.concatenate(chosen)))

    def _batch(self, solutions: Solutions, members: Numbers, kind: Kind) -> ResultBatch:
        return ResultBatch(
            kind, self._names, solutions.instants, solutions.rows, solutions.places, solutions.bounds, members
        )
