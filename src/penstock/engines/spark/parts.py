"""The named parts of a statement (its WITH clause), on Spark."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

Parts = Sequence[tuple[str, exp.Query]]
"""The named queries of a WITH clause, in order."""


def parts_of(statement: exp.Query) -> Parts:
    clause = statement.args.get("with_")
    return [] if clause is None else [(part.alias, part.this) for part in clause.expressions]


def with_parts(statement: exp.Query, parts: Parts) -> exp.Query:
    """The statement with these parts alone."""
    statement = statement.copy()
    statement.set("with_", None)
    for name, query in parts:
        statement = statement.with_(name, as_=query, copy=False)
    return statement


def nested(statement: exp.Query) -> exp.Query | None:
    """The statement with each part written where it is read; None if that would be too often.

    This is for persisted frames: Spark numbers the parts of a statement, and does not recognise them within another
    statement with parts. So it would compute the persisted rows again.
    """
    known: dict[str, exp.Query] = {}
    written: dict[str, int] = {}
    for name, query in [*parts_of(statement), ("", with_parts(statement, ()))]:
        tables = [table.name for table in query.find_all(exp.Table) if table.name in known]
        written[name] = 1 + sum(written[table] for table in tables)
        if written[name] > _MOST:
            return None
        known[name] = _with_sub_selects(query, known)
    return known[""]


_MOST = 100
"""The maximum number of parts that are written out: a part that is read twice by a part that is read twice is written
four times.
"""


def _with_sub_selects(query: exp.Query, known: dict[str, exp.Query]) -> exp.Query:
    query = query.copy()
    for table in [table for table in query.find_all(exp.Table) if table.name in known]:
        table.replace(known[table.name].subquery(table.alias_or_name))
    return query
