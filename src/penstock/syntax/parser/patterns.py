"""Graph patterns (SPARQL 1.1 grammar rules 53 to 68)."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, NoReturn

from penstock.syntax import ast
from penstock.syntax.parser.cursor import MAX_PROBLEMS, MAX_SIDES, ParseFailure
from penstock.syntax.parser.triples import TripleRules
from penstock.syntax.suggestions import closest


class PatternRules(TripleRules):
    element_rules: ClassVar[dict[str, str]] = {
        "{": "group_or_union",
        "OPTIONAL": "optional",
        "FILTER": "filter",
        "GRAPH": "graph",
        "BIND": "bind",
        "VALUES": "inline_data",
        "MINUS": "minus",
        "SERVICE": "service",
    }
    """Maps the first token of a group element to the rule that reads it (rule 56); dialects add their own."""

    element_keywords = frozenset(element_rules)
    group_ends: frozenset[str] = frozenset(("}", "eof"))

    def sub_select(self) -> ast.SubSelect:
        raise NotImplementedError("QueryRules says what a sub-select is")

    def group(self) -> ast.Group:
        """Rule 53: GroupGraphPattern."""
        start = self.position
        self.enter()
        self.expect("{", "to begin a graph pattern")
        if self.kind == "SELECT":
            elements: list[ast.Element] = [self.sub_select()]
            window = None
        else:
            elements = self._group_elements()
            window = self.group_window()
        if not self.accept("}"):
            self._fail_unclosed(start)
        self.leave()
        return ast.Group(tuple(elements), window, span=self.span_from(start))

    def group_window(self) -> ast.Window | None:
        """The window at the end of a group, in dialects that have one."""
        return None

    def _group_elements(self) -> list[ast.Element]:
        """Rule 54: GroupGraphPatternSub. An error in one element does not hide errors in others."""
        elements: list[ast.Element] = []
        nesting = self.nesting
        while True:
            try:
                element = self._element()
            except ParseFailure as failure:
                if failure.is_final:
                    raise
                self.problems.append(failure.problem)
                if not self._recover():
                    failure.is_final = True
                    raise
                self.nesting = nesting
                continue
            if element is None:
                return elements
            elements.append(element)

    def _element(self) -> ast.Element | None:
        """One element and the full stop after it; None after the last element."""
        rule = self.element_rules.get(self.kinds[self.position])
        if rule is not None:
            read: Callable[[], ast.Element] = getattr(self, rule)
            element = read()
            self.accept(".")
            return element
        if self.at_triples():
            triples = self.triples_same_subject()
            if not self.accept(".") and self.at_triples():
                self.fail("`.` or `;` between triples")
            return triples
        if self.kind in self.group_ends:
            return None
        self._fail_element()

    def _fail_element(self) -> NoReturn:
        near = closest(self.texts[self.position], self.element_keywords) if self.kind.isupper() else None
        if near is not None:
            self.fail("a triple or a keyword", f"did you mean {near}?")
        self.fail_term("a triple, a keyword such as FILTER or OPTIONAL, or `}`")

    def _recover(self) -> bool:
        """After an error, skips to the next possible start of an element in the same group; False if there is none."""
        if sum(problem.severity == "error" for problem in self.problems) >= MAX_PROBLEMS:
            return False
        depth = 0
        while (kind := self.kind) != "eof":
            if kind == "{":
                depth += 1
            elif kind == "}":
                if depth == 0:
                    return True
                depth -= 1
            elif depth == 0 and kind in self.element_keywords:
                return True
            self.position += 1
            if kind == "." and depth == 0:
                return True
        return False

    def _fail_unclosed(self, start: int) -> NoReturn:
        if self.kind == "eof":
            self.reject("this group is never closed", self.tokens.span(start), "add `}` where it ends")
        self.fail("`}` to close the group")

    def group_or_union(self) -> ast.Group | ast.Union:
        """Rule 67: GroupOrUnionGraphPattern."""
        start = self.position
        first = self.group()
        if self.kind != "UNION":
            return first
        patterns = [first]
        while self.accept("UNION"):
            self.limit(len(patterns) + 1, MAX_SIDES, "sides of a UNION")
            patterns.append(self.group())
        return ast.Union(tuple(patterns), span=self.span_from(start))

    def optional(self) -> ast.Optional:
        """Rule 57: OptionalGraphPattern."""
        start = self.position
        self.position += 1
        return ast.Optional(self.group(), span=self.span_from(start))

    def minus(self) -> ast.Minus:
        """Rule 66: MinusGraphPattern."""
        start = self.position
        self.position += 1
        return ast.Minus(self.group(), span=self.span_from(start))

    def graph(self) -> ast.Graph:
        """Rule 58: GraphGraphPattern."""
        start = self.position
        self.position += 1
        name = self.variable_or_iri("a graph's IRI or a variable after GRAPH")
        return ast.Graph(name, self.group(), span=self.span_from(start))

    def service(self) -> ast.Service:
        """Rule 59: ServiceGraphPattern."""
        start = self.position
        self.position += 1
        silent = self.accept("SILENT")
        name = self.variable_or_iri("an endpoint's IRI or a variable after SERVICE")
        return ast.Service(name, self.group(), silent, span=self.span_from(start))

    def filter(self) -> ast.Filter:
        """Rule 68."""
        start = self.position
        self.position += 1
        return ast.Filter(self.constraint(), span=self.span_from(start))

    def bind(self) -> ast.Bind:
        """Rule 60."""
        start = self.position
        self.position += 1
        self.expect("(", "after BIND")
        expression = self.expression()
        self.expect("AS", "and a variable, as in BIND(?x + 1 AS ?y)")
        variable = self.variable("a variable after AS")
        self.expect(")", "to close BIND")
        return ast.Bind(expression, variable, span=self.span_from(start))

    def inline_data(self) -> ast.InlineData:
        """Rules 61 to 65: InlineData, DataBlock."""
        start = self.position
        self.position += 1
        if self.kind == "var":
            variables = [self.variable()]
            self.expect("{", "before the values")
            rows: list[tuple[ast.Constant | None, ...]] = []
            while not self.accept("}"):
                rows.append((self._data_value(),))
        else:
            variables, rows = self._inline_table()
        return ast.InlineData(tuple(variables), tuple(rows), span=self.span_from(start))

    def _inline_table(self) -> tuple[list[ast.Variable], list[tuple[ast.Constant | None, ...]]]:
        """Rule 64: InlineDataFull."""
        variables = []
        self.expect("(", "or a variable after VALUES")
        while not self.accept(")"):
            variables.append(self.variable("a variable or `)`"))
        self.expect("{", "before the rows")
        rows = []
        while not self.accept("}"):
            row = []
            self.expect("(", "before a row, or `}` after the last one")
            while not self.accept(")"):
                row.append(self._data_value())
            rows.append(tuple(row))
        return variables, rows

    def _data_value(self) -> ast.Constant | None:
        """Rule 65: DataBlockValue."""
        kind = self.kinds[self.position]
        if kind in ("iri", "pname"):
            return self.iri()
        if kind == "str":
            return self.literal()
        if kind in ("TRUE", "FALSE"):
            return self.boolean()
        if self.at_number():
            return self.number()
        if kind == "UNDEF":
            self.position += 1
            return None
        self.fail("a value: an IRI, a literal or UNDEF")
