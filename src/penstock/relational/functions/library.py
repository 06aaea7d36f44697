"""The SPARQL functions as macros of an SQL engine: the files, and their installation on a connection.

Each engine has a folder, with macros of the same names; the folder `shared` has those that are the same on both. A file
has one theme. DuckDB defines macros; Spark has none, so calls are expanded (expansion.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from importlib.resources import files
from importlib.resources.abc import Traversable
from math import isinf
from typing import Any, Protocol

from sqlglot import exp

from penstock.rdf.encoding import INTEGER_TYPES

THEMES = ("terms", "numbers", "dates", "comparison", "strings", "casts", "hashes", "ordering", "aggregates")

_DEFINITION = re.compile(r"CREATE OR REPLACE TEMP MACRO (\w+)\(([^)]*)\) AS\s+(.*?);$", re.DOTALL | re.MULTILINE)
_CALL = re.compile(r"\bsparql_\w+(?=\()")


@dataclass(frozen=True, slots=True)
class Macro:
    definition: str
    parameters: tuple[str, ...]
    body: str


class Connection(Protocol):
    """What `install` needs of a connection; DuckDB's has it."""

    def execute(self, query: str) -> Any: ...


class Library:
    """The SPARQL functions on a connection, each defined when a statement first calls it.

    Defining all of them takes a fifth of a second, and most statements call few. They are temporary: each cursor has
    its own.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._defined: set[str] = set()

    def provide(self, statement: str) -> None:
        """Define the functions that `statement` calls, unless they are there."""
        needed = functions_called(statement) - self._defined
        if needed:
            missing = with_dependencies(needed) - self._defined
            script = "\n".join(macro.definition for name, macro in macros().items() if name in missing)
            self._connection.execute(script).fetchall()
            self._defined |= missing


def install(connection: Connection) -> None:
    """Define all SPARQL functions on `connection`; repeating it does no harm."""
    connection.execute("\n".join(macro.definition for macro in macros().values())).fetchall()


def functions_called(statement: str) -> set[str]:
    """The macros that a statement names, in upper or lower case."""
    named = set(_CALL.findall(statement.lower()))
    return named & macros().keys() if named else named


def with_dependencies(names: set[str]) -> set[str]:
    """The macros, and all macros that they call."""
    found: set[str] = set()
    pending = set(names)
    while pending:
        found |= pending
        pending = {called for name in pending for called in _calls()[name]} - found
    return found


@cache
def macros(engine: str = "duckdb") -> Mapping[str, Macro]:
    """The macros of an engine, ordered so that each follows those that it calls."""
    scripts = [path.read_text(encoding="utf-8") for path in _scripts(engine)]
    if engine == "duckdb":
        scripts += [_special_capitals(), _derived_integer()]
    found = {match[1]: _macro(match) for script in scripts for match in _DEFINITION.finditer(script)}
    called = {name: [other for other in _CALL.findall(macro.body) if other in found] for name, macro in found.items()}
    return {name: found[name] for name in TopologicalSorter(called).static_order()}


def _scripts(engine: str) -> Iterator[Traversable]:
    """The files with the macros that all engines share, and those of one engine."""
    folder = files(__package__)
    for path in (folder / part / f"{theme}.sql" for theme in THEMES for part in ("shared", engine)):
        if path.is_file():
            yield path


def _macro(found: re.Match[str]) -> Macro:
    return Macro(found[0], tuple(found[2].replace(" ", "").split(",")) if found[2] else (), found[3])


@cache
def _calls() -> Mapping[str, set[str]]:
    return {name: functions_called(macro.body) - {name} for name, macro in macros().items()}


def _special_capitals() -> str:
    """`sparql_special_capitals()`: the characters whose capital is several characters, as a map."""
    characters = [chr(code) for code in (*range(0x80, 0x2000), *range(0xFB00, 0xFB20))]
    special = {character: character.upper() for character in characters if len(character.upper()) > 1}
    keys = exp.Array(expressions=[exp.Literal.string(character) for character in special])
    values = exp.Array(expressions=[exp.Literal.string(capital) for capital in special.values()])
    body = exp.Anonymous(this="map", expressions=[keys, values]).sql("duckdb")
    return f"CREATE OR REPLACE TEMP MACRO sparql_special_capitals() AS {body};"


def _derived_integer() -> str:
    """`sparql_derived_integer()`: the pattern of an encoded integer of a derived type that is within its bounds."""
    types = []
    for name, (least, greatest) in INTEGER_TYPES.items():
        signed = [("-", -greatest, -least), (r"\+?", least, greatest)]
        numerals = [sign + _digits(max(0, low), high) for sign, low, high in signed if high >= 0]
        types.append(f"{name} ({'|'.join(numerals)})")
    return f"CREATE OR REPLACE TEMP MACRO sparql_derived_integer() AS 'n({'|'.join(types)})';"


def _digits(low: float, high: float) -> str:
    """The pattern of a number from 0 or 1 up to a bound, if there is one; it may begin with zeros."""
    if isinf(high):
        return "0*[1-9][0-9]*" if low else "[0-9]+"
    bound = str(int(high))
    shorter = [f"[0-9]{{1,{len(bound) - 1}}}"] if len(bound) > 1 else []
    smaller = [
        f"{bound[:place]}[0-{int(digit) - 1}][0-9]{{{len(bound) - place - 1}}}"
        for place, digit in enumerate(bound)
        if digit != "0"
    ]
    return f"0*({'|'.join([*shorter, *smaller, bound])})"
