"""Live streams on Spark give the expected answers, however often the run is ended and started again."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyoxigraph import NamedNode, Triple
from tests import cases
from tests.bounded import graphs_of
from tests.nightly import some_of
from tests.runtime.live import folders_of, micro_batches, run_live
from tests.suite.test_suite import HERE as SUITE

from penstock.algebra import Settings
from penstock.algebra.chaining import registered_name
from penstock.algebra.inputs import Inputs
from penstock.engines.spark.live_store import LiveStore
from penstock.oracle import answer
from penstock.oracle.judging import first_difference
from penstock.rdf.elements import Element, Malformed
from penstock.rdf.errors import SourceError
from penstock.rdf.result_batches import ResultBatch
from penstock.rdf.results import Evaluation
from penstock.runtime.checkpoints import CheckpointError, FolderCheckpoint
from penstock.runtime.outlets import Callback, Outlet
from penstock.runtime.queries import QuerySpec
from penstock.runtime.settings import RunSettings, Windows
from penstock.sources import blocks
from penstock.sources.spark.live import StreamedRows, socket_lines
from penstock.syntax import parse

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SAMPLE = (
    "elements-graph-variable",
    "elements-graphs-trig",
    "flush-content-change",
    "form-construct",
    "graph-that-changes-istream",
    "late-beyond-the-bound",
    "late-count-window-with-step",
    "late-two-streams",
    "operator-dstream",
    "operator-istream-of-an-ask",
    "origin-first",
    "over-a-stream-optional",
    "report-periodic",
    "streams-empty",
    "window-elements-step-rspql",
    "window-past-sparqlstream",
    "window-range-step-csparql",
    "window-step-wider-than-range",
)
"""Every kind of window, of report, of operator and of query; two streams; what came late."""


def _case(name: str) -> cases.Case:
    return cases.read_case(SUITE / "cases" / name)


@pytest.mark.parametrize("windows", ["driver", "cluster"])
@pytest.mark.parametrize("name", some_of(SAMPLE, every=2))
def test_a_live_stream_has_the_expected_answer(
    spark: SparkSession, name: str, windows: Windows, tmp_path: Path
) -> None:
    case = _case(name)
    cases.check(case, run_live(spark, case, tmp_path, windows=windows))


class CrashError(Exception):
    pass


@dataclass
class Listed(Outlet):
    """Evaluations in a list, which is cut as a file would be; `crash` is asked at every step."""

    crash: Callable[[str], None]
    evaluations: list[Evaluation] = field(default_factory=list)

    def resume(self, written: Any) -> None:
        del self.evaluations[written or 0 :]

    def write(self, batch: ResultBatch, which: range) -> None:
        self.crash("write")
        self.evaluations.extend(batch.evaluations(which))

    def position(self) -> int:
        self.crash("position")
        return len(self.evaluations)


@pytest.mark.parametrize("name", ["late-beyond-the-bound", "window-elements-step-rspql"])
def test_a_run_goes_on_where_it_was(
    spark: SparkSession, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each run is ended at its next step: as it writes, before its state is there, and before Spark knows of it."""
    case = _case(name)
    streams = folders_of(case, tmp_path, batches=3)
    ends = ["write", "position", "clean", "position", ""]

    def crash(step: str) -> None:
        if step == ends[0]:
            raise CrashError

    def clean(self: LiveStore) -> None:
        crash("clean")
        forget_files(self)

    forget_files = LiveStore.clean
    monkeypatch.setattr(LiveStore, "clean", clean)
    outlet = Listed(crash)
    while ends:
        run = micro_batches(
            spark,
            [(QuerySpec(case.query, registered_name(case.query) or "q", case.settings), outlet)],
            streams,
            graphs_of(case.inputs),
            RunSettings(lateness=case.inputs.lateness, flush=case.flush, has_empty=True),
            checkpoint=tmp_path / "checkpoint",
            is_bounded=True,
        )
        try:
            run.start()
            assert run.wait(300)
        except CrashError:
            assert not run.run.has_finished
        finally:
            run.stop()
        ends.pop(0)
    assert run.run.has_finished
    cases.check(case, outlet.evaluations)


GATES = """
PREFIX : <http://ex.org/>
REGISTER STREAM {name} AS
SELECT ?gate (COUNT(?car) AS ?cars) FROM NAMED WINDOW :w ON :toll [RANGE {width} STEP {step}]
WHERE {{ WINDOW :w {{ ?gate :lets ?car }} }} GROUP BY ?gate
"""
TOLL = "http://ex.org/toll"
PER_BATCH = 20


def test_several_queries_read_rows_that_spark_streams(spark: SparkSession) -> None:
    """They come until somebody stops them; a batch is kept once for all queries, as long as one needs it."""
    texts = {
        "fast": GATES.format(name=":fast", width="PT0.4S", step="PT0.2S"),
        "slow": GATES.format(name=":slow", width="PT3S", step="PT1S"),
    }
    queries = {name: parse(text, "rspql") for name, text in texts.items()}
    found: dict[str, list[Evaluation]] = {name: [] for name in queries}
    standing = [(QuerySpec(query, name), Callback(found[name].append)) for name, query in queries.items()]
    run = micro_batches(spark, standing, {TOLL: StreamedRows(_tolls)})
    run.start()
    while len(found["slow"]) < 6:  # of the fifth batch, so that those before have been evicted
        assert not run.wait(0.1)
    run.stop()
    kept = len(run.run.store.log.segments)
    assert kept < run.run.queries[0].counts.elements / PER_BATCH
    elements = [_toll(number) for number in range(run.run.queries[0].counts.elements)]
    for name, query in queries.items():
        expected = answer(query, Inputs({TOLL: elements}), Settings(), name=name).evaluations
        until = found[name][-1].time
        difference = first_difference(found[name], [one for one in expected if one.time <= until], False)
        assert difference is None, difference.text


def _tolls(spark: SparkSession) -> DataFrame:
    """A car passes one of three gates every 100 ms."""
    numbers = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", PER_BATCH).load()
    return numbers.selectExpr(
        "concat('Ihttp://ex.org/gate', value % 3) s",
        "'Ihttp://ex.org/lets' p",
        "concat('Ihttp://ex.org/car', value) o",
        "(value + 1) * 100 ts",
    )


def _toll(number: int) -> Element:
    gate, lets, car = (NamedNode(f"http://ex.org/{name}") for name in (f"gate{number % 3}", "lets", f"car{number}"))
    return Element((number + 1) * 100, (Triple(gate, lets, car),))


def test_lines_come_from_a_server(spark: SparkSession) -> None:
    """An odd line is an element, and a malformed one is none, and told."""
    lines = [
        f'<http://ex.org/gate{n % 3}> <http://ex.org/lets> <http://ex.org/car{n}> "{n * 100}" .' for n in range(60)
    ]
    text = "\n".join([*lines[:9], "nonsense", "  " + lines[9] + " # odd", *lines[10:], ""]).encode()
    query = parse(GATES.format(name=":fast", width="PT2S", step="PT1S"), "rspql")
    found: list[Evaluation] = []
    told: list[Malformed] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=lambda: server.accept()[0].sendall(text), daemon=True).start()
        stream = socket_lines(*server.getsockname(), scope="s")
        run = micro_batches(
            spark,
            [(QuerySpec(query), Callback(found.append))],
            {TOLL: stream},
            on_malformed=lambda stream, entry: told.append(entry),
        )
        run.start()
        while len(found) < 4:
            assert not run.wait(0.1)
        run.stop()
    assert [malformed.text for malformed in told] == ["nonsense"]
    elements = [_toll(n)._replace(time=n * 100) for n in range(60)]
    expected = answer(query, Inputs({TOLL: elements}), Settings(), name="query").evaluations
    difference = first_difference(found, expected[: len(found)], False)
    assert difference is None, difference.text


def test_a_line_without_end_is_a_dead_letter(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of lines that are too long little is kept; those around them count, and one that has not ended yet waits."""
    monkeypatch.setattr(blocks, "LONGEST_LINE", 1 << 20)
    monkeypatch.setattr(blocks, "MOST_BYTES", 1000)
    lines = [
        f'<http://ex.org/gate{n % 3}> <http://ex.org/lets> <http://ex.org/car{n}> "{n * 100}" .\n' for n in range(60)
    ]
    query = parse(GATES.format(name=":fast", width="PT2S", step="PT1S"), "rspql")
    found: list[Evaluation] = []
    told: list[Malformed] = []

    def serve() -> None:
        with suppress(OSError):
            connected = server.accept()[0]
            connected.sendall("".join(lines[:20]).encode())
            connected.sendall(b"<http://ex.org/long> " + b"x" * (3 << 20) + b"\n")
            connected.sendall("".join(lines[20:]).encode())
            while True:
                connected.sendall(b"y" * (1 << 20))

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve, daemon=True).start()
        stream = socket_lines(*server.getsockname(), scope="s")
        run = micro_batches(
            spark,
            [(QuerySpec(query), Callback(found.append))],
            {TOLL: stream},
            on_malformed=lambda stream, entry: told.append(entry),
        )
        run.start()
        while len(found) < 4:
            assert not run.wait(0.1)
        run.stop()
    assert [(one.text[:23], len(one.text), one.reason) for one in told] == [
        ("<http://ex.org/long> xx", 201, "the line is longer than 33.6 MB: is a line end missing?")
    ]
    elements = [_toll(n)._replace(time=n * 100) for n in range(60)]
    expected = answer(query, Inputs({TOLL: elements}), Settings(), name="query").evaluations
    difference = first_difference(found, expected[: len(found)], False)
    assert difference is None, difference.text


def test_a_server_that_is_not_there(spark: SparkSession) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        host, port = server.getsockname()
    with pytest.raises(SourceError, match=f"refused by tcp://{host}:{port}: start the server first"):
        socket_lines(host, port, scope="s").streamed(spark)


class Segments:
    """A store without any."""

    def clean(self) -> None:
        """There is nothing to remove."""


def test_a_checkpoint_is_of_one_run(tmp_path: Path) -> None:
    FolderCheckpoint(tmp_path, "this run", Segments()).close()
    FolderCheckpoint(tmp_path, "this run", Segments()).close()
    with pytest.raises(CheckpointError, match="another run"):
        FolderCheckpoint(tmp_path, "that run", Segments())


def test_the_latest_state_is_kept(tmp_path: Path) -> None:
    states = FolderCheckpoint(tmp_path, "", Segments())
    assert states.latest is None
    for number in (9, 10, 11):
        states.commit(number, {"batch": number}, has_finished=number == 11)
        assert states.latest == {"batch": number}
        assert states.has_finished == (number == 11)
    assert [path.name for path in (tmp_path / "state").iterdir()] == ["11.json"]
