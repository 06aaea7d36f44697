"""The order of joins follows what the streams are like: most patterns of a kind now, others later."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.runtime.live import micro_batches, run_to_the_end

import penstock as ps
from penstock.algebra import ContinuousQuery
from penstock.algebra.operators import Operator
from penstock.engines.duckdb import store as duckdb
from penstock.rdf.encoding import encode
from penstock.rdf.terms import IRI
from penstock.relational.answers import Plan, compile_query
from penstock.runtime.queries import QuerySpec
from penstock.runtime.settings import RunSettings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EX = "http://ex.org/"
QUERY = f"""
    PREFIX : <{EX}>
    SELECT ?gate ?car ?alarm FROM STREAM :s [RANGE 100ms STEP 100ms]
    WHERE {{ ?gate :sees ?car . ?gate :raises ?alarm }}
"""


def elements() -> Iterator[tuple[str, str, str, int]]:
    """Many cars and few alarms; from half-way on many alarms and few cars."""
    for time in range(1, 4001):
        often, rarely = ("sees", "raises") if time <= 2000 else ("raises", "sees")
        for number in range(8):
            verb = rarely if number == 0 and time % 4 == 0 else often
            yield f"<{EX}g{(time + number) % 5}>", f"<{EX}{verb}>", f"<{EX}{verb}{(time * 8 + number) % 50}>", time


def engine() -> ps.Engine:
    found = ps.Engine()
    found.stream(f"{EX}s", elements())  # an iterator is read as it comes
    return found


def joined_first(text: str) -> str:
    plan = text.partition("\nPlan\n")[2]
    return "sees" if plan.index(":sees") < plan.index(":raises") else "raises"


def test_the_order_follows_the_data_and_the_answer_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = []

    def noting(query: ContinuousQuery, expression: Operator, *others: Any) -> Plan:
        compiled.append("sees" if str(expression).index("sees") < str(expression).index("raises") else "raises")
        return compile_query(query, expression, *others)

    monkeypatch.setattr(duckdb, "compile_query", noting)
    query = engine().register(QUERY)
    found, orders = [], {}
    for evaluation in query.results():
        found.append((evaluation.time, sorted(map(str, evaluation.rows))))
        orders[evaluation.time] = joined_first(query.explain().text)
    assert orders[1500] == "raises"
    assert orders[4000] == "sees"
    assert compiled[-1] == "sees"
    assert "raises" in compiled
    assert len(compiled) <= 6, "a statement is compiled once for an order and a shape of slices"
    as_written = engine().register(QUERY, optimize=False)
    assert found == [(e.time, sorted(map(str, e.rows))) for e in as_written.results()]


def test_explain_tells_the_sizes() -> None:
    query = engine().register(QUERY)
    assert "seen lately" not in query.explain().text
    list(query.results())
    told = query.explain().text.partition("Joined in this order, with the number of triples matched recently:")[2]
    assert ":sees ?car" in told.splitlines()[1]
    assert ":raises ?alarm" in told.splitlines()[2]


def test_on_spark_the_order_follows_the_micro_batches(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What batches are like is told by the figures that are observed as they are kept."""
    from penstock.engines.spark import store as engines
    from penstock.runtime.outlets import Callback
    from penstock.sources.spark.live import GrowingFolder

    compiled: list[str] = []

    def noting(query: ContinuousQuery, expression: Operator, *others: Any) -> Plan:
        compiled.append("sees" if str(expression).index("sees") < str(expression).index("raises") else "raises")
        return compile_query(query, expression, *others)

    monkeypatch.setattr(engines, "compile_query", noting)
    some = [element for element in elements() if element[3] % 2 == 0]
    for number in range(4):
        file = tmp_path / f"{number}.tnt"
        part = some[number * len(some) // 4 : (number + 1) * len(some) // 4]
        file.write_text("".join(f'{s} {p} {o} "{time}" .\n' for s, p, o, time in part))
        os.utime(file, (number + 1, number + 1))
    answers: dict[int, int] = {}
    sizes: dict[int, Mapping[str, int]] = {}

    def take(evaluation: ps.Evaluation) -> None:
        answers[evaluation.time] = len(evaluation.rows or ())
        sizes[evaluation.time] = run.run.store.sizes.streams[f"{EX}s"]

    folder = GrowingFolder(tmp_path, "s", files_per_batch=1)
    standing = QuerySpec(ps.parse(QUERY), "q")
    run = micro_batches(
        spark, [(standing, Callback(take))], {f"{EX}s": folder}, {}, RunSettings(windows="cluster"), is_bounded=True
    )
    run_to_the_end(run)
    assert compiled[0] == "raises"
    assert compiled[-1] == "sees"
    sees, raises = (encode(IRI(EX + name)) for name in ("sees", "raises"))
    assert sizes[900][sees] > sizes[900][raises] > 0
    assert sizes[3900][sees] < sizes[3900][raises]
    alone = ps.Engine()
    alone.stream(f"{EX}s", some)
    assert answers == {e.time: len(e.rows) for e in alone.register(QUERY, optimize=False).results()}
