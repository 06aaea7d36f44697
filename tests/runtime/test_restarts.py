"""A run that is ended at any point and started again gives, in total, the answer of one that was not."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from tests import cases
from tests.bounded import graphs_of, sources_of
from tests.runtime.live import ListOutlet
from tests.suite.test_suite import FOLDERS

from penstock.algebra.chaining import registered_name
from penstock.engines.duckdb.store import DuckDBStore
from penstock.rdf.changes import changes_of
from penstock.rdf.results import Evaluation
from penstock.runtime.changing_graphs import Updates
from penstock.runtime.checkpoints import DatabaseCheckpoint
from penstock.runtime.queries import QuerySpec
from penstock.runtime.run import Run
from penstock.runtime.settings import RunSettings
from penstock.runtime.source_intake import SourceIntake
from penstock.sources.graph_updates import GraphUpdates


@pytest.mark.parametrize("folder", FOLDERS[::5], ids=lambda folder: folder.name)
def test_a_run_goes_on_where_it_was(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what was forgotten forgotten, and what was written after the last commit cut off."""
    monkeypatch.setattr(DatabaseCheckpoint, "new_store", lambda self, file: DuckDBStore(file, rows_between_looks=1))
    case = cases.read_case(folder)
    cases.check(case, _ended_again_and_again(case, tmp_path))


@pytest.mark.parametrize("name", ["graph-that-changes", "graph-that-changes-istream"])
def test_the_changes_of_a_graph_go_on(name: str, tmp_path: Path) -> None:
    """They are said as updates of a graph that has nothing else."""
    case = cases.read_case(next(folder for folder in FOLDERS if folder.name == name))
    changes: Updates = {
        iri: GraphUpdates(change for triple, valid in held for change in changes_of(triple, [valid]))
        for iri, held in case.inputs.graphs.items()
    }
    inputs = replace(case.inputs, graphs=dict.fromkeys(case.inputs.graphs, ()))
    cases.check(case, _ended_again_and_again(replace(case, inputs=inputs), tmp_path, changes))


def _ended_again_and_again(case: cases.Case, folder: Path, updates: Updates | None = None) -> list[Evaluation]:
    how = RunSettings(
        lateness=case.inputs.lateness, flush=case.flush, is_prompt=True, instants_per_slice=2, has_empty=True
    )
    written: list[Evaluation] = []
    starts = 0
    while True:
        checkpoint = DatabaseCheckpoint(folder / "checkpoint", "this run")
        for iri, graph in graphs_of(case.inputs).items():
            checkpoint.store.load_graph(iri, graph)
        for call, answers in case.inputs.services.items():
            checkpoint.store.load_answers(call, answers)
        streams = sources_of(case.inputs, batch_elements=2)
        name = registered_name(case.query) or "q"
        run = Run(
            checkpoint.store,
            SourceIntake(),
            [QuerySpec(case.query, name, case.settings)],
            streams,
            how,
            outlets={name: ListOutlet(written)},
            updates=updates,
            checkpoint=checkpoint,
        )
        evaluations = run.evaluations()
        starts += 1
        for _ in islice(evaluations, starts):
            pass
        evaluations.close()
        has_finished = checkpoint.has_finished
        checkpoint.close()
        if has_finished:
            return written
