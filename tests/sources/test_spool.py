"""Spools: what is written is read, whatever was cut off, and whoever reads meanwhile."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from penstock.rdf.errors import SourceError
from penstock.sources import spool
from penstock.sources.spool import SpoolReader, SpoolWriter, release
from penstock.sources.subscriptions import Arrival


def arrivals(first: int, count: int) -> list[Arrival]:
    return [
        Arrival(f"message {number}".encode(), None, number, "here", str(number))
        for number in range(first, first + count)
    ]


def numbers(reader: SpoolReader, first: int, end: int | None = None, most_bytes: int = 1 << 20) -> list[int]:
    table = reader.read(first, end, most_bytes)
    assert [content.decode() for content in table["content"].to_pylist()] == [
        f"message {n}" for n in table["time"].to_pylist()
    ]
    found: list[int] = table["time"].to_pylist()
    return found


def test_messages_by_their_numbers(tmp_path: Path) -> None:
    writer, reader = SpoolWriter(tmp_path), SpoolReader(tmp_path)
    assert (reader.end(), numbers(reader, 0)) == (0, [])
    writer.append(arrivals(0, 3))
    assert numbers(reader, 0) == [0, 1, 2]
    writer.append(arrivals(3, 4))
    assert numbers(reader, 1) == [1, 2, 3, 4, 5, 6]
    assert numbers(reader, 1, 5) == [1, 2, 3, 4]
    assert numbers(reader, 2, 3) == [2]
    assert numbers(reader, 0, most_bytes=1) == [0, 1, 2]
    assert numbers(reader, 7) == []
    assert reader.marks() == [str(number) for number in range(7)]
    reader.forget(4)
    assert numbers(reader, 4) == [4, 5, 6]
    reader.forget(7)
    writer.append(arrivals(7, 1))
    assert numbers(reader, 7) == [7]


def test_it_is_opened_again_behind_the_last_whole_block(tmp_path: Path) -> None:
    writer = SpoolWriter(tmp_path)
    for first in (0, 2, 4):
        writer.append(arrivals(first, 2))
    writer.close()
    (file,) = tmp_path.glob("*.spool")
    content = file.read_bytes()
    chance = random.Random(3)
    for size in [0, len(content), *(chance.randrange(len(content)) for _ in range(30))]:
        file.write_bytes(content[:size])
        again = SpoolWriter(tmp_path)
        assert again.next == 2 * (size * 3 // len(content))
        again.append(arrivals(again.next, 3))
        again.close()
        assert numbers(SpoolReader(tmp_path), 0) == [*range(again.next)]


def test_a_damaged_block_is_not_there(tmp_path: Path) -> None:
    writer = SpoolWriter(tmp_path)
    writer.append(arrivals(0, 2))
    writer.append(arrivals(2, 2))
    (file,) = tmp_path.glob("*.spool")
    content = bytearray(file.read_bytes())
    content[-3] ^= 255
    file.write_bytes(content)
    assert numbers(SpoolReader(tmp_path), 0) == [0, 1]


def test_released_segments_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "_SEGMENT_BYTES", 1)
    monkeypatch.setattr(spool, "KEPT_MESSAGES", 5)
    writer, reader, other = SpoolWriter(tmp_path), SpoolReader(tmp_path), SpoolReader(tmp_path)
    for first in range(0, 40, 2):
        writer.append(arrivals(first, 2))
    assert numbers(other, 3) == [*range(3, 40)]
    release(tmp_path, 21)
    assert len(list(tmp_path.glob("*.spool"))) == 10
    assert numbers(reader, 21) == numbers(other, 21) == [*range(21, 40)]
    assert numbers(SpoolReader(tmp_path), 20) == [*range(20, 40)]
    with pytest.raises(SourceError, match="messages from 3 on are missing"):
        SpoolReader(tmp_path).read(3)
    release(tmp_path, 40)
    assert [int(mark) for mark in SpoolReader(tmp_path).marks()] == [34, 35, 36, 37, 38, 39]
    writer.close()
    assert SpoolWriter(tmp_path).next == 40
    assert SpoolReader(tmp_path).end() == 40
