"""`penstock.Engine(spark)`: DataFrames in, evaluations and DataFrames out."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from queue import Queue
from typing import TYPE_CHECKING

import pytest
from tests.logged import logged

import penstock as ps
from penstock.algebra.inputs import InputError
from penstock.rdf.errors import SourceError
from penstock.rdf.results import Evaluation
from penstock.runtime.micro_batches import StreamedRun

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

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
COUNTED = [(time, district, int(cars)) for time, district, cars in EXPECTED]
"""The same in a DataFrame, whose columns have types."""


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


def test_results_are_a_frame_with_types(engine: ps.Engine, spark: SparkSession) -> None:
    times = [(s, p, o, datetime.fromtimestamp(ts / 1000, UTC)) for s, p, o, ts in ELEMENTS]
    engine.stream(TOLL, spark.createDataFrame(times, "s string, p string, o string, ts timestamp"))
    query = engine.register(QUERY)
    plain = query.to_df().orderBy("time")
    assert dict(plain.dtypes) == {"time": "bigint", "district": "string", "cars": "bigint"}
    assert [tuple(row) for row in plain.collect()] == COUNTED
    typed = query.to_df(types={"cars": "int"}).orderBy("time")
    assert dict(typed.dtypes) == {"time": "bigint", "district": "string", "cars": "int"}
    assert [row.cars for row in typed.collect()] == [2, 1]
    terms = query.to_df(terms=True).orderBy("time").first()
    assert terms.district == f"<{EX}centre>"
    assert terms.cars == '"2"^^<http://www.w3.org/2001/XMLSchema#integer>'


def test_values_have_the_types_that_they_have_without_spark(spark: SparkSession) -> None:
    """Of each property the objects; what is not of one type is text."""
    xsd = "http://www.w3.org/2001/XMLSchema#"
    values = {
        "whole": [f'"7"^^<{xsd}integer>', f'"-8"^^<{xsd}byte>'],
        "number": [f'"7"^^<{xsd}integer>', f'"1.5"^^<{xsd}decimal>', f'"INF"^^<{xsd}double>'],
        "flag": [f'"true"^^<{xsd}boolean>', f'"0"^^<{xsd}boolean>'],
        "at": [f'"2026-01-02T03:04:05.678+01:00"^^<{xsd}dateTime>', f'"2026-01-02T03:04:05"^^<{xsd}dateTime>'],
        "large": [f'"7"^^<{xsd}integer>', f'"9223372036854775808"^^<{xsd}integer>'],
        "wrong": [f'"7"^^<{xsd}integer>', f'"seven"^^<{xsd}integer>'],
        "mixed": [f'"7"^^<{xsd}integer>', f'"true"^^<{xsd}boolean>'],
        "text": ['"7"', '"x"@en', f"<{EX}a>"],
        "date": [f'"2026-01-02"^^<{xsd}date>'],
    }
    elements = [(f"<{EX}s>", f"<{EX}{name}>", term, 1000) for name, terms in values.items() for term in terms]
    patterns = " UNION ".join(f"{{ ?s <{EX}{name}> ?{name} }}" for name in values)
    variables = " ".join(f"?{name}" for name in [*values, "none"])
    text = f"SELECT {variables} FROM STREAM <{TOLL}> [RANGE 1s STEP 1s] WHERE {{ {patterns} }}"
    tables = []
    for engine in (ps.Engine(spark), ps.Engine()):
        engine.stream(TOLL, elements)
        query = engine.register(text, flush=True)
        found = query.to_df()
        tables.append(found.toArrow() if hasattr(found, "toArrow") else query.to_arrow())
    on_spark, here = ({name: str(table.schema.field(name).type) for name in values} for table in tables)
    assert {name: kind.replace("[us,", "[ms,") for name, kind in on_spark.items()} == here
    assert (here["whole"], here["at"], here["large"]) == ("int64", "timestamp[ms, tz=UTC]", "string")
    for name in values:
        first, second = (sorted(str(value) for value in table[name].drop_null().to_pylist()) for table in tables)
        assert first == second, name


def test_a_frame_is_a_graph(spark: SparkSession) -> None:
    gates = spark.createDataFrame(
        [("north", "centre"), ("south", "centre"), ("west", None)], "gate string, district string"
    )
    made = ps.triples(gates, "?gate ex:in ?d", prefixes={"ex": EX}, gate=EX + "{gate}", d=EX + "{district}")
    assert made.columns == ["s", "p", "o"]
    engine = ps.Engine(spark)
    changing = engine.graph(made)
    engine.stream(TOLL, ELEMENTS)
    assert found(engine.register(QUERY)) == EXPECTED
    changing.remove([(f"<{EX}north>", f"<{EX}in>", f"<{EX}centre>")], at=5000)
    assert found(engine.register(QUERY, name="changed")) == EXPECTED[1:]


def test_a_graph_on_spark_stays_there(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = spark.createDataFrame(GRAPH, "s string, p string, o string")
    engine = ps.Engine(spark)
    engine.graph(frame)
    engine.graph([(f"<{EX}east>", f"<{EX}in>", f"<{EX}centre>")])
    engine.stream(TOLL, ELEMENTS)

    def fetch(graph: object) -> None:
        raise AssertionError("the driver fetches the graph")

    monkeypatch.setattr("penstock.sources.spark.frames.FrameGraph.tables", fetch)
    assert [tuple(row) for row in engine.register(QUERY).to_df().orderBy("time").collect()] == COUNTED


def test_what_is_no_graph_on_spark_is_told(spark: SparkSession) -> None:
    engine = ps.Engine(spark)
    engine.stream(TOLL, ELEMENTS)
    with pytest.raises(SourceError, match="columns s, p and o, and this frame has no 's': it has gate"):
        engine.graph(spark.createDataFrame([("north",)], "gate string"))
    with pytest.raises(InputError, match="streaming"):
        engine.graph(spark.readStream.format("rate").load())
    with pytest.raises(InputError, match=r"Engine\(spark\)"):
        ps.Engine().graph(spark.createDataFrame(GRAPH, "s string, p string, o string"))
    engine.graph(spark.createDataFrame([*GRAPH, ("north", "in", "centre")], "s string, p string, o string"))
    with pytest.raises(SourceError, match='"s":"north"'):
        found(engine.register(QUERY))


def test_terms_of_a_frame_are_written_as_n_triples(spark: SparkSession) -> None:
    xsd = "http://www.w3.org/2001/XMLSchema#"
    terms = [
        f"<{EX}a>",
        '"plain"',
        r'"a \"quote\", a \\, a line\nand a return\r"@en',
        f'"7"^^<{xsd}integer>',
        f'"7"^^<{xsd}byte>',
        f'"x y"^^<{EX}type>',
    ]
    engine = ps.Engine(spark)
    engine.stream(TOLL, [(f"<{EX}s>", f"<{EX}p>", term, 1000) for term in terms])
    query = engine.register(f"SELECT ?o FROM STREAM <{TOLL}> [RANGE 1s STEP 1s] WHERE {{ ?s ?p ?o }}", flush=True)
    assert sorted(row["o"] for row in query.to_df(terms=True).collect()) == sorted(terms)


def test_what_is_no_triple_is_left_out_with_a_warning(
    engine: ps.Engine, spark: SparkSession, caplog: pytest.LogCaptureFixture
) -> None:
    rows = [*ELEMENTS, ("north", f"<{EX}sees>", f"<{EX}car9>", 5000)]
    engine.stream(TOLL, spark.createDataFrame(rows, "s string, p string, o string, ts bigint"))
    query = engine.register(QUERY)
    with logged(caplog, "N-Triples"):
        assert found(query) == EXPECTED
    assert query.counts.malformed == 1


def test_terms_without_brackets_are_no_terms(
    engine: ps.Engine, spark: SparkSession, caplog: pytest.LogCaptureFixture
) -> None:
    rows = [(s.strip("<>"), p.strip("<>"), o.strip("<>"), ts) for s, p, o, ts in ELEMENTS]
    engine.stream(TOLL, spark.createDataFrame(rows, "s string, p string, o string, ts bigint"))
    query = engine.register(QUERY)
    with logged(caplog, "<http://ex.org/gate>"):
        assert query.to_df().count() == 0
    assert query.counts.malformed == 4


def test_long_terms_need_no_deep_stack(spark: SparkSession) -> None:
    """A pattern of Java that recurses for each character fills a stack of megabytes."""
    size = 500_000
    iris = [
        "a" * size,
        "%C3%A9" * (size // 6),
        "é" * size,
        "a/" * (size // 2),
        "?a=b&c=" * (size // 7),
        "#" + "f" * size,
    ]
    literals = ["x" * size, r"\n" * (size // 2), r"\u00e9" * (size // 6), r"a\"b" * (size // 4)]
    resources = [*(f"<{EX}{path}>" for path in iris), "_:" + "b" * size]
    objects = [*(f'"{text}"@en' for text in literals), f'"x"^^<{EX}{"t" * size}>', *resources]
    short = f"<{EX}x>"
    triples = [*((term, short, short, term) for term in resources), *((short, short, term, None) for term in objects)]
    triples += [(short, predicate, short, None) for predicate in resources[:-1]]
    rows = [(*triple, 1000) for triple in triples]
    engine = ps.Engine(spark)
    engine.stream(TOLL, spark.createDataFrame(rows, "s string, p string, o string, g string, ts bigint"))
    query = engine.register(f"SELECT (COUNT(*) AS ?n) FROM STREAM <{TOLL}> [RANGE 1s STEP 1s] WHERE {{ ?s ?p ?o }}")
    assert [int(row.value) for each in query.results() for (row,) in each.rows] == [len(rows)]  # type: ignore[union-attr]
    assert query.counts.malformed == 0


def test_what_comes_too_late_is_told_with_a_frame_too(
    engine: ps.Engine, spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = [*ELEMENTS, (f"<{EX}north>", f"<{EX}sees>", f"<{EX}car9>", 5000)]
    engine.stream(TOLL, spark.createDataFrame(rows, "s string, p string, o string, ts bigint").coalesce(1))
    query = engine.register(QUERY, late=tmp_path / "late.jsonl")
    with logged(caplog, "dropped 1 element that arrived too late"):
        assert [tuple(row) for row in query.to_df().orderBy("time").collect()] == COUNTED
    assert "car9" in (tmp_path / "late.jsonl").read_text()


def test_a_streaming_frame_has_no_end(engine: ps.Engine, spark: SparkSession) -> None:
    rate = spark.readStream.format("rate").load()
    engine.stream(
        TOLL, ps.triples(rate, "?gate ex:sees ?value", time="timestamp", prefixes={"ex": EX}, gate=EX + "north")
    )
    with pytest.raises(InputError, match="has no end"):
        engine.register(QUERY).to_df()


def test_what_is_no_triple_in_a_streaming_frame_is_left_out(
    engine: ps.Engine, spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    schema = "s string, p string, o string, ts bigint"
    wrong = [("north", f"<{EX}sees>", f"<{EX}car9>", 5000), (f"<{EX}north>", f"<{EX}sees>", f"<{EX}car8>", None)]
    parts = [ELEMENTS[:1], [ELEMENTS[1], *wrong], ELEMENTS[2:]]
    for number, part in enumerate(parts):
        spark.createDataFrame(part, schema).coalesce(1).write.mode("append").json(str(tmp_path / "in"))
        for file in (tmp_path / "in").glob("part-*"):
            if file.stat().st_mtime > 1000:
                os.utime(file, (number + 1, number + 1))
    frames = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).json(str(tmp_path / "in"))
    engine.stream(TOLL, frames)
    query = engine.register(QUERY, late=tmp_path / "late.jsonl")
    told: list[Evaluation] = []
    with logged(caplog, "N-Triples"), query.start(told.append, until_read=True) as run:
        assert run.wait(120)
    assert query.counts.malformed == 2
    assert [(one.time, *(term.value for term in row)) for one in told for row in one.rows or ()] == EXPECTED
    letters = (tmp_path / "late.jsonl").read_text()
    assert "car9" in letters
    assert "car8" in letters


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


FILES = ["".join(f'{s} {p} {o} "{ts}" .\n' for s, p, o, ts in part) for part in (ELEMENTS[:2], ELEMENTS[2:])]


def follow(engine: ps.Engine, folder: Path, *files: str) -> None:
    """The folder has some more files, each of which is later than those that are there."""
    folder.mkdir(exist_ok=True)
    before = len(list(folder.iterdir()))
    for number, text in enumerate(files, before + 1):
        (folder / f"{number}.tnt").write_text(text)
        os.utime(folder / f"{number}.tnt", (number, number))
    engine.stream(TOLL, f"{folder}?follow")


def test_each_batch_goes_to_any_writer_and_a_run_goes_on(
    engine: ps.Engine, spark: SparkSession, tmp_path: Path
) -> None:
    """Wherever a run is stopped: a batch that is repeated has the number that it had."""

    def write(frame: DataFrame, number: int) -> None:
        frame.write.mode("overwrite").parquet(str(tmp_path / "answers" / str(number)))

    for files in (FILES[:1], FILES[1:], [f'<{EX}north> <{EX}sees> <{EX}car4> "30500" .\n']):
        follow(engine, tmp_path / "toll", *files)
        query = engine.register(QUERY)
        with query.start(batches=write, types={"cars": "int"}, checkpoint=tmp_path / "checkpoint") as run:
            while len(list(tmp_path.glob("answers/*/_SUCCESS"))) < len(list((tmp_path / "toll").iterdir())) - 1:
                assert not run.wait(0.1)
    rows = spark.read.parquet(str(tmp_path / "answers" / "*")).orderBy("time").collect()
    assert [tuple(row) for row in rows] == [(t, d, int(n)) for t, d, n in EXPECTED] + [(30000, EX + "centre", 1)]


def test_evaluations_go_to_a_function_and_what_is_odd_to_a_file(
    engine: ps.Engine, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    follow(engine, tmp_path / "toll", FILES[0], "# more\nnonsense\n" + FILES[1])
    told: list[Evaluation] = []
    query = engine.register(QUERY, late=tmp_path / "late.jsonl")
    with logged(caplog, "skipped"), query.start(told.append, until_read=True) as run:
        assert run.wait(120)
    assert [(one.time, *(term.value for term in row)) for one in told for row in one.rows or ()] == EXPECTED
    assert "nonsense" in (tmp_path / "late.jsonl").read_text()


def test_a_long_error_of_a_batch_is_raised_and_spark_sees_one_line_of_it(engine: ps.Engine, tmp_path: Path) -> None:
    """Spark searches that text with a regular expression that recurses for each character."""
    follow(engine, tmp_path / "toll", *FILES)
    trace = "py4j.protocol.Py4JJavaError: An error occurred while calling o1.sql.\n" + "\tat a.B(B.scala:1)\n" * 20_000

    def fail(evaluation: Evaluation) -> None:
        raise RuntimeError(trace)

    with engine.register(QUERY).start(fail, until_read=True) as run:
        with pytest.raises(RuntimeError) as raised:
            run.wait(120)
        assert raised.value.args == (trace,)
        assert isinstance(run._background, StreamedRun)
        assert run._background._query is not None
        seen = str(run._background._query.exception())
    assert "RuntimeError: py4j.protocol.Py4JJavaError: An error occurred while calling o1.sql." in seen
    assert "B.scala" not in seen


def test_lines_come_from_a_server(engine: ps.Engine) -> None:
    told: list[Evaluation] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        text = "".join(FILES).encode()
        threading.Thread(target=lambda: server.accept()[0].sendall(text), daemon=True).start()
        engine.stream(TOLL, f"tcp://127.0.0.1:{server.getsockname()[1]}")
        with engine.register(QUERY).start(told.append) as run:
            while len(told) < 2:
                assert not run.wait(0.1)
    assert [(one.time, *(term.value for term in row)) for one in told for row in one.rows or ()] == EXPECTED


def test_a_server_and_a_checkpoint_do_not_go_together(engine: ps.Engine, tmp_path: Path) -> None:
    engine.stream(TOLL, "tcp://127.0.0.1:7700")
    with pytest.raises(InputError, match="cannot be read again"):
        engine.register(QUERY).start(print, checkpoint=tmp_path)


def test_answers_go_to_one_function_of_an_engine_on_spark(engine: ps.Engine) -> None:
    engine.stream(TOLL, ELEMENTS)
    with pytest.raises(InputError, match="batches="):
        engine.register(QUERY).start()
    with pytest.raises(InputError, match=r"Engine\(spark\)"):
        ps.Engine().register(QUERY).start(batches=lambda frame, number: None)


def test_history_runs_in_the_background_too(engine: ps.Engine) -> None:
    engine.stream(TOLL, ELEMENTS)
    told: list[Evaluation] = []
    with engine.register(QUERY).start(told.append) as run:
        assert run.wait(120)
        assert run.status.way == "history"
        assert run.last_progress.queries["query"].evaluations == 2
    assert [(one.time, *(term.value for term in row)) for one in told for row in one.rows or ()] == EXPECTED


def test_a_file_with_a_checkpoint_is_read_once(engine: ps.Engine, tmp_path: Path) -> None:
    (tmp_path / "toll.tnt").write_text("".join(FILES))
    engine.stream(TOLL, tmp_path / "toll.tnt")
    told: list[Evaluation] = []
    for _ in range(2):
        with engine.register(QUERY).start(told.append, checkpoint=tmp_path / "state") as run:
            assert run.wait(120)
            assert run.status.way == "micro-batches"
    assert [(one.time, *(term.value for term in row)) for one in told for row in one.rows or ()] == EXPECTED


def test_all_queries_are_iterated_over_streaming_sources(engine: ps.Engine, tmp_path: Path) -> None:
    follow(engine, tmp_path / "toll", *FILES)
    engine.register(QUERY, name="one")
    engine.register(QUERY, name="two")
    found = []
    for evaluation in engine.results():
        found.append((evaluation.query, evaluation.time))
        if len(found) == 4:
            engine.stop()
    assert sorted(found) == [("one", 10000), ("one", 20000), ("two", 10000), ("two", 20000)]


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


def test_the_rate_source_becomes_a_stream(spark: SparkSession) -> None:
    ticks = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 10).load()
    rows = ticks.selectExpr("value % 2 AS gate", "value AS car", "(value + 1) * 500 AS at")
    made = ps.triples(rows, "?gate ex:sees ?car", time="at", prefixes={"ex": EX}, gate=EX + "{gate}", car=EX + "{car}")
    engine = ps.Engine(spark)
    engine.stream(TOLL, made)
    assert "rows of Spark" in repr(engine)
    query = engine.register(
        f"SELECT ?gate (COUNT(?car) AS ?cars) FROM STREAM <{TOLL}> [RANGE 10s STEP 10s] "
        f"WHERE {{ ?gate <{EX}sees> ?car }} GROUP BY ?gate"
    )
    results = query.results()
    first = [next(results), next(results)]
    query.stop()
    assert [one.time for one in first] == [10000, 20000]
    assert [sorted((gate.value, cars.value) for gate, cars in one.rows or ()) for one in first] == [
        [(EX + "0", "10"), (EX + "1", "10")]
    ] * 2


def test_streams_with_disorder_wait_for_each_other(spark: SparkSession, tmp_path: Path) -> None:
    """A folder and a streaming frame: what is within the bound counts, and what is too late for its window does not."""
    engine = ps.Engine(spark)
    times = [1000, 9000, 3000, 12000, 2000, 21000, 4000]
    follow(engine, tmp_path / "toll", *(f'<{EX}a> <{EX}at> "{time}" "{time}" .\n' for time in times))
    schema = "s string, p string, o string, ts bigint"
    rows = [(f"<{EX}b>", f"<{EX}at>", f'"{time}"', time) for time in (5000, 25000)]
    spark.createDataFrame(rows, schema).coalesce(1).write.json(str(tmp_path / "other"))
    engine.stream(EX + "other", spark.readStream.schema(schema).json(str(tmp_path / "other")))
    query = engine.register(
        f"SELECT ?s (COUNT(?o) AS ?n) FROM STREAM <{TOLL}> [RANGE 10s STEP 10s] "
        f"FROM STREAM <{EX}other> [RANGE 10s STEP 10s] WHERE {{ ?s <{EX}at> ?o }} GROUP BY ?s",
        lateness="6s",
        late=tmp_path / "late.jsonl",
    )
    told: list[Evaluation] = []
    with query.start(told.append, until_read=True) as run:
        assert run.wait(200)
        assert (run.counts.elements, run.counts.late) == (9, 1)
    found = {one.time: {s.value[-1]: int(n.value) for s, n in one.rows or ()} for one in told}
    assert found == {10000: {"a": 4, "b": 1}, 20000: {"a": 1}}
    assert "4000" in (tmp_path / "late.jsonl").read_text()


def test_time_is_when_elements_arrive_if_that_is_wanted(engine: ps.Engine, tmp_path: Path) -> None:
    follow(engine, tmp_path / "toll", *FILES)
    told: list[Evaluation] = []
    before = time.time_ns() // 1_000_000
    with engine.register(QUERY, time="arrival", flush=True).start(told.append, until_read=True) as run:
        assert run.wait(120)
    assert [term.value for one in told for row in one.rows or () for term in row] == [EX + "centre", "4"]
    assert before < told[0].time <= time.time_ns() // 1_000_000 + 10_000


IN_GRAPHS = [
    (f"<{EX}north>", f"<{EX}sees>", f"<{EX}car1>", 1000, f"<{EX}g1>"),
    (f"<{EX}south>", f"<{EX}sees>", f"<{EX}car3>", 2000, f"<{EX}g1>"),
    (f"<{EX}north>", f"<{EX}sees>", f"<{EX}car2>", 1000, f"<{EX}g1>"),
    (f"<{EX}north>", f"<{EX}sees>", f"<{EX}car4>", 3000, None),
    (f"<{EX}north>", f"<{EX}sees>", f"<{EX}car5>", 3000, None),
    (f"<{EX}north>", f"<{EX}sees>", f"<{EX}car6>", 4000, f"<{EX}g2>"),
]
"""Two triples with one name and time, a later graph of the same name, and triples in no graph."""


@pytest.mark.parametrize("is_streaming", [False, True])
def test_what_has_a_graph_name_and_a_time_in_common_is_one_element(
    spark: SparkSession, tmp_path: Path, is_streaming: bool
) -> None:
    schema = "s string, p string, o string, ts bigint, g string"
    frame = spark.createDataFrame(IN_GRAPHS, schema).coalesce(1)
    engine = ps.Engine(spark)
    if is_streaming:
        frame.write.json(str(tmp_path / "in"))
        frame = spark.readStream.schema(schema).json(str(tmp_path / "in"))
    engine.stream(TOLL, frame)
    query = engine.register(
        f"SELECT (COUNT(?car) AS ?cars) (MAX(STR(?g)) AS ?name) "
        f"FROM NAMED WINDOW <{EX}w> ON STREAM <{TOLL}> [ELEMENTS 1] "
        f"WHERE {{ WINDOW <{EX}w> {{ ?gate <{EX}sees> ?car OPTIONAL {{ GRAPH ?g {{ ?gate ?sees ?car }} }} }} }}"
    )
    told: list[Evaluation] = []
    if is_streaming:
        with query.start(told.append, until_read=True) as run:
            assert run.wait(120)
    else:
        told += query.results()
    found = [(one.time, cars.value, name and name.value) for one in told for cars, name in one.rows or ()]
    assert found == [(1000, "2", f"{EX}g1"), (2000, "1", f"{EX}g1"), (3000, "1", None), (4000, "1", f"{EX}g2")]


def test_several_queries_run_over_streams_that_are_read_once(engine: ps.Engine, tmp_path: Path) -> None:
    follow(engine, tmp_path / "toll", *FILES)
    counts = engine.register(QUERY, name="counts")
    seen = engine.register(
        f"SELECT ?car FROM STREAM <{TOLL}> [RANGE 10s STEP 10s] WHERE {{ ?gate <{EX}sees> ?car }}", name="seen"
    )
    told: dict[str, list[Evaluation]] = {"counts": [], "seen": []}
    answers = {counts: told["counts"].append, seen: told["seen"].append}
    with engine.start(answers, checkpoint=tmp_path / "checkpoint", until_read=True) as run:
        assert run.wait(120)
    assert [(one.time, *(term.value for term in row)) for one in told["counts"] for row in one.rows or ()] == EXPECTED
    cars = {(one.time, car.value[-4:]) for one in told["seen"] for (car,) in one.rows or ()}
    assert cars == {(10000, "car1"), (10000, "car2"), (20000, "car1")}
    assert counts.counts.elements == seen.counts.elements == 4


def test_queries_that_cannot_run_together_are_refused(engine: ps.Engine, spark: SparkSession, tmp_path: Path) -> None:
    follow(engine, tmp_path / "toll", *FILES)
    query = engine.register(QUERY)
    with pytest.raises(InputError, match="name="):
        engine.start({query: print, engine.register(QUERY): print})
    with pytest.raises(InputError, match="lateness"):
        engine.start({query: print, engine.register(QUERY, name="other", lateness="5s"): print})
    with pytest.raises(InputError, match="this engine has registered"):
        ps.Engine(spark).start({query: print})


def test_history_answers_the_queries_that_it_began_with(engine: ps.Engine) -> None:
    """It is one job for all of them."""
    engine.stream(TOLL, ELEMENTS)
    engine.register(QUERY, name="first")
    results = engine.results()
    assert next(results).time == 10000
    with pytest.raises(InputError, match=r"engine\.stop\(\), register second, and start again"):
        engine.register(QUERY, name="second")
    assert [evaluation.time for evaluation in results] == [20000]


def test_queries_come_to_a_live_run_and_leave_it(engine: ps.Engine, tmp_path: Path) -> None:
    """Each file closes the window of the one before."""
    folder, told = tmp_path / "toll", Queue[tuple[str, int]]()

    def put(seconds: int) -> None:
        follow(engine, folder, f'<{EX}north> <{EX}sees> <{EX}car> "{seconds * 1000}" .\n')

    def teller(name: str) -> Callable[[Evaluation], None]:
        return lambda evaluation: told.put((name, evaluation.time))

    put(1)
    first = engine.register(QUERY, name="first")
    with engine.start({first: teller("first")}) as run:
        put(11)
        assert told.get(timeout=60) == ("first", 10000)
        second = engine.register(QUERY, name="second")
        run.add(second, teller("second"))
        with pytest.raises(InputError, match="second is already answered by this run"):
            run.add(second, print)
        with pytest.raises(InputError, match="tol"):
            run.add(engine.register(QUERY.replace("/toll>", "/tol>"), name="wrong"), print)
        put(21)
        assert {told.get(timeout=60), told.get(timeout=60)} == {("first", 20000), ("second", 20000)}
        engine.drop("first")
        with pytest.raises(InputError, match=r"second is the only query of this run: stop\(\) ends it"):
            run.drop(second)
        put(31)
        put(41)
        assert [told.get(timeout=60), told.get(timeout=60)] == [("second", 30000), ("second", 40000)]
        assert (first.counts.evaluations, second.counts.rows) == (2, 3)
    with pytest.raises(InputError, match="the run has ended"):
        run.add(first, print)
    engine.drop("second")
    third = engine.register(QUERY, name="third")
    with engine.start({third: print}, checkpoint=tmp_path / "checkpoint") as run:
        fourth = engine.register(QUERY, name="fourth")
        with pytest.raises(InputError, match="a checkpointed run keeps the queries it started with"):
            run.add(fourth, print)
        with pytest.raises(InputError, match="a checkpointed run keeps the queries"):
            engine.drop("third")


def test_what_only_a_dropped_query_needed_goes_with_it(engine: ps.Engine, tmp_path: Path) -> None:
    follow(engine, tmp_path / "toll", *FILES)
    giver = engine.register(
        f"REGISTER STREAM <{EX}seen> AS CONSTRUCT {{ ?car <{EX}at> ?gate }} FROM STREAM <{TOLL}> [RANGE 10s STEP 10s] "
        f"WHERE {{ ?gate <{EX}sees> ?car }}"
    )
    reader = engine.register(f"SELECT ?car FROM STREAM <{EX}seen> [RANGE 10s STEP 10s] WHERE {{ ?car ?p ?gate }}")
    other = engine.register(QUERY, name="other")
    told: list[Evaluation] = []
    with engine.start({reader: print, other: print}) as run:
        with pytest.raises(InputError, match="is not answered by this run"):
            run.drop(giver)
        run.add(giver, told.append)
        with pytest.raises(InputError, match=f"{reader.name} reads the stream that {giver.name} produces"):
            run.drop(giver)
        run.drop(reader)
        run.drop(giver)
        with pytest.raises(InputError, match="other is the only query of this run"):
            run.drop(other)


def test_windows_close_though_nothing_comes_any_more(engine: ps.Engine, tmp_path: Path) -> None:
    """By arrival time goes on by itself."""
    follow(engine, tmp_path / "toll", *FILES)
    query = engine.register(QUERY.replace("[RANGE 10s STEP 10s]", "[RANGE 2s STEP 2s]"), time="arrival")
    results = query.results()
    first = next(results)
    query.stop()
    assert [term.value for row in first.rows or () for term in row] == [EX + "centre", "4"]


def test_a_stream_that_is_silent_does_not_hold_the_others_back(engine: ps.Engine, tmp_path: Path) -> None:
    follow(engine, tmp_path / "toll", *FILES)
    (tmp_path / "other").mkdir()
    engine.stream(EX + "other", f"{tmp_path / 'other'}?follow")
    beside = QUERY.replace("WHERE", f"FROM STREAM <{EX}other> [RANGE 10s STEP 10s] WHERE")
    query = engine.register(beside, idle_timeout="1s")
    results = query.results()
    found = [next(results), next(results)]
    query.stop()
    assert [(one.time, *(term.value for term in row)) for one in found for row in one.rows or ()] == EXPECTED


@pytest.mark.parametrize("is_streaming", [False, True])
def test_a_time_without_a_zone_is_utc_and_a_text_is_none(
    spark: SparkSession, tmp_path: Path, is_streaming: bool
) -> None:
    frame = spark.createDataFrame([(f"<{EX}s>", f"<{EX}p>", "1970-01-02")], "s string, o string, day string")
    if is_streaming:
        frame.write.json(str(tmp_path / "in"))
        frame = spark.readStream.schema("s string, o string, day string").json(str(tmp_path / "in"))
    frame = frame.selectExpr("s", "s AS p", "s AS o", "day")
    engine = ps.Engine(spark)
    for text in ("day", "1.5D", "true"):
        wrong = frame.selectExpr("*", f"{text} AS ts")
        with pytest.raises(InputError, match=r"to_timestamp\(ts\)"):
            engine.stream(TOLL, wrong)
        with pytest.raises(InputError, match=r"to_timestamp\(ts\)"):
            ps.triples(wrong, "?s a ?s", time="ts", s=EX + "{day}")
    for text in ("CAST(day AS DATE)", "CAST(day AS TIMESTAMP_NTZ)", "1S"):
        engine.stream(TOLL, frame.selectExpr("*", f"{text} AS ts"))


def test_the_zone_of_the_session_does_not_count(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        frame = spark.sql("SELECT DATE'1970-01-02' AS day, TIMESTAMP_NTZ'1970-01-01 00:00:01.5' AS ntz")
        days = ps.triples(frame, "?s a ?s", time="day", s=EX + "{day}").first()
        moments = ps.triples(frame, "?s a ?s", time="ntz", s=EX + "{day}").selectExpr("unix_millis(ts) AS ts").first()
        assert (days.ts, moments.ts) == (86_400_000, 1500)
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


def test_types_are_for_what_a_query_gives_and_of_spark(engine: ps.Engine) -> None:
    engine.stream(TOLL, ELEMENTS)
    query = engine.register(QUERY)
    for name in ("zzz", "?cars", "time"):
        for wrong in (lambda types: query.to_df(types=types), lambda types: query.start(batches=print, types=types)):
            with pytest.raises(InputError, match="it returns district, cars"):
                wrong({name: "double"})
            for kind in ("dubble", "decimal(50)", "cars int"):
                with pytest.raises(InputError, match=r"double, .* or decimal\(10, 2\)"):
                    wrong({"cars": kind})
    assert dict(query.to_df(types={"cars": "Decimal(10, 2)"}).dtypes)["cars"] == "decimal(10,2)"


def test_arguments_that_make_no_triples_are_refused(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(1, 2, 1000)], "gate int, car int, at bigint")
    template = f"?gate <{EX}sees> ?car"
    with pytest.raises(InputError, match=r"gate='http://example\.org/\{gate\}'"):
        ps.triples(frame, template, time="at")
    with pytest.raises(InputError, match=r"\?car is a subject or predicate"):
        ps.triples(frame, "?gate ?car 1", time="at", gate=EX + "{gate}")
    for relative in ("gate/{gate}", "{gate}"):
        with pytest.raises(InputError, match="not an absolute IRI"):
            ps.triples(frame, template, time="at", gate=relative)
    with pytest.raises(InputError, match=r"it has \?gate, \?car; remove gaet="):
        ps.triples(frame, template, time="at", gate=EX + "{gate}", gaet=EX + "{gate}")


def test_an_engine_takes_a_session() -> None:
    with pytest.raises(InputError, match=r"takes a SparkSession, but this is 'local\[2\]'"):
        ps.Engine("local[2]")  # type: ignore[arg-type]


def test_a_function_that_raises_ends_the_run_with_a_message(
    engine: ps.Engine, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(evaluation: Evaluation) -> None:
        raise RuntimeError("no room for this")

    follow(engine, tmp_path, *FILES)
    query = engine.register(QUERY, name="cars")
    run = query.start(refuse)
    until = time.monotonic() + 60
    while run.is_active and time.monotonic() < until:
        time.sleep(0.05)
    assert not run.is_active
    assert isinstance(run.exception(), RuntimeError)
    (told,) = [record for record in caplog.records if (record.name, record.levelname) == ("penstock", "ERROR")]
    reason = "the function that receives its results raised RuntimeError: no room for this"
    assert told.message == f"cars: the run failed because {reason}"
    with pytest.raises(RuntimeError, match="no room for this"):
        run.stop()
    run.stop()  # it has been raised
    with pytest.raises(RuntimeError, match="no room for this"), query.start(refuse, until_read=True) as run:
        run.wait()


def test_a_run_that_goes_well_has_no_exception(engine: ps.Engine, tmp_path: Path) -> None:
    follow(engine, tmp_path, *FILES)
    run = engine.register(QUERY).start(lambda evaluation: None)
    assert run.is_active
    assert run.exception() is None
    run.stop()
    assert not run.is_active
