"""Text of others for a terminal or a page: characters that act instead of being seen are replaced."""

from __future__ import annotations

# A control character must not reach a terminal; its picture is one column wide, so that carets stay in place.
_PICTURES = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) != "\t"},
    0x7F: 0x2421,
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD),
}

_DIRECTIONS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""Embeddings, overrides and isolates, which show a text in another order than it has."""

_SEPARATORS = (0x2028, 0x2029)
_ESCAPES = {code: f"\\u{code:04X}" for code in (*_DIRECTIONS, *_SEPARATORS)}
_IN_ONE_COLUMN = {**_PICTURES, **dict.fromkeys(_ESCAPES, 0xFFFD)}


def visible(text: str) -> str:
    """Control characters as pictures of themselves, and those that change the direction as U+FFFD: a column each."""
    return text.translate(_IN_ONE_COLUMN)


def escaped(text: str) -> str:
    r"""The same, with characters that change the direction written out.

    >>> print(escaped("a\u202Eb"))
    a\u202Eb
    """
    return text.translate(_ESCAPES).translate(_PICTURES)
