"""How a run goes, beside what its queries mean."""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.engines.protocol import Windows
from penstock.sources.services import ServiceSettings


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How queries are run, beside what they mean (`Settings`); times are in milliseconds."""

    lateness: int = 0
    idle_timeout: int | None = None
    by_arrival: bool = False
    """Elements are stamped as they arrive."""
    flush: bool = False
    """Windows that are still open when the input ends are reported, too."""
    is_prompt: bool = False
    """Instants are answered as soon as possible, also where all input is there already."""
    instants_per_slice: int | None = None
    services: ServiceSettings = field(default_factory=ServiceSettings)
    has_empty: bool = False
    """Evaluations without solutions are wanted, too."""
    is_optimized: bool = True
    """The optimizer's rules are applied."""
    windows: Windows = "auto"
    """Where windows are evaluated, on Spark."""
