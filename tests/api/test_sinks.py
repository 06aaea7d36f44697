"""`query.sink` and `engine.sink`: answers to several targets, with and without a checkpoint."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.endpoint import sparql_server
from tests.sinks.brokers import consumed, new_topic
from tests.sinks.test_receivers import evaluated
from tests.sinks.webhooks import webhook

import penstock as ps
from penstock.algebra.inputs import InputError
from penstock.rdf.results import from_json_line
from penstock.sinks import SinkError

TOLL = "http://e/toll"
SEES = "<http://e/sees>"
QUERY = f"SELECT ?car FROM STREAM <{TOLL}> [RANGE 10ms STEP 10ms] {{ ?gate <http://e/sees> ?car }}"
CONSTRUCT = f"""CONSTRUCT {{ ?car <http://e/at> ?gate }} FROM STREAM <{TOLL}> [RANGE 10ms STEP 10ms]
WHERE {{ ?gate <http://e/sees> ?car }}"""
ROWS = [("<http://e/g>", SEES, f"<http://e/c{n}>", n) for n in range(1, 36)]


@pytest.fixture
def engine() -> ps.Engine:
    engine = ps.Engine(retry_timeout="100ms")
    engine.stream(TOLL, ROWS)
    return engine


def times(file: Path) -> list[int]:
    return [from_json_line(line).time for line in file.read_text().splitlines()]


def test_answers_go_to_several_targets(engine: ps.Engine, tmp_path: Path) -> None:
    told: list[ps.Evaluation] = []
    query = engine.register(CONSTRUCT, name="cars")
    with sparql_server() as server, webhook() as hook:
        update, posts = f"sparql+{server.address}", f"{hook.address}?format=trig"
        with query.sink(
            tmp_path / "answers.jsonl", str(tmp_path / "answers.tnt?format=tnt"), told.append, update, posts
        ) as run:
            assert run.wait(20)
        assert [evaluation.time for evaluation in told] == [10, 20, 30]
        assert times(tmp_path / "answers.jsonl") == [10, 20, 30]
        assert len((tmp_path / "answers.tnt").read_text().splitlines()) == 30
        assert [one.key for one in hook.received] == ["cars/10/0", "cars/20/0", "cars/30/0"]
        assert len(server.store) == 3 + 30
    assert query.counts.evaluations == 3


def test_all_queries_of_an_engine_share_their_sinks(engine: ps.Engine, tmp_path: Path) -> None:
    told: list[tuple[str, int]] = []
    engine.register(QUERY, name="one")
    engine.register(CONSTRUCT, name="two")
    with engine.sink(tmp_path / "answers.jsonl", lambda one: told.append((one.query, one.time))) as run:
        assert run.wait(20)
    assert sorted(told) == [(name, moment) for name in ("one", "two") for moment in (10, 20, 30)]
    assert times(tmp_path / "answers.jsonl") == [10, 10, 20, 20, 30, 30]
    with engine.sink(tmp_path / "folder", format="parquet") as run:
        assert run.wait(20)
    assert sorted(path.name for path in (tmp_path / "folder").iterdir()) == ["query=one", "query=two"]


def test_an_answer_without_solutions_has_a_header(engine: ps.Engine, tmp_path: Path) -> None:
    query = engine.register(QUERY.replace("sees", "misses"))
    with query.sink(tmp_path / "answers.csv", format="csv") as run:
        assert run.wait(20)
    assert (tmp_path / "answers.csv").read_text() == "time,car\n"


def test_what_cannot_be_written_is_an_error_at_once(engine: ps.Engine, tmp_path: Path) -> None:
    query = engine.register(QUERY)
    with pytest.raises(SinkError, match="tnt is for CONSTRUCT or DESCRIBE"):
        query.sink(tmp_path / "a", format="tnt")
    with pytest.raises(SinkError, match="there is no sink for ftp://"):
        query.sink("ftp://host/a")
    with pytest.raises(SinkError, match="does not answer"):
        query.sink("mqtt://127.0.0.1:1/a")
    with pytest.raises(InputError, match="a sink is a file, an address or a function, but this is 7"):
        query.sink(7)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="a target is missing"):
        query.sink()
    with pytest.raises(InputError, match="a query is missing"):
        ps.Engine().sink("a")


def test_a_receiver_that_is_slow_holds_the_stream_back(tmp_path: Path) -> None:
    """Memory is bounded: the stream is read only a little further. And the run can be stopped."""
    read = 0

    def cars() -> Iterator[tuple[Any, ...]]:
        nonlocal read
        for number in range(1, 10_000_000):
            read = number
            yield "<http://e/g>", SEES, f"<http://e/c{number}>", number

    engine = ps.Engine()
    engine.stream(TOLL, cars)
    query = engine.register(QUERY)
    with webhook() as hook:
        hook.statuses = [503] * 1_000_000
        run = query.sink(hook.address)
        before = -1
        while read != before:
            before = read
            time.sleep(0.5)
        assert 0 < read < 200_000
        began = time.monotonic()
        run.stop()
        assert time.monotonic() - began < 5
        assert hook.received == []


def test_what_a_finished_run_had_not_delivered_is_delivered_by_the_next(
    engine: ps.Engine, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The run was killed between its last commit and the delivery: here, the webhook refused."""
    query = engine.register(QUERY)
    with webhook() as hook:
        hook.statuses = [404]
        run = query.sink(hook.address, tmp_path / "answers.jsonl", checkpoint=tmp_path / "state")
        with pytest.raises(SinkError, match="404"):
            run.wait(20)
        run.stop()
        assert hook.received == []
        for _ in range(2):
            with query.sink(hook.address, tmp_path / "answers.jsonl", checkpoint=tmp_path / "state") as again:
                assert again.wait(20)
            assert [one.key for one in hook.received] == ["query/10/0", "query/20/0", "query/30/0"]
    assert times(tmp_path / "answers.jsonl") == [10, 20, 30]


def test_kafka_has_the_answers_of_a_run_that_was_stopped_and_started(kafka: dict[str, str], tmp_path: Path) -> None:
    """Each run is stopped somewhere; the stream is read again from where the last commit says."""
    topic = new_topic(kafka["address"])
    (tmp_path / "toll").mkdir()
    for number in range(20):
        lines = (f'<http://e/g> {SEES} <http://e/c{n}> "{n}" .\n' for n in range(number * 100, number * 100 + 100))
        (tmp_path / "toll" / f"{number:02}.tnt").write_text("".join(lines))
    stops = 0
    while True:
        engine = ps.Engine()
        engine.stream(TOLL, f"replay+{tmp_path / 'toll'}?speed=2")
        query = engine.register(QUERY)
        run = query.sink(f"kafka://{kafka['address']}/{topic}", checkpoint=tmp_path / "state")
        if run.wait(0.2):
            break
        run.stop()
        stops += 1
    assert run.has_finished
    found = evaluated(consumed(kafka["address"], topic))
    assert [evaluation.time for evaluation in found] == list(range(10, 2000, 10))
    assert all(len(evaluation.rows or ()) == 10 for evaluation in found)
    assert stops > 0
