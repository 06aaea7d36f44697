"""Macros are defined when a statement calls them, with those that they call."""

from __future__ import annotations

import re
from importlib.resources import files

import duckdb
import pytest

from penstock.relational import functions
from penstock.relational.functions.library import Library, functions_called, macros, with_dependencies


class Recording:
    """A connection that remembers the scripts it ran."""

    def __init__(self) -> None:
        self.connection = duckdb.connect(":memory:")
        self.scripts: list[str] = []

    def execute(self, query: str) -> duckdb.DuckDBPyConnection:
        self.scripts.append(query)
        return self.connection.execute(query)


@pytest.mark.parametrize(
    ("engine", "made"), [("duckdb", ["sparql_derived_integer", "sparql_special_capitals"]), ("spark", [])]
)
def test_every_definition_is_found(engine: str, made: list[str]) -> None:
    assert sorted(macros(engine)) == sorted([*written_in("shared"), *written_in(engine), *made])


def written_in(folder: str) -> dict[str, str]:
    """The macros of a folder: their parameters and bodies, with one space where there are several."""
    scripts = [path.read_text(encoding="utf-8") for path in (files(functions) / folder).iterdir()]
    found = [re.findall(r"^CREATE.*? MACRO (\w+)(\(.*?);$", script, re.MULTILINE | re.DOTALL) for script in scripts]
    return {name: " ".join(text.split()) for one in found for name, text in one}


def test_no_macro_is_written_for_both_engines_alike() -> None:
    duckdb_macros, spark_macros = written_in("duckdb"), written_in("spark")
    assert [name for name, text in duckdb_macros.items() if spark_macros.get(name) == text] == []
    assert not written_in("shared").keys() & (duckdb_macros.keys() | spark_macros.keys())


@pytest.mark.parametrize("name", ["sparql_to_string", "sparql_order_key", "sparql_ucase", "sparql_sha512"])
def test_a_macro_comes_with_what_it_calls(name: str) -> None:
    connection = Recording()
    Library(connection).provide(f"SELECT {name.upper()}(a)")
    defined = [len(re.findall("CREATE", script)) for script in connection.scripts]
    assert defined == [len(with_dependencies({name}))]


def test_each_is_defined_once() -> None:
    connection = Recording()
    library = Library(connection)
    library.provide("SELECT sparql_str('I')")
    library.provide("SELECT sparql_str('I'), sparql_lexical('I')")
    library.provide("SELECT sparql_lang('I'), sparql_str('I')")
    assert ["sparql_lexical(" in script for script in connection.scripts] == [True, False]
    assert connection.connection.execute("SELECT sparql_str('Ia'), sparql_lang('Lde x')").fetchall() == [("Sa", "Sde")]


def test_what_is_called() -> None:
    assert functions_called("SELECT SPARQL_STR(x), sparql_own(y), sparql_lang FROM t") == {"sparql_str"}
