r"""CSRBench: seven SPARQL bodies, and the window that each one is meant to be asked over.

They are the values of a Java properties file, over several lines with a `\` at the end of all but the last. In many of
them a space follows that `\`, after which Java itself would not read on; the authors' reader did, and so does this.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from tests.corpora.samples import SHARED, Sample

from penstock.syntax import ast

FILE = SHARED / "data" / "csrbench" / "srbench-queries.properties"
STREAM = "http://example.org/csrbench"
WINDOW = "http://example.org/csrbench/window"

_CORRECTED_SIZES = {6: 5000}
"""The window of query 6 is misprinted (data/README.md)."""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One of the seven: its text up to WHERE, its pattern without the braces, its window in ms."""

    number: int
    head: str
    pattern: str
    size: int
    slide: int

    def text(self, dialect: ast.DialectName) -> str:
        return _WITH_WINDOW[dialect].format(b=self, stream=f"<{STREAM}>", window=f"<{WINDOW}>")


_WITH_WINDOW: dict[ast.DialectName, str] = {
    "sparql": "{b.head} WHERE {{ {b.pattern} }}",
    "csparql": "REGISTER QUERY Q{b.number} AS {b.head}\n"
    "FROM STREAM {stream} [RANGE {b.size}ms STEP {b.slide}ms]\nWHERE {{ {b.pattern} }}",
    "cqels": "{b.head}\nWHERE {{ STREAM {stream} [RANGE {b.size}ms SLIDE {b.slide}ms] {{ {b.pattern} }} }}",
    "rspql": "{b.head}\nFROM NAMED WINDOW {window} ON STREAM {stream} [RANGE {b.size}ms STEP {b.slide}ms]\n"
    "WHERE {{ WINDOW {window} {{ {b.pattern} }} }}",
    "sparqlstream": "{b.head}\nFROM STREAM {stream} [NOW - {b.size} MS TO NOW SLIDE {b.slide} MS]\n"
    "WHERE {{ {b.pattern} }}",
    "streaming-sparql": "{b.head}\nFROM STREAM {stream} WINDOW RANGE {b.size} MS SLIDE {b.slide} MS\n"
    "WHERE {{ {b.pattern} }}",
}


def queries() -> list[Sample]:
    """Every body in every dialect, with its window put around it; in SPARQL the body alone."""
    return [
        Sample(f"csrbench-{benchmark.number}-{dialect}", dialect, benchmark.text(dialect))
        for benchmark in benchmarks()
        for dialect in _WITH_WINDOW
    ]


@cache
def benchmarks() -> list[Benchmark]:
    if not FILE.exists():
        return []
    values = properties(FILE.read_text(encoding="utf-8"))
    return [_benchmark(number, values) for number in range(1, 8)]


def _benchmark(number: int, values: dict[str, str]) -> Benchmark:
    key = f"srb.query{number}"
    matched = re.fullmatch(r"(.*) WHERE \{(.*)\}", values[f"{key}.booleanquery"])
    assert matched is not None, f"query {number} has another shape than the others"
    corrected = _CORRECTED_SIZES.get(number)
    size, slide = (corrected or int(values[f"{key}.window.{which}"]) for which in ("size", "slide"))
    return Benchmark(number, matched[1], matched[2].strip(), size, slide)


def properties(text: str) -> dict[str, str]:
    """The keys and values of a Java properties file, as far as this one goes."""
    joined = re.sub(r"\\[ \t]*\n[ \t]*", "", text)
    lines = (line.strip() for line in joined.splitlines())
    pairs = (line.partition("=") for line in lines if line and not line.startswith("#"))
    return {key.strip(): value.strip() for key, _, value in pairs}
