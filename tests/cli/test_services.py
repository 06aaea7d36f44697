"""SERVICE from the command line and from Python, with an endpoint on loopback."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.endpoint import SparqlServer, sparql_server
from tests.logged import logged

import penstock as ps
from penstock.algebra.services import service_calls
from penstock.cli import commands
from penstock.engines.duckdb.store import DuckDBStore
from penstock.runtime.services import Services
from penstock.sources.services import ServiceSettings

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
        assert "did not answer within 0.02 s" in failed.stderr

    def test_endpoints_that_nobody_knows(self, stream: Path) -> None:
        query = QUERY.replace("<ENDPOINT>", "?car")
        failed = command("run", "", stream, query=query)
        assert failed.exit_code == 2
        assert "the endpoints of SERVICE ?car are not known in advance: name them" in failed.stderr

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

    def test_an_endpoint_that_fails_later_keeps_its_answer(
        self, server: SparqlServer, caplog: pytest.LogCaptureFixture
    ) -> None:
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

        with logged(caplog, "its last answer is still used") as warned:
            assert list(each()) == [1, 1, 1]
        assert len(warned) == 1


class TestSharing:
    """Queries of a run that ask the same service, each at instants of its own."""

    QUICK = QUERY.replace("?gate ?city FROM", "?city FROM")
    SLOW = QUICK.replace("[RANGE 5ms STEP 5ms]", "[RANGE 10ms STEP 10ms]")
    NEVER = QUICK.replace("[RANGE 5ms STEP 5ms]", "[RANGE 1h STEP 1h]")

    @staticmethod
    def engine(server: SparqlServer, queries: dict[str, str], **settings: object) -> ps.Engine:
        engine = ps.Engine()
        for name, query in queries.items():
            engine.register(query.replace("ENDPOINT", server.address), name=name, service_refresh="20ms", **settings)
        return engine

    @staticmethod
    def said_to(
        engine: ps.Engine, server: SparqlServer, of: str, said: dict[int, str]
    ) -> list[tuple[str, int, list[str]]]:
        """What is found where the endpoint hears of an update when a query has been answered at an instant.

        Elements come one by one, each when the answers before it have been seen.
        """
        go_on = threading.Semaphore(0)

        def elements() -> Iterator[tuple[object, ...]]:
            yield (*NORTH, 1)
            for at in (6, 11, 16, 21, 22):
                yield (*NORTH, at)
                assert go_on.acquire(timeout=5)

        engine.stream("http://ex.org/toll", elements())
        found = []
        for evaluation in engine.results():
            cities = sorted(row[0].value.removeprefix("http://ex.org/") for row in evaluation.rows)
            found.append((evaluation.query, evaluation.time, cities))
            if evaluation.query == of:
                if evaluation.time in said:
                    server.change(said[evaluation.time])
                    TestRefresh._wait_for_an_answer_to_be_read(server)
                go_on.release(2 if evaluation.time == 20 else 1)
        return found

    @pytest.mark.parametrize("queries", [{"never": NEVER, "quick": QUICK}, {"quick": QUICK, "never": NEVER}])
    def test_what_is_new_reaches_each_query(self, server: SparqlServer, queries: dict[str, str]) -> None:
        """Also if the one that was registered first is never answered."""
        engine = self.engine(server, queries)
        said = {5: "INSERT DATA { :north :in :roma }", 10: "DELETE DATA { :north :in :milano }"}
        found = self.said_to(engine, server, "quick", said)
        assert [cities for _, _, cities in found] == [["milano"], ["milano", "roma"], ["roma"], ["roma"]]

    @pytest.mark.parametrize("operator", ["istream", "dstream"])
    @pytest.mark.parametrize("queries", [{"quick": QUICK, "slow": SLOW}, {"slow": SLOW, "quick": QUICK}])
    def test_each_query_compares_with_its_own_instant_before(
        self, server: SparqlServer, queries: dict[str, str], operator: str
    ) -> None:
        engine = self.engine(server, queries, operator=operator, empty=True)
        said = {
            10: "INSERT DATA { :north :in :roma }",
            15: "DELETE DATA { :north :in :roma } ; INSERT DATA { :north :in :torino }",
        }
        found = self.said_to(engine, server, "quick", said)
        own = {name: [cities for query, _, cities in found if query == name] for name in queries}
        if operator == "istream":
            assert own == {"quick": [["milano"], [], ["roma"], ["torino"]], "slow": [["milano"], ["torino"]]}
        else:
            assert own == {"quick": [[], [], [], ["roma"]], "slow": [[], []]}

    def test_a_query_that_begins_later_finds_what_held_then(self, server: SparqlServer) -> None:
        """Its stream is behind: others have been answered, and the endpoint has said something else since."""
        late = self.QUICK.replace(":toll", ":late")
        engine = self.engine(server, {"quick": self.QUICK, "late": late}, t0="first", idle_timeout="20ms")
        moves = {5: "roma", 10: "torino", 15: "napoli"}

        def behind() -> Iterator[tuple[object, ...]]:
            until = time.monotonic() + 5
            while not server.store.query("ASK { ?north ?in <http://ex.org/napoli> }"):
                assert time.monotonic() < until
                time.sleep(0.005)
            yield from ((*NORTH, at) for at in (2, 7, 12))

        engine.stream("http://ex.org/late", behind())
        said = {
            at: f"DELETE {{ ?n :in ?c }} INSERT {{ ?n :in :{to} }} WHERE {{ ?n :in ?c }}" for at, to in moves.items()
        }
        found = self.said_to(engine, server, "quick", said)
        assert [entry for entry in found if entry[0] == "late"] == [("late", 6, ["milano"]), ("late", 11, ["roma"])]

    def test_who_leaves_takes_nothing_along(self, server: SparqlServer) -> None:
        engine, call = DuckDBStore(), service_calls(ps.parse(QUERY.replace("ENDPOINT", server.address)))
        services = Services(engine, ServiceSettings(refresh=20), warnings.warn)
        services.begin("first", call)
        services.begin("second", call)
        assert len(server.queries) == 1
        services.leave("first")
        TestRefresh._wait_for_an_answer_to_be_read(server)
        services.leave("second")
        time.sleep(0.1)
        asked = len(server.queries)
        time.sleep(0.1)
        assert len(server.queries) == asked
        services.begin("third", call)
        assert len(server.queries) == asked + 1
        services.close()


def test_on_spark(server: SparqlServer, stream: Path, spark: object) -> None:
    engine = ps.Engine(spark)
    engine.stream("http://ex.org/toll", str(stream))
    query = engine.register(QUERY.replace("ENDPOINT", server.address))
    assert [evaluation.rows[0][1].value for evaluation in query.results()] == ["http://ex.org/milano"] * 2


def test_live_on_spark_what_is_new_reaches_each_query(server: SparqlServer, spark: object, tmp_path: Path) -> None:
    engine = ps.Engine(spark)
    (tmp_path / "toll").mkdir()

    def put(number: int, *times: int) -> None:
        hidden = tmp_path / f"_{number}"
        hidden.write_text("".join(f'{" ".join(NORTH)} "{at}" .\n' for at in times))
        hidden.rename(tmp_path / "toll" / f"{number}.tnt")

    put(1, 1, 6)
    engine.stream("http://ex.org/toll", f"{tmp_path / 'toll'}?follow")
    never, quick = (
        engine.register(query.replace("ENDPOINT", server.address), name=name, service_refresh="20ms")
        for name, query in (("never", TestSharing.NEVER), ("quick", TestSharing.QUICK))
    )
    told: list[str] = []
    answers = {never: lambda evaluation: None, quick: lambda evaluation: told.append(evaluation.rows[0][0].value)}
    with engine.start(answers) as run:
        while len(told) < 1:
            assert not run.wait(0.1)
        server.change("DELETE DATA { :north :in :milano } ; INSERT DATA { :north :in :roma }")
        TestRefresh._wait_for_an_answer_to_be_read(server)
        put(2, 11, 12)
        while len(told) < 2:
            assert not run.wait(0.1)
    assert told == ["http://ex.org/milano", "http://ex.org/roma"]


class TestCredentials:
    """They reach the endpoint, and nobody else."""

    BASIC = "Basic YW5hOnMzYw=="

    def test_options_and_the_environment(
        self, server: SparqlServer, stream: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("run", "oracle"):
            assert command(name, server.address, stream, "--service-auth", f"{server.address}=ana:s3c").exit_code == 0
        monkeypatch.setenv("PENSTOCK_SERVICE_AUTH", f"{server.address}=Bearer t")
        assert command("run", server.address, stream, "--graph", f"sparql+{server.address}").exit_code == 0
        assert server.authorizations == [self.BASIC, self.BASIC, "Bearer t", "Bearer t"]

    def test_from_python(self, server: SparqlServer) -> None:
        engine = ps.Engine(service_auth={server.address: "ana:s3c"})
        engine.stream("http://ex.org/toll", [(*NORTH, 1), (*NORTH, 7)])
        engine.graph(f"sparql+{server.address}")
        query = engine.register(QUERY.replace("ENDPOINT", server.address), service_max_size="1MB")
        assert len(list(query.results())) == 1
        assert server.authorizations == [self.BASIC, self.BASIC]
        assert "s3c" not in repr(engine) + repr(query.options)

    def test_in_the_address_are_shown_nowhere(self, server: SparqlServer, stream: Path) -> None:
        address = server.address.replace("://", "://ana:s3c@")
        folder = stream.with_name("kept")
        found = command("run", address, stream, "--checkpoint", str(folder), "--out", str(stream.with_name("a.jsonl")))
        assert found.exit_code == 0
        assert server.authorizations == [self.BASIC]
        written = [file.read_bytes() for file in stream.parent.rglob("*") if file.is_file() and file.name != "q.rq"]
        assert len(written) >= 3
        assert not any(b"s3c" in content for content in written)
        server.statuses = [404]
        explained = [
            CliRunner().invoke(commands, ["explain", str(stream.with_name("q.rq")), "--format", format])
            for format in ("text", "json", "dot", "svg", "html", "sql")
        ]
        assert [result.exit_code for result in explained] == [0] * 6
        assert "from service" in explained[0].stdout
        failed = [
            command("run", address, stream),
            command("run", address, stream, query=QUERY.replace("?city }", "?city ; }}")),
        ]
        assert [result.exit_code for result in failed] == [2, 2]
        assert not any("s3c" in result.output for result in explained + failed)

    def test_what_is_none(self, server: SparqlServer, stream: Path) -> None:
        result = command("run", server.address, stream, "--service-auth", "s3c")
        assert result.exit_code == 2
        assert "write URL=USER:PASSWORD or URL=Bearer TOKEN" in result.stderr
        assert "s3c" not in result.stderr


def test_files_are_no_services(stream: Path) -> None:
    for name in ("run", "oracle"):
        result = command(name, stream.as_uri(), stream)
        assert result.exit_code == 2
        assert "write an http or https address" in result.stderr


@pytest.mark.parametrize("address", ["file:///etc/passwd", "data:text/plain,x", "ftp://localhost/x"])
def test_on_spark_only_http_is_asked(address: str, stream: Path, spark: object) -> None:
    engine = ps.Engine(spark)
    engine.stream("http://ex.org/toll", str(stream))
    query = engine.register(QUERY.replace("ENDPOINT", address))
    with pytest.raises(ValueError, match="write an http or https address"):
        list(query.results())


def test_the_size_of_an_answer(server: SparqlServer, stream: Path) -> None:
    result = command("run", server.address, stream, "--service-max-size", "100")
    assert result.exit_code == 2
    assert "returned more than 100 bytes" in result.stderr
