"""Relations over intervals: the result of compiling an operator of the algebra (architecture.md).

A relation is a named SELECT with a column per variable and two more, `i` and `j`: the row holds at the evaluation
instants number i, i + 1, …, j − 1 of the slice. A row that holds over an interval is stored once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from penstock.algebra.expressions import Variable
from penstock.relational.shapes import Shape


@dataclass(frozen=True, slots=True)
class Relation:
    """`columns` maps variables to columns; those in `certain` are bound in every row."""

    name: str
    columns: Mapping[Variable, str]
    certain: frozenset[Variable]
    extra: tuple[str, ...] = ()
    """Columns that are not variables: flags, row numbers."""
    holds_always: bool = False
    """Whether every row holds at every instant of the slice."""
    is_momentary: bool = False
    """Whether every row holds at one instant only."""
    looked_up: frozenset[Variable] = frozenset()
    """The variables by whose values the engine looks up rows without scanning all of them, one at a time."""
    narrow: frozenset[Variable] = frozenset()
    """The variables whose values have few rows each, in a relation with few rows."""

    def column(self, variable: Variable) -> exp.Expr:
        """The variable's value, unbound where this relation does not have it."""
        name = self.columns.get(variable)
        return exp.null() if name is None else col(self.name, name)

    @property
    def start(self) -> exp.Column:
        return col(self.name, "i")

    @property
    def end(self) -> exp.Column:
        return col(self.name, "j")

    @property
    def all_columns(self) -> list[str]:
        return [*self.columns.values(), *self.extra]


@dataclass(slots=True)
class Statement:
    """The relations of a plan in order of dependency: the WITH clause of one SQL statement."""

    shape: Shape
    parts: list[tuple[str, exp.Query, bool]] = field(default_factory=list)
    recursive: set[str] = field(default_factory=set)
    """The recursive relations."""
    stream_scans: int = 0
    """The number of reads of streams."""
    _variables: dict[Variable, str] = field(default_factory=dict)
    _origins: dict[str, tuple[str, Mapping[str, str]]] = field(default_factory=dict)

    def add(self, query: exp.Query, *, materialized: bool = False, recursive: bool = False) -> str:
        """Names a SELECT. `materialized`: it is computed once for all its readers; `recursive`: it reads itself."""
        name = self.next_name()
        self.parts.append((name, query, materialized))
        if recursive:
            self.recursive.add(name)
        return name

    def renamed(self, name: str, columns: Mapping[str, str]) -> str:
        """The relation under a new name, with new names for its columns: `columns` maps these to its own."""
        selected = [aliased(col(name, own), new) for new, own in columns.items()]
        again = self.add(select_from(name, [*selected, col(name, "i"), col(name, "j")]))
        self._origins[again] = name, columns
        return again

    def origin(self, name: str, column: str) -> tuple[str, str]:
        """The original relation and column behind renamings."""
        source, columns = self._origins.get(name, (name, {column: column}))
        return source, columns[column]

    def next_name(self) -> str:
        return f"r{len(self.parts) + 1}"

    def relation(
        self,
        query: exp.Query,
        columns: Mapping[Variable, str],
        certain: Iterable[Variable],
        extra: tuple[str, ...] = (),
        *,
        materialized: bool = False,
        is_momentary: bool = False,
    ) -> Relation:
        name = self.add(query, materialized=materialized)
        return Relation(name, columns, frozenset(certain), extra, is_momentary=is_momentary)

    def column_name(self, variable: Variable) -> str:
        """A column for the variable; SQL would treat ?Tot and ?tot as one, so columns are numbered."""
        return self._variables.setdefault(variable, f"v{len(self._variables) + 1}")

    def finish(self, select: exp.Select) -> exp.Select:
        is_recursive = bool(self.recursive)
        for name, query, materialized in self.parts:
            if is_recursive and name not in self.recursive:
                query = _as_one_select(query)
            select = select.with_(
                name, as_=query, materialized=materialized or None, recursive=is_recursive, copy=False
            )  # fmt: skip
        return select


def _as_one_select(query: exp.Query) -> exp.Query:
    """A union as a SELECT from it.

    In a WITH RECURSIVE, DuckDB gives every union the column types of its first side, and casts the others to them.
    """
    return exp.select("*").from_(query.subquery(copy=False)) if isinstance(query, exp.SetOperation) else query


def col(table: str, name: str) -> exp.Column:
    return exp.Column(this=_identifier(name), table=_identifier(table))


def _identifier(name: str) -> exp.Identifier:
    """A generated name, which needs no quotes."""
    return exp.Identifier(this=name, quoted=False)


def select_from(name: str, columns: Iterable[exp.Expr]) -> exp.Select:
    return exp.select(*columns, copy=False).from_(exp.Table(this=_identifier(name)), copy=False)


def united(parts: Sequence[exp.Query]) -> exp.Query:
    """All rows of all parts."""
    whole = parts[0]
    for part in parts[1:]:
        whole = exp.union(whole, part, distinct=False, copy=False)
    return whole


def aliased(expression: exp.Expr, name: str) -> exp.Expr:
    return exp.alias_(expression, name, copy=False)


def number(value: int) -> exp.Expr:
    return exp.Literal.number(value)


def greatest(values: list[exp.Expr]) -> exp.Expr:
    return values[0] if len(values) == 1 else exp.Greatest(this=values[0], expressions=values[1:], ignore_nulls=True)


def least(values: list[exp.Expr]) -> exp.Expr:
    return values[0] if len(values) == 1 else exp.Least(this=values[0], expressions=values[1:], ignore_nulls=True)


def conjunction(conditions: list[exp.Expr]) -> exp.Expr:
    return exp.and_(*conditions, copy=False) if conditions else exp.true()
