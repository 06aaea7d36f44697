"""Folders that grow: their files, present and future, in the order of their modification times."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from penstock.rdf.addresses import Address
from penstock.rdf.elements import Malformed, OnMalformed
from penstock.rdf.errors import SourceError
from penstock.sources.batches import Batch, Position, Source
from penstock.sources.files import TntFile
from penstock.sources.source_opener import open_source
from penstock.sources.tables import table_of
from penstock.sources.timed_graphs import NQuadsFile

_SECONDS_BETWEEN_LOOKS = 0.1


@dataclass(frozen=True, slots=True)
class FollowedFolder:
    """A folder that is followed until `stopped` is set.

    A file is read once, when it is first seen: write it elsewhere, and move it into the folder when it is complete.
    Files whose names begin with `_` or `.` are ignored. The position has the names of the files that were read, and
    the position in the file that is being read.
    """

    address: Address
    scope: str
    stopped: threading.Event = field(default_factory=threading.Event)
    is_live: bool = field(default=True, init=False)
    can_resume: bool = field(default=True, init=False)

    @property
    def name(self) -> str:
        return self.address.path

    def ended_by(self, stopped: threading.Event) -> FollowedFolder:
        return replace(self, stopped=stopped)

    def batches(self, position: Position | None = None) -> Iterator[Batch]:
        read: list[str] = [] if position is None else list(position["read"])
        if position is not None and position["file"] is not None:
            yield from self._file(Path(self.address.path, position["file"]), read, position["within"])
        while not self.stopped.is_set():
            files = self._files(set(read))
            for file in files:
                yield from self._file(file, read, None)
                if self.stopped.is_set():
                    return
            if not files:
                self.stopped.wait(_SECONDS_BETWEEN_LOOKS)

    def _file(self, file: Path, read: list[str], within: Position | None) -> Iterator[Batch]:
        """The batches of a file; afterwards it has been read."""
        malformed: list[Malformed] = []
        source = open_part(file, self.address, self.scope, malformed.append)
        held: Batch | None = None
        for batch in () if source is None else source.batches(within):
            if held is not None:
                yield Batch(held.table, {"read": read[:], "file": file.name, "within": held.position}, held.malformed)
            held = batch
        read.append(file.name)
        last = Batch(table_of(()), {}, tuple(malformed)) if held is None else held
        yield Batch(last.table, {"read": read[:], "file": None, "within": None}, last.malformed)

    def _files(self, read: set[str]) -> list[Path]:
        """New files, the oldest first."""
        found = sorted(
            (path.stat().st_mtime_ns, path.name)
            for path in Path(self.address.path).iterdir()
            if path.name not in read and not path.name.startswith(("_", ".")) and path.is_file()
        )
        return [Path(self.address.path, name) for _, name in found]


def check_folder(address: Address) -> None:
    """Raises SourceError if there is no such folder to follow."""
    if not Path(address.path).is_dir():
        raise SourceError(f"{address.path}: there is no such folder to follow")


def open_part(file: Path, options: Address, scope: str, report: OnMalformed) -> Source | None:
    """A file of a growing folder; `options` are those of the folder. One that cannot be read is reported."""
    address = replace(options, path=str(file), is_followed=False)
    try:
        source = open_source(address, scope=scope)
        if not isinstance(source, TntFile | NQuadsFile):  # a document each, with blank nodes of its own
            source = open_source(address, scope=f"{scope} {file.name}")
    except SourceError as error:
        report(Malformed(str(file), "", str(error)))
        return None
    return source
