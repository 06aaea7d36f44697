"""Statements over the tables of a DuckDB store: parsed once, planned for the shapes of slices."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import duckdb
import numpy as np
import pyarrow as pa
from sqlglot import exp

from penstock.algebra.operators import Operator
from penstock.engines.machine_memory import check_memory
from penstock.engines.matcher import Demanded
from penstock.engines.protocol import Slice, StorageError
from penstock.engines.solutions import Solutions, without
from penstock.engines.statistics import Latest
from penstock.relational.answers import Delivery, Plan
from penstock.relational.intervals import INSTANTS
from penstock.relational.reporting import InstantsPlan
from penstock.relational.shapes import LocalSlice, Shape, Snapshot
from penstock.relational.windows import FOREVER

if TYPE_CHECKING:
    from penstock.engines.duckdb.store import DuckDBStore


# DuckDB recommends a relation instead, which copies no rows, but is planned twice; few rows are the rule.
warnings.filterwarnings("ignore", "Arrow output on a DB-API result")

_PORTION = 500_000
"""The number of rows fetched from a result at a time."""


_FEW = 16
"""So few rows are fetched as Python values."""

_WINDOWS_PER_SLICE = 2
"""A row that holds for a window's length is in one or two slices of a join."""

_TOO_LONG = "CONCAT makes a string of more than 16777216 characters"
"""The message of `sparql_concat` (relational/functions/duckdb/strings.sql)."""


@contextmanager
def reported() -> Iterator[None]:
    """Runs the block; raises StorageError, in one sentence, if the disk or the memory is full."""
    try:
        yield
    except (duckdb.OutOfMemoryException, MemoryError):
        raise StorageError(
            "the query needs more memory than is available: use shorter windows, or compute smaller values"
        ) from None
    except duckdb.ConversionException as error:
        if _TOO_LONG not in str(error):
            raise
        raise StorageError(f"{_TOO_LONG}: change the query to compute shorter values") from None
    except (duckdb.IOException, duckdb.FatalException, duckdb.TransactionException) as error:
        raise StorageError(str(error).splitlines()[0]) from None


class PreparedStatement:
    """A parsed statement, whose functions are defined, and the names of its parameters."""

    def __init__(self, store: DuckDBStore, statement: exp.Select) -> None:
        self.store = store
        self.text = statement.sql("duckdb", copy=False)
        (self._parsed,) = store.connection.extract_statements(self.text)
        self.parameters = self._parsed.named_parameters
        self.reads_instants = INSTANTS in self.text
        """Whether the instants of a slice must be registered first, which changes the catalog. A query that has the
        word in a literal only takes longer.
        """
        self._few: pa.Table | None = None
        """No row of the answer, if the last one had few."""
        store.provide(self.text)

    def rows(self, parameters: Mapping[str, int | None]) -> list[tuple[Any, ...]]:
        with reported():
            return self.store.connection.execute(self._parsed, self._given(parameters)).fetchall()

    def table(self, parameters: Mapping[str, int | None]) -> pa.Table:
        """Fetches a portion at a time, so that an answer that is too large fails before the memory is full.

        Few rows are fetched as Python values, which is faster: if the last answer had few.
        """
        if self._few is not None:
            rows = self.rows(parameters)
            found = pa.table([*zip(*rows, strict=True)], schema=self._few.schema) if rows else self._few
            self._few = self._few if len(rows) <= _FEW else None
            return found
        found = self._fetched(parameters)
        self._few = found.slice(0, 0) if found.num_rows <= _FEW else None
        return found

    def _fetched(self, parameters: Mapping[str, int | None]) -> pa.Table:
        with reported():
            found = self.store.connection.execute(self._parsed, self._given(parameters))
            reader: pa.RecordBatchReader = found.to_arrow_reader(_PORTION)
            portions: list[pa.RecordBatch] = []
            unchecked = 0
            for portion in reader:  # rows in no order come in many small ones
                if unchecked >= _PORTION:
                    check_memory()
                    unchecked = 0
                portions.append(portion)
                unchecked += portion.num_rows
            return pa.Table.from_batches(portions, reader.schema)

    def value(self, parameters: Mapping[str, int | None]) -> int | None:
        ((found,),) = self.rows(parameters)
        return cast(int | None, found)

    def _given(self, parameters: Mapping[str, int | None]) -> dict[str, int | None]:
        everything = {**self.store.passed, **parameters}
        return {name: value for name, value in everything.items() if name in self.parameters}


class DuckDBQuery:
    """Statements for the shapes of slices, made when they are first needed.

    `best` is the current expression to run. When sizes have changed, it is determined again, and another order of joins
    has other statements. If the rows that the query demands have not arrived, nothing is run. `longest`: for how long a
    window shows an element, if joins may rely on it.
    """

    def __init__(
        self,
        store: DuckDBStore,
        plan: Callable[[Operator, Shape], Plan],
        best: Callable[[], Operator],
        layout: Callable[[], Hashable],
        demanded: Demanded | None = None,
        *,
        delivery: Delivery = "rstream",
        longest: int | None = None,
    ) -> None:
        self.store = store
        self._longest = longest
        self._plan = plan
        self._best = Latest(store.observed, best)
        self._demanded = demanded
        self._delivery = delivery
        self._known_before: tuple[int, pa.Table | None] | None = None
        """The solutions of the last single instant, with which those of the next one are compared; None if none."""
        self._layout, self._known_layout = layout, layout()
        self._plans: dict[tuple[Operator, Shape], Plan] = {}
        self._statements: dict[Plan, PreparedStatement] = {}
        self._current: tuple[Operator, dict[Shape, PreparedStatement]] | None = None
        """The statements for the current expression: it takes long to look up an expression that is equal."""

    @property
    def variables(self) -> tuple[str, ...]:
        return self._known_plan.variables

    @property
    def joins_streams(self) -> bool:
        may_join = self._demanded is None or self._demanded.may_hold_ever()
        return may_join and self._known_plan.stream_scans > 1

    @property
    def _known_plan(self) -> Plan:
        """The plan for any shape, if possible an existing one: all have the same variables and read as many streams."""
        self._follow_layout()
        best = self._best()
        known = (plan for (expression, _), plan in self._plans.items() if expression == best)
        return next(known, None) or self._planned(LocalSlice(is_regular=True, is_large=self.store.is_large))

    def evaluate(self, part: Slice) -> Solutions:
        if self._demanded is not None and not self._demanded.may_hold_in(part):
            self._known_before = part.instants[-1], None
            return Solutions.none(part.instants)
        if len(part.instants) == 1 and self._delivery in ("istream", "dstream"):
            return Solutions.at(part.instants[0], self._changed(part))
        statement, parameters = self._statement_for(part)
        if len(part.instants) == 1 and self._delivery == "rstream":
            return Solutions.at(part.instants[0], statement.table(parameters))
        return Solutions.over_intervals(statement.table(parameters), part.instants, parameters.get("reported", 0))

    def table(self, part: Slice) -> tuple[pa.Table, int] | None:
        """The rows of the solutions in order: the variables, then i and j (they hold at instants number i to j − 1).

        Also returns how many instants are numbered before the first of the slice. None if there is no row.
        """
        if self._demanded is not None and not self._demanded.may_hold_in(part):
            return None
        statement, parameters = self._statement_for(part)
        return statement.table(parameters), parameters.get("reported", 0)

    def _changed(self, part: Slice) -> pa.Table:
        """The solutions of an instant that are none of the instant before; DSTREAM: the other way round.

        A statement about one instant is much shorter than one that compares two.
        """
        (instant,) = part.instants
        now = self._prepared(Snapshot()).table(_at(instant))
        before: pa.Table | None = None
        if part.previous is not None:
            if self._known_before is None or self._known_before[0] != part.previous:
                self._known_before = part.previous, self._prepared(Snapshot()).table(_at(part.previous))
            before = self._known_before[1]
        self._known_before = instant, now
        before = now.slice(0, 0) if before is None else before
        return without(now, before) if self._delivery == "istream" else without(before, now)

    def _statement_for(self, part: Slice) -> tuple[PreparedStatement, dict[str, int]]:
        if len(part.instants) == 1 and self._delivery == "rstream":
            return self._prepared(Snapshot()), _at(part.instants[0])
        previous = None if self._delivery == "rstream" else part.previous
        times = [*([] if previous is None else [previous]), *part.instants]
        step = times[1] - times[0] if len(times) > 1 else 1
        is_regular = bool((np.diff(np.array(times, np.int64)) == step).all())
        stretch = self._stretch(times)
        has_slices = len(times) > 2 * stretch and self.joins_streams
        statement = self._prepared(LocalSlice(is_regular, self.store.is_large, has_slices))
        if statement.reads_instants:
            self.store.set_instants(times)
        unreported = len(times) - len(part.instants)
        slice_ = {"first": times[0], "last": times[-1], "count": len(times), "step": step, "reported": unreported}
        slice_["slice"] = stretch
        return statement, slice_

    def _stretch(self, times: Sequence[int]) -> int:
        """The number of instants within which joins look for partners: those of some windows."""
        if self._longest is None:
            return len(times)
        return max(1, _WINDOWS_PER_SLICE * self._longest * len(times) // (times[-1] - times[0] + 1))

    def _follow_layout(self) -> None:
        """Plans are for one layout."""
        layout = self._layout()
        if layout != self._known_layout:
            self._known_layout = layout
            self._plans.clear()
            self._statements.clear()
            self._current = None

    def _planned(self, shape: Shape) -> Plan:
        self._follow_layout()
        key = self._best(), shape
        if key not in self._plans:
            self._plans[key] = self._plan(*key)
        return self._plans[key]

    def _prepared(self, shape: Shape) -> PreparedStatement:
        self._follow_layout()
        best = self._best()
        if self._current is None or self._current[0] is not best:
            self._current = best, {}
        known = self._current[1]
        if shape not in known:
            plan = self._planned(shape)
            if plan not in self._statements:
                self._statements[plan] = self.store.prepared(plan.statement)
            known[shape] = self._statements[plan]
        return known[shape]


def _at(instant: int) -> dict[str, int]:
    return {"first": instant, "last": instant, "count": 1}


class DuckDBReport:
    """`last_end` is compiled if it is asked for (`--flush`)."""

    def __init__(self, store: DuckDBStore, plan: InstantsPlan, last_end: Callable[[], exp.Select]) -> None:
        self.store = store
        self.plan = plan
        self.statement = store.prepared(plan.statement)
        self._compile_last_end = last_end

    def instants(self, first: int, last: int, end: int | None) -> list[int]:
        self.plan.check(first, last)
        found = self.statement.table({"first": first, "last": last, "end": end})
        instants: list[int] = found.column(0).to_pylist()
        return instants

    def last_end(self, first: int) -> int | None:
        statement = self.store.prepared(self._compile_last_end())
        return statement.value({"first": first, "last": FOREVER})
