"""The six dialects: the parser and the defaults of each (semantics.md §8, as one table)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal as OneOf

from penstock.syntax import ast
from penstock.syntax.parser.cqels import CqelsParser
from penstock.syntax.parser.csparql import CsparqlParser
from penstock.syntax.parser.queries import QueryRules
from penstock.syntax.parser.rspql import RspqlParser
from penstock.syntax.parser.sparqlstream import SparqlstreamParser
from penstock.syntax.parser.streaming_sparql import StreamingSparqlParser
from penstock.syntax.recognition import TITLES
from penstock.syntax.tokens import HYPHENATED_VARIABLE, VARIABLE

WINDOW_CLOSE = ast.Strategy("window-close")
NON_EMPTY = ast.Strategy("non-empty")
CONTENT_CHANGE = ast.Strategy("content-change")
ARRIVAL = ast.Strategy("arrival")
STREAM_END = ast.Strategy("stream-end")
CLOSED_AND_NOT_EMPTY = ast.AllOf((WINDOW_CLOSE, NON_EMPTY))


@dataclass(frozen=True, slots=True)
class Dialect:
    """The parser of a dialect, and its defaults: evaluation instants, streaming operator, set or bag content."""

    name: ast.DialectName
    parser: type[QueryRules]
    report: ast.Report
    operator: ast.Operator
    operator_is_written: bool
    duplicates: OneOf["set", "bag"]
    variable: str = VARIABLE

    @property
    def title(self) -> str:
        return TITLES[self.name]


_TABLE = (
    Dialect("rspql", RspqlParser, CLOSED_AND_NOT_EMPTY, "rstream", True, "set"),
    Dialect("csparql", CsparqlParser, CLOSED_AND_NOT_EMPTY, "rstream", False, "set", HYPHENATED_VARIABLE),
    Dialect("cqels", CqelsParser, ARRIVAL, "istream", False, "bag"),
    Dialect("sparqlstream", SparqlstreamParser, CLOSED_AND_NOT_EMPTY, "rstream", True, "set"),
    Dialect("streaming-sparql", StreamingSparqlParser, CONTENT_CHANGE, "rstream", False, "bag"),
    Dialect("sparql", QueryRules, ast.AnyOf((ARRIVAL, STREAM_END)), "istream", False, "set"),
)

DIALECTS: Mapping[ast.DialectName, Dialect] = {dialect.name: dialect for dialect in _TABLE}
