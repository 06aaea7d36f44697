"""Folders that grow, and servers, read by this process."""

from __future__ import annotations

import json
import os
import socket
import threading
from pathlib import Path

import pytest
from tests.sources.collected import joined
from tests.sources.test_kafka import live, wait_until

from penstock.rdf.errors import SourceError
from penstock.sources import open_source
from penstock.sources.batches import Batch
from penstock.sources.growing_folders import FollowedFolder


def put(folder: Path, name: str, text: str, modified: int) -> None:
    hidden = folder / f".{name}"
    hidden.write_text(text)
    os.utime(hidden, (modified, modified))
    hidden.rename(folder / name)


def followed(folder: Path) -> FollowedFolder:
    source = open_source(f"{folder}/?follow", scope="s")
    assert isinstance(source, FollowedFolder)
    return source


def test_files_come_when_they_are_there(tmp_path: Path) -> None:
    put(tmp_path, "b.tnt", '<a:s> <a:p> _:x "1" .', 1)
    put(tmp_path, "a.trig", '<a:g> { <a:s> <a:p> _:x , [] } <a:g> <http://www.w3.org/ns/prov#generatedAtTime> "2" .', 2)
    put(tmp_path, "_ignored.tnt", '<a:s> <a:p> <a:o> "9" .', 1)
    with live(followed(tmp_path)) as batches:
        wait_until(lambda: joined(batches).times == [1, 2])
        put(tmp_path, "c.tnt", "oops", 0)
        put(tmp_path, "d.what", "", 0)
        put(tmp_path, "e.tnt", '<a:s> <a:p> _:x "3" .', 0)
        wait_until(lambda: joined(batches).times == [1, 2, 3])
    assert sorted(entry.place for entry in joined(batches).malformed) == [f"{tmp_path}/c.tnt:1", f"{tmp_path}/d.what"]


def test_it_continues_from_any_position(tmp_path: Path) -> None:
    for number in range(4):
        lines = "".join(f'<a:s> <a:p> "{number}" "{time}" .\n' for time in range(3))
        put(tmp_path, f"{number}.tnt", lines if number % 2 else lines + "oops\n", number)

    def read(batches: list[Batch], count: int) -> list[Batch]:
        position = json.loads(json.dumps(batches[-1].position)) if batches else None
        with live(followed(tmp_path), position) as found:
            wait_until(lambda: len(joined(found).elements) >= count)
        return found

    whole = read([], 12)
    for count in range(1, len(whole) + 1):
        rest = read(whole[:count], 12 - len(joined(whole[:count]).elements))
        assert joined([*whole[:count], *rest]) == joined(whole)


def test_lines_of_a_server() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connected, _ = listening.accept()
            with connected:
                connected.sendall(b'<a:s> <a:p> <a:o> "1" .\n<a:s> <a:p> <a:o> "2" .\n')

        threading.Thread(target=serve, daemon=True).start()
        source = open_source(f"tcp://127.0.0.1:{listening.getsockname()[1]}", scope="s")
        assert (source.is_live, source.can_resume) == (True, False)
        assert joined(source.batches()).times == [1, 2]


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="there is no such folder to follow"):
        open_source(f"{tmp_path}/nowhere?follow", scope="s")
    with pytest.raises(SourceError, match="start the server first, and check host and port"):
        list(open_source("tcp://127.0.0.1:1", scope="s").batches())
