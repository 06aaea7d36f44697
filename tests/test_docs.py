"""README.md, the guide and the examples' own pages: every block of code in them is run."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.documents import KINDS, ROOT, Reader, blocks, pages

PAGES = pages()
ON_SPARK = [page for page in PAGES if any(block.needs_spark for block in blocks(page))]

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def try_out(page: Path, folder: Path, **names: object) -> None:
    reader = Reader(folder, names)
    if page.is_relative_to(ROOT / "examples") and page.parent != ROOT / "examples":
        reader.enter(page.parent)
    for block in blocks(page):
        try:
            reader.read(block)
        except Exception as error:
            raise AssertionError(f"{page.relative_to(ROOT)}, line {block.line}: {error}") from error


@each_page
def test_every_block_is_of_a_kind_that_is_tried(page: Path) -> None:
    assert {block.kind for block in blocks(page) if not block.title} <= KINDS
    assert page.read_text(encoding="utf-8").count("\n```") == 2 * len(blocks(page))


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page not in ON_SPARK], ids=lambda page: str(page.relative_to(ROOT))
)
def test_a_page_says_what_is_so(page: Path, tmp_path: Path) -> None:
    try_out(page, tmp_path)


@pytest.mark.parametrize("page", ON_SPARK, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_with_spark_says_what_is_so(page: Path, tmp_path: Path, spark: SparkSession) -> None:
    """As in a notebook, there is a session."""
    try_out(page, tmp_path, spark=spark)
