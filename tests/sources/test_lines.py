"""Lines are cut into words by columns only where this gives the words that the line reader would see."""

from __future__ import annotations

import pytest

from penstock.sources.lines import Lines, cut, texts_of

ORDINARY = b'<urn:a> <urn:p> "b"@en "5" .\n'


def words(text: bytes) -> list[list[str]] | None:
    columns = Lines(text).words(5, plain=[3])
    return None if columns is None else [list(row) for row in zip(*(c.to_pylist() for c in columns), strict=True)]


def test_words_are_those_between_single_spaces() -> None:
    assert words(ORDINARY * 2) == [["<urn:a>", "<urn:p>", '"b"@en', '"5"', "."]] * 2
    assert words(b'"<urn:a>" NA  "" .\n') == [['"<urn:a>"', "NA", "", '""', "."]]


def test_an_empty_line_is_a_line() -> None:
    assert words(ORDINARY + b"\n" + ORDINARY) == [*(words(ORDINARY) or ()), [""] * 5, *(words(ORDINARY) or ())]


@pytest.mark.parametrize(
    "text",
    [
        b'<urn:a> <urn:p> "b c" "5" .\n',
        b'<urn:a> <urn:p> "5" .\n',
        b"\xef\xbb\xbf" + ORDINARY,
        b'<urn:a> <urn:p> <urn:b> "5" .\r<urn:a> <urn:p> <urn:b> "6" .\n',
        b'<urn:a> <urn:p> <urn:\xff> "5" .\n',
    ],
    ids=["a literal with a space", "too few words", "a byte order mark", "a carriage return", "not UTF-8"],
)
def test_other_lines_are_cut_one_by_one(text: bytes) -> None:
    assert words(ORDINARY + text if not text.startswith(b"\xef") else text) is None
    assert len(cut(texts_of(Lines(ORDINARY + text)), left=2, right=2)[0]) == text.count(b"\n") + 1


def test_a_carriage_return_before_each_line_end_is_no_word() -> None:
    assert words(ORDINARY.replace(b"\n", b"\r\n")) == words(ORDINARY)


@pytest.mark.parametrize("most", [1, 2, 3, 4, 9])
def test_pieces_have_all_lines(most: int) -> None:
    lines = Lines(b"a\n\nbb\nc\n")
    pieces = list(lines.pieces(most))
    assert [line for piece in pieces for line in piece] == [b"a", b"", b"bb", b"c"]
    assert all(len(piece) <= most for piece in pieces)
    assert b"".join(piece.text for piece in pieces) == lines.text
