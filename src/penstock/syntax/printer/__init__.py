"""Prints a syntax tree as text: one SPARQL 1.1 printer, one small module per dialect.

For every tree that the dialect can express, parsing the printed text returns the same tree.
"""

from __future__ import annotations

from penstock.syntax import ast
from penstock.syntax.ast.queries import DialectName
from penstock.syntax.printer.cqels import CqelsPrinter
from penstock.syntax.printer.csparql import CsparqlPrinter
from penstock.syntax.printer.queries import QueryPrinter
from penstock.syntax.printer.reports import report_text
from penstock.syntax.printer.rspql import RspqlPrinter
from penstock.syntax.printer.sparqlstream import SparqlstreamPrinter
from penstock.syntax.printer.streaming_sparql import StreamingSparqlPrinter

__all__ = ["report_text", "to_text"]

_PRINTERS: dict[DialectName, type[QueryPrinter]] = {
    "rspql": RspqlPrinter,
    "csparql": CsparqlPrinter,
    "cqels": CqelsPrinter,
    "sparqlstream": SparqlstreamPrinter,
    "streaming-sparql": StreamingSparqlPrinter,
    "sparql": QueryPrinter,
}


def to_text(query: ast.Query) -> str:
    """The query in the syntax of its own dialect. Raises ValueError with the part that the dialect cannot express."""
    return _PRINTERS[query.dialect](query.prologue).query(query)
