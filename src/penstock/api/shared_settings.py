"""Queries that run together: the streams that they read from each other, and the settings that they share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from penstock.algebra.chaining import Chain
from penstock.algebra.inputs import InputError
from penstock.runtime.settings import RunSettings

if TYPE_CHECKING:
    from penstock.api.queries import RegisteredQuery


def chain_of(queries: Iterable[RegisteredQuery]) -> Chain:
    """Which queries read streams of others. Raises InputError if they do so in a circle."""
    return Chain({query.name: query.meaning for query in queries})


def shared_settings(queries: Sequence[RegisteredQuery]) -> RunSettings:
    """The settings of queries that share their streams. Raises InputError if they disagree.

    The settings of a query that reads no stream from outside do not matter, except for `flush`.
    """
    produced = set(chain_of(queries).produced)
    reading = [query for query in queries if not produced.issuperset(query.meaning.dataset.streams)] or queries
    first, how = reading[0].name, reading[0].options.how
    for query in queries:
        here, there = _arguments(how), _arguments(query.options.how)
        differing = [name for name in (here if query in reading else ("flush",)) if here[name] != there[name]]
        if differing:
            one, other = (" and ".join(f"{name}={said[name]!r}" for name in differing) for said in (here, there))
            raise InputError(
                f"{first} and {query.name} run together, but {first} has {one}, and {query.name} has {other}: "
                "register both with the same values"
            )
    return how


def _arguments(how: RunSettings) -> dict[str, object]:
    """The arguments of `Engine.register` about running the query."""
    return {
        "lateness": how.lateness,
        "idle_timeout": how.idle_timeout,
        "time": "arrival" if how.by_arrival else "event",
        "flush": how.flush,
        "empty": how.has_empty,
        "service_timeout": how.services.timeout,
        "service_refresh": how.services.refresh,
        "service_max_size": how.services.max_bytes,
        "optimize": how.is_optimized,
    }
