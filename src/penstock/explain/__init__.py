"""When results appear and why: the settings, windows, operators and evaluation instants of a query.

`explain` returns this as text, JSON, a Graphviz graph, a picture (SVG) or a page (HTML), or returns the SQL that the
engine runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal as OneOf

from penstock.algebra import Settings
from penstock.algebra.inputs import Inputs
from penstock.explain.document import Document, describe
from penstock.explain.dot import as_dot
from penstock.explain.json_document import as_json
from penstock.explain.page import as_html
from penstock.explain.picture import as_svg
from penstock.explain.sql import EngineName
from penstock.explain.text import as_text
from penstock.rdf.credentials import without_credentials
from penstock.rdf.elements import Element
from penstock.syntax import ast
from penstock.syntax.parser.reports import parse_report
from penstock.syntax.query_reader import read
from penstock.syntax.suggestions import did_you_mean

__all__ = ["FORMATS", "Document", "Format", "describe", "explain"]

Format = OneOf["text", "json", "dot", "svg", "html", "sql"]


def _safe(shown: Callable[[Document], str]) -> Callable[[Document], str]:
    """Removes passwords from the addresses of services."""
    return lambda document: without_credentials(shown(document))


FORMATS: Mapping[str, Callable[[Document], str]] = {
    "text": _safe(as_text),
    "json": _safe(as_json),
    "dot": _safe(as_dot),
    "svg": _safe(as_svg),
    "html": _safe(as_html),
    "sql": _safe(lambda document: document.sql),
}


def explain(
    text: str,
    format: Format | str = "text",
    *,
    dialect: ast.DialectName | str = "auto",
    prefixes: Mapping[str, str] | None = None,
    base: str | None = None,
    streams: Mapping[str, Iterable[Element]] | None = None,
    t0: int | OneOf["first"] = 0,
    report: str | None = None,
    operator: ast.Operator | None = None,
    duplicates: OneOf["set", "bag"] | None = None,
    lateness: int = 0,
    optimize: bool = True,
    engine: EngineName = "duckdb",
) -> str:
    """Explains a query: settings and where they come from, windows, operators, evaluation instants.

    `format` is text, json, dot, svg, html or sql. `streams` maps the IRI of each stream to its elements; with elements,
    the explanation includes a timeline. `t0`, `report`, `operator` and `duplicates` override the defaults of the
    dialect. `lateness` is in milliseconds. With `optimize=False` the query runs as written. `engine` selects whose SQL
    is shown, duckdb or spark; no engine is started. The other arguments are the same as for `parse`.

    >>> from penstock.explain import explain
    >>> text = "SELECT ?car FROM STREAM <http://ex.org/toll> [RANGE 10m STEP 1m] { ?gate <http://ex.org/sees> ?car }"
    >>> print(explain(text).partition("Windows")[2].partition("Operators")[0].strip())
    1. [RANGE 10m STEP 1m] on <http://ex.org/toll>, part of the default graph
         Every 1m a window of 10m closes: (c - 10m, c] for c = t0 + 10m, t0 + 11m and so on.
         windows from t0        (0, 10m]  (1m, 11m]  (2m, 12m]  …
           closing at           10m, 11m, 12m, …
         an element             at 30s is part of the content during [30s, 10m]
    """
    if format not in FORMATS:
        hint = did_you_mean(format, FORMATS) or f"there are {', '.join(FORMATS)}"
        raise ValueError(f"there is no format {format!r}; {hint}")
    query = read(text, dialect, prefixes=prefixes, base=base).query
    policy = None if report is None else parse_report(report)
    inputs = Inputs({iri: list(elements) for iri, elements in (streams or {}).items()}, lateness=lateness)
    settings = Settings(policy, operator, duplicates, t0)
    document = describe(
        query,
        text,
        settings,
        inputs,
        prefixes=prefixes,
        dialect_said_by_user=dialect != "auto",
        is_optimized=optimize,
        engine=engine,
    )
    return FORMATS[format](document)
