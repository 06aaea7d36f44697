"""Universities: the generator keeps LUBM's profile, and all systems answer its queries alike."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from penstock.bench.context import ExperimentContext
from penstock.bench.lubm import experiment, systems
from penstock.bench.lubm.experiment import QUERIES
from penstock.bench.lubm.generator import lines, resources
from penstock.bench.lubm.vocabulary import TYPE, UB
from penstock.bench.systems import Penstock

FEW = 1


@pytest.fixture(scope="module")
def kinds() -> Counter[str]:
    """How many there are of each class in a department."""
    said = [triple for resource in resources(1, FEW) for triple in resource.triples]
    return Counter(o.removeprefix(f"<{UB}").rstrip(">") for _, p, o in said if p == f"<{TYPE}>")


class TestGenerator:
    @pytest.mark.parametrize(
        ("kind", "least", "most"),
        [
            ("FullProfessor", 7, 10),
            ("AssociateProfessor", 10, 14),
            ("AssistantProfessor", 8, 11),
            ("Lecturer", 5, 7),
            ("ResearchGroup", 10, 20),
            ("Chair", 1, 1),
        ],
    )
    def test_as_many_as_in_the_profile(self, kinds: Counter[str], kind: str, least: int, most: int) -> None:
        assert least <= kinds[kind] <= most

    def test_students_for_each_teacher(self, kinds: Counter[str]) -> None:
        assert 8 <= kinds["UndergraduateStudent"] / kinds["Faculty"] <= 14
        assert 3 <= kinds["GraduateStudent"] / kinds["Faculty"] <= 4

    def test_superclasses_follow(self, kinds: Counter[str]) -> None:
        professors = kinds["FullProfessor"] + kinds["AssociateProfessor"] + kinds["AssistantProfessor"]
        assert kinds["Professor"] == professors
        assert kinds["Student"] == kinds["UndergraduateStudent"] + kinds["GraduateStudent"]
        assert kinds["Person"] == kinds["Faculty"] + kinds["Student"]

    def test_departments_of_a_university(self) -> None:
        found = {
            match[1] for line in lines(1) if (match := re.match(r"<http://www\.Department(\d+)\.Univ[^/]*>", line))
        }
        assert 15 <= len(found) <= 25

    def test_always_the_same(self) -> None:
        assert list(lines(1, FEW)) == list(lines(1, FEW))


class TestQueries:
    def test_there_are_fourteen(self) -> None:
        assert len(QUERIES) == 14

    def test_every_system_answers_alike(self, tmp_path: Path) -> None:
        context = ExperimentContext(tmp_path, True, 1, 1, ("duckdb",))
        data = experiment._data(context, "a department", 1, FEW)
        own = systems.FilePenstock(Penstock())
        for query in QUERIES[:4]:
            expected = experiment._answer(own, query, data)
            assert experiment._answer(systems.LivePenstock(), query, data) == expected
            assert experiment._answer(systems.Pyoxigraph(), query, data) == expected
            assert experiment._answer(systems.Rdflib(), query, data) == expected

    def test_the_experiment(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(experiment, "QUERIES", QUERIES[:1])
        monkeypatch.setattr(experiment, "FEW_DEPARTMENTS", 1)
        result = experiment.run(ExperimentContext(tmp_path, True, 1, 1, ("duckdb",), {"jena": "/nowhere/arq"}))
        averages, single = result.tables
        assert {row[3] for row in single.rows} == {"Penstock on DuckDB", "Penstock on DuckDB, as it comes"} | {
            "pyoxigraph",
            "rdflib",
            "penstock run",
        }
        assert len({row[2] for row in single.rows}) == 1
        assert all(row[4] <= row[5] for row in single.rows)
        assert len(averages.rows) == 6
        assert any("Jena cannot be run" in remark for remark in result.remarks)
