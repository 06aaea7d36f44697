"""Timestamped N-Triples: a line is an element, and a wrong line costs one element."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Triple
from tests.rdf.collected import collect, triples, write

from penstock.rdf.elements import Element, Malformed
from penstock.rdf.formats.tnt import parse_timed_triple
from penstock.rdf.vocabulary import XSD


def test_a_line_is_an_element(tmp_path: Path) -> None:
    path = write(tmp_path / "toll.tnt", '<http://ex.org/a> <http://ex.org/p> "x y" "1000" .\n')
    assert collect(path) == ([Element(1000, (triples(':a :p "x y" .')[0],), None)], [])


@pytest.mark.parametrize(
    ("timestamp", "expected"),
    [
        ('"1000"', 1000),
        ('"-5"', -5),
        (f'"1000"^^<{XSD}integer>', 1000),
        (f'"1000"^^<{XSD}long>', 1000),
        ('"1970-01-01T00:00:01Z"', 1000),
        (f'"1970-01-01T00:00:01.5Z"^^<{XSD}dateTime>', 1500),
        (f'"1970-01-01T02:00:01+02:00"^^<{XSD}dateTimeStamp>', 1000),
        (f'"1970-01-01T00:00:01"^^<{XSD}dateTime>', 1000),
    ],
)
def test_a_timestamp_is_milliseconds_or_a_date_with_or_without_a_datatype(
    tmp_path: Path, timestamp: str, expected: int
) -> None:
    path = write(tmp_path / "a.tnt", f"<a:s> <a:p> <a:o> {timestamp} .")
    assert collect(path).times == [expected]


@pytest.mark.parametrize(
    "timestamp",
    [
        '"soon"',
        '""',
        '"1.5"',
        '"99999999999999999999"',
        '"2024-13-01T00:00:00Z"',
        f'"1000"^^<{XSD}dateTime>',
        f'"2024"^^<{XSD}gYear>',
        f'"2024-01-01T00:00:00Z"^^<{XSD}integer>',
        f'"1000"^^<{XSD}double>',
    ],
)
def test_what_is_not_a_timestamp_is_said_to_be_none(tmp_path: Path, timestamp: str) -> None:
    line = f"<a:s> <a:p> <a:o> {timestamp} ."
    path = write(tmp_path / "a.tnt", line)
    found = collect(path)
    assert found.elements == []
    assert found.malformed[0][:2] == (f"{path}:1", line)
    assert found.reasons[0].startswith(f"{timestamp} is not a timestamp: write whole milliseconds")


def test_comments_empty_lines_and_spaces_are_passed_over(tmp_path: Path) -> None:
    text = (
        "# a stream\n\n   \n"
        '  <a:s>\t<a:p> "5" "1" . # "the" first .\r\n'
        '<a:s><a:p>"# no comment" "2".\n'
        '_:a<a:p>"a"@en"3"^^<http://www.w3.org/2001/XMLSchema#integer>.'
    )
    found = collect(write(tmp_path / "a.tnt", b"\xef\xbb\xbf" + text.encode()))
    assert found.malformed == []
    assert found.times == [1, 2, 3]
    assert found.triples[1] == ['<a:s> <a:p> "# no comment"']


def test_the_order_is_that_of_the_lines(tmp_path: Path) -> None:
    lines = [f'<a:s> <a:p> "{number}" "{time}" .' for number, time in enumerate([5, 3, 5, 1])]
    assert collect(write(tmp_path / "a.tnt", "\n".join(lines))).times == [5, 3, 5, 1]


def test_a_label_is_one_node_in_the_whole_source(tmp_path: Path) -> None:
    write(tmp_path / "1.tnt", '_:a <a:p> _:b "1" .\n_:a <a:p> _:c "2" .')
    write(tmp_path / "2.tnt", '_:a <a:p> _:a "3" .')
    first, second, third = collect(tmp_path).blank_nodes
    assert len(first & second) == 1
    assert third == first & second


def test_lexical_forms_are_kept(tmp_path: Path) -> None:
    line = r'<a:s> <a:p> "\u00E9 \"01\"\n\\"^^<http://www.w3.org/2001/XMLSchema#integer> "1" .'
    found = collect(write(tmp_path / "a.tnt", line))
    assert found.elements[0].triples[0].object.value == 'é "01"\n\\'  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("<a:s> <a:p> <a:o> .", "the timestamp is missing"),
        ('<a:s> <a:p> "5" .', "the timestamp is missing"),
        ("<a:s> <a:p> <a:o> 1000 .", 'the timestamp has no quotes: write "1000"'),
        ('<a:s> <a:p> <a:o> "1000"', "the line does not end with a full stop: is it cut off?"),
        ("<a:s> <a:p> <a:o", "the line does not end with a full stop: is it cut off?"),
        ('<a:s> <a:p> <a b> "1000" .', "this is not a timestamped triple"),
        ('<a:s> <a:p> <a:{b}> "1000" .', "Invalid IRI"),
        ('<s> <a:p> <a:o> "1000" .', "an IRI is relative"),
        ('"s" <a:p> <a:o> "1000" .', ""),
        ('<a:s> _:p <a:o> "1000" .', ""),
        (r'<a:s> <a:p> "\q" "1000" .', ""),
        (r'<a:s> <a:p> "\ud800" "1000" .', "The escape sequence"),
        ('<a:s> <a:p> "a"@e_n "1000" .', ""),
        ('<a:s> <a:p> "a"@en--ltr "1000" .', "has a base direction"),
        ('<a:s> <a:p> <<( <a:s> <a:p> <a:o> )>> "1000" .', "a triple is nested inside a triple"),
        ("nonsense", ""),
        ("\0", ""),
    ],
)
def test_a_wrong_line_is_reported_and_the_next_is_read(tmp_path: Path, line: str, reason: str) -> None:
    path = write(tmp_path / "a.tnt", f'{line}\n<a:s> <a:p> <a:o> "7" .\n')
    found = collect(path)
    assert found.times == [7]
    assert found.malformed[0][:2] == (f"{path}:1", line)
    assert reason in found.reasons[0]


def test_bytes_that_are_not_utf_8(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tnt", b'<a:s> <a:p> "\xff" "1" .\n<a:s> <a:p> <a:o> "7" .\n')
    found = collect(path)
    assert found.times == [7]
    assert found.malformed == [
        Malformed(f"{path}:1", '<a:s> <a:p> "�" "1" .', "the byte 0xff is not UTF-8: save the file as UTF-8")
    ]


@given(st.binary(max_size=200))
def test_no_bytes_make_it_fail(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = write(tmp_path_factory.mktemp("bytes") / "a.tnt", content)
    found = collect(path)
    lines = [line for line in content.split(b"\n") if line.strip()]
    assert len(found.elements) + len(found.malformed) <= len(lines)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40), st.integers(-(10**12), 10**15))
def test_every_string_comes_back(text: str, time: int) -> None:
    triple = Triple(NamedNode("a:s"), NamedNode("a:p"), Literal(text))
    assert parse_timed_triple(f'{triple} "{time}" .', lambda node: node) == (time, triple)
