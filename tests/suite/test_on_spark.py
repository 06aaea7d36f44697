"""The cases of the suite on Spark, each stream as a history: the same expected files (`test_suite.py`).

A statement takes Spark a second however small it is, so a run tries every tenth case, and those that Spark answered
with a crash once; with PENSTOCK_TESTS=nightly, all.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests import cases
from tests.histories import run_on_spark
from tests.nightly import some_of

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
TRIED = [*some_of(FOLDERS, every=10), *(folder for folder in FOLDERS if folder.name in CRASHES)]


@pytest.mark.parametrize("folder", list(dict.fromkeys(TRIED)), ids=lambda folder: folder.name)
def test_spark_gives_the_expected_answer(spark: SparkSession, folder: Path) -> None:
    case = cases.read_case(folder)
    cases.check(case, run_on_spark(spark, case.query, case.inputs, case.settings, flush=case.flush))
