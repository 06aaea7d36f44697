"""Sources that are files: lines of `.tnt` by columns, other formats element by element, and one file after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from penstock.rdf.compression import open_bytes
from penstock.rdf.elements import Element, Malformed, OnMalformed
from penstock.rdf.errors import SourceError
from penstock.sources.batches import Batch, Position, Source
from penstock.sources.blocks import Block, blocks, pieces_of_file
from penstock.sources.counted_positions import CountedPositions
from penstock.sources.tables import table_of
from penstock.sources.tnt import decode_tnt


@dataclass(frozen=True, slots=True)
class TntFile:
    """A `.tnt` file. Its position is the place of the next line: an offset in the unpacked text, and a line number."""

    path: Path
    scope: str
    most_elements: int
    is_live: bool = field(default=False, init=False)
    can_resume: bool = field(default=True, init=False)

    @property
    def name(self) -> str:
        return str(self.path)

    def batches(self, position: Position | None = None, until: int | None = None) -> Iterator[Batch]:
        """`until`: up to this offset, where a line begins."""
        offset, line = (0, 1) if position is None else (position["offset"], position["line"])
        if offset is None:  # the file is damaged from here on
            return
        pieces = pieces_of_file(lambda: open_bytes(self.path), offset, until)
        yield from tnt_batches(blocks(pieces), self.name, self.scope, self.most_elements, offset, line)


def tnt_batches(
    found: Iterator[Block], name: str, scope: str, most_elements: int, offset: int = 0, line: int = 1
) -> Iterator[Batch]:
    """Blocks of lines as batches; `offset` and `line` are those of the first."""
    for block in found:
        for lines in block.lines.pieces(most_elements):
            malformed: list[Malformed] = []
            table = decode_tnt(lines, name=name, first_line=line, scope=scope, on_malformed=malformed.append)
            offset += len(lines.text)
            line += len(lines)
            yield Batch(table, {"offset": offset, "line": line}, tuple(malformed))
        problem = block.problem(name, line)
        if block.long_line is not None:
            offset += block.long_line.size
            line += 1
        if problem is not None:
            position = {"offset": offset if block.damage is None else None, "line": line}
            yield Batch(table_of(()), position, (problem,))


@dataclass(frozen=True, slots=True)
class ElementFile:
    """Any format that is read element by element. Its position is the number of elements read so far."""

    name: str
    read: Callable[[OnMalformed], Iterator[Element]]
    most_elements: int
    is_live: bool = field(default=False, init=False)
    can_resume: bool = field(default=True, init=False)

    def batches(self, position: Position | None = None) -> Iterator[Batch]:
        malformed: list[Malformed] = []
        gathered: list[Element] = []
        triples = 0
        came = CountedPositions(position)
        for element in self.read(malformed.append):
            gathered.append(element)
            triples += len(element.triples)
            if len(gathered) >= self.most_elements or triples >= self.most_elements:
                yield from came.batches(table_of(gathered), malformed, self.most_elements)
                gathered, triples = [], 0
        yield from came.batches(table_of(gathered), malformed, self.most_elements)


@dataclass(frozen=True, slots=True)
class OneAfterAnother:
    """The files of a folder. The position is the file's name, and the position in the file."""

    name: str
    files: Sequence[tuple[str, Source]]
    is_live: bool = field(default=False, init=False)
    can_resume: bool = field(default=True, init=False)

    def batches(self, position: Position | None = None) -> Iterator[Batch]:
        names = [name for name, _ in self.files]
        first = 0
        within: Position | None = None
        if position is not None:
            if position["file"] not in names:
                raise SourceError(f"{self.name}: the file {position['file']}, which was being read, is no longer there")
            first, within = names.index(position["file"]), position["within"]
        for name, file in self.files[first:]:
            for batch in file.batches(within):
                yield Batch(batch.table, {"file": name, "within": batch.position}, batch.malformed)
            within = None
