"""Graphs of N-Triples into tables of the embedded engine, by columns.

The lines of a file are cut into columns of terms, and no Python object is made for any ordinary one; every other line
goes through the parser (sources/columns.py). So the rows are those of `read_graph`, and only the time that it takes is
not.
"""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias, cast

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from pyoxigraph import RdfFormat, Triple

from penstock.rdf.blank_nodes import label_prefix
from penstock.rdf.compression import open_bytes
from penstock.rdf.conversion import encode_oxigraph
from penstock.rdf.errors import ReadingError
from penstock.rdf.graphs import read_graph
from penstock.rdf.inputs import check_readable
from penstock.rdf.parsing import parse_statements
from penstock.relational.windows import FOREVER
from penstock.sources.blocks import blocks, pieces_of_file
from penstock.sources.columns import objects, predicates, subjects
from penstock.sources.words import cut, texts_of

Connection: TypeAlias = duckdb.DuckDBPyConnection

_TRIPLES = pa.schema([("s", pa.string()), ("p", pa.string()), ("o", pa.string()), ("place", pa.int64())])

_NEW_GRAPH = f"""
CREATE OR REPLACE TEMP TABLE {{table}} AS
WITH
  blank_nodes AS (
    SELECT label, row_number() OVER (ORDER BY min(place)) - 1 AS name
    FROM (
      SELECT s AS label, 2 * place AS place FROM loaded_graph WHERE s[1] = 'B'
      UNION ALL
      SELECT o AS label, 2 * place + 1 AS place FROM loaded_graph WHERE o[1] = 'B'
    )
    GROUP BY label
  ),
  triples AS (SELECT s, p, o, min(place) AS place FROM loaded_graph GROUP BY s, p, o)
SELECT
  coalesce('B' || $prefix || subject.name, s) AS s,
  p,
  coalesce('B' || $prefix || object.name, o) AS o,
  CAST(-{FOREVER} AS BIGINT) AS starts,
  CAST({FOREVER} AS BIGINT) AS ends
FROM triples
LEFT JOIN blank_nodes AS subject ON subject.label = s
LEFT JOIN blank_nodes AS object ON object.label = o
ORDER BY place
"""
"""Each triple once, in the order of the file; blank nodes numbered as they appear, subject before object."""


def load_ntriples(connection: Connection, table: str, path: str | Path, *, scope: str) -> int:
    """The graph of an N-Triples file as a new temporary table `(s, p, o, starts, ends)`; the number of its triples.

    The same triples as `read_graph` gives, each once, in the order of the file, and valid at every instant.

    Raises `SourceError` where there is nothing to read, or something wrong in it.
    """
    path = Path(path)
    check_readable(path)
    try:
        triples = _triples(path)
    except _NotByLinesError:
        triples = _table(list(enumerate(read_graph(path, scope=scope))))
    quoted = '"' + table.replace('"', '""') + '"'
    connection.register("loaded_graph", triples)
    try:
        connection.execute(_NEW_GRAPH.format(table=quoted), {"prefix": label_prefix(scope, "1")})
    finally:
        connection.unregister("loaded_graph")
    ((count,),) = connection.execute(f"SELECT count(*) FROM {quoted}").fetchall()
    return cast(int, count)


class _NotByLinesError(Exception):
    """A graph that must be read as a whole, if only to find out what is wrong with it."""


def _triples(path: Path) -> pa.Table:
    """The triples of a file with their places, its own labels in them."""
    parts = []
    place = 0
    for block in blocks(pieces_of_file(lambda: open_bytes(path))):
        if block.damage is not None:
            raise _NotByLinesError
        parts += _of_lines(block.lines, place)
        place += len(block.lines)
    return pa.concat_tables(parts) if parts else _TRIPLES.empty_table()


def _of_lines(lines: pa.Array, place: int) -> list[pa.Table]:
    """The ordinary triples of some lines, and the other ones."""
    subject, predicate, object_, end = cut(texts_of(lines), left=2, right=1)
    terms = [subjects(subject, ""), predicates(predicate), objects(object_, "")]
    is_ordinary = pc.or_(pc.equal(end, "."), pc.equal(end, ".\r"))
    for column in terms:
        is_ordinary = pc.and_(is_ordinary, column.is_valid())
    columns = [*terms, pc.add(pa.arange(0, len(lines)), place)]
    ordinary = pa.table(columns, names=_TRIPLES.names).cast(_TRIPLES)
    if is_ordinary.true_count == len(lines):
        return [ordinary]
    odd = pc.indices_nonzero(pc.invert(is_ordinary)).to_pylist()
    others = [(place + index, triple) for index in odd if (triple := _parsed(lines[index].as_py())) is not None]
    return [ordinary.filter(is_ordinary), _table(others)]


def _parsed(line: bytes) -> Triple | None:
    try:
        statements = parse_statements(line, RdfFormat.N_TRIPLES, lambda node: node)
    except ReadingError:
        raise _NotByLinesError from None
    if len(statements) > 1:
        raise _NotByLinesError
    return statements[0].triple if statements else None


def _table(triples: list[tuple[int, Triple]]) -> pa.Table:
    columns = [
        [encode_oxigraph(triple.subject) for _, triple in triples],
        [encode_oxigraph(triple.predicate) for _, triple in triples],
        [encode_oxigraph(triple.object) for _, triple in triples],
        [place for place, _ in triples],
    ]
    return pa.table(
        [pa.array(column, kind) for column, kind in zip(columns, _TRIPLES.types, strict=True)], schema=_TRIPLES
    )
