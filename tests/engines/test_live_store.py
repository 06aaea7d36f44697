"""The store of live runs, as far as it needs no Spark job."""

from __future__ import annotations

import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyoxigraph import NamedNode, Triple

from penstock.engines.protocol import IntakeBatch, Reached
from penstock.engines.spark.live_store import LiveStore
from penstock.rdf.elements import Element
from penstock.rdf.errors import SourceError
from penstock.runtime.queries import QuerySpec
from penstock.runtime.ways import RunRequest, open_run
from penstock.sources.graph_files import open_graph
from penstock.sources.spark.live import GrowingFolder
from penstock.sources.tables import table_of
from penstock.syntax import parse

STREAM = "http://e/s"
SESSION = SimpleNamespace(
    conf=SimpleNamespace(get=lambda name, default: default), sparkContext=SimpleNamespace(master="local[2]")
)


@pytest.mark.parametrize("is_durable", [True, False])
def test_only_checkpoints_keep_the_files_of_segments_that_no_query_needs(tmp_path: Path, is_durable: bool) -> None:
    """Without one, the folder would grow with the stream."""
    store = LiveStore(cast(Any, SESSION), tmp_path, is_durable=is_durable)
    store.add_stream(STREAM)
    triple = Triple(*(NamedNode(f"http://e/{name}") for name in "abc"))
    for number, time in enumerate((1000, 2000, 3000)):
        table = table_of([Element(time, (triple,))])
        store.append(IntakeBatch(number, {STREAM: table}), {STREAM: Reached()}, 0)
    store.evict([], 2000)
    assert list(store.log.segments) == ["2-1"]
    files = {path.name for path in tmp_path.iterdir()}
    assert files == ({"0-1", "1-1", "2-1"} if is_durable else {"2-1"})
    store.close()


def test_a_run_that_cannot_start_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "broken.ttl").write_text("<http://e/a> <http://e/b> .")
    (tmp_path / "toll").mkdir()
    query = parse(f"SELECT ?x FROM STREAM <{STREAM}> [RANGE 1s STEP 1s] WHERE {{ ?x ?p ?y }}", "csparql")
    graphs = {None: open_graph(tmp_path / "broken.ttl", scope="g")}
    request = RunRequest([QuerySpec(query, "q")], {STREAM: GrowingFolder(tmp_path / "toll", "s")}, graphs)
    with pytest.raises(SourceError):
        open_run(request, cast(Any, SESSION))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken.ttl", "toll"]
