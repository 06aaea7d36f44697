"""Where a stream comes from: files, folders, standard input; compressed or not; and what is no stream."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.rdf.collected import collect, never, write

from penstock.rdf.elements import Element
from penstock.rdf.errors import SourceError
from penstock.rdf.stream_reader import read_stream

LINE = '<a:s> <a:p> <a:o> "{}" .\n'
GRAPH = '<a:g> <http://www.w3.org/ns/prov#generatedAtTime> "{0}" .\n<a:s> <a:p> "1" <a:g> .\n'


def lines(*times: int) -> str:
    return "".join(LINE.format(time) for time in times)


def message(action: Callable[[], object]) -> str:
    with pytest.raises(SourceError) as caught:
        action()
    return str(caught.value)


class TestFormat:
    def test_the_ending_says_it_in_any_case(self, tmp_path: Path) -> None:
        assert collect(write(tmp_path / "A.TNT", lines(1))).times == [1]

    def test_a_name_says_it_where_the_ending_does_not(self, tmp_path: Path) -> None:
        path = write(tmp_path / "stream.txt", lines(1))
        for name in ("tnt", "TNT", ".tnt"):
            assert collect(path, format=name).times == [1]
        path = write(tmp_path / "graphs.txt", GRAPH.format(1))
        assert collect(path, format="nquads").times == [1]

    @pytest.mark.parametrize("name", ["a.csv", "a", "a.ttls", "a.gz", "a.xyz.bz2"])
    def test_another_ending_is_an_error_that_lists_the_ones_there_are(self, tmp_path: Path, name: str) -> None:
        path = write(tmp_path / name, "")
        text = message(lambda: collect(path))
        assert text.startswith((f"{path}: no stream format has the ending", f"{path}: the file has no ending"))
        assert ".tnt, .trig, .nq, .jsonld, .ndjson, .messages, .jelly or .tar" in text
        assert f"{path}?format=tnt" in text

    def test_another_name_is_an_error_that_lists_the_ones_there_are(self, tmp_path: Path) -> None:
        text = message(lambda: collect(tmp_path, format="csv"))
        assert text == "unknown format csv: write tnt, trig, nq, jsonld, ndjson, messages, jelly, tar, ttl or nt"


class TestCompression:
    @pytest.mark.parametrize(("ending", "compress"), [("gz", gzip.compress), ("bz2", bz2.compress)])
    def test_it_is_read_as_it_is(self, tmp_path: Path, ending: str, compress: Callable[[bytes], bytes]) -> None:
        path = write(tmp_path / f"a.tnt.{ending}", compress(lines(1, 2).encode()))
        assert collect(path).times == [1, 2]

    @pytest.mark.parametrize(("ending", "compress"), [("gz", gzip.compress), ("bz2", bz2.compress)])
    @pytest.mark.parametrize("format", ["tnt", "nq", "trig", "ndjson", "jsonld", "ttl", "nt"])
    def test_a_damaged_file_is_read_up_to_the_damage(
        self, tmp_path: Path, ending: str, compress: Callable[[bytes], bytes], format: str
    ) -> None:
        whole = compress(lines(*range(5000)).encode())
        path = write(tmp_path / f"7.{format}.{ending}", whole[: len(whole) // 2])
        assert collect(path).malformed[-1].reason.startswith("the compressed file ends too early")

    def test_the_lines_before_the_damage_count(self, tmp_path: Path) -> None:
        whole = gzip.compress(lines(*range(50_000)).encode())
        found = collect(write(tmp_path / "a.tnt.gz", whole[: len(whole) // 2]))
        assert found.times == list(range(len(found.times)))
        assert len(found.times) > 10_000
        assert len(found.malformed) == 1

    def test_what_is_not_compressed_at_all(self, tmp_path: Path) -> None:
        found = collect(write(tmp_path / "a.tnt.gz", lines(1)))
        assert found.elements == []
        assert "Not a gzipped file" in found.reasons[0]

    def test_zstandard_where_it_is_installed(self, tmp_path: Path) -> None:
        zstandard = pytest.importorskip("zstandard", reason="the package zstandard is not installed")
        frame = zstandard.ZstdCompressor().compress(lines(*range(90_000)).encode())
        path = tmp_path / "a.tnt.zst"
        assert collect(write(path, frame + frame)).times == [*range(90_000)] * 2
        cut_off = collect(write(path, frame + frame[:-100]))
        assert cut_off.times[:90_000] == [*range(90_000)]
        assert cut_off.reasons[0].startswith("the compressed file ends too early")
        wrong = collect(write(path, b"no zstandard"))
        assert wrong.elements == []
        assert "cannot be read beyond this point" in wrong.reasons[0]

    def test_zstandard_where_it_is_not(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "zstandard", None)
        monkeypatch.setitem(sys.modules, "compression.zstd", None)
        path = write(tmp_path / "a.tnt.zst", b"")
        assert "install the package zstandard (pip install zstandard)" in message(lambda: collect(path))


class TestFolderOfStreams:
    def test_the_files_are_one_source_in_the_order_of_their_names(self, tmp_path: Path) -> None:
        write(tmp_path / "part-10.tnt", lines(10))
        write(tmp_path / "part-2.tnt.gz", gzip.compress(lines(2).encode()))
        write(tmp_path / "part-1.nq", GRAPH.format(1))
        write(tmp_path / "README.md", "no stream")
        write(tmp_path / "._part-1.tnt", "of a Mac")
        (tmp_path / "folder.tnt").mkdir()
        assert collect(tmp_path).times == [1, 2, 10]

    def test_the_format_chooses_among_them(self, tmp_path: Path) -> None:
        write(tmp_path / "a.tnt", lines(1))
        write(tmp_path / "b.nq", GRAPH.format(2))
        assert collect(tmp_path, format="nq").times == [2]

    def test_snapshots_among_them_are_an_error(self, tmp_path: Path) -> None:
        write(tmp_path / "a.tnt", lines(1))
        write(tmp_path / "b_2.ttl", "<a:s> <a:p> 1 .")
        assert f"{tmp_path}?format=ttl" in message(lambda: collect(tmp_path))
        assert collect(tmp_path, format="ttl").times == [2]

    def test_an_empty_one_is_an_error(self, tmp_path: Path) -> None:
        assert message(lambda: collect(tmp_path)).startswith(f"{tmp_path}: there is no stream in this folder: a stream")


class TestSnapshots:
    def test_the_number_in_the_name_counts_units(self, tmp_path: Path) -> None:
        for number in (7, 10, 9):
            write(tmp_path / f"set2_{number:02}.ttl", f"<a:s> <a:p> {number}, {number} .")
        found = collect(tmp_path, unit_ms=1000)
        assert found.times == [7000, 9000, 10_000]
        assert found.graphs == [None] * 3
        assert [len(element.triples) for element in found.elements] == [1, 1, 1]
        assert collect(tmp_path).times == [7, 9, 10]

    def test_without_a_unit_the_file_speaks_for_itself(self, tmp_path: Path) -> None:
        write(tmp_path / "a1.ttl", '<> <http://www.w3.org/ns/prov#generatedAtTime> "1970-01-01T00:00:05Z" .')
        write(tmp_path / "a2.nt", '<a:x> <http://www.w3.org/ns/prov#generatedAtTime> "3000" .')
        write(tmp_path / "a4000.ttl", "<a:s> <a:p> 1 .")
        write(tmp_path / "none.ttl", "[] <http://www.w3.org/ns/prov#generatedAtTime> 1, 2 .")
        assert collect(tmp_path).times == [2, 3000, 4000, 5000]
        assert collect(tmp_path, unit_ms=10).times == [2, 10, 20, 40_000]

    def test_a_name_may_be_a_date(self, tmp_path: Path) -> None:
        write(tmp_path / "1970-01-02.ttl", "<a:s> <a:p> 1 .")
        write(tmp_path / "1970-01-01T00:00:01Z.ttl", "<a:s> <a:p> 1 .")
        assert collect(tmp_path, unit_ms=1000).times == [1000, 86_400_000]

    def test_a_label_is_one_node_in_its_file(self, tmp_path: Path) -> None:
        for name in ("1.ttl", "2.ttl", "3.nt"):
            write(tmp_path / name, "_:a <a:p> _:b .")
        first, second, third = collect(tmp_path).blank_nodes
        assert len(first | second | third) == 6
        assert collect(tmp_path) == collect(tmp_path)

    def test_a_file_may_be_given_alone(self, tmp_path: Path) -> None:
        assert collect(write(tmp_path / "data_07.ttl.gz", gzip.compress(b"<a:s> <a:p> 1 ."))).times == [7]

    def test_a_file_without_triples_is_an_empty_graph(self, tmp_path: Path) -> None:
        assert collect(write(tmp_path / "3.ttl", "# nothing")).elements == [Element(3, (), None)]

    def test_a_file_without_a_time_is_malformed(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.ttl", "<a:s> <a:p> 1 .")
        write(tmp_path / "b_1.ttl", "<a:s> <a:p> 1 .")
        found = collect(tmp_path, unit_ms=1)
        assert found.times == [1]
        assert found.malformed[0].place == str(path)
        assert found.reasons[0].startswith("this snapshot has no time: put a number into the file's name")

    def test_a_snapshot_without_a_valid_line_is_not_asked_for_a_time(self, tmp_path: Path) -> None:
        found = collect(write(tmp_path / "a.nt", '<a:s> <a:p> <a:o> "1" .\n<a:s> <a:p> <a:o> "2" .\n'))
        assert [entry.place for entry in found.malformed] == [f"{tmp_path}/a.nt:1", f"{tmp_path}/a.nt:2"]

    def test_a_file_with_a_wrong_time_is_malformed(self, tmp_path: Path) -> None:
        write(tmp_path / "5.ttl", '<> <http://www.w3.org/ns/prov#generatedAtTime> "soon" .')
        found = collect(tmp_path)
        assert found.elements == []
        assert '"soon" is not a timestamp' in found.reasons[0]
        assert collect(tmp_path, unit_ms=1).times == [5]

    @pytest.mark.parametrize("unit_ms", [None, 1])
    @pytest.mark.parametrize("name", ["7.ttl", "seven.ttl"])
    def test_wrong_turtle_is_left_out_and_reported_once(self, tmp_path: Path, name: str, unit_ms: int | None) -> None:
        path = write(tmp_path / name, "<a:s> <a:p> 1 .\n<a:s> <a:p> .\n")
        write(tmp_path / "8.ttl", "<a:s> <a:p> 1 .")
        found = collect(tmp_path) if unit_ms is None else collect(tmp_path, unit_ms=unit_ms)
        assert found.times == [8]
        assert len(found.malformed) == 1
        assert found.malformed[0][:2] == (f"{path}:2", "<a:s> <a:p> .")

    def test_of_ntriples_only_the_wrong_line_is_left_out(self, tmp_path: Path) -> None:
        path = write(tmp_path / "7.nt", '<a:s> <a:p> "1" .\n<a:s> <a:p> \n<a:s> <a:p> "2" .\n')
        found = collect(path)
        assert found.triples == [['<a:s> <a:p> "1"', '<a:s> <a:p> "2"']]
        assert [malformed.place for malformed in found.malformed] == [f"{path}:2"]

    def test_csrbench(self, shared: Path) -> None:
        folder = shared / "data" / "csrbench" / "data"
        if not folder.is_dir():
            pytest.skip(f"{folder} is not there")
        found = collect(folder, unit_ms=1000)
        assert found.malformed == []
        assert found.times == [number * 1000 for number in range(34)]
        assert sum(len(element.triples) for element in found.elements) == 15_188


class TestStandardInput:
    def test_it_is_a_dash(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines(3, 1).encode() + b"\xff\n")))
        found = collect("-")
        assert found.times == [3, 1]
        assert found.malformed[0].place == "<stdin>:3"

    def test_its_format_may_be_said(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdin", io.StringIO(GRAPH.format(4)))
        assert collect("-", format="nq").times == [4]

    def test_relative_iris_are_relative_to_the_working_directory(self) -> None:
        text = '{"@id": "g", "http://www.w3.org/ns/prov#generatedAtTime": 1, "@graph": {"@id": "a", "a:p": 1}}'
        assert collect(io.StringIO(text), format="ndjson").graphs == [f"<{Path.cwd().as_uri()}/g>"]

    def test_it_is_no_snapshot(self) -> None:
        assert "its format must be tnt, trig, nq, jsonld, ndjson, messages, jelly or tar" in message(
            lambda: collect("-", format="ttl")
        )

    def test_it_may_be_closed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdin", None)
        assert message(lambda: collect("-")) == "standard input is closed: name a file"

    @pytest.mark.parametrize(
        ("format", "first", "second"),
        [
            ("tnt", lines(1), lines(2)),
            ("nq", GRAPH.format(1), GRAPH.replace("a:g", "a:h").format(2)),
            (
                "trig",
                '<a:g> { <a:s> <http://www.w3.org/ns/prov#generatedAtTime> "1" }\n',
                '<a:h> { <a:s> <http://www.w3.org/ns/prov#generatedAtTime> "2" }\n',
            ),
        ],
    )
    def test_elements_come_out_while_it_is_open(self, format: str, first: str, second: str) -> None:
        reader, writer = os.pipe()
        with os.fdopen(reader, "rb") as stream, os.fdopen(writer, "wb", buffering=0) as sender:
            elements = read_stream(stream, scope="s", format=format, on_malformed=never)
            sender.write((first + second).encode())
            assert next(elements).time == 1


def test_a_named_pipe_is_read_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.nq"
    os.mkfifo(pipe)
    sender = threading.Thread(target=lambda: pipe.write_text(GRAPH.format(1)))
    sender.start()
    assert collect(pipe).times == [1]
    sender.join()


class TestNothingToRead:
    def test_a_file_that_is_not_there(self, tmp_path: Path) -> None:
        write(tmp_path / "toll.tnt", "")
        near = tmp_path / "tol.tnt"
        assert message(lambda: collect(near)) == (
            f"{near}: there is no such file or folder: did you mean {tmp_path / 'toll.tnt'}?"
        )
        far = tmp_path / "nowhere" / "x.tnt"
        assert message(lambda: collect(str(far))) == f"{far}: there is no such file or folder"

    def test_it_is_said_before_anything_is_read(self, tmp_path: Path) -> None:
        with pytest.raises(SourceError):
            read_stream(tmp_path / "a.tnt", scope="s", on_malformed=never)

    def test_what_may_not_be_read(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = write(tmp_path / "a.tnt", "")
        monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may read everything
        for closed, kind in ((path, "file"), (tmp_path, "folder")):
            text = message(lambda source=closed: collect(source))  # type: ignore[misc]
            assert text == f"{closed}: this {kind} cannot be read (permission denied): change its permissions"

    def test_what_vanishes_before_it_is_read(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.tnt", "")
        elements = read_stream(path, scope="s", on_malformed=never)
        path.unlink()
        assert message(lambda: next(elements)) == f"{path}: there is no such file"

    def test_a_reader_that_wants_to_stop_stops(self, tmp_path: Path) -> None:
        for name in ("a.tnt", "a.nq", "a.trig", "a.ndjson", "a.jsonld", "1.ttl", "1.nt"):
            path = write(tmp_path / name, "wrong")
            with pytest.raises(AssertionError):
                list(read_stream(path, scope="s", on_malformed=never))

    def test_a_time_predicate_that_is_no_iri(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.tnt", "")
        assert "the time predicate at is not an IRI" in message(lambda: collect(path, time_predicate="at"))

    def test_a_scope_without_a_name(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.tnt", lines(1))
        with pytest.raises(ValueError, match="must not be empty"):
            collect(path, scope="")


def test_it_is_lazy(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tnt", lines(1) + "wrong\n" * 100)
    malformed: list[object] = []
    elements = read_stream(path, scope="s", on_malformed=malformed.append)
    assert next(elements).time == 1
    assert malformed == []
    assert list(elements) == []
    assert len(malformed) == 100
