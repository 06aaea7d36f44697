"""Streams as queries that joined a run see them: views without the elements that arrived before."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace

from penstock.relational.tables import Tables
from penstock.relational.windows import passed


@dataclass(slots=True)
class LaterView:
    """The rows of a table after an instant."""

    name: str
    after: int
    passed: int = 0
    """The number of evicted elements of the view that were not late."""


@dataclass(slots=True)
class LaterViews:
    """Views by table and instant, created when they are first needed.

    `run` runs a statement, which is the same on both engines.
    """

    run: Callable[[str], object]
    _views: dict[tuple[str, int], LaterView] = field(default_factory=dict)
    _passed: dict[tuple[str, int], int] = field(default_factory=dict)
    """The initial counts of the views, if another store has evicted elements before."""
    _made: int = 0

    def tables(self, tables: Tables, after: int | None) -> Tables:
        """The tables, with views in place of streams; statistics of a table are used for its views."""
        if after is None:
            return tables
        names = {table: self._view(table, after).name for table in tables.streams.values()}
        predicates = {names[table]: known for table, known in tables.predicates.items() if table in names}
        counts = {names[table]: known for table, known in tables.counts.items() if table in names}
        return replace(
            tables,
            streams={iri: names[table] for iri, table in tables.streams.items()},
            predicates={**tables.predicates, **predicates},
            counts={**tables.counts, **counts},
        )

    def _view(self, table: str, after: int) -> LaterView:
        if (table, after) not in self._views:
            self._made += 1
            view = self._views[table, after] = LaterView(
                f"{table}_later_{self._made}", after, self._passed.get((table, after), 0)
            )
            self.run(f"CREATE TEMPORARY VIEW {view.name} AS SELECT * FROM {table} WHERE ts > {after}")
        return self._views[table, after]

    def count(self, table: str, after: int, passed: int) -> None:
        """This many elements of the view of a table after an instant have been evicted in total."""
        self._passed[table, after] = passed
        if (table, after) in self._views:
            self._views[table, after].passed = passed

    @property
    def passed(self) -> dict[str, int]:
        return {passed(view.name): view.passed for view in self._views.values()}

    def of(self, table: str) -> Iterator[LaterView]:
        """The views of a table: evicted elements are counted for each of them."""
        return (view for (of, _), view in self._views.items() if of == table)

    def keep(self, instants: Collection[int | None]) -> None:
        """Drop the views after other instants."""
        for table, after in [key for key in self._views if key[1] not in instants]:
            self.run(f"DROP VIEW {self._views.pop((table, after)).name}")
