"""A run that is ended at any point and started again gives, in total, the answer of one that was not."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest
from tests import cases
from tests.suite.test_suite import FOLDERS

from penstock.engines.duckdb import DuckDBEngine
from penstock.rdf.results import Evaluation
from penstock.runtime.bounded import sources_of
from penstock.runtime.checkpoints import Checkpoint
from penstock.runtime.running import Run, RunSettings


@pytest.mark.parametrize("folder", FOLDERS[::5], ids=lambda folder: folder.name)
def test_a_run_goes_on_where_it_was(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what was forgotten forgotten, and what was written after the last commit cut off."""
    monkeypatch.setattr(Checkpoint, "new_engine", lambda self, file: DuckDBEngine(file, rows_between_looks=1))
    case = cases.read_case(folder)
    how = RunSettings(lateness=case.inputs.lateness, flush=case.flush, is_prompt=True, instants_per_slice=2)
    written: list[Evaluation] = []
    starts = 0
    while True:
        checkpoint = Checkpoint(tmp_path / "checkpoint", "this run")
        del written[checkpoint.written or 0 :]
        for graph, triples in case.inputs.graphs.items():
            checkpoint.engine.load_graph(graph, triples)
        for call, answers in case.inputs.services.items():
            checkpoint.engine.load_answers(call, answers)
        streams = sources_of(case.inputs, batch_elements=2)
        run = Run(
            checkpoint.engine,
            case.query,
            streams,
            case.settings,
            how,
            name="q",
            checkpoint=checkpoint,
            written=lambda: len(written),
        )
        evaluations = run.evaluations()
        starts += 1
        for evaluation in islice(evaluations, starts):
            written.append(evaluation)  # noqa: PERF402 (the run asks how much there is)
        evaluations.close()
        has_finished = checkpoint.has_finished
        checkpoint.close()
        if has_finished:
            break
    cases.check(case, written)
