"""The time to load a stream into the embedded engine: by columns, and element by element.

    python benchmarks/load.py             # a table
    python benchmarks/load.py --check     # and exit status 1 when a file loads under a million triples per second

How it is measured. The stream is one of tollgates (penstock/bench/tollgates): `--triples` lines such as

    <http://ex.org/gate7> <http://ex.org/registers> <http://ex.org/car123> "3600001" .

ordered by time. All ways take turns for `--repeats` rounds, so that other load on the machine affects all of them
equally; the best round of each counts. The second figure is the processor time of all threads, which is more reliable
on a busy machine.

`file, loaded` reads the file in batches, as a run does, with a thread that reads ahead, and inserts them into a table.
`file, batches only` skips the insertion. `lines, 1,000 at a time` decodes lines in memory, like a live source. `quads,
batches only` reads the same triples as N-Quads, each in its own graph with its time in the default graph. `read_stream,
inserted` creates the same table from Python objects, one for each element. `pyoxigraph, parsed only` is pyoxigraph's
N-Triples parser, in Rust, over the same triples without timestamps, from memory; its output is discarded. The loaded
tables are compared with each other before any time is measured.
"""

from __future__ import annotations

import argparse
import gc
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import duckdb
import pyarrow as pa
import pyoxigraph

from penstock.bench.tollgates.data import stream_lines
from penstock.rdf.conversion import encode_oxigraph
from penstock.rdf.elements import Malformed
from penstock.rdf.stream_reader import GENERATED_AT_TIME, read_stream
from penstock.sources import Feed, open_source
from penstock.sources.lines import Lines
from penstock.sources.tnt import decode_tnt

LEAST_PER_SECOND = 1_000_000
LIVE_BATCH = 1_000
LOADING = "file, loaded"

_TABLE = "CREATE OR REPLACE TEMP TABLE {} (s VARCHAR, p VARCHAR, o VARCHAR, ts BIGINT, seq BIGINT)"


class Time(NamedTuple):
    wall: float
    processor: float


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--check", action="store_true", help=f"exit 1 when under {LEAST_PER_SECOND:,} triples/s")
    parser.add_argument("--triples", type=int, default=500_000, metavar="N", help="how many (%(default)s)")
    parser.add_argument(
        "--repeats", type=int, default=5, metavar="N", help="rounds, of which the best counts (%(default)s)"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, duckdb.connect(":memory:") as connection:
        path = Path(folder) / "toll.tnt"
        lines = [line.rstrip("\n") for line in stream_lines("passages", arguments.triples)]
        path.write_text("".join(f"{line}\n" for line in lines))
        ways = ways_of_loading(connection, path, lines)
        compare(connection, ways)
        times = measure(ways, arguments.repeats)
    print(table(times, arguments.triples))
    per_second = arguments.triples / times[LOADING].wall
    if not arguments.check:
        return 0
    verdict = "at least" if per_second >= LEAST_PER_SECOND else "under"
    print(f"\nA file's {per_second:,.0f} triples/s are {verdict} the {LEAST_PER_SECOND:,} that it should load.")
    return 0 if per_second >= LEAST_PER_SECOND else 1


def ways_of_loading(
    connection: duckdb.DuckDBPyConnection, path: Path, lines: list[str]
) -> dict[str, Callable[[], object]]:
    triples = "".join(line.rpartition(' "')[0] + " .\n" for line in lines).encode()
    batches = [
        Lines("".join(f"{line}\n" for line in lines[first : first + LIVE_BATCH]).encode())
        for first in range(0, len(lines), LIVE_BATCH)
    ]
    quads = path.with_suffix(".nq")
    quads.write_text("".join(map(as_quads, lines, range(len(lines)))))

    def decode() -> None:
        for number, batch in enumerate(batches):
            first_line = 1 + number * LIVE_BATCH
            decode_tnt(batch, name="socket", first_line=first_line, scope="toll", on_malformed=refuse)

    return {
        LOADING: lambda: load(connection, path),
        "file, batches only": lambda: sum(batch.elements for batch in open_source(path, scope="toll").batches()),
        "lines, 1,000 at a time": decode,
        "quads, batches only": lambda: sum(batch.elements for batch in open_source(quads, scope="toll").batches()),
        "read_stream, inserted": lambda: read_and_insert(connection, path),
        "pyoxigraph, parsed only": lambda: sum(1 for _ in pyoxigraph.parse(triples, pyoxigraph.RdfFormat.N_TRIPLES)),
    }


def as_quads(line: str, number: int) -> str:
    triple, _, time = line.removesuffix(" .").rpartition(" ")
    return f"{triple} <urn:g:{number}> .\n<urn:g:{number}> <{GENERATED_AT_TIME}> {time} .\n"


def load(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    connection.execute(_TABLE.format("loaded"))
    feed = Feed(open_source(path, scope="toll"))
    count = 0
    while (batch := feed.take(None)) is not None:
        rows = batch.table
        connection.register("rows", rows)
        connection.execute("INSERT INTO loaded SELECT s, p, o, ts, element + 1 + ? FROM rows", [count]).fetchall()
        connection.unregister("rows")
        count += batch.elements


def read_and_insert(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    elements = sorted(read_stream(path, scope="toll", on_malformed=refuse), key=lambda element: element.time)
    rows = [
        (
            encode_oxigraph(triple.subject),
            encode_oxigraph(triple.predicate),
            encode_oxigraph(triple.object),
            time,
            number,
        )
        for number, (time, triples, _) in enumerate(elements, 1)
        for triple in triples
    ]
    columns = dict(zip(("s", "p", "o", "ts", "seq"), map(pa.array, zip(*rows, strict=True)), strict=True))
    connection.register("rows", pa.table(columns))
    connection.execute(_TABLE.format("inserted"))
    connection.execute("INSERT INTO inserted SELECT * FROM rows ORDER BY seq")
    connection.unregister("rows")


def refuse(malformed: Malformed) -> None:
    raise ValueError(malformed)


def compare(connection: duckdb.DuckDBPyConnection, ways: dict[str, Callable[[], object]]) -> None:
    for load in ways.values():
        load()
    for left, right in (("loaded", "inserted"), ("inserted", "loaded")):
        difference = f"SELECT count(*) FROM (SELECT * FROM {left} EXCEPT ALL SELECT * FROM {right})"
        assert connection.execute(difference).fetchall() == [(0,)], f"{left} is not {right}"


def measure(ways: dict[str, Callable[[], object]], repeats: int) -> dict[str, Time]:
    """The best wall time and the best processor time of each way, in seconds."""
    best = dict.fromkeys(ways, Time(float("inf"), float("inf")))
    for _ in range(repeats):
        for name, load in ways.items():
            gc.collect()
            wall, processor = time.perf_counter(), time.process_time()
            load()
            taken = Time(time.perf_counter() - wall, time.process_time() - processor)
            best[name] = Time(*map(min, best[name], taken))
    return best


def table(times: dict[str, Time], triples: int) -> str:
    lines = [
        f"Loading {triples:,} triples; Python {platform.python_version()}, DuckDB {duckdb.__version__}, "
        f"pyarrow {pa.__version__}, pyoxigraph {pyoxigraph.__version__}; "
        f"{os.cpu_count()} × {platform.machine()}, load {os.getloadavg()[0]:.1f}",
        "",
        f"{'':26}{'wall':>10}{'processor':>12}{'triples/s':>13}{'ratio':>8}{'per processor s':>18}{'ratio':>8}",
    ]
    own = times[LOADING]
    for name, (wall, processor) in times.items():
        lines.append(
            f"{name:26}{wall:8.3f} s{processor:10.3f} s{triples / wall:13,.0f}{wall / own.wall:8.1f}"
            f"{triples / processor:18,.0f}{processor / own.processor:8.1f}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
