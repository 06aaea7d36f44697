"""The time to parse a query: Penstock, rdflib and pyoxigraph, over the SPARQL 1.1 queries of the W3C.

    python benchmarks/parse.py            # a table
    python benchmarks/parse.py --check    # and exit status 1 when Penstock's median is over 0.3 ms

How it is measured. The queries are those of the positive syntax tests and evaluation tests of the W3C suite
(244 files in ../shared/data/w3c-sparql11). Each reader reads every query once to warm up; then, for `--repeats` rounds,
all readers take turns at one query after another, so that other load on the machine affects all of them equally. A
query's time is the best of its rounds, which reduces noise. The table has the median and the 95th percentile
over the queries, and the ratios of the medians. Garbage collection is off while the clock runs.

What each reader does. Penstock: `penstock.parse(text, "sparql")`, tokens to syntax tree and all checks, with a source
span on every node. rdflib: `prepareQuery`, which parses and translates to algebra, and `parseQuery`, which only parses.
pyoxigraph has no separate parser: `Store.query` on an empty store is the closest call, so its times include planning
the query and starting its evaluation; it is written in Rust. A query that a reader rejects is left out of
that reader's figures; the table says how many it read.
"""

from __future__ import annotations

import argparse
import gc
import logging
import platform
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pyoxigraph
import rdflib
from rdflib.plugins.sparql import prepareQuery
from rdflib.plugins.sparql.parser import parseQuery

import penstock

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.corpora import w3c
from tests.corpora.samples import ABSENT

MOST_MILLISECONDS = 0.3
BASE = "http://example.org/base/"

_EMPTY_STORE = pyoxigraph.Store()

READERS: dict[str, Callable[[str], object]] = {
    "penstock": lambda text: penstock.parse(text, "sparql"),
    "pyoxigraph (Store.query)": lambda text: _EMPTY_STORE.query(text, base_iri=BASE),
    "rdflib (parseQuery)": parseQuery,
    "rdflib (prepareQuery)": lambda text: prepareQuery(text, base=BASE),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--check", action="store_true", help=f"exit 1 when the median is over {MOST_MILLISECONDS} ms")
    parser.add_argument(
        "--repeats", type=int, default=7, metavar="N", help="rounds, of which the best counts (%(default)s)"
    )
    arguments = parser.parse_args()
    texts = [sample.text for sample in w3c.positive()]
    if not texts:
        print(ABSENT, file=sys.stderr)
        return 2
    times = measure(texts, arguments.repeats)
    print(table(times, len(texts)))
    median = statistics.median(times["penstock"])
    if not arguments.check:
        return 0
    verdict = "within" if median <= MOST_MILLISECONDS else "over"
    print(f"\nPenstock's median of {median:.3f} ms is {verdict} the {MOST_MILLISECONDS} ms that it may take.")
    return 0 if median <= MOST_MILLISECONDS else 1


def measure(texts: list[str], repeats: int) -> dict[str, list[float]]:
    """For each reader the best time of each query that it reads, in ms."""
    logging.disable(logging.WARNING)  # rdflib warns about odd literals
    best = {
        name: {i: float("inf") for i, text in enumerate(texts) if _reads(read, text)} for name, read in READERS.items()
    }
    gc.disable()
    for _ in range(repeats):
        for i, text in enumerate(texts):
            for name, read in READERS.items():
                if i in best[name]:
                    begin = time.perf_counter()
                    read(text)
                    best[name][i] = min(best[name][i], (time.perf_counter() - begin) * 1000)
            gc.collect(0)
    gc.enable()
    return {name: list(times.values()) for name, times in best.items()}


def _reads(read: Callable[[str], object], text: str) -> bool:
    try:
        read(text)
    except Exception:
        return False
    return True


def table(times: dict[str, list[float]], queries: int) -> str:
    lines = [
        f"Reading {queries} W3C queries; Python {platform.python_version()}, rdflib {rdflib.__version__}, "
        f"pyoxigraph {pyoxigraph.__version__}; {platform.machine()}",
        "",
        f"{'':26}{'read':>6}{'median':>12}{'95 %':>12}{'ratio':>9}",
    ]
    own = statistics.median(times["penstock"])
    for name, measured in times.items():
        median = statistics.median(measured)
        percentile = statistics.quantiles(measured, n=20)[-1]
        lines.append(f"{name:26}{len(measured):6}{median:9.3f} ms{percentile:9.3f} ms{median / own:9.1f}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
