"""Rows that the survey of a stream keeps, so that tasks need not decode them again."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyoxigraph import Literal, NamedNode, Triple

from penstock.rdf.elements import Element
from penstock.rdf.errors import SourceError
from penstock.sources import open_source
from penstock.sources.batches import SCHEMA
from penstock.sources.spark import decoded
from penstock.sources.spark.decoded import Keeping
from penstock.sources.spark.ranges import Range
from penstock.sources.tables import table_of


def _range(folder: Path, decoded_rows: Path | None) -> Range:
    file = folder / "s.tnt"
    file.write_text("".join(f'<http://e/a> <http://e/p> "{n % 3}" "{n}" .\n' for n in range(20)))
    return Range(0, open_source(file, scope="s"), decoded=decoded_rows)


def _keep(part: Range) -> None:
    with Keeping(part.decoded) as keeping:
        for batch in part.batches():
            keeping.write(batch.table)


def _whole(part: Range) -> pa.Table:
    return pa.concat_tables([table.drop_columns("g").cast(SCHEMA) for table in part.tables()])


def test_rows_are_the_same_when_they_have_been_kept(tmp_path: Path) -> None:
    part = _range(tmp_path, tmp_path / "0.arrow")
    read = _whole(part)
    assert read == pa.concat_tables([batch.table for batch in part.batches()])
    _keep(part)
    (tmp_path / "s.tnt").unlink()  # it is not read again
    assert _whole(part) == read
    assert [path.name for path in tmp_path.iterdir()] == ["0.arrow"]


def test_names_of_elements_and_empty_elements_are_kept(tmp_path: Path) -> None:
    triple = Triple(NamedNode("http://e/a"), NamedNode("http://e/p"), Literal("1"))
    table = table_of([Element(1, (triple, triple), NamedNode("http://e/g")), Element(2, ())])
    with Keeping(tmp_path / "0.arrow") as keeping:
        keeping.write(table)
    (kept,) = decoded.kept_tables(tmp_path / "0.arrow") or ()
    assert kept.select(table.column_names).to_pylist() == table.to_pylist()


def test_what_is_not_complete_is_not_kept(tmp_path: Path) -> None:
    part = _range(tmp_path, tmp_path / "0.arrow")
    (tmp_path / "s.tnt").unlink()
    with pytest.raises(SourceError):
        _keep(part)
    assert not list(tmp_path.glob("0.*"))


def test_without_space_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(table: pa.Table) -> pa.Table:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(decoded, "with_numbered_terms", full)
    part = _range(tmp_path, tmp_path / "0.arrow")
    _keep(part)
    assert not list(tmp_path.glob("0.*"))
    assert _whole(part).num_rows == 20


def test_on_another_machine_the_source_is_read(tmp_path: Path) -> None:
    """The folder is not there."""
    part = _range(tmp_path, tmp_path / "elsewhere" / "0.arrow")
    _keep(part)
    assert _whole(part).num_rows == 20
