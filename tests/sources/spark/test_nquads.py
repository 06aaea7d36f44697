"""N-Quads that Spark reads have the elements, in order, and the malformed pieces that the readers give."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession
from tests.rdf.collected import write
from tests.rdf.lines import (
    ODD_LINES,
    ODD_TERMS,
    ODD_TIMES,
    ORDINARY_TERMS,
    ORDINARY_TIMES,
    WRONG_TERMS,
    WRONG_TIMES,
    triples_with,
)
from tests.sources.spark.test_history import agree, mutated, small_parts, spark_read
from tests.sources.test_nquads import AT

__all__ = ["small_parts"]

TERMS = ORDINARY_TERMS + ODD_TERMS + WRONG_TERMS
TIMES = ORDINARY_TIMES + ODD_TIMES + WRONG_TIMES
NAMES = ["<a:g>", "<http://ex.org/h>", "_:i", "<a:j>", ""]
SPACED = ['<a:s> <a:p> "a" @en <a:g> .', '<a:s> <a:p> "a"\t^^ <a:t> _:g.', '<a:s><a:p>"a"@en<a:g>.', "<a:s> <a:p> _:o."]

EVERY_KIND = [
    *(f"{' '.join(triple)} {NAMES[n % 5]} ." for n, term in enumerate(TERMS) for triple in triples_with(term)),
    *(f"<a:s> <a:p> <a:o> {term} ." for term in TERMS),
    *(f'{term} {AT} "{number}" .' for number, term in enumerate((*TERMS, *NAMES[:3]))),
    *(f"<a:g{n}> {AT} {time} .\n<a:s> <a:p> <a:o> <a:g{n}> ." for n, time in enumerate(TIMES)),
    *(f"<a:s> {AT} {time} <a:h{n}> ." for n, time in enumerate(TIMES)),
    *(line.replace('"1000"', "<a:g>") for line in ODD_LINES if "\r" not in line),
    *SPACED,
]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_of_every_kind(spark: SparkSession, tmp_path: Path, end: str) -> None:
    path = write(tmp_path / "a.nq", end.join(EVERY_KIND))
    assert agree(spark, path, "http://ex.org/s#1") == 78


def test_parts_of_a_file_do_not_show(spark: SparkSession, tmp_path: Path, small_parts: None) -> None:
    lines = [*EVERY_KIND, *reversed(EVERY_KIND)]
    assert agree(spark, write(tmp_path / "a.nq", "\n".join(lines))) == 78


DOCUMENTS = [
    "",
    "\n# nothing\n",
    "<a:s> <a:p> <a:o> .\n",
    f'<a:g> {AT} "1" .\n',
    f'<a:s> <a:p> <a:o> <a:g> .\n<a:g> {AT} "soon" .\n<a:g> {AT} "7" .\n<a:g> {AT} "3" .\n',
    f'<a:s> <a:p> "1" <a:g> .\n<a:s> <a:p> "2" <a:h> .\n<a:h> {AT} "2" .\n<a:s> <a:q> "1" <a:g> .\n<a:g> {AT} "1".',
    f'<a:g> {AT} "1" .\n<a:s> <a:p> "1" <a:g> .\n<a:s> <a:p> "1" <a:g> .\n<a:s> <a:p> "0" <a:g> .\n' * 3,
    f'<a:s> {AT} "5" <a:g> .\n<a:s> {AT} "4" <a:g> .\n<a:s> <a:p> "1" <a:h> .\n',
    f'<a:s> {AT} "5" <a:g> .\n<a:g> {AT} "later" .\n',
    f'\ufeff_:s <a:p> "\\n" _:g .\r\n_:g {AT} "5" .\r\n',
    "".join(f'<a:s> <a:p> "{n}" <a:g{n % 7}> .\n<a:g{n % 5}> {AT} "{n}" .\n' for n in range(16)),
    "".join(f'<a:s> <a:p> "{n}" <a:g{n}> .\n<a:g{15 - n}> {AT} "{n}" .\n' for n in range(16)),
]


def test_graphs_of_every_kind(spark: SparkSession, tmp_path: Path) -> None:
    for number, text in enumerate(DOCUMENTS):
        write(tmp_path / f"{number}.nq", text)
    assert agree(spark, tmp_path) == 27


def test_any_quads_are_read_alike(spark: SparkSession, tmp_path: Path) -> None:
    draw = Random(1)
    lines = [mutated(draw.choice(EVERY_KIND), draw).replace(b"\r", b"") for _ in range(5000)]
    assert agree(spark, write(tmp_path / "a.nq", b"\n".join(lines))) > 30


def test_carriage_returns_within_lines(spark: SparkSession, tmp_path: Path) -> None:
    for name, end in (("a", "\r"), ("b", "\n"), ("c", "\r\n"), ("d", "\r\r\n")):
        lines = [f'<a:g{n}> {AT} "{n}" .{end}<a:s> <a:p> "{name}" <a:g{n}> .' for n in range(5)]
        write(tmp_path / f"{name}.nq", end.join(lines))
    assert agree(spark, tmp_path) == 20


def test_a_folder_has_graphs_of_the_same_name(spark: SparkSession, tmp_path: Path, small_parts: None) -> None:
    for number in range(5):
        lines = [f'_:b{n} <a:p> "{number}" <a:g{n}> .\n<a:g{n}> {AT} "{number * n}" .\n' for n in range(40)]
        write(tmp_path / f"part-{number + 7}.nq", "".join(lines) + "wrong")
    assert agree(spark, tmp_path) == 200


def test_another_time_predicate(spark: SparkSession, tmp_path: Path) -> None:
    path = write(tmp_path / "a.nq", f'<a:s> <a:at> "3" <a:g> .\n<a:g> {AT} "5" .\n')
    assert spark_read(spark, f"{path}?time=a:at").times == [3]
