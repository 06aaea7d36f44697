"""Runs that write to sinks: `Engine.sink` and `RegisteredQuery.sink`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.algebra.inputs import InputError
from penstock.api.handle import RunHandle
from penstock.api.run_messages import RunMessages
from penstock.api.sink_outlets import DEFAULT_FORMAT, Answers, SinkOutlet, sink_settings
from penstock.rdf.results import Evaluation
from penstock.runtime.outlets import Outlet, Outlets, SharedOutlet

if TYPE_CHECKING:
    from penstock.api.engine import Engine
    from penstock.api.queries import RegisteredQuery

Target = str | Path | Callable[[Evaluation], None]


def start_sinks(
    engine: Engine,
    queries: Sequence[RegisteredQuery],
    targets: Sequence[Target],
    format: str | None,
    checkpoint: str | Path | None,
    *,
    until_read: bool,
) -> RunHandle:
    """Run queries in the background; all of them write to all targets. Functions receive single evaluations."""
    if not queries or not targets:
        missing = "a query" if not queries else "a target"
        raise InputError(f"{missing} is missing: name at least one registered query, and one file, address or function")
    functions = [target for target in targets if callable(target)]
    addresses = [_checked(target) for target in targets if not callable(target)]
    messages = RunMessages()
    answers = Answers([query.meaning.form for query in queries], format or DEFAULT_FORMAT, queries[0].prefixes)
    sinks: list[Outlet] = []
    for number, target in enumerate(addresses):
        settings = sink_settings(checkpoint, number, engine.retry_timeout, messages.warning, engine.auth)
        sinks.append(SinkOutlet(target, answers, settings))
    outlets: dict[RegisteredQuery, Outlet | None] = {}
    for query in queries:
        own = map(query._callback, functions)
        outlets[query] = Outlets((*(map(SharedOutlet, sinks) if outlets else sinks), *own))
    fingerprint = repr((format, *map(str, addresses)))
    return engine.open(
        outlets, checkpoint=checkpoint, fingerprint=fingerprint, until_read=until_read, start=True, messages=messages
    )


def _checked(target: Any) -> str | Path:
    if isinstance(target, str | Path):
        return target
    raise InputError(f"a sink is a file, an address or a function, but this is {target!r}")
