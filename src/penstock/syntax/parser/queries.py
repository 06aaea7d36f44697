"""Whole queries (SPARQL 1.1 grammar rules 1 to 29). Plain SPARQL is this; a dialect replaces a few of its rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import NoReturn

from penstock.syntax import ast
from penstock.syntax.ast.traversal import rewrite
from penstock.syntax.parser.expressions import AGGREGATES
from penstock.syntax.parser.patterns import PatternRules
from penstock.syntax.recognition import TITLES
from penstock.syntax.spans import Span

_FORMS = {"SELECT": "select_query", "CONSTRUCT": "construct_query", "ASK": "ask_query", "DESCRIBE": "describe_query"}
_AFTER_WHERE = ("GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "VALUES")


class QueryRules(PatternRules):
    dialect: ast.DialectName = "sparql"
    keywords: frozenset[str] = frozenset((*_FORMS, "PREFIX", "BASE"))
    """The possible beginnings of a query."""

    def query(self) -> ast.Query:
        """Rules 1 and 2: QueryUnit, Query."""
        self.declared: list[ast.PrefixDeclaration] = []
        self.operator: ast.Operator | None = None
        self.clauses: list[ast.DatasetClause | ast.WindowClause] = []
        self.aggregates: list[ast.AggregateClause] = []
        register = self.register_and_prologue()
        rule = _FORMS.get(self.kind)
        if rule is None:
            self._fail_form()
        form, where = getattr(self, rule)()
        self.after_where()
        modifiers = self._without_aliases(form, self.modifiers())
        self.after_where()
        values = self.inline_data() if self.kind == "VALUES" else None
        if self.kind != "eof":
            self._fail_rest()
        return ast.Query(
            self.dialect,
            form,
            where,
            ast.Prologue(tuple(self.declared), self.base),
            register,
            self.operator,
            tuple(self.clauses),
            modifiers,
            tuple(self.aggregates),
            values,
            span=self.span_from(0),
        )

    def register_and_prologue(self) -> ast.Register | None:
        """The part before the query form; SPARQL has no REGISTER."""
        self.prologue()
        return None

    def after_where(self) -> None:
        """The clauses that a dialect adds after the pattern."""

    def _fail_form(self) -> NoReturn:
        if self.kind == "lang" and self.texts[self.position].lower() in ("@prefix", "@base"):
            self.fail("PREFIX, BASE or a query form", "SPARQL writes PREFIX ex: <…>, without `@` and full stop")
        if self.kind == "." and self.declared:
            self.fail("a query form or another PREFIX", "SPARQL has no full stop after a PREFIX")
        if self.kind == "eof" and not any(kind in _FORMS for kind in self.kinds):
            self.fail("SELECT, CONSTRUCT, ASK or DESCRIBE")
        if self.kind == "REGISTER":
            self.fail(
                "SELECT, CONSTRUCT, ASK or DESCRIBE", f"drop it, up to AS: {TITLES[self.dialect]} has no REGISTER"
            )
        if self.texts[self.position] in ("/", "-") and not self.declared:
            self.fail("SELECT, CONSTRUCT, ASK or DESCRIBE", "comments begin with # in SPARQL")
        if self.kind in ("INSERT", "DELETE", "LOAD", "CLEAR", "DROP", "CREATE", "WITH"):
            self.fail("a query", "this is SPARQL Update; Penstock reads queries: SELECT, CONSTRUCT, ASK, DESCRIBE")
        self.fail("SELECT, CONSTRUCT, ASK or DESCRIBE", keywords=self.keywords | set(_FORMS))

    def _fail_rest(self) -> NoReturn:
        if self.kind == "UNION":
            self.fail("the end of the query", "put both sides into one more pair of braces: { {…} UNION {…} }")
        if self.kind == "}":
            self.fail("the end of the query", "there is a `}` too many, or a `{` too few")
        if self.kind == ";":
            self.fail("the end of the query", "remove it: nothing follows a query")
        if self.kind == "FROM":
            self.fail("the end of the query", "FROM … stands before WHERE { … }")
        if self.texts[self.position].upper() == "REPORT":
            self.fail("the end of the query", "a window has its REPORT part in its brackets: [RANGE … STEP … REPORT …]")
        if self.kind == "," and self.kinds[self.position - 1] == "var":
            self.fail("the end of the query", "SPARQL has no commas here: drop it")
        self.fail("the end of the query", keywords=_AFTER_WHERE)

    # Rules 4 to 6: Prologue

    def prologue(self) -> None:
        while True:
            start = self.position
            if self.accept("BASE"):
                if self.kind != "iri":
                    self.fail("an IRI in <…> after BASE")
                self.base = self.iri_value(self.position)
                self.position += 1
            elif self.accept("PREFIX"):
                self._prefix_declaration(start)
            else:
                return

    def _prefix_declaration(self, start: int) -> None:
        name = self.texts[self.position]
        if self.kind != "pname" or not name.endswith(":") or name.count(":") > 1:
            hint = f"write {name}: with a colon" if self.kind.isupper() else None
            self.fail("a prefix name such as `ex:` after PREFIX", hint)
        self.position += 1
        if self.kind != "iri":
            self.fail("an IRI in <…> for the prefix")
        value = self.iri_value(self.position)
        self.position += 1
        prefix = name[:-1]
        self.prefixes[prefix] = value
        self.declared.append(ast.PrefixDeclaration(prefix, value, span=self.span_from(start)))

    # Rules 7 to 12: the four forms. Each returns the form and the pattern.

    def select_query(self) -> tuple[ast.Select, ast.Group]:
        select = self.select_clause()
        self.dataset()
        return select, self.where()

    def construct_query(self) -> tuple[ast.Construct, ast.Group]:
        start = self.position
        self.position += 1
        self.stream_operator()
        if self.kind == "{":
            template = self._construct_template()
            form = ast.Construct(template, span=self.span_from(start))
            self.dataset()
            return form, self.where()
        form = ast.Construct(None, span=self.span_from(start))
        self.dataset()
        self.expect("WHERE", "or a template {…} after CONSTRUCT")
        return form, self._short_construct_pattern()

    def ask_query(self) -> tuple[ast.Ask, ast.Group]:
        start = self.position
        self.position += 1
        self.stream_operator()
        form = ast.Ask(span=self.span_from(start))
        self.dataset()
        return form, self.where()

    def describe_query(self) -> tuple[ast.Describe, ast.Group | None]:
        start = self.position
        self.position += 1
        self.stream_operator()
        resources: list[ast.Variable | ast.Constant] | None = None
        if not self.accept("*"):
            resources = [self.variable_or_iri("a variable, an IRI or * after DESCRIBE")]
            while self.kind in ("var", "iri", "pname"):
                resources.append(self.variable_or_iri("a variable or an IRI"))
        form = ast.Describe(None if resources is None else tuple(resources), span=self.span_from(start))
        self.dataset()
        return form, self.where() if self.kind in ("WHERE", "{") else None

    def stream_operator(self) -> None:
        """RSTREAM, ISTREAM or DSTREAM after the form's keyword, where a dialect has it."""

    # Rule 9: SelectClause

    def select_clause(self) -> ast.Select:
        start = self.position
        self.expect("SELECT")
        self.stream_operator()
        modifier = self.advance().upper() if self.kind in ("DISTINCT", "REDUCED") else None
        projections: list[ast.Projection] | None = None
        if not self.accept("*"):
            projections = [self.projection()]
            while self.at_projection():
                projections.append(self.projection())
        return ast.Select(
            None if projections is None else tuple(projections),
            modifier,  # type: ignore[arg-type]
            span=self.span_from(start),
        )

    has_bare_aggregates = False
    """Whether `COUNT(?x) AS ?n` without parentheses is part of the dialect; elsewhere it is read with a warning."""

    def at_projection(self) -> bool:
        return self.kind in ("var", "(") or self._at_bare_aggregate()

    def projection(self) -> ast.Projection:
        start = self.position
        if self.kind == "var":
            variable = self.variable()
            return ast.Projection(variable, span=variable.span)
        if self._at_bare_aggregate():
            return self._bare_aggregate()
        if not self.accept("("):
            self._fail_projection()
        projected = self.expression_as()
        self.expect(")", "to close the projection")
        return ast.Projection(projected[1], projected[0], span=self.span_from(start))

    def _at_bare_aggregate(self) -> bool:
        return self.kind in AGGREGATES and self.following() == "("

    def _bare_aggregate(self) -> ast.Projection:
        """`COUNT(?x) AS ?n`, which SPARQL 1.1 writes in parentheses."""
        start = self.position
        expression = self.expression()
        if not self.accept("AS"):
            self.position = start
            self._fail_projection()
        variable = self.variable("a variable after AS")
        span = self.span_from(start)
        if not self.has_bare_aggregates:
            written = " ".join(self.tokens.text[span.start : span.end].split())
            self.warn("SPARQL 1.1 writes parentheses around an aggregate and its AS", span, f"write ({written})")
        return ast.Projection(variable, expression, span=span)

    def expression_as(self) -> tuple[ast.Expression, ast.Variable]:
        """`expression AS ?variable`."""
        expression = self.expression()
        self.expect("AS", "and a variable, as in (COUNT(?x) AS ?n)")
        return expression, self.variable("a variable after AS")

    def _fail_projection(self) -> NoReturn:
        if self.kind in self.built_ins or self.following() == "(":
            self.fail("a variable, (expression AS ?variable) or *", "write (… AS ?variable) around an expression")
        self.fail_term("a variable, (expression AS ?variable) or *")

    # Rules 13 to 16: DatasetClause

    def dataset(self) -> None:
        if self.kind == ",":
            self.fail("FROM or WHERE", "SPARQL separates what it selects by spaces, without commas")
        while self.kind == "FROM":
            self.clauses.append(self.dataset_clause())

    def dataset_clause(self) -> ast.DatasetClause | ast.WindowClause:
        start = self.position
        self.expect("FROM")
        named = self.accept("NAMED")
        graph = self.iri("a graph's IRI after FROM NAMED" if named else "a graph's IRI, or NAMED, after FROM")
        return ast.DatasetClause(graph, named, span=self.span_from(start))

    # Rule 17: WhereClause

    def where(self) -> ast.Group:
        if not self.accept("WHERE") and self.kind != "{":
            self.fail("WHERE { … }", keywords=("WHERE", "FROM"))
        return self.group()

    # Rule 10 and 73: ConstructQuery, ConstructTemplate

    def _construct_template(self) -> tuple[ast.Triples | ast.QuadTemplate, ...]:
        self.expect("{", "to begin the template")
        self.in_template = True
        triples: list[ast.Triples | ast.QuadTemplate] = self.template_elements()
        self.in_template = False
        if not self.accept("}"):
            self.fail("a triple or `}` in the template")
        return tuple(triples)

    def template_elements(self) -> list[ast.Triples | ast.QuadTemplate]:
        return list(self.triples_template())

    def _short_construct_pattern(self) -> ast.Group:
        """CONSTRUCT WHERE { … } holds triples only: they are pattern and template at once."""
        start = self.position
        self.expect("{", "to begin the pattern")
        self.in_template = True
        triples = self.triples_template()
        self.in_template = False
        if not self.accept("}"):
            self.fail("a triple or `}`", "CONSTRUCT WHERE takes plain triples only; write CONSTRUCT {…} WHERE {…}")
        return ast.Group(tuple(triples), span=self.span_from(start))

    # Rule 8: SubSelect

    def sub_select(self) -> ast.SubSelect:
        start = self.position
        outer = self.operator
        select = self.select_clause()
        if self.operator != outer:
            self.reject("a sub-select has no streaming operator", select.span)
        where = self.where()
        modifiers = self._without_aliases(select, self.modifiers())
        values = self.inline_data() if self.kind == "VALUES" else None
        return ast.SubSelect(select, where, modifiers, values, span=self.span_from(start))

    # Rules 18 to 27: SolutionModifier

    def modifiers(self) -> ast.Modifiers:
        start = self.position
        if self.kind not in _AFTER_WHERE:
            return _NO_MODIFIERS
        group_by: list[ast.GroupCondition] = []
        having: list[ast.Expression] = []
        order_by: list[ast.OrderCondition] = []
        if self.accept("GROUP"):
            self.expect("BY", "after GROUP")
            group_by.append(self._group_condition())
            while self._at_condition():
                group_by.append(self._group_condition())
        if self.accept("HAVING"):
            having.append(self.constraint())
            while self._at_condition() and self.kind != "var":
                having.append(self.constraint())
        if self.accept("ORDER"):
            self.expect("BY", "after ORDER")
            order_by.append(self._order_condition())
            while self._at_condition() or self.kind in ("ASC", "DESC"):
                order_by.append(self._order_condition())
        limit, offset = self._limit_and_offset()
        return ast.Modifiers(
            tuple(group_by), tuple(having), tuple(order_by), limit, offset,
            span=self.span_from(start) if self.position > start else self.tokens.span(start),
        )  # fmt: skip

    def _without_aliases(self, form: ast.Form, modifiers: ast.Modifiers) -> ast.Modifiers:
        """HAVING with the expressions of SELECT in place of their names, which it does not see (§18.2.4.2)."""
        if not modifiers.having or not isinstance(form, ast.Select):
            return modifiers
        assigned: dict[str, ast.Expression] = {}
        for projection in form.projections or ():
            if projection.expression is not None:
                assigned[projection.variable.name] = self._replaced(projection.expression, assigned)
        for name in _group_names(modifiers):
            assigned.pop(name, None)
        if not assigned:
            return modifiers

        def warn(variable: ast.Variable) -> None:
            span = assigned[variable.name].span
            written = " ".join(self.tokens.text[span.start : span.end].split())
            self.warn(
                f"HAVING does not see ?{variable.name}, which SELECT assigns; it is read as its expression",
                variable.span,
                f"write {written} here",
            )

        having = tuple(self._replaced(condition, assigned, warn) for condition in modifiers.having)
        return replace(modifiers, having=having)

    def _replaced(
        self,
        expression: ast.Expression,
        assigned: Mapping[str, ast.Expression],
        found: Callable[[ast.Variable], None] = lambda variable: None,
    ) -> ast.Expression:
        """The expression, with assigned expressions in place of their variables, except inside EXISTS."""

        def change(node: ast.Node) -> ast.Node:
            if not isinstance(node, ast.Variable) or node.name not in assigned:
                return node
            found(node)
            return assigned[node.name]

        return rewrite(expression, change, beside=frozenset({ast.Group}))

    def _at_condition(self) -> bool:
        kind = self.kind
        return (
            kind in ("var", "(", "iri", "pname", "EXISTS", "NOT")
            or kind in self.built_ins
            or (kind in AGGREGATES and self.following() == "(")
        )

    def _group_condition(self) -> ast.GroupCondition:
        """Rule 20."""
        start = self.position
        if self.kind == "var":
            variable = self.variable()
            return ast.GroupCondition(variable, span=variable.span)
        if self.accept("("):
            expression = self.expression()
            named = self.variable("a variable after AS") if self.accept("AS") else None
            self.expect(")", "to close the condition")
            return ast.GroupCondition(expression, named, span=self.span_from(start))
        if not self._at_condition():
            self.fail("a variable, a function call or (expression AS ?variable) after GROUP BY")
        return ast.GroupCondition(self.constraint(), span=self.span_from(start))

    def _order_condition(self) -> ast.OrderCondition:
        """Rule 24."""
        start = self.position
        if self.kind in ("ASC", "DESC"):
            self._check_sql_order()
            descending = self.advance().upper() == "DESC"
            expression = self.bracketed()
        elif self.kind == "var":
            descending, expression = False, self.variable()
        elif self._at_condition():
            descending, expression = False, self.constraint()
        else:
            self.fail("a variable, ASC(…), DESC(…) or (expression) after ORDER BY", keywords=("ASC", "DESC"))
        return ast.OrderCondition(expression, descending, span=self.span_from(start))

    def _check_sql_order(self) -> None:
        """`?x DESC` is SQL's order of words."""
        if self.following() != "(" and self.kinds[self.position - 1] == "var":
            word, variable = self.texts[self.position].upper(), self.texts[self.position - 1]
            self.reject(
                f"{word} comes before the expression that it sorts by",
                Span(self.starts[self.position - 1], self.tokens.end(self.position)),
                f"write {word}({variable})",
            )

    def _limit_and_offset(self) -> tuple[int | None, int | None]:
        """Rules 25 to 27: LIMIT and OFFSET, in either order."""
        limit = offset = None
        while True:
            if limit is None and self.accept("LIMIT"):
                limit = self.integer("a whole number after LIMIT")
            elif offset is None and self.accept("OFFSET"):
                offset = self.integer("a whole number after OFFSET")
            else:
                return limit, offset


def _group_names(modifiers: ast.Modifiers) -> Iterator[str]:
    for condition in modifiers.group_by:
        name = condition.variable or condition.expression
        if isinstance(name, ast.Variable):
            yield name.name


_NO_MODIFIERS = ast.Modifiers()
