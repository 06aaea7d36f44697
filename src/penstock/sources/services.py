"""The answers of services: asked once, or again every so often."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.algebra.services import ServiceCall
from penstock.rdf.blank_nodes import prefixed
from penstock.rdf.elements import Row
from penstock.rdf.endpoints import DEFAULT_TIMEOUT, Endpoint, EndpointError


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """How services are asked; in milliseconds. Without `refresh`, once."""

    timeout: int = DEFAULT_TIMEOUT
    refresh: int | None = None


def ask(call: ServiceCall, timeout: int = DEFAULT_TIMEOUT) -> tuple[Row, ...]:
    """The solutions that an endpoint finds; one that binds nothing where it fails and may do so silently.

    Raises EndpointError.
    """
    endpoint = Endpoint(call.endpoint, timeout)
    try:
        return endpoint.solutions(call.query, call.columns, prefixed(call.endpoint))
    except EndpointError:
        if not call.is_silent:
            raise
        return ((None,) * len(call.variables),)
