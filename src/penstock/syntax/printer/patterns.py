"""Graph patterns (SPARQL 1.1 §5 to §13, productions GroupGraphPattern to DataBlockValue)."""

from __future__ import annotations

from abc import abstractmethod

from penstock.syntax import ast
from penstock.syntax.printer.expressions import ExpressionPrinter
from penstock.syntax.printer.layout import block
from penstock.syntax.printer.triples import TriplesPrinter


class PatternPrinter(ExpressionPrinter, TriplesPrinter):
    """Patterns of SPARQL 1.1; a dialect that reads windows in patterns overrides the last three methods."""

    @abstractmethod
    def sub_select(self, query: ast.SubSelect) -> str:
        """SubSelect, which shares most parts with queries"""

    def group(self, opening: str, group: ast.Group) -> str:
        """GroupGraphPattern after `opening`, the keywords it belongs to"""
        if len(group.elements) > 1 and any(isinstance(element, ast.SubSelect) for element in group.elements):
            raise self.cannot("a sub-select next to other elements of its group; it needs its own braces")
        lines = [self.element(element) for element in group.elements]
        if group.window is not None:
            lines.append(self.group_window(group.window))
        return block(opening, lines)

    def element(self, element: ast.Element) -> str:
        """TriplesBlock, GraphPatternNotTriples"""
        match element:
            case ast.Triples():
                return self.triples(element)
            case ast.Group():
                return self.group("", element)
            case ast.SubSelect():
                return self.sub_select(element)
            case ast.Optional(pattern):
                return self.group("OPTIONAL", pattern)
            case ast.Minus(pattern):
                return self.group("MINUS", pattern)
            case ast.Union():
                return self._union(element)
            case ast.Filter(condition):
                return f"FILTER {self.constraint(condition)}"
            case ast.Bind(expression, variable):
                return f"BIND {self.named_expression(expression, variable)}"
            case ast.InlineData():
                return self.inline_data(element)
            case ast.Graph(name, pattern):
                return self.group(f"GRAPH {self.var_or_iri(name)}", pattern)
            case ast.Service(name, pattern, silent):
                return self.group(f"SERVICE {'SILENT ' if silent else ''}{self.var_or_iri(name)}", pattern)
            case ast.WindowBlock():
                return self.window_block(element)
            case ast.StreamBlock():
                return self.stream_block(element)

    def _union(self, union: ast.Union) -> str:
        """GroupOrUnionGraphPattern"""
        if len(union.patterns) < 2:
            raise self.cannot("a UNION of fewer than two groups")
        return " UNION ".join(self.group("", pattern) for pattern in union.patterns)

    def inline_data(self, data: ast.InlineData) -> str:
        """ValuesClause, InlineData: DataBlock"""
        rows = [" ".join("UNDEF" if value is None else self.constant(value) for value in row) for row in data.rows]
        variables = " ".join(map(self.variable, data.variables))
        match len(data.variables):
            case 0:
                return " ".join(["VALUES () {", *("()" for _ in rows), "}"])
            case 1:
                return " ".join([f"VALUES {variables} {{", *rows, "}"])
            case _:
                return block(f"VALUES ({variables})", [f"({row})" for row in rows])

    def group_window(self, window: ast.Window) -> str:
        raise self.cannot("a window at the end of a group")

    def window_block(self, element: ast.WindowBlock) -> str:
        raise self.cannot("a WINDOW block in a pattern")

    def stream_block(self, element: ast.StreamBlock) -> str:
        raise self.cannot("a STREAM block in a pattern")
