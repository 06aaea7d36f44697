"""A registered query: its results, as evaluations or as a table, and its explanation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import pyarrow as pa

from penstock.algebra import ContinuousQuery, Settings
from penstock.algebra.inputs import InputError
from penstock.algebra.model import SelectForm
from penstock.api.dead_letters import DeadLetters
from penstock.api.handle import RunHandle
from penstock.api.run_messages import RunMessages
from penstock.api.shared_settings import chain_of
from penstock.api.sink_runs import Target, start_sinks
from penstock.engines.protocol import WindowStore
from penstock.rdf.html import table_html
from penstock.rdf.instants import instant_text
from penstock.rdf.results import Evaluation
from penstock.runtime.answers import contiguous
from penstock.runtime.empty_answers import EmptyAnswer, empty_answer
from penstock.runtime.outlets import Callback, Outlet
from penstock.runtime.queries import QuerySpec, RunningQuery
from penstock.runtime.run import Run
from penstock.runtime.settings import RunSettings
from penstock.runtime.ways import Way
from penstock.sinks.counts import Counts
from penstock.syntax import ast
from penstock.syntax.recognition import TITLES

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame as SparkFrame

    from penstock.api.batch_writer import OnBatch
    from penstock.api.engine import Engine
    from penstock.api.explanations import Explanation


@dataclass(frozen=True, slots=True)
class QueryOptions:
    """How a query is run: settings that override its dialect, and the file for late and malformed elements."""

    settings: Settings
    how: RunSettings
    is_strict: bool
    late: str | Path | None
    prefixes: Mapping[str, str]
    """Those that were declared for its text."""
    is_dialect_given: bool


class RegisteredQuery:
    """A continuous query over the streams and graphs of an engine; `Engine.register` returns it.

    Each `results()` is a run of its own from the beginning of the streams, together with the queries whose streams it
    reads. `counts` says how far the latest run is.
    """

    def __init__(
        self,
        engine: Engine,
        name: str,
        text: str,
        syntax: ast.Query,
        meaning: ContinuousQuery,
        options: QueryOptions,
    ) -> None:
        self.engine = engine
        self.name = name
        self.text = text
        self.syntax = syntax
        self.meaning = meaning
        self.options = options
        self._runs: WeakSet[RunHandle] = WeakSet()
        """The runs of `results` that have not ended."""
        self._count: Callable[[], Counts] = Counts
        self._store: WindowStore[Any] | None = None
        self._way: Way | None = None
        """Those of the latest run."""
        self._latest: Evaluation | None = None
        self._why_empty: Callable[[], EmptyAnswer | None] = lambda: None

    @property
    def dialect(self) -> str:
        return self.meaning.dialect

    @property
    def counts(self) -> Counts:
        """The numbers of elements, evaluations and rows that the latest run has read, dropped and returned so far.

        These are the `elements` of the input, `late` and `malformed` ones, `dropped`, their sum, `evaluations`, `rows`,
        and the `watermark`. Each run has its own counts, and logs dropped elements (the logger is `penstock`).
        """
        return self._count()

    @property
    def why_empty(self) -> EmptyAnswer | None:
        """Why the latest run returned no results, once it has ended; None if it returned some. A run also logs it.

        It says how many elements were read, from when to when, how many windows closed, how often the query was
        evaluated, and has `hints` at likely causes. `to_df` on Spark does not compute rows; if there are none, this is
        why.
        """
        return self._why_empty()

    def results(self) -> Iterator[Evaluation]:
        """Run the query; each evaluation is returned as soon as its instant has passed.

        An evaluation has `time` and, for SELECT, `vars` and `rows`; `boolean` for ASK; `triples` for CONSTRUCT and
        DESCRIBE. Terms are pyoxigraph terms. The query runs while you iterate, and waits for live streams.

        Raises ValueError where a stream is not bound.
        """
        return self._run().evaluations()

    def _run(self) -> RunHandle:
        run = self.engine.open({self: None})
        self._runs.add(run)
        return run

    def start(
        self,
        each: Callable[[Evaluation], None] | None = None,
        *,
        batches: OnBatch | None = None,
        terms: bool = False,
        types: Mapping[str, str] | None = None,
        checkpoint: str | Path | None = None,
        until_read: bool = False,
    ) -> RunHandle:
        """Run the query in the background; a function receives its results.

        `each` receives every evaluation. On Spark `batches` receives the results of each micro-batch that has any, as
        a DataFrame with the columns of `to_df` (`terms` and `types` as there), and the number of the batch. Any writer
        of Spark's can write it:

            query.start(batches=lambda frame, number: frame.write.mode("overwrite").parquet(f"answers/{number}"))

        With `checkpoint`, a folder, which all of Spark must reach, a run continues where an earlier one was stopped or
        has crashed. Only results of the last batch before a crash may be passed again, as the same evaluations with the
        same number. With `until_read` streams on Spark end with the data that is there now.

        Raises ValueError where a stream is not bound, and CheckpointError where the folder cannot be used.
        """
        if (each is None) == (batches is None):
            raise InputError("results are passed to one function: name either each= or batches=")
        if batches is not None:
            from penstock.api.batch_writer import BatchWriter

            outlet: Outlet = BatchWriter(batches, self.engine.session(), self.meaning.form, terms, types or {})
        elif each is not None:
            outlet = self._callback(each)
        return self.engine.open({self: outlet}, checkpoint=checkpoint, until_read=until_read, start=True)

    def sink(
        self,
        *targets: Target,
        format: str | None = None,
        checkpoint: str | Path | None = None,
        until_read: bool = False,
    ) -> RunHandle:
        """Run the query in the background, and write its answers to all targets.

        A target is what `--out` takes (a file, a folder, `kafka://HOST:PORT/TOPIC`, …), or a function that receives
        each evaluation. `format` is one of `--format`, `jsonl` if it is left out; `?format=` in an address takes
        precedence. A receiver that is away is waited for, at the start as well, at most for the `retry_timeout` of the
        engine. `checkpoint` and `until_read` are those of `start`.

            query.sink("kafka://localhost:9092/answers", "answers.jsonl", checkpoint="state")

        Raises ValueError where a stream is not bound, SinkError where a target cannot be written, and CheckpointError.
        """
        run = start_sinks(self.engine, [self], targets, format, checkpoint, until_read=until_read)
        self._runs.add(run)
        return run

    @property
    def prefixes(self) -> dict[str, str]:
        """Those that were declared for its text, and in it."""
        declared = {declaration.prefix: declaration.iri for declaration in self.meaning.text.prologue.prefixes}
        return {**self.options.prefixes, **declared}

    def stop(self) -> None:
        """Stop the runs of `results` and `sink`, also from another thread: they return no more results."""
        for run in list(self._runs):
            run.stop()

    def with_producers(self) -> list[RegisteredQuery]:
        """This query, after those whose streams it reads."""
        together = {**self.engine.queries, self.name: self}
        return [together[name] for name in chain_of(together.values()).needed_for([self.name])]

    # For runs

    def _spec(self, letters: DeadLetters, messages: RunMessages) -> QuerySpec:
        on_late = partial(letters.late, self.name)
        return QuerySpec(self.syntax, self.name, self.options.settings, on_late, messages.warning, self.meaning)

    def _callback(self, function: Callable[[Evaluation], None]) -> Outlet:
        def take(evaluation: Evaluation) -> None:
            if self._takes(evaluation):
                function(evaluation)

        return Callback(take)

    def _takes(self, evaluation: Evaluation) -> bool:
        """Whether an evaluation of the query is returned; then it is the latest."""
        if not (self.options.how.has_empty or evaluation.says_something):
            return False
        self._latest = evaluation
        return True

    def _runs_in(self, run: Run[Any], way: Way) -> None:
        """The latest run is this one."""
        self._store, self._way = run.store, way
        self._count = lambda: run.counts_of(self.name)
        self._why_empty = lambda: None

    def _runs_no_more(self) -> None:
        """It has left the latest run; its counts stay as they are."""
        counts = self.counts
        self._count = lambda: counts

    def _explain_empty(self, running: RunningQuery, store: WindowStore[Any] | None) -> EmptyAnswer | None:
        """A run has ended: why it returned no results, if so."""
        found = empty_answer([running], self.name, self.meaning, store)
        self._why_empty = lambda: found
        return found

    def _explain_empty_later(self, running: RunningQuery, store: WindowStore[Any]) -> None:
        """A run has ended, and its rows are not computed: if there are none, `why_empty` says why."""
        self._why_empty = lambda: empty_answer([running], self.name, self.meaning, store)

    # Tables

    def to_arrow(self, *, terms: bool = False) -> pa.Table:
        """Run the query to its end: a pyarrow table of all results, with the instant of each in milliseconds.

        A column whose values are all numbers, booleans or dates and times (in UTC) has that type. Any other column has
        strings: IRIs without brackets, literals without their types. With `terms` every value is a term as N-Triples.
        The metadata of the schema has the counts of the run as JSON: `table.schema.metadata[b"counts"]`.
        """
        from penstock.api.frames import arrow_table, with_counts  # slow to load

        answers = list(contiguous(self._run().answers(are_together=True)))
        if answers:
            batch, which = answers[-1]
            (self._latest,) = batch.evaluations(which[-1:])
        table = arrow_table(answers, self.meaning.form, terms=terms)
        return with_counts(table, self.counts)

    def to_df(self, *, terms: bool = False, types: Mapping[str, str] | None = None) -> pd.DataFrame | SparkFrame:
        """Like `to_arrow`, for pandas, which must be installed; on Spark, a DataFrame of Spark.

        There the columns are `time`, in milliseconds, and the variables. `types` sets Spark types of variables, as in
        `{"cars": "int", "mean": "decimal(10, 2)"}`; a value that does not have its type is NULL. To see the types of
        the values, `to_df` runs the query and keeps the result in Spark; no row is sent to the driver. With `terms`, or
        where `types` or the query itself determine all types, nothing is computed before you ask for rows: counts are
        whole numbers, subjects and predicates are IRIs.

        The counts of the run are in `df.attrs["counts"]`; on Spark, without rows, which are not computed yet, in
        `df.schema["time"].metadata["counts"]`.
        """
        if not self.engine.is_on_spark:
            if types:
                raise ValueError("types= needs an engine on Spark: on this engine, values already have their types")
            from penstock.api.frames import pandas_frame

            return pandas_frame(self.to_arrow(terms=terms))
        from penstock.api.frames import columns_of
        from penstock.engines.spark.result_frames import checked_types, frame_of, known_types, typed, with_counts_of

        spark, form = self.engine.session(), self.meaning.form
        types = checked_types(types, columns_of(form))
        if not isinstance(form, SelectForm) or self.meaning.waits_for_certainty:
            frame = typed(spark.createDataFrame(self.to_arrow(terms=terms)), types)
            return with_counts_of(frame, self.counts)
        run = self.engine.open({self: None})
        if run.way is not Way.HISTORY:
            run.stop()
            raise InputError("a live stream has no end: iterate over results(), or use start()")
        variables = tuple(variable.name for variable in form.variables)
        known = known_types(self.meaning.expression)
        frame = frame_of(run.whole(self), spark, variables, terms=terms, types=types, known=known)
        return with_counts_of(frame, self.counts)

    # Explanations

    def explain(self) -> Explanation:
        """Show when results appear and why: text in a terminal, a picture in a notebook.

        During a run and after it, the plan is the current one, with the sizes that it is based on and the kept parts.
        """
        from penstock.api.explanations import explained  # slow to load

        samples = {iri: binding.sample for iri, binding in self.engine.streams.items()}
        streams = {iri: source for iri, source in samples.items() if source is not None}
        return explained(self, streams, self.engine.graphs, self._store, self._way)

    def __repr__(self) -> str:
        return f"<penstock query {self.name}: {self._kind()}>"

    def _kind(self) -> str:
        return f"{type(self.syntax.form).__name__.upper()} in {TITLES[self.meaning.dialect]}"

    def _repr_html_(self) -> str:
        counts, bound = self.counts, self.engine.streams
        watermark = "none yet" if counts.watermark is None else instant_text(counts.watermark)
        facts = {
            "query": f"{self.name}, {self._kind()}",
            "streams": ", ".join(
                f"<{iri}> = {bound[iri].name if iri in bound else 'not bound'}"
                for iri in self.meaning.dataset.streams or bound
            ),
            "elements": f"{counts.elements:,}",
            "watermark": watermark,
            "evaluations": f"{counts.evaluations:,}",
            "rows": f"{counts.rows:,}",
        }
        table = table_html((), ([f"<b>{name}</b>", escape(fact)] for name, fact in facts.items()))
        latest = "" if self._latest is None else self._latest._repr_html_()
        return f"<div>{table}{latest}</div>"
