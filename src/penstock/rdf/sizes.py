"""Reads and writes sizes: `100MB`, `1.5GiB`, or bytes."""

from __future__ import annotations

import re

_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def parse_size(text: str) -> int | None:
    """The size in bytes; None if the text is not a size.

    >>> parse_size("100MB"), parse_size("2 KiB"), parse_size("17")
    (100000000, 2048, 17)
    """
    matched = _SIZE.fullmatch(text.strip())
    if matched is None or (matched[3] and not matched[2]):
        return None
    return int(float(matched[1]) * (1024 if matched[3] else 1000) ** _POWERS[matched[2].lower()])


def size_text(size: int) -> str:
    """
    >>> size_text(100_000_000), size_text(64 << 20)
    ('100 MB', '67 MB')
    """
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 1000)):
        if size >= factor:
            return f"{size / factor:.3g} {unit}" if size < 1000 * factor else f"{size // factor} {unit}"
    return f"{size} bytes"
