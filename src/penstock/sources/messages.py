"""Messages of brokers as elements: many messages at once become one table.

A message is one element: the graph in it. A dataset with named graphs is one element for each of them, as in a file;
so is each line of `.tnt`, and each RDF message or frame of Jelly, in a message that has several. Blank nodes belong to
their message; those of `.tnt`, to the whole stream. A message with an error has no elements and is reported as a whole.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc
from pyoxigraph import RdfFormat

from penstock.rdf.blank_nodes import label_prefix, numbered, prefixed
from penstock.rdf.conversion import encode_oxigraph
from penstock.rdf.elements import Malformed, Statement
from penstock.rdf.errors import ReadingError, SourceError
from penstock.rdf.formats.jelly import frames_of, renamed
from penstock.rdf.formats.messages import messages_of, parse_message
from penstock.rdf.limits import LARGEST_DOCUMENT, shown, too_large
from penstock.rdf.parser import parse_statements
from penstock.rdf.stream_reader import format_named
from penstock.sources.batches import SCHEMA
from penstock.sources.lines import FEW, Lines
from penstock.sources.message_times import MessageTimes
from penstock.sources.ntriples import ordinary_triples
from penstock.sources.quads import ordinary_quads
from penstock.sources.tables import encoded_columns
from penstock.sources.tnt import decode_lines

QUADS = pa.schema(
    [
        ("message", pa.int64()),
        ("part", pa.int64()),
        ("g", pa.string()),
        ("s", pa.string()),
        ("p", pa.string()),
        ("o", pa.string()),
    ]
)
"""Encoded quads of messages; `part` is the number of an RDF message or frame within a message."""

ELEMENTS = SCHEMA.append(pa.field("g", pa.string())).append(pa.field("message", pa.int64()))
"""Elements with names, and the number of the message that each is from."""

NO_CONTENT = "the message has no content (in a compacted topic: a key was deleted)"

_CONTENT_TYPES = {
    "text/turtle": "ttl",
    "application/n-triples": "nt",
    "application/trig": "trig",
    "application/n-quads": "nq",
    "application/ld+json": "jsonld",
    "application/x-ndjson": "ndjson",
    "application/x-jelly-rdf": "jelly",
}
_PARSERS = {"ttl": RdfFormat.TURTLE, "trig": RdfFormat.TRIG, "jsonld": RdfFormat.JSON_LD, "ndjson": RdfFormat.JSON_LD}
_LINES = {"nt": RdfFormat.N_TRIPLES, "nq": RdfFormat.N_QUADS}


@dataclass(frozen=True, slots=True)
class MessageColumns:
    """Messages of a broker, as columns.

    `values` are bytes, NULL for a message without content; `times` the broker's timestamps, in milliseconds or NULL;
    `types` content types, or NULL; `labels` a text for each message, of letters, digits and dots, that no other message
    of the stream has. `place` says where a message is from. `errors` are the reasons why messages cannot be read.
    """

    values: pa.Array
    times: pa.Array
    types: pa.Array
    labels: pa.Array
    place: Callable[[int], str]
    errors: pa.Array | None = None

    def __len__(self) -> int:
        return len(self.values)


class MessageReader:
    """Reads the messages of a stream.

    `format` is that of all messages; without it their content types decide, and without these it is `.tnt`.
    `time` is the predicate of the time, or RECORD or ARRIVAL (rdf/addresses.py). Raises SourceError if the format or
    the predicate is wrong.
    """

    def __init__(self, name: str, scope: str, format: str | None, time: str | None) -> None:
        self._base = quote(name, safe=":/,@[]")
        self._scope = scope
        self._format = None if format is None else format_named(format)
        if self._format == "tar":
            raise SourceError(f"{name}: format=tar: an archive is a file, and these are messages")
        self._times = MessageTimes(time)

    def takes_times(self, types: pa.Array) -> bool:
        """Whether messages of these content types may get the broker's timestamps; lines of `.tnt` have their own."""
        is_tnt = self._format == "tnt" or (self._format is None and types.null_count == len(types))
        return not is_tnt or self._times.are_given

    def table(self, messages: MessageColumns, report: Callable[[int, Malformed], None]) -> pa.Table:
        """The elements of messages, in order (`ELEMENTS`); `report` receives malformed ones with their numbers."""

        def refuse(message: int, reason: str) -> None:
            text = messages.values[message].as_py() or b""
            report(message, Malformed(messages.place(message), shown(text), reason))

        parts = [ELEMENTS.empty_table()]
        for format, which in self._by_format(messages, refuse):
            if format == "tnt":
                parts.append(self._lines_of_tnt(messages, which, refuse))
            else:
                quads = self._lines(messages, which, format, refuse) if format in _LINES else None
                if quads is None:
                    quads = self._documents(messages, which, format, refuse)
                parts.append(self._times.elements(quads, messages.times, refuse))
        found = pa.concat_tables(parts)
        return (
            found if len(parts) <= 2 else _numbered(found.sort_by([("message", "ascending"), ("element", "ascending")]))
        )

    def _by_format(self, messages: MessageColumns, refuse: Refuse) -> Iterator[tuple[str, pa.Array]]:
        """Formats, and the numbers of the messages in each."""
        numbers = pa.arange(0, len(messages))
        sizes = pc.binary_length(messages.values)
        is_read = pc.fill_null(pc.less_equal(sizes, LARGEST_DOCUMENT), False)
        if messages.errors is not None:
            is_read = pc.and_(is_read, messages.errors.is_null())
        for number in numbers.filter(pc.invert(is_read)).to_pylist():
            has_content = messages.values[number].is_valid
            error = None if messages.errors is None else messages.errors[number].as_py()
            refuse(number, error or (too_large("the message") if has_content else NO_CONTENT))
        if self._format is not None or messages.types.null_count == len(messages):
            yield self._format or "tnt", numbers.filter(is_read)
            return
        types = messages.types.dictionary_encode()
        for code, type_ in [(None, None), *enumerate(types.dictionary.to_pylist())]:
            of_type = types.indices.is_null() if code is None else pc.equal(types.indices, code).fill_null(False)
            which = numbers.filter(pc.and_(is_read, of_type))
            format = "tnt" if type_ is None else _format_of_type(type_)
            if format is None:
                for number in which.to_pylist():
                    refuse(number, f"its content type is {type_}, which is not RDF: ?format= names the format")
            elif len(which):
                yield format, which

    def _lines_of_tnt(self, messages: MessageColumns, which: pa.Array, refuse: Refuse) -> pa.Table:
        lines, of_line = _split(messages.values, which)
        numbers = of_line.to_pylist() if len(of_line) <= FEW else None

        def report(index: int, text: bytes, reason: str) -> None:
            refuse(of_line[index].as_py() if numbers is None else numbers[index], reason)

        rows = decode_lines(lines, scope=self._scope, report=report)
        message = of_line.take(rows["element"])
        stamps = self._times.of_lines(rows["ts"], messages.times.take(message))
        element = pa.arange(0, rows.num_rows)
        columns = [rows["s"], rows["p"], rows["o"], stamps, element, pa.nulls(len(element), pa.string()), message]
        return pa.table(columns, schema=ELEMENTS)

    def _lines(self, messages: MessageColumns, which: pa.Array, format: str, refuse: Refuse) -> pa.Table | None:
        """N-Triples and N-Quads by columns; messages with an odd line, by the parser. None if there are few lines."""
        lines, of_line = _split(messages.values, which)
        if len(lines) <= FEW:
            return None
        quads = ordinary_quads(lines) if format == "nq" else ordinary_triples(lines)
        is_odd = pc.or_(pc.or_(quads["s"].is_null(), quads["p"].is_null()), quads["o"].is_null()).combine_chunks()
        odd = of_line.filter(is_odd).unique()
        is_kept = pc.invert(pc.is_in(of_line, value_set=odd))
        kept, of_kept = quads.filter(is_kept), of_line.filter(is_kept)
        beginnings = pc.binary_join_element_wise(
            "B" + label_prefix(self._scope, "").removesuffix("."), messages.labels.take(of_kept), ".", ""
        )
        terms = [_with_labels(kept[name].combine_chunks(), beginnings) for name in ("g", "s", "p", "o")]
        part = pa.repeat(pa.scalar(0, pa.int64()), len(of_kept))
        plain = pa.table([of_kept, part, *terms], schema=QUADS)
        empty = which.filter(pc.invert(pc.is_in(which, value_set=of_line)))
        others = self._documents(messages, pa.concat_arrays([odd, empty]), format, refuse)
        return pa.concat_tables([plain, others]).sort_by("message") if others.num_rows else plain

    def _documents(self, messages: MessageColumns, which: pa.Array, format: str, refuse: Refuse) -> pa.Table:
        """Each message by the parser."""
        rows: list[tuple[int, int, Statement | None]] = []
        for number in which.to_pylist():
            label = messages.labels[number].as_py()
            try:
                parts = self._parts(format, messages.values[number].as_py(), label)
                for part, statements in enumerate(parts):
                    rows += [(number, part, statement) for statement in statements or (None,)]
            except ReadingError as error:
                refuse(number, error.reason)
        names = [None if row is None or row.graph is None else encode_oxigraph(row.graph) for _, _, row in rows]
        triples = encoded_columns([None if row is None else row.triple for _, _, row in rows])
        columns = [[number for number, _, _ in rows], [part for _, part, _ in rows], names, *triples]
        arrays = [pa.array(column, field.type) for column, field in zip(columns, QUADS, strict=True)]
        return pa.table(arrays, schema=QUADS)

    def _parts(self, format: str, value: bytes, label: str) -> list[Sequence[Statement]]:
        base = f"{self._base}/{label}"
        if format in _LINES:
            return [parse_statements(value + b"\n", _LINES[format], prefixed(self._scope, label))]
        if format == "messages":
            return [
                parse_message(message, self._scope, f"{label}.{number}", base)
                for number, message in enumerate(messages_of(enumerate(value.splitlines(keepends=True), 1)))
            ]
        if format == "jelly":
            frames = enumerate(frames_of(io.BytesIO(value), self._base))
            return [list(renamed(frame, prefixed(self._scope, f"{label}.{number}"))) for number, frame in frames]
        parse = partial(parse_statements, format=_PARSERS[format], base_iri=base)
        if format == "ndjson":
            lines = [line for line in value.split(b"\n") if line.strip()]
            return [parse(line, rename=numbered(self._scope, f"{label}.{n}")) for n, line in enumerate(lines)]
        return [parse(value, rename=numbered(self._scope, label))]


Refuse = Callable[[int, str], None]
"""Receives the number of a malformed message, and the reason."""


def _format_of_type(content_type: str) -> str | None:
    kind, _, parameters = content_type.partition(";")
    if re.search(r"messages=rdfm|version=[\w.-]*-messages", parameters.replace('"', "").replace(" ", "")):
        return "messages"
    return _CONTENT_TYPES.get(kind.strip().lower())


def _split(values: pa.Array, which: pa.Array) -> tuple[Lines, pa.Array]:
    """The lines of messages that are not empty, and the number of the message of each."""
    chosen = values if len(which) == len(values) else values.take(which)
    split = pc.split_pattern(chosen, pattern=b"\n")
    lines, of_line = split.flatten(), which.take(pc.list_parent_indices(split))
    is_line = pc.greater(pc.binary_length(lines), 0)
    if is_line.false_count:
        lines, of_line = lines.filter(is_line), of_line.filter(is_line)
    if not len(lines):
        return Lines(), of_line
    ended = pc.binary_join_element_wise(lines, pa.scalar(b"", lines.type), pa.scalar(b"\n", lines.type))
    return Lines(ended.buffers()[2].to_pybytes()[: pc.sum(pc.binary_length(ended)).as_py()]), of_line


def _with_labels(terms: pa.Array, beginnings: pa.Array) -> pa.Array:
    """Blank nodes with their message's labels before their own; other terms as they are."""
    is_blank = pc.starts_with(terms, "B").fill_null(False)
    if not is_blank.true_count:
        return terms.cast(pa.string())
    labelled = pc.binary_join_element_wise(beginnings, pc.utf8_slice_codeunits(terms.cast(pa.string()), 1), "")
    return pc.if_else(is_blank, labelled, terms.cast(pa.string()))


def _numbered(elements: pa.Table) -> pa.Table:
    """Elements that are numbered within parts of a table, renumbered."""
    message, element = (pc.cast(elements[name], pa.string()) for name in ("message", "element"))
    keys = pc.binary_join_element_wise(message, element, " ").combine_chunks().dictionary_encode().indices
    return elements.set_column(4, SCHEMA.field("element"), keys.cast(pa.int64()))
