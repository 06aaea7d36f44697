"""Functions that the oracle adds to the store's SPARQL engine because it lacks them or differs from SPARQL 1.1 §17.

The rewritten query calls each by its IRI with terms as they are stored. None is an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

import pyoxigraph as ox

from penstock.oracle import stored_terms
from penstock.oracle.relative_names import as_written
from penstock.rdf.elements import Node
from penstock.rdf.terms import IRI
from penstock.rdf.vocabulary import RDF_LANG_STRING, XSD, XSD_BOOLEAN
from penstock.syntax import ast

TRUE, FALSE = ox.Literal(True), ox.Literal(False)


def call(name: str, *arguments: ast.Expression) -> ast.FunctionCall:
    """A call of one of these functions."""
    return ast.FunctionCall(ast.Constant(IRI(f"urn:oracle:function:{name}")), arguments)


@lru_cache(maxsize=1 << 14)
def compute(expression: str) -> Node | None:
    """Evaluates an expression without variables on the store's engine; None is an error."""
    found = ox.Store().query(f"SELECT ({expression} AS ?found) {{}}")
    assert isinstance(found, ox.QuerySolutions)
    (solution,) = found
    result: Node | None = solution["found"]
    return result


def _string(term: Node) -> Node | None:
    """STR: the text of a literal exactly as it is written."""
    term = as_written(stored_terms.original(term))
    return None if isinstance(term, ox.BlankNode) else ox.Literal(term.value)


def _datatype(term: Node) -> Node | None:
    term = stored_terms.original(term)
    return term.datatype if isinstance(term, ox.Literal) else None


def _typed(lexical: Node, datatype: Node) -> Node | None:
    """STRDT."""
    if not (isinstance(datatype, ox.NamedNode) and isinstance(lexical, ox.Literal)) or compute(
        f"DATATYPE({lexical})"
    ) != ox.NamedNode(XSD + "string"):
        return None
    if datatype.value == RDF_LANG_STRING:
        return None
    return stored_terms.stored(ox.Literal(lexical.value, datatype=datatype))


_NUMBERS = frozenset(("integer", "decimal", "float", "double", *stored_terms.RANGES))


def is_number(value: ox.Literal) -> bool:
    """Whether the literal is a number whose text is valid for its datatype."""
    return _names_number(value.datatype.value) and compute(f"{value} + 0") is not None


def _names_number(datatype: str) -> bool:
    return datatype.startswith(XSD) and datatype.removeprefix(XSD) in _NUMBERS


def _effective_boolean(value: Node) -> Node | None:
    """The effective boolean value (§17.2.2): false for a number or boolean whose text is not valid."""
    if not isinstance(value, ox.Literal):
        return None
    if value.language is not None:
        return ox.Literal(value.value != "")
    found = compute(f"IF({value}, true, false)")
    datatype = value.datatype.value.replace(stored_terms.ILL_TYPED, XSD)
    return FALSE if found is None and (datatype == XSD_BOOLEAN or _names_number(datatype)) else found


def _in_nothing(_: Node) -> Node:
    """`IN ()` is false, or an error if its operand is an error."""
    return FALSE


FAILED = ast.Constant(IRI("urn:oracle:failed"))
"""Replaces a list member that is an error."""


def _in(sought: Node, *members: Node) -> Node | None:
    """`IN` (§17.4.1.9): an error if no member is equal and comparing with one of them is an error."""
    found = [None if str(member) == f"<{FAILED.text}>" else _equal(sought, member) for member in members]
    if TRUE in found:
        return TRUE
    return None if None in found else FALSE


# Comparison (§17.3.1): the store's engine does not compare booleans, takes any term to be <= itself, and takes times
# that cannot be compared, because only one has a time zone, to be different. It also compares parts of dates.

_TIMES = frozenset(XSD + name for name in ("dateTime", "date", "time"))
_PARTS_OF_DATES = frozenset(XSD + name for name in ("gYear", "gYearMonth", "gMonth", "gMonthDay", "gDay"))


def _equal(one: Node, other: Node) -> Node | None:
    if not (isinstance(one, ox.Literal) and isinstance(other, ox.Literal)):
        return ox.Literal(one == other)
    datatype = one.datatype.value
    if datatype == other.datatype.value and datatype in _PARTS_OF_DATES:
        return TRUE if one == other else None
    found = compute(f"{one} = {other}")
    if found == FALSE and datatype == other.datatype.value and datatype in _TIMES:
        return found if compute(f"{one} < {other}") is not None else None
    return found


def _less(one: Node, other: Node) -> Node | None:
    if not (isinstance(one, ox.Literal) and isinstance(other, ox.Literal)):
        return None
    if one.datatype.value in _PARTS_OF_DATES:
        return None
    if one.datatype.value == other.datatype.value == XSD_BOOLEAN:
        return compute(f"xsd:integer({one}) < xsd:integer({other})".replace("xsd:integer", f"<{XSD}integer>"))
    if one == other and not _has_order(one):
        return None
    return compute(f"{one} < {other}")


def _less_or_equal(one: Node, other: Node) -> Node | None:
    is_less = _less(one, other)
    return is_less if is_less != FALSE else _equal(one, other)


def _has_order(literal: ox.Literal) -> bool:
    """Whether the literal has an ordered datatype and its text is valid for it."""
    if literal.language is not None:
        return True
    name = literal.datatype.value
    return name.startswith(XSD) and compute(f"<{name}>({ox.Literal(literal.value)})") is not None


# REPLACE (§17.4.3.15): `$1`, `\$` and `\\` as in XPath, where the store's engine has `$1`, `$$` and `\`


def _replacement(pattern: Node, replacement: Node) -> Node | None:
    if not (isinstance(pattern, ox.Literal) and isinstance(replacement, ox.Literal)):
        return None
    parts: list[str] = []
    groups = len(re.findall(r"(?<!\\)\((?!\?)", pattern.value))
    for part in re.findall(r"\\.?|\$\d*|[^\\$]+", replacement.value, re.DOTALL):
        if part in (r"\\", r"\$"):
            parts.append("$$" if part == r"\$" else "\\")
        elif part in ("\\", "$") or part[0] == "\\":
            return None
        elif part[0] == "$":
            parts.append(_group_reference(part[1:], groups))
        else:
            parts.append(part)
    return ox.Literal("".join(parts))


def _replace(text: Node, pattern: Node, replacement: Node, *flags: Node) -> Node | None:
    replaced = _replacement(pattern, replacement)
    if replaced is None or not all(isinstance(argument, ox.Literal) for argument in (text, *flags)):
        return None
    return compute(f"REPLACE({', '.join(map(str, (text, pattern, replaced, *flags)))})")


def _group_reference(digits: str, groups: int) -> str:
    """The longest number that names a group, at least one digit."""
    length = max((n for n in range(1, len(digits) + 1) if int(digits[:n]) <= groups), default=1)
    return f"${{{digits[:length]}}}{digits[length:]}"


_NAMES: dict[str, Callable[..., Node | ox.Triple | None]] = {
    "value": stored_terms.value,
    "string": _string,
    "datatype": _datatype,
    "typed": _typed,
    "effective-boolean": _effective_boolean,
    "in-nothing": _in_nothing,
    "in": _in,
    "equal": _equal,
    "less": _less,
    "less-or-equal": _less_or_equal,
    "replacement": _replacement,
    "replace": _replace,
}
FUNCTIONS = {ox.NamedNode(f"urn:oracle:function:{name}"): function for name, function in _NAMES.items()}
