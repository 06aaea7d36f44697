"""Statements over the views of a Spark store: compiled queries and reports."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import pairwise
from math import gcd
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from sqlglot import exp

from penstock.algebra.operators import Operator
from penstock.engines.matcher import Demanded
from penstock.engines.protocol import Slice
from penstock.engines.solutions import Solutions
from penstock.engines.spark.parts import parts_of, with_parts
from penstock.engines.spark.session import checked_stack
from penstock.relational.answers import Plan
from penstock.relational.intervals import INSTANTS
from penstock.relational.reporting import InstantsPlan
from penstock.relational.shapes import DistributedSlice, Shape
from penstock.relational.windows import FOREVER

if TYPE_CHECKING:
    from penstock.engines.spark.store import SparkStore


@dataclass(frozen=True, slots=True)
class SparkQuery:
    """`may_skip_instants`: numbering instants at which nothing is reported does no harm."""

    store: SparkStore
    plan: Callable[[Operator, Shape], Plan]
    best: Callable[[], Operator]
    """The current expression to run."""
    may_skip_instants: bool
    longest: int | None
    """The longest interval of a row, if it is known."""
    demanded: Demanded | None = None
    """If this is false, nothing is run."""
    _plans: dict[tuple[Operator, Shape, Hashable], Plan] = field(default_factory=dict)

    @property
    def variables(self) -> tuple[str, ...]:
        """The same in every plan of the expression."""
        best, layout = self.best(), self.store.layout
        known = (plan for (of, _, then), plan in self._plans.items() if of == best and then == layout)
        return (next(known, None) or self._compiled(DistributedSlice(is_regular=True))).variables

    @property
    def joins_streams(self) -> bool:
        """Joins go by slices anyway."""
        return False

    @checked_stack()
    def evaluate(self, part: Slice) -> Solutions:
        if self.demanded is not None and not self.demanded.may_hold_in(part):
            return Solutions.none(part.instants)
        statement, sorting = _with_keys(self._compiled_for(part).statement)
        found = self._frame(part, statement).repartition(1).sortWithinPartitions(*sorting)
        table = found.toArrow()
        return Solutions.at_instants(table.select(range(table.num_columns - len(sorting))), part.instants)

    @checked_stack()
    def frame(self, part: Slice) -> DataFrame:
        """The solutions, in no order."""
        statement = self._compiled_for(part).statement.copy()
        statement.set("order", None)
        return self._frame(part, statement)

    def _compiled_for(self, part: Slice) -> Plan:
        numbers, step = self._numbers(_times(part))
        has_slices = numbers[-1] > 2 * self._slice(step)
        cores = self.store.session.sparkContext.defaultParallelism
        shape = DistributedSlice(
            is_regular=step is not None,
            has_slices=has_slices,
            has_many_instants=len(part.instants) >= _INSTANTS_PER_CORE * cores,
        )
        return self._compiled(shape)

    def _slice(self, step: int | None) -> int:
        """The number of instants in a slice of a join."""
        return FOREVER if step is None or self.longest is None else _WINDOWS_PER_SLICE * max(self.longest // step, 1)

    def _frame(self, part: Slice, statement: exp.Select) -> DataFrame:
        times = _times(part)
        numbers, step = self._numbers(times)
        reported = [place > 0 or part.previous is None for place in range(len(times))]
        instants = self.store.listed({"k": numbers, "t": times, "is_reported": reported})
        parameters = {
            "first": times[0],
            "last": times[-1],
            "count": numbers[-1] + 1,
            "step": step,
            "slice": self._slice(step),
        }
        return self.store.frame(with_parts(statement, [(INSTANTS, instants), *parts_of(statement)]), parameters)

    def _numbers(self, times: Sequence[int]) -> tuple[list[int], int | None]:
        """The numbers of instants; if they are a step apart, the numbers are computed."""
        step = reduce(gcd, (later - earlier for earlier, later in pairwise(times)), 0) or 1
        steps = (times[-1] - times[0]) // step
        if steps + 1 == len(times) or (self.may_skip_instants and steps < _SKIPPED + 2 * len(times)):
            return [(time - times[0]) // step for time in times], step
        return list(range(len(times))), None

    def _compiled(self, shape: Shape) -> Plan:
        key = self.best(), shape, self.store.layout
        if key not in self._plans:
            for old in [known for known in self._plans if known[2] != key[2]]:
                del self._plans[old]
            self._plans[key] = self.plan(*key[:2])
        return self._plans[key]


def _times(part: Slice) -> list[int]:
    return [*([] if part.previous is None else [part.previous]), *part.instants]


_WINDOWS_PER_SLICE = 4
"""A row that holds for a window's length is in one or two slices, mostly in one."""

_INSTANTS_PER_CORE = 8
"""With this many slices, it does no harm if some have more rows than others."""

_SKIPPED = 1000
"""At least this many instants at which nothing is reported may be numbered."""


def _with_keys(statement: exp.Select) -> tuple[exp.Select, list[Column]]:
    """The columns and the order to sort by: to sort the whole result, Spark would first run a job that samples it."""
    statement = statement.copy()
    order = statement.args["order"].pop()
    sorting: list[Column] = []
    for place, key in enumerate(order.expressions):
        name = f"sorted_by_{place}"
        value = key.this if isinstance(key, exp.Ordered) else key
        statement = statement.select(exp.alias_(value, name, copy=False), copy=False)
        sorting.append(_SORTING[bool(key.args.get("desc")), bool(key.args.get("nulls_first"))](sf.col(name)))
    return statement, sorting


_SORTING: Mapping[tuple[bool, bool], Callable[[Column], Column]] = {
    (False, False): Column.asc_nulls_last,
    (False, True): Column.asc_nulls_first,
    (True, False): Column.desc_nulls_last,
    (True, True): Column.desc_nulls_first,
}


@dataclass(frozen=True, slots=True)
class SparkReport:
    store: SparkStore
    plan: InstantsPlan
    last_end_statement: exp.Select

    def instants(self, first: int, last: int, end: int | None) -> list[int]:
        self.plan.check(first, last)
        found = self.store.rows(self.plan.statement, {"first": first, "last": last, "end": end})
        return [instant for (instant,) in found]

    def last_end(self, first: int) -> int | None:
        return self.store.value(self.last_end_statement, {"first": first, "last": FOREVER})
