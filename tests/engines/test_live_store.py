"""The store of live runs, as far as it needs no Spark job."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyoxigraph import NamedNode, Triple

from penstock.engines.protocol import IntakeBatch, Reached
from penstock.engines.spark.live_store import LiveStore
from penstock.rdf.elements import Element
from penstock.sources.tables import table_of

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
    assert list(store.segments) == ["2-1"]
    files = {path.name for path in tmp_path.iterdir()}
    assert files == ({"0-1", "1-1", "2-1"} if is_durable else {"2-1"})
    store.close()
