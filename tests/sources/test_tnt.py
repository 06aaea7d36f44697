"""Reading `.tnt` by columns gives what reading line by line gives: the same elements, and the same malformed lines."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rdf.collected import write
from tests.rdf.lines import (
    LINE,
    ODD_LINES,
    ODD_TERMS,
    ODD_TIMES,
    ORDINARY_TERMS,
    ORDINARY_TIMES,
    TRIPLE,
    WRONG_TERMS,
    WRONG_TIMES,
    timed,
    triples_with,
)
from tests.rdf.random_lines import TIMES, TRIPLES, mutated
from tests.sources.collected import read, read_one_by_one

from penstock.rdf.elements import Malformed
from penstock.sources import blocks, tnt


@pytest.fixture(autouse=True, scope="module")
def few_lines_are_many() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tnt, "FEW", 0)
        yield


def agree(path: Path, scope: str = "s", batch_elements: int | None = None) -> int:
    """By columns and one by one it is the same; how many elements there are."""
    found = read(path, scope=scope, batch_elements=batch_elements)
    assert found == read_one_by_one(path, scope=scope)
    return len(found.elements)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_what_is_ordinary_takes_no_parser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str) -> None:
    lines = [timed(("<a:s>", "<a:p>", term)) for term in ORDINARY_TERMS]
    lines += [timed((term, "<a:p>", "<a:o>")) for term in ORDINARY_TERMS if term.startswith(("<", "_"))]
    lines += [timed(("<a:s>", term, '"x y"')) for term in ORDINARY_TERMS if term.startswith("<")]
    lines += [f"{TRIPLE} {time} ." for time in ORDINARY_TIMES]
    path = write(tmp_path / "a.tnt", end.join(lines) + end)
    expected = read_one_by_one(path)

    def parse(text: str, *_: object) -> None:
        raise AssertionError(f"not taken for ordinary: {text}")

    monkeypatch.setattr(tnt, "parse_timed_triple", parse)
    assert read(path) == expected
    assert len(expected.elements) == len(lines)


@pytest.mark.parametrize("terms", [ORDINARY_TERMS, ODD_TERMS, WRONG_TERMS])
def test_terms_of_every_kind(tmp_path: Path, terms: tuple[str, ...]) -> None:
    lines = [timed(triple) for term in terms for triple in triples_with(term)]
    agree(write(tmp_path / "a.tnt", "\n".join(lines)), "http://ex.org/s#1")


def test_timestamps_of_every_kind(tmp_path: Path) -> None:
    times = ORDINARY_TIMES + ODD_TIMES + WRONG_TIMES
    path = write(tmp_path / "a.tnt", "".join(f"{TRIPLE} {time} .\n" for time in times))
    assert agree(path) == len(ORDINARY_TIMES) + len(ODD_TIMES)


def test_lines_of_every_kind(tmp_path: Path) -> None:
    agree(write(tmp_path / "a.tnt", "\n".join(ODD_LINES)))


def test_a_timestamp_too_far_away_is_malformed(tmp_path: Path) -> None:
    line = f'{TRIPLE} "1000000000000000000" .'
    path = write(tmp_path / "a.tnt", line)
    reason = '"1000000000000000000" is too far from 1970 for a timestamp: at most 18 digits are allowed'
    assert read(path).malformed == [Malformed(f"{path}:1", line, reason)]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"\n\n\n",
        b"\r\n",
        b"\xef\xbb\xbf",
        b"\xef\xbb\xbf" + LINE.encode(),
        b"\xef\xbb\xbf# a comment\n" + LINE.encode(),
        b"\xef\xbb\xbfwrong\n\xef\xbb\xbf" + LINE.encode(),
        LINE.encode() + b"\n",
        LINE.encode() + b"\r\n" + LINE.encode() + b"\r",
        LINE.encode() + b"\n\xff\n" + LINE.encode() + b"\n# \xc3\n" + LINE.encode().replace(b"/a", b"\xed\xa0\x80"),
        LINE.encode("utf-16"),
        b"\x00" * 10 + b"\n" + LINE.encode(),
    ],
)
def test_bytes_of_every_kind(tmp_path: Path, content: bytes) -> None:
    agree(write(tmp_path / "a.tnt", content))


@pytest.mark.parametrize("block", [1, 100, 1000])
@pytest.mark.parametrize("batch_elements", [1, 7, None])
def test_blocks_and_batches_do_not_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int, batch_elements: int | None
) -> None:
    lines = [timed(triple) for term in ODD_TERMS + ORDINARY_TERMS + WRONG_TERMS for triple in triples_with(term)]
    path = write(tmp_path / "a.tnt", "\n".join([*lines, *ODD_LINES]))
    monkeypatch.setattr(blocks, "MOST_BYTES", block)
    monkeypatch.setattr(blocks, "_PIECE", block // 2 + 1)
    agree(path, batch_elements=batch_elements)


def test_long_lines(tmp_path: Path) -> None:
    lines = [f'<a:s> <a:p> "{"long " * length}" "{length}" .' for length in (1 << 17, 1 << 19, 1)]
    agree(write(tmp_path / "a.tnt", "\n".join([*lines, "x" * (1 << 21)])))


@pytest.mark.parametrize(("ending", "compress"), [(".gz", gzip.compress), (".bz2", bz2.compress)])
@pytest.mark.parametrize("part", ["whole", "half", "head", "not"])
def test_compressed_files_whole_and_cut_off(
    tmp_path: Path, ending: str, compress: Callable[[bytes], bytes], part: str
) -> None:
    noise = Random(1)
    content = "".join(f'<a:{noise.random()}> <a:p> <a:o> "{number}" .\n' for number in range(9000))
    packed = compress(content.encode())
    parts = {"whole": packed, "half": packed[: len(packed) // 2], "head": packed[:20], "not": b"x"}
    path = write(tmp_path / f"a.tnt{ending}", parts[part])
    found = read(path)
    assert found == read_one_by_one(path)
    assert len(found.malformed) == (0 if part == "whole" else 1)


def test_a_few_lines_are_read_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.tnt", f"{LINE}\nwrong\n# a comment\n" * 3)
    monkeypatch.setattr(tnt, "FEW", 9)
    monkeypatch.setattr(tnt, "_ordinary", None)
    assert agree(path) == 3


@given(st.lists(mutated(st.one_of(st.builds(timed, TRIPLES, TIMES), st.sampled_from(ODD_LINES))), max_size=30))
def test_any_lines_are_read_alike(tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]) -> None:
    agree(write(tmp_path_factory.getbasetemp() / "any.tnt", b"\n".join(lines)))
