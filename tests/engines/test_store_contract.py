"""One contract for every store of windows (engines/protocol.py): what it keeps, answers, forgets and carries over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyoxigraph import Literal, NamedNode, Triple

from penstock.algebra import ContinuousQuery, Settings, build
from penstock.algebra.inputs import GraphTriple
from penstock.algebra.windows import Interval
from penstock.engines.duckdb.store import DuckDBStore
from penstock.engines.protocol import IntakeBatch, Need, Reached, Slice, WholeStream, Windows
from penstock.rdf.elements import Element
from penstock.rdf.encoding import encode
from penstock.rdf.terms import IRI
from penstock.sources.graphs import graph_of_triples
from penstock.sources.source_opener import open_source
from penstock.sources.tables import table_of
from penstock.syntax import parse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EX = "http://ex.org/"
STREAM, GIVEN = f"{EX}s", f"{EX}given"


def element(time: int, subject: str = "a", number: int = 0) -> Element:
    return Element(time, (Triple(NamedNode(EX + subject), NamedNode(f"{EX}p"), Literal(str(number))),))


def query(body: str = "?s :p ?o", stream: str = STREAM, window: str = "RANGE PT4S STEP PT2S") -> ContinuousQuery:
    text = f"PREFIX : <{EX}> SELECT * FROM NAMED WINDOW :w ON <{stream}> [{window}] {{ WINDOW :w {{ {body} }} }}"
    return build(parse(text, "rspql"), Settings())


@dataclass
class Contract:
    """A store, and how it is given rows."""

    store: Any
    rows: Callable[[pa.Table, list[ContinuousQuery]], Any]
    is_whole: bool = False

    def append(self, elements: list[Element], number: int = 0, greatest: int | None = None, lateness: int = 0) -> Any:
        rows = self.rows(table_of(elements), [query()])
        return self.store.append(IntakeBatch(number, {STREAM: rows}), {STREAM: Reached(greatest)}, lateness)

    def answers(self, asked: ContinuousQuery, instants: list[int]) -> list[tuple[str, int]]:
        compiled = self.store.compile(asked, asked.expression, "rstream", is_optimized=True)
        place = compiled.variables.index("o")
        solutions = compiled.evaluate(Slice(instants))
        return sorted((row[place], time) for time, rows in solutions.at_each_instant() for row in rows)


@pytest.fixture(
    params=[
        "duckdb",
        "live beside the driver",
        "live on the cluster",
        "history of files",
        "history of rows",
        "history of rows, by Spark SQL",
    ]
)
def contract(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Contract]:
    if request.param == "duckdb":
        found = Contract(DuckDBStore(rows_between_looks=1), lambda table, queries: table)
    else:
        spark: SparkSession = request.getfixturevalue("spark")
        if request.param.startswith("live"):
            found = Contract(_live(spark, tmp_path, request.param), lambda table, queries: table)
        else:
            found = _history(spark, tmp_path, request.param)
    found.store.add_stream(STREAM)
    yield found
    found.store.close()


def _history(spark: SparkSession, folder: Path, kind: str) -> Contract:
    from penstock.engines.spark.history import HistoryStore
    from penstock.sources.spark.frames import gathered

    def whole(table: pa.Table, queries: list[ContinuousQuery]) -> WholeStream:
        file = folder / "stream.tnt"
        file.write_text("".join(_line(row) for row in table.to_pylist()))
        source = open_source(file, scope="s")
        return WholeStream(gathered(spark, source) if "rows" in kind else source, queries)

    windows: Windows = "cluster" if "Spark SQL" in kind else "auto"
    return Contract(HistoryStore(spark, windows=windows), whole, is_whole=True)


def _line(row: dict[str, Any]) -> str:
    return f'<{row["s"][1:]}> <{row["p"][1:]}> "{row["o"][1:]}" "{row["ts"]}" .\n'


def _live(spark: SparkSession, folder: Path, kind: str) -> Any:
    from penstock.engines.spark.live_store import LiveStore

    store = LiveStore(spark, folder, is_durable=True, windows="cluster" if "cluster" in kind else "driver")
    if isinstance(store.evaluator, DuckDBStore):
        store.evaluator = DuckDBStore(rows_between_looks=1)
    return store


def test_it_answers_what_was_appended(contract: Contract) -> None:
    appended = contract.append([element(500, number=1), element(1500, number=2), element(3500, number=3)])
    seen = appended.seen[STREAM]
    assert (seen.elements, seen.least, seen.greatest, seen.has_late) == (3, 500, 3500, False)
    assert contract.store.elements(STREAM) == 3
    report = contract.store.compile_report(query())
    assert report.instants(0, 6000, None) == [4000, 6000]
    assert report.last_end(0) == 6001
    assert contract.answers(query(), [4000, 6000]) == [("S1", 4000), ("S2", 4000), ("S3", 4000), ("S3", 6000)]


@pytest.mark.parametrize(
    ("contract", "is_in_tasks"),
    [("history of files", True), ("history of rows", True), ("history of rows, by Spark SQL", False)],
    indirect=["contract"],
)
def test_histories_are_answered_in_tasks(contract: Contract, is_in_tasks: bool) -> None:
    contract.append([element(500, number=1)])
    assert (contract.store.reason_for_sql(query(), "rstream") is None) == is_in_tasks


def test_late_rows_are_told_apart(contract: Contract) -> None:
    """1000 is more than the lateness behind 5000: at 4000 it is too late, at 6000 its window is over."""
    elements = [element(time, number=number) for number, time in enumerate((5000, 1000, 4900))]
    appended = contract.append(elements, lateness=500)
    seen = appended.seen[STREAM]
    assert (seen.elements, seen.least, seen.greatest, seen.has_late) == (3, 4900, 5000, True)
    late = contract.store.uncounted(query(), STREAM)
    assert late["ts"].to_pylist() == [1000]


def test_what_queries_produce_is_a_stream(contract: Contract) -> None:
    contract.store.add_stream(GIVEN, is_produced=True)
    seen = contract.store.append_produced(0, GIVEN, table_of([element(1000, number=1), element(2000, number=2)]))
    assert (seen.elements, seen.least, seen.greatest, seen.has_late) == (2, 1000, 2000, False)
    contract.store.append_produced(1, GIVEN, table_of([element(3000, number=3)]))
    assert contract.store.elements(GIVEN) == 3
    found = contract.answers(query(stream=GIVEN), [2000, 4000])
    assert found == [("S1", 2000), ("S1", 4000), ("S2", 2000), ("S2", 4000), ("S3", 4000)]


def test_graphs_change(contract: Contract) -> None:
    triple = Triple(NamedNode(f"{EX}a"), NamedNode(f"{EX}in"), NamedNode(f"{EX}rome"))
    contract.store.load_graph(None, graph_of_triples([GraphTriple(triple)]))
    assert contract.store.held(None, [triple]) == [GraphTriple(triple)]
    assert not contract.store.has_changing_graphs
    contract.store.revise_graph(None, [triple], [GraphTriple(triple, Interval(0, 3000))], -(10**15))
    assert contract.store.held(None, [triple]) == [GraphTriple(triple, Interval(0, 3000))]
    assert contract.store.has_changing_graphs
    assert list(contract.store.graphs) == [None]


def test_it_knows_what_nothing_has(contract: Contract) -> None:
    contract.append([element(500)])
    known, unknown = (encode(IRI(EX + name)) for name in ("p", "q"))
    assert contract.store.lacking([(known, None), (unknown, None)]) == {(unknown, None)}


def test_rows_that_nobody_needs_go(contract: Contract) -> None:
    if contract.is_whole:
        assert contract.store.capabilities.answers_at_once, "a history is answered once, and keeps what it has"
        return
    for number in range(6):
        contract.append([element(1000 * number + 1, number=number)], number, 1000 * (number - 1) + 1)
    kept = contract.store.evict([Need(query(), 6000)], 5000)
    assert kept <= 4, "at 6000 the window reaches back to 2000"
    assert contract.answers(query(), [6000]) == [("S2", 6000), ("S3", 6000), ("S4", 6000), ("S5", 6000)]
    contract.append([element(7000, number=7)], 6, 5001)  # stores may look only when something has arrived
    contract.store.evict([], 100_000)
    assert contract.store.seen(STREAM, None).elements == 0
    assert contract.store.elements(STREAM) == 7


def test_queries_that_join_see_what_is_after_an_instant(contract: Contract) -> None:
    contract.append([element(1000, number=1), element(2000, number=2)], 0)
    if contract.store.capabilities.admits_queries:
        contract.append([element(3000, number=3)], 1, 2000)
        lately = contract.store.seen(STREAM, 1500, lately=True)
        assert (lately.elements, lately.least, lately.greatest) == (1, 3000, 3000)
    seen = contract.store.seen(STREAM, 1000)
    assert seen.least == 2000


def test_another_process_continues(contract: Contract, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Where a store `restarts`: its state, as JSON holds it, and its rows are enough."""
    if not contract.store.capabilities.restarts:
        assert contract.is_whole, "a history is read again"
        return
    import json

    if isinstance(contract.store, DuckDBStore):
        first: Any = DuckDBStore(tmp_path / "file.duckdb")
    else:
        kind = request.node.callspec.params["contract"]
        first = _live(request.getfixturevalue("spark"), tmp_path / "log", kind)
    first.add_stream(STREAM)
    before = Contract(first, contract.rows)
    before.append([element(500, number=1), element(1500, number=2)])
    state = json.loads(json.dumps(first.state))
    if isinstance(first, DuckDBStore):
        first.close()
        second: Any = DuckDBStore(tmp_path / "file.duckdb")
    else:
        second = _live(request.getfixturevalue("spark"), tmp_path / "log", kind)
    second.restore(state)
    after = Contract(second, contract.rows)
    after.append([element(2500, number=3)], 1, 1500)
    assert second.elements(STREAM) == 3
    assert after.answers(query(), [4000]) == [("S1", 4000), ("S2", 4000), ("S3", 4000)]
    second.close()
