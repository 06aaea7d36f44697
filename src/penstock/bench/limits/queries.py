"""The three queries: in C-SPARQL, in SPARQL over a store with the content of a window, and by hand in SQL."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.bench.limits.data import CONTAINS, NAMESPACE, PLACED_IN, REGISTERS, STREAM
from penstock.bench.peers import WindowQuery

_PREFIXES = f"PREFIX t: <{NAMESPACE}t#>\nPREFIX c: <{NAMESPACE}c#>\n"

STREAM_TABLE = "passages"
"""The triples of the stream, as DuckDB reads them: s, p, o and ts."""

GRAPH_TABLE = "streets"
"""The triples of the graph: s, p and o."""


@dataclass(frozen=True, slots=True)
class Workload:
    """`statement` is one statement of SQL for this query only. Its windows are sets, as those of C-SPARQL."""

    name: str
    select: str
    variables: tuple[str, ...]
    patterns: str
    ending: str
    window: str
    width: int
    step: int
    statement: str

    @property
    def text(self) -> str:
        return (
            f"REGISTER QUERY Answers AS\n{_PREFIXES}SELECT {self.select}\nFROM STREAM <{STREAM}> [{self.window}]\n"
            f"WHERE {{ {self.patterns} }} {self.ending}"
        )

    @property
    def asked(self) -> WindowQuery:
        """For a store that is filled window by window."""
        sparql = f"{_PREFIXES}SELECT {self.select} WHERE {{ {self.patterns} }} {self.ending}"
        return WindowQuery(self.text, sparql, self.variables, self.width, self.step)


_COUNT = "?d (COUNT(?car) AS ?n)"
_COUNTED = "?g t:registers ?car . ?g c:placedIn ?s . ?d c:contains ?s"
_DISTRICTS = f"""districts AS (
    SELECT placed.s AS gate, contained.s AS d FROM {GRAPH_TABLE} AS placed
    JOIN {GRAPH_TABLE} AS contained ON placed.o = contained.o
    WHERE placed.p = '<{PLACED_IN}>' AND contained.p = '<{CONTAINS}>'
)"""


def _windows(width: int, step: int) -> str:
    """The elements of each window that closes, each once."""
    first = f"(ts + {step - 1}) // {step} * {step}"
    if width == step:
        return f"SELECT DISTINCT {first} AS time, s, o FROM {STREAM_TABLE} WHERE p = '<{REGISTERS}>'"
    closings = f"unnest(range({first}, ts + {width}, {step}))"
    return f"SELECT DISTINCT {closings} AS time, s, o FROM {STREAM_TABLE} WHERE p = '<{REGISTERS}>'"


def _counts(width: int, step: int) -> str:
    return (
        f"WITH windows AS ({_windows(width, step)}), {_DISTRICTS} SELECT time, d, count(*) AS n FROM windows "
        f"JOIN districts ON s = gate WHERE time <= (SELECT max(ts) FROM {STREAM_TABLE}) GROUP BY time, d ORDER BY time"
    )


_PAIRS = f"""WITH windows AS ({_windows(10_000, 5_000)}), {_DISTRICTS}
SELECT time, one.o AS car, here.d, one.s AS g1, other.s AS g2 FROM windows AS one JOIN windows AS other USING (time, o)
JOIN districts AS here ON one.s = here.gate JOIN districts AS there ON other.s = there.gate AND here.d = there.d
WHERE one.s[2:-2] < other.s[2:-2] AND time <= (SELECT max(ts) FROM {STREAM_TABLE}) ORDER BY time"""

WORKLOADS = (
    Workload(
        "T1: grouped COUNT, tumbling 10s",
        _COUNT,
        ("d", "n"),
        _COUNTED,
        "GROUP BY ?d",
        "RANGE 10s TUMBLING",
        10_000,
        10_000,
        _counts(10_000, 10_000),
    ),
    Workload(
        "T2: grouped COUNT, RANGE 10s STEP 1s",
        _COUNT,
        ("d", "n"),
        _COUNTED,
        "GROUP BY ?d",
        "RANGE 10s STEP 1s",
        10_000,
        1_000,
        _counts(10_000, 1_000),
    ),
    Workload(
        "T3: pairs in a district, RANGE 10s STEP 5s",
        "?car ?d ?g1 ?g2",
        ("car", "d", "g1", "g2"),
        "?g1 t:registers ?car . ?g2 t:registers ?car . FILTER(STR(?g1) < STR(?g2)) ?g1 c:placedIn ?s1 . "
        "?d c:contains ?s1 . ?d c:contains ?s2 . ?g2 c:placedIn ?s2",
        "",
        "RANGE 10s STEP 5s",
        10_000,
        5_000,
        _PAIRS,
    ),
)
