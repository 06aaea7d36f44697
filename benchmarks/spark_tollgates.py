"""What the tollgate queries take on Spark, as jobs that are written by hand in PySpark, one for each query.

    python benchmarks/spark_tollgates.py                        # all tables
    python benchmarks/spark_tollgates.py history --rounds 5     # some
    python benchmarks/spark_tollgates.py --triples 2000000

How it is measured. The streams are made by this program, always the same (tollgate/data.py), with a static graph of the
gates' districts. All runs are in one local Spark session. First each job answers a short stream, which warms it up; its
answers have to be those of the embedded engine. Then for `--rounds` rounds all workloads take turns; the best round of
each counts.

history. From a file of text to the answers in Parquet files (tollgate_spark/jobs.py).

live. A folder of files, 10,000 lines each, one a micro-batch of a Structured Streaming query (tollgate_spark/live.py):
the time of a micro-batch from its trigger to its commit, and how many Spark jobs it takes.
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

from tollgate_spark.tables import history, live

from penstock.engines.spark_session import session

TABLES: dict[str, Callable[[SparkSession, Path, int, int], str]] = {"history": history, "live": live}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"of {', '.join(TABLES)} (all)")
    parser.add_argument("--triples", type=int, default=500_000, metavar="N", help="in a stream (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="of which the best counts (%(default)s)")
    parser.add_argument("--master", default="local[*]", metavar="URL", help="where Spark runs (%(default)s)")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.tables if name not in TABLES]
    if unknown:
        parser.error(f"there is no table {unknown[0]}; there are {', '.join(TABLES)}")
    spark = session(arguments.master, {"spark.driver.memory": "4g"})
    print(
        f"Python {platform.python_version()}, Spark {pyspark.__version__} on {spark.sparkContext.master}; "
        f"{os.cpu_count()} × {platform.machine()}, load {os.getloadavg()[0]:.1f}; {arguments.triples:,} triples"
    )
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.tables or TABLES:
            text = TABLES[name](spark, Path(folder), arguments.triples, arguments.rounds)
            print(f"\n{name}\n{text}", flush=True)
    spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
