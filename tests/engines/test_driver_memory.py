"""Half of the machine for Spark on one machine, unless somebody has said how much."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.engines.machine_memory import machine_memory
from penstock.engines.spark import driver_memory
from penstock.engines.spark.driver_memory import MEMORY
from penstock.engines.spark.session import _with_defaults

HALF = "12288m"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with 24 GB, on which nothing is set; where spark-defaults.conf would be."""
    monkeypatch.setattr(driver_memory, "machine_memory", lambda: 24 << 30)
    monkeypatch.delenv("SPARK_DRIVER_MEMORY", raising=False)
    monkeypatch.delenv("PYSPARK_SUBMIT_ARGS", raising=False)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, HALF),
        ({"spark.master": "local"}, HALF),
        ({"spark.master": "local[4]"}, HALF),
        ({MEMORY: "3g"}, "3g"),
        ({"spark.master": "local-cluster[2,1,1024]"}, None),
        ({"spark.master": "spark://head:7077"}, None),
    ],
)
def test_settings(settings: dict[str, str], expected: str | None) -> None:
    assert _with_defaults(settings).get(MEMORY) == expected


@pytest.mark.parametrize("line", ["spark.driver.memory 4g", "spark.driver.memory=4g", "spark.master yarn"])
def test_a_file_of_defaults_has_its_say(folder: Path, line: str) -> None:
    (folder / "spark-defaults.conf").write_text(f"# ours\nspark.ui.enabled false\n{line}\n")
    assert MEMORY not in _with_defaults({})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SPARK_DRIVER_MEMORY", "4g"),
        ("PYSPARK_SUBMIT_ARGS", "--driver-memory 4g pyspark-shell"),
        ("PYSPARK_SUBMIT_ARGS", "--conf spark.driver.memory=4g pyspark-shell"),
        ("PYSPARK_SUBMIT_ARGS", "--master yarn pyspark-shell"),
    ],
)
def test_the_environment_has_its_say(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    assert MEMORY not in _with_defaults({})


@pytest.mark.parametrize(
    ("own", "files", "expected"),
    [
        ("0::/", {"memory.max": "2147483648"}, 2 << 30),
        ("0::/a/b", {"a/memory.max": "1073741824", "a/b/memory.max": "max"}, 1 << 30),
        ("4:memory:/docker/x", {"memory/memory.limit_in_bytes": "1073741824"}, 1 << 30),
    ],
)
def test_a_container_has_less_than_its_machine(
    tmp_path: Path, own: str, files: dict[str, str], expected: int
) -> None:  # fmt: skip
    (tmp_path / "own").write_text(own + "\n")
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text + "\n")
    assert machine_memory(tmp_path, tmp_path / "own") == expected
