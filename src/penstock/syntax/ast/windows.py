"""Windows, all dialects together (semantics.md §3). Durations and instants are whole milliseconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from penstock.syntax.ast.nodes import Node
from penstock.syntax.ast.reports import Report


@dataclass(frozen=True, slots=True)
class RangeWindow(Node):
    """RANGE `width` STEP `step`; tumbling when both are the same.

    Without a step it slides with every instant: CQELS's RANGE alone. In Streaming SPARQL the windows begin at the
    multiples of the step (an origin of -1, seen from RSP-QL).
    """

    width: int
    step: int | None


@dataclass(frozen=True, slots=True)
class PastWindow(Node):
    """FROM NOW - `start` TO NOW - `end`, moved every `step`; without a step, with every instant."""

    start: int
    end: int
    step: int | None = None


@dataclass(frozen=True, slots=True)
class NowWindow(Node):
    """NOW: the elements with exactly this timestamp."""


@dataclass(frozen=True, slots=True)
class AllWindow(Node):
    """ALL: everything so far."""


@dataclass(frozen=True, slots=True)
class CountWindow(Node):
    """The last `size` elements (TRIPLES, ELEMENTS, ELEMS), moved every `step` elements.

    `matching`: each triple pattern counts its own matches, as a window inside a Streaming SPARQL group does.
    """

    size: int
    step: int | None = None
    matching: bool = False


Window = RangeWindow | PastWindow | NowWindow | AllWindow | CountWindow


@dataclass(frozen=True, slots=True)
class WindowSettings(Node):
    """Settings of a window in RSP-QL besides its width; None means the default of the dialect."""

    report: Report | None = None
    origin: int | None = None
    duplicates: OneOf["set", "bag"] | None = None
