"""The current queries of a run: when each joined, which run as one, which streams they read.

A query that joins a run is at first evaluated by itself. As soon as its windows no longer reach back to the instant at
which it joined, it sees the same as any other query, and is fused with those that are equal up to constants.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from penstock.algebra.chaining import Chain
from penstock.engines.protocol import WindowStore
from penstock.rdf.result_batches import ResultBatch
from penstock.runtime.answers import Answer, elements_table, joined_elements
from penstock.runtime.changes import Changes, Joining, Leaving
from penstock.runtime.queries import QuerySpec, RunningQuery
from penstock.runtime.query_groups import Member, QueryGroups, chained, members_of
from penstock.runtime.reference_data import ReferenceData
from penstock.runtime.settings import RunSettings


class Membership:
    """`queries` are in the order of evaluation; `streams` are the external streams that they read.

    `changes` are queries that join and leave meanwhile.
    """

    def __init__(
        self,
        store: WindowStore[Any],
        queries: Sequence[QuerySpec],
        sources: Mapping[str, Any],
        how: RunSettings,
        reference_data: ReferenceData,
    ) -> None:
        self.changes = Changes()
        self.refused: set[str] = set()
        """The queries that joined and could not be answered."""
        self._store = store
        self._grouping = QueryGroups(store, sources, how, reference_data)
        self._sources = sources
        self._members = members_of(queries)
        self._joinings = 0
        self._handed_out: list[Answer] = []
        """Evaluations with triples since a query was asked to join: it may be the first to read them as a stream."""
        self.chain: Chain = chained(self._members)
        self.queries: list[RunningQuery] = self._grouping.all_of(self._members)

    @property
    def streams(self) -> dict[str, Any]:
        read = {iri for query in self.queries for iri in query.clock.streams}
        return {iri: source for iri, source in self._sources.items() if iri in read}

    def hand_out(self, batch: ResultBatch, which: range) -> bool:
        """The run has delivered some evaluations. Returns whether their query is still in the run."""
        if not which or self.changes.is_leaving(batch.query(which.start)):
            return False
        self.changes.reach(int(batch.times[which[-1]]))
        # In this order: a query that asked to join before sees the evaluations.
        if batch.kind == "triples" and self.changes.pending.is_set():
            self._handed_out.append((batch, which))
        return True

    def apply(self, open_streams: Callable[[], None], keep: Callable[[str, pa.Table], None]) -> bool:
        """Apply pending changes, if there are any. This may add streams that no query has read before.

        Evaluations that were delivered meanwhile are in `keep`. The clocks of new queries start with the elements that
        have arrived. If a query cannot be answered, its owner receives the reason. Returns whether there were changes.
        """
        changes = self.changes.take()
        if not changes:
            return False
        read_before = self.chain.read
        fresh = self._changed(changes)
        open_streams()
        for stream in sorted(self.chain.read - read_before):
            elements = self._produced_lately(self.chain.produced[stream])
            if elements is not None:
                keep(stream, elements)
        self._handed_out.clear()
        for query in fresh:
            if query in self.queries:
                try:
                    query.begin()
                except ValueError as error:
                    self._refuse(query, error)
                else:
                    self._start_clocks(query)
        self._forget()
        return True

    def _produced_lately(self, producer: str) -> pa.Table | None:
        own = [answer for answer in self._handed_out if answer[0].query(answer[1].start) == producer]
        return joined_elements([elements_table(*answer) for answer in own])

    def _start_clocks(self, query: RunningQuery) -> None:
        evaluated = {producer.name: producer.evaluated for producer in self.queries}
        for iri, clock in query.clock.streams.items():
            seen = self._store.seen(iri, query.after)
            if seen.greatest is not None:
                query.note(iri, seen)
            clock.reached = evaluated.get(self.chain.produced.get(iri, ""))

    def _forget(self) -> None:
        """Drop the data for queries that have left or changed."""
        if self.changes.reached is not None:
            self._store.forget([query.need for query in self.queries], self.changes.reached)

    def _changed(self, changes: Sequence[Joining | Leaving]) -> list[RunningQuery]:
        """Queries join and leave: returns the new ones, which know nothing of the streams yet."""
        before = dict(self._members)
        self._joinings += 1
        for change in changes:
            if isinstance(change, Leaving):
                self._members.pop(change.name, None)
            else:
                self._sources = {**change.sources, **self._sources}
                self._members[change.name] = Member(change.spec, change.spec.meaning, self._joinings, change.after)
        self._grouping = replace(self._grouping, streams=self._sources)
        return self._regroup(before)

    def settle(self) -> None:
        """Fuse later queries with those that see the same by now, if there are any."""
        if all(query.after is None for query in self.queries):
            return
        before = dict(self._members)
        kinds: dict[object, Member] = {}
        for query in self.queries:
            member = self._members[query.name]
            if member.template is None or not query.has_settled:
                continue
            kind = member.template.key, member.spec.settings, query.position
            first = kinds.setdefault(kind, member)
            if _since(first) != _since(member):
                for name in query.names:
                    self._members[name] = replace(self._members[name], joined=first.joined, after=first.after)
        if self._members != before:
            self._regroup(before)
            self._forget()

    def _regroup(self, before: Mapping[str, Member]) -> list[RunningQuery]:
        """A query in a new group continues from its state in the old one."""
        chain = chained(self._members)
        running = {(name, _since(before[name])): query for query in self.queries for name in query.names}
        found: list[RunningQuery] = []
        fresh: list[RunningQuery] = []
        for names in self._grouping.groups(self._members, chain):
            known = [running.get((name, _since(self._members[name]))) for name in names]
            old = next((query for query in known if query is not None), None)
            if old is not None and old.names == names:
                found.append(old)
                continue
            if old is None:
                query = self._grouping.one_of(names, self._members, self._grouping.read_by(names[0], chain))
                fresh.append(query)
            else:
                lateness = {iri: clock.lateness for iri, clock in old.clock.streams.items()}
                query = self._grouping.one_of(names, self._members, lateness)
                query.restore(old.state)
            found.append(query)
        for query in self.queries:
            if query not in found:
                query.leave()
        self.chain, self.queries = chain, found
        return fresh

    def _refuse(self, query: RunningQuery, reason: ValueError) -> None:
        """With the queries that read its stream."""
        before = dict(self._members)
        gone = set(query.names)
        for name in self.chain.order:
            if name in gone or not gone.isdisjoint(self.chain.producers_of(name)):
                gone.add(name)
                self.refused.add(name)
                self._members.pop(name).spec.on_failure(f"{name} is not answered: {reason}")
        self._regroup(before)


def _since(member: Member) -> tuple[int, int | None]:
    """Queries with equal keys have been in the run since the same moment."""
    return member.joined, member.after
