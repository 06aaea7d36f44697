"""The answers of SERVICE endpoints as tables of encoded terms."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from penstock.algebra.inputs import ALWAYS
from penstock.algebra.services import ServiceAnswer, ServiceCall
from penstock.rdf.conversion import encode_oxigraph
from penstock.relational.tables import AnswerTable, answer_column
from penstock.sources.graphs import with_validity


def answer_table(call: ServiceCall, answers: Sequence[ServiceAnswer]) -> pa.Table:
    """A column for each variable; if the answer changes, also the validity of each row.

    Without variables there must still be a column, so that there can be rows.
    """
    rows = [(row, valid) for answer, valid in answers for row in answer]
    columns: dict[str, pa.Array] = {}
    for place in range(len(call.variables)):
        terms = [None if (term := row[place]) is None else encode_oxigraph(term) for row, _ in rows]
        columns[answer_column(place)] = pa.array(terms, pa.string())
    if any(valid != ALWAYS for _, valid in answers) or not columns:
        return with_validity(pa.table(columns), [valid for _, valid in rows])
    return pa.table(columns)


def described(call: ServiceCall, name: str, table: pa.Table) -> AnswerTable:
    """The table of a service's answers, as statements need it."""
    places = range(len(call.variables))
    bound = [call.variables[place] for place in places if not table[answer_column(place)].null_count]
    return AnswerTable(name, frozenset(bound), "starts" in table.column_names)
