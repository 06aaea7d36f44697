"""Reads streams of timestamped RDF from files, folders and standard input (contract.md §3)."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO

from pyoxigraph import NamedNode

from penstock.rdf.compression import uncompressed_name
from penstock.rdf.elements import Element, OnMalformed
from penstock.rdf.errors import SourceError
from penstock.rdf.formats.archives import read_archive
from penstock.rdf.formats.jelly import read_jelly
from penstock.rdf.formats.jsonld import read_jsonld, read_ndjson
from penstock.rdf.formats.messages import read_messages
from penstock.rdf.formats.nquads import read_nquads
from penstock.rdf.formats.read_options import ReadOptions
from penstock.rdf.formats.snapshots import read_snapshots
from penstock.rdf.formats.tnt import read_tnt
from penstock.rdf.formats.trig import read_trig
from penstock.rdf.inputs import Input, check_readable, file_input, stream_input
from penstock.rdf.vocabulary import COMMON_PREFIXES

GENERATED_AT_TIME = COMMON_PREFIXES["prov"] + "generatedAtTime"
STANDARD_INPUT = "-"
STANDARD_INPUT_NAME = "<stdin>"

_STREAMS: dict[str, Callable[[Input, ReadOptions], Iterator[Element]]] = {
    "tnt": read_tnt,
    "trig": read_trig,
    "nq": read_nquads,
    "jsonld": read_jsonld,
    "ndjson": read_ndjson,
    "messages": read_messages,
    "jelly": read_jelly,
    "tar": read_archive,
}
_SNAPSHOTS = ("ttl", "nt")
FORMATS = (*_STREAMS, *_SNAPSHOTS)
_OTHER_NAMES = {"nquads": "nq", "turtle": "ttl", "ntriples": "nt", "json-ld": "jsonld"}

_SUPPORTED = (
    "a stream is a file that ends with .tnt, .trig, .nq, .jsonld, .ndjson, .messages, .jelly or .tar, or a folder of "
    ".ttl or .nt snapshots; optionally followed by .gz, .bz2 or .zst"
)


def read_stream(
    source: str | Path | IO[bytes] | IO[str],
    *,
    scope: str,
    on_malformed: OnMalformed,
    format: str | None = None,
    time_predicate: str = GENERATED_AT_TIME,
    unit_ms: int | None = None,
) -> Iterator[Element]:
    """The elements of a stream, in the order of the input.

    `source` is a file, a folder, `-` or an open stream. `format` or else the file ending determines the format; without
    an ending it is `.tnt`. Malformed input is passed to `on_malformed` and skipped. `scope` names the source: blank
    nodes of sources with different scopes are different. `time_predicate` states the time of graphs and snapshots;
    `unit_ms` is the unit of the number in the name of a snapshot.

    >>> elements = read_stream("toll.tnt", scope="toll", on_malformed=print)  # doctest: +SKIP

    Raises `SourceError` if there is nothing to read.
    """
    options = read_options(scope, on_malformed, time_predicate=time_predicate, unit_ms=unit_ms)
    if source == STANDARD_INPUT:
        return read_open_stream(standard_input(), STANDARD_INPUT_NAME, stream_format(format), options)
    if not isinstance(source, str | Path):
        return read_open_stream(source, str(getattr(source, "name", "<stream>")), stream_format(format), options)
    files = stream_files(Path(source), format)
    return read_snapshots(files, options) if are_snapshots(files) else _one_after_the_other(files, options)


def read_options(
    scope: str, on_malformed: OnMalformed, *, time_predicate: str = GENERATED_AT_TIME, unit_ms: int | None = None
) -> ReadOptions:
    return ReadOptions(scope, "1", predicate(time_predicate), on_malformed, unit_ms)


def standard_input() -> IO[str]:
    if sys.stdin is None:
        raise SourceError("standard input is closed: name a file")
    return sys.stdin


def stream_format(name: str | None) -> str:
    """The format of an open stream, which has no file ending."""
    format = "tnt" if name is None else format_named(name)
    if format in _SNAPSHOTS:
        raise SourceError(f"a snapshot must be a file, but this is a stream: its format must be {_list(_STREAMS)}")
    return format


def read_open_stream(stream: IO[bytes] | IO[str], name: str, format: str, options: ReadOptions) -> Iterator[Element]:
    return _STREAMS[format](stream_input(stream, name), options)


def stream_files(path: Path, format: str | None = None) -> list[tuple[Path, str]]:
    """The files of a stream with their formats, in order: one file, or the files in a folder.

    Raises `SourceError` if there is nothing to read.
    """
    known = None if format is None else format_named(format)
    check_readable(path)
    if path.is_dir():
        return _files_in(path, known)
    return [(path, known or _format_of_ending(path))]


def are_snapshots(files: Sequence[tuple[Path, str]]) -> bool:
    return files[0][1] in _SNAPSHOTS


def read_file(path: Path, format: str, number: int, options: ReadOptions) -> Iterator[Element]:
    """The elements of a file that is not a snapshot; `number` is its position in the stream, from 1."""
    return _STREAMS[format](file_input(path), replace(options, document=str(number)))


def _one_after_the_other(files: Sequence[tuple[Path, str]], options: ReadOptions) -> Iterator[Element]:
    for number, (path, format) in enumerate(files, 1):
        yield from read_file(path, format, number, options)


def _files_in(folder: Path, format: str | None) -> list[tuple[Path, str]]:
    """The files in a folder that belong to the stream, with their formats, in natural order (2 before 10)."""
    found = [
        (path, ending)
        for path in folder.iterdir()
        if (ending := _ending(path)) in FORMATS and not path.name.startswith(".") and not path.is_dir()
        if format in (None, ending)
    ]
    if not found:
        raise SourceError(f"{folder}: there is no stream in this folder: {_SUPPORTED}")
    if len({ending in _SNAPSHOTS for _, ending in found}) == 2:
        raise SourceError(
            f"{folder}: there are both snapshots and stream files in this folder: "
            f"choose which to read, as in {folder}?format=ttl, or put them into two folders"
        )
    return sorted(found, key=lambda pair: _in_natural_order(pair[0].name))


def _in_natural_order(name: str) -> list[tuple[int, str]]:
    return [(int(digits or 0), text) for text, digits in re.findall(r"([^0-9]*)([0-9]*)", name)]


def _ending(path: Path) -> str:
    return uncompressed_name(path).suffix.lower().removeprefix(".")


def _format_of_ending(path: Path) -> str:
    ending = _ending(path)
    if ending not in FORMATS:
        found = f"no stream format has the ending .{ending}" if ending else "the file has no ending"
        raise SourceError(f"{path}: {found}: {_SUPPORTED}. Or set its format, as in {path}?format=tnt")
    return ending


def format_named(name: str) -> str:
    format = name.lower().removeprefix(".")
    format = _OTHER_NAMES.get(format, format)
    if format not in FORMATS:
        raise SourceError(f"unknown format {name}: write {_list(FORMATS)}")
    return format


def _list(names: Iterable[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} or {last}"


def predicate(iri: str) -> NamedNode:
    try:
        return NamedNode(iri)
    except ValueError:
        raise SourceError(
            f"the time predicate {iri} is not an IRI: write a full IRI, such as {GENERATED_AT_TIME}"
        ) from None
