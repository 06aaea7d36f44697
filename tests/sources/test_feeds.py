"""A feed reads ahead, but not far; what goes wrong while it reads is said where its batches are taken."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.rdf.collected import write
from tests.sources.collected import elements_of

from penstock.rdf.errors import SourceError
from penstock.sources import Batch, Feed, Position, open_source
from penstock.sources.tables import table_of


@dataclass
class Counting:
    """A source without an end, which counts how far it was read."""

    read: int = 0
    name: str = "counting"
    is_live: bool = False
    can_resume: bool = True

    def batches(self, position: Position | None = None) -> Iterator[Batch]:
        while True:
            self.read += 1
            yield Batch(table_of(()), {"read": self.read})


def taken(feed: Feed) -> list[int]:
    found: list[int] = []
    while not feed.has_ended:
        batch = feed.take(10)
        found += [] if batch is None else [time for time, _ in elements_of(batch)]
    return found


def test_all_batches_in_their_order(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tnt", "".join(f'<a:s> <a:p> <a:o> "{number}" .\n' for number in range(100)))
    feed = Feed(open_source(path, scope="s", batch_elements=7))
    assert taken(feed) == list(range(100))
    assert feed.take(None) is None


def test_from_a_position_on(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tnt", "".join(f'<a:s> <a:p> <a:o> "{number}" .\n' for number in range(10)))
    source = open_source(path, scope="s", batch_elements=4)
    first = Feed(source).take(10)
    assert first is not None
    assert taken(Feed(source, first.position)) == list(range(4, 10))


def test_it_does_not_read_far_ahead() -> None:
    source = Counting()
    feed = Feed(source)
    assert feed.take(10) is not None
    time.sleep(0.05)
    assert source.read < 6
    feed.close()
    assert feed.has_ended
    assert feed.take(None) is None


def test_closing_it_ends_its_thread() -> None:
    before = threading.active_count()
    feed = Feed(Counting())
    time.sleep(0.02)
    feed.close()
    for _ in range(100):
        if threading.active_count() == before:
            break
        time.sleep(0.01)
    assert threading.active_count() == before


def test_nothing_comes_within_the_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    with os.fdopen(reader, "r") as stream, os.fdopen(writer, "wb", buffering=0) as sender:
        monkeypatch.setattr(sys, "stdin", stream)
        feed = Feed(open_source("-", scope="s"))
        assert feed.take(0.02) is None
        assert not feed.has_ended
        sender.write(b'<a:s> <a:p> <a:o> "7" .\n')
        batch = feed.take(10)
        assert batch is not None
        assert [time for time, _ in elements_of(batch)] == [7]
        sender.close()
        assert feed.take(10) is None
        assert feed.has_ended


def test_what_goes_wrong_is_said_to_the_taker(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tnt", "")
    source = open_source(path, scope="s")
    path.unlink()
    feed = Feed(source)
    with pytest.raises(SourceError, match="there is no such file"):
        feed.take(10)
    assert feed.has_ended


@pytest.mark.parametrize("format", ["tnt", "nq"])
def test_python_exits_while_standard_input_is_waited_for(format: str) -> None:
    program = (
        f"from penstock.sources import Feed, open_source; Feed(open_source('-?format={format}', scope='s')).take(.1)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.wait(20) == 0
        assert running.stderr is not None
        assert running.stderr.read() == b""
