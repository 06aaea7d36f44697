"""A run as the command line wants it: results to sinks, messages to standard error, restarts, Ctrl-C."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import click

from penstock.api.engine import Engine
from penstock.api.parquet_frames import can_write_frames, write_frames
from penstock.api.queries import RegisteredQuery
from penstock.api.sink_outlets import Answers, SinkOutlet, sink_settings
from penstock.cli.interrupts import interruptible
from penstock.cli.output import STANDARD_OUTPUT, is_terminal, out_errors
from penstock.cli.query_set import QuerySet
from penstock.cli.run_report import RunReport
from penstock.rdf.result_batches import ResultBatch
from penstock.runtime.outlets import Outlet, Outlets, SharedOutlet, Written
from penstock.sinks.formats import PARQUET
from penstock.sinks.opening import SinkSettings


@dataclass(frozen=True, slots=True)
class Output:
    """Where results go, each with its format; `progress` None: on a terminal."""

    outs: Sequence[tuple[str, str]]
    progress: bool | None = None

    @property
    def fingerprint(self) -> str:
        """What must stay the same for a run to continue."""
        return repr(list(self.outs))


class ShownOutlet(SinkOutlet):
    """The results of all queries in one sink; on a terminal they do not meet the progress line."""

    def __init__(self, target: str, answers: Answers, settings: SinkSettings, report: RunReport) -> None:
        super().__init__(target, answers, settings)
        self._report = report
        self._is_shown = target == STANDARD_OUTPUT

    def resume(self, written: Written) -> None:
        with out_errors():
            super().resume(written)

    def write(self, batch: ResultBatch, which: range) -> None:
        if not self._is_shown:
            super().write(batch, which)
            return
        with self._report.line_hidden():
            super().write(batch, which)
            if is_terminal(self.target):
                self.sink.flush()

    def finish(self, number: int) -> None:
        if not self._is_shown:
            super().finish(number)
            return
        with self._report.line_hidden():
            super().finish(number)


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
    if (
        checkpoint is None
        and [format for _, format in output.outs] == [PARQUET]
        and can_write_frames(engine, registered)
    ):
        ((folder, _),) = output.outs
        with out_errors():
            write_frames(registered, Path(folder.partition("?")[0]))
        return
    with ExitStack() as opened:
        opened.callback(report.close)
        sinks = []
        for number, (target, format) in enumerate(output.outs):
            auth = queries.run.service_auth
            settings = sink_settings(checkpoint, number, engine.retry_timeout, report.warning, auth)
            sinks.append(ShownOutlet(target, Answers(queries.forms, format, queries.prefixes), settings, report))
        first, *others = registered
        outlet = Outlets(tuple(sinks))
        outlets: dict[RegisteredQuery, Outlet] = {first: outlet, **dict.fromkeys(others, SharedOutlet(outlet))}
        run = engine.open(outlets, checkpoint=checkpoint, fingerprint=fingerprint, messages=report)
        if run.has_finished:
            click.echo(f"{checkpoint}: this run is already finished", err=True)
            run.stop()
            return
        report.begin(run)
        with interruptible(run.interrupt):
            run.run()
