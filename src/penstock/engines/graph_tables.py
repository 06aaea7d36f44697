"""Static graphs as tables of encoded terms, for every engine."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from penstock.algebra.inputs import ALWAYS, GraphTriple
from penstock.algebra.services import ServiceAnswer, ServiceCall
from penstock.rdf.conversion import encode_oxigraph
from penstock.relational.sources import AnswerTable, answer_column
from penstock.relational.windows import FOREVER

STARTS, ENDS = "starts", "ends"
"""The columns that a graph has only if it changes."""


def graph_table(triples: Sequence[GraphTriple]) -> pa.Table:
    """Columns s, p and o; of a graph that changes also when each triple begins and ceases to be there."""
    columns: dict[str, pa.Array] = {
        "s": pa.array([encode_oxigraph(triple.subject) for triple, _ in triples], pa.string()),
        "p": pa.array([encode_oxigraph(triple.predicate) for triple, _ in triples], pa.string()),
        "o": pa.array([encode_oxigraph(triple.object) for triple, _ in triples], pa.string()),
    }
    if any(valid.end is not None or valid.start > -FOREVER for _, valid in triples):
        columns[STARTS] = pa.array([valid.start for _, valid in triples], pa.int64())
        columns[ENDS] = pa.array([FOREVER if valid.end is None else valid.end for _, valid in triples], pa.int64())
    return pa.table(columns)


def answer_table(call: ServiceCall, answers: Sequence[ServiceAnswer]) -> pa.Table:
    """What a service has answered: a column for each variable; if it changes, also when each row begins and ceases.

    Without variables, too, there must be a column, so that there can be rows.
    """
    rows = [(row, valid) for answer, valid in answers for row in answer]
    columns: dict[str, pa.Array] = {}
    for place in range(len(call.variables)):
        terms = [None if (term := row[place]) is None else encode_oxigraph(term) for row, _ in rows]
        columns[answer_column(place)] = pa.array(terms, pa.string())
    if any(valid != ALWAYS for _, valid in answers) or not columns:
        columns[STARTS] = pa.array([valid.start for _, valid in rows], pa.int64())
        columns[ENDS] = pa.array([FOREVER if valid.end is None else valid.end for _, valid in rows], pa.int64())
    return pa.table(columns)


def described(call: ServiceCall, name: str, table: pa.Table) -> AnswerTable:
    """The table of a service's answers, as statements need to know it."""
    places = range(len(call.variables))
    bound = [call.variables[place] for place in places if not table[answer_column(place)].null_count]
    return AnswerTable(name, frozenset(bound), changes(table))


def changes(graph: pa.Table) -> bool:
    return STARTS in graph.column_names
