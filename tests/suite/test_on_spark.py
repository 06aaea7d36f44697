"""The cases of the suite in each of the ways in which Spark answers: the same expected files (`test_suite.py`).

Windows beside the driver need no Spark job, so a run tries all cases. Tasks over ranges run in this process, and a run
tries a third. What Spark runs takes a second however small it is: a run tries some, and those that Spark SQL answered
with a crash once. With PENSTOCK_TESTS=nightly, all.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests import cases
from tests.bounded import run_in
from tests.histories import run_on_spark
from tests.nightly import some_of
from tests.ways import NO_SESSION, NotByRangesError, Reread, live_windows, run_tasks_here

from penstock.runtime.settings import Windows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HERE = Path(__file__).parent
FOLDERS = [*cases.case_folders(HERE / "cases"), *cases.case_folders(HERE.parent / "papers" / "worked")]
CRASHES = {
    "found-sum-distinct-beside-a-path",
    "found-minus-in-a-union",
    "found-subselect-in-a-union",
    "found-relative-names",
}
BY_SQL = [*some_of(FOLDERS, every=20), *(folder for folder in FOLDERS if folder.name in CRASHES)]


def each(folders: object) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("folder", folders, ids=lambda folder: folder.name)


@each(FOLDERS)
def test_windows_beside_the_driver(folder: Path) -> None:
    case = cases.read_case(folder)
    with live_windows("driver", kind=Reread) as store:
        found = run_in(store, case.query, case.inputs, case.settings, flush=case.flush, name="q", batch_elements=2)
        cases.check(case, found)


@each(some_of(FOLDERS[3:], every=40))
def test_windows_on_the_cluster(spark: SparkSession, folder: Path) -> None:
    case = cases.read_case(folder)
    with live_windows("cluster", spark) as store:
        found = run_in(store, case.query, case.inputs, case.settings, flush=case.flush, name="q", batch_elements=9)
        cases.check(case, found)


@each(some_of(FOLDERS, every=3))
def test_ranges(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    run_tasks_here(monkeypatch)
    try:
        check_history(NO_SESSION, folder, windows="auto", is_in_files=True)
    except NotByRangesError:
        pytest.skip("Spark SQL answers it: test_spark_sql")


@each(some_of(FOLDERS[7:], every=40))
def test_ranges_in_executors(spark: SparkSession, folder: Path) -> None:
    check_history(spark, folder, windows="auto", is_in_files=True)


@each(some_of(FOLDERS[11:], every=40))
def test_rows_of_spark_in_executors(spark: SparkSession, folder: Path) -> None:
    check_history(spark, folder, windows="auto")


@each(list(dict.fromkeys(BY_SQL)))
def test_spark_sql(spark: SparkSession, folder: Path) -> None:
    check_history(spark, folder, windows="cluster")


def check_history(spark: SparkSession, folder: Path, *, windows: Windows, is_in_files: bool = False) -> None:
    case = cases.read_case(folder)
    found = run_on_spark(
        spark, case.query, case.inputs, case.settings, flush=case.flush, is_in_files=is_in_files, windows=windows
    )
    cases.check(case, found)
