"""The answers of services, queried once or at an interval."""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.algebra.services import ServiceCall
from penstock.rdf.blank_nodes import prefixed
from penstock.rdf.credentials import ServiceAuth, service_auth
from penstock.rdf.elements import Row
from penstock.rdf.endpoints import DEFAULT_MAX_BYTES, DEFAULT_TIMEOUT, Endpoint, EndpointError


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """How services are queried: times in milliseconds; without `refresh`, once. `max_bytes` bounds an answer."""

    timeout: int = DEFAULT_TIMEOUT
    refresh: int | None = None
    max_bytes: int = DEFAULT_MAX_BYTES
    auth: ServiceAuth = field(default_factory=service_auth, repr=False)


def ask(call: ServiceCall, settings: ServiceSettings) -> tuple[Row, ...]:
    """The solutions of an endpoint; if it fails and SERVICE is SILENT, one solution that binds nothing.

    Raises EndpointError.
    """
    endpoint = Endpoint(call.endpoint, settings.timeout, settings.max_bytes, settings.auth)
    try:
        return endpoint.solutions(call.query, call.columns, prefixed(endpoint.name))
    except EndpointError:
        if not call.is_silent:
            raise
        return ((None,) * len(call.variables),)
