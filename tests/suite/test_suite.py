"""One suite of query cases (`cases/`, and the papers' worked examples) for every engine.

Each expected file is checked against the oracle, and each engine against the expected file, however its input is cut.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TypedDict

import pytest
from tests import cases
from tests.bounded import run_bounded

from penstock.engines.duckdb.store import DuckDBStore
from penstock.oracle import answer
from penstock.rdf.results import Evaluation
from penstock.syntax import parse
from penstock.syntax.printer import to_text
from penstock.syntax.translation import translate
from penstock.syntax.translation.variables import plain_names

HERE = Path(__file__).parent
FOLDERS = [*cases.case_folders(HERE / "cases"), *cases.case_folders(HERE.parent / "papers" / "worked")]

ENGINES = {"duckdb": lambda: DuckDBStore(rows_between_looks=1, keep_from=0)}
"""They forget what they can as soon as they can, and keep what is static however little it is."""


class Cut(TypedDict, total=False):
    batch_elements: int
    instants_per_slice: int


CUTS = {"at-once": Cut(), "in-pieces": Cut(batch_elements=2, instants_per_slice=1)}

each_case = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> DuckDBStore:
    return ENGINES[request.param]()


@pytest.mark.parametrize("cut", CUTS)
@each_case
def test_an_engine_gives_the_expected_answer(engine: DuckDBStore, folder: Path, cut: str) -> None:
    case = cases.read_case(folder)
    found = run_bounded(case.query, case.inputs, case.settings, flush=case.flush, name="q", store=engine, **CUTS[cut])
    cases.check(case, found)


@each_case
def test_the_oracle_gives_the_expected_answer(folder: Path) -> None:
    case = cases.read_case(folder)
    found = answer(case.query, case.inputs, case.settings, flush=case.flush, name="q")
    cases.check(case, found.evaluations)


@each_case
def test_in_rspql_it_has_the_same_answer(folder: Path) -> None:
    """Everything can be translated to RSP-QL (dialects.md)."""
    case = cases.read_case(folder)
    text = to_text(translate(case.query, "rspql").query)
    found = answer(parse(text, "rspql"), case.inputs, case.settings, flush=case.flush, name="q")
    hyphenated = {plain: name for name, plain in plain_names(case.query).items()}
    with _failing(if_known=case.rspql_differs):
        cases.check(case, (_renamed(evaluation, hyphenated, _name(case)) for evaluation in found.evaluations))


def _failing(*, if_known: str) -> AbstractContextManager[object]:
    """What is known to differ must: the day that it does not, the case has to stop saying so."""
    return pytest.raises(AssertionError) if if_known else nullcontext()


def _renamed(evaluation: Evaluation, names: dict[str, str], query: str) -> Evaluation:
    """C-SPARQL's `?total-sensor` is `?total_sensor` in RSP-QL, which has no hyphens in names."""
    variables = evaluation.variables
    if variables is not None:
        variables = tuple(names.get(variable, variable) for variable in variables)
    return replace(evaluation, query=query, variables=variables)


def _name(case: cases.Case) -> str:
    """What the query is registered as does not matter here."""
    return case.expected[0].query if case.expected else "q"


def test_a_wrong_answer_is_noticed() -> None:
    case = cases.read_case(next(folder for folder in FOLDERS if folder.name == "rspql-coupons"))
    first, second = case.expected
    assert first.rows is not None
    cases.check(case, [replace(first, rows=first.rows[::-1]), second])
    for wrong in (
        [first],
        [first, replace(second, time=15)],
        [replace(first, rows=first.rows[:1]), second],
        [replace(first, rows=(first.rows[0], first.rows[0])), second],
        [replace(first, variables=("shopper", "shop", "owner", "coupon")), second],
    ):
        with pytest.raises(AssertionError):
            cases.check(case, wrong)
