"""How quick the embedded engine is: tollgates, beside pyoxigraph driven window by window.

    python benchmarks/tollgates.py                        # all tables
    python benchmarks/tollgates.py throughput latency     # some
    python benchmarks/tollgates.py --check                # and exit status 1 when a target is missed

How it is measured. The streams are made by this program, always the same (tollgate/data.py): 500,000 triples, 1,000 per
second of event time, with a static graph of the gates' districts. For `--rounds` rounds all ways of one table's block
take turns, so that whatever else the machine does meets all alike; the best round of each counts. The processor time is
that of all threads.

throughput. From the text of the query and the files to all rows as tuples of RDF terms: parsing, planning and
starting the engine included, in one process. `penstock` is a run on a new engine. `pyoxigraph` is the same query, its
patterns in the same order, asked of a store that holds a window (peers/pyoxigraph_windows.py); of the ways to fill that
store the quickest is taken for each query, found on the first 100,000 triples, where all answers are compared, too.
Oxigraph joins in an order that depends on how the query is written: for `pyoxigraph, by hand` the patterns stand in the
order that suits it best. `penstock run` is the command, with its start and its result lines. Ratios are to `penstock`.

sliding. The time of one query as its windows overlap more. An answer may have more rows then, for there are more
evaluations, or, under ISTREAM, more changes: the table says how many.

memory. The peak of a process that runs the query, evaluation by evaluation, over the stream and over one that is ten
times as long.

latency. A stream that comes in batches of 1,000 lines, 20 a second; windows have 10,000 triples. The clock runs from
the arrival of the batch that moves the watermark past the closing instant, its lines not yet parsed, to the evaluation
with its rows.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyoxigraph

sys.path.insert(0, str(Path(__file__).resolve().parent))

from tollgate.latency import latency
from tollgate.measuring import Target
from tollgate.memory import memory
from tollgate.sliding import sliding
from tollgate.throughput import throughput

TABLES: dict[str, Callable[[Path, int, int], tuple[str, list[Target]]]] = {
    "throughput": throughput,
    "sliding": sliding,
    "latency": latency,
    "memory": memory,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"of {', '.join(TABLES)} (all)")
    parser.add_argument("--check", action="store_true", help="exit 1 when a target is missed")
    parser.add_argument("--triples", type=int, default=500_000, metavar="N", help="in a stream (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="of which the best counts (%(default)s)")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.tables if name not in TABLES]
    if unknown:
        parser.error(f"there is no table {unknown[0]}; there are {', '.join(TABLES)}")
    print(
        f"Python {platform.python_version()}, DuckDB {duckdb.__version__}, pyoxigraph {pyoxigraph.__version__}; "
        f"{os.cpu_count()} × {platform.machine()}, load {os.getloadavg()[0]:.1f}; {arguments.triples:,} triples"
    )
    targets: list[Target] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.tables or TABLES:
            text, wanted = TABLES[name](Path(folder), arguments.triples, arguments.rounds)
            print(f"\n{name}\n{text}", flush=True)
            targets += wanted
    print("\ntargets", *targets, sep="\n")
    return 1 if arguments.check and not all(target.is_met for target in targets) else 0


if __name__ == "__main__":
    sys.exit(main())
