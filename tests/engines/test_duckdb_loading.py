"""Loading a graph by columns gives what reading it gives: the same rows, or the same thing wrong with it."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rdf.collected import write
from tests.rdf.lines import ODD_TERMS, ORDINARY_TERMS, TRIPLE, WRONG_TERMS, triples_with
from tests.rdf.random_lines import TRIPLES, mutated
from tests.sources.collected import encoded_triple

from penstock.engines import duckdb_loading
from penstock.engines.duckdb_loading import load_ntriples
from penstock.rdf.errors import SourceError
from penstock.rdf.graphs import read_graph
from penstock.sources import blocks

T = TypeVar("T")


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(":memory:") as opened:
        yield opened


def outcome(read: Callable[[], T]) -> tuple[T | None, str | None]:
    """What is read, or what is wrong with it."""
    try:
        return read(), None
    except SourceError as error:
        return None, str(error)


class TestGraphs:
    def agree(self, connection: duckdb.DuckDBPyConnection, path: Path, scope: str = "g") -> int:
        """Loaded is what is read, or the same is wrong with it; how many triples there are."""
        triples, problem = outcome(lambda: read_graph(path, scope=scope))
        count, same_problem = outcome(lambda: load_ntriples(connection, "graph", path, scope=scope))
        assert same_problem == problem
        if triples is None or count is None:
            return 0
        assert connection.execute("SELECT s, p, o, starts, ends FROM graph").fetchall() == [
            (*encoded_triple(triple), -(2**62), 2**62) for triple in triples
        ]
        return count

    def test_what_is_ordinary_takes_no_python(
        self, connection: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = write(tmp_path / "a.nt", "".join(f"<a:s> <a:p> {term} .\n" for term in ORDINARY_TERMS))

        def parse(text: bytes, *_: object) -> None:
            raise AssertionError(f"not taken for ordinary: {text!r}")

        monkeypatch.setattr(duckdb_loading, "parse_statements", parse)
        assert self.agree(connection, path) == len(ORDINARY_TERMS)

    def test_terms_of_every_kind(self, connection: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
        lines = [
            f"{' '.join(triple)} ."
            for term in (*ODD_TERMS, *ORDINARY_TERMS)
            for triple in triples_with(term)
            if triple[0][0] in "<_" and triple[1][0] == "<"
        ]
        assert self.agree(connection, write(tmp_path / "a.nt", "\r\n".join(lines))) == len(lines)

    @pytest.mark.parametrize("term", WRONG_TERMS)
    def test_what_is_wrong_is_said_as_ever(
        self, connection: duckdb.DuckDBPyConnection, tmp_path: Path, term: str
    ) -> None:
        self.agree(connection, write(tmp_path / "a.nt", f"{TRIPLE} .\n<a:s> <a:p> {term} .\n{TRIPLE} .\n"))

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "\n",
            "# a comment\n\n",
            f"{TRIPLE} .\n" * 3,
            f"{TRIPLE} .\r{TRIPLE.replace('/b', '/c')} .\r\n_:x <a:p> _:y .",
            f"{TRIPLE} . # why\n\t{TRIPLE}.",
            f"{TRIPLE} . {TRIPLE} .",
            f"{TRIPLE}\n.",
            f"\ufeff{TRIPLE} .",
            f"{TRIPLE} <a:g> .",
            f'{TRIPLE} "1000" .',
            "_:a <a:p> _:b .\n_:c <a:p> _:a .\n_:a <a:p> _:b .\n_:b <a:p> _:d .\n_:e <a:p> _:e .",
            '_:z <a:p> "\\n" .\n_:y <a:p> _:z .\n_:x <a:p> "\\"" .\n_:0 <a:p> _:x .\n_:g.1.0 <a:p> _:a .',
        ],
    )
    def test_graphs_of_every_kind(self, connection: duckdb.DuckDBPyConnection, tmp_path: Path, text: str) -> None:
        for block in (1, 1 << 24):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(blocks, "MOST_BYTES", block)
                patch.setattr(blocks, "_PIECE", block)
                self.agree(connection, write(tmp_path / "a.nt", text), "http://ex.org/g")

    def test_compressed_files_whole_and_cut_off(self, connection: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
        packed = gzip.compress("".join(f"<a:{number}> <a:p> _:b{number % 7} .\n" for number in range(9000)).encode())
        assert self.agree(connection, write(tmp_path / "a.nt.gz", packed)) == 9000
        assert self.agree(connection, write(tmp_path / "a.nt.gz", packed[:-500])) == 0

    def test_bytes_that_are_no_text(self, connection: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
        self.agree(connection, write(tmp_path / "a.nt", b'<a:s> <a:p> "\xff" .\n'))

    def test_a_table_of_any_name_is_replaced_and_nothing_else_is_left_behind(self, tmp_path: Path) -> None:
        name = 'a "table"; {odd} $name'
        with duckdb.connect(":memory:") as connection:
            for text, count in ((f"{TRIPLE} .\n{TRIPLE}.\n", 1), ("", 0)):
                assert load_ntriples(connection, name, write(tmp_path / "a.nt", text), scope="g") == count
            assert connection.execute("SELECT table_name FROM information_schema.tables").fetchall() == [(name,)]
            columns = connection.execute("DESCRIBE " + '"a ""table""; {odd} $name"').fetchall()
        assert [column[:2] for column in columns] == [
            ("s", "VARCHAR"), ("p", "VARCHAR"), ("o", "VARCHAR"), ("starts", "BIGINT"), ("ends", "BIGINT")
        ]  # fmt: skip

    def test_what_is_not_there(self, connection: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
        with pytest.raises(SourceError, match="there is no such file"):
            load_ntriples(connection, "graph", tmp_path / "a.nt", scope="g")
        with pytest.raises(SourceError, match="this is a directory"):
            load_ntriples(connection, "graph", tmp_path, scope="g")


@given(st.lists(mutated(TRIPLES.map(" ".join)).map(lambda line: line + b" ."), max_size=4))
def test_any_graph_loads_as_it_reads(
    connection: duckdb.DuckDBPyConnection, tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    TestGraphs().agree(connection, write(tmp_path_factory.getbasetemp() / "any.nt", b"\n".join(lines)))
