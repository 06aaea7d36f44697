"""Report policies (semantics.md §5): at which instants a window has the query evaluated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from penstock.syntax.ast.nodes import Node

StrategyName = OneOf["window-close", "non-empty", "content-change", "arrival", "periodic", "stream-end"]


@dataclass(frozen=True, slots=True)
class Strategy(Node):
    """One strategy; `period`, in ms, belongs to `periodic` alone.

    `stream-end` is the end of the stream, for which SPARQL over a stream keeps what later input could take back.
    """

    name: StrategyName
    period: int | None = None


@dataclass(frozen=True, slots=True)
class AllOf(Node):
    """`a & b & …`"""

    reports: tuple[Report, ...]


@dataclass(frozen=True, slots=True)
class AnyOf(Node):
    """`a | b | …`"""

    reports: tuple[Report, ...]


@dataclass(frozen=True, slots=True)
class NotReport(Node):
    """`!a`"""

    report: Report


Report = Strategy | AllOf | AnyOf | NotReport
