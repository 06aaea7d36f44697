"""Every function of SPARQL, nested 64 levels deep: the time to plan and to answer.

    python benchmarks/deep_expressions.py                  # a table, the slowest first
    python benchmarks/deep_expressions.py --check          # exit status 1 if one takes longer than a second
    python benchmarks/deep_expressions.py --engine spark   # as Spark SQL, with a session that is ready

How it is measured. A query has the expression in SELECT, and another has it in FILTER, over a window of five elements.
On DuckDB the time is from the text of the query to its answer. On Spark it is that of the expression over five rows,
from the syntax tree to the values. The slower of both counts, by the clock, with processor time beside it. Forms that
have two pairs of parentheses per level are nested 32 levels deep, for a query has at most 100.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sqlglot import exp
from tests.bounded import run_bounded
from tests.relational.deep_expressions import depth_of, nested
from tests.relational.function_cases import expression_of
from tests.relational.test_deep_expressions import INPUTS, QUERY
from tests.relational.test_functions_nesting import FORMS

from penstock.engines.duckdb.store import DuckDBStore
from penstock.relational.functions.catalogue import compile_condition, compile_expression
from penstock.relational.functions.expansion import expanded
from penstock.relational.functions.nesting import MOST_WEIGHT_DISTRIBUTED
from penstock.relational.spark_sql import to_spark
from penstock.syntax import parse

Times = tuple[float, float]
"""By the clock, and of the processor."""
Timed = Callable[[str], list[Times]]

MOST_SECONDS = 1
ROWS = [("i1", "i2"), ("d2.5", "i2"), ("Sx", "i2"), ("btrue", "i2"), ("i0", "i2")]


def on_duckdb() -> Timed:
    store = DuckDBStore()

    def timed(expression: str) -> list[Times]:
        text = expression.replace("?a", "?n").replace("?b", "2")
        return [
            _seconds(lambda query=query: list(run_bounded(parse(query, "csparql"), INPUTS, store=store)))
            for query in (QUERY % (text, ""), QUERY % ("?n", f"FILTER ({text})"))
        ]

    return timed


def on_spark() -> Timed:
    from penstock.engines.spark.session import session

    spark = session()
    spark.createDataFrame(ROWS, "a STRING, b STRING").createOrReplaceTempView("terms")

    def timed(expression: str) -> list[Times]:
        def column(compiler: Callable[..., exp.Expr]) -> str:
            tree = compiler(
                expression_of(expression),
                lambda variable: exp.column(variable.name, "terms"),
                most_weight=MOST_WEIGHT_DISTRIBUTED,
            )
            return expanded(to_spark(tree))

        return [
            _seconds(lambda: spark.sql(f"SELECT {column(compile_expression)} FROM terms").collect()),
            _seconds(lambda: spark.sql(f"SELECT * FROM terms WHERE {column(compile_condition)}").collect()),
        ]

    return timed


def _seconds(run: Callable[[], object]) -> Times:
    began, busy = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - began, time.process_time() - busy


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--engine", choices=["duckdb", "spark"], default="duckdb")
    parser.add_argument("--check", action="store_true", help="status 1 when a form takes longer than a second")
    arguments = parser.parse_args()
    timed = on_duckdb() if arguments.engine == "duckdb" else on_spark()
    timed("ABS(?a)")
    found = sorted(((max(timed(nested(form, depth_of(form)))), form) for form in FORMS), reverse=True)
    print("   clock  processor")
    for (clock, processor), form in found:
        print(f"{clock:6.2f} s {processor:8.2f} s  {form}")
    slow = [form for (clock, _), form in found if clock > MOST_SECONDS]
    print(f"{len(found) - len(slow)} of {len(found)} forms within {MOST_SECONDS} s")
    return 1 if arguments.check and slow else 0


if __name__ == "__main__":
    sys.exit(main())
