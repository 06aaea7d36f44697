"""What it would bring to store terms as 64-bit numbers from a dictionary instead of strings, on DuckDB.

The statements of T1 and T3 (`penstock bench limits`) and of CQELS's Q2 are run over the tables of a slice as they are,
and over the same tables with numbers for all terms. The numbers are in the order of the terms, so that the filter of T3
compares numbers: a real dictionary would have to look up the terms there, so this is the most that can be gained. The
processor time of inserting the rows is measured in the same two ways. Best of several rounds.

    python benchmarks/term_numbers.py [--triples 500000] [--rounds 5]
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import duckdb
import pyarrow as pa
from sqlglot import exp

from penstock.bench.cqels.data import FLOORPLAN, RFID, write_detections, write_floorplan
from penstock.bench.cqels.queries import Instance
from penstock.bench.limits.data import STREAM, write_passages, write_streets
from penstock.bench.limits.queries import WORKLOADS
from penstock.engines.duckdb.statements import PreparedStatement
from penstock.engines.duckdb.store import DuckDBStore
from penstock.runtime.queries import QuerySpec
from penstock.runtime.run import Run
from penstock.runtime.source_intake import SourceIntake
from penstock.sources import open_source
from penstock.sources.graph_files import open_graph
from penstock.syntax import parse

_FILTER = re.compile(
    r"LIST_TRANSFORM\(\[\{'value_1': SPARQL_STR\((\S+?)\), 'value_2': SPARQL_STR\((\S+?)\)\}\].*?\)\[1\]"
)
"""The filter of T3, as it is compiled."""

_COLUMNS = "ts BIGINT, element BIGINT, arrival BIGINT, since BIGINT"


class Recorded(PreparedStatement):
    """Keeps the parameters and the number of rows of its longest slice."""

    longest: tuple[int, dict[str, int | None]] | None = None

    def table(self, parameters: Mapping[str, int | None]) -> pa.Table:
        found = super().table(parameters)
        count = parameters.get("count") or 0
        if self.longest is None or count > (self.longest[1].get("count") or 0):
            self.longest = found.num_rows, self._given(parameters)
            self.store.longest = self
        return found


class RecordingStore(DuckDBStore):
    longest: Recorded | None = None

    def prepared(self, statement: exp.Select) -> PreparedStatement:
        return Recorded(self, statement)

    def evict(self, needs: object, until: int | None) -> int:
        """All rows stay, for the measurement."""
        return 0


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    options.add_argument("--triples", type=int, default=500_000)
    options.add_argument("--rounds", type=int, default=5)
    given = options.parse_args()
    print(f"{'':4}{'':26}{'strings [s]':>12}{'numbers [s]':>12}{'gain':>6}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        passages, streets = write_passages(folder, given.triples), write_streets(folder)
        for workload in (WORKLOADS[0], WORKLOADS[2]):
            compare(workload.name[:2], workload.text, {STREAM: passages}, {None: streets}, given.rounds)
        detections, floorplan = write_detections(folder, given.triples // 5), write_floorplan(folder)
        compare("Q2", Instance("Q2", 0).text, {RFID: detections}, {FLOORPLAN: floorplan}, given.rounds)


def compare(
    name: str, text: str, streams: Mapping[str, Path], graphs: Mapping[str | None, Path], rounds: int
) -> None:  # fmt: skip
    store = RecordingStore(keep_from=0)
    for iri, path in graphs.items():
        store.load_graph(iri, open_graph(path, scope=str(iri)))
    sources = {iri: open_source(path, scope=iri) for iri, path in streams.items()}
    for _ in Run(store, SourceIntake(), [QuerySpec(parse(text), "answers")], sources).answers():
        pass
    statement = store.longest
    assert statement is not None
    assert statement.longest is not None
    rows, parameters = statement.longest
    connection = store.connection
    numbers = numbered(connection, statement.text)
    run = {
        "strings": lambda: connection.execute(statement.text, parameters).fetchall(),
        "numbers": lambda: connection.execute(numbers, parameters).fetchall(),
    }
    assert len(run["strings"]()) == len(run["numbers"]()) == rows
    report(name, f"statement, {rows:,} rows", run, rounds)
    inserted = {
        "strings": inserting(connection, "stream_1", "VARCHAR"),
        "numbers": inserting(connection, "stream_1_n", "BIGINT"),
    }
    report(name, "rows inserted", inserted, rounds)


def numbered(connection: duckdb.DuckDBPyConnection, text: str) -> str:
    """Makes tables with numbers for those that the statement reads; the statement over these."""
    read = ["stream_1", *sorted(set(re.findall(r"\bstatic_\d+\b", text)))]
    columns = {table: terms_of(connection, table) for table in read}
    every = " UNION ".join(f"SELECT {column} AS term FROM {table}" for table in read for column in columns[table])
    connection.execute(
        f"CREATE TEMP TABLE terms AS SELECT term, row_number() OVER (ORDER BY term) AS id FROM ({every})"
    )
    for table, terms in columns.items():
        replaced = ", ".join(f"of_{column}.id AS {column}" for column in terms)
        joins = " ".join(f"JOIN terms AS of_{column} ON of_{column}.term = {table}.{column}" for column in terms)
        query = f"SELECT * REPLACE ({replaced}) FROM {table} {joins}"
        connection.execute(f"CREATE TEMP TABLE {table}_n AS {query}")
        text = re.sub(rf"\b{table}\b", f"{table}_n", text)
    for constant in set(re.findall(r"'I[^']*'", text)):
        found = connection.execute(f"SELECT id FROM terms WHERE term = {constant}").fetchone()
        assert found is not None
        text = text.replace(constant, str(found[0]))
    return _FILTER.sub(r"\1 < \2", text)


def terms_of(connection: duckdb.DuckDBPyConnection, table: str) -> list[str]:
    described = connection.execute(f"SELECT column_name, column_type FROM (DESCRIBE {table})").fetchall()
    return [name for name, kind in described if kind == "VARCHAR"]


def inserting(connection: duckdb.DuckDBPyConnection, table: str, kind: str) -> Callable[[], object]:
    names = ("s", "p", "o", "ts", "element", "arrival", "since")
    rows = connection.execute(f"SELECT {', '.join(names)} FROM {table}").to_arrow_table()

    def insert() -> None:
        connection.execute(f"CREATE OR REPLACE TABLE copy (s {kind}, p {kind}, o {kind}, {_COLUMNS})")
        connection.register("incoming", rows)
        connection.execute("INSERT INTO copy SELECT * FROM incoming")
        connection.unregister("incoming")

    return insert


def report(name: str, what: str, ways: Mapping[str, Callable[[], object]], rounds: int) -> None:
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(rounds):
        for way, work in ways.items():
            began = time.process_time()
            work()
            best[way] = min(best[way], time.process_time() - began)
    strings, numbers = best.values()
    print(f"{name:4}{what:26}{strings:12.3f}{numbers:12.3f}{strings / numbers:6.2f}", flush=True)


if __name__ == "__main__":
    main()
