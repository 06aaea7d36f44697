"""Snapshots: each `.ttl` or `.nt` file is one graph of the stream, ordered by time.

If a unit is set, the time of `data_07.ttl` is 7 units. Otherwise the file states its time (`<> prov:generatedAtTime
TS`); if it does not, the time is 7 ms. A name can also be a date: `2014-08-01.ttl`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from pyoxigraph import RdfFormat, Triple

from penstock.rdf.blank_nodes import numbered
from penstock.rdf.compression import uncompressed_name
from penstock.rdf.elements import Element, Malformed, OnMalformed
from penstock.rdf.errors import ReadingError
from penstock.rdf.formats.lines import parse_lines
from penstock.rdf.formats.read_options import ReadOptions
from penstock.rdf.formats.timed_graphs import times_within
from penstock.rdf.inputs import Input, file_input
from penstock.rdf.instants import parse_instant
from penstock.rdf.limits import shown
from penstock.rdf.parser import parse_statements
from penstock.rdf.timestamps import greatest, in_range

_NUMBER = re.compile(r"[0-9]+")


def read_snapshots(files: Sequence[tuple[Path, str]], options: ReadOptions) -> Iterator[Element]:
    """The graphs of `.ttl` and `.nt` files, given with their formats.

    A Turtle file with an error is skipped; in an N-Triples file only the invalid line is skipped.
    """
    snapshots = [_Snapshot(path, format, number, options) for number, (path, format) in enumerate(files, 1)]
    timed = [(time, snapshot) for snapshot in snapshots if (time := snapshot.time()) is not None]
    for time, snapshot in sorted(timed, key=lambda pair: pair[0]):
        triples = snapshot.triples(options.on_malformed)
        if triples is not None:
            yield Element(time, triples)


class _Snapshot:
    def __init__(self, path: Path, format: str, number: int, options: ReadOptions) -> None:
        self._path = path
        self._read = _READERS[format]
        self._document = str(number)
        self._options = options

    def triples(self, on_malformed: OnMalformed) -> tuple[Triple, ...] | None:
        """The graph of the file; None, after a report, if it cannot be read."""
        return self._read(file_input(self._path), self._document, self._options.scope, on_malformed)

    def time(self) -> int | None:
        """The time of the graph; None, after a report, if it has none."""
        problems: list[Malformed] = []
        try:
            named = time_in_name(self._path, self._options.unit_ms)
        except ReadingError as error:
            self._options.on_malformed(Malformed(str(self._path), "", error.reason))
            return None
        if named is not None and self._options.unit_ms is not None:
            return named
        triples = self.triples(problems.append)
        own = times_within(triples or (), self._options.time_predicate)
        try:
            if own:
                return greatest(own)
        except ReadingError as error:
            problems.append(Malformed(str(self._path), "", error.reason))
        if named is not None and not own:
            return named
        if not own and (triples or not problems):
            problems.append(Malformed(str(self._path), "", self._without_time()))
        for problem in problems:
            self._options.on_malformed(problem)
        return None

    def _without_time(self) -> str:
        return (
            "this snapshot has no time: put a number into the file's name, as in data_07.ttl, "
            f'or a triple <> {self._options.time_predicate} "2024-05-01T12:00:00Z"^^xsd:dateTime into the file'
        )


def time_in_name(path: Path, unit_ms: int | None) -> int | None:
    """The last number in the name of a file times the unit, or the date in its name."""
    stem = uncompressed_name(path).stem
    if stem.isdecimal() or (instant := parse_instant(stem)) is None:
        numbers = _NUMBER.findall(stem)
        return in_range(int(numbers[-1]) * (unit_ms or 1)) if numbers else None
    return instant


def _read_turtle(file: Input, document: str, scope: str, on_malformed: OnMalformed) -> tuple[Triple, ...] | None:
    content = file.content(on_malformed)
    if content is None:
        return None
    try:
        statements = parse_statements(content, RdfFormat.TURTLE, numbered(scope, document), file.base)
    except ReadingError as error:
        line = b"" if error.line is None else content.split(b"\n", error.line)[error.line - 1]
        on_malformed(Malformed(error.place(file.name), shown(line), error.reason))
        return None
    return tuple(dict.fromkeys(statement.triple for statement in statements))


def _read_ntriples(file: Input, document: str, scope: str, on_malformed: OnMalformed) -> tuple[Triple, ...]:
    statements = parse_lines(file, RdfFormat.N_TRIPLES, numbered(scope, document), on_malformed)
    return tuple(dict.fromkeys(statement.triple for statement in statements))


_READERS = {"ttl": _read_turtle, "nt": _read_ntriples}
