"""C-SPARQL's timestamp() (semantics.md §8): the greatest timestamp of the stream triples that bound a variable.

If a query calls it, each triple pattern also binds internal variables: the timestamp of the triple, and its timestamp
in each stream named in a call. The usual rules of scope apply to these variables, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from penstock.algebra.expressions import Apply, Constant, Expression, Variable
from penstock.algebra.model import ContinuousQuery
from penstock.algebra.operators import TriplePattern
from penstock.rdf.terms import IRI
from penstock.relational.matching import terms_of
from penstock.relational.relations import Relation, greatest
from penstock.syntax import ast
from penstock.syntax.ast.traversal import walk

TIMESTAMP = "TIMESTAMP"


@dataclass(slots=True)
class Timestamps:
    """The timestamps of a query's triple patterns."""

    is_asked: bool
    streams: tuple[str, ...]
    """The streams named in calls."""
    _patterns: dict[Variable, tuple[TriplePattern, str | None]] = field(default_factory=dict)

    @staticmethod
    def of(query: ContinuousQuery) -> Timestamps:
        calls = [node for node in walk(query.text) if isinstance(node, ast.Call) and node.name == TIMESTAMP]
        named = [call.arguments[1] for call in calls if len(call.arguments) == 2]
        streams = dict.fromkeys(stream.text for stream in named if isinstance(stream, ast.Constant))
        return Timestamps(bool(calls), tuple(streams))

    def variables(self, pattern: TriplePattern) -> dict[str | None, Variable]:
        """The variables for the timestamp of a pattern's triple: in any stream (None), and in named streams."""
        found: dict[str | None, Variable] = {}
        for stream in (None, *self.streams):
            variable = found[stream] = Variable(f"_:time {len(self._patterns)}")
            self._patterns[variable] = pattern, stream
        return found

    def candidates(self, call: Apply, relation: Relation) -> list[Variable]:
        """The variables in scope whose greatest value a call returns."""
        stream = _stream(call.arguments)
        return [
            variable
            for variable, (pattern, of_stream) in self._patterns.items()
            if variable in relation.columns and of_stream == stream and _is_about(pattern, call.arguments)
        ]


def _stream(arguments: Sequence[Expression]) -> str | None:
    if len(arguments) == 2 and isinstance(arguments[1], Constant) and isinstance(arguments[1].term, IRI):
        return arguments[1].term.value
    return None


def _is_about(pattern: TriplePattern, arguments: Sequence[Expression]) -> bool:
    terms = [term for _, term in terms_of(pattern)]
    return list(arguments) == terms if len(arguments) == 3 else arguments[0] in terms


def greatest_of(times: Iterable[exp.Expr]) -> exp.Expr:
    """The greatest of timestamps, which are terms; NULL if there is none."""
    digits = [exp.Substring(this=time, start=exp.Literal.number(2)) for time in times]
    numbers: list[exp.Expr] = [exp.cast(text, "bigint") for text in digits]
    return as_term(greatest(numbers)) if numbers else exp.cast(exp.null(), "text")


def as_term(time: exp.Expr) -> exp.Expr:
    return exp.DPipe(this=exp.Literal.string("i"), expression=exp.cast(time, "text"))
