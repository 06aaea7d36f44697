"""`RunHandle`: a run in the background, on the embedded engine; tests/api/test_spark.py has the same for Spark."""

from __future__ import annotations

import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import penstock as ps
from penstock.algebra.inputs import InputError
from penstock.runtime.checkpoints import CheckpointError

TOLL = "http://e/toll"
SEES = "<http://e/sees>"
QUERY = f"SELECT ?car FROM STREAM <{TOLL}> [RANGE 10ms STEP 10ms] {{ ?gate <http://e/sees> ?car }}"
ROWS = [("<http://e/g>", SEES, n, n) for n in range(1, 36)]


@pytest.fixture
def engine() -> ps.Engine:
    engine = ps.Engine()
    engine.stream(TOLL, ROWS)
    return engine


class Cars:
    """A stream that the test feeds."""

    def __init__(self) -> None:
        self.times: queue.Queue[int] = queue.Queue()

    def __call__(self) -> Iterator[tuple[Any, ...]]:
        while True:
            yield "<http://e/g>", SEES, "<http://e/c>", self.times.get()

    def put(self, *times: int) -> None:
        for moment in times:
            self.times.put(moment)


def test_results_go_to_a_function(engine: ps.Engine) -> None:
    told: list[ps.Evaluation] = []
    query = engine.register(QUERY)
    with query.start(told.append) as run:
        assert run.await_termination(20)
        assert [evaluation.time for evaluation in told] == [10, 20, 30]
        assert (run.status.message, run.status.is_active, run.status.way) == ("finished", False, "embedded")
    assert run.last_progress.counts.elements == query.counts.elements == 35
    assert run.last_progress.watermark == 35
    assert run.last_progress.queries["query"].rows == 30
    assert run.exception() is None


def test_queries_join_a_run_and_leave_it() -> None:
    engine, cars, told = ps.Engine(), Cars(), queue.Queue[tuple[str, int]]()
    engine.stream(TOLL, cars)

    def teller(name: str) -> Callable[[ps.Evaluation], None]:
        return lambda evaluation: told.put((name, evaluation.time))

    first = engine.register(QUERY, name="first")
    with engine.start({first: teller("first")}) as run:
        cars.put(1, 11)
        assert told.get(timeout=20) == ("first", 10)
        second = engine.register(QUERY, name="second", duplicates="bag")
        run.add(second, teller("second"))
        with pytest.raises(InputError, match="second is already answered by this run"):
            run.add(second, print)
        cars.put(12, 21)
        assert {told.get(timeout=20), told.get(timeout=20)} == {("first", 20), ("second", 20)}
        assert run.is_active
        assert run.status.message == "running"
        engine.drop("first")
        with pytest.raises(InputError, match=r"second is the only query of this run: stop\(\) ends it"):
            run.drop(second)
        cars.put(22, 31)
        assert told.get(timeout=20) == ("second", 30)
    assert not run.is_active
    assert run.status.message == "stopped"
    with pytest.raises(InputError, match="the run has ended"):
        run.add(first, print)


def test_a_run_goes_on_from_its_checkpoint(engine: ps.Engine, tmp_path: Path) -> None:
    """Nothing is answered twice; and another query may not continue there."""
    told: list[int] = []
    query = engine.register(QUERY, late=tmp_path / "late.jsonl")
    for _ in range(2):
        with query.start(lambda evaluation: told.append(evaluation.time), checkpoint=tmp_path / "state") as run:
            assert run.wait(20)
            with pytest.raises(InputError, match="the run has ended"):
                run.add(engine.register(QUERY, name="other"), print)
    assert run.has_finished
    assert told == [10, 20, 30]
    with pytest.raises(CheckpointError, match="belongs to another run"):
        engine.register(QUERY, name="other").start(print, checkpoint=tmp_path / "state")


def test_a_stopped_run_has_not_finished(tmp_path: Path) -> None:
    """Also if nothing was due when a live stream was stopped: another run continues from the checkpoint."""
    file = tmp_path / "cars.tnt"
    file.write_text("".join(f'<http://e/g> {SEES} <http://e/c> "{time}" .\n' for time in (1, 100_000)))
    engine = ps.Engine()
    engine.stream(TOLL, f"replay+{file}")
    query = engine.register(QUERY)
    for _ in range(2):
        with query.start(print, checkpoint=tmp_path / "state") as run:
            assert not run.has_finished
            while run.counts.elements < 1:
                time.sleep(0.01)


def test_what_cannot_be_read_again_has_no_checkpoint(tmp_path: Path) -> None:
    engine = ps.Engine()
    engine.stream(TOLL, iter(ROWS))
    with pytest.raises(InputError, match="cannot be read again after a restart"):
        engine.register(QUERY).start(print, checkpoint=tmp_path)


def test_mistakes_are_raised_at_the_call(engine: ps.Engine) -> None:
    with pytest.raises(InputError, match="which is not bound"):
        engine.register(QUERY.replace(TOLL, "http://e/other")).start(print)
    with pytest.raises(ValueError, match=r"127\.0\.0\.1:1"):
        engine.register(QUERY.replace("{ ?gate", "{ SERVICE <http://127.0.0.1:1/s> { ?gate ?in ?c } ?gate")).start(
            print
        )


def test_a_function_that_raises_ends_the_run(engine: ps.Engine, caplog: pytest.LogCaptureFixture) -> None:
    def refuse(evaluation: ps.Evaluation) -> None:
        raise RuntimeError("no room for this")

    run = engine.register(QUERY, name="cars").start(refuse)
    until = time.monotonic() + 20
    while run.is_active and time.monotonic() < until:
        time.sleep(0.01)
    assert isinstance(run.exception(), RuntimeError)
    assert run.status.message == "failed: no room for this"
    reason = "the function that receives its results raised RuntimeError: no room for this"
    assert f"cars: the run failed because {reason}" in caplog.messages
    with pytest.raises(RuntimeError, match="no room for this"):
        run.stop()
    run.stop()  # it has been raised


def test_stop_ends_a_run_that_waits() -> None:
    engine, cars = ps.Engine(), Cars()
    engine.stream(TOLL, cars)
    told = threading.Event()
    run = engine.register(QUERY).start(lambda evaluation: told.set())
    cars.put(1, 11)
    assert told.wait(20)
    assert not run.wait(0)
    began = time.monotonic()
    run.stop()
    assert time.monotonic() - began < 10
    assert not run.is_active


def test_a_program_may_end_during_a_run() -> None:
    program = """
import penstock as ps
engine = ps.Engine()
a, p = "<http://ex.org/a>", "<http://ex.org/p>"
engine.stream("http://ex.org/s", [(a, p, a, time) for time in range(9999)])
query = engine.register("SELECT ?s FROM STREAM <http://ex.org/s> [RANGE 1s STEP 1ms] WHERE { ?s <http://ex.org/p> ?o }")
query.start(lambda evaluation: None)
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
