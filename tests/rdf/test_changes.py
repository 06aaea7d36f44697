"""Graphs that change: what is added and deleted when, and so what holds when."""

from __future__ import annotations

import gzip
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Triple
from tests.rdf.collected import write

from penstock.rdf.changes import Change, Validity, read_changes, validity
from penstock.rdf.errors import SourceError

A, B = (Triple(NamedNode("a:s"), NamedNode("a:p"), Literal(name)) for name in "ab")


def test_a_line_is_a_change(tmp_path: Path) -> None:
    text = (
        '# coupons\n\nA <a:s> <a:p> "a" "2" .\n  D\t<a:s> <a:p> "a" "1970-01-01T00:00:00.014Z" . # over\r\n'
        'A <a:s> <a:p> "b" "3" .'
    )
    expected = [Change(2, True, A), Change(14, False, A), Change(3, True, B)]
    assert read_changes(write(tmp_path / "a.changes", text), scope="g") == expected
    assert read_changes(write(tmp_path / "a.gz", gzip.compress(text.encode())), scope="g") == expected


def test_a_label_is_one_node_in_the_whole_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a.changes", 'A _:a <a:p> _:b "2" .\nD _:a <a:p> _:b "4" .')
    added, deleted = read_changes(path, scope="g")
    assert added.triple == deleted.triple
    assert added.triple != read_changes(path, scope="h")[0].triple


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('<a:s> <a:p> "a" "2" .', "this line is not a change: write A (add) or D (delete)"),
        ("TX .", "this line is not a change"),
        ('A <a:s> <a:p> "a" .', "the timestamp is missing"),
        ('A <a:s> <a:p> "a" "soon" .', '"soon" is not a timestamp'),
        ('A <a:s> <a:p> "a" "2"', "the line does not end with a full stop"),
        (b'A <a:s> <a:p> "\xff" "2" .', "the byte 0xff is not UTF-8"),
    ],
)
def test_a_wrong_line_is_an_error(tmp_path: Path, line: str | bytes, message: str) -> None:
    path = write(tmp_path / "a.changes", b"\n" + (line.encode() if isinstance(line, str) else line))
    with pytest.raises(SourceError) as caught:
        read_changes(path, scope="g")
    assert str(caught.value).startswith(f"{path}:2: {message}")


def test_a_file_that_is_damaged_or_not_there(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="there is no such file"):
        read_changes(tmp_path / "a.changes", scope="g")
    with pytest.raises(SourceError, match="ends too early"):
        read_changes(write(tmp_path / "a.gz", gzip.compress(b"# nothing")[:-4]), scope="g")


def added(time: int, triple: Triple = A) -> Change:
    return Change(time, True, triple)


def deleted(time: int, triple: Triple = A) -> Change:
    return Change(time, False, triple)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([], []),
        ([added(2), deleted(14)], [(2, 14)]),
        ([added(2)], [(2, None)]),
        ([deleted(2)], []),
        ([added(2), added(5), deleted(14)], [(2, 14)]),
        ([added(2), deleted(5), deleted(7)], [(2, 5)]),
        ([added(2), deleted(5), added(7)], [(2, 5), (7, None)]),
        ([added(2), deleted(5), added(5), deleted(9)], [(2, 9)]),
        ([added(2), deleted(2)], []),
        ([deleted(2), added(2)], [(2, None)]),
        ([added(0), deleted(2), added(2), deleted(2)], [(0, 2)]),
        ([deleted(14), added(2)], [(2, 14)]),
    ],
)
def test_intervals_are_merged_and_right_open(changes: list[Change], expected: list[tuple[int, int | None]]) -> None:
    assert validity(changes) == [Validity(A, start, end) for start, end in expected]


def test_each_triple_has_its_own() -> None:
    changes = [added(1), added(2, B), deleted(3), deleted(4, B), added(5)]
    assert validity(changes) == [Validity(A, 1, 3), Validity(A, 5, None), Validity(B, 2, 4)]


@given(st.lists(st.builds(Change, st.integers(0, 9), st.booleans(), st.sampled_from([A, B]), st.integers(0, 1))))
def test_a_triple_holds_when_its_last_change_in_some_part_added_it(changes: list[Change]) -> None:
    intervals = validity(changes)
    for now in range(11):
        parts: tuple[set[Triple], ...] = set(), set()
        for _, is_added, triple, part in sorted((c for c in changes if c.time <= now), key=lambda change: change.time):
            (parts[part].add if is_added else parts[part].discard)(triple)
        assert {v.triple for v in intervals if v.start <= now and (v.end is None or now < v.end)} == set.union(*parts)
    for left, right in pairwise(intervals):
        assert left.triple != right.triple or (left.end is not None and left.end < right.start)
