"""Loading by columns gives what reading line by line gives: the same rows, and the same lines called malformed."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import TypeVar

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Triple
from tests.rdf.collected import collect, never, write

from penstock.engines import duckdb_loading
from penstock.engines.duckdb_loading import append_tnt_lines, load_ntriples, load_tnt
from penstock.rdf.conversion import encode_oxigraph
from penstock.rdf.elements import Malformed
from penstock.rdf.errors import SourceError
from penstock.rdf.graphs import read_graph
from penstock.rdf.vocabulary import RDF, XSD

T = TypeVar("T")
Rows = list[tuple[str, str, str, int, int]]

ORDINARY_TERMS = (
    "<http://ex.org/gate7>", "<https://ex.org:8080/a/b?c=d&e=f#g>", "<urn:isbn:0-14-044913-5>", "<mailto:a@ex.org>",
    "<http://ex.org/%C3%A9t%c3%a9>", "<http://ex.org/été/東京>", "<http://ex.org>", "<a:>", "<file:///tmp/a>",
    "_:b", "_:0", "_:B_1-x", "_:a.b", "_:a-",
    '""', '"plain"', '"two words, and  more "', '"été 東京 🚗"', '" \u00a0\u2028\u0085 "', '"# no comment ."',
    "\"it's\"", '"<a:b> <c:d> <e:f>"', '"chat"@fr', '"colour"@en-GB', '"Wort"@DE', '"字"@zh-Hant-TW',
    *(f'"7"^^<{XSD}{name}>' for name in "string integer decimal double float boolean dateTime".split()),
    *(f'"7"^^<{XSD}{name}>' for name in "int long short byte nonNegativeInteger unsignedByte".split()),
    *(f'"7"^^<{XSD}{name}>' for name in "date gYear duration anyURI Integer".split()),
    f'"1 2"^^<{XSD}integer>', '"POINT(1 2)"^^<http://www.opengis.net/ont/geosparql#wktLiteral>', '""^^<http://ex.org/t>',
    '"1"^^<http://ex.org/été>',
)  # fmt: skip

ODD_TERMS = (
    "<http://ex.org/\\u00e9>", "<http://[::1]/>", "<http://user@ex.org/>", "<http://ex.org/\U0001f697>", "_:été",
    r'"a \"quoted\" word"', r'"line\nline"', r'"\u00e9\U0001F697"', r'"\\"', '"tab\tin it"', '"nul\x00in it"',
    '"a"@x-private', '"a"@en-a-bbb-x-a', '"a"@de-1996', f'"<b/>"^^<{RDF}HTML>', '"a"^^<urn:x>', '"a"^^<http://w.org/>',
)  # fmt: skip

WRONG_TERMS = (
    "<relative>", "<>", "<http://ex.org/a b>", "<http://ex.org/{a}>", "<http://ex.org/%zz>", "<http://ex.org:port/>",
    "<http://ex.org/#a#b>", "<1a:b>", "<http://ex.org/\ue000>", "<http://ex.org/", "http://ex.org/", "_:", "_:-a",
    "_:.a", "_:a.", "_:a:b", '"open', 'open"', '"', '"a"b"', r'"\x"', r'"\u12"', '"a"@', '"a"@a1', '"a"@en_GB',
    '"a"@en--ltr', '"a"^^<relative>', '"a"^^xsd:integer', '"a"^^<>', f'"a"^^<{RDF}langString>',
    f'"a"^^<{RDF}dirLangString>', "7", "true", "<< <a:b> <a:c> <a:d> >>", "<<( <a:b> <a:c> <a:d> )>>",
    "<a:b> <a:c>", "", "'a'", '"""a"""',
)  # fmt: skip

ORDINARY_TIMES = (
    '"0"', '"1000"', '"-5"', '"007"', '"123456789012345678"', '"-123456789012345678"', f'"1"^^<{XSD}integer>',
    f'"1"^^<{XSD}unsignedShort>', '"2024-05-01T12:00:00Z"', '"2024-05-01T12:00:00"', '"2024-05-01T12:00:00.1Z"',
    '"2024-05-01T12:00:00.123456789+02:30"', '"2024-12-31T23:59:59-14:00"', '"1969-12-31T23:59:59.5Z"',
    '"1000-01-01T00:00:00.999+14:00"', '"2999-12-31T23:59:59-00:00"', f'"2024-02-28T00:00:00Z"^^<{XSD}dateTime>',
    f'"2024-02-28T00:00:00Z"^^<{XSD}dateTimeStamp>',
)  # fmt: skip

ODD_TIMES = (
    '"+5"', '"9223372036854775807"', '"2024-02-29T00:00:00Z"', '"2024-05-01"', f'"2024-05-01"^^<{XSD}date>',
    '"2024-05-01T24:00:00Z"', '"0001-01-01T00:00:00Z"', '"9999-12-31T23:59:59Z"', f'"1"^^<{XSD}string>',
)  # fmt: skip

WRONG_TIMES = (
    '"soon"', '""', '" 1"', '"1.5"', '"99999999999999999999"', '"2023-02-29T00:00:00Z"', '"2024-04-31T00:00:00Z"',
    '"2024-13-01T00:00:00Z"', '"2024-05-01T12:60:00Z"', '"2024-05-01T12:00:60Z"', '"2024-05-01T25:00:00Z"',
    '"2024-05-01T12:00:00+15:00"', '"2024-05-01T12:00:00+02:60"', '"2024-05-01T12:00Z"', '"2024-05-01 12:00:00Z"',
    '"0000-01-01T00:00:00Z"', '"0001-01-01T00:00:00+01:00"', '"٣"', f'"1"^^<{XSD}dateTime>', f'"1"^^<{XSD}double>',
    f'"2024-05-01T12:00:00Z"^^<{XSD}integer>', '"1"@en', "1000", "", r'"1\n"', '"1"^^<x>',
)  # fmt: skip

TRIPLE = "<http://ex.org/a> <http://ex.org/p> <http://ex.org/b>"
LINE = f'{TRIPLE} "1000" .'

ODD_LINES = (
    "", " ", "\t", "\x1c", "\u2028", "# a comment", "  # another", f"{LINE} # why", f"{LINE}#", f" {LINE}", f"{LINE} ",
    LINE.replace(" ", "\t"), LINE.replace(" ", "  "), LINE.replace(" ", ""), LINE.replace(" .", "."), f"\x85{LINE}",
    f"{LINE}\r", f"{LINE}\x00", f"{LINE} {LINE}", f"{LINE}\r{LINE}", LINE[:-1], LINE[:-9], f"{TRIPLE} .",
    f"{TRIPLE} 7 .", f"{TRIPLE} <http://ex.org/g> .", f'{TRIPLE} <http://ex.org/g> "1" .', f'{TRIPLE} "1" "2" .',
    LINE[1:], "\ufeff" + LINE, "nonsense", ".", '"1" .', "\x00", f"{TRIPLE} '1' .", f'{TRIPLE} "1" ..',
    f'{TRIPLE} "1" .\x0b', f'{TRIPLE}\x0b"1" .',
)  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def few_lines_are_many() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(duckdb_loading, "_FEW", 0)
        yield


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(":memory:") as opened:
        yield opened


def loaded(connection: duckdb.DuckDBPyConnection, path: Path, scope: str = "s") -> tuple[Rows, list[Malformed]]:
    malformed: list[Malformed] = []
    count = load_tnt(connection, "stream", path, scope=scope, on_malformed=malformed.append)
    found = rows(connection, "stream")
    assert count == len(found)
    return found, malformed


def rows(connection: duckdb.DuckDBPyConnection, table: str) -> Rows:
    return connection.execute(f'SELECT s, p, o, ts, seq FROM "{table}" ORDER BY seq').fetchall()


def read(path: Path, scope: str = "s") -> tuple[Rows, list[Malformed]]:
    """The same, line by line."""
    elements, malformed = collect(path, scope=scope)
    in_order = sorted(elements, key=lambda element: element.time)
    return [
        (*encoded(triple), element.time, number)
        for number, element in enumerate(in_order, 1)
        for triple in element.triples
    ], malformed


def encoded(triple: Triple) -> tuple[str, str, str]:
    return encode_oxigraph(triple.subject), encode_oxigraph(triple.predicate), encode_oxigraph(triple.object)


def timed(triple: tuple[str, str, str], time: str = '"1000"') -> str:
    return " ".join((*triple, time, "."))


def triples_with(term: str) -> list[tuple[str, str, str]]:
    """Triples in which a term is subject, predicate and object."""
    return [(term, "<a:p>", "<a:o>"), ("<a:s>", term, "<a:o>"), ("<a:s>", "<a:p>", term)]


def only_ordinary(monkeypatch: pytest.MonkeyPatch) -> None:
    def parse(text: str, *_: object) -> None:
        raise AssertionError(f"not taken for ordinary: {text}")

    monkeypatch.setattr(duckdb_loading, "parse_timed_triple", parse)
    monkeypatch.setattr(duckdb_loading, "parse_statements", parse)


class TestStreams:
    def test_what_is_ordinary_takes_no_python(
        self, connection: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        lines = [timed(("<a:s>", "<a:p>", term)) for term in ORDINARY_TERMS]
        lines += [timed((term, "<a:p>", "<a:o>")) for term in ORDINARY_TERMS if term.startswith(("<", "_"))]
        lines += [timed(("<a:s>", term, '"x y"')) for term in ORDINARY_TERMS if term.startswith("<")]
        lines += [f"{TRIPLE} {time} ." for time in ORDINARY_TIMES]
        for end in ("\n", "\r\n"):
            path = write(tmp_path / "a.tnt", end.join(lines) + end)
            expected = read(path)
            with monkeypatch.context() as patch:
                only_ordinary(patch)
                found = loaded(connection, path)
            assert found == expected
            assert len(found[0]) == len(lines)

    @pytest.mark.parametrize("terms", [ORDINARY_TERMS, ODD_TERMS, WRONG_TERMS])
    def test_terms_of_every_kind(
        self, connection: duckdb.DuckDBPyConnection, tmp_path: Path, terms: tuple[str, ...]
    ) -> None:
        lines = [timed(triple) for term in terms for triple in triples_with(term)]
        path = write(tmp_path / "a.tnt", "\n".join(lines))
        assert loaded(connection, path, "http://ex.org/s#1") == read(path, "http://ex.org/s#1")

    def test_timestamps_of_every_kind(self, connection: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
        times = ORDINARY_TIMES + ODD_TIMES + WRONG_TIMES
        path = write(tmp_path / "a.tnt", "".join(f"{TRIPLE} {time} .\n" for time in times))
        found = loaded(connection, path)
        assert found == read(path)
        assert len(found[0]) == len(ORDINARY_TIMES) + len(ODD_TIMES)

    def test_lines_of_every_kind(self, connection: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
        path = write(tmp_path / "a.tnt", "\n".join(ODD_LINES))
        assert loaded(connection, path) == read(path)

    def test_a_timestamp_that_no_column_holds_is_malformed(
        self, connection: duckdb.DuckDBPyConnection, tmp_path: Path
    ) -> None:
        line = f'{TRIPLE} "9223372036854775808" .'
        found, malformed = loaded(connection, write(tmp_path / "a.tnt", line))
        assert found == []
        assert malformed == [
            Malformed(
                f"{tmp_path / 'a.tnt'}:1",
                line,
                '"9223372036854775808" is too far from 1970 for a timestamp: it takes more than 64 bits',
            )
        ]

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"\n",
            b"\n\n\n",
            b"\r\n",
            b"\xef\xbb\xbf",
            b"\xef\xbb\xbf" + LINE.encode(),
            b"\xef\xbb\xbf# a comment\n" + LINE.encode(),
            b"\xef\xbb\xbfwrong\n\xef\xbb\xbf" + LINE.encode(),
            LINE.encode() + b"\n",
            LINE.encode() + b"\r\n" + LINE.encode() + b"\r",
            LINE.encode()
            + b"\n\xff\n"
            + LINE.encode()
            + b"\n# \xc3\n"
            + LINE.encode().replace(b"gate", b"\xed\xa0\x80"),
            LINE.encode("utf-16"),
            b"\x00" * 10 + b"\n" + LINE.encode(),
        ],
    )
    def test_bytes_of_every_kind(self, connection: duckdb.DuckDBPyConnection, tmp_path: Path, content: bytes) -> None:
        path = write(tmp_path / "a.tnt", content)
        assert loaded(connection, path) == read(path)

    def test_elements_are_numbered_in_the_order_of_time(
        self, connection: duckdb.DuckDBPyConnection, tmp_path: Path
    ) -> None:
        times = (5, 3, 9, 3, 5, 5, 1, 9, 3)
        lines = [f'<a:{number}> <a:p> "a\\t" "{time}" .' for number, time in enumerate(times)]
        lines[::2] = [line.replace("\\t", "") for line in lines[::2]]
        path = write(tmp_path / "a.tnt", "\n".join(lines))
        found = loaded(connection, path)
        assert found == read(path)
        assert [(row[0], row[3]) for row in found[0]][:4] == [("Ia:6", 1), ("Ia:1", 3), ("Ia:3", 3), ("Ia:8", 3)]
        assert connection.execute("SELECT seq FROM stream").fetchall() == [(number,) for number in range(1, 10)]

    @pytest.mark.parametrize("block", [1, 100, 1000])
    def test_blocks_do_not_show(
        self, connection: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
    ) -> None:
        lines = [
            timed(triple, f'"{-number // 3}"')
            for number, term in enumerate(ODD_TERMS + ORDINARY_TERMS + WRONG_TERMS)
            for triple in triples_with(term)
        ]
        path = write(tmp_path / "a.tnt", "\n".join([*lines, *ODD_LINES]))
        monkeypatch.setattr(duckdb_loading, "_BLOCK", block)
        monkeypatch.setattr(duckdb_loading, "_PIECE", block // 2 + 1)
        assert loaded(connection, path) == read(path)

    def test_long_lines(self, connection: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
        lines = [f'<a:s> <a:p> "{"long " * length}" "{length}" .' for length in (1 << 17, 1 << 19, 1)]
        path = write(tmp_path / "a.tnt", "\n".join([*lines, "x" * (1 << 21)]))
        assert loaded(connection, path) == read(path)

    @pytest.mark.parametrize(("ending", "compress"), [(".gz", gzip.compress), (".bz2", bz2.compress)])
    def test_compressed_files_whole_and_cut_off(
        self, connection: duckdb.DuckDBPyConnection, tmp_path: Path, ending: str, compress: Callable[[bytes], bytes]
    ) -> None:
        noise = Random(1)
        content = "".join(f'<a:{noise.random()}> <a:p> <a:o> "{number}" .\n' for number in range(20000))
        packed = compress(content.encode())
        for name, part in {
            "whole": packed,
            "half": packed[: len(packed) // 2],
            "head": packed[:20],
            "not": b"x",
        }.items():
            path = write(tmp_path / f"{name}.tnt{ending}", part)
            found = loaded(connection, path)
            assert found == read(path)
            assert len(found[1]) == (0 if name == "whole" else 1)

    def test_what_is_not_there(self, connection: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
        with pytest.raises(SourceError, match="there is no such file"):
            load_tnt(connection, "stream", tmp_path / "a.tnt", scope="s", on_malformed=never)
        with pytest.raises(SourceError, match="this is a directory"):
            load_tnt(connection, "stream", tmp_path, scope="s", on_malformed=never)

    def test_a_few_lines_are_read_one_by_one(
        self, connection: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = write(tmp_path / "a.tnt", f"{LINE}\n" * 7)
        monkeypatch.setattr(duckdb_loading, "_FEW", 8)
        monkeypatch.setattr(duckdb_loading, "_TIMED_TRIPLES", None)
        assert loaded(connection, path) == read(path)

    def test_a_table_of_any_name_is_replaced(self, connection: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
        name = 'a "table"; {odd} $name'
        for number in (1, 2):
            load_tnt(connection, name, write(tmp_path / "a.tnt", LINE * (number == 1)), scope="s", on_malformed=never)
            found = connection.execute("SELECT count(*) FROM " + '"a ""table""; {odd} $name"').fetchone()
            assert found == (2 - number,)
        columns = connection.execute("DESCRIBE " + '"a ""table""; {odd} $name"').fetchall()
        assert [column[:2] for column in columns] == [
            ("s", "VARCHAR"), ("p", "VARCHAR"), ("o", "VARCHAR"), ("ts", "BIGINT"), ("seq", "BIGINT")
        ]  # fmt: skip

    def test_nothing_else_is_left_behind(self, tmp_path: Path) -> None:
        def refuse(_: Malformed) -> None:
            raise KeyError

        path = write(tmp_path / "a.tnt", f"{LINE}\nwrong\n")
        with duckdb.connect(":memory:") as connection:
            with pytest.raises(KeyError):
                load_tnt(connection, "stream", path, scope="s", on_malformed=refuse)
            load_tnt(connection, "stream", path, scope="s", on_malformed=lambda _: None)
            load_ntriples(connection, "graph", write(tmp_path / "a.nt", f"{TRIPLE} .\n{TRIPLE}.\n"), scope="g")
            assert connection.execute("SELECT table_name FROM information_schema.tables ORDER BY 1").fetchall() == [
                ("graph",), ("stream",)
            ]  # fmt: skip


class TestBatches:
    @pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()])
    def test_batches_are_numbered_one_after_the_other(
        self, connection: duckdb.DuckDBPyConnection, tmp_path: Path, kind: pa.DataType
    ) -> None:
        load_tnt(connection, "live", write(tmp_path / "a.tnt", ""), scope="s", on_malformed=never)
        malformed: list[Malformed] = []
        batches = [
            ['_:a <a:p> "1"@EN "20" .', '_:a <a:p> "\\t" "10" .', "wrong", '<a:c> <a:p> _:a "20" .'],
            [],
            ["# a comment", '<a:d> <a:p> <a:o> "5" .', "wrong"],
        ]
        counts, first_line = [], 1
        for batch in batches:
            counts.append(
                append_tnt_lines(
                    connection,
                    "live",
                    pa.array(batch, kind),
                    name="socket",
                    first_line=first_line,
                    scope="s",
                    on_malformed=malformed.append,
                )
            )
            first_line += len(batch)
        assert counts == [3, 0, 1]
        assert rows(connection, "live") == [
            ("Bs.0.a", "Ia:p", "S\t", 10, 1),
            ("Bs.0.a", "Ia:p", "Len 1", 20, 2),
            ("Ia:c", "Ia:p", "Bs.0.a", 20, 3),
            ("Ia:d", "Ia:p", "Ia:o", 5, 4),
        ]
        assert [each.place for each in malformed] == ["socket:3", "socket:7"]

    def test_other_columns_of_the_table_stay_empty(self, connection: duckdb.DuckDBPyConnection) -> None:
        connection.execute(
            "CREATE OR REPLACE TEMP TABLE late (s VARCHAR, p VARCHAR, o VARCHAR, ts BIGINT, seq BIGINT, since BIGINT)"
        )
        append_tnt_lines(connection, "late", pa.array([LINE]), name="socket", scope="s", on_malformed=never)
        assert connection.execute("SELECT ts, seq, since FROM late").fetchall() == [(1000, 1, None)]


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
            (*encoded(triple), -(2**62), 2**62) for triple in triples
        ]
        return count

    def test_what_is_ordinary_takes_no_python(
        self, connection: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = write(tmp_path / "a.nt", "".join(f"<a:s> <a:p> {term} .\n" for term in ORDINARY_TERMS))
        only_ordinary(monkeypatch)
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
                patch.setattr(duckdb_loading, "_BLOCK", block)
                patch.setattr(duckdb_loading, "_PIECE", block)
                self.agree(connection, write(tmp_path / "a.nt", text), "http://ex.org/g")

    def test_compressed_files_whole_and_cut_off(self, connection: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
        packed = gzip.compress("".join(f"<a:{number}> <a:p> _:b{number % 7} .\n" for number in range(9000)).encode())
        assert self.agree(connection, write(tmp_path / "a.nt.gz", packed)) == 9000
        assert self.agree(connection, write(tmp_path / "a.nt.gz", packed[:-500])) == 0

    def test_bytes_that_are_no_text(self, connection: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
        self.agree(connection, write(tmp_path / "a.nt", b'<a:s> <a:p> "\xff" .\n'))


TERMS = st.one_of(
    st.sampled_from(ORDINARY_TERMS),
    st.sampled_from(ODD_TERMS),
    st.sampled_from(WRONG_TERMS),
    st.text(max_size=8).map(lambda text: f"<http://ex.org/{text}>"),
    st.text("aZ09:/?#@[]%.-_~!é<> ", max_size=12).map(lambda text: f"<{text}>"),
    st.text("aZ09:/?#@[]%.-_~!é", max_size=12).map(lambda text: f"<http:{text}>"),
    st.text("aZ09.-_:é\u00b7", max_size=5).map(lambda text: f"_:{text}"),
    st.text(max_size=8).map(lambda text: f'"{text}"'),
    st.text("aZ09-", max_size=9).map(lambda tag: f'"x"@{tag}'),
    st.text("htps:/w3.org#", max_size=12).map(lambda iri: f'"x"^^<{iri}>'),
)
TIMES = st.one_of(
    st.sampled_from(ORDINARY_TIMES + ODD_TIMES + WRONG_TIMES),
    st.integers(-100, 100).map(lambda time: f'"{time}"'),
    st.from_regex(r'"[012][09][0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9](\.[0-9]{1,5})?'
                  r'(Z|[+-][01][0-9]:[0-6][0-9])?"', fullmatch=True),
)  # fmt: skip
SUBJECTS = st.one_of(st.sampled_from(["<a:s>", "_:b", "_:c"]), TERMS)
PREDICATES = st.one_of(st.just("<a:p>"), TERMS)
TRIPLES = st.tuples(SUBJECTS, PREDICATES, TERMS)


@st.composite
def mutated(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> bytes:
    """A text with a few of its bytes changed, or none."""
    text = bytearray(draw(texts).encode(errors="replace"))
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        place = draw(st.integers(0, len(text)))
        text[place : place + draw(st.integers(0, 2))] = draw(
            st.sampled_from(
                [b"", b" ", b'"', b"\\", b"<", b">", b".", b"\t", b"\r", b"\n", b"\xff", b"\x00", b"#", b"1"]
            )
        )
    return bytes(text)


@given(st.lists(mutated(st.one_of(st.builds(timed, TRIPLES, TIMES), st.sampled_from(ODD_LINES))), max_size=30))
def test_any_lines_load_as_they_read(
    connection: duckdb.DuckDBPyConnection, tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    path = write(tmp_path_factory.getbasetemp() / "any.tnt", b"\n".join(lines))
    assert loaded(connection, path) == read(path)


@given(st.lists(mutated(TRIPLES.map(" ".join)).map(lambda line: line + b" ."), max_size=4))
def test_any_graph_loads_as_it_reads(
    connection: duckdb.DuckDBPyConnection, tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    TestGraphs().agree(connection, write(tmp_path_factory.getbasetemp() / "any.nt", b"\n".join(lines)))
