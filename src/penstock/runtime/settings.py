"""Settings of a run that do not change the meaning of its queries."""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.engines.protocol import Windows
from penstock.sources.services import ServiceSettings


@dataclass(frozen=True, slots=True)
class RunSettings:
    """Settings of runs, as opposed to the meaning of queries (`Settings`); times are in milliseconds."""

    lateness: int = 0
    idle_timeout: int | None = None
    by_arrival: bool = False
    """Elements are stamped as they arrive."""
    flush: bool = False
    """Windows that are still open when the input ends are also reported."""
    is_prompt: bool = False
    """Instants are evaluated as soon as possible, even if all input is already there."""
    instants_per_slice: int | None = None
    services: ServiceSettings = field(default_factory=ServiceSettings)
    has_empty: bool = False
    """Evaluations without solutions are also returned."""
    is_optimized: bool = True
    """The optimizer's rules are applied."""
    windows: Windows = "auto"
    """Where windows are evaluated, on Spark."""
