"""Syntax that streaming dialects share: `timestamp(…)`, `FROM STREAM` clauses, `STREAM` blocks."""

from __future__ import annotations

from abc import abstractmethod

from penstock.syntax import ast
from penstock.syntax.printer.queries import QueryPrinter


class StreamQueryPrinter(QueryPrinter):
    has_timestamps = True


class FromStreamPrinter(StreamQueryPrinter):
    """`FROM NAMED? STREAM iri`: C-SPARQL, SPARQLstream and Streaming SPARQL, each with its own way to add a window."""

    @abstractmethod
    def window_of_clause(self, window: ast.Window | None) -> str:
        """The window as it follows the stream's IRI, or '' for none"""

    def window_clause(self, clause: ast.WindowClause) -> str:
        if isinstance(clause.stream, ast.Variable):
            raise self.cannot("FROM STREAM with a variable")
        if clause.name is not None:
            raise self.cannot("a window with a name of its own")
        if clause.settings != ast.WindowSettings():
            raise self.cannot("the report policy, the origin or the duplicates of a window")
        words = ["FROM NAMED STREAM" if clause.named else "FROM STREAM", self.constant(clause.stream)]
        window = self.window_of_clause(clause.window)
        return " ".join([*words, window] if window else words)


class StreamBlockPrinter(StreamQueryPrinter):
    """`STREAM name [window] { … }`: CQELS and SPARQLstream."""

    @abstractmethod
    def window_of_block(self, window: ast.Window | None) -> str:
        """The window as it follows the stream's name, or '' for none"""

    def stream_block(self, element: ast.StreamBlock) -> str:
        words = ["STREAM", self.var_or_iri(element.stream)]
        window = self.window_of_block(element.window)
        return self.group(" ".join([*words, window] if window else words), element.pattern)
