"""An answer for which there is no memory is given up with a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

import penstock
from penstock.engines import machine_memory
from penstock.engines.duckdb import statements
from penstock.engines.protocol import StorageError

EX = "http://example.org/"


def test_used_memory_is_that_of_the_process(tmp_path: Path) -> None:
    assert machine_memory.used_memory() > 10_000_000
    assert machine_memory.used_memory(tmp_path / "there-is-no-such-file") == 0


def test_a_large_closure_is_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    graph, stream = tmp_path / "chain.nt", tmp_path / "stream.tnt"
    graph.write_text("".join(f"<{EX}n{k}> <{EX}next> <{EX}n{k + 1}> .\n" for k in range(100)))
    stream.write_text(f'<{EX}a> <{EX}b> <{EX}c> "1" .\n<{EX}a> <{EX}b> <{EX}c> "9" .\n')
    engine = penstock.Engine()
    engine.stream(f"{EX}s", stream)
    engine.graph(graph)
    text = f"SELECT * FROM STREAM <{EX}s> [RANGE 2ms STEP 2ms] {{ ?a <{EX}next>+ ?b }}"
    monkeypatch.setattr(statements, "_PORTION", 1_000)
    assert [len(evaluation.rows or ()) for evaluation in engine.register(text, name="fits").results()] == [5050]
    monkeypatch.setattr(machine_memory, "machine_memory", lambda: 1 << 20)
    with pytest.raises(StorageError, match="more memory than is available"):
        list(engine.register(text, name="does-not-fit").results())
