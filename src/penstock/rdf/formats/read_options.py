"""How a source is read, whatever its format."""

from __future__ import annotations

from dataclasses import dataclass

from pyoxigraph import NamedNode

from penstock.rdf.elements import OnMalformed


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """`scope` and `document` keep blank nodes apart (`blank_nodes`); `time_predicate` says when a graph is.

    `unit_ms` is how long a unit of the numbers in the names of snapshots is, None if nobody said.
    """

    scope: str
    document: str
    time_predicate: NamedNode
    on_malformed: OnMalformed
    unit_ms: int | None = None
