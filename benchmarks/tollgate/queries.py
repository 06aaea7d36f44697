"""The queries: what they select, from what the window shows and from what is known anyway."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tollgate.data import NAMESPACE, STREAM

_PREFIXES = f"PREFIX : <{NAMESPACE}>\n"


@dataclass(frozen=True, slots=True)
class Query:
    """A SELECT over one window, RANGE `width` STEP `step` in seconds, joined with the static graph."""

    kind: str
    """The stream that it reads (tollgate/data.py)."""
    select: str
    seen: str
    """What is matched in the window."""
    known: str = ""
    """What follows it, over the static graph."""
    ending: str = ""
    operator: str = "RSTREAM"
    width: int = 10
    step: int = 10

    def over(self, width: int, step: int) -> Query:
        return replace(self, width=width, step=step)

    @property
    def rspql(self) -> str:
        return (
            f"{_PREFIXES}REGISTER {self.operator} :answers AS SELECT {self.select}\n"
            f"FROM NAMED WINDOW :window ON STREAM <{STREAM}> [RANGE PT{self.width}S STEP PT{self.step}S]\n"
            f"WHERE {{ WINDOW :window {{ {self.seen} }} {self.known} }} {self.ending}"
        )

    @property
    def sparql(self) -> str:
        """The same patterns in the same order, over a store that holds the window and the static graph."""
        return self.reordered(f"{self.seen} {self.known}")

    def reordered(self, patterns: str) -> str:
        return f"{_PREFIXES}SELECT {self.select} WHERE {{ {patterns} }} {self.ending}"


PASSAGES = Query(
    "passages",
    "?district (COUNT(?car) AS ?passages)",
    "?gate :registers ?car .",
    "?gate :district ?district .",
    "GROUP BY ?district",
)
"""How many cars passed in each district."""

SPEEDS = Query(
    "speeds",
    "?district (AVG(?speed) AS ?mean)",
    "?gate :measures ?speed .",
    "?gate :district ?district .",
    "GROUP BY ?district",
)
"""The mean speed in each district."""

PAIRS = Query(
    "passages",
    "?car ?gate ?other",
    "?gate :registers ?car . ?other :registers ?car .",
    "?gate :district ?district . ?other :district ?district . FILTER (?gate != ?other)",
)
"""Cars at two gates of one district."""

TOLLS = Query(
    "payments",
    "?gate ?car ?toll",
    "?gate :registers ?car OPTIONAL { ?car :pays ?toll }",
    operator="ISTREAM",
)
"""Passages, with the toll where it was paid."""

UNPAID = Query(
    "payments",
    "?gate ?car",
    "?gate :registers ?car FILTER NOT EXISTS { ?car :pays ?toll }",
    operator="ISTREAM",
)
"""Passages that nobody paid for."""
