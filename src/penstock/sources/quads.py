"""Lines of N-Quads as a table of quads: the ordinary ones by columns, and every other one by the parser."""

from __future__ import annotations

import codecs
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc
from pyoxigraph import NamedNode, RdfFormat

from penstock.rdf.blank_nodes import label_prefix, prefixed
from penstock.rdf.conversion import encode_oxigraph
from penstock.rdf.elements import Malformed, OnMalformed, Statement
from penstock.rdf.errors import ReadingError
from penstock.rdf.limits import shown
from penstock.rdf.parser import parse_statements
from penstock.sources.columns import ended, objects, predicates, subjects, time_of_term, times
from penstock.sources.lines import FEW, Lines, cut, split_last, texts_of
from penstock.sources.tables import all_valid, encoded_columns

QUADS = pa.schema(
    [("g", pa.string()), ("s", pa.string()), ("p", pa.string()), ("o", pa.string()), ("time", pa.int64())]
)
"""Encoded terms; `g` is NULL in the default graph. `time` is the object as a timestamp, of the time predicate only."""


def decode_quads(
    lines: Lines, time_predicate: NamedNode, *, name: str, first_line: int, scope: str, on_malformed: OnMalformed
) -> pa.Table:
    """The quads of lines, in the order of the lines."""
    predicate = encode_oxigraph(time_predicate)
    quads = _ordinary(lines, scope, predicate) if len(lines) > FEW else _none(len(lines))
    is_ordinary = all_valid([quads[name] for name in ("s", "p", "o")])
    if is_ordinary.combine_chunks().true_count < len(lines):
        odd: list[tuple[int, Statement]] = []
        for index in pc.indices_nonzero(pc.invert(is_ordinary)).to_pylist():
            found = parsed_line(lines[index], name, first_line + index, scope, on_malformed)
            odd += ((index, statement) for statement in found)
        quads = quads.filter(is_ordinary)
        if odd:
            quads = pa.concat_tables([quads, _table(odd)]).sort_by("line")
    return _with_odd_times(quads.drop_columns("line"), predicate)


def ordinary_quads(lines: Lines) -> pa.Table:
    """The quad of each line, blank nodes with their own labels; a term is NULL where it is not ordinary."""
    terms, _ = _terms(lines, "")
    return pa.table(terms, names=["g", "s", "p", "o"])


def _ordinary(lines: Lines, scope: str, time_predicate: str) -> pa.Table:
    """The quad of each line; a term is NULL where it is not ordinary."""
    terms, written = _terms(lines, label_prefix(scope))
    is_dated = pc.equal(terms[2], time_predicate).fill_null(False)
    time = pa.nulls(len(lines), pa.int64())
    if is_dated.true_count:
        time = pc.replace_with_mask(time, is_dated, times(written.filter(is_dated)))
    return pa.table([*terms, time, pa.arange(0, len(lines))], names=[*QUADS.names, "line"]).cast(_WITH_LINE)


def _terms(lines: Lines, prefix: str) -> tuple[list[pa.Array], pa.Array]:
    """Graph, subject, predicate and object of each line, encoded, and the object as it is written."""
    subject, predicate, rest, end = cut(texts_of(lines), left=2, right=1)
    before, last = split_last(rest)
    graph = subjects(last, prefix)
    object_ = pc.if_else(graph.is_valid(), before, rest)
    property_ = ended(predicates(predicate), end)
    return [graph, subjects(subject, prefix), property_, objects(object_, prefix)], object_


def _none(length: int) -> pa.Table:
    return pa.table([pa.nulls(length, field.type) for field in _WITH_LINE], schema=_WITH_LINE)


_WITH_LINE = QUADS.append(pa.field("line", pa.int64()))


def parsed_line(
    line: bytes,
    name: str,
    number: int,
    scope: str,
    on_malformed: OnMalformed,
    format: RdfFormat = RdfFormat.N_QUADS,
) -> list[Statement]:
    """The statements of a line, as `parse_lines` reads them; N-Triples are quads without a graph."""
    if number == 1:
        line = line.removeprefix(codecs.BOM_UTF8)
    try:
        return parse_statements(line + b"\n", format, prefixed(scope))
    except ReadingError as error:
        on_malformed(Malformed(f"{name}:{number}", shown(line), error.reason))
        return []


def _table(statements: Sequence[tuple[int, Statement]]) -> pa.Table:
    columns = [
        [None if graph is None else encode_oxigraph(graph) for _, (graph, _) in statements],
        *encoded_columns([triple for _, (_, triple) in statements]),
        [None] * len(statements),
        [line for line, _ in statements],
    ]
    return pa.table(
        [pa.array(column, kind) for column, kind in zip(columns, _WITH_LINE.types, strict=True)], _WITH_LINE.names
    )


def _with_odd_times(quads: pa.Table, time_predicate: str) -> pa.Table:
    """The quads with the timestamps that are not ordinary, too; an invalid one stays NULL."""
    is_missing = pc.and_(pc.equal(quads["p"], time_predicate), quads["time"].is_null()).combine_chunks()
    if not is_missing.true_count:
        return quads
    known = [time_of_term(text) for text in quads["o"].filter(is_missing).to_pylist()]
    time = pc.replace_with_mask(quads["time"].combine_chunks(), is_missing, pa.array(known, pa.int64()))
    return quads.set_column(4, QUADS.field("time"), time)
