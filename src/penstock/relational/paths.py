"""Property paths as pairs of nodes `(x, y, i, j)` (SPARQL 1.1 §9.3, §18.4).

A path starts from its bound end: a constant, or the values of its variable in the relations that the path is joined
with. All pairs are computed only if both ends are free. A path that repeats (`?`, `*`, `+`) is an automaton, which a
recursive query runs; it returns each pair once. If triples come and go, it runs once for each stretch of time in which
the triples stay the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from sqlglot import exp

from penstock.algebra import paths
from penstock.algebra.expressions import Constant, Variable
from penstock.algebra.operators import PathPattern
from penstock.rdf.encoding import encode
from penstock.rdf.terms import IRI
from penstock.relational.automata import Automaton, Edge, automaton_of
from penstock.relational.instants import always
from penstock.relational.intervals import merge, stretches
from penstock.relational.matching import TripleConditions
from penstock.relational.relations import Relation, Statement, aliased, col, number, select_from, united

PAIR = ("x", "y")


def is_free(pattern: PathPattern) -> bool:
    """Whether the path repeats and neither end is a constant: it should start from the values it is joined with."""
    has_constant = isinstance(pattern.subject, Constant) or isinstance(pattern.object, Constant)
    return isinstance(pattern.path, paths.Repeat) and not has_constant


class Triples(Protocol):
    """The input of paths: an active graph, or another object with the same interface."""

    @property
    def counts_matches(self) -> bool: ...
    def holds_always(self, asked: TripleConditions) -> bool: ...
    def scan(self, columns: Mapping[str, str], asked: TripleConditions) -> str: ...
    def triples(self) -> str: ...


@dataclass(frozen=True, slots=True)
class _Starts:
    """The nodes `(x, i, j)` from which a path starts."""

    name: str
    are_constant: bool
    """A path of length zero leads from a constant to itself, whether the graph contains it or not."""


class PathCompiler:
    """Paths over one graph."""

    def __init__(self, statement: Statement, graph: Triples) -> None:
        self.statement = statement
        self.graph = graph

    def relation(self, pattern: PathPattern, others: tuple[Relation, ...]) -> Relation:
        """The pairs that the path connects. `others` are relations that the pairs will be joined with."""
        is_backward, start = self._start(pattern, others)
        ends = dict(zip(PAIR, (pattern.subject, pattern.object), strict=True))
        if is_backward:
            ends = dict(zip(PAIR, (pattern.object, pattern.subject), strict=True))
        holds_always = False
        if isinstance(pattern.path, paths.Repeat):
            automaton = automaton_of(pattern.path, is_backward=is_backward)
            holds_always = self._holds_always(automaton, start)
            pairs = self._walks(automaton, start, holds_always or self.statement.shape.is_snapshot)
        else:
            (transition,) = automaton_of(pattern.path, is_backward=is_backward).transitions
            pairs = self._united([self._triples(step) for step in transition.steps])
        pairs, columns = self._terms(pairs)
        selected: list[exp.Expr] = [col(pairs, column) for column in columns.values()]
        conditions: list[exp.Expr] = []
        for name, end in ends.items():
            if isinstance(end, Constant):
                conditions.append(col(pairs, name).eq(exp.Literal.string(encode(end.term))))
            elif end in columns:
                conditions.append(col(pairs, "x").eq(col(pairs, "y")))
            else:
                columns[end] = self.statement.column_name(end)
                selected.append(aliased(col(pairs, name), columns[end]))
        query = select_from(pairs, [*selected, col(pairs, "i"), col(pairs, "j")])
        name = self.statement.add(query.where(*conditions) if conditions else query)
        return Relation(name, columns, frozenset(columns), holds_always=holds_always)

    def _start(self, pattern: PathPattern, others: tuple[Relation, ...]) -> tuple[bool, _Starts | None]:
        """The end from which the path is walked, whether backwards, and its start nodes; None: every node."""
        ends = (False, pattern.subject), (True, pattern.object)
        for is_backward, end in ends:
            if isinstance(end, Constant):
                constant = self._constant(exp.Literal.string(encode(end.term)))
                return is_backward, _Starts(self.statement.add(constant), True)
        if isinstance(pattern.path, paths.Repeat):
            for other in others:
                for is_backward, end in ends:
                    if isinstance(end, Variable) and self._is_known(end, other):
                        values = [aliased(self._node(end, other), "x"), other.start, other.end]
                        found = select_from(other.name, values).distinct()
                        return is_backward, _Starts(self.statement.add(found, materialized=True), False)
        return False, None

    # Nodes: here, terms

    def _constant(self, term: exp.Expr) -> exp.Select:
        """The node `(x, i, j)` of a constant term."""
        return exp.select(aliased(term, "x"), *always())

    def _is_known(self, end: Variable, other: Relation) -> bool:
        """Whether each row of the relation has a node for the variable."""
        return end in other.certain

    def _node(self, end: Variable, other: Relation) -> exp.Expr:
        return other.column(end)

    def _terms(self, pairs: str) -> tuple[str, dict[Variable, str]]:
        """Pairs of terms for pairs of nodes, and the additional columns of variables."""
        return pairs, {}

    def _holds_always(self, automaton: Automaton, start: _Starts | None) -> bool:
        asked = [
            TripleConditions() if step.is_negated else _asked(predicate)
            for transition in automaton.transitions
            for step in transition.steps
            for predicate in step.predicates or ("",)
        ]
        if automaton.accepts_no_step and not (start is not None and start.are_constant):
            asked.append(TripleConditions())
        return all(map(self.graph.holds_always, asked))

    # Steps

    def _triples(self, step: Edge) -> str:
        """The pairs that a step connects."""
        start, end = ("o", "s") if step.is_backward else ("s", "o")
        if step.is_negated or self.graph.counts_matches:
            triples = self.graph.triples()
            listed = [exp.Literal.string(encode(IRI(predicate))) for predicate in step.predicates]
            condition: exp.Expr = col(triples, "p").isin(*listed) if listed else exp.false()
            if step.is_negated:
                condition = exp.not_(condition) if listed else exp.true()
            return self.statement.add(select_from(triples, _renamed(triples, start, end)).where(condition))
        found: list[str] = []
        for predicate in step.predicates:
            triples = self.graph.scan({"s": "s", "o": "o"}, _asked(predicate))
            found.append(self.statement.add(select_from(triples, _renamed(triples, start, end))))
        return self._united(found)

    def _united(self, parts: list[str]) -> str:
        if len(parts) == 1:
            return parts[0]
        return self.statement.add(
            united([select_from(part, [col(part, name) for name in (*PAIR, "i", "j")]) for part in parts])
        )

    # Walks

    def _walks(self, automaton: Automaton, start: _Starts | None, is_timeless: bool) -> str:
        """The pairs connected by any number of steps that the automaton accepts, each once at an instant."""
        moves = self._moves(automaton, is_timeless)
        if is_timeless:
            return self._timeless_walks(automaton, start, moves)
        reached = merge(self.statement, self._reached(automaton, start, moves, is_timeless=False), PAIR)
        if not automaton.accepts_no_step:
            return reached
        return merge(self.statement, self._united([reached, self._standing(start)]), PAIR)

    def _timeless_walks(self, automaton: Automaton, start: _Starts | None, moves: str) -> str:
        """The recursive query returns each pair once, so that no step has to wait for its end."""
        reached = self._reached(automaton, start, moves, is_timeless=True)
        pairs = select_from(reached, [col(reached, name) for name in PAIR])
        if len(automaton.accepting) > 1:
            pairs = pairs.distinct()
        pairs = exp.select(*(col("pairs", name) for name in PAIR), *always()).from_(pairs.subquery("pairs"))
        return self.statement.add(pairs)

    def _moves(self, automaton: Automaton, is_timeless: bool) -> str:
        """The transitions `(p, q, x, y, i, j)`: in state p, a step from x to y leads to state q."""
        parts: list[exp.Query] = []
        for transition in automaton.transitions:
            pairs = self._united([self._triples(step) for step in transition.steps])
            states = [aliased(number(transition.source), "p"), aliased(number(transition.target), "q")]
            times = [] if is_timeless else [col(pairs, "i"), col(pairs, "j")]
            parts.append(select_from(pairs, [*states, *(col(pairs, name) for name in PAIR), *times]))
        return self.statement.add(united(parts), materialized=not is_timeless)

    def _reached(self, automaton: Automaton, start: _Starts | None, moves: str, *, is_timeless: bool) -> str:
        """The pairs between which a walk ends in an accepting state."""
        if is_timeless and automaton.accepts_no_step:
            first = self._beginning_with_no_step(automaton, start)
        else:
            first = self._beginning(automaton, start, moves, is_timeless)
        name = self.statement.next_name()
        times = [] if is_timeless else [col(name, "i"), col(name, "j")]
        further = select_from(name, [col(name, "x"), col(moves, "y"), col(moves, "q"), *times])
        meets = [col(name, "y").eq(col(moves, "x")), col(name, "q").eq(col(moves, "p"))]
        further = further.join(exp.to_table(moves), on=exp.and_(*meets))
        if not is_timeless:
            further = further.where(
                exp.LTE(this=col(moves, "i"), expression=col(name, "i")),
                exp.LT(this=col(name, "i"), expression=col(moves, "j")),
            )
        walks = self.statement.add(exp.union(first, further, distinct=True), recursive=True)
        assert walks == name
        ended = select_from(walks, [col(walks, column) for column in (*PAIR, *(() if is_timeless else ("i", "j")))])
        if not automaton.states <= automaton.accepting:
            ended = ended.where(col(walks, "q").isin(*(number(state) for state in sorted(automaton.accepting))))
        return self.statement.add(ended)

    def _beginning(
        self, automaton: Automaton, start: _Starts | None, moves: str, is_timeless: bool
    ) -> exp.Select:  # fmt: skip
        """The first steps, stretch by stretch."""
        node = col(moves, "x") if start is None else col(start.name, "x")
        lasting = None if is_timeless else stretches(self.statement, moves)
        times = [] if lasting is None else [col(lasting, "i"), col(lasting, "j")]
        query = select_from(moves, [aliased(node, "x"), col(moves, "y"), col(moves, "q"), *times])
        if start is not None:
            query = query.join(exp.to_table(start.name), on=col(moves, "x").eq(col(start.name, "x")))
        if lasting is not None:
            query = query.join(exp.to_table(lasting), on=_overlap(lasting, moves))
            query = query if start is None else query.where(_overlap(lasting, start.name))
        return query.where(col(moves, "p").eq(number(automaton.start)))

    def _beginning_with_no_step(self, automaton: Automaton, start: _Starts | None) -> exp.Select:
        standing = self._standing(start)
        return select_from(standing, [col(standing, "x"), col(standing, "y"), aliased(number(automaton.start), "q")])

    def _standing(self, start: _Starts | None) -> str:
        """Paths of length zero: every start node of the graph to itself, and constants."""
        if start is not None and start.are_constant:
            columns = [col(start.name, "x"), aliased(col(start.name, "x"), "y")]
            return self.statement.add(select_from(start.name, [*columns, col(start.name, "i"), col(start.name, "j")]))
        triples = self.graph.triples()
        parts: list[exp.Query] = []
        for position in ("s", "o"):
            query = select_from(triples, _renamed(triples, position, position))
            if start is not None:
                is_start = col(triples, position).eq(col(start.name, "x"))
                query = query.join(exp.to_table(start.name), on=is_start, join_type="semi")
            parts.append(query)
        return merge(self.statement, self.statement.add(united(parts)), PAIR)


def _asked(predicate: str) -> TripleConditions:
    return TripleConditions((("p", encode(IRI(predicate))),))


def _renamed(triples: str, start: str, end: str) -> list[exp.Expr]:
    pair = [aliased(col(triples, part), name) for part, name in zip((start, end), PAIR, strict=True)]
    return [*pair, col(triples, "i"), col(triples, "j")]


def _overlap(one: str, other: str) -> exp.Expr:
    return exp.and_(
        exp.LT(this=col(one, "i"), expression=col(other, "j")),
        exp.LT(this=col(other, "i"), expression=col(one, "j")),
    )
