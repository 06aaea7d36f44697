"""The cost of SPARQL expressions on the embedded engine: for planning and starting, and per row.

    python benchmarks/functions.py             # a table

How it is measured. Each expression is compiled and put into a statement over a table of terms, once with 10 rows and
once with `--rows`. Each statement runs `--repeats` times, in turns with all others; the lowest processor time of all
threads counts. With 10 rows this is the fixed cost of a statement: parsing, binding, optimising, and preparing
expressions such as regular expressions. `FILTER` counts the rows that satisfy a condition, `BIND` computes the value of
each row, `ORDER BY` sorts, and aggregates such as `MIN` use 100 groups.

The terms: `?a` and `?b` are integers, `?d` decimals, `?s` strings, `?t` dates with times, `?r` and `?q` IRIs. The
compiler knows the kind of term only for the IRIs, as it does for subjects.
"""

from __future__ import annotations

import argparse
import platform
import time
from dataclasses import dataclass

import duckdb
from sqlglot import exp

from penstock.algebra.building import build_expression
from penstock.algebra.expressions import Aggregate, Expression, Variable
from penstock.algebra.operators import Extend
from penstock.relational.functions.aggregates import finished, parts_of, readings_of
from penstock.relational.functions.catalogue import compile_condition, compile_expression
from penstock.relational.functions.families import RESOURCE, kind_of
from penstock.relational.functions.library import Library
from penstock.relational.functions.ordering import order_key
from penstock.syntax.query_reader import parse

CONDITIONS = """
?r != ?q
?a = ?b
?a != ?b
?a < ?b
?a > 10
?d > 10.5
?a + ?b > 10
?a * 2 >= ?b - 1
?s = "name 7"
?s < "name 7"
?t < "2024-06-01T00:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>
?t < ?t
?a IN (1, 2, 3)
?s IN ("name 1", "name 2")
?a
REGEX(?s, "7$")
?a > 10 && ?b < 50 || ?s = "name 7"
(?a = ?b) = (?a < 10)
?a * ?d = ?b
""".strip().splitlines()
VALUES = """
?a + ?b
?a - 1
?a * ?d
?a / ?b
ABS(?a - ?b)
STR(?a)
CONCAT(?s, "!")
STRLEN(?s)
IF(?a > 10, ?a, ?b)
IF(IF(?a > 10, ?b > 10, ?b > 20), ?a, ?b)
?a + ?b + ?d
(?a * ?b + 1) * 0.5
ROUND(?d * 10) / 10
UCASE(SUBSTR(?s, 2))
YEAR(?t)
""".strip().splitlines()
KINDS = {Variable("r"): RESOURCE, Variable("q"): RESOURCE}
ORDERS = ["?a", "?d", "?s", "?t", "?r"]

_TERMS = """
CREATE TABLE {table} AS
SELECT
  'i' || (range * 7919 % 1000) AS a, 'i' || (range * 104729 % 1000) AS b, 'd' || (range % 1000) || '.25' AS d,
  'Sname ' || (range % 1000) AS s, 't2024-' || lpad((range % 12 + 1)::VARCHAR, 2, '0') || '-15T10:00:00Z' AS t,
  'Ihttp://example.org/' || (range % 1000) AS r, 'Ihttp://example.org/' || (range % 7) AS q, range % 100 AS key
FROM range({rows})
"""
AGGREGATES = [("COUNT", "a"), ("SUM", "a"), ("AVG", "d"), ("MIN", "a"), ("MAX", "s")]


@dataclass(slots=True)
class Statement:
    name: str
    text: str
    few: float = float("inf")
    many: float = float("inf")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rows", type=int, default=100_000, metavar="N", help="in the large table (%(default)s)")
    parser.add_argument("--repeats", type=int, default=7, metavar="N", help="runs, the best counts (%(default)s)")
    arguments = parser.parse_args()
    statements = [
        *map(filtered, CONDITIONS),
        *map(computed, VALUES),
        *map(sorted_by, ORDERS),
        *map(grouped, AGGREGATES),
    ]
    with duckdb.connect() as connection:
        for table, rows in (("few", 10), ("many", arguments.rows)):
            connection.execute(_TERMS.format(table=table, rows=rows)).fetchall()
        library = Library(connection)
        for statement in statements:
            library.provide(statement.text)
        for _ in range(arguments.repeats):
            for statement in statements:
                statement.few = min(statement.few, processor_time(connection, statement.text, "few"))
                statement.many = min(statement.many, processor_time(connection, statement.text, "many"))
    print(f"Processor time in ms; Python {platform.python_version()}, DuckDB {duckdb.__version__}\n")
    print(f"{'':75}{'10 rows':>9}{f'{arguments.rows:,} rows':>14}")
    for statement in statements:
        print(f"{statement.name:75}{statement.few:9.1f}{statement.many:14.1f}")


def filtered(condition: str) -> Statement:
    where = compile_condition(expression_of(condition), column, kinds=KINDS)
    return Statement(f"FILTER ({condition})", f"SELECT count(*) FROM {{table}} AS terms WHERE {where.sql('duckdb')}")


def computed(value: str) -> Statement:
    compiled = compile_expression(expression_of(value), column, kinds=KINDS).sql("duckdb")
    counted = f"SELECT count(value) FROM (SELECT {compiled} AS value FROM {{table}} AS terms)"
    return Statement(f"BIND ({value} AS ?value)", counted)


def sorted_by(variable: str) -> Statement:
    expression = Variable(variable[1:])
    keys = ", ".join(key.sql("duckdb") for key in order_key(column(expression), kind_of(expression, KINDS)))
    return Statement(f"ORDER BY {variable} LIMIT 10", f"SELECT a FROM {{table}} AS terms ORDER BY {keys} LIMIT 10")


def grouped(of: tuple[str, str]) -> Statement:
    name, argument = of
    aggregate = Aggregate(name, Variable(argument))
    readings = {name: reading(exp.column(argument)).sql("duckdb") for name, reading in readings_of(aggregate).items()}
    read = ", ".join(["key", argument, *(f"{reading} AS {name}" for name, reading in readings.items())])
    parts = parts_of(aggregate, exp.column(argument), {name: exp.column(name) for name in readings})
    made = [f"{part.of_rows.sql('duckdb')} AS part{place}" for place, part in enumerate(parts.values())]
    columns = {name: exp.column(f"part{place}") for place, name in enumerate(parts)}
    term = finished(aggregate, columns, exp.column("size")).sql("duckdb")
    rows = f"(SELECT {read} FROM {{table}} AS terms)"
    portions = f"(SELECT count(*) AS size, {', '.join(made)} FROM {rows} GROUP BY key)"
    return Statement(f"{name}(?{argument})", f"SELECT count({term}) FROM {portions}")


def column(variable: Variable) -> exp.Expr:
    return exp.column(variable.name, "terms")


def expression_of(text: str) -> Expression:
    operator = build_expression(parse(f"SELECT ({text} AS ?result) {{}}"))
    while not isinstance(operator, Extend):
        [operator] = operator.children
    return operator.expression


def processor_time(connection: duckdb.DuckDBPyConnection, text: str, table: str) -> float:
    begin = time.process_time()
    connection.execute(text.replace("{table}", table)).fetchall()
    return (time.process_time() - begin) * 1000


if __name__ == "__main__":
    main()
