"""Lines without end and documents that are too large: left out, reported, and what comes behind them is read."""

from __future__ import annotations

import gzip
import io
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from penstock.rdf import compression, inputs
from penstock.rdf.elements import Element, Malformed
from penstock.rdf.errors import SourceError
from penstock.rdf.formats import trig
from penstock.rdf.stream_reader import read_stream
from penstock.sources import blocks
from penstock.sources.graph_files import open_graph
from penstock.sources.source_opener import open_source

LINE = '<http://ex.org/a> <http://ex.org/p> "{}" "{}" .\n'
LONG = LINE.format("x" * 300_000, 2)
TEXT = LINE.format("", 1) + LONG + LINE.format("", 3) + LONG[:-1]
REASON = "the line is longer than 100 kB: is a line end missing?"


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (inputs, blocks):
        monkeypatch.setattr(module, "LONGEST_LINE", 100_000)
    monkeypatch.setattr(blocks, "MOST_BYTES", 1000)
    for module in (inputs, trig):
        monkeypatch.setattr(module, "LARGEST_DOCUMENT", 100_000)
    monkeypatch.setattr("penstock.rdf.limits.LONGEST_LINE", 100_000)
    monkeypatch.setattr("penstock.rdf.limits.LARGEST_DOCUMENT", 100_000)


def as_file(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "s.tnt").write_text(TEXT)
    yield str(tmp_path / "s.tnt")


def as_gzip(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "s.tnt.gz").write_bytes(gzip.compress(TEXT.encode()))
    yield str(tmp_path / "s.tnt.gz")


def as_pipe(tmp_path: Path) -> Iterator[str]:
    pipe = tmp_path / "s.tnt"
    os.mkfifo(pipe)
    thread = threading.Thread(target=pipe.write_text, args=(TEXT,), daemon=True)
    thread.start()
    yield str(pipe)
    thread.join()


@pytest.mark.parametrize("written", [as_file, as_gzip, as_pipe])
def test_lines_of_an_engine(written: Callable[[Path], Iterator[str]], tmp_path: Path) -> None:
    for source in written(tmp_path):
        batches = list(open_source(source, scope="s").batches())
        assert [time for batch in batches for time in batch.table["ts"].to_pylist()] == [1, 3]
        malformed = [entry for batch in batches for entry in batch.malformed]
        assert [(entry.place, entry.reason) for entry in malformed] == [
            (f"{source}:2", REASON),
            (f"{source}:4", REASON),
        ]
        assert max(len(entry.text) for entry in malformed) < 400_000


def test_a_run_goes_on_behind_a_long_line(tmp_path: Path) -> None:
    (source,) = as_file(tmp_path)
    opened = open_source(source, scope="s")
    for batch in opened.batches():
        rest = [time for later in opened.batches(batch.position) for time in later.table["ts"].to_pylist()]
        all_of_it = [time for later in opened.batches() for time in later.table["ts"].to_pylist()]
        assert rest == all_of_it[len(all_of_it) - len(rest) :]
    assert batch.position == {"offset": len(TEXT), "line": 5}


def read(source: str | io.BytesIO, format: str) -> tuple[list[Element], list[Malformed]]:
    malformed: list[Malformed] = []
    return list(read_stream(source, scope="s", format=format, on_malformed=malformed.append)), malformed


def test_lines_of_the_oracle(tmp_path: Path) -> None:
    for elements, malformed in (
        read(next(as_file(tmp_path)), "tnt"),
        read(io.BytesIO(TEXT.encode()), "tnt"),
    ):
        assert [element.time for element in elements] == [1, 3]
        assert [entry.reason for entry in malformed] == [REASON, REASON]


def test_documents() -> None:
    large = b'{"@id": "http://ex.org/a", "http://ex.org/p": "%b"}' % (b"x" * 200_000)
    assert [entry.reason for entry in read(io.BytesIO(large), "jsonld")[1]] == [
        "the document is larger than 100 kB, but must be read as a whole: split it into smaller ones"
    ]


def test_graphs_of_trig() -> None:
    time = '<http://ex.org/{0}> <http://www.w3.org/ns/prov#generatedAtTime> "{1}" .\n'
    triple = "<http://ex.org/a> <http://ex.org/p> <http://ex.org/o{}> .\n"
    text = time.format("g", 1) + "<http://ex.org/g> {\n" + "".join(map(triple.format, range(3000))) + "}\n"
    text += time.format("h", 2) + "<http://ex.org/h> {\n" + triple.format(1) + "}\n"
    elements, malformed = read(io.BytesIO(text.encode()), "trig")
    assert [element.time for element in elements] == [2]
    assert [(entry.place, entry.reason.partition(",")[0]) for entry in malformed] == [
        ("<stream>:2", "the graph is larger than 100 kB")
    ]


def test_a_graph_of_lines_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "g.nt"
    path.write_text(LONG.replace(' "2"', ""))
    with pytest.raises(SourceError, match=r"g\.nt:1: the line is longer than 100 kB"):
        list(open_graph(path, scope="g").tables())


def test_little_is_unpacked_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """64 KiB of zstandard may be hundreds of megabytes."""
    zstandard = pytest.importorskip("zstandard")
    path = tmp_path / "s.tnt.zst"
    compressor = zstandard.ZstdCompressor()
    path.write_bytes(compressor.compress(bytes(50_000_000)) + compressor.compress(b"end"))
    with compression.open_bytes(path) as file:
        frames = file.raw  # type: ignore[attr-defined]
        sizes = set()
        read_bytes = 0
        while piece := file.read(1 << 20):
            read_bytes += len(piece)
            sizes.add(len(frames._unpacked))
    assert read_bytes == 50_000_003
    assert max(sizes) <= 33_600_000
