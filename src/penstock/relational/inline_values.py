"""VALUES as SQL: the rows listed in a query, or the constants in which queries differ."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from penstock.rdf.encoding import encode
from penstock.rdf.terms import IRI, Literal
from penstock.relational.functions.calls import call, text
from penstock.relational.relations import aliased, col, number

Rows = Sequence[Sequence[IRI | Literal | None]]
_Encoded = Sequence[Sequence[str | None]]

_MANY = 20
"""From this many rows on, columns are texts: an engine binds each value of a list whenever the statement is run."""

_BETWEEN = "␟"
"""The separator of the terms in such a text. No term is empty, because each has a tag."""


def listed(rows: Rows, columns: Sequence[str], *, is_distributed: bool) -> exp.Select:
    """The rows, encoded, with these names for their columns."""
    values = [[None if term is None else encode(term) for term in row] for row in rows]
    query = exp.select(*(col("listed", name) for name in columns))
    if len(rows) >= _MANY and columns and not is_distributed and _can_be_joined(values):
        return query.from_(_split(values, columns).subquery("listed"))
    # The last column makes a row in SQL even without variables.
    nothing = [None] * len(columns)
    tuples = [exp.Tuple(expressions=[*map(_value, row), number(0)]) for row in values or (nothing,)]
    names = [exp.to_identifier(name) for name in (*columns, "unused")]
    alias = exp.TableAlias(this=exp.to_identifier("listed"), columns=names)
    query = query.from_(exp.Values(expressions=tuples, alias=alias))
    return query if rows else query.where(exp.false())


def _can_be_joined(values: _Encoded) -> bool:
    return not any(value is not None and _BETWEEN in value for row in values for value in row)


def _split(values: _Encoded, columns: Sequence[str]) -> exp.Select:
    """The columns, each as one text that is split where the statement is run."""
    texts = [_BETWEEN.join(value or "" for value in column) for column in zip(*values, strict=True)]
    lists = [call("string_split", text(joined), text(_BETWEEN)) for joined in texts]
    rows = exp.select(*(aliased(call("unnest", each), name) for each, name in zip(lists, columns, strict=True)))
    terms = [aliased(exp.Nullif(this=col("split", name), expression=text("")), name) for name in columns]
    return exp.select(*terms).from_(rows.subquery("split"))


def _value(value: str | None) -> exp.Expr:
    return exp.cast(exp.null(), "text") if value is None else text(value)
