"""Static parts of queries, computed once and kept in DuckDB: a table each, with an index for each join variable.

A few rows of a stream are joined with such a table by an index lookup, so that the time does not grow with the table.
(DuckDB passes the values of the smaller side of a join to the scan of the other one.)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from penstock.algebra.expressions import Variable
from penstock.algebra.operators import Operator
from penstock.relational.static_parts import KeptPart, KeptTable, StaticPart

_INDEXED = 2_000
"""Scanning a table of fewer rows is faster than index lookups."""

_FEW = 128
"""A key is narrow if its values have at most this many rows each, on average."""

_TIMES, _MORE = 4, 100_000
"""A part is kept if its rows are at most this many times the number of triples, plus a constant; else it is joined each
time.
"""


class Database(Protocol):
    def rows(self, text: str) -> list[tuple[Any, ...]]: ...

    def provide(self, text: str) -> None:
        """Defines the functions that a statement calls."""


@dataclass(slots=True)
class _Table:
    name: str
    rows: int
    operator: Operator
    keys: dict[Variable, str] = field(default_factory=dict)
    narrow: set[str] = field(default_factory=set)
    """The keys whose values have few rows each."""


class KeptTables:
    """`least`: a single triple pattern is kept if the graphs have at least this many triples together."""

    def __init__(self, database: Database, least: int) -> None:
        self._database = database
        self._least = least
        self._tables: dict[str, _Table | None] = {}
        self._made = 0

    def forget(self) -> None:
        """The graphs have changed."""
        for table in self._tables.values():
            if table is not None:
                self._database.rows(f"DROP TABLE {table.name}")
        self._tables.clear()

    @property
    def parts(self) -> tuple[KeptPart, ...]:
        tables = [table for table in self._tables.values() if table is not None]
        return tuple(KeptPart(table.operator, tuple(table.keys), table.rows) for table in tables)

    def keep(self, part: StaticPart, triples: int) -> KeptTable | None:
        """The table of a part, for graphs with this many triples; None if it is not faster."""
        if part.is_pattern and triples < self._least:
            return None
        text = part.statement.sql("duckdb")
        if text not in self._tables:
            self._tables[text] = self._computed(part, _TIMES * triples + _MORE)
        table = self._tables[text]
        if table is None:
            return None
        has_index = table.rows >= _INDEXED
        for variable, key in part.keys.items():
            if key not in table.keys.values():
                table.keys[variable] = key
                if has_index:
                    self._database.rows(f"CREATE INDEX {table.name}_{key} ON {table.name} ({key})")
                elif self._is_narrow(table, key):
                    table.narrow.add(key)
        narrow = frozenset(variable for variable, key in part.keys.items() if key in table.narrow)
        return KeptTable(table.name, has_index, narrow)

    def _is_narrow(self, table: _Table, key: str) -> bool:
        ((values,),) = self._database.rows(f"SELECT count(DISTINCT {key}) FROM {table.name}")
        return table.rows <= _FEW * int(values)

    def _computed(self, part: StaticPart, most: int) -> _Table | None:
        """None if there are more rows than are worth keeping; counting stops at the limit.

        The limit is in the statement itself: a limit around it makes DuckDB 2.0 wait forever if a part is read twice.
        """
        self._made += 1
        name = f"static_{self._made}"
        text = part.statement.limit(most + 1).sql("duckdb")
        self._database.provide(text)
        self._database.rows(f"CREATE TEMP TABLE {name} AS {text}")
        ((rows,),) = self._database.rows(f"SELECT count(*) FROM {name}")
        if rows > most:
            self._database.rows(f"DROP TABLE {name}")
            return None
        return _Table(name, rows, part.operator)
