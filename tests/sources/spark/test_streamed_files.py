"""Files that Spark finds, as the driver reads them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pyarrow as pa
import pytest

from penstock.rdf.addresses import parse_address
from penstock.rdf.elements import Malformed
from penstock.rdf.errors import SourceError
from penstock.sources.spark.live import GrowingFolder, LiveInput, WholeSource


class FoundFiles:
    """A micro-batch as far as it is asked here: the names of files."""

    sparkSession = SimpleNamespace(conf=SimpleNamespace(get=lambda name, default: default))  # noqa: N815

    def __init__(self, *files: Path) -> None:
        names = [f"file:{file}" for file in files]
        self._table = pa.table({"stream": [0] * len(files), "file": names, "modified": range(len(files))})

    def where(self, condition: str) -> FoundFiles:
        return self

    def select(self, *columns: str) -> FoundFiles:
        return self

    def toArrow(self) -> pa.Table:  # noqa: N802
        return self._table


def test_a_file_that_was_removed_is_reported_and_the_others_are_read(tmp_path: Path) -> None:
    there = tmp_path / "1.tnt"
    there.write_text('<http://e/a> <http://e/p> <http://e/b> "1000" .')
    odd: list[tuple[int, Malformed]] = []
    batch = cast(Any, FoundFiles(there, tmp_path / "2.tnt"))
    found = LiveInput([GrowingFolder(tmp_path, "s")]).read(batch, lambda place, entry: odd.append((place, entry)))
    assert isinstance(found, dict)
    assert found[0]["ts"].to_pylist() == [1000]
    assert [(place, Path(entry.place).name) for place, entry in odd] == [(0, "2.tnt")]


@pytest.mark.parametrize("name", ["_gates.tnt", ".gates.tnt"])
def test_a_file_that_spark_ignores_is_an_error(tmp_path: Path, name: str) -> None:
    """Otherwise the run would end without an element."""
    (tmp_path / name).write_text('<http://e/a> <http://e/p> <http://e/b> "1000" .')
    with pytest.raises(SourceError, match=f"{name}: Spark ignores"):
        WholeSource(parse_address(tmp_path / name), "s").streamed(cast(Any, None))
