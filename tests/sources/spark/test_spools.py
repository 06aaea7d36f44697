"""Spools read by Spark: the formats that Spark users can use by themselves, and runs with a checkpoint."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from tests.runtime.test_topics import COUNT, TOLL, live, passage
from tests.sources.test_kafka import wait_until
from tests.sources.test_ldes import add

import penstock as ps
from penstock.oracle.judging import first_difference
from penstock.rdf.errors import SourceError
from penstock.rdf.results import from_json_line
from penstock.sources.spark import spools
from penstock.sources.spark.spools import SpoolStreamReader, register_sources
from penstock.sources.spool import SpoolReader, SpoolWriter
from penstock.sources.subscriptions import Arrival

FORMATS = {"mqtt": "penstock-mqtt", "sse": "penstock-sse", "ws": "penstock-websocket"}


def written(spark: SparkSession, format: str, address: str, folder: Path, **options: str) -> Any:
    """A query of Spark that writes what arrives as text."""
    read = spark.readStream.format(format).option("spool", str(folder / "spool")).options(**options).load(address)
    texts = read.selectExpr("concat(cast(value AS string), '')").writeStream.format("text")
    return texts.option("checkpointLocation", str(folder / "kept")).start(str(folder / "texts"))


def texts_in(folder: Path) -> list[str]:
    """What is in the files that Spark has committed: a query that is stopped leaves others."""
    files = {
        json.loads(line)["path"]
        for log in (folder / "texts" / "_spark_metadata").glob("[0-9]*")
        for line in log.read_text().splitlines()[1:]
    }
    return [line for file in files for line in Path(urlsplit(file).path).read_text().splitlines()]


@pytest.mark.parametrize("kind", FORMATS)
def test_formats_for_spark(
    kind: str, mosquitto: dict[str, str], web: dict[str, str], spark: SparkSession, tmp_path: Path
) -> None:
    register_sources(spark)
    address, send = live(kind, mosquitto, web)
    query = written(spark, FORMATS[kind], address, tmp_path)
    number = 0

    def has_answered() -> bool:
        nonlocal number
        assert query.exception() is None
        number += 1
        send([f"before {number}"])
        return bool(texts_in(tmp_path))

    try:
        wait_until(has_answered, 100)
        query.stop()
        send([f"meanwhile {number}" for number in range(5)])
        query = written(spark, FORMATS[kind], address, tmp_path)

        def has_continued() -> bool:
            assert query.exception() is None
            send([f"after {uuid4().hex}"])
            return any(text.startswith("after") for text in texts_in(tmp_path))

        wait_until(has_continued, 100)
    finally:
        query.stop()
    found = texts_in(tmp_path)
    assert len(set(found)) == len(found)
    held = {content.decode() for content in SpoolReader(tmp_path / "spool").read(0)["content"].to_pylist()}
    assert set(found) <= held
    if kind != "ws":
        assert {text for text in found if text.startswith("meanwhile")} == {f"meanwhile {n}" for n in range(5)}


def test_what_is_missing_is_said(spark: SparkSession, tmp_path: Path) -> None:
    register_sources(spark)
    for load, message in (
        (lambda: spark.readStream.format("penstock-sse").load("sse+http://h/t"), "needs a folder for messages"),
        (
            lambda: spark.readStream.format("penstock-sse").option("spool", str(tmp_path)).load("mqtt://h/t"),
            "penstock-sse reads sse.http://…, and the address is",
        ),
    ):
        with pytest.raises(PySparkException, match=message):
            load().writeStream.format("noop").start().awaitTermination(60)


def test_offsets_and_partitions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = SpoolWriter(tmp_path)
    for first in (0, 2, 4):
        writer.append([Arrival(b"x", None, first + n, "here") for n in range(2)])
    reader = SpoolStreamReader(tmp_path)
    monkeypatch.setattr(spools, "_MOST_BYTES", 1)
    start = reader.initialOffset()
    limit = reader.getDefaultReadLimit()
    offsets = [start]
    while (end := reader.latestOffset(offsets[-1], limit)) != offsets[-1]:
        offsets.append(end)
    assert offsets == [{"message": number} for number in (0, 2, 4, 6)]
    assert reader.latestOffset() == {"message": 6}
    rows = [batch for part in reader.partitions({"message": 1}, {"message": 5}) for batch in reader.read(part)]
    assert [number for batch in rows for number in batch["offset"].to_pylist()] == [1, 2, 3, 4]
    assert [time.timestamp() for batch in rows for time in batch["time"].to_pylist()] == [0.001, 0.002, 0.003, 0.004]


@pytest.mark.parametrize("kind", FORMATS)
def test_a_run_with_a_checkpoint(
    kind: str, mosquitto: dict[str, str], web: dict[str, str], spark: SparkSession, tmp_path: Path
) -> None:
    address, send = live(kind, mosquitto, web)
    out, kept = tmp_path / "answers.jsonl", tmp_path / "kept"
    chance = random.Random(4)
    lines = [passage(at, chance) for at in range(0, 6000, 50)]

    def start() -> Any:
        engine = ps.Engine(spark)
        engine.stream(TOLL, address)
        return engine.register(COUNT).sink(out, checkpoint=kept)

    def held() -> list[str]:
        (folder,) = (kept / "spool").glob("*")
        return [content.decode() for content in SpoolReader(folder).read(0)["content"].to_pylist()]

    def is_heard() -> bool:
        send(lines[:1])
        return bool(list((kept / "spool").glob("*"))) and len(held()) > 0

    with start():
        wait_until(is_heard, 100)
        send(lines[1:60])
        wait_until(lambda: out.exists() and out.read_text().count("\n") > 2, 100)
    if kind != "ws":
        send(lines[60:70])
    with start():
        wait_until(lambda: (send(lines[70:71]), any(line in lines[70:] for line in held()))[1], 100)
        send(lines[71:])
        send([passage(90_000, chance)])
        wait_until(lambda: '"time": 5500' in out.read_text(), 100)
    (tmp_path / "held.tnt").write_text("".join(f"{line}\n" for line in held()))
    found = [from_json_line(line) for line in out.read_text().splitlines()]
    oracle = ps.Engine()
    oracle.stream(TOLL, str(tmp_path / "held.tnt"))
    expected = list(oracle.register(COUNT).results())
    until = found[-1].time
    assert first_difference(found, [one for one in expected if one.time <= until], False) is None
    if kind != "ws":
        assert set(lines) <= set(held())


def test_an_event_stream_with_a_checkpoint(web: dict[str, str], spark: SparkSession, tmp_path: Path) -> None:
    name = uuid4().hex
    add(web, name, *range(12))
    text = """PREFIX : <http://ex.org/>
    SELECT (COUNT(?s) AS ?n) FROM STREAM :toll [RANGE 5s STEP 2s] WHERE { ?s :celsius ?c }"""
    found: dict[str, list[str]] = {}
    for kind, engine in {"spark": ps.Engine(spark), "duckdb": ps.Engine()}.items():
        engine.stream(TOLL, f"{web['ldes']}/{name}?until=now")
        out = tmp_path / f"{kind}.jsonl"
        engine.register(text).sink(out, checkpoint=tmp_path / kind).await_termination(100)
        found[kind] = out.read_text().splitlines()
    assert found["spark"] == found["duckdb"]
    assert len(found["spark"]) > 4


def test_a_refusal_ends_the_run(web: dict[str, str], spark: SparkSession, tmp_path: Path) -> None:
    engine = ps.Engine(spark)
    engine.stream(TOLL, f"sse+{web['http']}/nothing")
    run = engine.register(COUNT).sink(tmp_path / "out.jsonl", checkpoint=tmp_path / "kept")
    with pytest.raises(SourceError, match="answered 404 Not Found"):
        run.await_termination(60)
