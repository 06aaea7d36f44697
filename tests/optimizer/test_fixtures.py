"""What each rule does: `fixtures/<rule>.txt` has queries, each with its operators before the rule and after it.

A new case is a line `= what is shown` and a query. `PENSTOCK_WRITE=1 pytest tests/optimizer/test_fixtures.py` writes
the operators below it, to be read before they are committed.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

import penstock
from penstock.algebra import build
from penstock.algebra.operators import Operator
from penstock.explain.names import Names
from penstock.explain.sources import ActiveGraphs, window_labels
from penstock.explain.text import operator_lines
from penstock.explain.tree import operator_tree
from penstock.optimizer import RULES, Knowledge, Rule, Sizes
from penstock.optimizer.sizes import Spread
from penstock.rdf.encoding import encode
from penstock.rdf.terms import IRI

FIXTURES = Path(__file__).parent / "fixtures"
EX = "http://example.org/"

SIZES = Sizes(
    spread={None: {encode(IRI(f"{EX}in")): Spread(10_000, 50, 200), encode(IRI(f"{EX}fee")): Spread(50, 50, 40)}}
)
"""A gate is in a hundred districts, and has one fee; nothing else is known."""


@dataclass(frozen=True)
class Case:
    title: str
    query: str
    shown: str


def cases(rule: Rule) -> list[Case]:
    text = (FIXTURES / f"{rule.__name__}.txt").read_text(encoding="utf-8")
    return [_case(part) for part in text.split("\n= ") if part.strip()]


def _case(text: str) -> Case:
    title, _, rest = text.removeprefix("= ").partition("\n")
    query, _, shown = rest.strip("\n").partition("\n\n")
    return Case(title, query, shown.strip("\n"))


def shown(rule: Rule, query: str) -> str:
    """The operators before the rule and after it, as `penstock explain` shows them."""
    continuous = build(penstock.parse(query, prefixes={"": EX}))
    names = Names({"": EX}, ())
    windows = continuous.dataset.windows
    labels = window_labels(windows, names, are_named=continuous.dialect == "rspql")
    active = ActiveGraphs(continuous.dataset, labels, names, ())

    def lines(expression: Operator) -> str:
        return "\n".join(line.rstrip() for line in operator_lines(operator_tree(continuous, expression, active, names)))

    after = rule(continuous.expression, Knowledge.of(continuous, SIZES))
    return f"{lines(continuous.expression)}\n\n{lines(after)}"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_before_and_after(rule: Rule) -> None:
    known = cases(rule)
    found = [Case(case.title, case.query, shown(rule, case.query)) for case in known]
    if os.environ.get("PENSTOCK_WRITE"):
        text = "\n\n".join(f"= {case.title}\n{case.query}\n\n{case.shown}" for case in found)
        (FIXTURES / f"{rule.__name__}.txt").write_text(text + "\n", encoding="utf-8")
        return
    assert found == known


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_a_fixture_shows_something_that_changes_and_something_that_stays(rule: Rule) -> None:
    sides = [case.shown.split("\n\n") for case in cases(rule)]
    assert {before == after for before, after in sides} == {True, False}
