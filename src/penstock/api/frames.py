"""Evaluations as tables of plain values: for Arrow, for pandas."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyoxigraph import BlankNode, Literal, NamedNode, Quad

from penstock.algebra.model import AskForm, QueryForm, SelectForm
from penstock.rdf.elements import Node
from penstock.rdf.encoding import INTEGER_TYPES
from penstock.rdf.instants import parse_instant
from penstock.rdf.results import Evaluation
from penstock.rdf.vocabulary import XSD
from penstock.sinks.counts import Counts
from penstock.sinks.lines import time_column

if TYPE_CHECKING:
    import pandas as pd

Value = Node | bool | None

_INTEGERS = frozenset(XSD + name for name in ("integer", *INTEGER_TYPES))
_NUMBERS = frozenset(XSD + name for name in ("decimal", "double", "float"))
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_LARGEST = 2**63

_TYPES = {
    int: pa.int64(),
    float: pa.float64(),
    bool: pa.bool_(),
    str: pa.string(),
}
_INSTANT = pa.timestamp("ms", "UTC")
_COUNTS = "counts"


def arrow_table(evaluations: Iterable[Evaluation], form: QueryForm, *, terms: bool) -> pa.Table:
    """A row for each solution, triple or boolean, the instant before it.

    A column of numbers, booleans or dates and times has such values; any other holds texts. With `terms` each value is
    an RDF term as N-Triples.
    """
    return _table(evaluations, form, _terms if terms else _values)


def text_table(evaluations: Iterable[Evaluation], form: QueryForm, *, terms: bool) -> pa.Table:
    """The same with texts only, so that the columns of any evaluations have the same types."""
    return _table(evaluations, form, _terms if terms else _texts)


def _table(evaluations: Iterable[Evaluation], form: QueryForm, convert: Callable[[list[Value]], pa.Array]) -> pa.Table:
    names = columns_of(form)
    times: list[int] = []
    rows: list[Sequence[Value]] = []
    for evaluation in evaluations:
        before = len(rows)
        rows.extend(_rows(evaluation))
        times.extend([evaluation.time] * (len(rows) - before))
    if not isinstance(form, SelectForm | AskForm) and any(len(row) > 3 for row in rows):
        names = (*names, "g")
        rows = [(*row, None) if len(row) == 3 else row for row in rows]
    columns = [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in names]
    return pa.table([pa.array(times, pa.int64()), *map(convert, columns)], names=[time_column(names), *names])


def pandas_frame(table: pa.Table) -> pd.DataFrame:
    """The same for pandas; a column of whole numbers or booleans in which some are missing has a type that can miss."""
    try:
        import pandas as pd
    except ImportError:
        raise ImportError(
            "to_df() needs pandas, which is not installed: pip install pandas, or take to_arrow()"
        ) from None
    frame = table.to_pandas()
    for name in table.column_names:
        column = table[name]
        if column.null_count and column.type in (pa.int64(), pa.bool_()):
            kind = "Int64" if column.type == pa.int64() else "boolean"
            frame[name] = pd.array(column.to_pylist(), dtype=kind)
    counts = (table.schema.metadata or {}).get(_COUNTS.encode())
    if counts is not None:
        frame.attrs[_COUNTS] = json.loads(counts)
    return frame


def with_counts(table: pa.Table, counts: Counts) -> pa.Table:
    """The table with the counts of its run in the metadata of its schema, which `pandas_frame` takes over."""
    return table.replace_schema_metadata({_COUNTS: json.dumps(asdict(counts))})


def columns_of(form: QueryForm) -> tuple[str, ...]:
    """Those beside the instant."""
    if isinstance(form, SelectForm):
        return tuple(variable.name for variable in form.variables)
    return ("boolean",) if isinstance(form, AskForm) else ("s", "p", "o")


def _rows(evaluation: Evaluation) -> Iterator[Sequence[Value]]:
    if evaluation.boolean is not None:
        yield (evaluation.boolean,)
    yield from evaluation.rows or ()
    for triple in evaluation.triples or ():
        parts: tuple[Any, ...] = (triple.subject, triple.predicate, triple.object)
        graph: tuple[Any, ...] = (triple.graph_name,) if isinstance(triple, Quad) else ()
        yield parts + graph


def _terms(column: Sequence[Value]) -> pa.Array:
    if any(isinstance(value, bool) for value in column):
        return pa.array(column, pa.bool_())
    return pa.array([None if value is None else str(value) for value in column], pa.string())


def _values(column: Sequence[Value]) -> pa.Array:
    values = [plain_value(value) for value in column]
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        kinds = {float}
    if kinds == {_Instant}:
        return pa.array(values, _INSTANT)
    if len(kinds) == 1:
        (kind,) = kinds
        return pa.array(
            values if kind is not float else [None if v is None else float(v) for v in values], _TYPES[kind]
        )
    return _texts(column)


def _texts(column: Sequence[Value]) -> pa.Array:
    return pa.array([None if value is None else _text(value) for value in column], pa.string())


class _Instant(int):
    """Milliseconds that are the value of an xsd:dateTime."""


def plain_value(term: Value) -> str | float | bool | None:
    """A number, a boolean, an instant, or else the text of a term: the IRI, the label, the lexical form."""
    if term is None or isinstance(term, bool):
        return term
    if not isinstance(term, Literal) or term.language is not None:
        return _text(term)
    datatype, lexical = term.datatype.value, term.value
    try:
        if datatype in _INTEGERS:
            number = int(lexical)
            return number if -_LARGEST <= number < _LARGEST else lexical
        if datatype in _NUMBERS:
            return float(lexical)
    except ValueError:
        return lexical
    if datatype == XSD + "boolean":
        return _BOOLEANS.get(lexical, lexical)
    if datatype == XSD + "dateTime" and "T" in lexical:
        instant = parse_instant(lexical)
        return lexical if instant is None else _Instant(instant)
    return lexical


def _text(term: Value) -> str:
    if isinstance(term, NamedNode | Literal):
        return term.value
    return str(term) if isinstance(term, BlankNode) else str(term).lower()
