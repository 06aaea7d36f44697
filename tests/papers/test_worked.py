"""The worked examples of the papers (`worked/`, a folder each): the oracle gives the answers that they print."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests import cases

from penstock.oracle import answer

FOLDERS = cases.case_folders(Path(__file__).parent / "worked")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_oracle_gives_the_expected_answer(folder: Path) -> None:
    case = cases.read_case(folder)
    found = answer(case.query, case.inputs, case.settings, flush=case.flush, name="q")
    cases.check(case, found.evaluations)
