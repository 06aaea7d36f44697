"""The embedded engine for programs: bind streams and graphs, register queries, iterate over what they answer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from typing import Literal as OneOf
from weakref import WeakSet

from penstock.algebra import ContinuousQuery, Settings, build
from penstock.algebra.chaining import Chain, check_chained, distinct_names
from penstock.algebra.inputs import InputError
from penstock.api.changing import ChangingGraph
from penstock.api.queries import Manner, RegisteredQuery
from penstock.api.settings import SettingError, duration, origin, report_policy, size
from penstock.api.spark_streams import (
    LiveStream,
    is_spark_frame,
    is_spark_session,
    is_streamed_by_spark,
    spark_graph,
    spark_stream,
)
from penstock.api.tables import TableSource, graph_of_table, is_table, table_of_stream
from penstock.api.terms import elements_of, triple_of
from penstock.api.together import SharedRun
from penstock.rdf.blank_nodes import prefixed
from penstock.rdf.credentials import service_auth as known_auth
from penstock.rdf.endpoints import DEFAULT_MAX_BYTES, DEFAULT_TIMEOUT
from penstock.rdf.errors import ReadingError
from penstock.rdf.iris import is_absolute
from penstock.rdf.results import Evaluation
from penstock.runtime.running import RunSettings
from penstock.sources import Source, open_source
from penstock.sources.batches import MOST_ELEMENTS
from penstock.sources.files import ElementFile
from penstock.sources.graph_files import open_graph
from penstock.sources.graph_updates import GraphUpdates
from penstock.sources.graphs import TRIPLES, Graph, TableGraph
from penstock.sources.live import LiveElements, ReadOnce
from penstock.sources.mirrors import mirror_of
from penstock.sources.services import ServiceSettings
from penstock.sources.tables import encoded_triples
from penstock.syntax import ast
from penstock.syntax.reading import read
from penstock.syntax.suggestions import did_you_mean

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.api.spark_runs import LiveRun

_ITERATOR_IS_READ = (
    "this stream is an iterator, and another run has read it: bind a list, or a function that returns a new iterator"
)


class Engine:
    """Streams, graphs, and continuous queries over them: in this process, or on Spark, where a session is given.

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

    `service_auth` has the credentials of SPARQL endpoints, `"user:password"` or `"Bearer token"`, by the beginnings of
    their addresses. The environment variable `PENSTOCK_SERVICE_AUTH` takes `URL=user:password`, one a line, as well.
    """

    def __init__(self, spark: SparkSession | None = None, *, service_auth: Mapping[str, str] | None = None) -> None:
        if spark is not None and not is_spark_session(spark):
            raise InputError(
                f"an engine takes a SparkSession, and this is {spark!r}: "
                'Engine(SparkSession.builder.master("local[2]").getOrCreate()), or Engine() to do without Spark'
            )
        self._spark = spark
        self._auth = known_auth(service_auth or {})
        self._streams: dict[str, Source | LiveStream] = {}
        self._graphs: dict[str | None, list[Graph]] = {}
        self._updates: dict[str | None, GraphUpdates] = {}
        self._queries: dict[str, RegisteredQuery] = {}
        self._changing = threading.RLock()
        """Held while queries come and go."""
        self._shared: WeakSet[SharedRun] = WeakSet()
        self._live: list[LiveRun] = []
        """Those of `start` that have not been stopped."""
        self._scopes = 0

    def stream(self, iri: str, source: str | Path | Iterable[Any] | Callable[[], Iterable[Any]] | Any) -> None:
        """Bind a stream; a later one of the same name takes its place.

        `source` is what `--stream` takes (a file, a folder, `-`, `replay+FILE?speed=10`), or data: a table with the
        columns s, p, o and ts (pandas, pyarrow, Polars), or an iterable of elements `(s, p, o, ts)` or `(triples, ts)`.
        Terms are N-Triples, as in `'<http://ex.org/a>'` and `'"text"@en'`, or terms of pyoxigraph; an object may be a
        plain number, boolean or date. Timestamps are whole milliseconds or dates. Elements come in the order of the
        data. A list or a table is there for every run. An iterator is live, and only one run can read it: a second one
        raises SourceError. A function that returns an iterator is called by each run.

        A table or DataFrame may have a column g: rows of the same g and ts are one element, a graph (of a streaming
        DataFrame those that come in one micro-batch). Where g is an IRI or a blank node, as N-Triples, it is the name
        of the graph, which `WINDOW :w { GRAPH ?g { … } }` reads; any other text only keeps the rows together.

        On Spark `source` may be a DataFrame with the columns s, p, o (terms as N-Triples) and ts (milliseconds,
        timestamps or dates; without a zone they are UTC), bounded or streaming; `penstock.triples` makes one of any
        other. A folder that grows is `FOLDER?follow`, and `tcp://HOST:PORT` are lines of `.tnt`
        from a server; `query.start` reads them.

        Raises ValueError, as a sentence, where there is nothing to read.
        """
        name = _iri(iri)
        scope = self._new_scope()
        if is_spark_frame(source) and self._spark is None:
            raise InputError("a DataFrame of Spark is a stream of an engine on Spark: Engine(spark)")
        if self._spark is not None and is_streamed_by_spark(source):
            self._streams[name] = spark_stream(source, name, scope)
        elif isinstance(source, str | Path):
            self._streams[name] = open_source(source, scope=scope)
        elif is_table(source):
            self._streams[name] = self._kept(TableSource(f"<{name}>", table_of_stream(source), scope))
        elif isinstance(source, Iterable):
            reader = elements_of(lambda: source, f"<{name}>", prefixed(scope))
            if iter(source) is source:
                self._streams[name] = ReadOnce(LiveElements(f"<{name}>", reader, MOST_ELEMENTS), _ITERATOR_IS_READ)
            else:
                self._streams[name] = self._kept(ElementFile(f"<{name}>", reader, MOST_ELEMENTS))
        elif callable(source):
            reader = elements_of(source, f"<{name}>", prefixed(scope))
            self._streams[name] = LiveElements(f"<{name}>", reader, MOST_ELEMENTS)
        else:
            raise InputError(f"a stream is a file, a table or an iterable of elements, and this is {source!r}")

    def _kept(self, source: Source) -> Source:
        """What is in memory is brought to Spark, if that is where queries run."""
        if self._spark is None or source.is_live:
            return source
        from penstock.sources.spark.frames import gathered

        return gathered(self._spark, source)

    def graph(self, source: str | Path | Iterable[Any] | Any, iri: str | None = None) -> ChangingGraph:
        """Add triples to the graph `iri`, or to the default graph, which can be changed while queries run over it.

        `source` is a file (`.ttl`, `.nt`, …; `.changes` for one that changes with time; `.parquet` with the columns s,
        p and o, terms as N-Triples), a table with these columns, or an iterable of triples: of pyoxigraph, or
        `(s, p, o)` with terms as in `stream`. Each run of a query reads the file. It may also be at a SPARQL endpoint,
        `sparql+http://host/sparql`; with `?refresh=30s` it is fetched again while a query runs.

        On Spark `source` may be a DataFrame with the columns s, p and o, which stays distributed; `penstock.triples`,
        without a time, makes one of any other.

        >>> engine = Engine()
        >>> graph = engine.graph([("<http://ex.org/north>", "<http://ex.org/in>", "<http://ex.org/milano>")])
        >>> graph.add([("<http://ex.org/south>", "<http://ex.org/in>", "<http://ex.org/milano>")], at=5000)

        Raises ValueError where a triple is none, or there is nothing to read.
        """
        name = None if iri is None else _iri(iri)
        scope = self._new_scope()
        updates = self._updates.setdefault(name, GraphUpdates())
        mirror = mirror_of(source, scope, self._auth) if isinstance(source, str) else None
        called = "graph" if name is None else f"<{name}>"
        if is_spark_frame(source) and self._spark is None:
            raise InputError("a DataFrame of Spark is a graph of an engine on Spark: Engine(spark)")
        graph: Graph = TableGraph(called, TRIPLES.empty_table())
        if mirror is not None:
            updates.mirror(mirror)
        elif isinstance(source, str | Path):
            graph = open_graph(source, scope=scope, auth=self._auth)
        elif is_spark_frame(source):
            graph = spark_graph(source, called, scope)
        else:
            try:
                graph = graph_of_table(called, source, scope) if is_table(source) else _listed(called, source, scope)
            except ReadingError as error:
                raise InputError(f"the graph has something in it that is no triple: {error.reason}") from None
        self._graphs.setdefault(name, []).append(graph)
        return ChangingGraph(name, updates, scope)

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
        report: str | None = None,
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

        A CONSTRUCT or DESCRIBE gives a stream that other queries of this engine can read: by the name that REGISTER
        STREAM or REGISTER RSTREAM says, or by the query's own. Those that it needs are run with a query.

        A run of all queries (`results`) that is going on answers it, too, from the next instant on: of its streams,
        also those that other queries give, it sees what is after the instant that the run has come to: between two
        evaluations, the latest instant of those that you have received. Any thread may register.

        The arguments are the options of `penstock run`: `t0` is an instant or `first`; `lateness` and `idle_timeout`
        are durations (milliseconds, `"10s"`, a timedelta); `report`, `operator` and `duplicates` say something else
        than the dialect does; `late` names a file for late and malformed elements; `service_timeout` is how long an
        endpoint that SERVICE asks may take, and `service_refresh` how often it is asked again; `service_max_size`
        bounds its answer (`"500MB"`). `name` is what the query goes by if it registers no name itself; another one of
        the same name gets a number. Without `optimize` the query is run as it is written; the answer is the same.

        Raises QuerySyntaxError, or ValueError for a setting that is none, and for queries that give the same stream or
        read each other's in a circle.
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
                self._auth,
            ),
            has_empty=empty,
            is_optimized=optimize,
        )
        meaning = build(reading.query, Settings())
        manner = Manner(settings, how, has_empty=empty, is_strict=strict, late=late)
        with self._changing:
            distinct = self._name_for(meaning.name or name, text, manner)
            check_chained(_Meanings(self._queries), distinct, meaning)
            query = RegisteredQuery(
                text,
                reading.query,
                meaning,
                self._streams,
                self._graphs,
                self._updates,
                manner,
                prefixes or {},
                dialect != "auto",
                distinct,
                self._queries,
                self._live,
                self._spark,
            )
            going_on = [] if distinct in self._queries else list(self._shared)
            for run in going_on:
                Chain({**_Meanings(self._queries), distinct: meaning}).streams_of(distinct, self._streams)
                run.check(query)
            self._queries[distinct] = query
            for run in going_on:
                run.join(query)
        return query

    def _name_for(self, name: str, text: str, manner: Manner) -> str:
        """What a query goes by; the same query, registered again, takes its own place."""
        for known, query in self._queries.items():
            if query.text == text and query.manner == manner and known.startswith(name):
                return known
        return distinct_names([*self._queries, name])[-1] if name in self._queries else name

    def results(self) -> Iterator[Evaluation]:
        """Run all registered queries together: each stream is read once, and those equal up to constants are one.

        Evaluations come as soon as their instants are over; `query` says whose each is. All queries are registered with
        the same `flush`, and those that read a stream from outside with the same `lateness`, `idle_timeout`, `time`,
        `empty`, `service_timeout`, `service_refresh`, `service_max_size` and `optimize`. What Spark streams is
        for `start`.

        Meanwhile others may be registered and dropped; when the last one is dropped, and with `stop`, the run ends.

        Raises ValueError where they cannot run together, or there is no query.
        """
        if not self._queries:
            raise InputError("no query is registered: engine.register(text) registers one")
        if any(not hasattr(source, "is_live") for source in self._streams.values()):
            raise InputError("what Spark streams is answered beside the program: engine.start({query: function})")
        with self._changing:
            run = SharedRun(self._queries)
            self._shared.add(run)
        return self._until_it_ends(run)

    def _until_it_ends(self, run: SharedRun) -> Iterator[Evaluation]:
        try:
            yield from run.evaluations()
        finally:
            with self._changing:
                self._shared.discard(run)

    def drop(self, name: str) -> None:
        """Forget a registered query; the stream that it gave is no more.

        Runs that are going on give no more results of it; any thread may say so. Raises ValueError where there is no
        such query, where queries that run with it read its stream, and where a run of `start` answers it that has a
        checkpoint or no other query.
        """
        with self._changing:
            if name not in self._queries:
                hint = did_you_mean(name, self._queries) or f"there is {', '.join(self._queries) or 'none'}"
                raise InputError(f"there is no query {name}; {hint}")
            self._check_nobody_needs(name)
            query = self._queries[name]
            live = [run for run in list(self._live) if run.is_answering(query)]
            for run in live:
                run.check_drop(query)
            for run in live:
                run.drop(query)
            del self._queries[name]
            query.stop()
            for shared in list(self._shared):
                shared.drop(query)

    def _check_nobody_needs(self, name: str) -> None:
        if self._shared:
            Chain(_Meanings(self._queries)).check_unread(name)

    def stop(self) -> None:
        """End the runs of all queries that are going on, also from another thread: they give no more results."""
        for run in list(self._shared):
            run.stop()

    def start(
        self,
        answers: Mapping[RegisteredQuery, Callable[[Evaluation], None]],
        *,
        checkpoint: str | Path | None = None,
        until_read: bool = False,
    ) -> LiveRun:
        """Run several queries over what Spark streams, each stream being read once for all of them.

        Each query of this engine has a function that gets its evaluations; `RegisteredQuery.start` says what the other
        arguments are. The queries have different names, and are registered with the same settings, as for `results`.

            engine.start({counts: print, jams: warn}, checkpoint="state")

        Without a checkpoint others may come to the run (`LiveRun.add`), and leave it (`LiveRun.drop`, and `drop`).

        Raises ValueError where they cannot run together, and CheckpointError where the folder is of no use.
        """
        if not answers or any(query._streams is not self._streams for query in answers):
            raise InputError("start takes queries that this engine has registered: give at least one of them")
        from penstock.api.spark_runs import start_together

        outlets = {query: query.told_to(function) for query, function in answers.items()}
        return start_together(outlets, None if checkpoint is None else Path(checkpoint), is_bounded=until_read)

    def _new_scope(self) -> str:
        self._scopes += 1
        return f"s{self._scopes}"

    def __repr__(self) -> str:
        streams = ", ".join(f"<{iri}> = {source.name}" for iri, source in self._streams.items()) or "no stream"
        graphs = ", ".join(graph.name for parts in self._graphs.values() for graph in parts) or "no graph"
        return f"<penstock.Engine: {streams}; {graphs}>"


class _Meanings(Mapping[str, ContinuousQuery]):
    """What registered queries mean, by their names."""

    def __init__(self, queries: Mapping[str, RegisteredQuery]) -> None:
        self._queries = queries

    def __getitem__(self, name: str) -> ContinuousQuery:
        return self._queries[name].meaning

    def __iter__(self) -> Iterator[str]:
        return iter(self._queries)

    def __len__(self) -> int:
        return len(self._queries)


def _listed(name: str, triples: Iterable[Any], scope: str) -> Graph:
    rename = prefixed(scope)
    return TableGraph(name, encoded_triples([triple_of(triple, rename) for triple in triples]))


def _iri(text: str) -> str:
    iri = text.strip().removeprefix("<").removesuffix(">")
    if not is_absolute(iri):
        raise InputError(f"{text!r} is not an absolute IRI, such as http://example.org/toll")
    return iri


def _one_of(name: str, value: Any, known: tuple[str, ...]) -> Any:
    if value is None or value in known:
        return value
    raise SettingError(f"{name} cannot be {value!r}; {did_you_mean(str(value), known) or f'write {_list(known)}'}")


def _list(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"
