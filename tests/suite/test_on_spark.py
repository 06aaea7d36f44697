"""The cases of the suite on Spark, each stream as a history: the same expected files (`test_suite.py`).

A statement takes Spark a second however small it is, so a run tries every third case; with PENSTOCK_TESTS=nightly, all.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests import cases

from penstock.runtime.bounded import sources_of
from penstock.runtime.history import HistoryRun
from penstock.runtime.running import RunSettings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HERE = Path(__file__).parent
EVERY = 1 if os.environ.get("PENSTOCK_TESTS") == "nightly" else 3
FOLDERS = [*cases.case_folders(HERE / "cases"), *cases.case_folders(HERE.parent / "papers" / "worked")]


@pytest.mark.parametrize("folder", FOLDERS[::EVERY], ids=lambda folder: folder.name)
def test_spark_gives_the_expected_answer(spark: SparkSession, folder: Path) -> None:
    from penstock.engines.spark import SparkEngine
    from penstock.sources.spark.frames import gathered

    case = cases.read_case(folder)
    engine = SparkEngine(spark)
    for graph, triples in case.inputs.graphs.items():
        engine.load_graph(graph, triples)
    streams = {iri: gathered(spark, source) for iri, source in sources_of(case.inputs).items()}
    how = RunSettings(lateness=case.inputs.lateness, flush=case.flush)
    run = HistoryRun(engine, case.query, streams, case.settings, how, name="q")
    cases.check(case, run.evaluations())
    engine.close()
