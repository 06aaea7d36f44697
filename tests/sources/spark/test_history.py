"""A history that Spark reads has the elements, in their order, and the malformed pieces, that the readers give."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession
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
from tests.sources.collected import Read, Triples, read, read_one_by_one
from tests.sources.test_source_opener import FILES, TIMES, wrong_every_third

from penstock.rdf.elements import Malformed
from penstock.sources import open_source
from penstock.sources.spark.history import history_of


def spark_read(spark: SparkSession, path: Path | str, scope: str = "s") -> Read:
    history = history_of(spark, open_source(path, scope=scope))
    elements: dict[int, tuple[int, Triples]] = {}
    names: dict[int, str | None] = {}
    rows = history.rows(is_named=True).collect()
    assert len({row.arrival for row in rows}) == len(rows)
    for row in sorted(rows, key=lambda row: (row.element, row.arrival)):
        triple = () if row.s is None else ((row.s, row.p, row.o),)
        time, triples = elements.get(row.element, (row.ts, ()))
        assert time == row.ts
        assert names.setdefault(row.element, row.g) == row.g
        elements[row.element] = (time, triples + triple)
    malformed = sorted(Malformed(*row) for row in history.malformed().collect())
    return Read(list(elements.values()), malformed, list(names.values()))


def agree(spark: SparkSession, path: Path | str, scope: str = "s") -> int:
    """Spark reads what is read one by one; how many elements there are."""
    found, expected = spark_read(spark, path, scope), read_one_by_one(path, scope=scope)
    assert found.elements == expected.elements
    assert found.names == expected.names
    assert found.malformed == sorted(expected.malformed)
    return len(found.elements)


@pytest.fixture
def small_parts(spark: SparkSession) -> Iterator[None]:
    """Files are cut into parts of some lines."""
    setting = "spark.sql.files.maxPartitionBytes"
    before = spark.conf.get(setting)
    spark.conf.set(setting, "2000b")
    yield
    assert before is not None
    spark.conf.set(setting, before)


EVERY_KIND = [
    *(timed(triple) for term in ORDINARY_TERMS + ODD_TERMS + WRONG_TERMS for triple in triples_with(term)),
    *(f"{TRIPLE} {time} ." for time in ORDINARY_TIMES + ODD_TIMES + WRONG_TIMES),
    *ODD_LINES,
]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_of_every_kind(spark: SparkSession, tmp_path: Path, end: str) -> None:
    path = write(tmp_path / "a.tnt", end.join([*EVERY_KIND, LINE]))
    assert agree(spark, path, "http://ex.org/s#1") == 138


def test_parts_of_a_file_do_not_show(spark: SparkSession, tmp_path: Path, small_parts: None) -> None:
    path = write(tmp_path / "a.tnt", "\n".join(EVERY_KIND * 2))
    assert len(history_of(spark, open_source(path, scope="s")).ranges) > 10
    agree(spark, path)


def test_files_of_a_folder_come_in_their_order(spark: SparkSession, tmp_path: Path, small_parts: None) -> None:
    for number, size in enumerate((50, 700, 3, 0, 200, 1, 90), 7):
        lines = [f'<a:s{number}> <a:p> "{line}" "{line}" .\n' for line in range(size)]
        write(tmp_path / f"part-{number}.tnt", "".join(lines) + "\n" * number + "wrong")
    assert agree(spark, tmp_path) == 1044


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf" + LINE.encode(), LINE.encode("utf-16"), b"\x00\n"])
def test_bytes_of_every_kind(spark: SparkSession, tmp_path: Path, content: bytes) -> None:
    agree(spark, write(tmp_path / "a.tnt", content))


def test_bytes_that_are_no_text(spark: SparkSession, tmp_path: Path) -> None:
    lines = [
        LINE.encode(),
        b'<a:s> <a:p> "\xff" "1" .',
        b'<a:\xc3> <a:p> <a:o> "1" .',
        '<a:s> <a:p> "\ufffd" "1" .'.encode(),
    ]
    assert agree(spark, write(tmp_path / "a.tnt", b"\n".join(lines))) == 2


JUNK = [
    *(character.encode() for character in '"<>\\ \t.#:@-%/[]a1?{\r\x0b+TZ0\u00e9\u2028\u00a0\x85\ue000\U00010000'),
    *(text.encode() for text in ("^^", "//", "_:", r"\u00e9", r"\U0001F697", r"\n", r"\'", "x-")),
]


def mutated(line: str, draw: Random) -> bytes:
    """The line with something put in, taken away, or in place of something else."""
    text = line.encode()
    for _ in range(draw.choice([0, 1, 1, 2, 3])):
        place, taken = draw.randrange(len(text) + 1), draw.randrange(4)
        text = text[:place] + draw.choice([b"", *JUNK, bytes([draw.randrange(256)])]) + text[place + taken :]
    return text.replace(b"\n", b"")


def test_any_lines_are_read_alike(spark: SparkSession, tmp_path: Path) -> None:
    draw = Random(1)
    lines = [mutated(draw.choice(EVERY_KIND), draw) for _ in range(5000)]
    assert agree(spark, write(tmp_path / "a.tnt", b"\n".join(lines))) > 500


@pytest.mark.parametrize("name", ["_hidden.tnt", "a[1].tnt", "a*.tnt", "été.tnt", "a%20b.tnt", "a=b.tnt", "a b.tnt"])
def test_names_of_every_kind(spark: SparkSession, tmp_path: Path, name: str) -> None:
    assert agree(spark, write(tmp_path / name, f"{LINE}\nwrong")) == 1


@pytest.mark.parametrize("part", [1, 2])
def test_packed_files_whole_and_cut_off(spark: SparkSession, tmp_path: Path, part: int) -> None:
    packed = gzip.compress("".join(f'<a:{n * n}> <a:p> <a:o> "{n}" .\n' for n in range(9000)).encode())
    agree(spark, write(tmp_path / "a.tnt.gz", packed[: len(packed) // part]))


def test_folders_of_mixed_formats(spark: SparkSession, tmp_path: Path) -> None:
    for number, (name, content) in enumerate(FILES.items()):
        write(tmp_path / f"part-{9 + number}{Path(name).suffix}", wrong_every_third(content(*TIMES[:7])))
    assert agree(spark, tmp_path) == 26


def test_snapshots(spark: SparkSession, tmp_path: Path) -> None:
    for time in range(1, 9):
        write(tmp_path / f"{time}.ttl", "nonsense }" if time == 4 else "" if time == 5 else f"<a:s> <a:p> [], {time}.")
    assert agree(spark, f"{tmp_path}?unit=1s") == 7
    assert spark_read(spark, f"{tmp_path}?unit=1s") == read(f"{tmp_path}?unit=1s")


def test_bombs_are_malformed(spark: SparkSession, tmp_path: Path) -> None:
    """Deep nesting, and a compressed line without end: the process that reads them goes on."""
    write(tmp_path / "1.jsonld", '{"@graph": [' * 20_000 + "]}" * 20_000)
    write(tmp_path / "2.tnt.gz", gzip.compress(b"<" + b"a" * 40_000_000))
    write(tmp_path / "3.tnt", LINE)
    found = spark_read(spark, tmp_path)
    assert found == read_one_by_one(tmp_path)
    assert len(found.elements) == 1
    nested, endless = (entry.reason for entry in found.malformed)
    assert "nested more than 500 deep" in nested
    assert "the line is longer than" in endless
