"""SERVICE from the command line and from Python, with an endpoint on loopback."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.endpoint import SparqlServer, sparql_server

import penstock as ps
from penstock.cli import commands

QUERY = """
PREFIX : <http://ex.org/>
SELECT ?gate ?city FROM STREAM :toll [RANGE 5ms STEP 5ms]
WHERE { ?gate :sees ?car SERVICE <ENDPOINT> { ?gate :in ?city } }
"""
NORTH = ("<http://ex.org/north>", "<http://ex.org/sees>", "<http://ex.org/car>")


@pytest.fixture
def server() -> Iterator[SparqlServer]:
    with sparql_server(":north :in :milano .") as server:
        yield server


@pytest.fixture
def stream(tmp_path: Path) -> Path:
    file = tmp_path / "toll.tnt"
    file.write_text("".join(f'{" ".join(NORTH)} "{at}" .\n' for at in (1, 7, 12)))
    return file


def command(name: str, address: str, stream: Path, *options: str, query: str = QUERY) -> Result:
    file = stream.with_name("q.rq")
    file.write_text(query.replace("ENDPOINT", address))
    engine = [] if name == "oracle" else ["--engine", "duckdb"]
    return CliRunner().invoke(commands, [name, str(file), "--stream", str(stream), *engine, *options])


class TestCommands:
    def test_run_and_the_oracle_answer_alike(self, server: SparqlServer, stream: Path) -> None:
        found = command("run", server.address, stream, "--format", "csv")
        assert found.stdout == (
            "time,gate,city\n5,http://ex.org/north,http://ex.org/milano\n10,http://ex.org/north,http://ex.org/milano\n"
        )
        assert command("oracle", server.address, stream, "--format", "csv").stdout == found.stdout
        verified = command("verify", server.address, stream)
        assert verified.stdout == "duckdb and the oracle agree: 2 evaluations with solutions\n"
        assert len(server.queries) == 3  # once for each command

    def test_what_is_asked(self, server: SparqlServer, stream: Path) -> None:
        command("run", server.address, stream)
        assert server.queries == ["SELECT ?gate ?city\nWHERE {\n  ?gate <http://ex.org/in> ?city .\n}\n"]

    @pytest.mark.parametrize("name", ["run", "oracle", "verify"])
    def test_an_endpoint_that_does_not_answer(self, server: SparqlServer, stream: Path, name: str) -> None:
        server.statuses = [500]
        failed = command(name, server.address, stream)
        assert failed.exit_code == 2
        assert failed.stderr.endswith(f"error: {server.address} answered 500 Internal Server Error\n")

    def test_silently(self, server: SparqlServer, stream: Path) -> None:
        server.statuses = [500]
        query = QUERY.replace("SERVICE", "SERVICE SILENT")
        found = command("run", server.address, stream, "--format", "csv", query=query)
        assert found.stdout == "time,gate,city\n5,http://ex.org/north,\n10,http://ex.org/north,\n"

    def test_a_timeout(self, server: SparqlServer, stream: Path) -> None:
        server.delay = 0.5
        failed = command("run", server.address, stream, "--service-timeout", "20ms")
        assert failed.exit_code == 2
        assert "has not answered within 0.02 s" in failed.stderr

    def test_endpoints_that_nobody_knows(self, stream: Path) -> None:
        query = QUERY.replace("<ENDPOINT>", "?car")
        failed = command("run", "", stream, query=query)
        assert failed.exit_code == 2
        assert "SERVICE ?car asks endpoints that nobody knows beforehand: name them" in failed.stderr

    def test_a_window_inside(self, stream: Path) -> None:
        query = """
        PREFIX : <http://ex.org/>
        SELECT * FROM NAMED WINDOW :w ON :toll [RANGE PT5S STEP PT5S]
        WHERE { SERVICE :endpoint { WINDOW :w { ?gate :sees ?car } } }
        """
        failed = command("run", "", stream, query=query)
        assert failed.exit_code == 2
        assert "read the window outside of SERVICE" in failed.stderr


class TestRefresh:
    def test_a_new_answer_holds_for_the_instants_evaluated_from_then_on(self, server: SparqlServer) -> None:
        """That is 10, of which nobody knows that it is over before the element of 12 comes. ISTREAM compares with 5."""
        query = QUERY.replace("ENDPOINT", server.address)
        engine = ps.Engine()
        given = threading.Event()
        engine.stream("http://ex.org/toll", self._elements(given))
        found = []
        for evaluation in engine.register(query, operator="istream", service_refresh="20ms").results():
            found.append((evaluation.time, [row[1].value for row in evaluation.rows]))
            if evaluation.time == 5:
                server.change("DELETE DATA { :north :in :milano } ; INSERT DATA { :north :in :roma }")
                self._wait_for_an_answer_to_be_read(server)
                given.set()
        assert found == [(5, ["http://ex.org/milano"]), (10, ["http://ex.org/roma"])]

    @staticmethod
    def _elements(given: threading.Event) -> Iterator[tuple[object, ...]]:
        yield (*NORTH, 1)
        yield (*NORTH, 6)
        given.wait(5)
        yield (*NORTH, 12)
        yield (*NORTH, 17)

    @staticmethod
    def _wait_for_an_answer_to_be_read(server: SparqlServer) -> None:
        asked = len(server.queries)
        while len(server.queries) < asked + 3:
            time.sleep(0.005)

    def test_an_endpoint_that_fails_later_keeps_its_answer(self, server: SparqlServer) -> None:
        query = QUERY.replace("ENDPOINT", server.address)
        engine = ps.Engine()
        given = threading.Event()
        engine.stream("http://ex.org/toll", self._elements(given))

        def each() -> Iterator[int]:
            for evaluation in engine.register(query, service_refresh="20ms").results():
                yield len(evaluation.rows)
                server.statuses = [500] * 1000
                if not given.is_set():
                    self._wait_for_an_answer_to_be_read(server)
                    given.set()

        with pytest.warns(UserWarning, match="what it answered before goes on to hold") as warned:
            assert list(each()) == [1, 1, 1]
        assert len(warned) == 1


def test_on_spark(server: SparqlServer, stream: Path, spark: object) -> None:
    engine = ps.Engine(spark)
    engine.stream("http://ex.org/toll", str(stream))
    query = engine.register(QUERY.replace("ENDPOINT", server.address))
    assert [evaluation.rows[0][1].value for evaluation in query.results()] == ["http://ex.org/milano"] * 2
