"""`penstock run` on Spark, over folders that grow, and with checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from penstock.algebra.inputs import InputError
from penstock.api.spark_streams import FOLLOW, endless_stream, is_endless, is_server
from penstock.cli.engines import EngineOptions
from penstock.cli.output import open_answers
from penstock.cli.preparing import Asked, open_dead_letters
from penstock.cli.run_options import REPLAY, RunOptions, is_standard_input
from penstock.cli.running import Letters, Output, told_apart
from penstock.cli.watching import Watch
from penstock.engines.spark.session import session
from penstock.rdf.results import Evaluation
from penstock.runtime.checkpoints import Written
from penstock.runtime.running import RunSettings
from penstock.sinks import Sink
from penstock.sources.graphs import Graph

if TYPE_CHECKING:
    from penstock.sources.spark.live import LiveStream


def follow_queries(
    asked: Asked,
    engine: EngineOptions,
    bindings: Mapping[str, str],
    graphs: Mapping[str | None, Graph],
    run: RunOptions,
    how: RunSettings,
    output: Output,
    checkpoint: Path | None,
) -> None:
    """Runs queries until the user ends it, or to the end of what is there if no folder is followed."""
    followed = [is_endless(source) for source in bindings.values()]
    if any(followed) and not all(followed):
        raise InputError(f"some streams end and others do not: write ?{FOLLOW} after each of them, or after none")
    for source in bindings.values() if checkpoint is not None else ():
        if is_standard_input(source) or source.startswith(REPLAY) or is_server(source):
            raise InputError(
                f"{source} cannot be read again after a restart, so that a checkpoint is of no use: write the stream "
                "to a file first, or leave --checkpoint out"
            )
    streams = {iri: _stream(source, f"s{number}") for number, (iri, source) in enumerate(bindings.items(), 1)}
    spark = session(engine.master, engine.conf, verbose=engine.verbose)
    from penstock.runtime.micro_batches import MicroBatches

    watch = Watch(asked.title, output.progress)
    with ExitStack() as stack:
        outlet = _Outlet(asked, output, Letters(watch, output.is_strict), watch, stack)
        batches = MicroBatches(
            spark,
            [(standing, outlet) for standing in asked.standing(run.settings, outlet.letters.late, watch.warn)],
            streams,
            graphs,
            how,
            checkpoint=checkpoint,
            fingerprint=told_apart(asked, run, how, output),
            is_bounded=not any(followed),
            on_malformed=outlet.letters.malformed,
            updates=run.updates_of(asked.chain, asked.prefixes),
        )
        if batches.has_finished:
            click.echo(f"{checkpoint}: this run has been finished before; there is nothing left to do", err=True)
            batches.stop()
            return
        stack.callback(watch.close)
        watch.begin(batches)
        try:
            batches.start()
            with watch.explaining_empty(asked.chain.queries, batches.engine):
                batches.wait()
        finally:
            batches.stop()


class _Outlet:
    """The answers of all queries, and beside them what does not count: both are cut to where they were."""

    def __init__(self, asked: Asked, output: Output, letters: Letters, watch: Watch, opened: ExitStack) -> None:
        self.letters = letters
        self._asked, self._output, self._watch, self._opened = asked, output, watch, opened
        self._sink: Sink | None = None

    def resume(self, written: Written) -> None:
        if self._sink is not None:  # for another query
            return
        asked, output = self._asked, self._output
        answers, letters = (None, None) if written is None else written
        sink = open_answers(output.out, output.format, asked.forms, asked.prefixes, answers)
        self._sink = self._opened.enter_context(sink)
        if output.late is not None:
            self.letters.file = self._opened.enter_context(closing(open_dead_letters(output.late, letters)))

    def write(self, evaluation: Evaluation) -> None:
        assert self._sink is not None
        if self._output.has_empty or evaluation.says_something:
            with self._watch.line_hidden():
                self._sink.write(evaluation)
                self._sink.flush()

    def position(self) -> Written:
        assert self._sink is not None
        return self._sink.position(), self.letters.position()


def _stream(source: str, scope: str) -> LiveStream:
    from penstock.sources.spark.live import WholeSource

    return endless_stream(source, scope) if is_endless(source) else WholeSource(source, scope)
