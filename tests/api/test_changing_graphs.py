"""Graphs that change while a query runs: by their handles, by a file, and as the oracle has it."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import NamedNode, Triple

import penstock as ps
from penstock.algebra import Settings
from penstock.algebra.inputs import GraphTriple, Inputs
from penstock.api.oracle_inputs import with_updates
from penstock.cli import commands
from penstock.engines.duckdb.store import DuckDBStore
from penstock.engines.protocol import Slice
from penstock.oracle import answer
from penstock.rdf.changes import Change
from penstock.rdf.elements import Element
from penstock.runtime import changing_graphs
from penstock.runtime.changing_graphs import ChangingGraphs
from penstock.sources.graph_updates import GraphUpdates, Update
from penstock.sources.graphs import graph_of_triples
from penstock.sources.mirrors import Mirror

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EX = "http://ex.org/"
GATES, CITIES = ("north", "south"), ("milano", "roma")


def triple(subject: str, predicate: str, target: str) -> tuple[str, str, str]:
    return (f"<{EX}{subject}>", f"<{EX}{predicate}>", f"<{EX}{target}>")


def sees(time: int) -> tuple[object, ...]:
    return (*triple(GATES[time % 2], "sees", f"car{time}"), time)


def waiting(first: Sequence[int], said: threading.Event, later: Sequence[int]) -> Iterator[tuple[object, ...]]:
    """A live stream that goes on when something has been said."""
    yield from map(sees, first)
    assert said.wait(5)
    yield from map(sees, later)


def query(pattern: str, form: str = "SELECT ?gate ?city") -> str:
    return f"PREFIX : <{EX}> {form} FROM STREAM :toll [RANGE 5ms STEP 5ms] WHERE {{ ?gate :sees ?car . {pattern} }}"


JOINED = query("?gate :in ?city")
PATTERNS = (
    "?gate :in ?city",
    "OPTIONAL { ?gate :in ?city }",
    "?gate :in ?city FILTER NOT EXISTS { ?other :in ?city FILTER (?other != ?gate) }",
    "MINUS { ?gate :in :milano } OPTIONAL { ?gate :in|:sees ?city }",
    "GRAPH :cities { ?gate :in ?city }",
)

Found = list[tuple[int, list[tuple[str, ...]]]]


def found_by(evaluations: Iterator[ps.Evaluation]) -> Found:
    return [(e.time, sorted(tuple(map(str, row)) for row in e.rows)) for e in evaluations if e.rows]


class Said(NamedTuple):
    """A change, and the element before which it was said by the handle."""

    before: int
    at: int
    added: bool
    gate: str
    city: str

    @property
    def triple(self) -> tuple[str, str, str]:
        return triple(self.gate, "in", self.city)


@st.composite
def changes(draw: st.DrawFn) -> list[Said]:
    said = []
    for before in sorted(draw(st.lists(st.integers(1, 20), max_size=8))):
        at = draw(st.integers(before, 25))  # an instant is over when an element after it has come
        said.append(Said(before, at, draw(st.booleans()), draw(st.sampled_from(GATES)), draw(st.sampled_from(CITIES))))
    return said


class TestLaw:
    """A handle while the query runs = a file of changes from the start = the oracle."""

    @given(
        changes(), st.sets(st.sampled_from(GATES)), st.sampled_from(PATTERNS), st.sampled_from(("rstream", "istream"))
    )
    @settings(max_examples=25)
    def test_whoever_says_it(self, said: list[Said], there: set[str], pattern: str, operator: str) -> None:
        static = [triple(gate, "in", "milano") for gate in there]
        iri = f"{EX}cities" if "GRAPH" in pattern else None
        by_handle = self._by_handle(said, static, iri, query(pattern), operator)
        expected = found_by(iter(self._by_oracle(said, static, iri, query(pattern), operator)))
        assert by_handle == expected
        assert self._from_the_start(said, static, iri, query(pattern), operator) == expected

    @staticmethod
    def _by_handle(said: Sequence[Said], static: list[object], iri: str | None, text: str, operator: str) -> Found:
        engine = ps.Engine()
        graph = engine.graph(static, iri)

        def elements() -> Iterator[tuple[object, ...]]:
            for time in range(1, 22):
                for change in said:
                    if change.before == time:
                        (graph.add if change.added else graph.remove)([change.triple], at=change.at)
                yield sees(time)

        engine.stream(f"{EX}toll", elements())
        return found_by(engine.register(text, operator=operator).results())

    @staticmethod
    def _from_the_start(said: Sequence[Said], static: list[object], iri: str | None, text: str, operator: str) -> Found:
        engine = ps.Engine()
        graph = engine.graph(static, iri)
        for change in said:
            (graph.add if change.added else graph.remove)([change.triple], at=change.at)
        engine.stream(f"{EX}toll", [sees(time) for time in range(1, 22)])
        return found_by(engine.register(text, operator=operator).results())

    @staticmethod
    def _by_oracle(
        said: Sequence[Said], static: list[object], iri: str | None, text: str, operator: str
    ) -> Sequence[ps.Evaluation]:
        stream = [Element(time, (_parsed(sees(time)[:3]),)) for time in range(1, 22)]
        held = [GraphTriple(_parsed(entry)) for entry in static]
        changed = with_updates(held, [Change(change.at, change.added, _parsed(change.triple)) for change in said])
        inputs = Inputs({f"{EX}toll": stream}, {iri: changed})
        return answer(ps.parse(text), inputs, Settings(operator=operator)).evaluations


def _parsed(terms: object) -> Triple:
    subject, predicate, target = (NamedNode(term[1:-1]) for term in terms)  # type: ignore[attr-defined]
    return Triple(subject, predicate, target)


class TestHandles:
    def test_without_an_instant_from_the_next_one_on(self) -> None:
        engine = ps.Engine()
        graph = engine.graph([triple("north", "in", "milano"), triple("south", "in", "milano")])
        said = threading.Event()
        engine.stream(f"{EX}toll", waiting((1, 6), said, (11, 16)))
        cities = []
        for evaluation in engine.register(JOINED).results():
            cities.append((evaluation.time, evaluation.rows[0][1].value.removeprefix(EX)))
            if evaluation.time == 5:
                graph.remove([triple("north", "in", "milano"), triple("south", "in", "milano")])
                graph.add([triple("north", "in", "roma"), triple("south", "in", "roma")])
                said.set()
        assert cities == [(5, "milano"), (10, "roma"), (15, "roma")]

    def test_what_has_been_evaluated_never_changes(self) -> None:
        engine = ps.Engine()
        graph = engine.graph([triple("south", "in", "milano")])
        said = threading.Event()
        engine.stream(f"{EX}toll", waiting((1, 6), said, (7, 11)))
        results = engine.register(JOINED).results()
        assert next(results).time == 5
        with pytest.raises(ValueError, match="cannot change at 5, because instants up to 5 have been evaluated"):
            graph.remove([triple("south", "in", "milano")], at=5)
        said.set()
        assert len(list(results)) == 1
        graph.remove([triple("south", "in", "milano")], at=5)  # nobody evaluates any more

    def test_another_thread_may_say_it(self) -> None:
        engine = ps.Engine()
        graph = engine.graph([])
        said, asked = threading.Event(), threading.Event()

        def say() -> None:
            asked.wait(5)
            graph.add([triple(gate, "in", "roma") for gate in GATES], at="1970-01-01T00:00:00.008Z")
            said.set()

        threading.Thread(target=say, daemon=True).start()
        engine.stream(f"{EX}toll", waiting((1, 6), said, (7, 11)))
        times = []
        for evaluation in engine.register(JOINED, empty=True).results():
            times.append((evaluation.time, len(evaluation.rows)))
            asked.set()
        assert times == [(5, 0), (10, 2)]

    def test_every_run_sees_all_that_was_said(self) -> None:
        engine = ps.Engine()
        graph = engine.graph([])
        engine.stream(f"{EX}toll", [sees(time) for time in (1, 6, 11)])
        registered = engine.register(JOINED)
        assert list(registered.results()) == []
        graph.add([triple("south", "in", "roma")])
        assert [time for time, _ in found_by(registered.results())] == [5]
        assert [time for time, _ in found_by(registered.results())] == [5]

    def test_over_a_stream_each_solution_comes_once(self) -> None:
        """SPARQL over a stream: a graph that begins to change is no reason to say a thing again."""
        engine = ps.Engine()
        graph = engine.graph([triple("south", "in", "milano")])
        said = threading.Event()
        engine.stream(f"{EX}toll", waiting((1, 2), said, (3, 4)))
        text = f"PREFIX : <{EX}> SELECT ?car ?city WHERE {{ ?gate :sees ?car . ?gate :in ?city }}"
        cars = []
        for evaluation in engine.register(text, dialect="sparql").results():
            cars += [row[0].value.removeprefix(EX) for row in evaluation.rows]
            if evaluation.time == 1:
                graph.add([triple("north", "in", "milano")])
                said.set()
        assert cars == ["car1", "car2", "car3", "car4"]

    def test_what_is_over_is_forgotten(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A graph may change for ever: what nobody asks about any more is not kept."""
        monkeypatch.setattr(changing_graphs, "_ENOUGH", 3)
        engine, updates = DuckDBStore(), GraphUpdates()
        engine.load_graph(None, graph_of_triples([]))
        graphs = ChangingGraphs(engine, {None: updates})
        graphs.begin("query")
        for time in range(100):
            here = _parsed(triple("car", "at", f"place{time}"))
            updates.say([Update(2 * time, True, here), Update(2 * time + 2, False, here)])
            graphs.follow("query", Slice([2 * time], 2 * time - 2))
        assert len(engine.rows("SELECT * FROM graph_1_changed")) <= 3
        assert len(graphs._changes[None]) <= 9

    @given(st.lists(st.tuples(st.integers(0, 2), st.booleans(), st.sampled_from(CITIES)), max_size=20))
    @settings(max_examples=50)
    def test_a_triple_holds_as_long_as_any_part_has_it(self, steps: list[tuple[int, bool, str]]) -> None:
        """Whether or not it is remembered which parts have a triple."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(changing_graphs, "_ENOUGH", 0)
            mirrors = Elsewhere(), Elsewhere()
            engine, updates = DuckDBStore(), GraphUpdates(mirrors=mirrors)
            triples = {city: _parsed(triple("south", "in", city)) for city in CITIES}
            parts: list[set[Triple]] = [{triples["milano"]}, set(), set()]
            engine.load_graph(None, graph_of_triples([GraphTriple(entry) for entry in parts[0]]))
            graphs = ChangingGraphs(engine, {None: updates})
            graphs.begin("query")
            before = set(parts[0])
            for time, (part, added, city) in enumerate(steps):
                (parts[part].add if added else parts[part].discard)(triples[city])
                if part == 0:
                    updates.say([Update(None, added, triples[city])])
                else:
                    mirrors[part - 1].now = frozenset(parts[part])
                graphs.follow("query", Slice([time], time - 1))
                now = set.union(*parts)
                held = engine.held(None, list(triples.values()))
                for at, expected in ((time - 1, before), (time, now), (time + 1, now)):
                    assert {
                        entry for entry, (start, end) in held if start <= at and (end is None or at < end)
                    } == expected
                before = now

    def test_what_is_no_triple(self) -> None:
        graph = ps.Engine().graph([])
        with pytest.raises(ValueError, match="this is not a triple of a graph"):
            graph.add([("<http://ex.org/a>", "north", "x")])
        with pytest.raises(ValueError, match="'soon' is not an instant"):
            graph.add([], at="soon")


class Elsewhere(Mirror):
    """A graph elsewhere that has what it is told to have."""

    def __init__(self) -> None:
        super().__init__(list, 1)
        self.now: frozenset[Triple] = frozenset()

    def begin(self) -> None:
        """It is there already."""

    def triples(self) -> frozenset[Triple]:
        return self.now


class TestFiles:
    @pytest.fixture
    def files(self, tmp_path: Path) -> Path:
        (tmp_path / "q.rq").write_text(JOINED)
        lines = [f'{" ".join(map(str, sees(time)[:3]))} "{time}" .\n' for time in (1, 3, 7, 12, 17)]
        (tmp_path / "toll.tnt").write_text("".join(lines))
        (tmp_path / "city.nt").write_text(f"{' '.join(triple('south', 'in', 'milano'))} .\n")
        removed, added = triple("south", "in", "milano"), triple("south", "in", "roma")
        (tmp_path / "moves.changes").write_text(f'D {" ".join(removed)} "8" .\nA {" ".join(added)} "8" .\n')
        return tmp_path

    def run(self, files: Path, name: str, *options: str, engine: str = "duckdb") -> Result:
        on = [] if name == "oracle" else ["--engine", engine]
        given = [str(files / "q.rq"), "--stream", str(files / "toll.tnt"), "--graph", str(files / "city.nt")]
        return CliRunner().invoke(commands, [name, *given, *on, *options])

    def test_a_triple_of_a_file_ends(self, files: Path) -> None:
        updates = ("--graph-updates", str(files / "moves.changes"))
        found = self.run(files, "run", *updates, "--format", "csv").stdout
        assert found == (
            "time,gate,city\n5,http://ex.org/south,http://ex.org/milano\n5,http://ex.org/south,http://ex.org/milano\n"
            "10,http://ex.org/south,http://ex.org/roma\n"
        )
        assert self.run(files, "oracle", *updates, "--format", "csv").stdout == found
        verified = self.run(files, "verify", *updates)
        assert verified.stdout == "duckdb and the oracle agree: 2 evaluations with solutions\n"

    def test_of_a_graph_that_has_nothing_else(self, files: Path) -> None:
        (files / "q.rq").write_text(query("GRAPH :moves { ?gate :in ?city }"))
        found = self.run(files, "run", "--graph-updates", f":moves={files / 'moves.changes'}", "--format", "csv")
        assert found.stdout == "time,gate,city\n10,http://ex.org/south,http://ex.org/roma\n"

    def test_what_is_no_change(self, files: Path) -> None:
        (files / "moves.changes").write_text("oops\n")
        failed = self.run(files, "run", "--graph-updates", str(files / "moves.changes"))
        assert failed.exit_code == 2
        assert "this line is not a change" in failed.stderr

    def test_on_spark(self, files: Path, spark: SparkSession) -> None:
        verified = self.run(files, "verify", "--graph-updates", str(files / "moves.changes"), engine="spark")
        assert verified.stdout == "spark and the oracle agree: 2 evaluations with solutions\n"


def test_a_handle_on_spark(spark: SparkSession) -> None:
    engine = ps.Engine(spark)
    graph = engine.graph([triple("south", "in", "milano")])
    graph.remove([triple("south", "in", "milano")], at=7)
    graph.add([triple("south", "in", "roma"), triple("north", "in", "roma")], at=7)
    graph.remove([triple("north", "in", "roma")], at=14)
    engine.stream(f"{EX}toll", [sees(time) for time in (1, 7, 12, 16)])
    found = found_by(engine.register(JOINED).results())
    south = f"<{EX}south>"
    assert found == [(5, [(south, f"<{EX}milano>")]), (10, [(south, f"<{EX}roma>")])]


def test_a_handle_over_what_spark_streams(spark: SparkSession, tmp_path: Path) -> None:
    """A micro-batch for each file; the second file comes when instants up to 5 have been evaluated."""
    folder = tmp_path / "toll"
    folder.mkdir()

    def write(number: int, times: Sequence[int]) -> None:
        lines = [f'{" ".join(map(str, sees(time)[:3]))} "{time}" .\n' for time in times]
        (folder / f"{number}.tnt").write_text("".join(lines))

    write(1, (1, 7))
    engine = ps.Engine(spark)
    graph = engine.graph([triple("south", "in", "milano")])
    engine.stream(f"{EX}toll", f"{folder}?follow")
    found: list[ps.Evaluation] = []
    answered = threading.Event()

    def each(evaluation: ps.Evaluation) -> None:
        found.append(evaluation)
        answered.set()

    with engine.register(JOINED).start(each):
        assert answered.wait(60)
        answered.clear()
        with pytest.raises(ValueError, match="have been evaluated"):
            graph.remove([triple("south", "in", "milano")], at=5)
        graph.remove([triple("south", "in", "milano")])
        graph.add([triple("south", "in", "roma")])
        write(2, (8, 12))
        assert answered.wait(60)
    south = f"<{EX}south>"
    assert found_by(iter(found)) == [(5, [(south, f"<{EX}milano>")]), (10, [(south, f"<{EX}roma>")])]
