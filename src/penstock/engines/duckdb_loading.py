"""Timestamped N-Triples and N-Triples into tables of the embedded engine, by columns.

The lines of a file are one column of text. A regular expression says which lines are ordinary, SQL cuts these into
terms and encodes them (rdf/encoding.py), and no Python object is made for any of them. Every other line, whatever is
odd about it (an escape, a tab, a comment, a mistake), goes through the reader that reads line by line. So the rows are
those of `read_stream` and `read_graph`, and only the time that it takes is not.

Ordinary is narrower than right: terms one space apart, IRIs and labels of common characters, literals without
backslashes. What the pattern takes, the parser takes, as the same terms.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, cast

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from pyoxigraph import BlankNode, RdfFormat, Triple

from penstock.rdf.blank_nodes import Rename, numbered, prefixed
from penstock.rdf.compression import damage, is_damage
from penstock.rdf.conversion import encode_oxigraph
from penstock.rdf.elements import Malformed, OnMalformed
from penstock.rdf.encoding import INTEGER_TYPES, TAGS_OF_DATATYPES
from penstock.rdf.errors import ReadingError
from penstock.rdf.formats.tnt import decode_line, parse_timed_triple
from penstock.rdf.graphs import read_graph
from penstock.rdf.inputs import Input, check_readable, file_input
from penstock.rdf.parsing import parse_statements
from penstock.rdf.vocabulary import XSD
from penstock.relational.sources import FOREVER

Connection: TypeAlias = duckdb.DuckDBPyConnection
Lines: TypeAlias = pa.Array
"""Lines without their ends, as text or as bytes."""

_ReadOdd: TypeAlias = Callable[[int, bytes], tuple[int, Triple] | None]
"""From the position and the bytes of a line that is not ordinary to its timestamp and triple, if it has them."""

_BLOCK = 1 << 24
"""How many bytes of a file are lines in one column."""

_PIECE = 1 << 16
"""As many bytes as the line reader's buffer holds: what a damaged file still gives depends on it."""

_BATCH = 1 << 14
"""How many lines a thread of the engine takes at a time."""

_FEW = 500
"""So few lines are read one by one: that takes less time than to plan the statement for more."""

_LONG = 1 << 20
"""From so many bytes on a line is odd: there are lengths that the parser does not take."""

_TIMESTAMPS = range(-(2**63), 2**63)


# Which lines are ordinary, for RE2.

_CHARACTERS = r"(?:[A-Za-z0-9._~:/?@!$&'()*+,;=\x{A0}-\x{D7FF}-]|%[0-9A-Fa-f]{2})*"
_HOST = r"[A-Za-z0-9._~-]*(?::[0-9]*)?"
_AFTER_HOST = rf"(?:[/?]{_CHARACTERS})?(?:#{_CHARACTERS})?"
_WITHOUT_HOST = rf"/?(?:[A-Za-z0-9._~-]{_CHARACTERS})?(?:#{_CHARACTERS})?"
_IRI = rf"<[A-Za-z][A-Za-z0-9+.-]*:(?://{_HOST}{_AFTER_HOST}|{_WITHOUT_HOST})>"
_BLANK_NODE = r"_:[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?"
_LANGUAGE = r"[A-Za-z]{2,3}(?:-[A-Za-z]{4})?(?:-[A-Za-z]{2})?"
_DATATYPE = rf"<(?:{XSD}[A-Za-z]+|https?://(?:www\.)?[a-vx-z]{_HOST}{_AFTER_HOST})>"
"""None of RDF's own, at www.w3.org: a literal must not be written with rdf:langString."""
_LITERAL = rf'"[^"\\\x00-\x1f\x7f]*"(?:@{_LANGUAGE}|\^\^{_DATATYPE})?'
_TRIPLE = rf"(?:{_IRI}|{_BLANK_NODE}) {_IRI} (?:{_IRI}|{_BLANK_NODE}|{_LITERAL})"

_MILLISECONDS = rf'"-?[0-9]{{1,18}}"(?:\^\^<{XSD}(?:integer|{"|".join(INTEGER_TYPES)})>)?'
_DAY = (
    r"(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    r"|02-(?:0[1-9]|1[0-9]|2[0-8]))"
)
_DATE_TIME = (
    rf'"[12][0-9]{{3}}-{_DAY}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?'
    rf'(?:Z|[+-](?:0[0-9]|1[0-4]):[0-5][0-9])?"(?:\^\^<{XSD}dateTime(?:Stamp)?>)?'
)


# The statements. `word` is an ordinary line, cut at its spaces; a literal may have spaces too.

_NEW_STREAM = "CREATE OR REPLACE TEMP TABLE {table} (s VARCHAR, p VARCHAR, o VARCHAR, ts BIGINT, seq BIGINT)"

_TAGS_OF_ANNOTATIONS = "\n".join(
    f"        WHEN '^^<{datatype}>' THEN '{tag}'"
    for datatype, tag in [*TAGS_OF_DATATYPES.items(), *((XSD + name, f"n{name} ") for name in INTEGER_TYPES)]
)

_INSERT_ORDINARY = f"""
INSERT INTO {{table}} (s, p, o, ts, seq)
SELECT
  CASE left(subject, 1)
    WHEN '<' THEN 'I' || substr(subject, 2, length(subject) - 2)
    ELSE 'B' || $prefix || substr(subject, 3)
  END,
  'I' || substr(predicate, 2, length(predicate) - 2),
  CASE left(object, 1)
    WHEN '<' THEN 'I' || substr(object, 2, length(object) - 2)
    WHEN '_' THEN 'B' || $prefix || substr(object, 3)
    ELSE
      CASE annotation
        WHEN '' THEN 'S'
{_TAGS_OF_ANNOTATIONS}
        ELSE
          CASE left(annotation, 1)
            WHEN '@' THEN 'L' || lower(annotation[2:]) || ' '
            ELSE 'O' || annotation[4:-2] || ' '
          END
      END
      || split_part(object, '"', 2)
  END,
  CASE
    WHEN time[5] = '-' THEN
      epoch_ms(CAST(left(time, 19) AS TIMESTAMP))
      + CAST(rpad(regexp_extract(time, '[.]([0-9][0-9]?[0-9]?)', 1), 3, '0') AS BIGINT)
      - CASE
          WHEN time[-6] IN ('+', '-') THEN
            CAST(time[-6] || '60000' AS BIGINT) * (60 * CAST(time[-5:-4] AS BIGINT) + CAST(time[-2:] AS BIGINT))
          ELSE 0
        END
    ELSE CAST(time AS BIGINT)
  END,
  seq
FROM (
  SELECT *, CASE left(object, 1) WHEN '"' THEN split_part(object, '"', 3) END AS annotation
  FROM (
    SELECT
      word[1] AS subject,
      word[2] AS predicate,
      CASE len(word) WHEN {{words}} THEN word[3] ELSE array_to_string(word[3:2 - {{words}}], ' ') END AS object,
      {{time}} AS time,
      seq
    FROM (SELECT string_split(line, ' ') AS word, seq FROM ordinary_lines)
  )
)
"""

_INSERT_ODD = "INSERT INTO {table} (s, p, o, ts, seq) SELECT s, p, o, ts, seq FROM odd_triples"

_LAST = "SELECT coalesce(max(seq), 0) FROM {table}"

_IS_IN_ORDER = """
SELECT coalesce(bool_and(ts >= earlier), true)
FROM (SELECT ts, lag(ts) OVER (ORDER BY seq) AS earlier FROM {table} WHERE seq > $last)
"""

_SORT = """
CREATE OR REPLACE TEMP TABLE {table} AS
SELECT s, p, o, ts, row_number() OVER (ORDER BY ts, seq) AS seq FROM {table} ORDER BY ts, seq
"""

_NUMBER_AGAIN = """
UPDATE {table} AS arrived
SET seq = $last + ordered.place
FROM (SELECT seq, row_number() OVER (ORDER BY ts, seq) AS place FROM {table} WHERE seq > $last) AS ordered
WHERE arrived.seq = ordered.seq
"""

_NEW_GRAPH = f"""
CREATE OR REPLACE TEMP TABLE {{table}} AS
WITH
  blank_nodes AS (
    SELECT label, row_number() OVER (ORDER BY min(place)) - 1 AS name
    FROM (
      SELECT s AS label, 2 * seq AS place FROM loaded_graph WHERE s[1] = 'B'
      UNION ALL
      SELECT o AS label, 2 * seq + 1 AS place FROM loaded_graph WHERE o[1] = 'B'
    )
    GROUP BY label
  ),
  triples AS (SELECT s, p, o, min(seq) AS place FROM loaded_graph GROUP BY s, p, o)
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


@dataclass(frozen=True, slots=True)
class _Form:
    """What an ordinary line is, and how it gets into a table."""

    pattern: str
    insertion: str


_TIMED_TRIPLES = _Form(
    rf"^{_TRIPLE} (?:{_MILLISECONDS}|{_DATE_TIME}) \.\r?$",
    _INSERT_ORDINARY.format(table="{table}", words=5, time="split_part(word[-2], '\"', 2)"),
)
_TRIPLES = _Form(rf"^{_TRIPLE} \.\r?$", _INSERT_ORDINARY.format(table="{table}", words=4, time="'0'"))


def load_tnt(connection: Connection, table: str, path: str | Path, *, scope: str, on_malformed: OnMalformed) -> int:
    """The stream of a `.tnt` file as a new temporary table `(s, p, o, ts, seq)`; the number of its elements.

    The same elements as `read_stream` gives, and the same calls of `on_malformed`. `seq` numbers them from 1 in the
    order of time; elements of the same time stay in the order of the file.

    Raises `SourceError` where there is nothing to read.
    """
    path = Path(path)
    check_readable(path)
    source = file_input(path)
    loading = _Loading(connection, table, prefixed(scope))
    loading.execute(_NEW_STREAM)
    number = 1
    for lines in _blocks(source, on_malformed):
        loading.append(lines, _TIMED_TRIPLES, _tnt_reader(source.name, number, loading.rename, on_malformed))
        number += len(lines)
    if not loading.one(_IS_IN_ORDER, last=0):
        loading.execute(_SORT)
    return loading.last


def append_tnt_lines(
    connection: Connection,
    table: str,
    lines: Lines,
    *,
    name: str,
    first_line: int = 1,
    scope: str,
    on_malformed: OnMalformed,
) -> int:
    """Append lines of `.tnt` to a table such as `load_tnt` makes; the number of elements in them.

    They are numbered in the order of time among themselves, after the numbers that the table has. `name` and
    `first_line` say where the lines come from: what is malformed is at `name:line`.
    """
    loading = _Loading(connection, table, prefixed(scope))
    last = loading.last = loading.one(_LAST)
    loading.append(
        lines.cast(pa.large_binary()), _TIMED_TRIPLES, _tnt_reader(name, first_line, loading.rename, on_malformed)
    )
    if not loading.one(_IS_IN_ORDER, last=last):
        loading.execute(_NUMBER_AGAIN, last=last)
    return loading.last - last


def load_ntriples(connection: Connection, table: str, path: str | Path, *, scope: str) -> int:
    """The graph of an N-Triples file as a new temporary table `(s, p, o, starts, ends)`; the number of its triples.

    The same triples as `read_graph` gives, each once, in the order of the file, and valid at every instant.

    Raises `SourceError` where there is nothing to read, or something wrong in it.
    """
    path = Path(path)
    check_readable(path)
    loading = _Loading(connection, "loaded_graph", lambda node: node)
    graph = _Loading(connection, table, numbered(scope, "1"))
    try:
        loading.execute(_NEW_STREAM)
        try:
            for lines in _blocks(file_input(path), _refuse):
                loading.append(lines, _TRIPLES, _read_triple)
        except _NotByLinesError:
            loading.execute(_NEW_STREAM)
            loading.insert([(number, 0, triple) for number, triple in enumerate(read_graph(path, scope=scope))])
        graph.execute(_NEW_GRAPH, prefix=graph.prefix)
    finally:
        loading.execute("DROP TABLE IF EXISTS {table}")
    return graph.one("SELECT count(*) FROM {table}")


class _Loading:
    """A table that lines are appended to; `last` is the number of its last element."""

    def __init__(self, connection: Connection, table: str, rename: Rename) -> None:
        self.last = 0
        self.rename = rename
        self._connection = connection
        self._table = '"' + table.replace('"', '""') + '"'

    def append(self, lines: Lines, form: _Form, read_odd: _ReadOdd) -> None:
        """Append the triples of lines, given as bytes, numbered in their order."""
        texts = _texts(lines)
        is_ordinary = _is_ordinary(texts, form)
        found = {
            index: read_odd(index, lines[index].as_py())
            for index in pc.indices_nonzero(pc.invert(is_ordinary)).to_pylist()
        }
        odd = {index: triple for index, triple in found.items() if triple is not None}
        is_triple = pc.or_(is_ordinary, pc.is_in(pa.arange(0, len(lines)), pa.array(odd, pa.int64())))
        numbers = pc.add(pc.cumulative_sum(is_triple.cast(pa.int64())), self.last)
        ordinary = pa.table({"line": texts, "seq": numbers})
        if found:
            ordinary = ordinary.filter(is_ordinary)
        if ordinary.num_rows:
            batches = pa.Table.from_batches(ordinary.to_batches(max_chunksize=_BATCH))
            with _view(self._connection, "ordinary_lines", batches):
                self.execute(form.insertion, prefix=self.prefix)
        self.insert([(numbers[index].as_py(), *triple) for index, triple in odd.items()])
        self.last += ordinary.num_rows + len(odd)

    def insert(self, triples: list[tuple[int, int, Triple]]) -> None:
        """Insert triples with their numbers and timestamps."""
        columns = pa.table(
            {
                "s": pa.array([encode_oxigraph(triple.subject) for _, _, triple in triples], pa.string()),
                "p": pa.array([encode_oxigraph(triple.predicate) for _, _, triple in triples], pa.string()),
                "o": pa.array([encode_oxigraph(triple.object) for _, _, triple in triples], pa.string()),
                "ts": pa.array([time for _, time, _ in triples], pa.int64()),
                "seq": pa.array([number for number, _, _ in triples], pa.int64()),
            }
        )
        if triples:
            with _view(self._connection, "odd_triples", columns):
                self.execute(_INSERT_ODD)

    def execute(self, statement: str, **parameters: str | int) -> None:
        self._connection.execute(statement.format(table=self._table), parameters)

    def one(self, statement: str, **parameters: str | int) -> int:
        """The one value that a statement gives."""
        ((value,),) = self._connection.execute(statement.format(table=self._table), parameters).fetchall()
        return cast(int, value)

    @property
    def prefix(self) -> str:
        """What the labels of blank nodes begin with."""
        return self.rename(BlankNode("0")).value.removesuffix("0")


@contextmanager
def _view(connection: Connection, name: str, table: pa.Table) -> Iterator[None]:
    connection.register(name, table)
    try:
        yield
    finally:
        connection.unregister(name)


def _texts(lines: Lines) -> pa.Array:
    """Lines as text; NULL is one that is not UTF-8."""
    try:
        return lines.cast(pa.large_string())
    except pa.ArrowInvalid:
        return pa.array([_text(line) for line in lines.to_pylist()], pa.large_string())


def _text(line: bytes) -> str | None:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return None


def _is_ordinary(texts: pa.Array, form: _Form) -> pa.Array:
    if len(texts) < _FEW:
        return pa.repeat(False, len(texts))
    is_short = pc.less(pc.binary_length(texts), _LONG)
    return pc.and_(is_short, pc.match_substring_regex(texts, form.pattern)).fill_null(False)


def _tnt_reader(name: str, first_line: int, rename: Rename, on_malformed: OnMalformed) -> _ReadOdd:
    """What `read_tnt` does with a line."""

    def read(index: int, line: bytes) -> tuple[int, Triple] | None:
        number = first_line + index
        if number == 1:
            line = line.removeprefix(codecs.BOM_UTF8)
        try:
            text = decode_line(line)
            if not text or text.startswith("#"):
                return None
            time, triple = parse_timed_triple(text, rename)
            if time not in _TIMESTAMPS:
                raise ReadingError(f'"{time}" is too far from 1970 for a timestamp: it takes more than 64 bits')
            return time, triple
        except ReadingError as error:
            on_malformed(Malformed(f"{name}:{number}", line.decode(errors="replace").strip(), error.reason))
            return None

    return read


class _NotByLinesError(Exception):
    """A graph that must be read as a whole, if only to find out what is wrong with it."""


def _read_triple(_: int, line: bytes) -> tuple[int, Triple] | None:
    try:
        statements = parse_statements(line, RdfFormat.N_TRIPLES, lambda node: node)
    except ReadingError:
        raise _NotByLinesError from None
    if len(statements) > 1:
        raise _NotByLinesError
    return (0, statements[0].triple) if statements else None


def _refuse(_: Malformed) -> None:
    raise _NotByLinesError


def _blocks(source: Input, on_malformed: OnMalformed) -> Iterator[Lines]:
    """The lines of a file as bytes, some megabytes at a time; up to the place where it is damaged, if it is."""
    count, size = 0, 0
    pieces: list[bytes] = []
    with source.open() as file:
        try:
            while piece := cast(io.BufferedReader, file).read1(_PIECE):
                pieces.append(piece)
                size += len(piece)
                if size >= _BLOCK and b"\n" in piece:
                    whole, _, rest = b"".join(pieces).rpartition(b"\n")
                    lines = _split(whole)
                    yield lines
                    count += len(lines)
                    pieces, size = [rest], len(rest)
        except Exception as error:
            if not is_damage(error):
                raise
            whole, newline, _ = b"".join(pieces).rpartition(b"\n")
            if newline:
                lines = _split(whole)
                yield lines
                count += len(lines)
            on_malformed(Malformed(f"{source.name}:{count + 1}", "", damage(error)))
            return
    if rest := b"".join(pieces):
        yield _split(rest.removesuffix(b"\n"))


def _split(text: bytes) -> Lines:
    return pc.split_pattern(pa.array([text], pa.large_binary()), pattern=b"\n").values
