"""C-SPARQL: REGISTER before the prologue, FROM STREAM with a window in brackets, AGGREGATE after the pattern."""

from __future__ import annotations

from penstock.syntax import ast
from penstock.syntax.printer.durations import compact
from penstock.syntax.printer.layout import block
from penstock.syntax.printer.streams import FromStreamPrinter
from penstock.syntax.printer.terms import bare_name
from penstock.syntax.recognition import TITLES
from penstock.syntax.tokens import HYPHENATED_VARIABLE


class CsparqlPrinter(FromStreamPrinter):
    title = TITLES["csparql"]
    variable_token = HYPHENATED_VARIABLE
    registers_before_prologue = True

    def registration(self, query: ast.Query) -> list[str]:
        register = query.register
        if register is None:
            return []
        every = "" if register.every is None else f" COMPUTED EVERY {compact(register.every)}"
        return [f"REGISTER {register.kind.upper()} {bare_name(register.name)}{every} AS"]

    def window_of_clause(self, window: ast.Window | None) -> str:
        match window:
            case ast.RangeWindow(width, step) if step == width:
                return f"[RANGE {compact(width)} TUMBLING]"
            case ast.RangeWindow(width, int(step)):
                return f"[RANGE {compact(width)} STEP {compact(step)}]"
            case ast.CountWindow(size, None, False):
                return f"[RANGE TRIPLES {size}]"
            case _:
                raise self.cannot("a window other than RANGE with STEP or TUMBLING and RANGE TRIPLES")

    def aggregates(self, clauses: tuple[ast.AggregateClause, ...]) -> list[str]:
        return [block("AGGREGATE", list(map(self._aggregate_clause, clauses)))] if clauses else []

    def _aggregate_clause(self, clause: ast.AggregateClause) -> str:
        aggregate = clause.aggregate
        is_bare = aggregate.argument is None and not aggregate.distinct
        function = aggregate.name if is_bare else self.aggregate(aggregate)
        group = ", ".join(map(self.variable, clause.group))
        text = f"({self.variable(clause.variable)}, {function}, {{{group}}})"
        return text if clause.filter is None else f"{text} {self.element(clause.filter)}"
