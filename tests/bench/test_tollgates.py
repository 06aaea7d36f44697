"""The tollgate experiments at tiny sizes: data, adapters, and that each gives its tables and figures."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from penstock.bench import latency, memory, scaling, throughput
from penstock.bench.answers import AnswerMismatchError, compare
from penstock.bench.context import ExperimentContext
from penstock.bench.peers import Peer, answer_of_peer
from penstock.bench.peers.closings import Closings
from penstock.bench.peers.commands import CommandPeer, PeerError
from penstock.bench.peers.pyoxigraph_windows import WAYS, PyoxigraphWindows
from penstock.bench.peers.rdflib_windows import RdflibWindows
from penstock.bench.stopwatch import processor_time_of
from penstock.bench.systems import DataFiles, Penstock
from penstock.bench.tollgates.data import STREAM, stream_lines, write_districts, write_stream
from penstock.bench.tollgates.queries import PAIRS, PASSAGES, Query

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TRIPLES = 1_500
QUERY = PASSAGES.over(1, 1)

TOY = """
import sys
import penstock
from penstock.rdf.result_batches import ResultBatch
from penstock.sinks.lines import JsonLines
engine = penstock.Engine()
engine.stream("http://ex.org/tollgates", "-")
engine.graph(sys.argv[2])
for evaluation in engine.register(open(sys.argv[1]).read()).results():
    print(JsonLines().texts(ResultBatch.of(evaluation))[0], end="")
"""


class TestData:
    def test_a_triple_a_millisecond(self) -> None:
        lines = list(stream_lines("passages", 10))
        assert len(lines) == 10
        assert lines[0].endswith('"3600001" .\n')
        assert lines[9].endswith('"3600010" .\n')

    @pytest.mark.parametrize("kind", ["passages", "speeds", "payments"])
    def test_always_the_same(self, kind: str) -> None:
        assert list(stream_lines(kind, 50)) == list(stream_lines(kind, 50))

    def test_closings_of_windows_that_are_not_empty(self) -> None:
        assert list(Closings(10, 5, [1, 2, 12])) == [(10, 0, 2)]
        assert list(Closings(10, 5, [1, 2, 12, 40])) == [(10, 0, 2), (15, 2, 3), (20, 2, 3), (40, 3, 4)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tollgates")


class TestPeers:
    @pytest.mark.parametrize("query", [QUERY, PAIRS.over(1, 1)], ids=["COUNT", "pairs"])
    @pytest.mark.parametrize("peer", [*map(PyoxigraphWindows, WAYS), RdflibWindows()], ids=[*WAYS, "rdflib"])
    def test_answers_are_penstocks(self, folder: Path, query: Query, peer: Peer) -> None:
        stream, graph = write_stream(folder, "passages", TRIPLES), write_districts(folder)
        expected = Penstock().answer(query.rspql, DataFiles({STREAM: stream}, {None: graph}))
        assert len(expected) == 1
        compare(peer.name, answer_of_peer(peer, query.asked, stream, graph), expected)

    def test_a_command_reads_the_stream_and_writes_result_lines(self, folder: Path) -> None:
        (folder / "toy.py").write_text(TOY)
        peer = CommandPeer.of("toy", f"{sys.executable} {folder / 'toy.py'}")
        stream, graph = write_stream(folder, "passages", TRIPLES), write_districts(folder)
        expected = Penstock().answer(QUERY.rspql, DataFiles({STREAM: stream}, {None: graph}))
        compare(peer.name, answer_of_peer(peer, QUERY.asked, stream, graph), expected)

    @pytest.mark.parametrize(
        ("program", "sentence"),
        [
            ("import sys; sys.exit('no engine today')", "ended with status 1: no engine today"),
            ("print('{}')", 'is not a result line: "query" is missing'),
        ],
    )
    def test_a_command_that_gives_no_answer(self, folder: Path, program: str, sentence: str) -> None:
        stream, graph = write_stream(folder, "passages", TRIPLES), write_districts(folder)
        peer = CommandPeer("broken", (sys.executable, "-c", program))
        with pytest.raises(PeerError, match=sentence):
            answer_of_peer(peer, QUERY.asked, stream, graph)

    def test_another_answer_is_told(self, folder: Path) -> None:
        stream, graph = write_stream(folder, "passages", TRIPLES), write_districts(folder)
        expected = Penstock().answer(QUERY.rspql, DataFiles({STREAM: stream}, {None: graph}))
        with pytest.raises(AnswerMismatchError, match="toy gives another answer than Penstock at 3601000: 10 rows"):
            compare("toy", {}, expected)


class TestExperiments:
    def test_throughput_leaves_out_who_answers_something_else(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(throughput, "TRIAL", TRIPLES)
        monkeypatch.setattr(throughput, "WORKLOADS", {"COUNT": (QUERY, f"{QUERY.known} {QUERY.seen}")})
        peers = {"mute": f"{sys.executable} -c pass"}
        context = ExperimentContext(folder, True, TRIPLES / 100_000, 1, ("duckdb",), peers)
        result = throughput.run(context)
        systems = [row[2] for row in result.tables[0].rows]
        assert systems == ["Penstock on DuckDB", "pyoxigraph", "pyoxigraph, by hand", "rdflib", "penstock run"]
        assert any(
            remark.startswith("mute is not timed at COUNT: mute gives another answer") for remark in result.remarks
        )
        assert any("rsp-js was skipped" in remark for remark in result.remarks)

    def test_throughput_goes_on_without_who_fails_when_it_is_timed(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*given: object) -> None:
            raise PeerError("toy did not finish within 120 s")

        monkeypatch.setattr(throughput, "TRIAL", TRIPLES)
        monkeypatch.setattr(throughput, "WORKLOADS", {"COUNT": (QUERY, f"{QUERY.known} {QUERY.seen}")})
        monkeypatch.setattr(CommandPeer, "run", fail)
        (folder / "toy.py").write_text(TOY)
        peers = {"toy": f"{sys.executable} {folder / 'toy.py'}"}
        result = throughput.run(ExperimentContext(folder, True, TRIPLES / 100_000, 1, ("duckdb",), peers))
        systems = [row[2] for row in result.tables[0].rows]
        assert systems == ["Penstock on DuckDB", "pyoxigraph", "pyoxigraph, by hand", "rdflib", "penstock run"]
        assert "toy was skipped at COUNT: toy did not finish within 120 s." in result.remarks

    def test_scaling(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(scaling, "SLIDES", {"COUNT": (PASSAGES, [(1, 1), (2, 1)])})
        result = scaling.run(ExperimentContext(folder, True, 0.01, 1, ("duckdb",)))
        first = {row[:2]: row[5] for row in reversed(result.tables[0].rows)}
        assert set(first.values()) == {1}
        assert [panel.x.label.split()[0] for panel in result.figures[0].panels] == [
            "RANGE",
            "windows",
            "triple",
            "streams",
        ]

    def test_memory_over_time(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(memory, "WORKLOADS", {"COUNT": QUERY})
        result = memory.run(ExperimentContext(folder, True, 0.008, 1, ("duckdb",)))
        [(name, short, long, growth)] = result.tables[0].rows
        assert name == "COUNT"
        assert isinstance(short, float)
        assert isinstance(long, float)
        assert growth == long / short
        assert len(result.figures[0].panels[0].series[0].points) == 20

    def test_latency(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(latency, "WORKLOADS", {"COUNT": QUERY})
        monkeypatch.setattr(latency, "WARM_UP", 2_000)
        monkeypatch.setattr(latency, "PACE", 0.01)
        result = latency.run(ExperimentContext(folder, True, 0.1, 1, ("duckdb",)))
        [(_, system, windows, *percentiles)] = result.tables[0].rows
        assert (system, windows) == ("Penstock on DuckDB", 57)
        assert percentiles == sorted(percentiles, key=lambda figure: figure or 0)


class TestOnSpark:
    def test_files_of_a_followed_folder_are_answered(
        self, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(latency, "FILE_LINES", 1_000)
        monkeypatch.setattr(latency, "WARM_UP", 1_000)
        delays = latency._spark_delays(spark, QUERY, write_districts(tmp_path), tmp_path / "followed", 3)
        assert len(delays) == 2
        assert min(delays) > 0

    def test_a_context_has_both_engines(self, spark: SparkSession, tmp_path: Path) -> None:
        context = ExperimentContext(tmp_path, _spark=spark)
        assert [system.name for system in context.systems()] == ["Penstock on DuckDB", "Penstock on Spark"]
        inputs = DataFiles({STREAM: write_stream(tmp_path, "passages", TRIPLES)}, {None: write_districts(tmp_path)})
        answers = [system.answer(QUERY.rspql, inputs) for system in context.systems()]
        assert answers[0] == answers[1]
        assert processor_time_of(spark) > processor_time_of(None)
