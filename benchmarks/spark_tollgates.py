"""Compares Penstock on Spark with hand-written PySpark jobs, one for each query.

    python benchmarks/spark_tollgates.py                        # all tables
    python benchmarks/spark_tollgates.py history sliding        # some
    python benchmarks/spark_tollgates.py --check                # and exit status 1 when a target is missed

How it is measured. The streams are always the same (penstock/bench/tollgates), with a static graph of the gates'
districts. All runs share one local Spark session with 4 GB of memory. First each answers a short stream as warm-up; the
answers must equal those of the embedded engine. Then all ways of one block take turns for `--rounds` rounds, so that
other load on the machine affects all of them equally; the best round of each counts.

history. From a text file to the answers in Parquet files, including parsing and planning: the hand-written job
(tollgate_spark/jobs.py), which may rely on knowledge about the stream, the embedded engine, and Penstock on Spark.
Ratios are relative to the job.

limits. The same for T1 to T3 alone (penstock/bench/limits): this suits many triples.

sliding. The time of one query on Penstock with increasing overlap of its windows.

growth. The time on Penstock over a tenth of `--triples`, and over all.

live. A folder of files, 10,000 lines each, one a micro-batch of a Structured Streaming query (tollgate_spark/live.py):
the time of a micro-batch from its trigger to its commit, and how many Spark jobs it takes, by hand and on Penstock.

conference. The same for the queries of CQELS (penstock/bench/cqels) with 100,000 static triples, on Penstock alone:
each is evaluated at each of the 10,000 detections of a micro-batch.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

sys.path.insert(0, str(Path(__file__).resolve().parent))

from targets import Target
from tollgate_spark.tables import Names, Table, conference, growth, history, limits, live, sliding

from penstock.engines.spark.session import session

TABLES: dict[str, Callable[[SparkSession, Path, int, int, Names], Table]] = {
    "history": history,
    "limits": limits,
    "sliding": sliding,
    "growth": growth,
    "live": live,
    "conference": conference,
}


SETTINGS = {"spark.driver.memory": "4g", "spark.sql.streaming.numRecentProgressUpdates": "10000"}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"of {', '.join(TABLES)} (all)")
    parser.add_argument("--check", action="store_true", help="exit 1 when a target is missed")
    parser.add_argument("--triples", type=int, default=500_000, metavar="N", help="in a stream (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="of which the best counts (%(default)s)")
    parser.add_argument("--only", nargs="+", default=[], metavar="WORKLOAD", help="as in: --only T1 COUNT Q1")
    parser.add_argument("--work", type=Path, metavar="FOLDER", help="keeps the data for another run")
    parser.add_argument("--master", default="local[*]", metavar="URL", help="where Spark runs (%(default)s)")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.tables if name not in TABLES]
    if unknown:
        parser.error(f"there is no table {unknown[0]}; there are {', '.join(TABLES)}")
    spark = session(arguments.master, SETTINGS)
    print(
        f"Python {platform.python_version()}, Spark {pyspark.__version__} on {spark.sparkContext.master}; "
        f"{os.cpu_count()} × {platform.machine()}, load {os.getloadavg()[0]:.1f}; {arguments.triples:,} triples"
    )
    targets: list[Target] = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.work or Path(temporary)
        folder.mkdir(exist_ok=True)
        for name in arguments.tables or TABLES:
            print(f"\n{name}")
            for told in TABLES[name](spark, folder, arguments.triples, arguments.rounds, arguments.only):
                print(told, flush=True)
                if isinstance(told, Target):
                    targets.append(told)
    spark.stop()
    return 1 if arguments.check and not all(target.is_met for target in targets) else 0


if __name__ == "__main__":
    sys.exit(main())
