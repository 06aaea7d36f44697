"""NOW() is the evaluation instant, as xsd:dateTime in UTC: at each instant it is a constant."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from penstock.algebra.inputs import InputError
from penstock.rdf.terms import Literal
from penstock.rdf.vocabulary import XSD
from penstock.syntax import ast
from penstock.syntax.ast.traversal import rewrite_children

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def at_instant(query: ast.Query, instant: int) -> ast.Query:
    """The query with the instant in place of NOW(), except in SERVICE, where it is the endpoint's."""

    def change(node: ast.Node) -> ast.Node:
        if isinstance(node, ast.Service):
            return node
        if isinstance(node, ast.Call) and node.name == "NOW":
            return ast.Constant(Literal(_date_time(instant), XSD + "dateTime"))
        return rewrite_children(node, change)

    return rewrite_children(query, change)


def _date_time(instant: int) -> str:
    """With a fraction of a second only where there is one."""
    try:
        moment = _EPOCH + timedelta(seconds=instant // 1000)
    except OverflowError:
        raise InputError(f"NOW() at the instant {instant}: years go from 1 to 9999") from None
    fraction = f".{instant % 1000:03}".rstrip("0").rstrip(".")
    return f"{moment.replace(tzinfo=None).isoformat()}{fraction}Z"
