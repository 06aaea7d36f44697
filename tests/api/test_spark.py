"""`penstock.Engine(spark)`: DataFrames in, evaluations and DataFrames out."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import penstock as ps
from penstock.algebra.inputs import InputError
from penstock.rdf.errors import SourceError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EX = "http://ex.org/"
TOLL = EX + "toll"
QUERY = f"""
    PREFIX : <{EX}>
    SELECT ?district (COUNT(?car) AS ?cars)
    FROM STREAM <{TOLL}> [RANGE 10s STEP 10s]
    WHERE {{ ?gate :sees ?car . ?gate :in ?district }}
    GROUP BY ?district
"""
ELEMENTS = [
    (f"<{EX}north>", f"<{EX}sees>", f"<{EX}car1>", 1000),
    (f"<{EX}north>", f"<{EX}sees>", f"<{EX}car2>", 4000),
    (f"<{EX}south>", f"<{EX}sees>", f"<{EX}car1>", 12000),
    (f"<{EX}south>", f"<{EX}sees>", f"<{EX}car3>", 21000),
]
GRAPH = [(f"<{EX}{gate}>", f"<{EX}in>", f"<{EX}centre>") for gate in ("north", "south")]
EXPECTED = [(10000, EX + "centre", "2"), (20000, EX + "centre", "1")]


@pytest.fixture
def engine(spark: SparkSession) -> ps.Engine:
    engine = ps.Engine(spark)
    engine.graph(GRAPH)
    return engine


def found(query: object) -> list[tuple[int, str, str]]:
    return [(each.time, *(term.value for term in row)) for each in query.results() for row in each.rows]  # type: ignore[attr-defined]


def test_a_frame_is_a_stream(engine: ps.Engine, spark: SparkSession) -> None:
    engine.stream(TOLL, spark.createDataFrame(ELEMENTS, "s string, p string, o string, ts bigint"))
    assert found(engine.register(QUERY)) == EXPECTED


def test_a_list_is_a_stream_too(engine: ps.Engine) -> None:
    engine.stream(TOLL, ELEMENTS)
    assert found(engine.register(QUERY)) == EXPECTED


def test_a_file_is_read_by_spark(engine: ps.Engine, tmp_path: Path) -> None:
    file = tmp_path / "toll.tnt"
    file.write_text("".join(f'{s} {p} {o} "{ts}" .\n' for s, p, o, ts in ELEMENTS))
    engine.stream(TOLL, file)
    assert found(engine.register(QUERY)) == EXPECTED


def test_results_are_a_frame_with_types_on_request(engine: ps.Engine, spark: SparkSession) -> None:
    times = [(s, p, o, datetime.fromtimestamp(ts / 1000, UTC)) for s, p, o, ts in ELEMENTS]
    engine.stream(TOLL, spark.createDataFrame(times, "s string, p string, o string, ts timestamp"))
    query = engine.register(QUERY)
    plain = query.to_df().orderBy("time")
    assert [tuple(row) for row in plain.collect()] == EXPECTED
    typed = query.to_df(types={"cars": "int"}).orderBy("time")
    assert dict(typed.dtypes) == {"time": "bigint", "district": "string", "cars": "int"}
    assert [row.cars for row in typed.collect()] == [2, 1]
    terms = query.to_df(terms=True).orderBy("time").first()
    assert terms.district == f"<{EX}centre>"
    assert terms.cars == '"2"^^<http://www.w3.org/2001/XMLSchema#integer>'


def test_what_is_no_triple_is_left_out_with_a_warning(engine: ps.Engine, spark: SparkSession) -> None:
    rows = [*ELEMENTS, ("north", f"<{EX}sees>", f"<{EX}car9>", 5000)]
    engine.stream(TOLL, spark.createDataFrame(rows, "s string, p string, o string, ts bigint"))
    query = engine.register(QUERY)
    with pytest.warns(UserWarning, match="N-Triples"):
        assert found(query) == EXPECTED
    assert query.counts.malformed == 1


def test_a_frame_without_the_columns_of_a_stream_is_refused(engine: ps.Engine, spark: SparkSession) -> None:
    with pytest.raises(SourceError, match=r"penstock\.triples"):
        engine.stream(TOLL, spark.createDataFrame([(1, 2)], "gate int, car int"))


def test_a_frame_needs_an_engine_on_spark(spark: SparkSession) -> None:
    frame = spark.createDataFrame(ELEMENTS, "s string, p string, o string, ts bigint")
    with pytest.raises(InputError, match=r"Engine\(spark\)"):
        ps.Engine().stream(TOLL, frame)


def test_a_streaming_frame_is_answered_as_it_comes(engine: ps.Engine, spark: SparkSession, tmp_path: Path) -> None:
    schema = "s string, p string, o string, ts bigint"
    spark.createDataFrame(ELEMENTS, schema).coalesce(1).write.json(str(tmp_path / "in"))
    engine.stream(TOLL, spark.readStream.schema(schema).json(str(tmp_path / "in")))
    query = engine.register(QUERY)
    evaluations = query.results()
    first, second = next(evaluations), next(evaluations)
    query.stop()
    assert [(each.time, *(term.value for term in row)) for each in (first, second) for row in each.rows] == EXPECTED


def test_columns_become_triples_by_a_template(engine: ps.Engine, spark: SparkSession) -> None:
    rows = [("north", "AB 1", 71.5, 1000), ("north", "AB/2", None, 4000), ("south", 'C"3', 80.0, 12000)]
    frame = spark.createDataFrame(rows, "gate string, plate string, speed double, at bigint")
    made = ps.triples(
        frame,
        "?gate ex:sees ?car . ?car ex:speed ?speed ; ex:plate ?plate",
        time="at",
        prefixes={"ex": EX},
        gate=EX + "{gate}",
        car=EX + "car/{plate}",
    )
    assert [tuple(row) for row in made.where("ts = 1000").collect()] == [
        (f"<{EX}north>", f"<{EX}sees>", f"<{EX}car/AB%201>", 1000),
        (f"<{EX}car/AB%201>", f"<{EX}speed>", '"71.5"^^<http://www.w3.org/2001/XMLSchema#double>', 1000),
        (f"<{EX}car/AB%201>", f"<{EX}plate>", '"AB 1"', 1000),
    ]
    assert made.where("ts = 4000").count() == 2
    engine.stream(TOLL, made)
    assert found(engine.register(QUERY, flush=True)) == EXPECTED


def test_a_template_that_names_no_column_is_refused(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("north", 1000)], "gate string, at bigint")
    with pytest.raises(InputError, match="it has gate, at"):
        ps.triples(frame, "?gate <http://ex.org/sees> ?car", time="at", gate=EX + "{gate}")
    with pytest.raises(InputError, match="'ts'"):
        ps.triples(frame, "?gate a ?gate", time="ts")
