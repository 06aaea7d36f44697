"""CSRBench: the seven queries under the policies of the three engines, against answers kept in `csrbench_expected/`.

Those are the oracle's own, kept after checking; the answers that the benchmark recorded of the engines are not gold.
Two were checked by hand, with a few lines of Python over what rdflib reads from the files, with neither windows nor
queries of Penstock:

- Q1 under C-SPARQL: of the files in (c − 10 s, c], c = 10, 20 and 30 s, the observations of _AirTemperature whose
  result has a floatValue above 80: none, 6 and 7 of them.
- Q6 under CQELS: at each second t the files in (5 s · ⌊(t − 1) / 5 s⌋, t], all pairs of temperatures of one sensor with
  value1 > value > 75, less those of the second before: one at 9 s, two at 20 s, one each at 24, 25 and 29 s.

The file data_00 is at 0, which no window of RANGE and STEP holds (t0 = 0); a window NOW − a TO NOW does, at 0. No
triple is twice in a window, so that sets and bags agree.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.corpora import csrbench

import penstock
from penstock.algebra import build
from penstock.oracle import Inputs, answer
from penstock.rdf.elements import Element, Malformed
from penstock.rdf.results import from_json_line, same_rows
from penstock.rdf.stream_reader import read_stream
from penstock.syntax import ast
from penstock.syntax.ast.traversal import walk

EXPECTED = Path(__file__).parent / "csrbench_expected"
ENGINES: tuple[ast.DialectName, ...] = ("csparql", "cqels", "sparqlstream")
NUMBERS = range(1, 8)


@pytest.fixture(scope="module")
def folder(shared: Path) -> Path:
    return shared / "data" / "csrbench"


@pytest.fixture(scope="module")
def stream(folder: Path) -> list[Element]:
    return list(read_stream(folder / "data", scope="csrbench", on_malformed=_refuse, unit_ms=1000))


def _refuse(malformed: Malformed) -> None:
    raise AssertionError(malformed)


def query(number: int, engine: ast.DialectName) -> ast.Query:
    return penstock.parse(csrbench.benchmarks()[number - 1].text(engine), engine)


def test_the_stream_is_whole(stream: list[Element]) -> None:
    assert [element.time for element in stream] == list(range(0, 34_000, 1000))
    assert sum(len(element.triples) for element in stream) == 15_188


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("number", NUMBERS)
def test_the_answer_is_the_expected_one(number: int, engine: ast.DialectName, stream: list[Element]) -> None:
    lines = (EXPECTED / f"q{number}-{engine}.jsonl").read_text(encoding="utf-8").splitlines()
    expected = [from_json_line(line) for line in lines]
    found = answer(query(number, engine), Inputs({csrbench.STREAM: stream})).evaluations
    assert [evaluation.time for evaluation in found] == [evaluation.time for evaluation in expected]
    for one, other in zip(found, expected, strict=True):
        assert one.variables == other.variables
        assert one.rows is not None
        assert other.rows is not None
        assert same_rows(one.rows, other.rows, ordered=False), f"at {one.time}"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("number", NUMBERS)
def test_the_dialect_implies_what_the_engine_does(number: int, engine: ast.DialectName, folder: Path) -> None:
    """Policy and operator are those of the engine's own file; CQELS's content change is arrival (semantics.md §5)."""
    values = csrbench.properties((folder / f"{engine}.properties").read_text(encoding="utf-8"))
    continuous = build(query(number, engine))
    (window,) = continuous.dataset.windows
    assert window.report is not None
    strategies = {node.name for node in walk(window.report) if isinstance(node, ast.Strategy)}
    assert ("window-close" in strategies) == (values["system.policy.windowclose"] == "true")
    assert ("arrival" in strategies) == (values["system.policy.contentchange"] == "true")
    is_never_empty = strategies & {"non-empty", "arrival"}
    assert bool(is_never_empty) == (values["system.policy.nonemptycontent"] == "true")
    assert continuous.operator == values[f"srb.query{number}.output"]
