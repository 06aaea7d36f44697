"""Makes untrusted text safe to show on a terminal or a page: replaces control and direction characters."""

from __future__ import annotations

# A control character must not reach a terminal. Its symbol is one column wide, so that carets stay aligned.
_PICTURES = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) != "\t"},
    0x7F: 0x2421,
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD),
}

_DIRECTIONS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""Embeddings, overrides and isolates, which change the order in which text is displayed."""

_SEPARATORS = (0x2028, 0x2029)
_ESCAPES = {code: f"\\u{code:04X}" for code in (*_DIRECTIONS, *_SEPARATORS)}
_IN_ONE_COLUMN = {**_PICTURES, **dict.fromkeys(_ESCAPES, 0xFFFD)}


def visible(text: str) -> str:
    """Replaces control characters by their symbols and direction characters by U+FFFD, one column each."""
    return text.translate(_IN_ONE_COLUMN)


def escaped(text: str) -> str:
    r"""The same, but shows direction characters as escapes.

    >>> print(escaped("a\u202Eb"))
    a\u202Eb
    """
    return text.translate(_ESCAPES).translate(_PICTURES)
