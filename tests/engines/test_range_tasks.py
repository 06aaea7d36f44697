"""What executors get with their tasks."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from penstock.engines.spark.range_tasks import shipped_graph
from penstock.sources.graph_files import open_graph
from penstock.sources.graphs import TRIPLES


def test_a_graph_without_triples_can_be_shipped(tmp_path: Path) -> None:
    """A parsed file without triples has no tables."""
    file = tmp_path / "empty.ttl"
    file.write_text("@prefix : <http://e/> .\n")
    table = pa.ipc.open_stream(shipped_graph(open_graph(file, scope="g"))).read_all()
    assert table.schema == TRIPLES
    assert table.num_rows == 0
