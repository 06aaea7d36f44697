"""Graphs at SPARQL endpoints: --graph sparql+http://…, from the command line and from Python."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.endpoint import SparqlServer, sparql_server
from tests.logged import logged

import penstock as ps
from penstock.cli import commands
from penstock.rdf.errors import SourceError
from penstock.rdf.remote_graphs import parse_remote

EX = "http://ex.org/"
QUERY = f"""
PREFIX : <{EX}>
SELECT ?gate ?city FROM STREAM :toll [RANGE 5ms STEP 5ms]
WHERE {{ ?gate :sees ?car . PATTERN }}
"""
DEFAULT = QUERY.replace("PATTERN", "?gate :in ?city")
NORTH = (f"<{EX}north>", f"<{EX}sees>", f"<{EX}car>")


@pytest.fixture
def server() -> Iterator[SparqlServer]:
    with sparql_server(":north :in :milano .") as server:
        server.load(":north :in :lombardia .", f"{EX}states")
        yield server


def command(folder: Path, name: str, graph: str, query: str = DEFAULT, more: Sequence[str] = ()) -> Result:
    (folder / "q.rq").write_text(query)
    (folder / "toll.tnt").write_text("".join(f'{" ".join(NORTH)} "{at}" .\n' for at in (1, 7)))
    given = [str(folder / "q.rq"), "--stream", str(folder / "toll.tnt"), "--graph", graph, *more]
    return CliRunner().invoke(commands, [name, *given, *([] if name == "oracle" else ["--engine", "duckdb"])])


class TestCommands:
    @pytest.mark.parametrize("option", ["", "?refresh=1h", "?timeout=5s"])
    def test_part_of_the_default_graph(self, tmp_path: Path, server: SparqlServer, option: str) -> None:
        found = command(tmp_path, "verify", f"sparql+{server.address}{option}")
        assert found.stdout == "duckdb and the oracle agree: 1 evaluation with solutions\n"
        assert server.queries == ["CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }"] * 2

    def test_named_graphs(self, tmp_path: Path, server: SparqlServer) -> None:
        query = QUERY.replace("PATTERN", "GRAPH :s { ?gate :in ?city }")
        found = command(tmp_path, "run", f":s=sparql+{server.address}?graph={EX}states&refresh=30s", query)
        assert f"{EX}lombardia" in found.stdout
        assert f"{EX}milano" not in found.stdout

    @pytest.mark.parametrize("name", ["run", "oracle", "verify"])
    def test_an_endpoint_that_fails(self, tmp_path: Path, server: SparqlServer, name: str) -> None:
        for option in ("", "?refresh=30s"):
            server.statuses = [500]
            failed = command(tmp_path, name, f"sparql+{server.address}{option}")
            assert failed.exit_code == 2
            assert failed.stderr.endswith(f"{server.address} answered 500 Internal Server Error\n")

    @pytest.mark.parametrize(
        ("graph", "told"),
        [
            ("sparql+ftp://ex.org/", "an endpoint is sparql+http://HOST/PATH or sparql+https://HOST/PATH"),
            ("sparql+http://ex.org/?refresh=often", "refresh=often: this is not a duration"),
            ("sparql+http://ex.org/?graph=cities", "'cities' is not the IRI of a graph"),
        ],
    )
    def test_what_is_no_endpoint(self, tmp_path: Path, graph: str, told: str) -> None:
        failed = command(tmp_path, "run", graph)
        assert failed.exit_code == 2
        assert told in failed.stderr


def test_what_is_said_about_an_endpoint() -> None:
    remote = parse_remote("sparql+https://ex.org/sparql?key=1&graph=%3Chttp://ex.org/g%3E&refresh=2m&timeout=5s")
    assert remote.endpoint.address == "https://ex.org/sparql?key=1"
    assert (remote.endpoint.timeout, remote.graph, remote.refresh) == (5000, "http://ex.org/g", 120_000)
    with pytest.raises(SourceError):
        parse_remote("sparql+ex.org")


class TestRefresh:
    def test_what_is_new_there_is_new_here(self, server: SparqlServer) -> None:
        """From the first instant on that is evaluated after it was fetched; runs that begin later begin with it."""
        engine = ps.Engine()
        engine.graph(f"sparql+{server.address}?refresh=20ms")
        fetched = threading.Event()

        def elements() -> Iterator[tuple[object, ...]]:
            yield from ((*NORTH, at) for at in (1, 6))
            assert fetched.wait(5)
            yield from ((*NORTH, at) for at in (11, 16))

        engine.stream(f"{EX}toll", elements())
        found = []
        for evaluation in engine.register(DEFAULT).results():
            found.append((evaluation.time, [row[1].value.removeprefix(EX) for row in evaluation.rows]))
            if not fetched.is_set():
                server.change("DELETE DATA { :north :in :milano } ; INSERT DATA { :north :in :roma }")
                asked = len(server.queries)
                while len(server.queries) < asked + 3:
                    time.sleep(0.005)
                fetched.set()
        assert found == [(5, ["milano"]), (10, ["roma"]), (15, ["roma"])]
        asked = len(server.queries)
        time.sleep(0.1)
        assert len(server.queries) <= asked + 1  # nobody reads it any more
        engine.stream(f"{EX}toll", [(*NORTH, 1), (*NORTH, 6)])
        assert [e.rows[0][1].value for e in engine.register(DEFAULT).results()] == [f"{EX}roma"]

    def test_where_it_fails_the_graph_stays(self, server: SparqlServer, caplog: pytest.LogCaptureFixture) -> None:
        engine = ps.Engine()
        engine.graph(f"sparql+{server.address}?refresh=20ms")
        failed = threading.Event()

        def elements() -> Iterator[tuple[object, ...]]:
            yield from ((*NORTH, at) for at in (1, 6))
            assert failed.wait(5)
            yield from ((*NORTH, at) for at in (11, 16))

        engine.stream(f"{EX}toll", elements())

        def each() -> Iterator[int]:
            for evaluation in engine.register(DEFAULT).results():
                yield len(evaluation.rows)
                server.statuses = [500] * 1000
                asked = len(server.queries)
                while not failed.is_set() and len(server.queries) < asked + 3:
                    time.sleep(0.005)
                failed.set()

        with logged(caplog, "500 Internal Server Error; the graph stays as it was"):
            assert list(each()) == [1, 1, 1]


class TestMerge:
    """A triple holds as long as any part of its graph has it, and nobody sees that another part has it no more."""

    TRIPLE = (f"<{EX}north>", f"<{EX}in>", f"<{EX}milano>")

    @staticmethod
    def run(engine: ps.Engine, server: SparqlServer, said: dict[int, Callable[[], None]], operator: str) -> list[int]:
        """How many solutions there are at 5, 10, 15 and 20, where things are said after some of them.

        Elements come one by one, each when the answer before it has been seen.
        """
        go_on = threading.Semaphore(0)

        def elements() -> Iterator[tuple[object, ...]]:
            yield (*NORTH, 1)
            for at in (6, 11, 16, 21):
                yield (*NORTH, at)
                assert go_on.acquire(timeout=5)

        engine.stream(f"{EX}toll", elements())
        found = []
        for evaluation in engine.register(DEFAULT, operator=operator, empty=True).results():
            found.append(len(evaluation.rows))
            if evaluation.time in said:
                said[evaluation.time]()
                asked = len(server.queries)
                while len(server.queries) < asked + 3:
                    time.sleep(0.005)
            go_on.release()
        return found

    @pytest.mark.parametrize(
        ("operator", "solutions"),
        [("rstream", [1, 1, 1, 1]), ("istream", [1, 0, 0, 0]), ("dstream", [0, 0, 0, 0])],
    )
    @pytest.mark.parametrize("other", ["file", "added", "mirror"])
    def test_what_another_part_has_stays(
        self, server: SparqlServer, tmp_path: Path, other: str, operator: str, solutions: list[int]
    ) -> None:
        engine = ps.Engine()
        with sparql_server(":north :in :milano .") as another:
            if other == "file":
                (tmp_path / "cities.nt").write_text(f"{' '.join(self.TRIPLE)} .\n")
                engine.graph(tmp_path / "cities.nt")
            elif other == "added":
                engine.graph([]).add([self.TRIPLE])
            else:
                engine.graph(f"sparql+{another.address}?refresh=20ms")
            engine.graph(f"sparql+{server.address}?refresh=20ms")
            said = {
                5: lambda: server.change("DELETE DATA { :north :in :milano }"),
                10: lambda: server.change("INSERT DATA { :north :in :milano }"),
            }
            assert self.run(engine, server, said, operator) == solutions

    def test_what_is_removed_here_stays_as_long_as_it_is_there(self, server: SparqlServer) -> None:
        engine = ps.Engine()
        graph = engine.graph([self.TRIPLE])
        engine.graph(f"sparql+{server.address}?refresh=20ms")
        said = {
            5: lambda: graph.remove([self.TRIPLE]),
            10: lambda: server.change("DELETE DATA { :north :in :milano }"),
            15: lambda: graph.add([self.TRIPLE]),
        }
        assert self.run(engine, server, said, "rstream") == [1, 1, 0, 1]

    @pytest.mark.parametrize("part", ["file", "endpoint"])
    def test_the_oracle_says_the_same(self, tmp_path: Path, server: SparqlServer, part: str) -> None:
        """D takes a triple from what was loaded, not from an endpoint that is asked again."""
        (tmp_path / "moves.changes").write_text(f'D {" ".join(self.TRIPLE)} "3" .\n')
        (tmp_path / "cities.nt").write_text(f"{' '.join(self.TRIPLE)} .\n")
        graph = str(tmp_path / "cities.nt") if part == "file" else f"sparql+{server.address}?refresh=1h"
        found = command(tmp_path, "verify", graph, more=("--graph-updates", str(tmp_path / "moves.changes")))
        agreed = "0 evaluations" if part == "file" else "1 evaluation"
        assert found.stdout == f"duckdb and the oracle agree: {agreed} with solutions\n"


class TestOnSpark:
    def test_over_history(self, server: SparqlServer, spark: object) -> None:
        engine = ps.Engine(spark)
        engine.graph(f"sparql+{server.address}?refresh=30s")
        engine.graph(f"sparql+{server.address}?graph={EX}states", f"{EX}s")
        engine.stream(f"{EX}toll", [(*NORTH, 1), (*NORTH, 7)])
        query = QUERY.replace("PATTERN", "{ ?gate :in ?city } UNION { GRAPH :s { ?gate :in ?city } }")
        (evaluation,) = engine.register(query).results()
        assert {row[1].value for row in evaluation.rows} == {f"{EX}milano", f"{EX}lombardia"}

    def test_live_what_is_new_there_is_new_here(self, server: SparqlServer, spark: object, tmp_path: Path) -> None:
        engine = ps.Engine(spark)
        engine.graph(f"sparql+{server.address}?refresh=20ms")

        def put(number: int, *times: int) -> None:
            hidden = tmp_path / f"_{number}"
            hidden.write_text("".join(f'{" ".join(NORTH)} "{at}" .\n' for at in times))
            (tmp_path / "toll").mkdir(exist_ok=True)
            hidden.rename(tmp_path / "toll" / f"{number}.tnt")

        put(1, 1, 6)
        engine.stream(f"{EX}toll", f"{tmp_path / 'toll'}?follow")
        told: list[tuple[int, list[str]]] = []

        def tell(evaluation: ps.Evaluation) -> None:
            told.append((evaluation.time, [row[1].value.removeprefix(EX) for row in evaluation.rows or ()]))

        with engine.register(DEFAULT).start(tell) as run:
            while len(told) < 1:
                assert not run.wait(0.1)
            server.change("DELETE DATA { :north :in :milano } ; INSERT DATA { :north :in :roma }")
            asked = len(server.queries)
            while len(server.queries) < asked + 3:
                time.sleep(0.005)
            put(2, 11, 16)
            while len(told) < 3:
                assert not run.wait(0.1)
        assert told == [(5, ["milano"]), (10, ["roma"]), (15, ["roma"])]
