"""Property paths start from the end that is bound: they cost what the answer costs, not all pairs of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyoxigraph import NamedNode, Triple
from tests.bounded import run_bounded
from tests.histories import run_on_spark

from penstock import parse
from penstock.algebra import paths
from penstock.algebra.inputs import GraphTriple, Inputs
from penstock.engines.duckdb import store as duckdb
from penstock.engines.duckdb.store import DuckDBStore
from penstock.rdf.elements import Element
from penstock.relational.automata import automaton_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EX = "http://ex.org/"
STREAM = f"{EX}stream"
NODES = 3_000
LAST = f":n{NODES}"

# Each with how many solutions there are.
FROM_A_BOUND_END = {
    ":n0 :next+ ?t": NODES,
    f"?t :next+ {LAST}": NODES,
    f"{LAST} (^:next)* ?t": NODES + 1,
    ":n0 (:next/:next)+ ?t": NODES // 2,
    f":n0 (:next|:other)* {LAST}": 1,
    "?car :at ?place . ?place :next+ ?t": 10,
    "?car :at ?place . ?t (:next/:next)* ?place": (NODES - 10) // 2 + 1,
    "?car :at ?place . ?place :next+ ?t . ?t :next* ?u": 10 + 10 * 9 // 2,
    "?car :at ?place OPTIONAL { ?place (:other?/:next)+ ?t }": 10,
    f"?car :at ?place FILTER EXISTS {{ ?place :next+ {LAST} }}": 1,
    "?car :at ?place FILTER EXISTS { ?place :next+ ?t }": 1,
    "VALUES ?s { :n2990 :n2995 } ?car :at ?place . ?s :next+ ?t": 15,
}
QUERY = "PREFIX : <http://ex.org/> SELECT * FROM STREAM :stream [RANGE 10ms TUMBLING] WHERE { %s }"


def node(name: str) -> NamedNode:
    return NamedNode(EX + name)


def chain() -> Inputs:
    """A chain of nodes, and a car that is ten steps before its end."""
    steps = [Triple(node(f"n{place}"), node("next"), node(f"n{place + 1}")) for place in range(NODES)]
    car = Triple(node("car"), node("at"), node(f"n{NODES - 10}"))
    return Inputs({STREAM: [Element(5, (car,)), Element(11, (car,))]}, {None: list(map(GraphTriple, steps))})


@pytest.mark.parametrize("pattern", FROM_A_BOUND_END)
def test_a_path_from_a_bound_end_needs_no_room_for_all_pairs(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All pairs, 4.5 million, would take several times as much memory as there is."""
    monkeypatch.setitem(duckdb._SETTINGS, "memory_limit", "'100MB'")
    monkeypatch.setitem(duckdb._SETTINGS, "max_temp_directory_size", "'0KB'")
    [evaluation] = run_bounded(parse(QUERY % pattern), chain(), store=DuckDBStore())
    assert len(evaluation.rows or ()) == FROM_A_BOUND_END[pattern]


def test_a_long_path_on_spark_takes_no_job_for_each_step(spark: SparkSession) -> None:
    pattern = "?car :at ?place . :n0 (:next/:next)+ ?t"
    [evaluation] = run_on_spark(spark, parse(QUERY % pattern), chain())
    assert len(evaluation.rows or ()) == NODES // 2


def test_steps_that_continue_in_the_same_way_are_one_state() -> None:
    """So that the rows of the recursive query are those of the answer, or few times as many."""
    a, b, c, d = map(paths.Link, "abcd")
    pairs = paths.Alternative((paths.Sequence((a, b)), paths.Sequence((c, d))))
    states = {
        paths.Repeat(a, "+"): 1,
        paths.Repeat(paths.Alternative((a, paths.Inverse(b), c)), "*"): 1,
        paths.Repeat(paths.Sequence((a, b)), "+"): 2,
        paths.Repeat(pairs, "*"): 3,
    }
    for path, count in states.items():
        assert len(automaton_of(path, is_backward=False).states) == count, path
        assert len(automaton_of(path, is_backward=True).states) == count, path
