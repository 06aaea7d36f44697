"""The experiments there are, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from penstock.bench.results import Result
from penstock.bench.setting import Setting


@dataclass(frozen=True, slots=True)
class Experiment:
    """`module` has `run(setting)`; its docstring says how it is measured."""

    name: str
    title: str
    module: str

    @property
    def method(self) -> str:
        """How it is measured."""
        return (import_module(self.module).__doc__ or "").strip()

    def run(self, setting: Setting) -> Result:
        run: Callable[[Setting], Result] = import_module(self.module).run
        return run(setting)


EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "lubm", "Groppe et al. 2007: the 14 LUBM queries over universities", "penstock.bench.lubm.experiment"
        ),
        Experiment("throughput", "Tollgates: triples a second, beside the peers", "penstock.bench.throughput"),
        Experiment("latency", "Tollgates: from a window's closing to its rows, live", "penstock.bench.latency"),
        Experiment("memory", "Tollgates: memory over time", "penstock.bench.memory"),
        Experiment(
            "scaling", "Tollgates: how time grows with window, slide, patterns, streams", "penstock.bench.scaling"
        ),
    )
}
