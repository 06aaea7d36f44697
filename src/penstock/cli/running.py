"""A run as the command line wants it: results and dead letters as they come, to be gone on with after a crash."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from penstock.algebra import Settings
from penstock.algebra.inputs import InputError
from penstock.api.dead_letters import DeadLetters, MalformedError
from penstock.cli.messages import show_error
from penstock.cli.mistakes import FAILED
from penstock.cli.output import is_terminal, open_answers
from penstock.cli.preparing import Asked, open_dead_letters
from penstock.cli.run_options import RunOptions
from penstock.cli.watching import Watch
from penstock.engines.protocol import Engine, StorageError
from penstock.rdf.elements import Malformed
from penstock.rdf.mistaken_formats import FormatAdvice
from penstock.runtime.changing_graphs import Updates
from penstock.runtime.checkpoints import Checkpoint, CheckpointError
from penstock.runtime.running import Late, RunSettings
from penstock.runtime.starting import way_of
from penstock.sources import Source
from penstock.syntax.printer import to_text


@dataclass(frozen=True, slots=True)
class Output:
    """What the options say about output; `progress` None: on a terminal."""

    out: str
    format: str
    late: str | None
    is_strict: bool
    has_empty: bool
    progress: bool | None

    @property
    def is_terminal(self) -> bool:
        return is_terminal(self.out)


def run_queries(
    asked: Asked,
    engine: Engine,
    sources: Mapping[str, Source],
    settings: Settings,
    how: RunSettings,
    output: Output,
    checkpoint: Checkpoint | None,
    updates: Updates | None = None,
) -> None:
    """Runs queries to their end, or until the user ends them."""
    watch = Watch(asked.title, output.progress)
    written_before = (None, None) if checkpoint is None or checkpoint.written is None else checkpoint.written
    with ExitStack() as stack:
        letters = Letters(watch, output.is_strict)
        run = way_of(engine, sources, how)(
            engine,
            asked.standing(settings, letters.late, watch.warn),
            sources,
            how,
            on_malformed=letters.malformed,
            updates=updates,
            checkpoint=checkpoint,
            written=lambda: (sink.position(), letters.position()),
        )
        sink = open_answers(output.out, output.format, asked.forms, asked.prefixes, written_before[0])
        stack.callback(watch.close)
        stack.enter_context(sink)
        if output.late is not None:
            letters.file = stack.enter_context(closing(open_dead_letters(output.late, written_before[1])))
        watch.begin(run)
        is_awaited = output.is_terminal or any(source.is_live for source in sources.values())
        with watch.explaining_empty(asked.chain.queries, engine):
            for evaluation in run.evaluations():
                if output.has_empty or evaluation.says_something:
                    with watch.line_hidden():
                        sink.write(evaluation)
                        if is_awaited:
                            sink.flush()


class Letters:
    """What does not count: told, and written to the file of dead letters if there is one."""

    def __init__(self, watch: Watch, is_strict: bool) -> None:
        self.file: DeadLetters | None = None
        self._watch = watch
        self._is_strict = is_strict
        self._advised = FormatAdvice()

    def late(self, late: Late) -> None:
        if self.file is not None:
            self.file.late(late)

    def malformed(self, malformed: Malformed) -> None:
        malformed = self._advised(malformed)
        if self.file is not None:
            self.file.malformed(malformed)
        if self._is_strict:
            raise MalformedError(malformed)
        self._watch.left_out(malformed)

    def position(self) -> int | None:
        return None if self.file is None else self.file.position()


def keep_checkpoint(
    folder: Path, asked: Asked, run: RunOptions, how: RunSettings, output: Output, sources: Mapping[str, Source]
) -> Checkpoint:
    """The checkpoint of a run, which is one with the same queries, options and input.

    Raises InputError where a stream cannot be read again, and CheckpointError where the folder cannot be used.
    """
    for source in sources.values():
        if not source.can_resume:
            raise InputError(
                f"{source.name} cannot be read again after a restart, so that a checkpoint is of no use: write the "
                "stream to a file first, or leave --checkpoint out"
            )
    return Checkpoint(folder, told_apart(asked, run, how, output))


def told_apart(asked: Asked, run: RunOptions, how: RunSettings, output: Output) -> str:
    """What one run has in common with another that may go on with its checkpoint."""
    bindings = run.stream_bindings(asked.chain, asked.prefixes)
    texts = [(name, to_text(query)) for name, query in asked.queries.items()]
    graphs = (run.graphs, run.graph_updates)
    meant = (texts, sorted(bindings.items()), *graphs, run.settings, how, output.out)
    return repr((*meant, output.format, output.late, output.has_empty))


@contextmanager
def told_of_storage(name: str) -> Iterator[None]:
    """Runs what is inside; a disk that does not take or give what a run keeps there ends the command with a message."""
    try:
        yield
    except (CheckpointError, StorageError) as error:
        show_error(name, str(error))
        raise click.exceptions.Exit(FAILED) from None
