"""The paper's query templates Q1 to Q5, with a name for `$Name$`; and the same for a store."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from penstock.bench.cqels.data import PREFIXES, name_of

TEMPLATES = {path.stem.upper(): path.read_text() for path in sorted(Path(__file__).parent.glob("queries/*.rq"))}

_WINDOW = re.compile(r"STREAM\s+<[^>]*>\s*\[([^\]]*)\]")
_AGGREGATE = re.compile(r"count\(distinct (\?\w+)\) as (\?\w+)")


@dataclass(frozen=True, slots=True)
class Instance:
    """A template with the name of an author."""

    template: str
    author: int

    @property
    def text(self) -> str:
        """CQELS-QL, with its prefixes."""
        return PROLOGUE + self._named

    @property
    def sparql(self) -> str:
        """SPARQL over a store with a graph for each window: `urn:window:0`, `urn:window:1`."""
        places = iter(range(len(self.windows)))
        text = re.sub(r"FROM NAMED <[^>]*>", "", self._named)
        text = _WINDOW.sub(lambda match: f"GRAPH <urn:window:{next(places)}>", text)
        return PROLOGUE + _AGGREGATE.sub(r"(COUNT(DISTINCT \1) AS \2)", text)

    @property
    def windows(self) -> tuple[str, ...]:
        """`NOW`, `TRIPLES 1` or `RANGE 5s`, in the order of the text."""
        return tuple(_WINDOW.findall(TEMPLATES[self.template]))

    @property
    def _named(self) -> str:
        return TEMPLATES[self.template].replace("$Name$", name_of(self.author))


PROLOGUE = "".join(f"PREFIX {prefix}: <{iri}>\n" for prefix, iri in PREFIXES.items())
