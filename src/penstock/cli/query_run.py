"""A run as the command line wants it: results to a sink, messages to standard error, restarts, Ctrl-C."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import click

from penstock.api.engine import Engine
from penstock.api.queries import RegisteredQuery
from penstock.cli.interrupts import interruptible
from penstock.cli.output import is_terminal, open_answers
from penstock.cli.query_set import QuerySet
from penstock.cli.run_report import RunReport
from penstock.rdf.result_batches import ResultBatch
from penstock.runtime.outlets import Outlet, SharedOutlet, Written
from penstock.sinks import Sink


@dataclass(frozen=True, slots=True)
class Output:
    """Where results go, and how; `progress` None: on a terminal."""

    out: str
    format: str
    has_empty: bool = False
    progress: bool | None = None


@dataclass(slots=True)
class SinkOutlet(Outlet):
    """The results of all queries, in one sink; a run that continues cuts it to where it was at the last commit."""

    queries: QuerySet
    output: Output
    report: RunReport
    opened: ExitStack
    _sink: Sink | None = field(default=None, init=False)

    def resume(self, written: Written) -> None:
        sink = open_answers(self.output.out, self.output.format, self.queries.forms, self.queries.prefixes, written)
        self._sink = self.opened.enter_context(sink)

    def write(self, batch: ResultBatch, which: range) -> None:
        assert self._sink is not None
        with self.report.line_hidden():
            self._sink.write(batch, which)
            if is_terminal(self.output.out):
                self._sink.flush()

    def finish(self, number: int) -> None:
        assert self._sink is not None
        with self.report.line_hidden():
            self._sink.flush()

    def position(self) -> Written:
        assert self._sink is not None
        return self._sink.position()


def run_queries(
    engine: Engine,
    queries: QuerySet,
    registered: Sequence[RegisteredQuery],
    output: Output,
    *,
    checkpoint: Path | None = None,
    fingerprint: str = "",
) -> None:
    """Run queries to the end of their input, or until the user stops them."""
    report = RunReport(queries.title, output.progress, has_several=len(registered) > 1)
    with ExitStack() as opened:
        opened.callback(report.close)
        outlet = SinkOutlet(queries, output, report, opened)
        first, *others = registered
        outlets: dict[RegisteredQuery, Outlet] = {first: outlet, **dict.fromkeys(others, SharedOutlet(outlet))}
        run = engine.open(outlets, checkpoint=checkpoint, fingerprint=fingerprint, messages=report)
        if run.has_finished:
            click.echo(f"{checkpoint}: this run is already finished", err=True)
            run.stop()
            return
        report.begin(run)
        with interruptible(run.interrupt):
            run.run()
