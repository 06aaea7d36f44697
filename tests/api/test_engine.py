"""The embedded engine for programs: data in, evaluations and tables out, the sentences of the command line."""

from __future__ import annotations

import builtins
import doctest
import io
import json
import queue
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Triple
from tests.examples import TOLLGATES
from tests.logged import logged

import penstock as ps
import penstock.api.engine
from penstock.api.tables import TableSource, table_of_stream

TOLL = "http://e/toll"
SEES = "<http://e/sees>"
QUERY = f"SELECT ?gate ?car FROM STREAM <{TOLL}> [RANGE 10ms STEP 10ms] {{ ?gate <http://e/sees> ?car }}"
VALUES = f"SELECT ?s ?v FROM STREAM <{TOLL}> [RANGE 10ms STEP 10ms] {{ ?s <http://e/v> ?v }} ORDER BY ?s"

ROWS = [("<http://e/g1>", SEES, "<http://e/c1>", 1), ("<http://e/g2>", SEES, "<http://e/c2>", 12)]
EXPECTED = [(10, ("http://e/g1", "http://e/c1"))]


@pytest.fixture
def engine() -> ps.Engine:
    return ps.Engine()


def answer(query: Any) -> list[tuple[int, tuple[str | None, ...]]]:
    return [
        (evaluation.time, tuple(None if term is None else term.value for term in row))
        for evaluation in query.results()
        for row in evaluation.rows
    ]


def columns(rows: list[tuple[Any, ...]]) -> dict[str, list[Any]]:
    return dict(zip(("s", "p", "o", "ts"), map(list, zip(*rows, strict=True)), strict=True))


def test_the_examples_of_the_docstrings_are_true() -> None:
    assert doctest.testmod(penstock.api.engine).failed == 0


class TestStreams:
    def test_a_file(self, engine: ps.Engine) -> None:
        engine.stream("http://example.org/streams/tollgates", TOLLGATES.with_name("tollgates.tnt"))
        query = engine.register(TOLLGATES.read_text())
        evaluations = list(query.results())
        assert [evaluation.time for evaluation in evaluations] == [600_000, 660_000, 720_000]
        assert evaluations[0].vars == ("tollgate", "passages")
        assert evaluations[0].query == query.name == "PassagesPerTollgate"

    @pytest.mark.parametrize(
        "data",
        [
            ROWS,
            tuple(ROWS),
            [((NamedNode("http://e/g1"), NamedNode("http://e/sees"), NamedNode("http://e/c1"), 1)), ROWS[1]],
            [(Triple(NamedNode("http://e/g1"), NamedNode("http://e/sees"), NamedNode("http://e/c1")), 1), ROWS[1]],
            [([row[:3] for row in ROWS[:1]], "1"), ([], datetime(1970, 1, 1, 0, 0, 0, 12_000, tzinfo=UTC))],
            pa.table(columns(ROWS)),
            pd.DataFrame(columns(ROWS)),
            pd.DataFrame(columns(ROWS)).rename(columns={"ts": "time"}),
            pd.DataFrame({**columns(ROWS), "ts": pd.to_datetime([1, 12], unit="ms")}),
            pd.DataFrame({**columns(ROWS), "ts": ["1", "1970-01-01T00:00:00.012Z"]}),
            pa.table({**columns(ROWS), "s": pa.array(columns(ROWS)["s"]).dictionary_encode()}),
        ],
        ids=range(11),
    )
    def test_data(self, engine: ps.Engine, data: Any) -> None:
        engine.stream(TOLL, data)
        query = engine.register(QUERY)
        assert answer(query) == EXPECTED
        assert answer(query) == EXPECTED, "a second run begins anew"

    def test_objects_may_be_plain_values(self, engine: ps.Engine) -> None:
        values = [5, 1.5, True, Decimal("1.50"), datetime(2024, 5, 1, 12), '"text"@en', Literal("x"), BlankNode("b")]
        engine.stream(TOLL, [(f"<http://e/{n}>", "<http://e/v>", value, 1 + n) for n, value in enumerate(values)])
        found = engine.register(VALUES, flush=True).to_arrow(terms=True)["v"].to_pylist()
        xsd = "http://www.w3.org/2001/XMLSchema#"
        assert found[:7] == [
            f'"5"^^<{xsd}integer>', f'"1.5"^^<{xsd}double>', f'"true"^^<{xsd}boolean>', f'"1.50"^^<{xsd}decimal>',
            f'"2024-05-01T12:00:00"^^<{xsd}dateTime>', '"text"@en', '"x"',
        ]  # fmt: skip
        assert found[7].startswith("_:")

    def test_a_column_of_numbers(self, engine: ps.Engine) -> None:
        engine.stream(
            TOLL, pd.DataFrame({"s": ["<http://e/a>"] * 3, "p": "<http://e/v>", "o": [1.5, 2, 3], "ts": [1, 2, 3]})
        )
        frame = engine.register(VALUES, flush=True).to_df()
        assert sorted(frame["v"]) == [1.5, 2.0, 3.0]

    def test_rows_with_a_graph_in_common_are_one_element(self, engine: ps.Engine) -> None:
        """In the order of the first row of each; a text that is no IRI keeps rows together, and is no name."""
        rows = {
            "s": ["<http://e/a>"] * 6,
            "p": ["<http://e/v>"] * 4 + ["<http://e/u>"] * 2,
            "o": [1, 2, 3, 4, 5, 6],
            "ts": [1, 2, 1, 3, 1, 2],
            "g": ["<http://e/g1>", "<http://e/g2>", "run 1", None, "<http://e/g1>", "_:b"],
        }
        engine.stream(TOLL, pd.DataFrame(rows))
        window = f"FROM NAMED WINDOW <w> ON STREAM <{TOLL}>"
        named = engine.register(
            f"BASE <http://e/> SELECT ?g ?v ?u {window} [RANGE 3ms] "
            "{ WINDOW <w> { GRAPH ?g { ?s <v> ?v OPTIONAL { ?s <u> ?u } } } }"
        )
        assert named.to_df().fillna(0).values.tolist() == [[3, "http://e/g1", 1, 5], [3, "http://e/g2", 2, 0]]
        counted = engine.register(
            f"BASE <http://e/> SELECT ?n {window} [ELEMENTS 2] {{ WINDOW <w> {{ ?s ?p ?n }} }}", lateness=2
        )
        assert counted.to_df().query("time == 1")["n"].tolist() == [1, 3, 5]
        source = TableSource("t", table_of_stream(pa.table(rows)), "s", most_elements=1)
        assert [batch.table["o"].to_pylist() for batch in source.batches()] == [
            ["i1", "i5"], ["i2"], ["i3"], ["i4"], ["i6"],
        ]  # fmt: skip

    def test_many_rows_come_in_batches(self, engine: ps.Engine) -> None:
        count = 250_000
        table = pa.table(
            {
                "s": pa.array([f"<http://e/g{n % 7}>" for n in range(count)]),
                "p": pa.array([SEES]).take(pa.array([0] * count)),
                "o": pa.array([f'"{n}"' if n % 1000 else f'"\\u0061{n}"' for n in range(count)]),
                "ts": pa.array(range(count)),
            }
        )
        engine.stream(TOLL, table)
        text = f"SELECT (COUNT(*) AS ?n) FROM STREAM <{TOLL}> [RANGE 10s TUMBLING] {{ ?s ?p ?o }}"
        frame = engine.register(text).to_df()
        assert frame["n"].tolist() == [10_000] * 24

    def test_an_iterator_is_live(self, engine: ps.Engine) -> None:
        told = threading.Event()

        def cars() -> Iterator[tuple[Any, ...]]:
            yield from ROWS
            assert told.wait(20), "the first evaluation should have come before the stream goes on"

        engine.stream(TOLL, cars())
        for evaluation in engine.register(QUERY).results():
            assert evaluation.time == 10
            told.set()

    def test_an_iterator_is_read_once(self, engine: ps.Engine) -> None:
        engine.stream(TOLL, iter(ROWS))
        query = engine.register(QUERY)
        assert answer(query) == EXPECTED
        for run in (query.results, query.to_df, engine.results):
            with pytest.raises(ValueError, match="bind a list, or a function that returns a new iterator"):
                list(run())
        engine.stream(TOLL, iter(ROWS))
        assert answer(query) == EXPECTED

    def test_a_function_gives_each_run_an_iterator(self, engine: ps.Engine) -> None:
        engine.stream(TOLL, lambda: iter(ROWS))
        query = engine.register(QUERY)
        assert answer(query) == answer(query) == EXPECTED

    def test_standard_input_is_read_once(self, engine: ps.Engine, monkeypatch: pytest.MonkeyPatch) -> None:
        lines = "".join(f'{s} {p} {o} "{ts}" .\n' for s, p, o, ts in ROWS)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines.encode())))
        engine.stream(TOLL, "-")
        query = engine.register(QUERY)
        assert answer(query) == EXPECTED
        with pytest.raises(ValueError, match="standard input has been read by another run"):
            answer(query)

    def test_two_streams_and_a_graph(self, engine: ps.Engine) -> None:
        engine.stream(TOLL, ROWS)
        engine.stream("<http://e/other>", [("<http://e/g1>", "<http://e/open>", True, 3)])
        engine.graph([("<http://e/g1>", "<http://e/in>", '"Milano"')])
        engine.graph(
            pa.table({"s": ["<http://e/g1>"], "p": ["<http://e/near>"], "o": ['"Lambrate"']}), iri="http://e/map"
        )
        text = f"""PREFIX : <http://e/>
            SELECT ?car ?city ?near FROM NAMED WINDOW :w ON STREAM <{TOLL}> [RANGE PT0.01S STEP PT0.01S]
            FROM NAMED WINDOW :v ON STREAM :other [RANGE PT0.01S STEP PT0.01S] FROM NAMED :map
            WHERE {{ ?gate :in ?city GRAPH :map {{ ?gate :near ?near }}
                     WINDOW :w {{ ?gate :sees ?car }} WINDOW :v {{ ?gate :open true }} }}"""
        assert answer(engine.register(text)) == [(10, ("http://e/c1", "Milano", "Lambrate"))]
        joined = QUERY.replace("?gate ?car", "?car ?city").replace("?car }", "?car; <http://e/in> ?city }")
        assert answer(engine.register(joined)) == [(10, ("http://e/c1", "Milano"))]


class TestMistakes:
    @pytest.mark.parametrize(
        ("data", "sentence"),
        [
            (pd.DataFrame({"subject": []}), "a stream has the columns s, p, o and ts, but this one has subject"),
            ("nowhere.tnt", "nowhere.tnt: there is no such file or folder"),
            (Path("nowhere.tnt"), "nowhere.tnt: there is no such file or folder"),
            (5, "a stream is a file, a table or an iterable of elements, but this is 5"),
        ],
    )
    def test_what_is_no_stream(self, engine: ps.Engine, data: Any, sentence: str) -> None:
        with pytest.raises(ValueError, match=sentence):
            engine.stream(TOLL, data)

    def test_what_is_no_graph(self, engine: ps.Engine) -> None:
        with pytest.raises(ValueError, match="'http://e/a' is not a term: write N-Triples"):
            engine.graph([("http://e/a", "<http://e/p>", 1)])
        with pytest.raises(ValueError, match="a graph has the columns s, p and o"):
            engine.graph(pa.table({"s": []}))

    @pytest.mark.parametrize(
        ("settings", "sentence"),
        [
            ({"t0": "soon"}, "'soon' is not an instant"),
            ({"lateness": "a while"}, "'a while' is not a duration; write 500ms, 10s or PT10S"),
            ({"report": "window-closed"}, "did you mean window-close?"),
            ({"operator": "istraem"}, "operator cannot be 'istraem'; did you mean istream?"),
            ({"time": "local"}, "time cannot be 'local'"),
            ({"dialect": "sql"}, "there is no dialect 'sql'"),
        ],
    )
    def test_settings(self, engine: ps.Engine, settings: dict[str, Any], sentence: str) -> None:
        with pytest.raises(ValueError, match=sentence):
            engine.register(QUERY, **settings)

    def test_a_stream_that_is_not_bound(self, engine: ps.Engine) -> None:
        with pytest.raises(ValueError, match=f"the query reads the stream <{TOLL}>, which is not bound"):
            engine.register(QUERY).results()

    def test_a_wrong_query(self, engine: ps.Engine) -> None:
        with pytest.raises(ps.QuerySyntaxError):
            engine.register("SELECT")

    def test_a_relative_iri(self, engine: ps.Engine) -> None:
        with pytest.raises(ValueError, match="'toll' is not an absolute IRI"):
            engine.stream("toll", ROWS)

    BAD = (
        ("http://e/g", SEES, "<http://e/c>", 2),
        ("<http://e/g>", SEES, "<http://e/c>", "soon"),
        ("<http://e/g>", SEES, None, 2),
        ('"g"', SEES, "<http://e/c>", 2),
        ("<http://e/g>", "_:p", "<http://e/c>", 2),
    )

    @pytest.mark.parametrize("is_table", [False, True])
    @pytest.mark.parametrize("bad", BAD, ids=range(len(BAD)))
    def test_a_bad_element_is_left_out(
        self, engine: ps.Engine, tmp_path: Path, bad: Any, is_table: bool, caplog: pytest.LogCaptureFixture
    ) -> None:
        rows = [ROWS[0], bad, ROWS[1]]
        texts = [(*row[:3], str(row[3])) for row in rows]
        engine.stream(TOLL, pa.table(columns(texts)) if is_table else rows)
        query = engine.register(QUERY, late=tmp_path / "late.jsonl")
        with logged(caplog, f"<{TOLL}>:2: skipped: "):
            assert answer(query) == EXPECTED
        assert query.counts.malformed == 1
        assert json.loads((tmp_path / "late.jsonl").read_text())["place"] == f"<{TOLL}>:2"
        with pytest.raises(ValueError, match=f"<{TOLL}>:2: "):
            answer(engine.register(QUERY, strict=True))

    def test_late_elements_are_told(self, engine: ps.Engine, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        engine.stream(TOLL, [*ROWS, ROWS[0]])
        with logged(caplog, "dropped 1 element that arrived too late; lateness= waits"):
            assert answer(engine.register(QUERY)) == EXPECTED
        assert answer(engine.register(QUERY, lateness=timedelta(seconds=1))) == EXPECTED


class TestTables:
    def test_values_have_the_type_of_their_column(self, engine: ps.Engine) -> None:
        data = [("<http://e/a>", f"<http://e/{name}>", value, 1) for name, value in (
            ("int", 5), ("number", Decimal("1.5")), ("flag", True), ("when", datetime(2024, 5, 1, 12, tzinfo=UTC)),
            ("text", '"x"'), ("label", '"Tor"@de'),
        )]  # fmt: skip
        engine.stream(TOLL, data)
        pattern = " ".join(f"<http://e/{name}> ?{name};" for name in ("int", "number", "flag", "when", "text", "label"))
        text = f"SELECT * FROM STREAM <{TOLL}> [RANGE 10ms STEP 10ms] {{ ?s {pattern} }}"
        query = engine.register(text, flush=True)
        (row,) = query.to_arrow().to_pylist()
        assert row == {
            "time": 10, "s": "http://e/a", "int": 5, "number": 1.5, "flag": True,
            "when": datetime(2024, 5, 1, 12, tzinfo=UTC), "text": "x", "label": "Tor",
        }  # fmt: skip
        frame = query.to_df()
        assert [frame[name].dtype.kind for name in ("time", "int", "number", "flag", "when")] == list("iifbM")

    def test_a_column_of_several_kinds_holds_texts(self, engine: ps.Engine) -> None:
        engine.stream(TOLL, [("<http://e/a>", "<http://e/v>", 5, 1), ("<http://e/b>", "<http://e/v>", '"x"', 2)])
        assert engine.register(VALUES, flush=True).to_arrow()["v"].to_pylist() == ["5", "x"]

    def test_a_number_that_is_none_and_one_that_is_too_long(self, engine: ps.Engine) -> None:
        xsd = "http://www.w3.org/2001/XMLSchema#"
        engine.stream(TOLL, [("<http://e/a>", "<http://e/v>", f'"five"^^<{xsd}integer>', 1)])
        assert engine.register(VALUES, flush=True).to_arrow()["v"].to_pylist() == ["five"]
        engine.stream(TOLL, [("<http://e/a>", "<http://e/v>", 2**70, 1)])
        assert engine.register(VALUES, flush=True).to_arrow()["v"].to_pylist() == [str(2**70)]

    def test_what_is_unbound_is_missing(self, engine: ps.Engine) -> None:
        engine.stream(TOLL, [("<http://e/a>", "<http://e/v>", 2**60 + 1, 1), ("<http://e/b>", "<http://e/w>", 1, 1)])
        text = VALUES.replace("{ ?s <http://e/v> ?v }", "{ ?s ?p ?o OPTIONAL { ?s <http://e/v> ?v } }")
        frame = engine.register(text, flush=True).to_df()
        assert frame["v"].isna().tolist() == [False, True]
        assert frame["v"][0] == 2**60 + 1

    def test_no_results_have_columns_too(self, engine: ps.Engine) -> None:
        engine.stream(TOLL, [])
        assert engine.register(QUERY).to_df().columns.tolist() == ["time", "gate", "car"]

    def test_a_variable_called_time(self, engine: ps.Engine) -> None:
        engine.stream(TOLL, ROWS)
        assert engine.register(QUERY.replace("?car", "?time")).to_arrow().column_names == ["_time", "gate", "time"]

    def test_ask(self, engine: ps.Engine) -> None:
        engine.stream(TOLL, ROWS)
        query = engine.register(QUERY.replace("SELECT ?gate ?car", "ASK"))
        assert query.to_df().to_dict("list") == {"time": [10], "boolean": [True]}

    def test_what_is_constructed_can_be_streamed_again(self, engine: ps.Engine) -> None:
        engine.stream(TOLL, ROWS)
        seen = engine.register(QUERY.replace("SELECT ?gate ?car", "CONSTRUCT { ?car <http://e/at> ?gate }"), flush=True)
        frame = seen.to_df(terms=True)
        assert frame.columns.tolist() == ["time", "s", "p", "o"]
        engine.stream(TOLL, frame)
        assert answer(engine.register(QUERY.replace("?gate <http://e/sees> ?car", "?car <http://e/at> ?gate"))) == [
            (10, ("http://e/g1", "http://e/c1")), (20, ("http://e/g2", "http://e/c2"))
        ]  # fmt: skip

    def test_without_pandas(self, engine: ps.Engine, monkeypatch: pytest.MonkeyPatch) -> None:
        engine.stream(TOLL, ROWS)
        query = engine.register(QUERY)
        imported = builtins.__import__

        def without_pandas(name: str, *others: Any, **more: Any) -> Any:
            if name == "pandas":
                raise ImportError(name)
            return imported(name, *others, **more)

        monkeypatch.delitem(sys.modules, "pandas")
        monkeypatch.setattr(builtins, "__import__", without_pandas)
        with pytest.raises(ImportError, match="to_df\\(\\) needs pandas, which is not installed"):
            query.to_df()


class TestStop:
    def test_within_the_loop(self, engine: ps.Engine) -> None:
        engine.stream(TOLL, [("<http://e/g>", SEES, n, n) for n in range(100)])
        query = engine.register(QUERY)
        times = []
        for evaluation in query.results():
            times.append(evaluation.time)
            query.stop()
        assert times == [10]
        assert len(answer(query)) > 1, "a later run is not stopped"

    def test_from_another_thread_while_it_waits(self, engine: ps.Engine) -> None:
        def cars() -> Iterator[tuple[Any, ...]]:
            yield from ROWS
            time.sleep(60)

        engine.stream(TOLL, cars())
        query = engine.register(QUERY)
        threading.Timer(1, query.stop).start()
        began = time.monotonic()
        assert [evaluation.time for evaluation in query.results()] == [10], "the stream has not ended: no last window"
        assert time.monotonic() - began < 20


class TestChanges:
    """Queries that are registered and dropped while others run."""

    MANY = tuple(("<http://e/g>", SEES, n, n) for n in range(1, 60))
    GIVER = f"REGISTER STREAM seen AS CONSTRUCT {{ ?gate <http://e/at> ?car }} {QUERY.split('?car', 1)[1]}"

    def test_between_two_evaluations(self, engine: ps.Engine) -> None:
        engine.stream(TOLL, self.MANY)
        engine.register(QUERY, name="first")
        found: dict[str, list[int]] = {"first": [], "second": []}
        for evaluation in engine.results():
            assert evaluation.query in found
            found[evaluation.query].append(evaluation.time)
            if evaluation.query == "first" and evaluation.time == 20:
                second = engine.register(QUERY.replace("STEP 10ms", "STEP 5ms"), name="second")
            if evaluation.query == "second" and evaluation.time == 40:
                assert second.counts.evaluations > 1
                engine.drop("second")
        assert found == {"first": [10, 20, 30, 40, 50], "second": [25, 30, 35, 40]}
        assert second.counts.elements == 39

    def test_from_another_thread(self, engine: ps.Engine) -> None:
        """Each waits for what the others have done, so that the stream is as far as it has to be."""
        told: queue.Queue[tuple[str, int]] = queue.Queue()
        more: queue.Queue[int] = queue.Queue()

        def cars() -> Iterator[tuple[Any, ...]]:
            while True:
                yield ("<http://e/g>", SEES, "<http://e/c>", more.get())

        def run() -> None:
            for evaluation in engine.results():
                told.put((evaluation.query, evaluation.time))

        engine.stream(TOLL, cars())
        engine.register(QUERY, name="first")
        thread = threading.Thread(target=run)
        thread.start()
        for moment in (1, 11):
            more.put(moment)
        assert told.get(timeout=20) == ("first", 10)
        engine.register(QUERY, name="second", duplicates="bag")
        for moment in (12, 21):
            more.put(moment)
        assert {told.get(timeout=20) for _ in range(2)} == {("first", 20), ("second", 20)}
        engine.drop("first")
        for moment in (22, 31):
            more.put(moment)
        assert told.get(timeout=20) == ("second", 30)
        engine.stop()
        thread.join(20)
        assert not thread.is_alive()
        assert told.empty()

    def test_a_stream_that_nobody_read_before(self, engine: ps.Engine) -> None:
        engine.stream(TOLL, self.MANY)
        engine.register(QUERY, name="first")
        found = []
        for evaluation in engine.results():
            found.append((evaluation.query, evaluation.time))
            if found == [("first", 10)]:
                engine.stream("http://e/other", self.MANY[:30])
                engine.register(QUERY.replace(TOLL, "http://e/other"), name="second")
        assert found == [*(("first", time) for time in range(10, 60, 10)), ("second", 20), ("second", 30)]

    def test_a_stream_of_a_query(self, engine: ps.Engine) -> None:
        is_registered = threading.Event()

        def cars() -> Iterator[tuple[Any, ...]]:
            yield from self.MANY[:11]
            assert is_registered.wait(20)
            yield from self.MANY[11:]

        engine.stream(TOLL, cars())
        engine.register(self.GIVER)
        engine.register(QUERY, name="first")
        found = []
        for evaluation in engine.results():
            found.append((evaluation.query, evaluation.time))
            if found[-1] == ("first", 10):
                engine.register("SELECT ?x FROM STREAM <seen> [RANGE 10ms STEP 10ms] { ?x ?y ?z }", name="it")
                is_registered.set()
                with pytest.raises(ValueError, match="it reads the stream that seen produces: drop it first"):
                    engine.drop("seen")
        assert [time for name, time in found if name == "it"] == [20, 30, 40, 50]

    @pytest.mark.parametrize("cut", ["a list", "an iterator", "an iterator that waits"])
    def test_the_first_to_read_a_stream_of_a_query(self, engine: ps.Engine, cut: str) -> None:
        """However the input is cut, what the program has not received yet is seen."""

        def waiting() -> Iterator[tuple[Any, ...]]:
            for row in self.MANY:
                time.sleep(0.005)
                yield row

        sources = {"a list": self.MANY, "an iterator": iter(self.MANY), "an iterator that waits": waiting()}
        engine.stream(TOLL, sources[cut])
        engine.register(self.GIVER)
        found: dict[str, list[tuple[int, int]]] = {"seen": [], "late": []}
        for evaluation in engine.results():
            found[evaluation.query].append((evaluation.time, len(evaluation.rows or evaluation.triples or ())))
            if (evaluation.query, evaluation.time) == ("seen", 20):
                engine.register("SELECT ?x ?z FROM STREAM <seen> [RANGE 20ms STEP 10ms] { ?x ?y ?z }", name="late")
        assert found == {"seen": [(10 * n, 10) for n in range(1, 6)], "late": [(30, 10), (40, 20), (50, 20)]}

    def test_the_run_ends_with_its_last_query(self, engine: ps.Engine) -> None:
        def cars() -> Iterator[tuple[Any, ...]]:
            yield from self.MANY
            time.sleep(60)

        engine.stream(TOLL, cars())
        engine.register(QUERY, name="first")
        began = time.monotonic()
        for evaluation in engine.results():
            assert evaluation.time == 10
            engine.drop("first")
        assert time.monotonic() - began < 20

    def test_what_does_not_fit_is_refused(self, engine: ps.Engine) -> None:
        engine.stream(TOLL, self.MANY)
        engine.register(QUERY, name="first")
        for evaluation in engine.results():
            if evaluation.time == 10:
                with pytest.raises(ValueError, match="first and second run together, but first has lateness=0, and"):
                    engine.register(QUERY, name="second", lateness=5)
                with pytest.raises(ValueError, match="which is not bound"):
                    engine.register(QUERY.replace(TOLL, "http://e/other"), name="second")
        engine.register(QUERY, name="second", lateness=5)  # when nothing runs

    def test_one_that_cannot_be_answered_does_not_harm_the_others(
        self, engine: ps.Engine, caplog: pytest.LogCaptureFixture
    ) -> None:
        engine.stream(TOLL, self.MANY)
        engine.register(QUERY, name="first")
        results = engine.results()
        found = [(evaluation.query, evaluation.time) for evaluation in islice(results, 1)]
        text = QUERY.replace("{ ?gate", "{ SERVICE <http://127.0.0.1:1/sparql> { ?gate ?in ?city } ?gate")
        engine.register(text, name="second")
        with logged(caplog, "second is not answered: .*127.0.0.1:1"):
            found += [(evaluation.query, evaluation.time) for evaluation in results]
        assert found == [("first", time) for time in range(10, 60, 10)]

    def test_one_that_reads_names_that_were_not_kept(self, engine: ps.Engine, caplog: pytest.LogCaptureFixture) -> None:
        engine.stream(TOLL, self.MANY)
        engine.register(QUERY, name="first")
        results = engine.results()
        found = [evaluation.time for evaluation in islice(results, 1)]
        text = f"SELECT ?g FROM NAMED WINDOW <http://e/w> ON <{TOLL}> [RANGE 10ms] {{ WINDOW ?w {{ GRAPH ?g {{ }} }} }}"
        engine.register(text, name="second")
        with logged(caplog, "second is not answered: .*has not kept their names.*start it again"):
            found += [evaluation.time for evaluation in results]
        assert found == [*range(10, 60, 10)]


class TestNotebooks:
    def test_an_evaluation_is_a_table(self, engine: ps.Engine) -> None:
        engine.stream(TOLL, [("<http://e/g>", SEES, '"<b>"', 1), ROWS[1]])
        (evaluation,) = engine.register(QUERY).results()
        html = evaluation._repr_html_()
        assert "<th>gate</th><th>car</th>" in html
        assert "<td><code>&lt;http://e/g&gt;</code></td><td>&lt;b&gt;</td>" in html
        assert "<b>10</b> 1 solution" in html

    def test_a_long_one_shows_its_beginning(self, engine: ps.Engine) -> None:
        engine.stream(TOLL, [("<http://e/g>", SEES, n, 1) for n in range(50)])
        (evaluation,) = engine.register(QUERY, flush=True).results()
        assert evaluation._repr_html_().count("<tr>") == 21
        assert "and 30 more" in evaluation._repr_html_()

    def test_a_query_tells_what_it_reads_and_how_far_it_is(self, engine: ps.Engine) -> None:
        query = engine.register(QUERY, name="cars")
        assert "&lt;http://e/toll&gt; = not bound" in query._repr_html_()
        engine.stream(TOLL, ROWS)
        list(query.results())
        assert "<td><b>elements</b></td><td>2</td>" in query._repr_html_()
        assert "1 solution" in query._repr_html_()
        assert repr(query) == "<penstock query cars: SELECT in C-SPARQL>"

    def test_explain_is_text_or_a_picture(self, engine: ps.Engine) -> None:
        engine.stream(TOLL, ROWS)
        explanation = engine.register(QUERY, report="arrival").explain()
        assert "report policy       arrival" in repr(explanation)
        assert "as in Streaming SPARQL" in repr(explanation)
        assert "<svg" in explanation._repr_svg_()
        assert explanation.html.startswith("<!doctype html>")

    def test_after_a_run_explain_says_how_it_ran(self, engine: ps.Engine) -> None:
        engine.stream(TOLL, ROWS)
        query = engine.register(QUERY)
        assert "evaluated by" not in query.explain().text
        list(query.results())
        assert "  evaluated by        DuckDB" in query.explain().text
        assert "the latest run: sources read by this process, windows in DuckDB" in query.explain().text

    def test_explain_does_not_read_what_can_be_read_once(self, engine: ps.Engine) -> None:
        engine.stream(TOLL, iter(ROWS))
        query = engine.register(QUERY)
        assert "Windows" in repr(query.explain())
        assert answer(query) == EXPECTED


class TestStreamsFromQueries:
    GIVER = f"REGISTER STREAM seen AS CONSTRUCT {{ ?car <http://e/at> ?gate }} {QUERY.split('?car', 1)[1]}"
    READER = "SELECT ?car ?gate FROM STREAM <seen> [RANGE 20ms STEP 10ms] { ?car <http://e/at> ?gate }"

    def test_a_query_runs_with_those_that_it_needs(self, engine: ps.Engine) -> None:
        engine.stream(TOLL, ROWS)
        query = engine.register(self.READER, name="reader", flush=True)
        giver = engine.register(self.GIVER, flush=True)
        assert [evaluation.time for evaluation in giver.results()] == [10, 20]
        assert answer(query) == [
            (20, ("http://e/c1", "http://e/g1")),
            (20, ("http://e/c2", "http://e/g2")),
            (30, ("http://e/c2", "http://e/g2")),
        ]
        assert {evaluation.query for evaluation in query.results()} == {"reader"}

    def test_all_queries_run_together(self, engine: ps.Engine) -> None:
        with pytest.raises(ValueError, match="no query is registered"):
            engine.results()
        engine.stream(TOLL, ROWS)
        engine.register(self.READER, name="reader", flush=True)
        engine.register(self.GIVER, flush=True)
        text = f"SELECT ?gate FROM STREAM <{TOLL}> [RANGE 10ms STEP 10ms] {{ ?gate <http://e/sees> <http://e/%s> }}"
        for car in ("c1", "c2", "c3"):
            engine.register(text % car, name=car, flush=True)
        found = [(evaluation.time, evaluation.query) for evaluation in engine.results()]
        assert [time for time, _ in found] == [10, 10, 20, 20, 20, 30]
        assert sorted(found) == [(10, "c1"), (10, "seen"), (20, "c2"), (20, "reader"), (20, "seen"), (30, "reader")]
        engine.drop("reader")
        assert {evaluation.query for evaluation in engine.results()} == {"c1", "c2", "seen"}
        with pytest.raises(ValueError, match="there is no query reader"):
            engine.drop("reader")

    def test_they_have_to_agree(self, engine: ps.Engine) -> None:
        engine.stream(TOLL, ROWS)
        engine.register(self.GIVER)
        with pytest.raises(ValueError, match="seen has flush=False, and query has flush=True"):
            engine.register(self.READER, flush=True).results()

    @pytest.mark.parametrize(
        ("settings", "here", "there"),
        [
            ({"lateness": "1s"}, "lateness=0", "lateness=1000"),
            ({"idle_timeout": 500}, "idle_timeout=None", "idle_timeout=500"),
            ({"time": "arrival"}, "time='event'", "time='arrival'"),
            ({"flush": True}, "flush=False", "flush=True"),
            ({"empty": True}, "empty=False", "empty=True"),
            ({"service_timeout": "5s"}, "service_timeout=30000", "service_timeout=5000"),
            ({"service_refresh": "5s"}, "service_refresh=None", "service_refresh=5000"),
            ({"optimize": False}, "optimize=True", "optimize=False"),
            ({"lateness": 5, "empty": True}, "lateness=0 and empty=False", "lateness=5 and empty=True"),
        ],
    )
    def test_in_what_they_do_not_agree(
        self, engine: ps.Engine, settings: dict[str, Any], here: str, there: str
    ) -> None:  # fmt: skip
        engine.stream(TOLL, ROWS)
        engine.register(QUERY, name="x")
        engine.register(QUERY, name="y", **settings)
        told = f"x and y run together, but x has {here}, and y has {there}: register both with the same values"
        with pytest.raises(ValueError, match=f"^{told}$"):
            engine.results()

    def test_a_stream_is_given_once(self, engine: ps.Engine) -> None:
        assert engine.register(self.GIVER).name == engine.register(self.GIVER).name
        with pytest.raises(ValueError, match="seen and seen-2 both produce the stream <seen>"):
            engine.register(self.GIVER, empty=True)
        engine.drop("seen")
        engine.register(self.GIVER)
        with pytest.raises(ValueError, match="no query sean; did you mean seen"):
            engine.drop("sean")
