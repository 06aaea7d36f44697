"""The queries: a projection, patterns over the window, and patterns over the static graph."""

from __future__ import annotations

from dataclasses import dataclass, replace

from penstock.bench.peers import WindowQuery
from penstock.bench.tollgates.data import NAMESPACE, STREAM

_PREFIXES = f"PREFIX : <{NAMESPACE}>\n"


@dataclass(frozen=True, slots=True)
class Query:
    """A SELECT over one window, RANGE `width` STEP `step` in seconds, joined with the static graph."""

    kind: str
    """The stream to read (data.py)."""
    select: str
    variables: tuple[str, ...]
    """The selected variables in order."""
    seen: str
    """The patterns over the window."""
    known: str = ""
    """The patterns over the static graph."""
    ending: str = ""
    operator: str = "RStream"
    width: int = 10
    step: int = 10

    def over(self, width: int, step: int) -> Query:
        return replace(self, width=width, step=step)

    @property
    def rspql(self) -> str:
        """One clause per line and times in milliseconds, as rsp-js requires."""
        return (
            f"{_PREFIXES}REGISTER {self.operator} <{NAMESPACE}answers> AS\n"
            f"SELECT {self.select}\n"
            f"FROM NAMED WINDOW :window ON STREAM <{STREAM}> [RANGE {self.width * 1000} STEP {self.step * 1000}]\n"
            f"WHERE {{\n"
            f"WINDOW :window {{ {self.seen} }}\n"
            f"{self.known} }} {self.ending}"
        )

    def reordered(self, patterns: str) -> str:
        """SPARQL with these patterns, over a store with the window and the static graph."""
        return f"{_PREFIXES}SELECT {self.select} WHERE {{ {patterns} }} {self.ending}"

    @property
    def asked(self) -> WindowQuery:
        """For peers: the same patterns in the same order."""
        sparql = self.reordered(f"{self.seen} {self.known}")
        return WindowQuery(self.rspql, sparql, self.variables, self.width * 1000, self.step * 1000)


PASSAGES = Query(
    "passages",
    "?district (COUNT(?car) AS ?passages)",
    ("district", "passages"),
    "?gate :registers ?car .",
    "?gate :district ?district .",
    "GROUP BY ?district",
)
"""How many cars passed in each district."""

SPEEDS = Query(
    "speeds",
    "?district (AVG(?speed) AS ?mean)",
    ("district", "mean"),
    "?gate :measures ?speed .",
    "?gate :district ?district .",
    "GROUP BY ?district",
)
"""The mean speed in each district."""

PAIRS = Query(
    "passages",
    "?car ?gate ?other",
    ("car", "gate", "other"),
    "?gate :registers ?car . ?other :registers ?car .",
    "?gate :district ?district . ?other :district ?district . FILTER (?gate != ?other)",
)
"""Cars at two gates of one district."""

TOLLS = Query(
    "payments",
    "?gate ?car ?toll",
    ("gate", "car", "toll"),
    "?gate :registers ?car OPTIONAL { ?car :pays ?toll }",
    operator="IStream",
)
"""Passages, with the toll if it was paid."""

UNPAID = Query(
    "payments",
    "?gate ?car",
    ("gate", "car"),
    "?gate :registers ?car FILTER NOT EXISTS { ?car :pays ?toll }",
    operator="IStream",
)
"""Passages that nobody paid for."""


def reading_patterns(count: int) -> Query:
    """Readings by their first property, joined with as many of their properties as are counted."""
    joined = " . ".join(f"?reading :property{place} ?value{place}" for place in range(1, count + 1))
    return Query(
        "readings",
        "?value1 (COUNT(?reading) AS ?readings)",
        ("value1", "readings"),
        joined,
        ending="GROUP BY ?value1",
    )


def over_streams(streams: list[str]) -> str:
    """How many cars passed in each district, over all streams."""

    windows = [
        f"FROM NAMED WINDOW :window{place} ON STREAM <{stream}> [RANGE 10000 STEP 10000]"
        for place, stream in enumerate(streams)
    ]
    seen = " UNION ".join(f"{{ WINDOW :window{place} {{ ?gate :registers ?car }} }}" for place in range(len(streams)))
    return "\n".join(
        [
            f"{_PREFIXES}SELECT ?district (COUNT(?car) AS ?passages)",
            *windows,
            f"WHERE {{ {seen} ?gate :district ?district }} GROUP BY ?district",
        ]
    )
