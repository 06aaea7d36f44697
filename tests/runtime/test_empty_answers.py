"""An empty answer is explained: what was read, how often the query was evaluated, and what the cause may be."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

import penstock as ps
from penstock.cli import commands

EX = "http://e/"
TOLL = EX + "toll"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


def seen(*times: int) -> list[tuple[Any, ...]]:
    return [(f"<{EX}g>", f"<{EX}sees>", f"<{EX}c{number}>", time) for number, time in enumerate(times)]


def asking(where: str, window: str = "RANGE 10s TUMBLING", more: str = "") -> str:
    return f"PREFIX : <{EX}> SELECT * FROM STREAM :toll [{window}] {more} WHERE {{ {where} }}"


SEES = "?gate :sees ?car"
ENOUGH = seen(1000, 25_000)

FIGURES = "the answer is empty: 2 elements read, from 1000 to 25000; 2 windows closed; 1 evaluation"
PREDICATE = f"the query needs the predicate <{EX}in>, which no triple has"
CASES: dict[str, tuple[str, list[tuple[Any, ...]], str, Sequence[str]]] = {
    "nothing to explain": (asking("?gate :sees :c7"), ENOUGH, FIGURES, []),
    "nothing read": (
        asking(SEES),
        [],
        "the answer is empty: 0 elements read; 0 evaluations",
        ["no element was read: is the stream empty, or is it the wrong stream?"],
    ),
    "seconds": (
        asking(SEES),
        seen(1_700_000_003, 1_700_000_600),
        "the answer is empty: 2 elements read, from 1700000003 to 1700000600; 0 windows closed; 0 evaluations",
        [
            "timestamps are milliseconds, and these look like seconds: 1700000003 seconds are 2023-11-14T22:13:23Z; "
            "multiply them by 1000"
        ],
    ),
    "no window closed": (
        asking(SEES),
        seen(12_000, 13_000),
        "the answer is empty: 2 elements read, from 12000 to 13000; 0 windows closed; 0 evaluations",
        [
            "no window has closed: the first one closes at 20000; --flush (flush=True in Python) also reports windows "
            "that are still open"
        ],
    ),
    "a graph that was not given": (
        asking(f"{SEES} . ?gate :in ?city", more="FROM :city"),
        ENOUGH,
        FIGURES,
        [
            f"the query reads the graph <{EX}city>, which is not bound: bind it with --graph {EX}city=FILE "
            f"(engine.graph(FILE, '{EX}city') in Python)",
            PREDICATE,
        ],
    ),
    "a predicate that never came": (
        asking("?gate :see ?car"),
        ENOUGH,
        FIGURES,
        [f"the query needs the predicate <{EX}see>, which no triple has; did you mean {EX}sees?"],
    ),
    "a path": (asking("?gate :sees/:in+ ?city"), ENOUGH, FIGURES, [PREDICATE]),
    "a class that never came": (
        asking("?gate a :Gate ; :sees ?car"),
        [*ENOUGH[:1], (f"<{EX}g>", TYPE, f"<{EX}Bridge>", 1000), *ENOUGH[1:]],
        FIGURES.replace("2 elements", "3 elements"),
        [f"the query needs instances of the class <{EX}Gate>, and there are none"],
    ),
    "what a union can do without": (asking("{ ?gate :sees :c7 } UNION { ?gate :in ?city }"), ENOUGH, FIGURES, []),
    "what an optional part can do without": (asking("?gate :sees :c7 OPTIONAL { ?gate :in ?c }"), ENOUGH, FIGURES, []),
}

each_case = pytest.mark.parametrize("name", CASES)


def stream(folder: Path, rows: Sequence[tuple[Any, ...]]) -> Path:
    path = folder / "toll.tnt"
    path.write_text("".join(f'{s} {p} {o} "{ts}" .\n' for s, p, o, ts in rows))
    return path


def run(folder: Path, name: str, *more: str) -> tuple[str, str]:
    query, rows, _, _ = CASES[name]
    (folder / "q.rq").write_text(query)
    given = ["run", str(folder / "q.rq"), "--stream", str(stream(folder, rows)), "--engine", "duckdb", *more]
    result = CliRunner().invoke(commands, given, catch_exceptions=False)
    return result.stdout, result.stderr.replace(str(folder / "q.rq"), "q.rq")


def expected(name: str) -> str:
    _, _, sentence, hints = CASES[name]
    return "".join([f"q.rq: note: {sentence}\n", *(f"  - {hint}\n" for hint in hints)])


@each_case
def test_on_standard_error(name: str, tmp_path: Path) -> None:
    assert run(tmp_path, name) == ("", expected(name))


def test_with_others_it_says_whose_answer_it_is(tmp_path: Path) -> None:
    (tmp_path / "cars.rq").write_text(asking(SEES))
    (tmp_path / "cities.rq").write_text(asking("?gate :in ?city"))
    files = [str(tmp_path / name) for name in ("cars.rq", "cities.rq")]
    given = ["run", *files, "--stream", str(stream(tmp_path, ENOUGH)), "--engine", "duckdb"]
    result = CliRunner().invoke(commands, given, catch_exceptions=False)
    sentence = "the answer is empty: 2 elements read, from 1000 to 25000; 2 windows closed"
    assert result.stderr in (
        f"cities: note: {sentence}; 1 evaluation\n  - {PREDICATE}\n",
        f"cities: note: {sentence}\n  - {PREDICATE}\n",
    )


def test_quiet(tmp_path: Path) -> None:
    assert run(tmp_path, "seconds", "--quiet") == ("", "")


def test_an_answer_is_not_explained(tmp_path: Path) -> None:
    out, told = run(tmp_path, "no window closed", "--flush")
    assert out
    assert told == ""


def test_a_run_that_goes_on_remembers_its_answers(tmp_path: Path) -> None:
    """The evaluations that came before the restart count."""
    (tmp_path / "q.rq").write_text(asking(SEES))
    given = ["run", str(tmp_path / "q.rq"), "--stream", str(stream(tmp_path, ENOUGH)), "--engine", "duckdb"]
    given += ["--checkpoint", str(tmp_path / "kept"), "--out", str(tmp_path / "out")]
    for _ in range(2):
        assert "empty" not in CliRunner().invoke(commands, given, catch_exceptions=False).stderr


@each_case
def test_on_the_handle(name: str, caplog: pytest.LogCaptureFixture) -> None:
    query, rows, sentence, hints = CASES[name]
    engine = ps.Engine()
    engine.stream(TOLL, rows)
    registered = engine.register(query)
    for _ in range(2):
        caplog.clear()
        assert registered.to_df().empty
        why = registered.why_empty
        assert why is not None
        assert (why.sentence, list(why.hints), why.elements) == (sentence, hints, len(rows))
        assert caplog.messages == [f"query: {why}"]


def test_the_handle_has_nothing_to_explain() -> None:
    engine = ps.Engine()
    engine.stream(TOLL, ENOUGH)
    query = engine.register(asking(SEES))
    assert len(query.to_df()) == 1
    assert query.why_empty is None


def test_queries_that_run_together(caplog: pytest.LogCaptureFixture) -> None:
    engine = ps.Engine()
    engine.stream(TOLL, ENOUGH)
    engine.register(asking(SEES), name="cars")
    cities = engine.register(asking("?gate :in ?city"), name="cities")
    assert len(list(engine.results())) == 1
    assert [message.partition(":")[0] for message in caplog.messages] == ["cities"]
    assert cities.why_empty is not None
    assert cities.why_empty.hints == (PREDICATE,)


class TestSpark:
    @pytest.mark.parametrize("name", ["seconds", "a graph that was not given", "a class that never came"])
    def test_history(self, name: str, spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        query, rows, sentence, hints = CASES[name]
        engine = ps.Engine(spark)
        engine.stream(TOLL, stream(tmp_path, rows))
        registered = engine.register(query)
        assert registered.to_df().count() == 0
        why = registered.why_empty
        assert why is not None
        assert (why.sentence, list(why.hints)) == (sentence, hints)
        assert caplog.messages == ([f"query: {why}"] if name == "seconds" else [])
        caplog.clear()
        assert list(registered.results()) == []
        assert caplog.messages == [f"query: {why}"]

    def test_live(self, spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        query, rows, sentence, hints = CASES["a graph that was not given"]
        (tmp_path / "toll").mkdir()
        stream(tmp_path / "toll", rows)
        engine = ps.Engine(spark)
        engine.stream(TOLL, f"{tmp_path / 'toll'}?follow")
        registered = engine.register(query)
        with registered.start(lambda evaluation: None, until_read=True) as run:
            run.wait()
        why = registered.why_empty
        assert why is not None
        assert (why.sentence, list(why.hints)) == (sentence, hints)
        assert caplog.messages == [f"query: {why}"]
