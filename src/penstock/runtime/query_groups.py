"""Which queries run as one: those that are equal up to constants (algebra/fusing.py), in the order of their chain."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.algebra import ContinuousQuery
from penstock.algebra.chaining import Chain, distinct_names
from penstock.algebra.fusing import Template, template_of
from penstock.engines.protocol import WindowStore
from penstock.runtime.fused_queries import FusedQuery
from penstock.runtime.queries import QuerySpec, RunningQuery
from penstock.runtime.reference_data import ReferenceData
from penstock.runtime.settings import RunSettings


@dataclass(frozen=True, slots=True)
class Member:
    """A query of a run, and when it joined.

    `joined` numbers the moments at which queries joined, 0 being the start of the run. A query that joined later sees
    the part of its streams `after` an instant.
    """

    spec: QuerySpec
    meaning: ContinuousQuery
    joined: int = 0
    after: int | None = None
    template: Template | None = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "template", template_of(self.meaning))


def members_of(queries: Sequence[QuerySpec]) -> dict[str, Member]:
    """The queries by distinct names, in their order."""
    built = [spec.meaning for spec in queries]
    names = distinct_names(spec.name or query.name or "query" for query, spec in zip(built, queries, strict=True))
    return {name: Member(one, query) for name, one, query in zip(names, queries, built, strict=True)}


def chained(members: Mapping[str, Member]) -> Chain:
    """Which streams the queries produce for each other."""
    return Chain({name: member.meaning for name, member in members.items()})


@dataclass(frozen=True, slots=True)
class QueryGroups:
    """How the queries of a store are grouped; `streams` are those that no query produces."""

    store: WindowStore[Any]
    streams: Collection[str]
    how: RunSettings
    reference_data: ReferenceData

    def all_of(self, members: Mapping[str, Member]) -> list[RunningQuery]:
        """The queries with their clocks, in the order in which they are answered; those that can be are fused."""
        chain = chained(members)
        return [self.one_of(names, members, self.read_by(names[0], chain)) for names in self.groups(members, chain)]

    def read_by(self, name: str, chain: Chain) -> dict[str, int]:
        """The streams that a query reads, with the lateness of each: those that queries produce are in order."""
        read = chain.streams_of(name, self.streams)
        return {iri: 0 if iri in chain.produced else self.how.lateness for iri in read}

    def groups(self, members: Mapping[str, Member], chain: Chain) -> list[tuple[str, ...]]:
        """The queries, those that can be fused together, in the order in which they are answered.

        A query that produces a stream for another one is alone, because each of its evaluations counts.
        """
        producers = {chain.produced[stream] for stream in chain.read}
        groups: dict[object, list[str]] = {}
        for name in chain.order:
            member = members[name]
            is_alone = member.template is None or name in producers or self.how.has_empty
            key: object = name
            if member.template is not None and not is_alone:
                key = member.template.key, member.spec.settings, member.joined, member.after
            groups.setdefault(key, []).append(name)
        return list(map(tuple, groups.values()))

    def one_of(self, names: Sequence[str], members: Mapping[str, Member], streams: Mapping[str, int]) -> RunningQuery:
        """The running query for a group; `streams` have the lateness of each."""
        first, how, reference_data = members[names[0]], self.how, self.reference_data
        if len(names) == 1:
            return RunningQuery(
                self.store, first.spec, first.meaning, streams, how,
                name=names[0], reference_data=reference_data, after=first.after,
            )  # fmt: skip
        templates = [template for name in names if (template := members[name].template) is not None]
        specs = {name: members[name].spec for name in names}
        return FusedQuery(
            self.store, specs, first.meaning, templates, streams, how, reference_data, after=first.after
        )  # fmt: skip
