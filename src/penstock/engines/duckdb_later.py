"""Streams as queries see them that came when others were running: views, without what was there before."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from penstock.relational.sources import Tables
from penstock.relational.windows import passed

if TYPE_CHECKING:
    from penstock.engines.duckdb import DuckDBEngine


@dataclass(slots=True)
class _View:
    name: str
    passed: int = 0
    """How many elements that it showed, and that came in time, have been evicted."""


@dataclass(slots=True)
class LaterViews:
    """Views by their tables and the instants after which they show something, made when they are first needed."""

    engine: DuckDBEngine
    _views: dict[tuple[str, int], _View] = field(default_factory=dict)
    _made: int = 0

    def tables(self, tables: Tables, after: int) -> Tables:
        """The tables, of streams what is after an instant; what is known of a table is known of its views."""
        names = {table: self._view(table, after).name for table in tables.streams.values()}
        predicates = {names[table]: known for table, known in tables.predicates.items() if table in names}
        counts = {names[table]: known for table, known in tables.counts.items() if table in names}
        return replace(
            tables,
            streams={iri: names[table] for iri, table in tables.streams.items()},
            predicates={**tables.predicates, **predicates},
            counts={**tables.counts, **counts},
        )

    def _view(self, table: str, after: int) -> _View:
        if (table, after) not in self._views:
            self._made += 1
            view = self._views[table, after] = _View(f"{table}_later_{self._made}")
            self.engine.run(f"CREATE VIEW {view.name} AS SELECT * FROM {table} WHERE ts > {after}")
        return self._views[table, after]

    @property
    def passed(self) -> dict[str, int]:
        return {passed(view.name): view.passed for view in self._views.values()}

    def note_evicted(self, table: str, is_old: str) -> None:
        """The rows of a table that fulfil a condition are going to be evicted."""
        for (of, _), view in self._views.items():
            if of == table:
                condition = f"{is_old} AND since IS NULL"
                ((elements,),) = self.engine.rows(f"SELECT count(DISTINCT element) FROM {view.name} WHERE {condition}")
                view.passed += elements

    def keep(self, instants: Collection[int | None]) -> None:
        """Nobody needs views after other instants."""
        for table, after in [key for key in self._views if key[1] not in instants]:
            self.engine.run(f"DROP VIEW {self._views.pop((table, after)).name}")
