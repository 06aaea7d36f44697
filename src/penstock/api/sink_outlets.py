"""Outlets that write answers to sinks: files, folders, brokers and endpoints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from penstock.algebra.model import QueryForm
from penstock.rdf.credentials import ServiceAuth
from penstock.rdf.result_batches import ResultBatch
from penstock.runtime.outlets import Outlet, Written
from penstock.sinks import Sink, open_sink
from penstock.sinks.delivery import DeliveryStopped, Retries
from penstock.sinks.opening import SinkSettings, is_delivered

DEFAULT_FORMAT = "jsonl"


@dataclass(frozen=True, slots=True)
class Answers:
    """The results for a sink: of queries of these forms. `prefixes` shorten IRIs if the format allows it."""

    forms: Sequence[QueryForm]
    format: str = DEFAULT_FORMAT
    prefixes: Mapping[str, str] = field(default_factory=dict)


class SinkOutlet(Outlet):
    """Writes answers to a sink; a run that continues opens it at its last commit."""

    def __init__(self, target: str | Path, answers: Answers, settings: SinkSettings) -> None:
        self.target = str(target)
        self.answers = answers
        self.settings = settings
        self._sink: Sink | None = None

    @property
    def sink(self) -> Sink:
        assert self._sink is not None, "the run has begun"
        return self._sink

    def resume(self, written: Written) -> None:
        answers = self.answers
        self._sink = open_sink(
            self.target,
            answers.format,
            *answers.forms,
            prefixes=answers.prefixes,
            position=written,
            settings=self.settings,
        )

    def write(self, batch: ResultBatch, which: range) -> None:
        self.sink.write(batch, which)

    def finish(self, number: int) -> None:
        self.sink.flush()

    def position(self) -> Written:
        return self.sink.position()

    def deliver(self) -> None:
        self.sink.deliver()

    def complete(self, written: Written) -> None:
        if not is_delivered(self.target, written, self.settings):
            self.resume(written)
            self.deliver()

    def interrupt(self) -> None:
        self.settings.retries.stopped.set()

    def close(self, *, has_failed: bool) -> None:
        sink, self._sink = self._sink, None
        if sink is None:
            return
        if has_failed:
            sink.close()
            return
        with suppress(DeliveryStopped), sink:
            """At the end of `with`, a sink completes its output."""


def sink_settings(
    checkpoint: str | Path | None,
    number: int,
    retry_timeout: float | None,
    report: Callable[[str], None],
    auth: ServiceAuth,
) -> SinkSettings:
    """`number` is that of the sink in its run; `retry_timeout` is in seconds."""
    retries = Retries(retry_timeout, report)
    return SinkSettings(None if checkpoint is None else (Path(checkpoint), number), retries, auth)
