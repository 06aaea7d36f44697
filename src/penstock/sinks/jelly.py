"""Answers as Jelly: each evaluation is a frame, a dataset with the same content as in TriG.

A frame can be read by itself and after any other: it begins with the options of the stream and declares the names
that it uses. So the message of a broker is a frame, and a file can be continued.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
from pyjelly import jelly
from pyjelly.options import STRING_DATATYPE_IRI
from pyjelly.serialize.ioutils import write_delimited
from pyoxigraph import BlankNode, Literal, NamedNode

from penstock.rdf.result_batches import ResultBatch, decoded
from penstock.rdf.stream_reader import GENERATED_AT_TIME
from penstock.sinks.lines import dates, graph_names

_MOST_NAMES, _MOST_DATATYPES = 4000, 100
_OPTIONS = jelly.RdfStreamRow(
    options=jelly.RdfStreamOptions(
        physical_type=jelly.PHYSICAL_STREAM_TYPE_QUADS,
        logical_type=jelly.LOGICAL_STREAM_TYPE_DATASETS,
        max_name_table_size=_MOST_NAMES,
        max_prefix_table_size=0,
        max_datatype_table_size=_MOST_DATATYPES,
        version=1,
    )
)
_TIME = NamedNode(GENERATED_AT_TIME)


class Jelly:
    """`is_delimited`: each frame has its length before it, as in a file."""

    def __init__(self, *, is_delimited: bool) -> None:
        self._is_delimited = is_delimited

    def beginning(self, variables: tuple[str, ...]) -> str:
        return ""

    def texts(self, batch: ResultBatch) -> pa.Array:
        """The frames."""
        terms = [list(map(decoded, column.to_pylist())) for column in batch.rows.columns]
        triples = list(zip(*terms, strict=True))
        times = map(decoded, dates(batch).to_pylist())
        frames = []
        for number, (name, time) in enumerate(zip(graph_names(batch).to_pylist(), times, strict=True)):
            frame = _Frame()
            graph = NamedNode(name)
            frame.add((graph, _TIME, time), None)
            for place in batch.places[batch.bounds[number] : batch.bounds[number + 1]].tolist():
                frame.add(triples[place], graph)
            frames.append(self._bytes(frame))
        return pa.array(frames, pa.large_binary())

    def _bytes(self, frame: _Frame) -> bytes:
        made = jelly.RdfStreamFrame(rows=frame.rows)
        if not self._is_delimited:
            return bytes(made.SerializeToString())
        target = io.BytesIO()
        write_delimited(made, target)
        return target.getvalue()


class _Frame:
    """The rows of a frame. Identifiers are always explicit, so that none depends on the frame before."""

    def __init__(self) -> None:
        self.rows = [_OPTIONS]
        self._names = _Lookup(_MOST_NAMES, lambda number, text: jelly.RdfStreamRow(name=_name(number, text)))
        self._datatypes = _Lookup(
            _MOST_DATATYPES, lambda number, text: jelly.RdfStreamRow(datatype=_datatype(number, text))
        )

    def add(self, triple: tuple[Any, ...], graph: NamedNode | None) -> None:
        quad = jelly.RdfQuad()
        for slot, term in zip("spo", triple, strict=True):
            self._set(quad, slot, term)
        if graph is None:
            quad.g_default_graph.SetInParent()
        else:
            self._set(quad, "g", graph)
        self.rows.append(jelly.RdfStreamRow(quad=quad))

    def _set(self, quad: Any, slot: str, term: NamedNode | BlankNode | Literal) -> None:
        if isinstance(term, NamedNode):
            getattr(quad, f"{slot}_iri").name_id = self._number(self._names, term.value)
        elif isinstance(term, BlankNode):
            setattr(quad, f"{slot}_bnode", term.value)
        else:
            literal = getattr(quad, f"{slot}_literal")
            literal.lex = term.value
            if term.language is not None:
                literal.langtag = term.language
            elif term.datatype.value != STRING_DATATYPE_IRI:
                literal.datatype = self._number(self._datatypes, term.datatype.value)
            else:
                literal.SetInParent()

    def _number(self, lookup: _Lookup, text: str) -> int:
        number, declared = lookup.number(text)
        self.rows.extend(declared)
        return number


class _Lookup:
    """Texts by their numbers; when all numbers are taken, the oldest text loses its own."""

    def __init__(self, size: int, declare: Callable[[int, str], Any]) -> None:
        self._size = size
        self._declare = declare
        self._numbers: dict[str, int] = {}
        self._count = 0

    def number(self, text: str) -> tuple[int, Iterator[Any]]:
        """The number of a text, and the row that declares it, if it is new."""
        known = self._numbers.get(text)
        if known is not None:
            return known, iter(())
        number = self._count % self._size + 1
        if self._count >= self._size:
            del self._numbers[next(iter(self._numbers))]
        self._numbers[text] = number
        self._count += 1
        return number, iter([self._declare(number, text)])


def _name(number: int, text: str) -> Any:
    return jelly.RdfNameEntry(id=number, value=text)


def _datatype(number: int, text: str) -> Any:
    return jelly.RdfDatatypeEntry(id=number, value=text)
