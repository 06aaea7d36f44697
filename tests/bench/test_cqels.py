"""CQELS's conference: the data's shape, the paper's queries, and that pyoxigraph answers as Penstock does."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from penstock.bench.context import ExperimentContext
from penstock.bench.cqels import experiment, many_queries
from penstock.bench.cqels.data import (
    EVERY,
    FLOORPLAN,
    RFID,
    detections,
    floorplan,
    papers,
    publications,
    write_detections,
    write_floorplan,
    write_publications,
)
from penstock.bench.cqels.experiment import Conference
from penstock.bench.cqels.queries import TEMPLATES, Instance
from penstock.bench.systems import DataFiles, Penstock

LISTINGS = Path(__file__).parents[1] / "papers" / "cqels"


class TestData:
    def test_the_floor_plan_has_as_many_triples_as_the_papers(self) -> None:
        assert len(set(floorplan())) == 172

    def test_authors_of_a_paper(self) -> None:
        found = list(islice(papers(), 2_000))
        assert 2 < sum(len(paper.authors) for paper in found) / len(found) < 3
        assert all(1 <= len(paper.authors) <= 7 for paper in found)

    def test_few_write_much(self) -> None:
        written = Counter(author for paper in islice(papers(), 2_000) for author in paper.authors)
        once = sum(count == 1 for count in written.values())
        assert once > len(written) / 2
        assert max(written.values()) > 20

    def test_no_triple_twice(self) -> None:
        lines = list(islice(publications(), 5_000))
        assert len(set(lines)) == len(lines)

    def test_always_the_same(self) -> None:
        assert list(islice(publications(), 500)) == list(islice(publications(), 500))
        assert [ts for *_, ts in detections(3)] == [EVERY, 2 * EVERY, 3 * EVERY]


class TestQueries:
    @pytest.mark.parametrize("name", TEMPLATES)
    def test_they_are_the_papers(self, name: str) -> None:
        listings = [path for path in LISTINGS.glob(f"{name.lower()}-*.rq") if "misprint" not in path.name]
        assert [path.read_text() for path in listings] == [TEMPLATES[name]]

    def test_windows(self) -> None:
        assert Instance("Q2", 1).windows == ("NOW", "RANGE 3s")
        assert Instance("Q3", 1).windows == ("TRIPLES 1", "RANGE 5s")

    @pytest.mark.parametrize("name", TEMPLATES)
    def test_pyoxigraph_answers_as_penstock_does(self, tmp_path: Path, name: str) -> None:
        conference = Conference(write_publications(tmp_path, 1_000), write_floorplan(tmp_path), 8)
        times = conference.times(Instance(name, experiment.AUTHORS[0]))
        assert [len(taken) for taken in times.values()] == [7, 8]

    @pytest.mark.parametrize("name", TEMPLATES)
    def test_each_finds_something_and_as_much_among_more_triples(self, tmp_path: Path, name: str) -> None:
        found = []
        for triples in (5_000, 20_000):
            graphs = {None: write_publications(tmp_path, triples), FLOORPLAN: write_floorplan(tmp_path)}
            inputs = DataFiles({RFID: write_detections(tmp_path, 150)}, graphs)
            answer = Penstock().evaluations(Instance(name, experiment.AUTHORS[0]).text, inputs)
            found.append(sum(len(evaluation.rows or evaluation.triples or ()) for evaluation in answer))
        assert found[0] == found[1] > 0

    def test_the_experiment(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("TEMPLATES", "WITH_PUBLICATIONS"):
            monkeypatch.setattr(experiment, name, ("Q1",))
        monkeypatch.setattr(many_queries, "TEMPLATES", ("Q1",))
        monkeypatch.setattr(many_queries, "QUICK_POWERS", (0, 2))
        result = experiment.run(ExperimentContext(tmp_path, True, 0.1, 1, ("duckdb",)))
        singles, history, sizes, many = result.tables
        assert [row[:2] for row in singles.rows] == [("Q1", "Penstock on DuckDB"), ("Q1", "pyoxigraph")]
        systems = [("Penstock on DuckDB", 2000), ("penstock run", 2000), ("pyoxigraph", 200)]
        assert [row[1:3] for row in history.rows] == systems
        assert {row[0] for row in sizes.rows} == {10_000}
        assert [row[1:3] for row in many.rows] == [
            *((copies, "Penstock on DuckDB") for copies in (1, 4)),
            *((copies, "Penstock on DuckDB, one after another") for copies in (1, 4)),
            *((copies, "pyoxigraph") for copies in (1, 4)),
        ]
        assert len(result.figures) == 3
