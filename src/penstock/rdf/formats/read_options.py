"""Options for reading a source, for all formats."""

from __future__ import annotations

from dataclasses import dataclass

from pyoxigraph import NamedNode

from penstock.rdf.elements import OnMalformed


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """`scope` and `document` keep blank nodes apart (`blank_nodes`); `time_predicate` links a graph to its time.

    `unit_ms` is the unit of the numbers in the names of snapshots, or None if it was not set.
    """

    scope: str
    document: str
    time_predicate: NamedNode
    on_malformed: OnMalformed
    unit_ms: int | None = None
