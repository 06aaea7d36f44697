"""What a statement of DuckDB may not do, even if somebody gets one of his own to the engine."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from penstock.engines.duckdb.store import DuckDBStore
from penstock.engines.protocol import StorageError


@pytest.fixture(params=["memory", "file"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> DuckDBStore:
    return DuckDBStore(None if request.param == "memory" else tmp_path / "state.duckdb")


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM read_csv('{file}')",
        "SELECT * FROM '{file}'",
        "SELECT * FROM read_text('/etc/passwd')",
        "COPY (SELECT 1) TO '{file}.out'",
        "ATTACH '{file}.duckdb'",
        "EXPORT DATABASE '{file}.folder'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SELECT * FROM 'http://127.0.0.1:9/x.parquet'",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "SET autoload_known_extensions = true",
    ],
)
def test_files_and_extensions_are_switched_off(engine: DuckDBStore, statement: str, tmp_path: Path) -> None:
    file = tmp_path / "secret.csv"
    file.write_text("a\nsecret\n")
    with pytest.raises((duckdb.Error, StorageError)):
        engine.connection.execute(statement.format(file=file)).fetchall()
    assert {path.name for path in tmp_path.iterdir()} <= {"secret.csv", "state.duckdb", "state.duckdb.wal"}


def test_what_does_not_fit_into_memory_is_still_put_on_disk(tmp_path: Path) -> None:
    engine = DuckDBStore(tmp_path / "state.duckdb")
    spilled = engine.connection.execute("SELECT current_setting('temp_directory')").fetchall()
    assert spilled == [(str(tmp_path / "state.duckdb.tmp"),)]
