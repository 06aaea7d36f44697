"""All experiments by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.bench.context import ExperimentContext
    from penstock.bench.results import Result


@dataclass(frozen=True, slots=True)
class Experiment:
    """`module` has `run(context)`; its docstring describes the method."""

    name: str
    title: str
    module: str

    @property
    def method(self) -> str:
        """The method of measurement."""
        return (import_module(self.module).__doc__ or "").strip()

    def run(self, context: ExperimentContext) -> Result:
        run: Callable[[ExperimentContext], Result] = import_module(self.module).run
        return run(context)


EXPERIMENTS = {
    name: Experiment(name, title, f"penstock.bench.{module}")
    for name, title, module in (
        ("lubm", "Groppe et al. 2007: the 14 LUBM queries over universities", "lubm.experiment"),
        ("csparql", "Barbieri et al. 2010: pushing filters towards the data", "csparql.experiment"),
        ("cqels", "Le-Phuoc et al. 2011: CQELS's queries over a conference", "cqels.experiment"),
        ("throughput", "Tollgates: triples per second, compared with other systems", "throughput"),
        ("limits", "Tollgates: text to answer and evaluation alone, next to SQL by hand", "limits.experiment"),
        ("latency", "Tollgates: live latency, from the closing of a window to its rows", "latency"),
        ("memory", "Tollgates: memory over time", "memory"),
        ("scaling", "Tollgates: how time grows with window, slide, patterns, streams", "scaling"),
    )
}
