"""The graphs of an engine: their sources, and how programs change them while queries run."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from penstock.algebra.inputs import InputError
from penstock.api.settings import instant
from penstock.api.terms import triple_of
from penstock.rdf.blank_nodes import prefixed
from penstock.rdf.credentials import ServiceAuth
from penstock.rdf.errors import ReadingError
from penstock.sources.batches import is_spark_object
from penstock.sources.graph_updates import GraphUpdates, Update
from penstock.sources.graphs import Graph, TableGraph


class ChangingGraph:
    """A graph of an engine; `Engine.graph` returns it. Any thread may change it.

    A change holds from the instant `at` on (milliseconds, a date, or a text of either). Without `at` it holds from the
    next instant that has not been evaluated, or from the beginning for runs that have not started. Later runs see all
    changes.

    >>> import penstock as ps
    >>> graph = ps.Engine().graph([("<http://ex.org/north>", "<http://ex.org/in>", "<http://ex.org/milano>")])
    >>> graph.remove([("<http://ex.org/north>", "<http://ex.org/in>", "<http://ex.org/milano>")], at=5000)
    >>> graph.add([("<http://ex.org/north>", "<http://ex.org/in>", "<http://ex.org/monza>")], at=5000)
    """

    def __init__(self, iri: str | None, updates: GraphUpdates, scope: str) -> None:
        self.iri = iri
        self._updates = updates
        self._rename = prefixed(scope)

    def add(self, triples: Iterable[Any], *, at: int | str | datetime | None = None) -> None:
        """Add triples, as `Engine.graph` takes them; adding one that is there already changes nothing.

        Raises ValueError where something is not a triple, and where a run has evaluated the instant: evaluated instants
        never change.
        """
        self._say(triples, at, added=True)

    def remove(self, triples: Iterable[Any], *, at: int | str | datetime | None = None) -> None:
        """Remove triples that were loaded or added; removing one that is not there changes nothing.

        Triples of an endpoint that is fetched again (`?refresh=30s`) stay as long as the endpoint has them.
        """
        self._say(triples, at, added=False)

    def _say(self, triples: Iterable[Any], at: int | str | datetime | None, *, added: bool) -> None:
        time = None if at is None else instant(at)
        try:
            said = [Update(time, added, triple_of(triple, self._rename)) for triple in triples]
        except ReadingError as error:
            raise InputError(f"this is not a triple of a graph: {error.reason}") from None
        self._updates.say(said)

    def __repr__(self) -> str:
        return f"<penstock graph {'(default)' if self.iri is None else self.iri}>"


def graph_of(source: Any, name: str, scope: str, auth: ServiceAuth) -> Graph:
    """A file, an address, a table, a DataFrame or triples as a graph. Raises ValueError where it is none of these."""
    if isinstance(source, str | Path):
        from penstock.sources.graph_files import open_graph  # slow to load, and programs may have no graph

        return open_graph(source, scope=scope, auth=auth)
    if is_spark_object(source, "DataFrame"):
        from penstock.sources.spark.binding import spark_graph

        return spark_graph(source, name, scope)
    from penstock.api.tables import graph_of_table, is_table
    from penstock.sources.tables import encoded_triples

    try:
        if is_table(source):
            return graph_of_table(name, source, scope)
        rename = prefixed(scope)
        return TableGraph(name, encoded_triples([triple_of(triple, rename) for triple in source]))
    except ReadingError as error:
        raise InputError(f"the graph contains something that is not a triple: {error.reason}") from None
