"""Report policies (semantics.md §5): the instants at which a window triggers an evaluation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from penstock.syntax.ast.nodes import Node

StrategyName = OneOf["window-close", "non-empty", "content-change", "arrival", "periodic", "stream-end"]


@dataclass(frozen=True, slots=True)
class Strategy(Node):
    """One strategy; only `periodic` has a `period`, in ms.

    `stream-end` is the end of the stream: SPARQL over a stream delays solutions that later input could retract.
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
