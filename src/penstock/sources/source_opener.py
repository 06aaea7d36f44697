"""Sources by their addresses (rdf/addresses.py)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from penstock.rdf.addresses import Address, parse_address
from penstock.rdf.compression import open_bytes
from penstock.rdf.credentials import ServiceAuth
from penstock.rdf.elements import Element, Malformed, OnMalformed
from penstock.rdf.errors import SourceError
from penstock.rdf.formats.read_options import ReadOptions
from penstock.rdf.formats.snapshots import read_snapshots
from penstock.rdf.inputs import bytes_of
from penstock.rdf.stream_reader import (
    GENERATED_AT_TIME,
    STANDARD_INPUT_NAME,
    are_snapshots,
    read_file,
    read_open_stream,
    read_options,
    standard_input,
    stream_files,
    stream_format,
)
from penstock.sources.batches import MOST_ELEMENTS, Source
from penstock.sources.blocks import buffered, unbuffered
from penstock.sources.files import ElementFile, OneAfterAnother, TntFile
from penstock.sources.live import LiveElements, LiveTnt, OpenStream, ReadOnce
from penstock.sources.replay import Replay
from penstock.sources.servers import stream_of_server

_STANDARD_INPUT_IS_READ = "standard input has been read by another run, and nothing is left of it: name a file"


def open_source(
    text: str | Path | Address,
    *,
    scope: str,
    batch_elements: int | None = None,
    retry_timeout: float | None = None,
    auth: ServiceAuth | None = None,
) -> Source:
    """The source that an address names; nothing of it is read yet.

    `scope` is the source's own name: no blank node of this source is one of a source with another scope.
    `batch_elements` is how many elements a batch has at most. `retry_timeout` is how many seconds to wait for a server
    that is away, None for ever; `auth` are credentials for web servers.

    >>> source = open_source("toll.tnt.gz", scope="toll")  # doctest: +SKIP

    Raises `SourceError` where there is nothing to read.
    """
    address = text if isinstance(text, Address) else parse_address(text)
    opening = _Opening(scope, batch_elements or MOST_ELEMENTS, address, retry_timeout, auth or ServiceAuth())
    if address.speed is None:
        return opening.source()
    played = opening.source()
    if played.is_live:
        raise SourceError(f"replay+{address.path}: a replay is one of a file or folder, and this is a pipe")
    return Replay(played, address.speed)


class _Opening:
    def __init__(
        self, scope: str, most_elements: int, address: Address, retry_timeout: float | None, auth: ServiceAuth
    ) -> None:
        self._scope = scope
        self._most_elements = most_elements
        self._address = address
        self._retry_timeout = retry_timeout
        self._auth = auth
        self._read_options(_ignore)  # whatever is wrong with the options is said at once

    def source(self) -> Source:
        if self._address.scheme == "kafka":
            from penstock.sources.kafka import KafkaTopic  # slow to load

            return KafkaTopic(self._address, self._scope, self._retry_timeout)
        if self._address.scheme == "tcp":
            server = self._address.server
            return self._stream(
                self._address.name, lambda: stream_of_server(*server), stream_format(self._address.format)
            )
        if self._address.has_messages:
            from penstock.sources.message_streams import MessageStream  # slow to load

            return MessageStream(self._address, self._scope, self._auth, self._retry_timeout)
        if self._address.is_followed:
            from penstock.sources.growing_folders import FollowedFolder, check_folder  # it opens files with this module

            check_folder(self._address)
            return FollowedFolder(self._address, self._scope)
        path, format = self._address.path, self._address.format
        if self._address.is_standard_input:
            stream = self._stream(
                STANDARD_INPUT_NAME, lambda: unbuffered(bytes_of(standard_input())), stream_format(format)
            )
            return ReadOnce(stream, _STANDARD_INPUT_IS_READ)
        files = stream_files(Path(path), format)
        if are_snapshots(files):
            return ElementFile(
                path, lambda report: read_snapshots(files, self._read_options(report)), self._most_elements
            )
        if Path(path).is_dir():
            parts = [(file.name, self._file(file, kind, number)) for number, (file, kind) in enumerate(files, 1)]
            return OneAfterAnother(path, parts)
        ((file, kind),) = files
        if not file.is_file():
            return self._stream(path, lambda: open_bytes(file), kind)
        return self._file(file, kind, 1)

    def _file(self, path: Path, format: str, number: int) -> Source:
        if format == "tnt":
            return TntFile(path, self._scope, self._most_elements)
        if format == "nq":
            from penstock.sources.timed_graphs import NQuadsFile  # slow to load

            return NQuadsFile(path, self._scope, self._read_options(_ignore).time_predicate, self._most_elements)
        return ElementFile(
            str(path), lambda report: read_file(path, format, number, self._read_options(report)), self._most_elements
        )

    def _stream(self, name: str, open_stream: OpenStream, format: str) -> Source:
        """What is read as it comes."""
        if format == "tnt":
            return LiveTnt(name, open_stream, self._scope, self._most_elements)

        def read(report: OnMalformed) -> Iterator[Element]:
            with open_stream() as stream:
                yield from read_open_stream(buffered(stream), name, format, self._read_options(report))

        return LiveElements(name, read, self._most_elements)

    def _read_options(self, report: OnMalformed) -> ReadOptions:
        time, unit_ms = self._address.time, self._address.unit_ms
        return read_options(self._scope, report, time_predicate=time or GENERATED_AT_TIME, unit_ms=unit_ms)


def _ignore(malformed: Malformed) -> None:
    """Nothing is read with it."""
