"""A registered query: what it answers, as evaluations or as a table, and why it answers then."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from html import escape
from pathlib import Path
from queue import Empty, Queue
from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.algebra import ContinuousQuery, Settings
from penstock.algebra.chaining import Chain
from penstock.algebra.inputs import InputError
from penstock.algebra.model import SelectForm
from penstock.api.explanations import Explanation, explained
from penstock.api.frames import arrow_table, pandas_frame, with_counts
from penstock.api.outsiders import Outsiders
from penstock.api.spark_streams import LiveStream
from penstock.api.stopping import Stoppable
from penstock.engines.duckdb.store import DuckDBStore
from penstock.engines.protocol import Engine
from penstock.rdf.elements import Malformed
from penstock.rdf.html import table_html
from penstock.rdf.instants import instant_text
from penstock.rdf.results import Evaluation
from penstock.runtime.changing_graphs import Updates
from penstock.runtime.empty_answers import EmptyAnswer, empty_answer
from penstock.runtime.history import HistoryRun
from penstock.runtime.log import LOG
from penstock.runtime.registry import Registry
from penstock.runtime.running import Late, RunSettings, Standing, TimedQuery
from penstock.runtime.starting import way_of
from penstock.sinks.counts import Counts
from penstock.sources import Source
from penstock.sources.graphs import Graph, merged
from penstock.syntax import ast
from penstock.syntax.recognition import TITLES

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame as SparkFrame
    from pyspark.sql import SparkSession

    from penstock.api.spark_runs import LiveRun, OnBatch
    from penstock.runtime.micro_batches import MicroBatches, Outlet

_SECONDS_BETWEEN = 0.1


@dataclass(frozen=True, slots=True)
class Manner:
    """How a query is to run: what holds against its dialect, and what becomes of input that does not count."""

    settings: Settings
    how: RunSettings
    has_empty: bool
    is_strict: bool
    late: str | Path | None


class RegisteredQuery:
    """A continuous query over the streams and graphs of an engine; `Engine.register` makes it.

    Every `results()` is a run of its own, from the beginning of the streams, together with the queries whose streams it
    reads. `counts` says how far the latest one is.
    """

    def __init__(
        self,
        text: str,
        query: ast.Query,
        meaning: ContinuousQuery,
        streams: Mapping[str, Source | LiveStream],
        graphs: Mapping[str | None, Sequence[Graph]],
        updates: Updates,
        manner: Manner,
        prefixes: Mapping[str, str],
        is_dialect_given: bool,
        name: str,
        others: Mapping[str, RegisteredQuery],
        live: list[LiveRun],
        spark: SparkSession | None = None,
    ) -> None:
        self._spark = spark
        self.live = live
        """The runs of its engine over what Spark streams."""
        self._others = others
        self.text = text
        self.name = name
        self._query, self._meaning = query, meaning
        self._streams, self._graphs, self._updates = streams, graphs, updates
        self._manner = manner
        self._prefixes, self._is_dialect_given = prefixes, is_dialect_given
        self._stopped = threading.Event()
        self._count: Callable[[], Counts] = Counts
        self._asked: Engine | None = None
        """The engine of the latest run."""
        self._latest: Evaluation | None = None
        self._why_empty: Callable[[], EmptyAnswer | None] = lambda: None

    @property
    def dialect(self) -> str:
        return self._meaning.dialect

    @property
    def counts(self) -> Counts:
        """What the latest run has read, dropped and answered so far.

        These are `elements`, `late` and `malformed` ones among the input, `dropped`, their sum, `evaluations`, `rows`,
        and the `watermark`. Each run has counts of its own, and logs what it drops (the logger is `penstock`).
        """
        return self._count()

    @property
    def why_empty(self) -> EmptyAnswer | None:
        """Why the latest run answered nothing, when it has ended; None if it answered something. A run logs it, too.

        It says how many elements were read, of what time, how many windows closed, how often the query was evaluated,
        and `hints` at likely causes. Of `to_df` on Spark nobody knows yet whether there are rows: if there are none,
        this is why.
        """
        return self._why_empty()

    def results(self) -> Iterator[Evaluation]:
        """Run the query; each evaluation comes as soon as its instant is over.

        An evaluation has `time` and, for SELECT, `vars` and `rows`; `boolean` for ASK; `triples` for CONSTRUCT and
        DESCRIBE. Terms are those of pyoxigraph. The work is done as you iterate; a live stream is waited for.

        Raises ValueError where a stream is not bound.
        """
        stopped = self._stopped
        if self._is_streamed:
            return self._streamed(stopped)
        outsiders = Outsiders(self._manner.is_strict)
        run = self._run(outsiders)
        return self._evaluations(run, outsiders, stopped)

    @property
    def _is_streamed(self) -> bool:
        """Whether Spark streams what it reads: such streams are no sources."""
        return any(not hasattr(source, "is_live") for source in self._streams.values())

    def _run(self, outsiders: Outsiders) -> Registry:
        """A run of this query, and of those whose streams it reads."""
        return self.run_with(self.with_givers(), {self: outsiders}, self._stopped)

    def run_with(
        self,
        queries: Sequence[RegisteredQuery],
        outsiders: Mapping[RegisteredQuery, Outsiders],
        stopped: threading.Event,
    ) -> Registry:
        """A run of several queries of one engine, each told of what does not count for it, if it is to be told."""
        engine = self._asked = self._engine()
        for iri, graph in self.graphs.items():
            engine.load_graph(iri, graph)
        sources = self.sources(stopped)
        how = how_together(queries)

        def malformed(malformed: Malformed) -> None:
            for each in list(outsiders.values()):
                each.malformed(malformed)

        run = way_of(engine, sources, how)(
            engine,
            [query.standing(outsiders[query].late if query in outsiders else ignore) for query in queries],
            sources,
            how,
            on_malformed=malformed,
            updates=self._updates,
        )
        for query in queries:
            query.runs_in(run)
        return run

    def sources(self, stopped: threading.Event) -> dict[str, Source]:
        """The streams that are bound; those that wait end when it is said."""
        return {iri: Stoppable.of(source, stopped) for iri, source in self._streams.items()}

    def runs_in(self, run: Registry | MicroBatches) -> None:
        """The latest run is this one."""
        self._asked = run.engine
        self._count = lambda: run.counts_of(self.name)
        self._why_empty = lambda: None

    def runs_no_more(self) -> None:
        """It has left the latest run, and counts as it did then."""
        counts = self.counts
        self._count = lambda: counts

    def has_said(self, evaluation: Evaluation) -> bool:
        """Whether an evaluation of the query is one that is asked for; then it is the latest."""
        if not (self._manner.has_empty or evaluation.says_something):
            return False
        self._latest = evaluation
        return True

    def standing(self, on_late: Callable[[Late], None]) -> Standing:
        return Standing(self._query, self.name, self._manner.settings, on_late)

    def with_givers(self) -> list[RegisteredQuery]:
        """This query, behind those that give it something."""
        together = {**self._others, self.name: self}
        return [together[name] for name in chain_of(together.values()).needed_for([self.name])]

    def _engine(self) -> Engine:
        if self._spark is None:
            return DuckDBStore()
        from penstock.engines.spark.store import SparkEngine

        return SparkEngine(self._spark)

    def _streamed(self, stopped: threading.Event) -> Iterator[Evaluation]:
        """What Spark streams is answered in threads of its own; evaluations wait in a queue."""
        from penstock.api.spark_runs import start_together
        from penstock.runtime.micro_batches import Callback

        found: Queue[Evaluation] = Queue()
        with start_together({self: Callback(found.put)}, None, is_bounded=False) as run:
            has_ended = False
            while not (has_ended and found.empty()) and not stopped.is_set():
                has_ended = has_ended or run.wait(0)
                with suppress(Empty):
                    evaluation = found.get(timeout=_SECONDS_BETWEEN)
                    if self.has_said(evaluation):
                        yield evaluation

    def start(
        self,
        each: Callable[[Evaluation], None] | None = None,
        *,
        batches: OnBatch | None = None,
        terms: bool = False,
        types: Mapping[str, str] | None = None,
        checkpoint: str | Path | None = None,
        until_read: bool = False,
    ) -> LiveRun:
        """Run the query over what Spark streams, beside the program: answers go to a function as they come.

        `each` gets every evaluation. `batches` gets what a micro-batch answers, if it answers anything, as a DataFrame
        of Spark with the columns of `to_df` (`terms` and `types` as there), and the number of the batch; so it can be
        written by any writer of Spark's:

            query.start(batches=lambda frame, number: frame.write.mode("overwrite").parquet(f"answers/{number}"))

        With `checkpoint`, a folder that all of Spark can reach, a run goes on where an earlier one was ended or has
        crashed. Only what the last batch before a crash answered may come again, as the same evaluations, with the same
        number. With `until_read` the streams end with what is there now.

        Raises ValueError where a stream is none that Spark streams, and CheckpointError where the folder is of no use.
        """
        from penstock.api.spark_runs import BatchWriter, start_together

        if (each is None) == (batches is None):
            raise InputError("answers go to one function: give each=, or batches=")
        if batches is not None:
            outlet: Outlet = BatchWriter(batches, self.on_spark(), self._meaning.form, terms, types or {})
        elif each is not None:
            outlet = self.told_to(each)
        return start_together({self: outlet}, None if checkpoint is None else Path(checkpoint), is_bounded=until_read)

    def told_to(self, function: Callable[[Evaluation], None]) -> Outlet:
        """Evaluations for a function, those without solutions only if they are wanted."""
        from penstock.runtime.micro_batches import Callback

        def tell(evaluation: Evaluation) -> None:
            if self._manner.has_empty or evaluation.says_something:
                function(evaluation)

        return Callback(tell)

    @property
    def streams(self) -> Mapping[str, Source | LiveStream]:
        return self._streams

    @property
    def updates(self) -> Updates:
        return self._updates

    @property
    def graphs(self) -> dict[str | None, Graph]:
        return {iri: merged(parts) for iri, parts in self._graphs.items()}

    @property
    def manner(self) -> Manner:
        return self._manner

    @property
    def meaning(self) -> ContinuousQuery:
        return self._meaning

    def on_spark(self) -> SparkSession:
        if self._spark is None:
            raise InputError("this is for an engine on Spark: Engine(spark)")
        return self._spark

    def _evaluations(self, run: Registry, outsiders: Outsiders, stopped: threading.Event) -> Iterator[Evaluation]:
        with closing(run.engine):
            with self._heard(outsiders):
                for evaluation in run.evaluations():
                    if stopped.is_set():
                        return
                    if evaluation.query == self.name and self.has_said(evaluation):
                        yield evaluation
                        if stopped.is_set():
                            return
            self.explain_empty(run.queries, run.engine)

    def explain_empty(self, queries: Sequence[TimedQuery], engine: Engine | None) -> None:
        """A run has ended: if it has answered nothing, log why."""
        found = empty_answer(queries, self.name, self._meaning, engine)
        self._why_empty = lambda: found
        if found is not None:
            LOG.warning(f"{self.name}: {found}")

    @contextmanager
    def _heard(self, outsiders: Outsiders) -> Iterator[None]:
        """What does not count goes to the file of dead letters, if there is one; in the end it is summed up."""
        with ExitStack() as stack:
            outsiders.open(self._manner.late, stack)
            try:
                yield
            finally:  # also of a run that is left early
                outsiders.sum_up(self.counts)

    def stop(self) -> None:
        """End the runs that are going on, also from another thread: they give no more results."""
        self._stopped.set()
        self._stopped = threading.Event()

    def to_arrow(self, *, terms: bool = False) -> pa.Table:
        """Run the query to its end: a pyarrow table of all results, the instant in milliseconds before each.

        A column whose values are all numbers, booleans or dates and times (in UTC) holds such values; any other holds
        texts: IRIs without brackets, literals without their types. With `terms` every value is a term as N-Triples.
        The metadata of the schema has the counts of the run, as JSON: `table.schema.metadata[b"counts"]`.
        """
        table = arrow_table(self.results(), self._meaning.form, terms=terms)
        return with_counts(table, self.counts)

    def to_df(self, *, terms: bool = False, types: Mapping[str, str] | None = None) -> pd.DataFrame | SparkFrame:
        """The same as `to_arrow` for pandas, which must be installed; on Spark, a DataFrame of Spark.

        There the columns are `time`, in milliseconds, and the variables. `types` gives variables types of Spark's, as
        in `{"cars": "int", "mean": "decimal(10, 2)"}`; a value that is none of its type is NULL. To see the types of
        the values, `to_df` runs the query and keeps the answer in Spark; no row comes to the driver. Nothing is
        computed before you ask for rows with `terms`, and where `types` or the query itself say all types: counts are
        whole numbers, subjects and predicates are IRIs.

        The counts of the run are in `df.attrs["counts"]`; on Spark, but for rows, which nobody has counted yet, in
        `df.schema["time"].metadata["counts"]`.
        """
        if self._spark is None:
            if types:
                raise ValueError("types are for an engine on Spark: elsewhere values have types by themselves")
            return pandas_frame(self.to_arrow(terms=terms))
        from penstock.api.spark_frames import checked_types, frame_of, known_types, typed, with_counts_of

        form = self._meaning.form
        types = checked_types(types, form)
        if not isinstance(form, SelectForm) or self._meaning.waits_for_certainty:
            frame = typed(self._spark.createDataFrame(self.to_arrow(terms=terms)), types)
            return with_counts_of(frame, self.counts)
        outsiders = Outsiders(self._manner.is_strict)
        run = None if self._is_streamed else self._run(outsiders)
        if not isinstance(run, HistoryRun):
            raise InputError("a stream that goes on has no end: iterate over results(), or start()")
        variables = tuple(variable.name for variable in form.variables)
        with self._heard(outsiders), closing(run):
            known = known_types(self._meaning.expression)
            frame = frame_of(run, self.name, self._spark, variables, terms=terms, types=types, known=known)
        if self.counts.evaluations:
            self._why_empty = lambda: empty_answer(run.queries, self.name, self._meaning, run.engine)
        else:
            self.explain_empty(run.queries, run.engine)
        return with_counts_of(frame, self.counts)

    def explain(self) -> Explanation:
        """Why results come when they come: text in a terminal, a picture in a notebook.

        During a run and after it, the plan is that of now, with the sizes that it goes by and what is kept for it.
        """
        how = self._manner.how
        inputs = (self._streams, self.graphs, how.lateness, self._prefixes, self._is_dialect_given)
        return explained(
            self._query,
            self.text,
            self._manner.settings,
            *inputs,
            is_optimized=how.is_optimized,
            sizes=None if self._asked is None else self._asked.sizes,
            kept=() if self._asked is None else self._asked.kept,
        )

    def __repr__(self) -> str:
        return f"<penstock query {self.name}: {self._kind()}>"

    def _kind(self) -> str:
        return f"{type(self._query.form).__name__.upper()} in {TITLES[self._meaning.dialect]}"

    def _repr_html_(self) -> str:
        counts = self.counts
        watermark = "none yet" if counts.watermark is None else instant_text(counts.watermark)
        facts = {
            "query": f"{self.name}, {self._kind()}",
            "streams": ", ".join(
                f"<{iri}> = {self._streams[iri].name if iri in self._streams else 'not bound'}"
                for iri in self._meaning.dataset.streams or self._streams
            ),
            "elements": f"{counts.elements:,}",
            "watermark": watermark,
            "evaluations": f"{counts.evaluations:,}",
            "rows": f"{counts.rows:,}",
        }
        table = table_html((), ([f"<b>{name}</b>", escape(fact)] for name, fact in facts.items()))
        latest = "" if self._latest is None else self._latest._repr_html_()
        return f"<div>{table}{latest}</div>"


def chain_of(queries: Iterable[RegisteredQuery]) -> Chain:
    """Raises InputError where they cannot be."""
    return Chain({query.name: query.meaning for query in queries})


def how_together(queries: Sequence[RegisteredQuery]) -> RunSettings:
    """How queries run that share their streams. Raises ValueError where they disagree.

    Who reads no stream from outside has no say in how those are read.
    """
    given = set(chain_of(queries).produced)
    reading = [query for query in queries if not given.issuperset(query.meaning.dataset.streams)] or queries
    first, how = reading[0].name, reading[0].manner.how
    for query in queries:
        here, there = _as_written(how), _as_written(query.manner.how)
        differing = [name for name in (here if query in reading else ("flush",)) if here[name] != there[name]]
        if differing:
            one, other = (" and ".join(f"{name}={said[name]!r}" for name in differing) for said in (here, there))
            raise InputError(
                f"{first} and {query.name} run together, but {first} has {one}, and {query.name} has {other}: "
                "register both with the same"
            )
    return how


def _as_written(how: RunSettings) -> dict[str, object]:
    """The arguments of `Engine.register` that say how a query is run."""
    return {
        "lateness": how.lateness,
        "idle_timeout": how.idle_timeout,
        "time": "arrival" if how.by_arrival else "event",
        "flush": how.flush,
        "empty": how.has_empty,
        "service_timeout": how.services.timeout,
        "service_refresh": how.services.refresh,
        "service_max_size": how.services.max_bytes,
        "optimize": how.is_optimized,
    }


def ignore(told: object) -> None:
    """Nobody asked for it."""
