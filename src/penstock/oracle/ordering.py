"""ORDER BY, MIN and MAX: the order of terms (semantics.md §6).

The store's engine compares literals without an order of their own by their text, even a number that is out of range
with one that is not, so its order is not transitive. Here each term has three keys, and within each of them the
engine's order is total.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pyoxigraph as ox

from penstock.oracle import stored_terms
from penstock.oracle.functions import call, compute, is_number
from penstock.rdf.elements import Node
from penstock.rdf.vocabulary import XSD, XSD_BOOLEAN
from penstock.syntax import ast

_IN_TIME = ("dateTime", "date", "time", "dayTimeDuration", "yearMonthDuration")
_NUMBER, _FIRST_IN_TIME, _BOOLEAN, _OTHER = 3, 4, 9, 10

Keys = tuple[int, Node, str]
"""The kind of a term, its value, and the tie-breaker for equal texts."""


def order_keys(term: Node) -> Keys:
    """Blank nodes, IRIs, numbers, dates and times, booleans, then all other literals by their text."""
    if isinstance(term, ox.BlankNode):
        return 1, ox.Literal(term.value), ""
    if isinstance(term, ox.NamedNode):
        return 2, ox.Literal(term.value), ""
    value = stored_terms.value(term)
    assert isinstance(value, ox.Literal)
    name = value.datatype.value.removeprefix(XSD)
    if is_number(value):
        is_nan = compute(f"{value} = {value}") != ox.Literal(True)
        return (_NUMBER, ox.Literal(float("inf")), "NaN") if is_nan else (_NUMBER, value, "")
    if name in _IN_TIME and compute(f"<{value.datatype.value}>({ox.Literal(value.value)})") is not None:
        return _FIRST_IN_TIME + _IN_TIME.index(name), _in_utc(value), ""
    if value.datatype.value == XSD_BOOLEAN and value in (ox.Literal(True), ox.Literal(False)):
        return _BOOLEAN, ox.Literal(int(value.value == "true")), ""
    return _OTHER, ox.Literal(value.value), _type_key(term)


def _in_utc(value: ox.Literal) -> ox.Literal:
    """Without a time zone, it is UTC."""
    has_zone = value.value.endswith("Z") or (value.value[-6:-5] in ("+", "-") and value.value[-3] == ":")
    is_duration = value.datatype.value.endswith("Duration")
    return value if has_zone or is_duration else ox.Literal(f"{value.value}Z", datatype=value.datatype)


def _type_key(term: Node) -> str:
    """Of equal texts, those of other datatypes come first, then those with a language, then strings."""
    literal = stored_terms.original(term)
    assert isinstance(literal, ox.Literal)
    if literal.language is not None:
        return f"~{literal.language}"
    return "~~" if literal.datatype.value == XSD + "string" else literal.datatype.value


def conditions(order: ast.OrderCondition, term: ast.Expression) -> list[ast.OrderCondition]:
    """The conditions that order by the keys of a term; unbound is first, because it has none."""
    return [ast.OrderCondition(call(f"order-{number}", term), order.descending) for number in range(3)]


def _key(number: int, term: Node) -> Node:
    key = order_keys(term)[number]
    return ox.Literal(key) if isinstance(key, int | str) else key


def greatest(terms: Sequence[Node], *, least: bool = False) -> Node | None:
    """MAX, or MIN; None where there is no term."""
    store = ox.Store()
    keys = [ox.NamedNode(f"urn:oracle:key:{number}") for number in range(3)]
    for place, term in enumerate(terms):
        subject = ox.NamedNode(f"urn:oracle:term:{place}")
        store.extend(ox.Quad(subject, key, _key(number, term)) for number, key in enumerate(keys))
    patterns = " . ".join(f"?term {key} ?k{number}" for number, key in enumerate(keys))
    directions = " ".join(f"{'ASC' if least else 'DESC'}(?k{number})" for number in range(3))
    found = store.query(f"SELECT ?term {{ {patterns} }} ORDER BY {directions} LIMIT 1")
    assert isinstance(found, ox.QuerySolutions)
    places = [int(solution["term"].value.rpartition(":")[2]) for solution in found]
    return terms[places[0]] if places else None


FUNCTIONS = {ox.NamedNode(f"urn:oracle:function:order-{number}"): partial(_key, number) for number in range(3)}
