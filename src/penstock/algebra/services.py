"""SERVICE (SPARQL 1.1 Federated Query): the queries for endpoints.

The pattern in SERVICE is a query of its own, which the endpoint answers. The answer is a table, like VALUES. It is
valid from the instant at which it is received.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from penstock.algebra.inputs import ALWAYS, InputError
from penstock.algebra.windows import Interval
from penstock.rdf.elements import Row
from penstock.rdf.terms import IRI, Literal
from penstock.rdf.vocabulary import XSD
from penstock.syntax import ast
from penstock.syntax.ast.traversal import WITHOUT_GROUPS, rewrite, rewrite_children, walk
from penstock.syntax.checks import in_scope
from penstock.syntax.translation.variables import plain_names, plain_variables


@dataclass(frozen=True, slots=True)
class ServiceCall:
    """A query for an endpoint, and the variables of its columns, in order; `columns` are their names in the answer.

    With `is_silent`, a failure of the endpoint counts as one solution that binds nothing.
    """

    endpoint: str
    query: str
    variables: tuple[str, ...]
    columns: tuple[str, ...]
    is_silent: bool


class ServiceAnswer(NamedTuple):
    """The answer of an endpoint, a term for each variable, and its validity."""

    rows: tuple[Row, ...]
    valid: Interval = ALWAYS


def service_call(service: ast.Service) -> ServiceCall | None:
    """The call of a SERVICE; None if a variable names the endpoint."""
    if isinstance(service.name, ast.Variable):
        return None
    if any(isinstance(node, ast.WindowBlock | ast.StreamBlock) for node in walk(service.pattern)):
        raise InputError(
            f"SERVICE <{service.name.text}> has a window of a stream inside, which the endpoint does not know: "
            "read the window outside of SERVICE"
        )
    from penstock.syntax.printer import to_text  # not needed without SERVICE

    variables = tuple(in_scope(service.pattern))
    projections = tuple(ast.Projection(ast.Variable(name)) for name in variables)
    counted = ast.Projection(ast.Variable("solution"), ast.Constant(_ONE))
    query = ast.Query("sparql", ast.Select(projections or (counted,)), service.pattern)
    renamed = plain_names(query)
    columns = tuple(renamed.get(name, name) for name in variables)
    return ServiceCall(service.name.text, to_text(plain_variables(query)), variables, columns, service.silent)


_ONE = Literal("1", XSD + "integer")


def service_calls(query: ast.Query) -> list[ServiceCall]:
    """All calls of a query, without duplicates. Raises InputError if an endpoint is not known in advance."""
    calls: dict[ServiceCall, None] = {}
    for service in _services(query):
        call = service_call(service)
        if call is None:
            variable = service.name.name  # type: ignore[union-attr]
            raise InputError(
                f"the endpoints of SERVICE ?{variable} are not known in advance: name them, as in VALUES ?{variable} "
                f"{{ <http://example.org/sparql> }} beside SERVICE, in the same group"
            )
        calls[call] = None
    return list(calls)


def _services(query: ast.Query) -> Iterator[ast.Service]:
    """The services of the query itself; a service inside another one is the business of that endpoint."""
    found: list[ast.Service] = []

    def visit(node: ast.Node) -> ast.Node:
        if isinstance(node, ast.Service):
            found.append(node)
            return node
        return rewrite_children(node, visit)

    visit(query)
    yield from found


# SERVICE ?endpoint: the union over the endpoints that VALUES or BIND name in the same group


def with_known_endpoints(query: ast.Query) -> ast.Query:
    """Replaces variables that name endpoints by constants, if the query itself lists their values."""

    def change(node: ast.Node) -> ast.Node:
        return _named(node) if isinstance(node, ast.Group) else node

    return rewrite(query, change, beside=WITHOUT_GROUPS)


def _named(group: ast.Group) -> ast.Group:
    elements = tuple(_one_of(element, group.elements) for element in group.elements)
    return replace(group, elements=elements) if elements != group.elements else group


def _one_of(element: ast.Element, beside: Sequence[ast.Element]) -> ast.Element:
    if isinstance(element, ast.Optional | ast.Minus):  # a group by itself, but its endpoints are known outside
        inner = element.pattern
        elements = tuple(_one_of(part, [*beside, *inner.elements]) for part in inner.elements)
        return replace(element, pattern=replace(inner, elements=elements)) if elements != inner.elements else element
    if not isinstance(element, ast.Service) or not isinstance(element.name, ast.Variable):
        return element
    endpoints = _endpoints(element.name, beside)
    if endpoints is None:
        return element
    sides = []
    for endpoint in endpoints:
        said = ast.InlineData((element.name,), ((endpoint,),))
        sides.append(ast.Group((said, replace(element, name=endpoint))))
    return ast.Union(tuple(sides)) if len(sides) > 1 else sides[0]


def _endpoints(variable: ast.Variable, beside: Sequence[ast.Element]) -> list[ast.Constant] | None:
    """The IRIs that the variable can have in a group; None if they are not known."""
    for element in beside:
        if isinstance(element, ast.InlineData) and any(v.name == variable.name for v in element.variables):
            place = [v.name for v in element.variables].index(variable.name)
            values = [row[place] for row in element.rows]
        elif isinstance(element, ast.Bind) and element.variable.name == variable.name:
            values = [element.expression if isinstance(element.expression, ast.Constant) else None]
        else:
            continue
        known = [value for value in values if value is not None and isinstance(value.term, IRI)]
        if known and len(known) == len(values):
            return list(dict.fromkeys(known))
    return None
