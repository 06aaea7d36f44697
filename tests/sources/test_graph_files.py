"""Graphs by columns: every format gives the same triples as the line by line reader, on every engine."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.algebra.inputs import GraphTriple
from penstock.engines.duckdb.store import DuckDBStore
from penstock.rdf.errors import SourceError
from penstock.rdf.graphs import read_graph
from penstock.rdf.results import same_graph
from penstock.sources.graph_files import open_graph
from penstock.sources.graphs import Graph, merged, triples_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ODD = [
    r'<http://ex.org/a> <http://ex.org/p> "a \"quoted\" \u00e9\n" .',
    '<http://ex.org/a>\t<http://ex.org/p>  "spaces"@en-GB  .  # and a comment',
    "# a comment",
    "",
    "_:é <http://ex.org/p> _:b1 .",
]
LINES = [
    f'<http://ex.org/s{n % 7}> <http://ex.org/p{n % 3}> "{n}"^^<http://www.w3.org/2001/XMLSchema#integer> .'
    for n in range(300)
] + [f"_:b{n % 5} <http://ex.org/q> <http://ex.org/o{n}> ." for n in range(50)]
"""More lines than are parsed one by one, blank nodes among them."""

TEXT = "\n".join([*LINES[:200], *ODD, *LINES[200:], LINES[0]])


def written(folder: Path, name: str, text: str = TEXT) -> Path:
    path = folder / name
    if name.endswith(".parquet"):
        triples = [
            [str(part) for part in (triple.subject, triple.predicate, triple.object)]
            for triple in read_graph(written(folder, f"{name}.nt", text), scope="x")
        ]
        columns = dict(zip("spo", map(list, zip(*triples, strict=True)), strict=True))
        pq.write_table(pa.table(columns), path, row_group_size=100)
    else:
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def in_duckdb(graph: Graph) -> list[GraphTriple]:
    """What the engine has, having loaded it."""
    engine = DuckDBStore()
    engine.load_graph(None, graph)
    columns = pa.table(engine.connection.sql(f"FROM {engine.tables.graphs[None]}").to_arrow_table())
    engine.close()
    return list(triples_of(_Loaded(columns)))


class _Loaded:
    name = "loaded"

    def __init__(self, table: pa.Table) -> None:
        self.table = table
        self.changes = "starts" in table.column_names

    def tables(self) -> Iterator[pa.Table]:
        yield self.table


FILES = ("a.nt", "a.nt.gz", "a.ttl", "a.trig", "a.parquet", "b.nt\r")


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_same_triples(tmp_path: Path, name: str) -> None:
    expected = read_graph(written(tmp_path, "expected.nt"), scope="e")
    text = TEXT.replace("\n", "\r\n") if name.endswith("\r") else TEXT
    found = in_duckdb(open_graph(written(tmp_path, name.strip(), text), scope="g"))
    assert len(found) == len(expected)
    assert same_graph([triple for triple, _ in found], expected)


def test_a_byte_order_mark(tmp_path: Path) -> None:
    path = written(tmp_path, "a.nt", "\ufeff" + TEXT)
    assert len(in_duckdb(open_graph(path, scope="g"))) == len(LINES) + 3


def test_several_files_are_one_graph_and_static_triples_hold_always(tmp_path: Path) -> None:
    changes = tmp_path / "a.changes"
    changes.write_text('A <http://ex.org/a> <http://ex.org/p> "new" "5" .\n')
    files = [
        written(tmp_path, "a.nt"),
        written(tmp_path, "b.ttl", '<http://ex.org/a> <http://ex.org/p> "b" .'),
        changes,
    ]
    graph = merged([open_graph(path, scope=str(number)) for number, path in enumerate(files)])
    assert graph.changes
    found = {str(triple.object): valid for triple, valid in in_duckdb(graph)}
    assert found['"b"'].start < 0
    assert found['"b"'].end is None
    assert found['"new"'] == (5, None)


WRONG = [
    ("a.nt", TEXT + "\n<http://ex.org/a> <http://ex.org/p> oops .", f"a.nt:{TEXT.count(chr(10)) + 2}: "),
    ("a.nt.gz", "<http://ex.org/a> <http://ex.org/p> .", "a.nt.gz:1: The object of a triple must be"),
    ("a.nt", "<http://ex.org/a> <http://ex.org/p> 1 .", "a.nt:1: "),
    ("a.nt", f"{TEXT}\n<a:a> <a:b> <a:c> <a:d> .", f"a.nt:{TEXT.count(chr(10)) + 2}: "),
    ("a.ttl", "<a:a> <a:b> .", "a.ttl:1: . is not a valid RDF object"),
]


@pytest.mark.parametrize(("name", "text", "message"), WRONG)
def test_a_line_that_is_no_triple_ends_the_loading(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(SourceError) as caught:
        in_duckdb(open_graph(written(tmp_path, name, text), scope="g"))
    assert str(caught.value).startswith(f"{tmp_path}/{message}")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"s": ["<a:a>"], "p": ["<a:b>"]}, "a.parquet: a graph needs the columns s, p and o, but this file has s, p"),
        ({"s": ["<a:a>"], "p": ["<a:b>"], "o": [1]}, "a.parquet: the column o contains int64"),
        ({"s": ["<a:a>", "a:a"], "p": ["<a:b>"] * 2, "o": ["1", '"1"']}, "a.parquet, row 1: "),
        ({"s": ["<a:a>"], "p": [None], "o": ["<a:b>"]}, "a.parquet, row 1: a term is missing"),
    ],
)
def test_a_table_that_is_no_graph(tmp_path: Path, columns: dict[str, list[object]], message: str) -> None:
    path = tmp_path / "a.parquet"
    kinds = {name: pa.string() if isinstance(values[0], str | None) else pa.int64() for name, values in columns.items()}
    pq.write_table(pa.table({name: pa.array(values, kinds[name]) for name, values in columns.items()}), path)
    for read in (lambda: in_duckdb(open_graph(path, scope="g")), lambda: read_graph(path, scope="g")):
        with pytest.raises(SourceError) as caught:
            read()
        assert str(caught.value).startswith(f"{tmp_path}/{message}")


def test_a_file_that_is_not_parquet(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_text("oops")
    with pytest.raises(SourceError, match="this file cannot be read as Parquet"):
        in_duckdb(open_graph(path, scope="g"))


class TestOnSpark:
    """Files are taken for large ones: Spark reads them itself."""

    @pytest.mark.parametrize("name", ["a.nt", "a.nt.gz", "a.parquet"])
    def test_the_same_triples(self, spark: SparkSession, tmp_path: Path, name: str) -> None:
        from penstock.sources.spark.graphs import graph_frame

        expected = read_graph(written(tmp_path, "expected.nt"), scope="e")
        parts = [open_graph(written(tmp_path, name), scope="g"), open_graph(written(tmp_path, "b.ttl", ""), scope="h")]
        frame, is_kept, spread = graph_frame(spark, merged(parts), small=0)
        found = list(triples_of(_Loaded(frame.toArrow())))
        assert sum(triples for triples, _, _ in spread.values()) == len(found)
        frame.unpersist()
        assert is_kept
        assert len(found) == len(expected)
        assert same_graph([triple for triple, _ in found], expected)

    @pytest.mark.parametrize(("name", "text", "message"), [WRONG[0], WRONG[3], WRONG[4]])
    def test_a_line_that_is_no_triple(
        self, spark: SparkSession, tmp_path: Path, name: str, text: str, message: str
    ) -> None:
        from penstock.sources.spark.graphs import graph_frame

        with pytest.raises(SourceError) as caught:
            graph_frame(spark, open_graph(written(tmp_path, name, text), scope="g"), small=0)
        assert str(caught.value).startswith(f"{tmp_path}/{message}")
