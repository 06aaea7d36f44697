"""Sources by what people write: whatever the format and the batches, the elements are those of `read_stream`."""

from __future__ import annotations

import gzip
import io
import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.rdf.collected import write
from tests.sources.collected import joined, read, read_one_by_one

from penstock.rdf.errors import SourceError
from penstock.sources import open_source
from penstock.sources.blocks import pieces_of_file

PROV = "http://www.w3.org/ns/prov#generatedAtTime"


def tnt(*times: int) -> str:
    return "".join(f'<a:s> <a:p> _:b{time} "{time}" .\n' for time in times)


def quads(*times: int) -> str:
    return "".join(
        f'<a:s> <a:p> "{time}" <a:g{time}> .\n<a:g{time}> <{PROV}> "{time}" .\n_:b <a:q> <a:o> <a:g{time}> .\n'
        for time in times
    )


def trig(*times: int) -> str:
    return "".join(f'<a:g{time}> {{ <a:s> <a:p> [], {time} }}\n<a:g{time}> <{PROV}> "{time}" .\n' for time in times)


def ndjson(*times: int) -> str:
    return "".join(
        json.dumps({"@id": f"a:g{time}", PROV: time, "@graph": [{"@id": "a:s", "a:p": [1, time]}]}) + "\n"
        for time in times
    )


def wrong_every_third(text: str) -> str:
    """Every third line, and the last one, followed by one that is wrong."""
    lines = text.splitlines(keepends=True)
    return "".join(line + ("nonsense }\n" if number % 3 == 0 else "") for number, line in enumerate(lines))


FILES: dict[str, Callable[..., str]] = {"a.tnt": tnt, "a.nq": quads, "a.trig": trig, "a.ndjson": ndjson}
TIMES = (3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4, 6, 2, 6, 4, 3)


@pytest.fixture(params=[*FILES, "packed", "folder", "snapshots"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A source of every kind, with something wrong in it."""
    if request.param == "packed":
        return write(tmp_path / "a.tnt.gz", gzip.compress(wrong_every_third(tnt(*TIMES)).encode()))
    if request.param == "folder":
        for number, (name, content) in enumerate(FILES.items()):
            write(tmp_path / f"part-{9 + number}{Path(name).suffix}", wrong_every_third(content(*TIMES[:7])))
        return tmp_path
    if request.param == "snapshots":
        for time in sorted(set(TIMES)):
            write(
                tmp_path / f"{time}.ttl", "nonsense }" if time == 4 else "" if time == 5 else f"<a:s> <a:p> [], {time}."
            )
        return tmp_path
    return write(tmp_path / request.param, wrong_every_third(FILES[request.param](*TIMES)))


@pytest.mark.parametrize("batch_elements", [1, 2, 5, None])
def test_any_batching_gives_the_elements_that_there_are(path: Path, batch_elements: int | None) -> None:
    found = read(path, batch_elements=batch_elements)
    assert found == read_one_by_one(path)
    assert found.malformed
    assert len(found.elements) > 5


@pytest.mark.parametrize("batch_elements", [1, 3, 1000])
def test_reading_goes_on_from_any_position(path: Path, batch_elements: int) -> None:
    source = open_source(path, scope="s", batch_elements=batch_elements)
    assert (source.is_live, source.can_resume) == (False, True)
    whole = list(source.batches())
    for count, batch in enumerate(whole, 1):
        position = json.loads(json.dumps(batch.position))
        rest = open_source(path, scope="s", batch_elements=4).batches(position)
        assert joined([*whole[:count], *rest]) == joined(whole)


def test_batches_are_no_larger_than_said(path: Path) -> None:
    batches = list(open_source(path, scope="s", batch_elements=3).batches())
    assert max(batch.elements for batch in batches) <= 3
    assert len(batches) > 2


def test_an_element_without_triples_is_a_row_without_terms(tmp_path: Path) -> None:
    write(tmp_path / "7.ttl", "")
    (batch,) = open_source(tmp_path, scope="s").batches()
    assert batch.table.to_pylist() == [{"s": None, "p": None, "o": None, "ts": 7, "element": 0}]


def test_a_file_that_has_grown_is_read_on(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tnt", tnt(1, 2))
    *_, last = open_source(path, scope="s").batches()
    write(path, tnt(1, 2, 3))
    assert read(path, position=last.position).times == [3]


def test_what_is_damaged_is_said_once(tmp_path: Path) -> None:
    whole = gzip.compress("".join(f'<a:s> <a:p> "{number}" "1" .\n' for number in range(50_000)).encode())
    write(tmp_path / "1.tnt.gz", whole[: len(whole) // 2])
    write(tmp_path / "2.tnt", tnt(2))
    batches = list(open_source(tmp_path, scope="s").batches())
    assert sum(len(batch.malformed) for batch in batches) == 1
    damaged = next(batch for batch in batches if batch.malformed)
    assert damaged.malformed[0].reason.startswith("the compressed file ends too early")
    assert read(tmp_path, position=damaged.position) == ([(2, (("Ia:s", "Ia:p", "Bs.0.b2"),))], [], [None])


def test_a_file_of_the_folder_that_is_gone(tmp_path: Path) -> None:
    for name in ("1.tnt", "2.tnt"):
        write(tmp_path / name, tnt(1))
    first, _ = open_source(tmp_path, scope="s").batches()
    (tmp_path / "1.tnt").unlink()
    with pytest.raises(SourceError, match=r"the file 1\.tnt, which was being read, is no longer there"):
        read(tmp_path, position=first.position)


class TestStandardInput:
    @pytest.mark.parametrize("name", FILES)
    def test_the_elements_are_those_of_the_text(
        self, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        content = FILES[name](1, 3, 2)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content.encode())))
        source = open_source(f"-?format={Path(name).suffix}", scope="s")
        assert (source.is_live, source.can_resume) == (True, False)
        assert joined(source.batches()).times == [1, 3, 2]
        assert not sys.stdin.closed

    def test_what_is_malformed_in_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for format in ("tnt", "nq"):
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"# a comment\n\xff\n")))
            (problem,) = read(f"-?format={format}").malformed
            assert problem.place == "<stdin>:2"

    def test_it_is_no_snapshot(self) -> None:
        with pytest.raises(SourceError, match=r"its format must be tnt, trig, nq, .*, messages, jelly or tar"):
            open_source("-?format=ttl", scope="s")

    def test_it_may_be_closed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdin", None)
        with pytest.raises(SourceError, match="standard input is closed: name a file"):
            list(open_source("-", scope="s").batches())

    @pytest.mark.parametrize("name", FILES)
    def test_elements_come_out_while_it_is_open(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        reader, writer = os.pipe()
        with os.fdopen(reader, "r") as stream, os.fdopen(writer, "wb", buffering=0) as sender:
            monkeypatch.setattr(sys, "stdin", stream)
            batches = open_source(f"-?format={Path(name).suffix}", scope="s").batches()
            sender.write(FILES[name](1).encode() + FILES[name](2).encode())
            assert joined([next(batches)]).times[0] == 1
            sender.close()
            list(batches)

    def test_a_line_that_comes_in_pieces_is_one(self, monkeypatch: pytest.MonkeyPatch) -> None:
        reader, writer = os.pipe()
        with os.fdopen(reader, "r") as stream, os.fdopen(writer, "wb", buffering=0) as sender:
            monkeypatch.setattr(sys, "stdin", stream)
            first, second = tnt(1, 2).encode().splitlines(keepends=True)
            batches = open_source("-", scope="s").batches()
            sender.write(first + second[:10])
            assert joined([next(batches)]).times == [1]
            sender.write(second[10:-1])
            sender.close()
            assert joined(batches).times == [2]


@pytest.mark.parametrize("name", ["pipe.tnt", "pipe.nq"])
def test_a_named_pipe_is_live(tmp_path: Path, name: str) -> None:
    pipe = tmp_path / name
    os.mkfifo(pipe)
    sender = threading.Thread(target=lambda: pipe.write_text(FILES["a" + pipe.suffix](1)))
    sender.start()
    source = open_source(pipe, scope="s")
    assert (source.is_live, source.can_resume) == (True, False)
    assert joined(source.batches()).times == [1]
    sender.join()


def test_a_compressed_named_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.tnt.gz"
    os.mkfifo(pipe)
    sender = threading.Thread(target=lambda: pipe.write_bytes(gzip.compress(tnt(1, 2).encode())))
    sender.start()
    assert read(pipe).times == [1, 2]
    sender.join()


def test_a_file_that_cannot_seek_is_read_up_to_the_position() -> None:
    class Unseekable(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def seek(self, *_: int) -> int:
            raise io.UnsupportedOperation

    for offset in (0, 3, 10, 11):
        assert b"".join(pieces_of_file(lambda: Unseekable(b"0123456789"), offset)) == b"0123456789"[offset:]


class TestNothingToRead:
    def test_a_file_that_is_not_there(self, tmp_path: Path) -> None:
        write(tmp_path / "toll.tnt", "")
        with pytest.raises(SourceError, match=r"there is no such file or folder: did you mean .*toll\.tnt\?"):
            open_source(tmp_path / "tol.tnt", scope="s")

    def test_a_file_that_vanishes(self, tmp_path: Path) -> None:
        for name in FILES:
            path = write(tmp_path / name, "")
            source = open_source(path, scope="s")
            path.unlink()
            with pytest.raises(SourceError, match="there is no such file"):
                list(source.batches())

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    @pytest.mark.parametrize("mode", [0o000, 0o400, 0o100])
    def test_a_folder_that_may_not_be_read(self, tmp_path: Path, mode: int) -> None:
        folder = tmp_path / "closed"
        folder.mkdir()
        write(folder / "a.tnt", tnt(1))
        folder.chmod(mode)
        try:
            with pytest.raises(SourceError, match="cannot be read"):
                list(open_source(folder, scope="s").batches())
        finally:
            folder.chmod(0o700)

    def test_what_the_system_refuses(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = write(tmp_path / "a.tnt", tnt(1))
        monkeypatch.setattr(os, "access", lambda path, mode: False)
        for closed, kind in ((path, "file"), (tmp_path, "folder")):
            with pytest.raises(SourceError, match=f"this {kind} cannot be read"):
                open_source(closed, scope="s")

    @pytest.mark.parametrize("url", ["amqp://h/q", "nats://h/s"])
    def test_what_is_on_the_network(self, url: str) -> None:
        with pytest.raises(SourceError, match=r"there are no addresses that begin with .*://: an address is a file"):
            open_source(url, scope="s")

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("a.tnt?fromat=tnt", "there is no option fromat"),
            ("a.tnt?time=at", "the time predicate at is not an IRI"),
            ("a.tnt?format=csv", "unknown format csv"),
            ("replay+a.tnt?speed=fast", "speed=fast: this is not a speed"),
            ("replay+a.tnt?speed=0", "speed=0: this is not a speed"),
            ("replay+-", "replay+-: a replay is one of a file or folder"),
        ],
    )
    def test_what_is_wrong_with_the_words(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str
    ) -> None:
        monkeypatch.chdir(tmp_path)
        write(tmp_path / "a.tnt", "")
        with pytest.raises(SourceError) as caught:
            open_source(text, scope="s")
        assert str(caught.value).startswith(message) or message in str(caught.value)
