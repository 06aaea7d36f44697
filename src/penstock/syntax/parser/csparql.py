"""C-SPARQL (dialects.md), with the leniency that its printed listings need (semantics.md §8)."""

from __future__ import annotations

from penstock.syntax import ast
from penstock.syntax.parser.expressions import AGGREGATES
from penstock.syntax.parser.queries import QueryRules
from penstock.syntax.parser.streams import StreamRules

_COUNTS = frozenset(("ROWS", "TUPLES", "TRIPLE", "ELEMENTS", "ELEMS", "ITEM", "ITEMS"))
"""Words of other languages for the triples of a window."""


class CsparqlParser(StreamRules):
    dialect = "csparql"
    keywords = QueryRules.keywords | {"REGISTER", "FROM"}
    has_computed_every = True

    def register_and_prologue(self) -> ast.Register | None:
        """REGISTER …, PREFIX … and FROM … may precede the form in any order."""
        self.prologue()
        register = self.register()
        self.dataset()
        self.prologue()
        return register

    # Commas in the projection, which are part of the dialect here

    def at_projection(self) -> bool:
        return self.accept(",") or QueryRules.at_projection(self)

    # The window of FROM STREAM

    def window(self) -> ast.Window:
        start = self.position
        if self.kind in _COUNTS and self.following() == "int":
            self.fail("RANGE", f"write [RANGE TRIPLES {self.texts[self.position + 1]}]")
        self.expect("RANGE", "as in [RANGE 10s STEP 1s] or [RANGE TRIPLES 5]")
        if self.accept("TRIPLES"):
            return ast.CountWindow(self.count("triples"), span=self.span_from(start))
        start_of_width = self.position
        width = self.duration("after RANGE")
        written = self.tokens.text[self.starts[start_of_width] : self.tokens.end(self.position - 1)]
        self.accept_comma("TUMBLING")
        if self.accept("TUMBLING"):
            return ast.RangeWindow(width, width, span=self.span_from(start))
        if self.kind == "]":
            hint = f"for windows that follow each other, write [RANGE {written} TUMBLING]"
            self.fail("STEP and a duration, or TUMBLING", hint)
        if not self.accept_step():
            self.fail_in_window("STEP and a duration, or TUMBLING")
        return ast.RangeWindow(width, self.duration("after STEP"), span=self.span_from(start))

    # AGGREGATE

    def after_where(self) -> None:
        while self.accept("AGGREGATE"):
            self.expect("{", "after AGGREGATE")
            self.aggregates.append(self._aggregate_clause())
            while self.accept(".") or self.accept(",") or self.kind == "(":
                self.aggregates.append(self._aggregate_clause())
            self.expect("}", "to close AGGREGATE")

    def _aggregate_clause(self) -> ast.AggregateClause:
        """`(?v, FUNC(?x), {?g1, ?g2}) FILTER (…)`."""
        start = self.position
        self.expect("(", "before an aggregate, as in (?n, COUNT(?x), {?g})")
        variable = self.variable("a new variable for the aggregate")
        self.expect(",", "after the variable")
        function = self._aggregate_function()
        self.expect(",", "before the variables to group by")
        group = self._aggregate_group()
        inner_filter = self.filter() if self.kind == "FILTER" else None
        self.expect(")", "to close the aggregate")
        clause_filter = self.filter() if inner_filter is None and self.kind == "FILTER" else inner_filter
        return ast.AggregateClause(variable, function, group, clause_filter, span=self.span_from(start))

    def _aggregate_function(self) -> ast.Aggregate:
        if self.kind not in AGGREGATES:
            self.fail("an aggregate function: COUNT, SUM, AVG, MIN or MAX", keywords=AGGREGATES)
        if self.following() == "(":
            return self.aggregate()
        start = self.position
        name = self.advance().upper()
        return ast.Aggregate(name, None, span=self.span_from(start))

    def _aggregate_group(self) -> tuple[ast.Variable, ...]:
        if self.kind == "var":
            return (self.variable(),)
        self.expect("{", "before the variables to group by")
        variables: list[ast.Variable] = []
        while not self.accept("}"):
            variables.append(self.variable("a variable to group by, or `}`"))
            self.accept(",")
        return tuple(variables)

    # timestamp(), also as f:timestamp(?s, ?p, ?o)

    def function_call(
        self, name: ast.Constant, arguments: tuple[ast.Expression, ...], distinct: bool, start: int
    ) -> ast.Expression:
        if name.text.lower().endswith(("#timestamp", "/timestamp", ":timestamp")) and not distinct:
            return ast.Call("TIMESTAMP", arguments, span=self.span_from(start))
        return super().function_call(name, arguments, distinct, start)
