"""Answers as text that programs read: JSON lines, SPARQL 1.1 CSV and TSV, N-Quads, TriG, timestamped N-Triples.

A writer makes the texts of all evaluations of a batch at once: each distinct term is formatted once, then each distinct
row, and what the instants have of them is put together by Arrow.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol
from urllib.parse import quote as percent_encoded

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.rdf.instants import FIRST_DATE, instant_text
from penstock.rdf.result_batches import Numbers, ResultBatch
from penstock.rdf.stream_reader import GENERATED_AT_TIME
from penstock.rdf.term_columns import (
    TEXT,
    Format,
    Terms,
    formatted,
    joined,
    json_escaped,
    json_object,
    n_triples,
    plain,
    statements,
)
from penstock.sinks.shortening import Shortening

_NEEDS_QUOTES = r'[",\r\n]'
_FORMULA = r"^(?:[\s\x0b\x1c-\x1f\x{85}\pZ]*[=+\-@\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}]|[\t\r\n])"
"""How a cell begins that spreadsheets compute; the wide forms of the signs count, too."""

_NUMBER = r"^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"


class Writer(Protocol):
    """A format: the text before all evaluations, and the text of each."""

    def beginning(self, variables: tuple[str, ...]) -> str:
        """The beginning of the output, even if there is no evaluation; `variables` are those of a SELECT query."""

    def texts(self, batch: ResultBatch) -> pa.Array:
        """The text of each evaluation."""


class JsonLines:
    """One line an evaluation (contract.md, "Result lines")."""

    def beginning(self, variables: tuple[str, ...]) -> str:
        return ""

    def texts(self, batch: ResultBatch) -> pa.Array:
        queries = _by_query(batch, lambda query: f'{{"query": {_json(query)}, "time": ')
        if batch.kind == "boolean":
            values = _cells(batch, plain)[0].take(pa.array(batch.places))
            return joined(queries, _times(batch), ', "head": {}, "boolean": ', values, "}\n")
        if batch.kind == "triples":
            rows = joined('"', statements(batch.rows, _json_n_triples), ' ."')
            return joined(queries, _times(batch), ', "triples": [', _listed(batch, rows), "]}\n")
        keyed = [_keyed(name, column) for name, column in zip(batch.variables, batch.rows.columns, strict=True)]
        rows = joined("{", pc.utf8_slice_codeunits(joined(_each(batch, ""), *keyed), 2), "}")
        head = f', "head": {{"vars": {_json(batch.variables)}}}, "results": {{"bindings": ['
        return joined(queries, _times(batch), head, _listed(batch, rows), "]}}\n")


class Csv:
    """SPARQL 1.1 CSV, a row a solution, with the instant before it: values only, whatever their datatypes.

    `is_safe`: text that a spreadsheet would read as a formula has an apostrophe before it.
    """

    def __init__(self, *, is_safe: bool = False) -> None:
        self._cell: Format = _safe_csv if is_safe else _csv

    def beginning(self, variables: tuple[str, ...]) -> str:
        return ",".join(_quoted(pa.array([time_column(variables), *variables], TEXT)).to_pylist()) + "\r\n"

    def texts(self, batch: ResultBatch) -> pa.Array:
        return _lines(batch, [_each(batch, ""), *_cells(batch, self._cell)], ",", "\r\n")


class Tsv:
    """SPARQL 1.1 TSV, a row a solution, with the instant before it: terms in full."""

    def beginning(self, variables: tuple[str, ...]) -> str:
        return "\t".join(f"?{name}" for name in (time_column(variables), *variables)) + "\n"

    def texts(self, batch: ResultBatch) -> pa.Array:
        return _lines(batch, [_each(batch, ""), *_cells(batch, n_triples)], "\t", "\n")


class TimedTriples:
    """`.tnt`: a line a triple, stamped with the instant."""

    def beginning(self, variables: tuple[str, ...]) -> str:
        return ""

    def texts(self, batch: ResultBatch) -> pa.Array:
        triples = statements(batch.rows, n_triples)
        times = _times(batch).take(pa.array(batch.numbers))
        return grouped(joined(triples.take(pa.array(batch.places)), ' "', times, '" .\n'), batch.bounds)


class NQuads:
    """Each evaluation a named graph, dated in the default graph, so that it can be read as a stream."""

    def beginning(self, variables: tuple[str, ...]) -> str:
        return ""

    def texts(self, batch: ResultBatch) -> pa.Array:
        triples = statements(batch.rows, n_triples)
        graphs = joined("<", graph_names(batch), ">")
        quads = joined(triples.take(pa.array(batch.places)), " ", graphs.take(pa.array(batch.numbers)), " .\n")
        dated = joined(graphs, f" <{GENERATED_AT_TIME}> ", formatted(dates(batch), n_triples), " .\n")
        return joined(dated, grouped(quads, batch.bounds))


class TriG:
    """The same in TriG, with the prefixes of the query."""

    _separator = ""
    """The text before an evaluation."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        self._prefixes = prefixes
        self._shortening = Shortening(prefixes)

    def beginning(self, variables: tuple[str, ...]) -> str:
        return "".join(f"@prefix {prefix}: <{iri}> .\n" for prefix, iri in self._prefixes.items())

    def texts(self, batch: ResultBatch) -> pa.Array:
        turtle = self._shortening.turtle
        triples = joined("  ", statements(batch.rows, turtle), " .\n")
        graphs = self._shortening.iris(graph_names(batch))
        dated = joined(
            f"\n{self._separator}",
            graphs,
            f" {self._shortening.iri(GENERATED_AT_TIME)} ",
            formatted(dates(batch), turtle),
        )
        body = grouped(triples.take(pa.array(batch.places)), batch.bounds)
        return joined(dated, " .\n", graphs, " {\n", body, "}\n")


class RdfMessages(TriG):
    """An RDF Message Log: each evaluation is a message, a dataset as in TriG."""

    _separator = "MESSAGE\n"

    def beginning(self, variables: tuple[str, ...]) -> str:
        return f'VERSION "1.2-messages"\n{super().beginning(variables)}'


def time_column(variables: tuple[str, ...]) -> str:
    """`time`, or a name like it that no variable of the query has."""
    name = "time"
    while name in variables:
        name = f"_{name}"
    return name


def graph_names(batch: ResultBatch) -> pa.Array:
    """The name of each evaluation's graph: by query and instant, of which there is one evaluation."""
    return joined(_by_query(batch, lambda query: graph_name(query, "")), _times(batch))


def graph_name(query: str, time: int | str) -> str:
    return f"urn:penstock:{percent_encoded(query, safe='')}:{time}"


# Evaluations


def _by_query(batch: ResultBatch, text: Any) -> pa.Array:
    return pa.array([text(query) for query in batch.queries], TEXT).take(pa.array(batch.members))


def _times(batch: ResultBatch) -> pa.Array:
    return pa.array(batch.times).cast(TEXT)


def dates(batch: ResultBatch) -> pa.Array:
    """The instants as terms."""
    texts = [(instant_text(time), time) for time in batch.times.tolist()]
    return pa.array([f"{'t' if time >= FIRST_DATE and 'T' in text else 'i'}{text}" for text, time in texts], TEXT)


# Rows


def _each(batch: ResultBatch, text: str) -> pa.Array:
    """The same text for each distinct row."""
    size = batch.rows.num_rows if batch.rows.num_columns else int(batch.places.max(initial=-1)) + 1
    return pa.repeat(pa.scalar(text, TEXT), size)


def _cells(batch: ResultBatch, format: Format) -> list[pa.Array]:
    return [formatted(column, format) for column in batch.rows.columns]


def _keyed(name: str, column: pa.ChunkedArray) -> pa.Array:
    """The column as members of objects, each behind a comma; nothing where it is unbound."""
    key = f", {_json(name)}: "
    return formatted(column, lambda terms: joined(key, json_object(terms))).fill_null("")


def _lines(batch: ResultBatch, cells: list[pa.Array], separator: str, end: str) -> pa.Array:
    """A line for each row, the instant before its cells, of which the first is empty."""
    rows = joined(*(cell.fill_null("") for cell in cells), separator=separator).take(pa.array(batch.places))
    times = _times(batch).take(pa.array(batch.numbers))
    return grouped(joined(times, rows, end), batch.bounds)


def _listed(batch: ResultBatch, rows: pa.Array) -> pa.Array:
    """The rows of each evaluation, with commas between them."""
    is_first = np.zeros(len(batch.places), np.bool_)
    is_first[batch.bounds[:-1][batch.sizes > 0]] = True
    separators = pc.if_else(pa.array(is_first), pa.scalar("", TEXT), pa.scalar(", ", TEXT))
    return grouped(joined(separators, rows.take(pa.array(batch.places))), batch.bounds)


def grouped(texts: pa.Array, bounds: Numbers) -> pa.Array:
    """One text of those from each bound to the next: the same bytes, with other offsets."""
    if not len(texts):
        return pa.repeat(pa.scalar("", TEXT), len(bounds) - 1)
    _, offsets, content = texts.buffers()
    chosen = np.frombuffer(offsets, np.int64)[bounds + texts.offset]
    return pa.LargeStringArray.from_buffers(len(bounds) - 1, pa.py_buffer(chosen), content)


# Terms


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _json_n_triples(terms: Terms) -> pa.Array:
    return json_escaped(n_triples(terms))


def _csv(terms: Terms) -> pa.Array:
    return _quoted(plain(terms))


def _safe_csv(terms: Terms) -> pa.Array:
    """A number with a sign is not a formula; any other text that begins with a sign may be one."""
    values = plain(terms)
    if terms.tag == "B":
        return values
    is_formula = pc.and_not(pc.match_substring_regex(values, _FORMULA), pc.match_substring_regex(values, _NUMBER))
    return _quoted(pc.if_else(is_formula, joined("'", values), values))


def _quoted(texts: pa.Array) -> pa.Array:
    quoted = joined('"', pc.replace_substring(texts, '"', '""'), '"')
    return pc.if_else(pc.match_substring_regex(texts, _NEEDS_QUOTES), quoted, texts)
