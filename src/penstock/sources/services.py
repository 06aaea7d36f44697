"""The answers of services: asked once, or again every so often."""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.algebra.services import ServiceCall
from penstock.rdf.blank_nodes import prefixed
from penstock.rdf.credentials import ServiceAuth, service_auth
from penstock.rdf.elements import Row
from penstock.rdf.endpoints import DEFAULT_MAX_BYTES, DEFAULT_TIMEOUT, Endpoint, EndpointError


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """How services are asked; in milliseconds. Without `refresh`, once. `max_bytes` bounds an answer."""

    timeout: int = DEFAULT_TIMEOUT
    refresh: int | None = None
    max_bytes: int = DEFAULT_MAX_BYTES
    auth: ServiceAuth = field(default_factory=service_auth, repr=False)


def ask(call: ServiceCall, settings: ServiceSettings) -> tuple[Row, ...]:
    """The solutions that an endpoint finds; one that binds nothing where it fails and may do so silently.

    Raises EndpointError.
    """
    endpoint = Endpoint(call.endpoint, settings.timeout, settings.max_bytes, settings.auth)
    try:
        return endpoint.solutions(call.query, call.columns, prefixed(endpoint.name))
    except EndpointError:
        if not call.is_silent:
            raise
        return ((None,) * len(call.variables),)
