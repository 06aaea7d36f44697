"""The front door for programs and for the command line: bind streams and graphs, register queries, run them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from typing import Literal as OneOf
from weakref import WeakSet

from penstock.algebra import Settings, build
from penstock.algebra.chaining import check_chained, distinct_names, produces_triples
from penstock.algebra.inputs import InputError
from penstock.algebra.services import ServiceAnswer, ServiceCall
from penstock.api.graphs import ChangingGraph, graph_of
from penstock.api.handle import RunHandle
from penstock.api.queries import QueryOptions, RegisteredQuery
from penstock.api.run_messages import RunMessages
from penstock.api.settings import SettingError, duration, origin, report_policy, size
from penstock.api.shared_settings import chain_of, shared_settings
from penstock.api.sink_runs import Target, start_sinks
from penstock.api.streams import StreamBinding, bind
from penstock.engines.protocol import Windows
from penstock.rdf.changes import read_changes
from penstock.rdf.credentials import ServiceAuth
from penstock.rdf.credentials import service_auth as known_auth
from penstock.rdf.endpoints import DEFAULT_MAX_BYTES, DEFAULT_TIMEOUT
from penstock.rdf.iris import is_absolute
from penstock.rdf.results import Evaluation
from penstock.runtime.outlets import Outlet
from penstock.runtime.settings import RunSettings
from penstock.runtime.ways import RunRequest
from penstock.sources.batches import BoundStream, is_spark_object
from penstock.sources.graph_updates import GraphUpdates, Update
from penstock.sources.graphs import Graph, merged
from penstock.sources.mirrors import mirror_of
from penstock.sources.services import ServiceSettings
from penstock.syntax import ast
from penstock.syntax.query_reader import read
from penstock.syntax.suggestions import did_you_mean

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Engine:
    """Streams, graphs, and continuous queries over them: in this process, or on Spark if a session is given.

    >>> import penstock as ps
    >>> engine = ps.Engine()
    >>> engine.stream("http://ex.org/toll", [
    ...     ("<http://ex.org/north>", "<http://ex.org/sees>", "<http://ex.org/car1>", 1000),
    ...     ("<http://ex.org/north>", "<http://ex.org/sees>", "<http://ex.org/car2>", 4000),
    ...     ("<http://ex.org/south>", "<http://ex.org/sees>", "<http://ex.org/car1>", 12000),
    ... ])
    >>> query = engine.register('''
    ...     SELECT ?gate (COUNT(?car) AS ?cars)
    ...     FROM STREAM <http://ex.org/toll> [RANGE 10s STEP 5s]
    ...     WHERE { ?gate <http://ex.org/sees> ?car }
    ...     GROUP BY ?gate
    ... ''')
    >>> for evaluation in query.results():
    ...     print(evaluation.time, evaluation.vars, [[term.value for term in row] for row in evaluation.rows])
    10000 ('gate', 'cars') [['http://ex.org/north', '2']]

    `spark` may be a function that starts a session; it is called when a query runs. `service_auth` maps the beginnings
    of the addresses of SPARQL endpoints to credentials, `"user:password"` or `"Bearer token"`. The environment variable
    `PENSTOCK_SERVICE_AUTH` sets them, too: `URL=user:password`, one per line. `windows` says where a run on Spark
    evaluates its windows: with DuckDB beside the driver (`"driver"`), with Spark SQL (`"cluster"`), or with DuckDB as
    long as they fit (`"auto"`). `retry_timeout` is how long a run waits for a broker that does not answer (`"10m"`);
    without it, until the broker answers.
    """

    def __init__(
        self,
        spark: SparkSession | Callable[[], SparkSession] | None = None,
        *,
        service_auth: Mapping[str, str] | ServiceAuth | None = None,
        windows: Windows = "auto",
        retry_timeout: int | str | timedelta | None = None,
    ) -> None:
        if spark is not None and not is_spark_object(spark, "SparkSession") and not callable(spark):
            raise InputError(
                f"Engine takes a SparkSession, but this is {spark!r}: "
                'Engine(SparkSession.builder.master("local[2]").getOrCreate()), or Engine() to run without Spark'
            )
        self._spark: Any = spark
        self._has_session = False
        self._windows: Windows = _one_of("windows", windows, ("auto", "driver", "cluster"))
        self.retry_timeout = None if retry_timeout is None else duration(retry_timeout) / 1000
        """In seconds."""
        self.auth = service_auth if isinstance(service_auth, ServiceAuth) else known_auth(service_auth or {})
        self.streams: dict[str, StreamBinding] = {}
        self.queries: dict[str, RegisteredQuery] = {}
        self._graphs: dict[str | None, list[Graph]] = {}
        self._updates: dict[str | None, GraphUpdates] = {}
        self._changing = threading.RLock()
        """Held while queries are registered or dropped."""
        self._shared: WeakSet[RunHandle] = WeakSet()
        """The runs of `results`: queries that are registered join them."""
        self._started: list[RunHandle] = []
        """The runs of `start`, this engine's and its queries'."""
        self._scopes: dict[str, int] = {}

    @property
    def is_on_spark(self) -> bool:
        return self._spark is not None

    def session(self) -> SparkSession:
        """The session of an engine on Spark. Raises InputError for another engine."""
        if self._spark is None:
            raise InputError("this needs an engine on Spark: Engine(spark)")
        if not self._has_session:
            from penstock.engines.spark.session import adopted

            self._spark = adopted(self._spark if is_spark_object(self._spark, "SparkSession") else self._spark())
            self._has_session = True
        session: SparkSession = self._spark
        return session

    # Input

    def stream(self, iri: str, source: str | Path | Iterable[Any] | Callable[[], Iterable[Any]] | Any) -> None:
        """Bind a stream; binding it again replaces its source.

        `source` is what `--stream` takes (a file, a folder, `-`, `replay+FILE?speed=10`), or data: a table with the
        columns s, p, o and ts (pandas, pyarrow, Polars), or an iterable of elements `(s, p, o, ts)` or `(triples, ts)`.
        Terms are N-Triples, as in `'<http://ex.org/a>'` and `'"text"@en'`, or terms of pyoxigraph; an object may be a
        plain number, boolean or date. Timestamps are whole milliseconds or dates. Elements keep the order of the data.
        Every run reads a list or table from its beginning. An iterator is live, and only one run can read it: a second
        one raises SourceError. A function that returns an iterator is called by each run.

        A table or DataFrame may have a column g: rows of the same g and ts are one element, a graph (in a streaming
        DataFrame, those of one micro-batch). Where g is an IRI or a blank node, as N-Triples, it is the name of the
        graph, which `WINDOW :w { GRAPH ?g { … } }` reads; any other text only groups the rows.

        On Spark `source` may be a DataFrame with the columns s, p, o (terms as N-Triples) and ts (milliseconds,
        timestamps or dates; without a zone they are UTC), bounded or streaming; `penstock.triples` makes one of any
        other. `FOLDER?follow` reads files as they are added to a folder; `tcp://HOST:PORT` reads lines of `.tnt` from
        a server.

        Raises ValueError where the source cannot be read.
        """
        name = _iri(iri)
        self.streams[name] = bind(
            name,
            source,
            self._new_scope("s"),
            on_spark=self.is_on_spark,
            retry_timeout=self.retry_timeout,
            auth=self.auth,
        )

    def bound_streams(self, checkpoint: Path | None = None) -> dict[str, BoundStream]:
        """The streams as a run reads them."""
        spark = self.session() if self.is_on_spark else None
        return {iri: binding.for_run(iri, spark, checkpoint) for iri, binding in self.streams.items()}

    def graph(self, source: str | Path | Iterable[Any] | Any, iri: str | None = None) -> ChangingGraph:
        """Add triples to the graph `iri`, or to the default graph. It can be changed while queries run.

        `source` is a file (`.ttl`, `.nt`, …; `.changes` for one that changes with time; `.parquet` with the columns s,
        p and o, terms as N-Triples), a table with these columns, or an iterable of triples: of pyoxigraph, or
        `(s, p, o)` with terms as in `stream`. Each run of a query reads the file. It may also be a SPARQL endpoint,
        `sparql+http://host/sparql`; with `?refresh=30s` it is fetched again while a query runs.

        On Spark `source` may be a DataFrame with the columns s, p and o, which stays distributed; `penstock.triples`,
        without a time, makes one of any other.

        >>> engine = Engine()
        >>> graph = engine.graph([("<http://ex.org/north>", "<http://ex.org/in>", "<http://ex.org/milano>")])
        >>> graph.add([("<http://ex.org/south>", "<http://ex.org/in>", "<http://ex.org/milano>")], at=5000)

        Raises ValueError where something is not a triple, or the source cannot be read.
        """
        name = None if iri is None else _iri(iri)
        scope = self._new_scope("g")
        updates = self._updates.setdefault(name, GraphUpdates())
        if is_spark_object(source, "DataFrame") and not self.is_on_spark:
            raise InputError("a DataFrame of Spark needs an engine on Spark: Engine(spark)")
        graphs = self._graphs.setdefault(name, [])
        mirror = mirror_of(source, scope, self.auth) if isinstance(source, str) else None
        if mirror is not None:
            updates.mirror(mirror)
        else:
            graphs.append(graph_of(source, "graph" if name is None else f"<{name}>", scope, self.auth))
        return ChangingGraph(name, updates, scope)

    def graph_updates(self, file: str | Path, iri: str | None = None) -> None:
        """Change the graph `iri`, or the default graph, by the updates in a file, as `--graph-updates` does.

        A line `A <s> <p> <o> "TS" .` adds a triple at TS, `D <s> <p> <o> "TS" .` removes it.

        Raises ValueError if the file cannot be read.
        """
        name = None if iri is None else _iri(iri)
        changes = read_changes(file, scope=self._new_scope("u"))
        updates = self._updates.setdefault(name, GraphUpdates())
        updates.say(Update(change.time, change.added, change.triple) for change in changes)
        self._graphs.setdefault(name, [])

    @property
    def graphs(self) -> dict[str | None, Graph]:
        return {iri: merged(parts) for iri, parts in self._graphs.items()}

    # Queries

    def register(
        self,
        text: str,
        *,
        dialect: ast.DialectName | str = "auto",
        prefixes: Mapping[str, str] | None = None,
        base: str | None = None,
        name: str = "query",
        t0: int | str | datetime = 0,
        lateness: int | str | timedelta = 0,
        idle_timeout: int | str | timedelta | None = None,
        time: OneOf["event", "arrival"] = "event",
        report: str | ast.Report | None = None,
        operator: ast.Operator | None = None,
        duplicates: OneOf["set", "bag"] | None = None,
        flush: bool = False,
        empty: bool = False,
        strict: bool = False,
        late: str | Path | None = None,
        service_timeout: int | str | timedelta = DEFAULT_TIMEOUT,
        service_refresh: int | str | timedelta | None = None,
        service_max_size: int | str = DEFAULT_MAX_BYTES,
        optimize: bool = True,
    ) -> RegisteredQuery:
        """A query in any dialect, ready to run over the streams and graphs of this engine.

        A CONSTRUCT or DESCRIBE produces a stream that other queries of this engine can read: by the name in REGISTER
        STREAM or REGISTER RSTREAM, or by the query's own. A query runs together with those whose streams it reads.

        If all queries are running (`results`), the run evaluates the new query, too, from the next instant on. The
        query sees the part of its streams after the instant that the run has reached; between two evaluations, that is
        the instant of the latest evaluation that you have received. Any thread may register queries.

        The arguments are the options of `penstock run`: `t0` is an instant or `first`; `lateness` and `idle_timeout`
        are durations (milliseconds, `"10s"`, a timedelta); `report`, `operator` and `duplicates` override the dialect;
        `late` is a file for late and malformed elements; `service_timeout` is how long a SERVICE endpoint may take,
        `service_refresh` the interval at which it is queried again, and `service_max_size` the largest answer
        (`"500MB"`). `name` is the name of a query that registers none itself; another one of the same name gets a
        number. Without `optimize` the query runs as it is written; the answer is the same.

        Raises QuerySyntaxError, or ValueError for a wrong setting, and for queries that produce the same stream or read
        each other's in a circle.
        """
        reading = read(text, dialect, prefixes=prefixes, base=base)
        settings = Settings(
            None if report is None else report_policy(report),
            _one_of("operator", operator, ("rstream", "istream", "dstream")),
            _one_of("duplicates", duplicates, ("set", "bag")),
            origin(t0),
        )
        how = RunSettings(
            duration(lateness),
            None if idle_timeout is None else duration(idle_timeout),
            _one_of("time", time, ("event", "arrival")) == "arrival",
            flush,
            services=ServiceSettings(
                duration(service_timeout),
                None if service_refresh is None else duration(service_refresh),
                size(service_max_size),
                self.auth,
            ),
            has_empty=empty,
            is_optimized=optimize,
        )
        meaning = build(reading.query, settings)
        options = QueryOptions(settings, how, strict, late, prefixes or {}, dialect != "auto")
        with self._changing:
            distinct = self._name_for(meaning.name or name, text, options)
            if produces_triples(meaning):
                check_chained({known: other.meaning for known, other in self.queries.items()}, distinct, meaning)
            query = RegisteredQuery(self, distinct, text, reading.query, meaning, options)
            running = [] if distinct in self.queries else list(self._shared)
            for run in running:
                run.check_add(query)
            self.queries[distinct] = query
            for run in running:
                run.join(query)
        return query

    def _name_for(self, name: str, text: str, options: QueryOptions) -> str:
        """The name of a query; the same query, registered again, replaces itself."""
        for known, query in self.queries.items():
            if query.text == text and query.options == options and known.startswith(name):
                return known
        return distinct_names([*self.queries, name])[-1] if name in self.queries else name

    def drop(self, name: str) -> None:
        """Remove a registered query, and the stream that it produces.

        Runs that are going on return no more results of it; any thread may call this. Raises ValueError where there is
        no such query, where queries that run with it read its stream, and where a run of `start` answers it that has a
        checkpoint or no other query.
        """
        with self._changing:
            if name not in self.queries:
                hint = did_you_mean(name, self.queries) or f"there is {', '.join(self.queries) or 'none'}"
                raise InputError(f"there is no query {name}; {hint}")
            query = self.queries[name]
            runs = [run for run in (*self._shared, *self._started) if run.is_answering(query)]
            for run in runs:
                run.check_drop(query)
            for run in runs:
                run.drop(query)
            del self.queries[name]
            query.stop()

    # Runs

    def results(self) -> Iterator[Evaluation]:
        """Run all registered queries together: each stream is read once, and queries equal up to constants are one.

        Each evaluation is returned as soon as its instant has passed; `query` is the name of its query. All queries
        need the same `flush`, and those that read a stream from outside the same `lateness`, `idle_timeout`, `time`,
        `empty`, `service_timeout`, `service_refresh`, `service_max_size` and `optimize`.

        Queries may be registered and dropped meanwhile; the run ends when the last one is dropped, and with `stop`.

        Raises ValueError where they cannot run together, or there is no query.
        """
        if not self.queries:
            raise InputError("no query is registered: engine.register(text) registers one")
        with self._changing:
            run = self.open(dict.fromkeys(self.queries.values()))
            self._shared.add(run)
        return run.evaluations()

    def stop(self) -> None:
        """Stop the runs of `results`, also from another thread: they return no more results."""
        for run in list(self._shared):
            run.stop()

    def start(
        self,
        answers: Mapping[RegisteredQuery, Callable[[Evaluation], None]],
        *,
        checkpoint: str | Path | None = None,
        until_read: bool = False,
    ) -> RunHandle:
        """Run several queries in the background; each stream is read once for all of them.

        Each query of this engine has a function that receives its evaluations; `RegisteredQuery.start` describes the
        other arguments. The queries have different names, and the same settings, as for `results`.

            engine.start({counts: print, jams: warn}, checkpoint="state")

        Without a checkpoint, queries may join the run (`RunHandle.add`) and leave it (`RunHandle.drop`, `drop`).

        Raises ValueError where they cannot run together, and CheckpointError where the folder cannot be used.
        """
        outlets = {query: query._callback(function) for query, function in answers.items()}
        return self.open(outlets, checkpoint=checkpoint, until_read=until_read, start=True)

    def sink(
        self,
        *targets: Target,
        format: str | None = None,
        checkpoint: str | Path | None = None,
        until_read: bool = False,
    ) -> RunHandle:
        """Run all registered queries in the background, and write their answers to all targets.

        The arguments are those of `RegisteredQuery.sink`.
        """
        queries = list(self.queries.values())
        return start_sinks(self, queries, targets, format, checkpoint, until_read=until_read)

    def open(
        self,
        outlets: Mapping[RegisteredQuery, Outlet | None],
        *,
        checkpoint: str | Path | None = None,
        fingerprint: str = "",
        until_read: bool = False,
        start: bool = False,
        messages: RunMessages | None = None,
        service_answers: Mapping[ServiceCall, Sequence[ServiceAnswer]] | None = None,
    ) -> RunHandle:
        """Prepare a run of some queries, which `RunHandle.run`, `start` or `evaluations` drives.

        Each query has an outlet for its evaluations; without one they are iterated over. `fingerprint` identifies what
        else must not change between runs on the same checkpoint. `service_answers` are used instead of the endpoints.
        """
        if not outlets or any(query.engine is not self for query in outlets):
            raise InputError("start takes queries that this engine has registered: name at least one of them")
        names = [query.name for query in outlets]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InputError(f"two of the queries have the name {twice!r}: register each with its own name=")
        together = {**self.queries, **{query.name: query for query in outlets}}
        queries = [together[name] for name in chain_of(together.values()).needed_for(names)]
        settings = replace(shared_settings(queries), windows=self._windows)
        folder = None if checkpoint is None else Path(checkpoint)
        streams = self.bound_streams(folder)
        request = RunRequest(
            (),
            streams,
            self.graphs,
            settings,
            updates=self._updates,
            checkpoint=folder,
            fingerprint="" if checkpoint is None else _fingerprint(queries, settings, streams, fingerprint),
            is_bounded=until_read or not any(binding.stream.is_live for binding in self.streams.values()),
            service_answers=service_answers or {},
        )
        spark = self.session() if self.is_on_spark else None
        run = RunHandle(request, spark, queries, outlets, messages or RunMessages(), self._forget)
        if start:
            self._started.append(run)
            run.start()
        return run

    def _forget(self, run: RunHandle) -> None:
        """A run has ended."""
        with self._changing:
            self._shared.discard(run)
            self._started = [other for other in self._started if other is not run]

    def _new_scope(self, kind: str) -> str:
        self._scopes[kind] = self._scopes.get(kind, 0) + 1
        return f"{kind}{self._scopes[kind]}"

    def __repr__(self) -> str:
        streams = ", ".join(f"<{iri}> = {binding.name}" for iri, binding in self.streams.items()) or "no stream"
        graphs = ", ".join(graph.name for parts in self._graphs.values() for graph in parts) or "no graph"
        return f"<penstock.Engine: {streams}; {graphs}>"


def _fingerprint(queries: Sequence[RegisteredQuery], settings: RunSettings, streams: Iterable[str], more: str) -> str:
    """The settings that must stay the same for a run to continue from a checkpoint."""
    from penstock.syntax.printer import to_text  # not needed without a checkpoint

    known = [f"{query.name}\n{to_text(query.syntax)}\n{query.options.settings}" for query in queries]
    return "\n".join([*known, repr(replace(settings, windows="auto")), *sorted(streams), more])


def _iri(text: str) -> str:
    """An absolute IRI, or any IRI in angle brackets, as it is in queries without a base."""
    text = text.strip()
    if text.startswith("<") and text.endswith(">"):
        return text[1:-1]
    if not is_absolute(text):
        raise InputError(f"{text!r} is not an absolute IRI, such as http://example.org/toll")
    return text


def _one_of(name: str, value: Any, known: tuple[str, ...]) -> Any:
    if value is None or value in known:
        return value
    raise SettingError(f"{name} cannot be {value!r}; {did_you_mean(str(value), known) or f'write {_list(known)}'}")


def _list(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"
