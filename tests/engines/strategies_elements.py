"""Random queries that read the named elements of windows (GRAPH inside of WINDOW or STREAM), over streams of these."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import strategies as st
from pyoxigraph import BlankNode, NamedNode
from tests.engines.strategies import QueryWriter, Scenario
from tests.engines.strategies_inputs import graphs, streams
from tests.engines.strategies_windows import DatasetText
from tests.oracle.asking import EX

from penstock.algebra.inputs import Inputs
from penstock.rdf.elements import GraphName

_NAMES: tuple[GraphName | None, ...] = (
    NamedNode(EX + "g"), NamedNode(EX + "e"), NamedNode(EX + "a"), BlankNode("graph"), None,
)  # fmt: skip
"""That of a graph besides, one of its own, that of a node in the data, one that no query can write, and none."""


@dataclass(frozen=True)
class NamedScenario(Scenario):
    """The elements of all streams have these names, one after the other, and again."""

    names: tuple[int, ...] = (0,)

    def inputs(self) -> Inputs:
        inputs = super().inputs()
        named = {
            iri: [e._replace(graph=_NAMES[self.names[n % len(self.names)]]) for n, e in enumerate(elements)]
            for iri, elements in inputs.streams.items()
        }
        return replace(inputs, streams=named)


@st.composite
def named_scenarios(draw: st.DrawFn) -> NamedScenario:
    """A query of a dialect that has blocks for windows."""
    writer = _ElementWriter(draw)
    dialect = draw(st.sampled_from(("rspql", "rspql", "cqels", "sparqlstream")))
    return NamedScenario(
        query=writer.query(dialect),
        dialect=dialect,
        streams={"s": draw(streams()), "t": draw(streams())},
        graphs={name: draw(graphs()) for name in ("", "g", "h")},
        lateness=draw(st.sampled_from((0, 0, 2))),
        duplicates=draw(st.sampled_from((None, None, "set", "bag"))),
        flush=writer.chance(30),
        names=tuple(draw(st.lists(st.integers(0, len(_NAMES) - 1), min_size=1, max_size=5))),
    )


class _ElementWriter(QueryWriter):
    def dataset(self, dialect: str) -> DatasetText:
        """Where a window is read, elements are read as well, by any name or by one."""
        dataset = super().dataset(dialect)
        named = []
        for place in dataset.places:
            if place.text.startswith(("WINDOW", "STREAM")) and not place.holds_triples_alone:
                any_name, one_name = (place.text.replace("{}", f"GRAPH {name} {{{{ {{}} }}}}") for name in ("?g", ":e"))
                named += [replace(place, text=any_name, variable="?g"), replace(place, text=one_name)]
        return replace(dataset, places=(*dataset.places, *named, *named))
