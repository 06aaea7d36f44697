"""Property paths as pairs of nodes `(x, y, i, j)` (SPARQL 1.1 §9.3, §18.4).

Steps, sequences and alternatives work on intervals. What repeats (`?`, `*`, `+`) gives each pair once; its closure is
computed by a recursive query, apart for each stretch of time in which no step comes or goes, and so only once for what
never changes.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from penstock.algebra import paths
from penstock.relational.intervals import cut_alike, merge
from penstock.relational.relations import Statement, aliased, col, greatest, least, select_from, united

PAIR = ("x", "y")


class PathCompiler:
    """Paths over one active graph. `terms` are the constants at the ends, which a path of length zero reaches too.

    `always` selects the intervals in which there is a graph, and what `terms` are made of, if anything.
    """

    def __init__(self, statement: Statement, graph: str, terms: Sequence[exp.Expr], always: exp.Select) -> None:
        self.statement = statement
        self.graph = graph
        self.terms = terms
        self.always = always

    def pairs(self, path: paths.Path) -> str:
        match path:
            case paths.Link(predicate):
                is_it = col(self.graph, "p").eq(exp.Literal.string(f"I{predicate}"))
                return self._steps("s", "o", is_it)
            case paths.Inverse(inner):
                return self._swapped(self.pairs(inner))
            case paths.Sequence(steps):
                joined = self.pairs(steps[0])
                for step in steps[1:]:
                    joined = self._composed(joined, self.pairs(step))
                return joined
            case paths.Alternative(choices):
                return self._united([self.pairs(choice) for choice in choices])
            case paths.NegatedSet(forward, backward):
                sides = []
                if forward is not None:
                    sides.append(self._steps("s", "o", self._is_not_in(forward)))
                if backward is not None:
                    sides.append(self._steps("o", "s", self._is_not_in(backward)))
                return self._united(sides)
            case paths.Repeat(inner, times):
                once = merge(self.statement, self.pairs(inner), PAIR)
                reached = once if times == "?" else self._closure(once)
                if times == "+":
                    return reached
                return merge(self.statement, self._united([reached, self._nowhere()]), PAIR)

    def _steps(self, start: str, end: str, condition: exp.Expr) -> str:
        columns = [aliased(col(self.graph, start), "x"), aliased(col(self.graph, end), "y")]
        bounds = [col(self.graph, "i"), col(self.graph, "j")]
        return self.statement.add(select_from(self.graph, [*columns, *bounds]).where(condition))

    def _is_not_in(self, predicates: tuple[str, ...]) -> exp.Expr:
        if not predicates:
            return exp.true()
        return exp.not_(col(self.graph, "p").isin(*(exp.Literal.string(f"I{iri}") for iri in predicates)))

    def _swapped(self, pairs: str) -> str:
        columns = [aliased(col(pairs, "y"), "x"), aliased(col(pairs, "x"), "y"), col(pairs, "i"), col(pairs, "j")]
        return self.statement.add(select_from(pairs, columns))

    def _united(self, parts: list[str]) -> str:
        return self.statement.add(united([_pairs_of(part) for part in parts]))

    def _composed(self, left: str, right: str) -> str:
        start, end = greatest([col(left, "i"), col(right, "i")]), least([col(left, "j"), col(right, "j")])
        columns = [col(left, "x"), col(right, "y"), aliased(start, "i"), aliased(end, "j")]
        meets = exp.and_(col(left, "y").eq(col(right, "x")), exp.LT(this=start.copy(), expression=end.copy()))
        return self.statement.add(select_from(left, columns).join(exp.to_table(right), on=meets))

    def _closure(self, step: str) -> str:
        """All pairs that one or more steps connect, stretch by stretch."""
        steps = cut_alike(self.statement, step, PAIR)
        name = self.statement.next_name()
        further = (
            select_from(name, [col(name, "x"), col(steps, "y"), col(name, "i"), col(name, "j")])
            .join(exp.to_table(steps), on=col(name, "y").eq(col(steps, "x")))
            .where(col(name, "i").eq(col(steps, "i")))
        )
        closure = self.statement.add(exp.union(_pairs_of(steps), further, distinct=True), recursive=True)
        assert closure == name
        return merge(self.statement, closure, PAIR)

    def _nowhere(self) -> str:
        """Paths of length zero: every node of the graph to itself, and the constants at the ends."""
        parts: list[exp.Query] = []
        for position in ("s", "o"):
            node = col(self.graph, position)
            bounds = [col(self.graph, "i"), col(self.graph, "j")]
            parts.append(select_from(self.graph, [aliased(node, "x"), aliased(node.copy(), "y"), *bounds]))
        for term in self.terms:
            pair = [aliased(term.copy(), name) for name in PAIR]
            always = self.always.copy()
            parts.append(always.select(*pair, *always.expressions, append=False))
        return merge(self.statement, self.statement.add(united(parts)), PAIR)


def _pairs_of(name: str) -> exp.Select:
    return select_from(name, [col(name, column) for column in (*PAIR, "i", "j")])
