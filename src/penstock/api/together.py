"""All queries of an engine in one run, to which others may come, and which they may leave, while it goes on."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack

from penstock.algebra.inputs import InputError
from penstock.api.outsiders import Outsiders
from penstock.api.queries import RegisteredQuery, how_together
from penstock.engines.protocol import OpenEngine
from penstock.rdf.results import Evaluation


class SharedRun:
    """The queries by their names; any thread may let one come or go, and end the run."""

    def __init__(self, queries: Mapping[str, RegisteredQuery]) -> None:
        self._queries = dict(queries)
        self._opened = ExitStack()
        self._outsiders = {query: Outsiders(query.manner.is_strict) for query in queries.values()}
        self._stopped = threading.Event()
        every = list(self._queries.values())
        self._run = every[0].run_with(every, self._outsiders, self._stopped)
        self._opened.callback(self._run.engine.close)

    def check(self, query: RegisteredQuery) -> None:
        """Raises ValueError where the query cannot be answered with the others."""
        if not isinstance(self._run.engine, OpenEngine):
            raise InputError(
                f"a run over history on Spark is one job for the queries it began with: end it with engine.stop(), "
                f"register {query.name}, and begin again"
            )
        how_together([*self._queries.values(), query])

    def join(self, query: RegisteredQuery) -> None:
        """Answer the query, too, from the next instant on."""
        outsiders = self._outsiders[query] = Outsiders(query.manner.is_strict)
        outsiders.open(query.manner.late, self._opened)
        self._queries[query.name] = query
        self._run.join(query.name, query.standing(outsiders.late), query.sources(self._stopped))
        query.runs_in(self._run)

    def drop(self, query: RegisteredQuery) -> None:
        """Answer the query no more."""
        query.runs_no_more()
        outsiders = self._outsiders.pop(query, None)
        if outsiders is not None:
            outsiders.sum_up(query.counts)
        del self._queries[query.name]
        self._run.drop(query.name)

    def stop(self) -> None:
        self._stopped.set()

    def evaluations(self) -> Iterator[Evaluation]:
        with self._opened:
            for query, outsiders in list(self._outsiders.items()):
                outsiders.open(query.manner.late, self._opened)
            try:
                for evaluation in self._run.evaluations():
                    said_by = self._queries.get(evaluation.query)
                    if said_by is not None and said_by.has_said(evaluation):
                        yield evaluation
                    if self._stopped.is_set():
                        return
            finally:  # also of a run that is left early
                for query, outsiders in list(self._outsiders.items()):
                    outsiders.sum_up(query.counts)
            for query in list(self._outsiders):
                query.explain_empty(self._run.queries, self._run.engine)
