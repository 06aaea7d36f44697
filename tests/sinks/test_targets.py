"""Targets: what a crash leaves behind is cut off, and what cannot be written is said in a sentence."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.sinks.evaluations import CONSTRUCT, SELECT, SELECTED, constructed, ex

from penstock.rdf.result_batches import ResultBatch
from penstock.rdf.results import Evaluation
from penstock.sinks import ReaderGoneError, SinkError, open_sink


@pytest.mark.parametrize("format", ["jsonl", "csv", "tsv", "table"])
@pytest.mark.parametrize("before", [0, 1, 2])
def test_writing_goes_on_from_a_position(tmp_path: Path, format: str, before: int) -> None:
    evaluations = [Evaluation("q", time, SELECTED.variables, SELECTED.rows) for time in range(4)]
    with open_sink(tmp_path / "whole", format, SELECT) as sink:
        for evaluation in evaluations:
            sink.write(ResultBatch.of(evaluation))
    path = tmp_path / "out"
    crashed = open_sink(path, format, SELECT)
    for evaluation in evaluations[:before]:
        crashed.write(ResultBatch.of(evaluation))
    position = crashed.position()
    crashed.write(ResultBatch.of(evaluations[3]))
    crashed.flush()
    crashed.write(ResultBatch.of(evaluations[0]))
    with open_sink(path, format, SELECT, position=position) as sink:
        for evaluation in evaluations[before:]:
            sink.write(ResultBatch.of(evaluation))
    assert path.read_bytes() == (tmp_path / "whole").read_bytes()
    crashed.close()


def test_the_position_is_what_is_on_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with open_sink(path, "tnt", CONSTRUCT) as sink:
        assert sink.position() == 0
        sink.write(ResultBatch.of(constructed(1, ex("été"))))
        assert sink.position() == path.stat().st_size > 0


def test_a_file_is_begun_anew_without_a_position(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("old")
    open_sink(tmp_path / "out", "jsonl", SELECT).close()
    assert (tmp_path / "out").read_text() == ""


def test_a_file_that_is_shorter_than_it_was(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("1234")
    for name, size in (("out", 4), ("gone", 0)):
        with pytest.raises(SinkError, match=f"5 bytes of results were written here before, and now there are {size}"):
            open_sink(tmp_path / name, "jsonl", SELECT, position=5)
    open_sink(tmp_path / "gone", "jsonl", SELECT, position=0).close()


class TestStandardOutput:
    def test_it_is_a_dash(self, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
        with open_sink("-", "csv", SELECT) as sink:
            sink.write(ResultBatch.of(SELECTED))
            sink.flush()
            assert capsysbinary.readouterr().out.startswith(b"time,gate,cars\r\n8000")
            assert sink.position() is None
            sink.write(ResultBatch.of(SELECTED))
        assert capsysbinary.readouterr().out.startswith(b"8000")

    def test_it_may_be_text_only(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdout", io.StringIO())
        with open_sink("-", "tsv", SELECT) as sink:
            sink.write(ResultBatch.of(SELECTED))
        assert isinstance(sys.stdout, io.StringIO)
        assert sys.stdout.getvalue().startswith("?time")

    def test_it_may_be_closed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdout", None)
        with pytest.raises(SinkError, match="standard output is closed: name a file"):
            open_sink("-", "jsonl", SELECT)

    def test_its_reader_may_go_away(self) -> None:
        program = (
            "from penstock.sinks import ReaderGoneError, open_sink\n"
            "from penstock.rdf.result_batches import ResultBatch\n"
            "from tests.sinks.evaluations import SELECT, SELECTED\n"
            "sink = open_sink('-', 'jsonl', SELECT)\n"
            "try:\n"
            "    while True:\n"
            "        sink.write(ResultBatch.of(SELECTED))\n"
            "except ReaderGoneError as error:\n"
            "    raise SystemExit(7)\n"
        )
        root = Path(__file__).parents[2]
        with subprocess.Popen(
            [sys.executable, "-c", program],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=root,
            env={**os.environ, "PYTHONPATH": os.pathsep.join((str(root), str(root / "src")))},
        ) as running:
            assert running.stdout is not None
            assert running.stderr is not None
            running.stdout.readline()
            running.stdout.close()
            assert running.stderr.read() == b""
            assert running.wait(20) == 7


class TestWhatCannotBeWritten:
    def test_paths(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        for path, sentence in (
            (tmp_path / "no" / "out", "the folder of this file does not exist: create it first"),
            (tmp_path, "this is a folder: name a file in it"),
            (tmp_path / "file" / "out", "a part of this path is a file, not a folder: choose another path"),
        ):
            with pytest.raises(SinkError) as caught:
                open_sink(path, "jsonl", SELECT)
            assert str(caught.value) == f"{path}: {sentence}"

    def test_what_is_not_permitted(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: object) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(Path, "open", refuse)  # root may write everywhere
        with pytest.raises(SinkError, match="this cannot be written"):
            open_sink(tmp_path / "out", "jsonl", SELECT)

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
    def test_a_full_disk(self) -> None:
        sink = open_sink("/dev/full", "jsonl", SELECT)
        sink.write(ResultBatch.of(SELECTED))
        assert sink.position() is None
        with pytest.raises(SinkError, match="/dev/full: the disk is full: free some space"):
            sink.flush()
        with pytest.raises(SinkError, match="the disk is full"):
            sink.close()

    def test_the_reader_of_a_named_pipe_may_go_away(self, tmp_path: Path) -> None:
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        sink = open_sink(pipe, "csv", SELECT)
        sink.write(ResultBatch.of(SELECTED))
        sink.write(ResultBatch.of(SELECTED))
        sink.flush()
        assert os.read(reader, 1 << 16).count(b"time") == 1
        os.close(reader)
        sink.write(ResultBatch.of(SELECTED))
        with pytest.raises(ReaderGoneError, match="nobody reads the results any more"):
            sink.flush()
        with pytest.raises(ReaderGoneError):
            sink.close()
