"""The SPARQL functions as macros of an SQL engine: what to read, and how to install it on a connection.

The files say the same thing by theme, in the order in which they build on each other. Spark gets a folder beside
`duckdb/` with functions of the same names.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any, Protocol

from sqlglot import exp

THEMES = ("terms", "numbers", "dates", "comparison", "strings", "casts", "hashes", "ordering", "aggregates")


class Connection(Protocol):
    """What `install` needs of a connection; DuckDB's has it."""

    def execute(self, query: str) -> Any: ...


def install(connection: Connection) -> None:
    """Define the SPARQL functions on `connection`; again does no harm. They are temporary: each cursor has its own."""
    connection.execute(library_text()).fetchall()


@cache
def library_text() -> str:
    """All macros, as one script."""
    folder = files(__package__) / "duckdb"
    scripts = [(folder / f"{theme}.sql").read_text(encoding="utf-8") for theme in THEMES]
    return "\n".join([_special_capitals(), *scripts])


def _special_capitals() -> str:
    """`sparql_special_capitals()`: the characters whose capital is several characters, as a map."""
    characters = [chr(code) for code in (*range(0x80, 0x2000), *range(0xFB00, 0xFB20))]
    special = {character: character.upper() for character in characters if len(character.upper()) > 1}
    keys = exp.Array(expressions=[exp.Literal.string(character) for character in special])
    values = exp.Array(expressions=[exp.Literal.string(capital) for capital in special.values()])
    body = exp.Anonymous(this="map", expressions=[keys, values]).sql("duckdb")
    return f"CREATE OR REPLACE TEMP MACRO sparql_special_capitals() AS {body};"
