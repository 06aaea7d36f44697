"""A folder of Parquet files: what is in it, and that a run that continues leaves every answer in it once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from tests.documents import ROOT
from tests.sinks.evaluations import ASK, ASKED, CONSTRUCT, SELECT, SELECTED, constructed, ex
from tests.sinks.test_delivery import numbered

from penstock.cli import commands
from penstock.rdf.result_batches import ResultBatch
from penstock.sinks import SinkError, open_sink
from penstock.sinks.opening import SinkSettings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def rows(folder: Path) -> list[dict[str, object]]:
    return pq.read_table(folder).to_pylist()


def test_a_partition_for_each_query(tmp_path: Path) -> None:
    folder = tmp_path / "answers"
    with open_sink(folder, "parquet", SELECT, CONSTRUCT) as sink:
        for evaluation in (SELECTED, constructed(9000, ex("a"))):
            sink.write(ResultBatch.of(evaluation))
        sink.flush()
        sink.write(ResultBatch.of(numbered(9)[0]))
    assert {path.name: len(list(path.iterdir())) for path in folder.iterdir()} == {"query=q": 2, "query=a query": 1}
    (triple,) = rows(folder / "query=a query")
    assert triple == {
        "time": 9000,
        "s": "<http://ex.org/gate1>",
        "p": "<http://linkedurbandata.org/traffic#saw>",
        "o": "<http://ex.org/a>",
    }
    assert sorted(row["time"] for row in rows(folder / "query=q")) == [9, 8000, 8000]  # type: ignore[type-var]


def test_terms_are_n_triples(tmp_path: Path) -> None:
    with open_sink(tmp_path / "answers", "parquet", SELECT) as sink:
        sink.write(ResultBatch.of(SELECTED))
    first, second = rows(tmp_path / "answers")
    assert first == {
        "time": 8000,
        "gate": "<http://ex.org/gate1>",
        "cars": '"3"^^<http://www.w3.org/2001/XMLSchema#integer>',
        "query": "q",
    }
    assert second == {"time": 8000, "gate": None, "cars": '"a,b"', "query": "q"}
    with open_sink(tmp_path / "asked", "parquet", ASK) as sink:
        sink.write(ResultBatch.of(ASKED))
    assert rows(tmp_path / "asked") == [{"time": 8000, "boolean": True, "query": "q"}]


def test_files_move_after_the_commit(tmp_path: Path) -> None:
    folder, settings = tmp_path / "answers", SinkSettings((tmp_path, 0))

    def opened(position: object) -> object:
        return open_sink(folder, "parquet", SELECT, position=position, settings=settings)

    def times() -> list[object]:
        return sorted(row["time"] for row in rows(folder)) if list(folder.glob("query=*")) else []  # type: ignore[type-var]

    killed = opened(None)
    killed.write(ResultBatch.of(numbered(1)[0]))
    killed.position()  # and killed before the commit
    again = opened(None)
    again.write(ResultBatch.of(numbered(1)[0]))
    committed = again.position()
    assert times() == []  # and killed before the delivery
    third = opened(committed)
    third.deliver()
    assert times() == [1]
    third.write(ResultBatch.of(numbered(2)[0]))
    third.position()
    fourth = opened(committed)
    fourth.deliver()
    fourth.write(ResultBatch.of(numbered(2)[0]))
    fourth.position()
    fourth.deliver()
    fourth.close()
    assert times() == [1, 2]
    assert [path.name for path in folder.iterdir()] == ["query=q"]


def test_a_folder_that_has_something_is_refused(tmp_path: Path) -> None:
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers" / "notes").write_text("mine")
    with pytest.raises(SinkError, match="the folder is not empty: name a new one"):
        open_sink(tmp_path / "answers", "parquet", SELECT)


def test_executors_write_what_the_driver_would(spark: SparkSession, tmp_path: Path) -> None:
    """The same rows, with both engines; over complete streams Spark's executors write them."""
    query, stream = ROOT / "examples" / "tollgates" / "query.rq", ROOT / "examples" / "tollgates" / "tollgates.tnt"
    for engine in ("duckdb", "spark"):
        run = ["run", str(query), "--engine", engine, "--stream", str(stream), "--format", "parquet"]
        result = CliRunner().invoke(commands, [*run, "--out", str(tmp_path / engine)])
        assert result.exit_code == 0, result.output
        again = CliRunner().invoke(commands, [*run, "--out", str(tmp_path / engine)])
        assert again.exit_code == 2
        assert "the folder is not empty: name a new one" in again.output
    found = rows(tmp_path / "spark")
    assert sorted(map(str, found)) == sorted(map(str, rows(tmp_path / "duckdb")))
    assert len(found) == 6
    assert list((tmp_path / "spark").glob("query=*/_SUCCESS"))
