"""C-SPARQL's timestamp() over occurrences (semantics.md §8).

timestamp(?v) is the greatest timestamp of the stream triples that bound ?v in this solution, an error if none did; with
a stream's IRI, of that stream's triples; timestamp(?s, ?p, ?o) is that of the triple which these three matched.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from penstock.oracle.triples import SinglePattern
from penstock.rdf import vocabulary
from penstock.rdf.terms import Literal
from penstock.syntax import ast


class TimedPattern(NamedTuple):
    """A triple pattern, and the variables that hold its occurrence's timestamp, also in streams that are asked for."""

    pattern: SinglePattern
    time: ast.Variable
    in_streams: Mapping[str, ast.Variable]


def integer(number: int) -> ast.Constant:
    return ast.Constant(Literal(str(number), vocabulary.XSD_INTEGER))


_ERROR = ast.Operation("/", (integer(1), integer(0)))


def timestamp_expression(arguments: tuple[ast.Expression, ...], timed: list[TimedPattern]) -> ast.Expression:
    """COALESCE over the candidates in turn: the one that no other exceeds."""
    times = [_time(entry, arguments) for entry in timed if _is_about(entry.pattern, arguments)]
    if not times:
        return _ERROR
    return ast.Call("COALESCE", tuple(_if_greatest(time, times) for time in times))


def _is_about(pattern: SinglePattern, arguments: tuple[ast.Expression, ...]) -> bool:
    if len(arguments) == 3:
        return arguments == (pattern.subject, pattern.verb, pattern.object)
    subject = arguments[0]
    return isinstance(subject, ast.Variable) and subject.name in pattern.variables


def _time(entry: TimedPattern, arguments: tuple[ast.Expression, ...]) -> ast.Expression:
    """The timestamp. An error if the triple is static, not matched, or of another stream."""
    time = entry.time
    if len(arguments) == 2 and isinstance(arguments[1], ast.Constant):
        time = entry.in_streams[arguments[1].text]
    return ast.Call("IF", (ast.Call("ISNUMERIC", (time,)), time, _ERROR))


def _if_greatest(time: ast.Expression, times: list[ast.Expression]) -> ast.Expression:
    others = [other for other in times if other is not time]
    if not others:
        return time
    not_exceeded = tuple(
        ast.Call("COALESCE", (ast.Operation(">=", (time, other)), ast.Call("ISNUMERIC", (time,)))) for other in others
    )
    condition = not_exceeded[0] if len(not_exceeded) == 1 else ast.Operation("&&", not_exceeded)
    return ast.Call("IF", (condition, time, _ERROR))
