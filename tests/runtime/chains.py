"""Chains of queries over random streams, each reading what the one before it gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hypothesis import strategies as st
from pyoxigraph import NamedNode, Triple

from penstock.algebra.chaining import Chain
from penstock.algebra.inputs import Inputs
from penstock.oracle import answer_all
from penstock.oracle.judging import first_difference
from penstock.rdf.elements import Element
from penstock.rdf.results import Evaluation
from penstock.runtime.queries import QuerySpec
from penstock.runtime.query_groups import chained, members_of
from penstock.syntax import ast, parse

TOLL = "http://ex.org/toll"


def chain_of(queries: Sequence[QuerySpec]) -> Chain:
    return chained(members_of(queries))


_WINDOWS = (
    "RANGE PT4S STEP PT2S",
    "RANGE PT3S STEP PT1S",
    "RANGE PT5S STEP PT5S",
    "ELEMENTS 3",
    "ELEMENTS 2 STEP 2",
    "RANGE PT2S STEP PT1S REPORT ON_CONTENT_CHANGE",
)

_FIRST = (
    "CONSTRUCT {{ ?car :passed ?gate }} {window} WHERE {{ WINDOW :w {{ ?gate :lets ?car }} }}",
    "CONSTRUCT {{ ?car :passed ?gate . ?gate :is :open }} {window} WHERE {{ WINDOW :w {{ ?gate :lets ?car }} }}",
    "CONSTRUCT {{ [] :passed ?gate ; :car ?car }} {window} WHERE {{ WINDOW :w {{ ?gate :lets ?car }} }}",
    "CONSTRUCT {{ ?car :passed :here }} {window} WHERE {{ WINDOW :w {{ ?gate :lets ?car FILTER (?car != :car1) }} }}",
    "DESCRIBE ?gate {window} WHERE {{ WINDOW :w {{ ?gate :lets :car2 }} }}",
)
_SECOND = (
    "CONSTRUCT {{ ?gate :saw ?car }} {window} WHERE {{ WINDOW :w {{ ?car :passed ?gate }} }}",
    "CONSTRUCT {{ ?gate :saw ?n }} {window} "
    "WHERE {{ {{ SELECT ?gate (COUNT(*) AS ?n) WHERE {{ WINDOW :w {{ ?car :passed ?gate }} }} GROUP BY ?gate }} }}",
    "CONSTRUCT {{ GRAPH ?gate {{ ?gate :saw ?car }} }} {window} WHERE {{ WINDOW :w {{ ?car :passed ?gate }} }}",
    "CONSTRUCT {{ ?s :saw ?o }} {window} {both} WHERE {{ WINDOW :w {{ ?s ?p ?o }} WINDOW :v {{ ?s ?q ?x }} }}",
)
_THIRD = (
    "SELECT ?gate ?x {window} WHERE {{ WINDOW :w {{ ?gate :saw ?x }} }}",
    "SELECT (COUNT(*) AS ?n) {window} WHERE {{ WINDOW :w {{ ?gate :saw ?x }} }}",
    "SELECT ?g ?x {window} WHERE {{ WINDOW :w {{ GRAPH ?g {{ ?gate :saw ?x }} }} }}",
    "ASK {window} WHERE {{ WINDOW :w {{ ?gate :saw :car2 }} }}",
    "SELECT ?x {window} {both} WHERE {{ WINDOW :w {{ ?g :saw ?x }} OPTIONAL {{ WINDOW :v {{ ?g :lets ?x }} }} }}",
)


@dataclass(frozen=True)
class Scenario:
    texts: tuple[str, ...]
    elements: tuple[Element, ...]
    lateness: int
    flush: bool

    @property
    def queries(self) -> list[ast.Query]:
        return [parse(text, "rspql") for text in self.texts]

    @property
    def standing(self) -> list[QuerySpec]:
        return [QuerySpec(query) for query in self.queries]

    @property
    def inputs(self) -> Inputs:
        return Inputs({TOLL: self.elements}, lateness=self.lateness)

    def check(self, found: list[Evaluation], *, is_whole: bool = True) -> None:
        """What an engine has found is what the oracle finds, query by query, or else how that begins."""
        chain: Chain = chain_of(self.standing)
        queries: Mapping[str, ast.Query] = dict(zip(chain.queries, self.queries, strict=True))
        for name, expected in answer_all(queries, chain, self.inputs, flush=self.flush).items():
            here = [evaluation for evaluation in found if evaluation.query == name and evaluation.says_something]
            there = list(expected.with_solutions())
            if not is_whole:
                there = there[: len(here)]
            difference = first_difference(here, there, False)
            assert difference is None, f"{name}: {difference.text}\n{self}"


def _query(draw: st.DrawFn, name: str, stream: str, bodies: tuple[str, ...]) -> str:
    body, window = draw(st.sampled_from(bodies)), draw(st.sampled_from(_WINDOWS))
    operator = draw(st.sampled_from(("RSTREAM", "ISTREAM", "DSTREAM")))
    text = body.format(
        window=f"FROM NAMED WINDOW :w ON :{stream} [{window}]",
        both="FROM NAMED WINDOW :v ON :toll [RANGE PT6S STEP PT2S]",
    )
    return f"PREFIX : <http://ex.org/> REGISTER {operator} :{name} AS {text}"


@st.composite
def scenarios(draw: st.DrawFn, least_elements: int = 1) -> Scenario:
    """Three queries, given in any order; elements within the lateness and behind it."""
    texts = [
        _query(draw, "first", "toll", _FIRST),
        _query(draw, "second", "first", _SECOND),
        _query(draw, "third", draw(st.sampled_from(("second", "second", "first"))), _THIRD),
    ]
    lateness = draw(st.sampled_from((0, 0, 1500)))
    times = draw(st.lists(st.integers(1, 24), min_size=least_elements, max_size=max(14, 2 * least_elements)))
    ordered = sorted(times) if draw(st.booleans()) else times
    elements = tuple(an_element(500 * time, draw(st.integers(0, 2)), draw(st.integers(0, 3))) for time in ordered)
    return Scenario(tuple(draw(st.permutations(texts))), elements, lateness, draw(st.booleans()))


def an_element(time: int, gate: int, car: int) -> Element:
    names = (NamedNode(f"http://ex.org/{name}") for name in (f"gate{gate}", "lets", f"car{car}"))
    return Element(time, (Triple(*names),))
